/* What the tests of src/linalg share: a context, random matrices, products by their definition. */
#ifndef LINALG_TEST_H
#define LINALG_TEST_H

#include "../errors.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static inline rb_context *test_context(int threads) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    ctx->kernels = rb_kernels_best();
    assert_int_equal(rb_context_set_threads(ctx, threads), RB_OK);
    return ctx;
}

/* rows x cols normal numbers; the rows lie `pad` values apart and the padding is NaN. */
static inline rb_dense test_random(rb_context *ctx, rb_type type, int64_t rows, int64_t cols,
                                   int64_t pad, uint64_t seed) {
    rb_dense a;
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    assert_int_equal(rb_dense_new(ctx, type, rows, cols + pad, &a), RB_OK);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols + pad; j++)
            rb_dense_set(a, i, j, j < cols ? rb_draw_normal(&draws) : NAN);
    a.cols = cols;
    return a;
}

static inline rb_dense test_zeros(rb_context *ctx, rb_type type, int64_t rows, int64_t cols) {
    rb_dense a;
    assert_int_equal(rb_dense_new(ctx, type, rows, cols, &a), RB_OK);
    return a;
}

/* Entry (i, j) of op(A) op(B). */
static inline double test_product(rb_dense a, rb_side op_a, rb_dense b, rb_side op_b, int64_t i,
                                  int64_t j) {
    int64_t inner = op_a == RB_PLAIN ? a.cols : a.rows;
    double sum = 0;
    for (int64_t k = 0; k < inner; k++) {
        sum += (op_a == RB_PLAIN ? rb_dense_get(a, i, k) : rb_dense_get(a, k, i)) *
               (op_b == RB_PLAIN ? rb_dense_get(b, k, j) : rb_dense_get(b, j, k));
    }
    return sum;
}

/* What rounding may do to sums of n products of numbers about 1. */
static inline double test_tolerance(rb_type type, int64_t n) {
    return (type == RB_FLOAT32 ? 1e-6 : 1e-14) * (10 + 3 * sqrt((double)n));
}

static inline void assert_near(double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", found, tolerance, expected);
}

static inline void assert_same_bits(rb_dense a, rb_dense b) {
    for (int64_t i = 0; i < a.rows; i++) {
        assert_memory_equal(rb_dense_row(a, i), rb_dense_row(b, i),
                            (size_t)a.cols * rb_type_size(a.type));
    }
}

#endif
