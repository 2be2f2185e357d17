/* Products: against their definition, on odd shapes, and the same bits for any number of threads.
 */
#include "linalg_test.h"

#include <string.h>
#include <sys/mman.h>

enum { LONGEST = 300 };

struct shape {
    int64_t rows, cols, inner;
};

static const struct shape shapes[] = {{1, 1, 1},          {3, 5, 2}, {17, 33, 9}, {100, 150, 100},
                                      {LONGEST, 270, 40}, {5, 4, 0}, {0, 3, 2},   {3, 0, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static rb_dense operand(rb_context *ctx, rb_type type, rb_side op, int64_t rows, int64_t cols,
                        uint64_t seed) {
    return op == RB_PLAIN ? test_random(ctx, type, rows, cols, 3, seed)
                          : test_random(ctx, type, cols, rows, 3, seed);
}

static void check_product(rb_dense a, rb_side op_a, rb_dense b, rb_side op_b, rb_dense before,
                          rb_dense c, bool lower) {
    int64_t inner = op_a == RB_PLAIN ? a.cols : a.rows;
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t j = 0; j < (lower ? i + 1 : c.cols); j++) {
            double expected =
                0.5 * test_product(a, op_a, b, op_b, i, j) - 2 * rb_dense_get(before, i, j);
            assert_near(rb_dense_get(c, i, j), expected, test_tolerance(c.type, inner));
        }
    }
}

static void gemm_is_the_product(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    for (int c = 0; c < 2 * 4 * SHAPES; c++) {
        rb_type type = (rb_type)(c & 1);
        rb_side op_a = (rb_side)(c >> 1 & 1), op_b = (rb_side)(c >> 2 & 1);
        struct shape s = shapes[c >> 3];
        rb_dense a = operand(ctx, type, op_a, s.rows, s.inner, 1);
        rb_dense b = operand(ctx, type, op_b, s.inner, s.cols, 2);
        rb_dense before = test_random(ctx, type, s.rows, s.cols, 1, 3);
        rb_dense out = test_random(ctx, type, s.rows, s.cols, 1, 3);
        rb_gemm(0.5, a, op_a, b, op_b, -2, out);
        check_product(a, op_a, b, op_b, before, out, false);
        rb_dense_copy(before, out);
        rb_gemm_parallel(ctx, 0.5, a, op_a, b, op_b, -2, out);
        check_product(a, op_a, b, op_b, before, out, false);
        rb_dense_free(&a);
        rb_dense_free(&b);
        rb_dense_free(&before);
        rb_dense_free(&out);
    }
    rb_context_free(ctx);
}

/* With terms of less and more than a block and a piece. A part of the product has the same bits,
 * whatever rows, and columns where they are not few, are computed with it. */
static void check_few(rb_context *ctx, rb_type type, int64_t width, rb_side op, bool by_columns) {
    static const struct shape some[] = {{1, 0, 1}, {15, 0, 31}, {29, 0, 33}, {12, 0, LONGEST}};
    bool across = op == RB_TRANSPOSED;
    int64_t part = by_columns ? width : 4, rest = width - part;
    for (int i = 0; i < 4; i++) {
        struct shape s = some[i];
        rb_dense a = operand(ctx, type, op, s.rows, s.inner, 1);
        rb_dense b = operand(ctx, type, RB_PLAIN, s.inner, width, 2);
        rb_dense before = test_random(ctx, type, s.rows, width, 1, 3);
        rb_dense c = test_random(ctx, type, s.rows, width, 1, 3);
        rb_dense row = test_random(ctx, type, 1, width, 1, 3);
        rb_kernels_of(ctx)->of[type].few(0.5, a, across, b, -2, c, by_columns);
        check_product(a, op, b, RB_PLAIN, before, c, false);
        rb_dense first = across ? rb_dense_part(a, 0, s.inner, 0, 1) : rb_dense_rows(a, 0, 1);
        rb_dense last = rb_dense_part(row, 0, 1, rest, part);
        rb_kernels_of(ctx)->of[type].few(
            0.5, first, across, rb_dense_part(b, 0, s.inner, rest, part), -2, last, by_columns);
        assert_same_bits(last, rb_dense_part(c, 0, 1, rest, part));
        rb_dense *all[] = {&a, &b, &before, &c, &row};
        for (int k = 0; k < 5; k++)
            rb_dense_free(all[k]);
    }
}

