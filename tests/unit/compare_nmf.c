/* Non-negative matrix factorisation: the error never rises and is that of the factors; an exact
 * product is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data.h"

#include <rarebit/compare.h>

#include <math.h>
#include <string.h>

enum { N = 40, D = 12 };

static rb_context *ctx;

static int set_up(void **state) {
    (void)state;
    return rb_context_create(&ctx);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

static rb_source *source_of(const double *values, int64_t n, int64_t d) {
    rb_matrix *matrix;
    rb_source *source;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, n, d, &matrix), RB_OK);
    memcpy((void *)matrix->values, values, (size_t)(n * d) * sizeof *values);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    return source;
}

/* Sums of three fields that share features, and noise of a size. */
static rb_source *make_samples(double noise) {
    double values[N * D];
    rb_draws draws = {.stream = {.seed = 3, .purpose = RB_RANDOM_SIMULATE}};
    for (int i = 0; i < N; i++) {
        double code[3];
        for (int h = 0; h < 3; h++)
            code[h] = rb_draw_uniform(&draws) < 0.4 ? 0 : rb_draw_uniform(&draws);
        for (int d = 0; d < D; d++) {
            double sum = 0;
            for (int h = 0; h < 3; h++)
                sum += d >= 4 * h - 1 && d < 4 * h + 5 ? code[h] * (1 + (d + h) % 3) : 0;
            values[i * D + d] = sum + noise * rb_draw_uniform(&draws);
        }
    }
    return source_of(values, N, D);
}

static double error_after(rb_source *source, int64_t units, int64_t iterations, int64_t seed) {
    double error = NAN;
    rb_error err = rb_compare_nmf(ctx, source, units, iterations, seed, &error);
    if (err) fail_msg("%s", rb_context_error(ctx));
    return error;
}

/* Theorem 1 of Lee and Seung. */
static void error_never_rises(void **state) {
    (void)state;
    rb_source *source = make_samples(1);
    for (int64_t units = 1; units <= 5; units++) {
        double before = INFINITY;
        for (int64_t t = 1; t < 60; t++) {
            double error = error_after(source, units, t, 1);
            assert_true(error <= before * (1 + 1e-12));
            before = error;
        }
    }
    rb_source_free(source);
}

static void a_product_is_found(void **state) {
    (void)state;
    rb_source *source = make_samples(0);
    assert_true(error_after(source, 3, 4000, 1) < 1e-5);
    assert_true(error_after(source, 2, 4000, 1) > 1e-2);
    rb_source_free(source);
}

/* One unit: the best factor of rank one, whose error follows from the largest singular value. */
static void one_unit_is_the_first_singular_vector(void **state) {
    (void)state;
    static const double values[] = {1, 2, 3, 2, 4, 7};
    rb_source *source = source_of(values, 2, 3);
    double a = 14, b = 31, c = 69; /* Y Y' */
    double largest = (a + c) / 2 + sqrt((a - c) * (a - c) / 4 + b * b);
    assert_true(fabs(error_after(source, 1, 200, 5) - (a + c - largest) / 6) < 1e-12);
    rb_source_free(source);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    rb_source *source = make_samples(1);
    double one = error_after(source, 4, 30, 7);
    assert_int_equal(rb_context_set_threads(ctx, 3), RB_OK);
    double three = error_after(source, 4, 30, 7);
    assert_memory_equal(&one, &three, sizeof one);
    assert_int_equal(rb_context_set_threads(ctx, 1), RB_OK);
    rb_source_free(source);
}

/* Samples and features that are 0 stay so and divide nothing by 0. */
static void zeros(void **state) {
    (void)state;
    static const double values[] = {0, 0, 0, 1, 0, 2};
    rb_source *source = source_of(values, 2, 3);
    assert_true(error_after(source, 2, 300, 1) < 1e-20);
    rb_source_free(source);
    static const double nothing[] = {0, 0, 0, 0};
    source = source_of(nothing, 2, 2);
    assert_true(error_after(source, 2, 3, 1) == 0);
    rb_source_free(source);
}

static void refusals(void **state) {
    (void)state;
    static const double wrong[] = {1, -1, 2, NAN, 3, INFINITY};
    double error;
    for (int i = 0; i < 3; i++) {
        rb_source *source = source_of(wrong + 2 * i, 1, 2);
        assert_int_equal(rb_compare_nmf(ctx, source, 1, 1, 1, &error), RB_ERROR_DATA);
        assert_non_null(strstr(rb_context_error(ctx), "sample 1, feature 2"));
        assert_int_equal(rb_compare_nmf(ctx, source, 0, 1, 1, &error), RB_ERROR_ARGUMENT);
        assert_int_equal(rb_compare_nmf(ctx, source, 1, 0, 1, &error), RB_ERROR_ARGUMENT);
        rb_source_free(source);
    }
}

static void no_memory(void **state) {
    (void)state;
    rb_source *source = make_samples(1);
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; err; n++) {
        double error;
        ctx->allocations_left = n;
        err = rb_compare_nmf(ctx, source, 3, 2, 1, &error);
        ctx->allocations_left = -1;
        assert_true(err == RB_OK || err == RB_ERROR_MEMORY);
    }
    assert_true(n > 8);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_never_rises),
        cmocka_unit_test(a_product_is_found),
        cmocka_unit_test(one_unit_is_the_first_singular_vector),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(zeros),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
