/* Positive definite matrices: A inv(A) = I, solutions, determinants, refusals, bits and memory. */
#include "linalg_test.h"

#include <stdio.h>

static const int64_t sizes[] = {1, 2, 7, 8, 9, 50, 64, 101, 150, 256, 300, 512, 513, 700};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* G G' / size + I of normal G, NaN above the diagonal: it must not be read. */
static rb_dense definite(rb_context *ctx, rb_type type, int64_t size) {
    rb_dense g = test_random(ctx, type, size, size, 0, 5), a = test_zeros(ctx, type, size, size);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            rb_dense_set(a, i, j, j > i ? NAN : i == j);
    rb_syrk(1 / (double)size, g, RB_PLAIN, 1, a);
    rb_dense_free(&g);
    return a;
}

static void assert_is_identity(rb_dense a, rb_dense x, double tolerance) {
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.rows; j += 1 + a.rows / 8)
            assert_near(test_product(a, RB_PLAIN, x, RB_PLAIN, i, j), i == j, tolerance);
}

static void the_inverse_inverts(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static const char *const names[] = {"ref", "avx2", "avx512"};
    for (int c = 0; c < 2 * 3 * SIZES; c++) {
        rb_type type = (rb_type)(c & 1);
        if (rb_context_set_kernels(ctx, names[c / 2 % 3])) continue;
        int64_t size = sizes[c / 6];
        rb_dense a = definite(ctx, type, size), x = test_zeros(ctx, type, size, size);
        rb_spd *f;
        assert_int_equal(rb_spd_new(ctx, type, size, &f), RB_OK);
        for (int again = 0; again < 2; again++)
            assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        rb_spd_inverse(ctx, f, x);
        rb_dense_mirror(a);
        assert_is_identity(a, x, type == RB_FLOAT32 ? 2e-6 : 1e-13);
        rb_spd_round(f);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        rb_spd_inverse(ctx, f, x);
        assert_is_identity(a, x, type == RB_FLOAT32 ? 2e-5 : 1e-13);
        rb_spd_free(f);
        rb_dense_free(&a);
        rb_dense_free(&x);
    }
    rb_context_free(ctx);
}

/* Eigenvalues from 1e-4 to 5. Of sweeps that do not keep the matrix symmetric errors are 1e3 times
 * as large. */
static void nearly_singular_matrices_are_inverted(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static const char *const names[] = {"ref", "avx2", "avx512"};
    enum { SIZE = 150, RANK = 100 };
    rb_dense g = test_random(ctx, RB_FLOAT64, SIZE, RANK, 0, 3);
    rb_dense a = test_zeros(ctx, RB_FLOAT64, SIZE, SIZE);
    rb_dense x = test_zeros(ctx, RB_FLOAT64, SIZE, SIZE);
    rb_syrk(1 / (double)RANK, g, RB_PLAIN, 0, a);
    for (int64_t i = 0; i < SIZE; i++)
        rb_dense_set(a, i, i, rb_dense_get(a, i, i) + 1e-4);
    rb_dense_mirror(a);
    for (int c = 0; c < 3; c++) {
        rb_spd *f;
        if (rb_context_set_kernels(ctx, names[c])) continue;
        assert_int_equal(rb_spd_new(ctx, RB_FLOAT64, SIZE, &f), RB_OK);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        rb_spd_inverse(ctx, f, x);
        assert_is_identity(a, x, 1e-10);
        rb_spd_free(f);
    }
    rb_dense_free(&g);
    rb_dense_free(&a);
    rb_dense_free(&x);
    rb_context_free(ctx);
}

static void solutions_solve(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    for (int c = 0; c < 2 * SIZES; c++) {
        rb_type type = (rb_type)(c & 1);
        int64_t size = sizes[c >> 1], k = 11;
        double tolerance = type == RB_FLOAT32 ? 2e-5 : 1e-13;
        rb_dense a = definite(ctx, type, size);
        rb_dense b = test_random(ctx, type, size, k, 2, 1), x = test_zeros(ctx, type, size, k);
        rb_dense d = test_random(ctx, type, k, size, 2, 2), y = test_zeros(ctx, type, k, size);
        rb_spd *f;
        assert_int_equal(rb_spd_new(ctx, type, size, &f), RB_OK);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        rb_spd_solve_left(ctx, f, b, x);
        rb_spd_solve_right(f, d, y);
        rb_dense_mirror(a);
        for (int64_t i = 0; i < size; i++) {
            for (int64_t j = 0; j < k; j++) {
                assert_near(test_product(a, RB_PLAIN, x, RB_PLAIN, i, j), rb_dense_get(b, i, j),
                            tolerance);
                assert_near(test_product(y, RB_PLAIN, a, RB_PLAIN, j, i), rb_dense_get(d, j, i),
                            tolerance);
            }
        }
        rb_spd_free(f);
        rb_dense *all[] = {&a, &b, &x, &d, &y};
        for (int i = 0; i < 5; i++)
            rb_dense_free(all[i]);
    }
    rb_context_free(ctx);
}

