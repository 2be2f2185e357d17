/* rarebit version: what was compiled in and what computes. */
#include "tool.h"

#include <string.h>

static const char *known(const char *text) {
    return text && *text ? text : "unknown";
}

static void print_json(const rb_build *build, int threads) {
    json j = {.file = stdout};
    emit_open(&j, NULL, '{');
    emit_text(&j, "version", rb_version());
    emit_text(&j, "compiler", build->compiler);
    emit_text(&j, "hdf5", rb_io_hdf5());
    emit_text(&j, "blas", build->blas);
    emit_text(&j, "blas_kernels", build->blas_core);
    emit_text(&j, "blas_kernels_advised", build->blas_advice);
    emit_text(&j, "kernels", build->kernels);
    emit_integer(&j, "threads", threads);
    emit_close(&j, '}');
    putc('\n', stdout);
}

static int run(invocation *call) {
    rb_build build;
    rb_build_info(call->ctx, &build);
    int threads = rb_context_threads(call->ctx);
    const json_options *options = options_of(call, json_group());
    if (options->json) {
        print_json(&build, threads);
        return STATUS_DONE;
    }
    printf("rarebit       %s\n", rb_version());
    printf("compiler      %s\n", known(build.compiler));
    printf("HDF5          %s\n", known(rb_io_hdf5()));
    printf("BLAS          %s\n", known(build.blas));
    printf("BLAS kernels  %s", known(build.blas_core));
    if (build.blas_advice && *build.blas_advice &&
        strcmp(build.blas_advice, build.blas_core) != 0) {
        printf(" (OPENBLAS_CORETYPE=%s suits this processor)", build.blas_advice);
    }
    printf("\nown kernels   %s\n", known(build.kernels));
    printf("threads       %d\n", threads);
    return STATUS_DONE;
}

const command version_command = {
    .words = "version",
    .heading = "About rarebit",
    .summary = "show the version, what was compiled in, and what computes",
    .description =
        "The environment variable RAREBIT_KERNEL=ref|avx2|avx512 forces rarebit's own kernels; "
        "RAREBIT_BLAS_CORE forces those of OpenBLAS (Haswell, SkylakeX, Zen ...), which are "
        "otherwise "
        "chosen by what the processor can do.",
    .groups = {json_group, general_group},
    .examples = {{"What a report of a fault should say", "version"},
                 {"The same for a program", "version --json"}},
    .run = run,
};
