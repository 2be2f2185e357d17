/* Which kernels compute: the best that the processor can run, or those that were asked for. */
#include "linalg.h"

#include <string.h>

extern const struct rb_kernels rb_kernels_ref;
#if defined(__x86_64__)
extern const struct rb_kernels rb_kernels_avx2, rb_kernels_avx512;
#endif

/* Best first; NULL at the end and in place of what this processor lacks. */
enum { KINDS = 3 };

static void runnable(const struct rb_kernels *out[KINDS]) {
    int count = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        out[count++] = &rb_kernels_avx512;
    if (avx2) out[count++] = &rb_kernels_avx2;
#endif
    out[count++] = &rb_kernels_ref;
    while (count < KINDS)
        out[count++] = NULL;
}

const struct rb_kernels *rb_kernels_best(void) {
    const struct rb_kernels *kinds[KINDS];
    runnable(kinds);
    return kinds[0];
}

const struct rb_kernels *rb_kernels_of(const rb_context *ctx) {
    return ctx && ctx->kernels ? ctx->kernels : rb_kernels_best();
}

rb_error rb_context_set_kernels(rb_context *ctx, const char *name) {
    const struct rb_kernels *kinds[KINDS];
    runnable(kinds);
    for (int i = 0; i < KINDS && kinds[i]; i++) {
        if (strcmp(kinds[i]->name, name) == 0) {
            ctx->kernels = kinds[i];
            return RB_OK;
        }
    }
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "kernels '%s' cannot run on this processor; the best that can is '%s'", name,
                   kinds[0]->name);
}

double rb_dot(const rb_context *ctx, rb_type type, int64_t n, const void *x, const void *y) {
    return rb_kernels_of(ctx)->of[type].dot(n, x, y);
}

void rb_axpy(const rb_context *ctx, rb_type type, int64_t n, double alpha, const void *x, void *y) {
    rb_kernels_of(ctx)->of[type].axpy(n, alpha, x, y);
}

void rb_shift_scale(const rb_context *ctx, rb_type type, int64_t n, const void *x,
                    const void *shift, const void *factor, void *out) {
    rb_kernels_of(ctx)->of[type].shift_scale(n, x, shift, factor, out);
}

void rb_rectify(const rb_context *ctx, rb_dense x, const void *bias, double *sum, double *largest) {
    rb_kernels_of(ctx)->of[x.type].rectify(x.rows, x.cols, x.ld, x.data, bias, sum, largest);
}
