/* What was compiled in, whether the BLAS knows this processor, and its threads. */
#include "linalg.h"

#include <pthread.h>
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

/* What some have besides BLAS and LAPACK; NULL in others. */
#ifdef __APPLE__
#include "blas_macos.h"
#else
#define OPTIONAL __attribute__((weak))
OPTIONAL char *openblas_get_config(void);
OPTIONAL char *openblas_get_corename(void);
OPTIONAL int openblas_get_num_threads(void);
OPTIONAL void openblas_set_num_threads(int threads);
OPTIONAL int64_t bli_thread_get_num_threads(void);
OPTIONAL void bli_thread_set_num_threads(int64_t threads);
OPTIONAL int omp_get_max_threads(void);
OPTIONAL void omp_set_num_threads(int threads);
#endif

/* OpenBLAS falls back to narrower kernels on processors younger than itself: half the speed or
 * less. */
static const char *advice(const char *config, const char *core) {
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char *const middle[] = {"Haswell", "Zen", "Excavator", NULL};
    const char *best = rb_kernels_best()->name;
    if (!strstr(config, "DYNAMIC_ARCH") || rb_among(wide, core)) return "";
    if (strcmp(best, "avx512") == 0) return "SkylakeX";
    return strcmp(best, "avx2") == 0 && !rb_among(middle, core) ? "Haswell" : "";
}

/* ---- threads of the BLAS ----
 *
 * Our pool hands tiles to the BLAS: threads of its own would fight with ours, and their number
 * would show in the bits. But the number belongs to the program: it is 1 while at least one of our
 * calls is in the BLAS, and as it was otherwise. OpenMP keeps a number for each thread, OpenBLAS
 * and BLIS one for the process. */

static struct {
    pthread_mutex_t lock; /* around changes of `inside` from and to 0 */
    atomic_int inside;
    int before;
} blas_guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int threads_now(void) {
    return openblas_get_num_threads     ? openblas_get_num_threads()
           : bli_thread_get_num_threads ? (int)bli_thread_get_num_threads()
                                        : 1;
}

static void set_threads(int threads) {
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    else if (bli_thread_set_num_threads)
        bli_thread_set_num_threads(threads);
}

/* Moves `inside` by `step` if it is at least `least`. */
static bool step_inside(int min, int step) {
    int inside = atomic_load(&blas_guard.inside);
    while (inside >= min)
        if (atomic_compare_exchange_weak(&blas_guard.inside, &inside, inside + step)) return true;
    return false;
}

int rb_blas_enter(void) {
    int of_thread = omp_get_max_threads && omp_set_num_threads ? omp_get_max_threads() : 1;
    if (of_thread != 1) omp_set_num_threads(1);
    if (!step_inside(1, 1)) {
        pthread_mutex_lock(&blas_guard.lock);
        if (atomic_load(&blas_guard.inside) == 0) {
            blas_guard.before = threads_now();
            if (blas_guard.before != 1) set_threads(1);
        }
        atomic_fetch_add(&blas_guard.inside, 1);
        pthread_mutex_unlock(&blas_guard.lock);
    }
    return of_thread;
}

void rb_blas_leave(int of_thread) {
    if (!step_inside(2, -1)) {
        pthread_mutex_lock(&blas_guard.lock);
        if (atomic_fetch_sub(&blas_guard.inside, 1) == 1 && blas_guard.before != 1)
            set_threads(blas_guard.before);
        pthread_mutex_unlock(&blas_guard.lock);
    }
    if (of_thread != 1) omp_set_num_threads(of_thread);
}

static void tell_of_kernels(rb_context *ctx) {
    const char *better = ctx->blas_told ? "" : rb_build_info(ctx, "blas_advice");
    ctx->blas_told = true;
    if (*better) {
        rb_log(ctx, RB_LOG_INFO,
               "OpenBLAS uses its %s kernels, which are slower on this processor than those for "
               "%s; set OPENBLAS_CORETYPE=%s before the program starts",
               rb_build_info(ctx, "blas_core"), better, better);
    }
}

rb_error rb_blas_need_memory(rb_context *ctx, int64_t bytes) {
    enum { A_THREAD = (1 << 27) + (1 << 13) };
    int threads = rb_context_threads(ctx);
    bool known = threads <= ctx->blas_threads;
    int64_t max = INT64_MAX / 2, needed = bytes < max ? bytes : max;
    needed += known ? 0 : (int64_t)threads * A_THREAD;
    void *volatile capacity =
        malloc((size_t)needed + 1); /* is not touched, and so takes no memory */
    free(capacity);
    if (!capacity) {
        return rb_fail(ctx, RB_ERROR_MEMORY,
                       "out of memory: %lld MB are not available; products of matrices take 128 "
                       "MB a thread (threads is %d); raise the limit (ulimit -v, ulimit -d) or "
                       "take fewer threads",
                       (long long)(needed >> 20), threads);
    }
    ctx->blas_threads = known ? ctx->blas_threads : threads;
    tell_of_kernels(ctx);
    return RB_OK;
}

const char *rb_build_info(const rb_context *ctx, const char *name) {
    const char *config = openblas_get_config ? openblas_get_config() : NULL;
    const char *core = openblas_get_corename ? openblas_get_corename() : NULL;
    const char *blas = config ? config : "", *blas_core = core ? core : "";
    return strcmp(name, "compiler") == 0      ? compiler
           : strcmp(name, "kernels") == 0     ? rb_kernels_of(ctx)->name
           : strcmp(name, "blas") == 0        ? blas
           : strcmp(name, "blas_core") == 0   ? blas_core
           : strcmp(name, "blas_advice") == 0 ? advice(blas, blas_core)
                                              : NULL;
}