/* Every width that the kernels take as few columns; and of few rows some that leave each number of
 * vectors in the last panel. */
static void few_columns_and_rows_are_the_product(void **state) {
    enum { WIDE = 200, STEP = 7 };
    static const char *const names[] = {"ref", "avx2", "avx512"};
    (void)state;
    rb_context *ctx = test_context(1);
    for (int c = 0; c < 3 * 4; c++) {
        if (rb_context_set_kernels(ctx, names[c >> 2])) continue;
        rb_type type = (rb_type)(c & 1);
        rb_side op = (rb_side)(c >> 1 & 1);
        int64_t bytes = rb_kernels_of(ctx)->few_bytes;
        int64_t most = (bytes > 0 ? bytes : 64) / (int64_t)rb_type_size(type);
        for (int64_t width = 4; width <= most; width++)
            check_few(ctx, type, width, op, true);
        for (int64_t width = 4; width <= WIDE; width += STEP)
            check_few(ctx, type, width, op, false);
    }
    rb_context_free(ctx);
}

static void beta_of_zero_forgets_what_was_there(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int64_t inner = 0; inner < 4; inner += 3) {
        rb_dense a = test_random(ctx, RB_FLOAT32, 4, inner, 1, 1);
        rb_dense b = test_random(ctx, RB_FLOAT32, inner, 5, 1, 2);
        rb_dense c = test_zeros(ctx, RB_FLOAT32, 4, 5);
        rb_dense_set(c, 1, 1, NAN);
        rb_gemm(1, a, RB_PLAIN, b, RB_PLAIN, 0, c);
        assert_near(rb_dense_get(c, 1, 1), test_product(a, RB_PLAIN, b, RB_PLAIN, 1, 1), 1e-5);
        rb_dense_free(&a);
        rb_dense_free(&b);
        rb_dense_free(&c);
    }
    rb_context_free(ctx);
}

static void lower_products_are_the_lower_triangle(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    static const struct shape squares[] = {
        {1, 1, 1}, {7, 7, 3}, {LONGEST, LONGEST, 20}, {5, 5, 0}, {700, 700, 5}};
    for (int c = 0; c < 2 * 2 * 5; c++) {
        rb_type type = (rb_type)(c & 1);
        rb_side op = (rb_side)(c >> 1 & 1);
        struct shape s = squares[c >> 2];
        rb_dense a = operand(ctx, type, op, s.rows, s.inner, 1);
        rb_dense before = test_random(ctx, type, s.rows, s.rows, 1, 3);
        rb_dense out = test_random(ctx, type, s.rows, s.rows, 1, 3);
        rb_side other = op == RB_PLAIN ? RB_TRANSPOSED : RB_PLAIN;
        rb_syrk(0.5, a, op, -2, out);
        check_product(a, op, a, other, before, out, true);
        for (int64_t j = 1; j < s.rows; j++)
            assert_true(rb_dense_get(out, 0, j) == rb_dense_get(before, 0, j));
        rb_dense_copy(before, out);
        rb_gemm_lower(ctx, 0.5, a, op, a, other, -2, out);
        check_product(a, op, a, other, before, out, true);
        rb_dense_free(&a);
        rb_dense_free(&before);
        rb_dense_free(&out);
    }
    rb_context_free(ctx);
}

static void half_products_give_quadratic_forms(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 50, 129, 513, 600};
    rb_context *ctx = test_context(2);
    for (int c = 0; c < 2 * 5; c++) {
        rb_type type = (rb_type)(c & 1);
        int64_t size = sizes[c >> 1];
        rb_dense w = test_random(ctx, type, 30, size, 2, 1),
                 z = test_random(ctx, type, 30, size, 1, 2);
        rb_dense s = test_random(ctx, type, size, size, 1, 3);
        rb_dense_mirror(s);
        rb_dense t = test_zeros(ctx, type, size, size);
        for (int64_t i = 0; i < size; i++) {
            for (int64_t j = 0; j < size; j++) {
                double value = j > i ? NAN : rb_dense_get(s, i, j) / (i == j ? 2 : 1);
                rb_dense_set(t, i, j, value);
            }
        }
        rb_half_product(w, t, z);
        for (int64_t k = 0; k < 30; k++) {
            double form = 0, twice = 0, magnitude = 0;
            for (int64_t j = 0; j < size; j++) {
                double weighted = test_product(w, RB_PLAIN, s, RB_PLAIN, k, j);
                form += weighted * rb_dense_get(w, k, j);
                magnitude += fabs(weighted * rb_dense_get(w, k, j));
                twice += 2 * rb_dense_get(z, k, j) * rb_dense_get(w, k, j);
            }
            assert_near(twice, form, (type == RB_FLOAT32 ? 1e-5 : 1e-13) * (1 + magnitude));
        }
        rb_dense *all[] = {&w, &z, &s, &t};
        for (int i = 0; i < 4; i++)
            rb_dense_free(all[i]);
    }
    rb_context_free(ctx);
}

