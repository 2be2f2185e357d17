/* bench [LETTERS]: times fits against what the processor can do. LETTERS choose cases, such as
 * "ab". */
#include "../tool/blas_choice.h"
#include "bench.h"

#include <rarebit/deep.h>

#include <stdio.h>
#include <string.h>

/* The processor's name where the system tells it. */
static void print_processor(void) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            printf("processor %s", strchr(line, ':') + 2);
            break;
        }
    }
    if (file) fclose(file);
}

static void print_build(const rb_context *ctx) {
    const char *advice = rb_build_info(ctx, "blas_advice");
    print_processor();
    printf("rarebit %s, %s, kernels %s\n", rb_version(), rb_build_info(ctx, "compiler"),
           rb_build_info(ctx, "kernels"));
    printf("BLAS %s, kernels %s%s%s\n\n", rb_build_info(ctx, "blas"),
           rb_build_info(ctx, "blas_core"), *advice ? "; better: OPENBLAS_CORETYPE=" : "", advice);
}

int main(int argc, char **argv) {
    choose_blas(argv);
    rb_context *ctx;
    if (rb_context_new(&ctx)) {
        fprintf(stderr, "bench: out of memory\n");
        return 1;
    }
    bench_check(ctx, rb_nets_use(ctx));
    bench_peaks peaks;
    print_build(ctx);
    bench_measure_peaks(ctx, &peaks);
    bench_rfn(ctx, argc > 1 ? argv[1] : "abcde", &peaks);
    bench_regularisers(ctx, argc > 1 ? argv[1] : "h");
    bench_esteps(ctx, argc > 1 ? argv[1] : "i");
    bench_batches(ctx, argc > 1 ? argv[1] : "j");
    bench_coder(ctx, argc > 1 ? argv[1] : "k");
    bench_et(ctx, argc > 1 ? argv[1] : "fgv", &peaks);
    bench_nets(ctx, argc > 1 ? argv[1] : "l", &peaks);
    bench_peaks_free(&peaks);
    rb_context_free(ctx);
    return 0;
}
