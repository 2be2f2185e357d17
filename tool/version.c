/* rarebit version: what was compiled in and what computes. */
#include "tool.h"

#include <string.h>

static const char *known(const char *text) {
    return text && *text ? text : "unknown";
}

static rb_error print_json(rb_context *ctx, const rb_build *build, int threads) {
    return json_put(ctx, stdout,
                    json_pack("{ss ss? ss? ss? ss? ss? ss? si}", "version", rb_version(),
                              "compiler", build->compiler, "hdf5", rb_io_hdf5(), "blas",
                              build->blas, "blas_kernels", build->blas_core, "blas_kernels_advised",
                              build->blas_advice, "kernels", build->kernels, "threads", threads));
}

static int run(invocation *call) {
    rb_build build;
    rb_build_info(call->ctx, &build);
    int threads = rb_context_threads(call->ctx);
    if (option_flag(call, "json")) {
        rb_error err = print_json(call->ctx, &build, threads);
        return err ? report_failure(call->ctx, err) : STATUS_DONE;
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
        "otherwise chosen by what the processor can do.",
    .groups = {json_group, general_group},
    .examples = {{"What a report of a fault should say", "version"},
                 {"The same for a program", "version --json"}},
    .run = run,
};