static void moments_add_to_what_is_there(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        rb_dense v = test_random(ctx, (rb_type)type, 50, LONGEST, 1, 1);
        rb_dense m = test_random(ctx, (rb_type)type, 50, 530, 2, 2);
        rb_dense u = test_random(ctx, (rb_type)type, LONGEST, 530, 0, 3);
        rb_dense u_before = test_random(ctx, (rb_type)type, LONGEST, 530, 0, 3);
        rb_dense s = test_random(ctx, (rb_type)type, 530, 530, 0, 4);
        rb_dense s_before = test_random(ctx, (rb_type)type, 530, 530, 0, 4);
        rb_moments_parallel(ctx, 1, v, m, u, s);
        for (int64_t i = 0; i < 530; i++) {
            for (int64_t j = 0; j < 530; j += i < LONGEST ? 1 : 7) {
                if (i < LONGEST) {
                    assert_near(rb_dense_get(u, i, j) - rb_dense_get(u_before, i, j),
                                test_product(v, RB_TRANSPOSED, m, RB_PLAIN, i, j),
                                test_tolerance((rb_type)type, 50));
                }
                if (j <= i) {
                    assert_near(rb_dense_get(s, i, j) - rb_dense_get(s_before, i, j),
                                test_product(m, RB_TRANSPOSED, m, RB_PLAIN, i, j),
                                test_tolerance((rb_type)type, 50));
                }
            }
        }
        rb_dense *all[] = {&v, &m, &u, &u_before, &s, &s_before};
        for (int i = 0; i < 6; i++)
            rb_dense_free(all[i]);
    }
    rb_context_free(ctx);
}

/* Products of few columns are cut by the number of threads. Neither factor is a power of two, and
 * sums are longer than a piece. */
static void threads_do_not_change_few_columns(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    rb_dense v = test_random(ctx, RB_FLOAT32, 333, 784, 0, 1);
    rb_dense m = test_random(ctx, RB_FLOAT32, 333, 19, 0, 2);
    rb_dense w = test_random(ctx, RB_FLOAT32, 784, 19, 0, 3);
    rb_dense u[2], mu[2];
    for (int t = 0; t < 6; t++) {
        rb_dense *one = &u[t > 0], *other = &mu[t > 0];
        assert_int_equal(rb_context_set_threads(ctx, t + 1), RB_OK);
        *one = test_zeros(ctx, RB_FLOAT32, 784, 19);
        *other = test_random(ctx, RB_FLOAT32, 333, 19, 0, 4);
        rb_gemm_parallel(ctx, 0.3, v, RB_TRANSPOSED, m, RB_PLAIN, 0, *one);
        rb_gemm_parallel(ctx, 0.3, v, RB_PLAIN, w, RB_PLAIN, 0.7, *other);
        assert_same_bits(*one, u[0]);
        assert_same_bits(*other, mu[0]);
        if (t == 0) {
            assert_near(rb_dense_get(u[0], 249, 18),
                        0.3 * test_product(v, RB_TRANSPOSED, m, RB_PLAIN, 249, 18), 1e-4);
            continue;
        }
        rb_dense_free(one);
        rb_dense_free(other);
    }
    rb_dense *all[] = {&v, &m, &w, &u[0], &mu[0]};
    for (int k = 0; k < 5; k++)
        rb_dense_free(all[k]);
    rb_context_free(ctx);
}

