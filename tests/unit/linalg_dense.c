/* Dense views: where rows, parts and copies look. */
#include "linalg_test.h"

static void views_look_into_the_matrix(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        rb_dense a = test_random(ctx, (rb_type)type, 7, 5, 2, 1);
        rb_dense part = rb_dense_part(rb_dense_rows(a, 2, 4), 1, 3, 2, 3);
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 3; j++)
                assert_true(rb_dense_get(part, i, j) == rb_dense_get(a, 3 + i, 2 + j));
        rb_dense_set(part, 1, 1, 8);
        assert_true(rb_dense_get(a, 4, 3) == 8);
        rb_dense_zero(part);
        assert_true(rb_dense_get(a, 5, 4) == 0);
        assert_true(rb_dense_get(a, 2, 4) != 0);
        assert_true(isnan(rb_dense_get(a, 5, 5)));
        rb_dense_free(&a);
        assert_null(a.data);
        rb_dense_free(&a);
    }
    rb_context_free(ctx);
}

static void copying_converts_the_type(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    for (int from = RB_FLOAT32; from <= RB_FLOAT64; from++) {
        for (int to = RB_FLOAT32; to <= RB_FLOAT64; to++) {
            rb_dense a = test_random(ctx, (rb_type)from, 9, 33, 3, 2);
            rb_dense b = test_zeros(ctx, (rb_type)to, 9, 33);
            rb_dense_copy(a, b);
            for (int64_t i = 0; i < a.rows; i++) {
                for (int64_t j = 0; j < a.cols; j++) {
                    double x = rb_dense_get(a, i, j);
                    assert_true(rb_dense_get(b, i, j) == (to == RB_FLOAT32 ? (float)x : x));
                }
            }
            rb_dense_free(&a);
            rb_dense_free(&b);
        }
    }
    rb_context_free(ctx);
}

static void mirroring_copies_the_lower_triangle(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 100};
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            rb_dense a = test_random(ctx, (rb_type)type, sizes[s], sizes[s], 1, 3);
            rb_dense b = test_random(ctx, (rb_type)type, sizes[s], sizes[s], 1, 3);
            rb_dense_mirror(b);
            for (int64_t i = 0; i < a.rows; i++) {
                for (int64_t j = 0; j < a.cols; j++) {
                    double expected = i > j ? rb_dense_get(a, i, j) : rb_dense_get(a, j, i);
                    assert_true(rb_dense_get(b, i, j) == expected);
                }
            }
            rb_dense_free(&a);
            rb_dense_free(&b);
        }
    }
    rb_context_free(ctx);
}

static void assert_is_transposed(rb_dense a, rb_dense b) {
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t j = 0; j < b.rows; j++) { /* nothing behind the last row, either */
            double x = j < a.cols ? rb_dense_get(a, i, j) : 0;
            assert_true(rb_dense_get(b, j, i) == (b.type == RB_FLOAT32 ? (float)x : x));
        }
    }
}

/* By all kernels, and of float64 as float32. */
static void transposing_turns_rows_into_columns(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static const char *const names[] = {"ref", "avx2", "avx512"};
    static const int64_t sizes[] = {1, 3, 8, 16, 17, 31, 32, 50};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int c = 0; c < 2 * 3 * SIZES * SIZES; c++) {
        rb_type type = (rb_type)(c & 1);
        if (rb_context_set_kernels(ctx, names[c / 2 % 3])) continue;
        int64_t rows = sizes[c / 6 % SIZES], cols = sizes[c / 6 / SIZES];
        rb_dense a = test_random(ctx, type, rows, cols, 3, 4);
        rb_dense b = test_zeros(ctx, type, cols + 2, 64);
        ctx->kernels->of[type].transpose(rows, cols, a.data, a.ld, b.data, b.ld);
        assert_is_transposed(a, b);
        rb_dense narrow = test_zeros(ctx, RB_FLOAT32, cols + 2, 64);
        rb_dense_transpose(a, narrow);
        assert_is_transposed(a, narrow);
        assert_true(rb_dense_get(narrow, 0, rows) == 0);
        rb_dense_free(&narrow);
        rb_dense_free(&a);
        rb_dense_free(&b);
    }
    rb_context_free(ctx);
}

static void memory_that_is_out_is_an_error(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    rb_dense a;
    assert_int_equal(rb_dense_new(ctx, RB_FLOAT64, INT64_MAX / 2, 3, &a), RB_ERROR_MEMORY);
    assert_null(a.data);
    ctx->allocations_left = 0;
    assert_int_equal(rb_dense_new(ctx, RB_FLOAT64, 3, 3, &a), RB_ERROR_MEMORY);
    assert_null(a.data);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_look_into_the_matrix),
        cmocka_unit_test(copying_converts_the_type),
        cmocka_unit_test(mirroring_copies_the_lower_triangle),
        cmocka_unit_test(transposing_turns_rows_into_columns),
        cmocka_unit_test(memory_that_is_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
