/* What was compiled in, and whether the BLAS knows this processor. */
#include "kernels.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
static const char *const compiler = "clang " __clang_version__;
#else
static const char *const compiler = "gcc " __VERSION__;
#endif

const char *rb_version(void) {
    return RB_VERSION;
}

static bool one_of(const char *name, const char *const *names) {
    for (; *names; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

/* OpenBLAS falls back to narrower kernels on processors younger than itself: half the speed or
 * less. */
static const char *advice(const char *config, const char *core) {
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char *const middle[] = {"Haswell", "Zen", "Excavator", NULL};
    const char *best = rb_kernels_best()->name;
    if (!strstr(config, "DYNAMIC_ARCH") || one_of(core, wide)) {
        return "";
    }
    if (strcmp(best, "avx512") == 0) {
        return "SkylakeX";
    }
    return strcmp(best, "avx2") == 0 && !one_of(core, middle) ? "Haswell" : "";
}

rb_error rb_blas_need_room(rb_context *ctx, int64_t bytes) {
    enum { A_THREAD = (1 << 27) + (1 << 13) };
    int threads = rb_context_threads(ctx);
    bool known = threads <= ctx->blas_threads;
    int64_t most = INT64_MAX / 2, needed = bytes < most ? bytes : most;
    needed += known ? 0 : (int64_t)threads * A_THREAD;
    void *volatile room = malloc((size_t)needed + 1); /* is not touched, and so takes no memory */
    free(room);
    if (!room) {
        return rb_fail(ctx, RB_ERROR_MEMORY,
                       "out of memory: there is no room for %lld MB; products of matrices take 128 "
                       "MB a thread (--threads is %d); raise the limit (ulimit -v, ulimit -d) or "
                       "take fewer threads",
                       (long long)(needed >> 20), threads);
    }
    ctx->blas_threads = known ? ctx->blas_threads : threads;
    return RB_OK;
}

void rb_build_info(const rb_context *ctx, rb_build *build) {
    const char *config = openblas_get_config(), *core = openblas_get_corename();
    build->compiler = compiler;
    build->blas = config ? config : "";
    build->blas_core = core ? core : "";
    build->blas_advice = advice(build->blas, build->blas_core);
    build->kernels = rb_kernels_of(ctx)->name;
}