/* Two halves make a solution; rounded factors solve and have determinants as float32 can. */
static void halves_and_rounded_factors(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    for (int c = 0; c < 2 * SIZES; c++) {
        rb_type type = (rb_type)(c & 1);
        int64_t size = sizes[c >> 1], k = 11;
        rb_dense a = definite(ctx, type, size), b = test_random(ctx, type, size, k, 2, 1);
        rb_dense x = test_zeros(ctx, type, size, k), y = test_zeros(ctx, type, size, k);
        rb_spd *f;
        assert_int_equal(rb_spd_new(ctx, type, size, &f), RB_OK);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        double log_det = rb_spd_log_det(f);
        rb_spd_solve_left(ctx, f, b, x);
        if (rb_spd_has_halves(f)) {
            rb_spd_solve_half(ctx, f, b, y);
            rb_spd_solve_other_half(ctx, f, y);
            assert_same_bits(x, y);
        }
        rb_spd_round(f);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        assert_near(rb_spd_log_det(f), log_det, type == RB_FLOAT32 ? 1e-3 : 0);
        rb_spd_solve_left(ctx, f, b, y);
        for (int64_t i = 0; i < size; i++) {
            for (int64_t j = 0; j < k; j++) {
                assert_near(rb_dense_get(y, i, j), rb_dense_get(x, i, j),
                            type == RB_FLOAT32 ? 2e-5 : 0);
            }
        }
        rb_dense_set(a, size - 1, size - 1, -1);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_ERROR_NUMERIC);
        rb_spd_free(f);
        rb_dense *all[] = {&a, &b, &x, &y};
        for (int i = 0; i < 4; i++)
            rb_dense_free(all[i]);
    }
    rb_context_free(ctx);
}

/* The matrix of 2 on the diagonal and -1 beside it has determinant size + 1. */
static void the_determinant_is_known(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int s = 0; s < SIZES; s++) {
        rb_dense a = test_zeros(ctx, RB_FLOAT64, sizes[s], sizes[s]);
        for (int64_t i = 0; i < sizes[s]; i++) {
            rb_dense_set(a, i, i, 2);
            if (i > 0) rb_dense_set(a, i, i - 1, -1);
        }
        rb_spd *f;
        assert_int_equal(rb_spd_new(ctx, RB_FLOAT64, sizes[s], &f), RB_OK);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        assert_near(rb_spd_log_det(f), log((double)sizes[s] + 1), 1e-10);
        rb_spd_free(f);
        rb_dense_free(&a);
    }
    rb_context_free(ctx);
}

static void refuses_at(rb_context *ctx, int64_t size, int64_t row, double value) {
    char expected[32];
    rb_dense a = definite(ctx, RB_FLOAT64, size), x = test_zeros(ctx, RB_FLOAT64, size, size);
    double good = rb_dense_get(a, row, row);
    rb_spd *f;
    assert_int_equal(rb_spd_new(ctx, RB_FLOAT64, size, &f), RB_OK);
    rb_dense_set(a, row, row, value);
    assert_int_equal(rb_spd_factor(ctx, f, a), RB_ERROR_NUMERIC);
    snprintf(expected, sizeof expected, "row %lld", (long long)row);
    assert_non_null(strstr(rb_context_error(ctx), expected));
    rb_dense_set(a, row, row, good);
    assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
    rb_spd_inverse(ctx, f, x);
    rb_dense_mirror(a);
    assert_is_identity(a, x, 1e-13);
    rb_spd_free(f);
    rb_dense_free(&a);
    rb_dense_free(&x);
}

static void indefinite_and_infinite_matrices_are_refused(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int s = 0; s < SIZES; s++) {
        refuses_at(ctx, sizes[s], sizes[s] - 1, -1);
        refuses_at(ctx, sizes[s], sizes[s] / 2, 0);
        refuses_at(ctx, sizes[s], sizes[s] / 2, NAN);
        refuses_at(ctx, sizes[s], sizes[s] / 3, INFINITY);
    }
    rb_context_free(ctx);
}

/* Moments of few samples have eigenvalues that rounding leaves below 0, whatever the scale of each
 * row; what is indefinite by more is refused, as is what is not finite. */
static void moments_are_taken_as_rounding_left_them(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int c = 0; c < 2 * SIZES; c++) {
        rb_type type = (rb_type)(c & 1);
        int64_t size = sizes[c >> 1];
        if (type == RB_FLOAT64 && size > 9) continue; /* of rank 1: the sweeps lose too much */
        double lost = type == RB_FLOAT32 ? 1e-6 : 1e-15, last;
        rb_dense g = test_random(ctx, type, 1, size, 0, 5), a = test_zeros(ctx, type, size, size);
        rb_spd *f;
        for (int64_t j = 0; j < size; j++)
            rb_dense_set(g, 0, j, (j % 3 ? 1 : 10) * (2 + rb_dense_get(g, 0, j)));
        rb_syrk(1, g, RB_TRANSPOSED, 0, a);
        last = (1 - lost) * rb_dense_get(a, size - 1, size - 1);
        rb_dense_set(a, size - 1, size - 1, last);
        assert_int_equal(rb_spd_new(ctx, type, size, &f), RB_OK);
        if (size == 2) assert_int_equal(rb_spd_factor(ctx, f, a), RB_ERROR_NUMERIC);
        assert_int_equal(rb_spd_factor_moments(ctx, f, a), RB_OK);
        assert_near(rb_dense_get(a, size - 1, size - 1) / last, 1,
                    type == RB_FLOAT32 ? 2e-3 : 2e-6);
        rb_dense_set(a, size / 2, size / 2, -1);
        assert_int_equal(rb_spd_factor_moments(ctx, f, a), RB_ERROR_NUMERIC);
        rb_dense_set(a, size / 2, size / 2, NAN);
        assert_int_equal(rb_spd_factor_moments(ctx, f, a), RB_ERROR_NUMERIC);
        rb_spd_free(f);
        rb_dense_free(&g);
        rb_dense_free(&a);
    }
    rb_context_free(ctx);
}

