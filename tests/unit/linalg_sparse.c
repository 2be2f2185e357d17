/* Compressed rows: products against dense ones, slices, transposes, for every kind of kernels. */
#include "linalg_test.h"

enum { ROWS = 60, COLS = 45, ENTRIES = ROWS * COLS };

struct sparse {
    int64_t starts[ROWS + 1];
    int32_t columns[ENTRIES];
    float f32[ENTRIES];
    double f64[ENTRIES];
    rb_csr csr;
    rb_dense dense;
};

/* About a fifth of the entries; row 3 is empty, row 4 is full. */
static void fill(rb_context *ctx, rb_type type, struct sparse *s) {
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    int64_t e = 0;
    s->dense = test_zeros(ctx, type, ROWS, COLS);
    for (int32_t i = 0; i < ROWS; i++) {
        s->starts[i] = e;
        for (int32_t k = 0; k < COLS; k++) {
            double share = i == 3 ? 0 : i == 4 ? 1 : 0.2;
            if (rb_draw_uniform(&draws) < share) {
                s->columns[e] = k;
                s->f64[e] = rb_draw_normal(&draws);
                s->f32[e] = (float)s->f64[e];
                rb_dense_set(s->dense, i, k, s->f64[e++]);
            }
        }
    }
    s->starts[ROWS] = e;
    s->csr = (rb_csr){
        ROWS, COLS, s->starts, s->columns, type == RB_FLOAT32 ? (void *)s->f32 : (void *)s->f64,
        type};
}

/* Rows first .. first + count - 1 of the whole as a matrix whose starts do not begin at 0. */
static rb_csr slice(rb_csr v, int64_t first, int64_t count) {
    int64_t skipped = v.starts[first];
    return (rb_csr){count,
                    v.cols,
                    v.starts + first,
                    v.columns + skipped,
                    (const char *)v.values + skipped * (int64_t)rb_type_size(v.type),
                    v.type};
}

static void check(rb_dense out, rb_dense before, rb_dense v, int64_t first, rb_dense b) {
    for (int64_t i = 0; i < out.rows; i++) {
        for (int64_t j = 0; j < out.cols; j++) {
            double start = before.data ? rb_dense_get(before, i, j) : 0;
            assert_near(rb_dense_get(out, i, j),
                        start + test_product(v, RB_PLAIN, b, RB_PLAIN, first + i, j),
                        test_tolerance(out.type, COLS));
        }
    }
}

static void products_equal_dense_ones(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static struct sparse s;
    static const char *const names[] = {"ref", "avx2", "avx512"};
    static const int64_t widths[] = {1, 5, 16, 31, 64, 256, 300};
    for (int c = 0; c < 2 * 3 * 7; c++) {
        rb_type type = (rb_type)(c & 1);
        if (rb_context_set_kernels(ctx, names[c / 2 % 3])) continue;
        int64_t width = widths[c / 6];
        fill(ctx, type, &s);
        rb_dense b = test_random(ctx, type, COLS, width, 3, 1);
        rb_dense out = test_random(ctx, type, 40, width, 1, 2);
        rb_dense before = test_random(ctx, type, 40, width, 1, 2);
        rb_kernels_of(ctx)->of[type].csr(s.csr, 2, 40, b, true, out);
        check(out, before, s.dense, 2, b);
        rb_kernels_of(ctx)->of[type].csr(s.csr, 20, 40, b, false, out);
        check(out, (rb_dense){0}, s.dense, 20, b);
        rb_kernels_of(ctx)->of[type].csr(slice(s.csr, 10, 45), 3, 40, b, false, out);
        check(out, (rb_dense){0}, s.dense, 13, b);
        rb_dense *all[] = {&s.dense, &b, &out, &before};
        for (int i = 0; i < 4; i++)
            rb_dense_free(all[i]);
    }
    rb_context_free(ctx);
}

static void transposing_swaps_rows_and_columns(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    static struct sparse s;
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        for (int64_t first = 0; first < 20; first += 10) {
            fill(ctx, (rb_type)type, &s);
            int64_t starts[COLS + 1];
            int32_t columns[ENTRIES];
            double values[ENTRIES];
            rb_csr v = slice(s.csr, first, 40), t = {COLS, 40, starts, columns, values, v.type};
            rb_csr_transpose(v, starts, columns, values);
            assert_int_equal(starts[0], 0);
            assert_int_equal(starts[COLS], v.starts[40] - v.starts[0]);
            rb_dense found = test_zeros(ctx, v.type, COLS, 40);
            for (int64_t k = 0; k < COLS; k++) {
                for (int64_t e = starts[k]; e < starts[k + 1]; e++) {
                    assert_true(e == starts[k] || columns[e] > columns[e - 1]);
                    rb_dense_set(found, k, columns[e],
                                 type == RB_FLOAT32 ? (double)((const float *)t.values)[e]
                                                    : values[e]);
                }
            }
            for (int64_t k = 0; k < COLS; k++)
                for (int64_t i = 0; i < 40; i++)
                    assert_true(rb_dense_get(found, k, i) == rb_dense_get(s.dense, first + i, k));
            rb_dense_free(&found);
            rb_dense_free(&s.dense);
        }
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_dense_ones),
        cmocka_unit_test(transposing_swaps_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