/* So are those of few rows; the last of 8 bands would be too narrow. */
static void threads_do_not_change_few_rows(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    rb_dense a = test_random(ctx, RB_FLOAT32, 29, 300, 0, 1);
    rb_dense b = test_random(ctx, RB_FLOAT32, 300, 337, 0, 2);
    rb_dense one = test_zeros(ctx, RB_FLOAT32, 29, 337), c = test_zeros(ctx, RB_FLOAT32, 29, 337);
    rb_gemm_parallel(ctx, 1, a, RB_PLAIN, b, RB_PLAIN, 0, one);
    assert_near(rb_dense_get(one, 28, 336), test_product(a, RB_PLAIN, b, RB_PLAIN, 28, 336), 1e-4);
    for (int threads = 2; threads <= 8; threads++) {
        assert_int_equal(rb_context_set_threads(ctx, threads), RB_OK);
        rb_gemm_parallel(ctx, 1, a, RB_PLAIN, b, RB_PLAIN, 0, c);
        assert_same_bits(c, one);
    }
    rb_dense *all[] = {&a, &b, &one, &c};
    for (int k = 0; k < 4; k++)
        rb_dense_free(all[k]);
    rb_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    rb_context *ctx = test_context(1);
    rb_dense v = test_random(ctx, RB_FLOAT32, 200, 333, 0, 1);
    rb_dense m = test_random(ctx, RB_FLOAT32, 200, 700, 0, 2);
    rb_dense w = test_random(ctx, RB_FLOAT32, 333, 700, 0, 3);
    rb_dense u[4], s[4], mu[4], k[4];
    for (int t = 0; t < 4; t++) {
        assert_int_equal(rb_context_set_threads(ctx, threads[t]), RB_OK);
        u[t] = test_zeros(ctx, RB_FLOAT32, 333, 700);
        s[t] = test_zeros(ctx, RB_FLOAT32, 700, 700);
        mu[t] = test_zeros(ctx, RB_FLOAT32, 200, 700);
        k[t] = test_zeros(ctx, RB_FLOAT32, 333, 333);
        rb_moments_parallel(ctx, 1, v, m, u[t], s[t]);
        rb_gemm_parallel(ctx, 1, v, RB_PLAIN, w, RB_PLAIN, 0, mu[t]);
        rb_gemm_lower(ctx, 1, w, RB_PLAIN, w, RB_TRANSPOSED, 0, k[t]);
        assert_same_bits(u[t], u[0]);
        assert_same_bits(s[t], s[0]);
        assert_same_bits(mu[t], mu[0]);
        assert_same_bits(k[t], k[0]);
    }
    for (int t = 0; t < 4; t++) {
        rb_dense_free(&u[t]);
        rb_dense_free(&s[t]);
        rb_dense_free(&mu[t]);
        rb_dense_free(&k[t]);
    }
    rb_dense_free(&v);
    rb_dense_free(&m);
    rb_dense_free(&w);
    rb_context_free(ctx);
}

/* The BLAS counts in int: more rows than that are taken in pieces, longer rows are refused. */
static void dimensions_beyond_int(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    rb_dense none;
    assert_error(ctx, rb_dense_new(ctx, RB_FLOAT32, 1, INT64_C(1) << 31, &none),
                 RB_ERROR_UNSUPPORTED, "2147483647");

    int64_t rows = (INT64_C(1) << 31) + 5;
    size_t bytes = (size_t)rows * sizeof(float);
    float *values = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (values != MAP_FAILED) { /* zeros take no memory, and in large pages little time */
        (void)madvise(values, bytes, MADV_HUGEPAGE);
        float product = 0;
        int64_t places[] = {0, (1 << 30) - 1, 1 << 30, INT64_C(1) << 31, rows - 1};
        for (int i = 0; i < 5; i++)
            values[places[i]] = (float)(i + 1);
        rb_dense a = {values, rows, 1, 1, RB_FLOAT32};
        rb_dense c = {&product, 1, 1, 1, RB_FLOAT32};
        rb_gemm(1, a, RB_TRANSPOSED, a, RB_PLAIN, 0, c);
        assert_true(product == 55);
        munmap(values, bytes);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_is_the_product),
        cmocka_unit_test(few_columns_and_rows_are_the_product),
        cmocka_unit_test(beta_of_zero_forgets_what_was_there),
        cmocka_unit_test(lower_products_are_the_lower_triangle),
        cmocka_unit_test(half_products_give_quadratic_forms),
        cmocka_unit_test(moments_add_to_what_is_there),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(threads_do_not_change_few_columns),
        cmocka_unit_test(threads_do_not_change_few_rows),
        cmocka_unit_test(dimensions_beyond_int),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