/* An eigenvalue below 0 is mended up to 1e-2 of the diagonal in float32, 1e-6 in float64. */
static void moments_are_mended_up_to_a_share(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int wide = 0; wide < 2; wide++) {
        rb_type type = wide ? RB_FLOAT64 : RB_FLOAT32;
        const double shares[] = {wide ? 2e-7 : 2e-3, wide ? 1e-5 : 5e-2};
        for (int s = 0; s < 2; s++) {
            rb_spd *f;
            rb_dense a = test_zeros(ctx, type, 2, 2);
            for (int e = 0; e < 4; e++)
                rb_dense_set(a, e / 2, e % 2, e % 3 ? 1 + shares[s] : 1);
            assert_int_equal(rb_spd_new(ctx, type, 2, &f), RB_OK);
            assert_int_equal(rb_spd_factor_moments(ctx, f, a), s ? RB_ERROR_NUMERIC : RB_OK);
            rb_spd_free(f);
            rb_dense_free(&a);
        }
    }
    rb_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    rb_context *ctx = test_context(1);
    rb_dense a = definite(ctx, RB_FLOAT32, 600), b = test_random(ctx, RB_FLOAT32, 600, 500, 0, 1);
    rb_dense x[4];
    for (int t = 0; t < 4; t++) {
        rb_spd *f;
        assert_int_equal(rb_context_set_threads(ctx, threads[t]), RB_OK);
        assert_int_equal(rb_spd_new(ctx, RB_FLOAT32, 600, &f), RB_OK);
        assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
        x[t] = test_zeros(ctx, RB_FLOAT32, 600, 500);
        rb_spd_solve_left(ctx, f, b, x[t]);
        assert_same_bits(x[t], x[0]);
        rb_spd_free(f);
    }
    for (int t = 0; t < 4; t++)
        rb_dense_free(&x[t]);
    rb_dense_free(&a);
    rb_dense_free(&b);
    rb_context_free(ctx);
}

/* What a matrix that was refused has left does not get into the next one. */
static void a_refused_matrix_leaves_nothing(void **state) {
    (void)state;
    enum { SIZE = 20 };
    rb_context *ctx = test_context(1);
    rb_spd *f;
    assert_int_equal(rb_spd_new(ctx, RB_FLOAT64, SIZE, &f), RB_OK);
    rb_dense a = test_zeros(ctx, RB_FLOAT64, SIZE, SIZE);
    rb_dense inverse = test_zeros(ctx, RB_FLOAT64, SIZE, SIZE);
    for (int64_t i = 0; i < SIZE; i++)
        rb_dense_set(a, i, i, 2);
    rb_dense_set(a, 10, 3, NAN);
    assert_int_equal(rb_spd_factor(ctx, f, a), RB_ERROR_NUMERIC);
    rb_dense_set(a, 10, 3, 0);
    assert_int_equal(rb_spd_factor(ctx, f, a), RB_OK);
    rb_spd_inverse(ctx, f, inverse);
    for (int64_t i = 0; i < SIZE; i++)
        for (int64_t j = 0; j <= i; j++)
            assert_true(rb_dense_get(inverse, i, j) == (i == j ? 0.5 : 0));
    rb_dense_free(&a);
    rb_dense_free(&inverse);
    rb_spd_free(f);
    rb_context_free(ctx);
}

static void memory_that_is_out_is_an_error(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int64_t size = 10; size < 1000; size += 590) {
        rb_spd *f;
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            err = rb_spd_new(ctx, RB_FLOAT32, size, &f);
            assert_true(err == RB_OK || (err == RB_ERROR_MEMORY && !f && n < 20));
        }
        rb_spd_free(f);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inverse_inverts),
        cmocka_unit_test(nearly_singular_matrices_are_inverted),
        cmocka_unit_test(solutions_solve),
        cmocka_unit_test(halves_and_rounded_factors),
        cmocka_unit_test(the_determinant_is_known),
        cmocka_unit_test(indefinite_and_infinite_matrices_are_refused),
        cmocka_unit_test(moments_are_taken_as_rounding_left_them),
        cmocka_unit_test(moments_are_mended_up_to_a_share),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_refused_matrix_leaves_nothing),
        cmocka_unit_test(memory_that_is_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
