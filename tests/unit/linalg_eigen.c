/* Matrices whose eigenvalues are known: the largest, inverse roots, bounds. */
#include "linalg_test.h"

enum { N = 30 };

/* H diag(values) H with the reflection H = I - 2 v v' / v'v, v = (1, 2, ..., n). */
static rb_dense with_eigenvalues(rb_context *ctx, const double *values) {
    rb_dense a = test_zeros(ctx, RB_FLOAT64, N, N);
    double squares = N * (N + 1) * (2 * N + 1) / 6.0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int c = 0; c < N; c++) {
                double left = (i == c) - 2.0 * (i + 1) * (c + 1) / squares;
                double right = (j == c) - 2.0 * (j + 1) * (c + 1) / squares;
                sum += left * values[c] * right;
            }
            rb_dense_set(a, i, j, sum);
            rb_dense_set(a, j, i, sum);
        }
    }
    return a;
}

static void those_beyond_a_bound_move_and_no_other(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int trial = 0; trial < 3; trial++) {
        double values[N], moved[N];
        for (int c = 0; c < N; c++) {
            /* some negative, some at the bound, some far above; equal ones among them */
            values[c] = trial == 0 ? c % 7 - 2 : trial == 1 ? 0.5 : pow(10, c % 9 - 4);
            moved[c] = fmin(fmax(values[c], 0.5), 3);
        }
        rb_dense a = with_eigenvalues(ctx, values), b = with_eigenvalues(ctx, moved);
        assert_int_equal(rb_clamp_eigenvalues(ctx, a, 0.5, 3), RB_OK);
        for (int64_t e = 0; e < N * N; e++) {
            assert_near(rb_dense_get(a, e / N, e % N), rb_dense_get(b, e / N, e % N), 1e-10);
            assert_true(rb_dense_get(a, e / N, e % N) == rb_dense_get(a, e % N, e / N));
        }
        rb_dense_free(&a);
        rb_dense_free(&b);
    }
    rb_context_free(ctx);
}

static void those_within_keep_their_bits(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    double values[N];
    for (int c = 0; c < N; c++)
        values[c] = 1 + c;
    rb_dense a = with_eigenvalues(ctx, values), b = with_eigenvalues(ctx, values);
    assert_int_equal(rb_clamp_eigenvalues(ctx, a, 0.9, N + 0.1), RB_OK);
    assert_memory_equal(a.data, b.data, N * N * sizeof(double));
    rb_dense_free(&a);
    rb_dense_free(&b);
    rb_context_free(ctx);
}

static void failures(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    double values[N] = {0};
    rb_dense a = with_eigenvalues(ctx, values);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_clamp_eigenvalues(ctx, a, 1, 2);
        assert_true(err == RB_OK || (err == RB_ERROR_MEMORY && n < 10));
    }
    rb_dense_set(a, 3, 2, NAN);
    assert_int_equal(rb_clamp_eigenvalues(ctx, a, 1, 2), RB_ERROR_NUMERIC);
    rb_dense_free(&a);
    rb_context_free(ctx);
}

/* A v = value v, the largest first, of unit length and at right angles. */
static void the_largest_have_their_vectors(void **state) {
    (void)state;
    enum { COUNT = 5 };
    rb_context *ctx = test_context(1);
    double known[N], values[COUNT];
    for (int c = 0; c < N; c++)
        known[c] = c * 7 % N - 3; /* each once, in no order; some below 0 */
    rb_dense a = with_eigenvalues(ctx, known), vectors = test_zeros(ctx, RB_FLOAT64, COUNT, N);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            rb_dense_set(a, i, j, NAN); /* not read */
    assert_int_equal(rb_largest_eigenvectors(ctx, a, COUNT, values, vectors), RB_OK);
    rb_dense_mirror(a);
    for (int c = 0; c < COUNT; c++) {
        assert_near(values[c], N - 4 - c, 1e-10);
        for (int i = 0; i < N; i++)
            assert_near(test_product(a, RB_PLAIN, vectors, RB_TRANSPOSED, i, c),
                        values[c] * rb_dense_get(vectors, c, i), 1e-10);
        for (int d = 0; d < COUNT; d++)
            assert_near(test_product(vectors, RB_PLAIN, vectors, RB_TRANSPOSED, c, d), c == d,
                        1e-12);
    }
    rb_dense_set(a, 3, 2, NAN);
    assert_int_equal(rb_largest_eigenvectors(ctx, a, COUNT, values, vectors), RB_ERROR_NUMERIC);
    rb_dense_free(&a);
    rb_dense_free(&vectors);
    rb_context_free(ctx);
}

/* Of H diag(values) H the root is H diag(values^-1/2) H, with 0 for values that are left out. */
static void inverse_roots(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int lacking = 0; lacking < 2; lacking++) {
        double values[N], roots[N];
        for (int c = 0; c < N; c++) {
            bool left_out = lacking && c % 4 == 1;
            values[c] = left_out ? 1e-9 : 1 + c % 9;
            roots[c] = left_out ? 0 : 1 / sqrt(values[c]);
        }
        rb_dense a = with_eigenvalues(ctx, values), known = with_eigenvalues(ctx, roots);
        rb_dense root = test_zeros(ctx, RB_FLOAT64, N, N);
        assert_int_equal(rb_inverse_root(ctx, a, 1e-6, root), RB_OK);
        for (int e = 0; e < N * N; e++)
            assert_near(rb_dense_get(root, e / N, e % N), rb_dense_get(known, e / N, e % N), 1e-10);
        rb_dense_free(&a);
        rb_dense_free(&known);
        rb_dense_free(&root);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_beyond_a_bound_move_and_no_other),
        cmocka_unit_test(those_within_keep_their_bits),
        cmocka_unit_test(the_largest_have_their_vectors),
        cmocka_unit_test(inverse_roots),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
