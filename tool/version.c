/* rarebit version: what was compiled in and what computes. */
#include "tool.h"

#include <string.h>

static const char *known(const char *text) {
    return *text ? text : "unknown";
}

/* What formats and plots are read and drawn with; version "": not built in. */
static const struct {
    const char *name;
    const char *(*version)(void);
} codecs[] = {{"libpng", rb_io_png},
              {"liblzf", rb_io_lzf},
              {"libsndfile", rb_segments_sndfile},
              {"cairo", rb_plot_cairo}};
enum { CODECS = sizeof codecs / sizeof *codecs };

static json_t *codecs_json(void) {
    json_t *json = json_object();
    for (int i = 0; i < CODECS; i++) {
        const char *version = codecs[i].version();
        rb_json_add(&json, codecs[i].name, rb_json_text(*version ? version : NULL));
    }
    return json;
}

static void print_codecs(void) {
    for (int i = 0; i < CODECS; i++) {
        const char *version = codecs[i].version();
        printf("%s%s%s%s%s", i == 0 ? "codecs        " : ", ", *version ? "" : "no ",
               codecs[i].name, *version ? " " : "", version);
    }
    printf("\n");
}

/* What fits on devices need, or NULL. */
static const char *devices(void) {
    return device_library() ? "librarebit-cl (OpenCL)" : NULL;
}

static const char *processes(void) {
    static char names[64];
    static const char *const mpis[][2] = {{"librarebit-mpi-openmpi", "Open MPI"},
                                          {"librarebit-mpi-mpich", "MPICH"}};
    names[0] = '\0';
    for (int i = 0; i < 2; i++) {
        size_t used = strlen(names);
        if (table_beside(mpis[i][0], "rb_mpi_table"))
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", mpis[i][1]);
    }
    return *names ? names : NULL;
}

static rb_error print_json(rb_context *ctx) {
    return json_put(ctx, stdout,
                    json_pack("{ss ss? ss? so ss? ss? ss? ss? ss? ss? si}", "version", rb_version(),
                              "compiler", rb_build_info(ctx, "compiler"), "hdf5", rb_io_hdf5(),
                              "codecs", codecs_json(), "blas", rb_build_info(ctx, "blas"),
                              "blas_kernels", rb_build_info(ctx, "blas_core"),
                              "blas_kernels_advised", rb_build_info(ctx, "blas_advice"), "kernels",
                              rb_build_info(ctx, "kernels"), "devices", devices(), "processes",
                              processes(), "threads", rb_context_threads(ctx)));
}

static int run(invocation *call) {
    rb_context *ctx = call->ctx;
    const char *core = rb_build_info(ctx, "blas_core");
    const char *advice = rb_build_info(ctx, "blas_advice");
    if (option_flag(call, "json")) return report_failure(ctx, print_json(ctx));
    printf("rarebit       %s\n", rb_version());
    printf("compiler      %s\n", rb_build_info(ctx, "compiler"));
    printf("HDF5          %s\n", rb_io_hdf5());
    print_codecs();
    printf("BLAS          %s\n", known(rb_build_info(ctx, "blas")));
    printf("BLAS kernels  %s", known(core));
    if (*advice && strcmp(advice, core) != 0)
        printf(" (OPENBLAS_CORETYPE=%s suits this processor)", advice);
    printf("\nown kernels   %s\n", rb_build_info(ctx, "kernels"));
    printf("devices       %s\n", devices() ? devices() : "no librarebit-cl");
    printf("processes     %s\n", processes() ? processes() : "no librarebit-mpi");
    printf("threads       %d\n", rb_context_threads(ctx));
    return STATUS_DONE;
}

const command version_command = {
    .words = "version",
    .summary = "show the version, what is built in, and the processor in use",
    .description =
        "The environment variable RAREBIT_KERNEL=ref|avx2|avx512 forces rarebit's own kernels; "
        "RAREBIT_BLAS_CORE forces those of OpenBLAS (Haswell, SkylakeX, Zen ...), which are "
        "otherwise chosen by what the processor can do.",
    .groups = {json_group, general_group},
    .examples = {{"What a report of a fault should say", "version"},
                 {"The same for a program", "version --json"}},
    .run = run,
};
