/* Compressed rows: products against dense ones, slices, transposes, for every kind of kernels. */
#include "linalg_test.h"

#include <stdlib.h>

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

static void check(rb_dense out, rb_dense v, int64_t first, rb_dense b, double times) {
    for (int64_t i = 0; i < out.rows; i++)
        for (int64_t j = 0; j < out.cols; j++)
            assert_near(rb_dense_get(out, i, j),
                        times * test_product(v, RB_PLAIN, b, RB_PLAIN, first + i, j),
                        test_tolerance(out.type, COLS));
}

/* With NaN behind each row, of which some may be written. */
static rb_dense random_rows(rb_context *ctx, rb_type type, int64_t rows, int64_t width, bool spare,
                            uint64_t seed) {
    int64_t more = spare ? rb_spaced(type, width) - width : 0;
    rb_dense a = test_random(ctx, type, rows, width, more + 1, seed);
    a.spare = more;
    return a;
}

/* What follows a row is left alone. */
static void assert_kept(rb_dense out) {
    for (int64_t i = 0; i < out.rows; i++)
        assert_true(isnan(rb_get(out.type, rb_dense_row(out, i), out.cols + out.spare)));
}

/* Calls `test` for every kind of kernels, type and width from 1 to 64, and of some wider rows; with
 * values to spare behind the rows of one operand, of both or of none. */
typedef void (*width_test)(rb_context *ctx, struct sparse *s, int64_t width, bool b_spare,
                           bool out_spare);

static void for_all_widths(width_test test) {
    static struct sparse s;
    static const char *const names[] = {"ref", "avx2", "avx512"};
    static const int64_t wider[] = {65, 127, 128, 129, 256, 300};
    rb_context *ctx = test_context(1);
    for (int c = 0; c < 2 * 3; c++) {
        rb_type type = (rb_type)(c & 1);
        if (rb_context_set_kernels(ctx, names[c / 2])) continue;
        fill(ctx, type, &s);
        for (int spare = 0; spare < 4; spare++) {
            for (int64_t width = 1; width <= 64; width++)
                test(ctx, &s, width, spare & 1, spare & 2);
            for (size_t k = 0; k < sizeof wider / sizeof *wider; k++)
                test(ctx, &s, wider[k], spare & 1, spare & 2);
        }
        rb_dense_free(&s.dense);
    }
    rb_context_free(ctx);
}

static void check_products(rb_context *ctx, struct sparse *s, int64_t width, bool b_spare,
                           bool out_spare) {
    rb_type type = s->csr.type;
    rb_dense b = random_rows(ctx, type, COLS, width, b_spare, 1);
    rb_dense out = random_rows(ctx, type, 40, width, out_spare, 2);
    rb_kernels_of(ctx)->of[type].csr(s->csr, 20, b, false, out);
    check(out, s->dense, 20, b, 1);
    rb_kernels_of(ctx)->of[type].csr(slice(s->csr, 10, 45), 3, b, false, out);
    check(out, s->dense, 13, b, 1);
    rb_kernels_of(ctx)->of[type].csr(s->csr, 13, b, true, out);
    check(out, s->dense, 13, b, 2);
    assert_kept(out);
    rb_dense_free(&b);
    rb_dense_free(&out);
}

static void products_equal_dense_ones(void **state) {
    (void)state;
    for_all_widths(check_products);
}

/* OUT += -2 V'B, for rows begin .. end - 1, against sums over all of V's rows. */
static void check_part(rb_dense out, rb_dense before, rb_dense v, rb_dense b, int64_t begin,
                       int64_t end) {
    for (int64_t k = 0; k < out.rows; k++) {
        for (int64_t j = 0; j < out.cols; j++) {
            bool in = k >= begin && k < end;
            double sum = in ? -2 * test_product(v, RB_TRANSPOSED, b, RB_PLAIN, k, j) : 0;
            assert_near(rb_dense_get(out, k, j), rb_dense_get(before, k, j) + sum,
                        2 * test_tolerance(out.type, ROWS));
        }
    }
}

static void check_cross(rb_context *ctx, struct sparse *s, int64_t width, bool b_spare,
                        bool out_spare) {
    static const int64_t parts[][2] = {{0, COLS}, {0, 7}, {7, 30}, {30, COLS}, {12, 12}};
    rb_csr v = slice(s->csr, 2, ROWS - 2);
    rb_dense rows = rb_dense_rows(s->dense, 2, ROWS - 2);
    rb_dense b = random_rows(ctx, v.type, ROWS - 2, width, b_spare, 1);
    rb_dense before = test_random(ctx, v.type, COLS, width, 1, 2);
    for (int i = 0; i < 5; i++) {
        rb_dense out = random_rows(ctx, v.type, COLS, width, out_spare, 2);
        int64_t begin = parts[i][0], end = parts[i][1];
        rb_kernels_of(ctx)->of[v.type].csr_cross(v, -2, b, begin, end, out);
        check_part(out, before, rows, b, begin, end);
        assert_kept(out);
        rb_dense_free(&out);
    }
    rb_dense_free(&b);
    rb_dense_free(&before);
}

static void cross_products_equal_dense_ones(void **state) {
    (void)state;
    for_all_widths(check_cross);
}

/* `count` rows of 300 columns, of which the first have most entries. */
static rb_csr many_rows(rb_type type, int64_t count) {
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    int64_t *starts = calloc((size_t)count + 1, sizeof *starts);
    int32_t *columns = malloc((size_t)count * 300 * sizeof *columns);
    double *values = malloc((size_t)count * 300 * sizeof *values);
    int64_t e = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < 300 && i % 7 != 0; k++) {
            if (rb_draw_uniform(&draws) > 10.0 / (10 + k)) continue;
            rb_put(type, values, e, rb_draw_normal(&draws));
            columns[e++] = k;
        }
        starts[i + 1] = e;
    }
    return (rb_csr){count, 300, starts, columns, values, type};
}

static void cross_products_do_not_depend_on_threads(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 11, 20, 64, 65};
    for (int c = 0; c < 2 * 5; c++) {
        rb_csr v = many_rows((rb_type)(c & 1), 2000);
        rb_context *ctx = test_context(1);
        rb_dense m = test_random(ctx, v.type, v.rows, widths[c / 2], 1, 3), first = {0};
        for (int threads = 1; threads <= 5; threads++) {
            assert_int_equal(rb_context_set_threads(ctx, threads), RB_OK);
            rb_dense u = test_random(ctx, v.type, v.cols, m.cols, 0, 4);
            rb_csr_add_cross(ctx, v, 0.5, m, u);
            if (threads == 1) {
                first = u;
                continue;
            }
            assert_same_bits(u, first);
            rb_dense_free(&u);
        }
        rb_dense_free(&first);
        rb_dense_free(&m);
        rb_context_free(ctx);
        free((void *)v.starts);
        free((void *)v.columns);
        free((void *)v.values);
    }
}

/* ---- bands of columns ---- */

enum { MANY_ROWS = 600, MANY_COLS = 10000, WIDEST = 136 };

/* Rows of every kind: none, few or many entries, and such that begin late; part of a larger one. */
static rb_csr of_all_kinds(rb_type type) {
    rb_draws draws = {{11, RB_RANDOM_SIMULATE, 0}, 0};
    enum { BEFORE = 5 };
    int64_t *starts = calloc(MANY_ROWS + 1, sizeof *starts), e = 0;
    int32_t *columns = malloc((size_t)MANY_ROWS * MANY_COLS / 16 * sizeof *columns);
    double *values = malloc((size_t)MANY_ROWS * MANY_COLS / 16 * sizeof *values);
    for (int64_t i = 0; i < MANY_ROWS; i++) {
        double share = (double[]){0, 0.0005, 0.04, 0.04}[i % 4];
        for (int32_t k = i % 4 == 3 ? 7000 : 0; share > 0 && k < MANY_COLS; k++) {
            if (rb_draw_uniform(&draws) > share) continue;
            rb_put(type, values, e, rb_draw_normal(&draws));
            columns[e++] = k;
        }
        starts[i + 1] = BEFORE + e;
    }
    starts[0] = BEFORE;
    return (rb_csr){MANY_ROWS, MANY_COLS, starts, columns, values, type};
}

/* V B and V'C, entry by entry. */
static void multiply(rb_csr v, rb_dense b, rb_dense c, rb_dense vb, rb_dense vc) {
    for (int64_t i = 0; i < v.rows; i++)
        for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++)
            for (int64_t j = 0; j < b.cols; j++) {
                double value = rb_get(v.type, v.values, e);
                double *to = (double *)rb_dense_row(vb, i) + j;
                *to += value * rb_dense_get(b, v.columns[e], j);
                to = (double *)rb_dense_row(vc, v.columns[e]) + j;
                *to += value * rb_dense_get(c, i, j);
            }
}

/* A third of the rows. */
static void assert_columns_near(rb_dense out, rb_dense expected) {
    for (int64_t i = 0; i < out.rows; i += 3)
        for (int64_t j = 0; j < out.cols; j++)
            assert_near(rb_dense_get(out, i, j), rb_dense_get(expected, i, j),
                        test_tolerance(out.type, MANY_ROWS));
}

/* `width` columns of `from`, or zeros, as random_rows has them. */
static rb_dense copy_of(rb_context *ctx, rb_dense from, int64_t width, bool spare) {
    int64_t more = spare ? rb_spaced(from.type, width) - width : 0;
    rb_dense copy = test_zeros(ctx, from.type, from.rows, width + more + 1);
    copy.cols = width;
    copy.spare = more;
    for (int64_t i = 0; i < copy.rows; i++)
        rb_put(copy.type, rb_dense_row(copy, i), width + more, NAN);
    if (from.data) rb_dense_copy(rb_dense_part(from, 0, from.rows, 0, width), copy);
    return copy;
}

/* All rows at once, and one by one, to the same bits. */
static void check_projected(rb_context *ctx, rb_csr v, rb_dense b, bool spare, rb_dense vb) {
    rb_dense out = random_rows(ctx, v.type, v.rows, b.cols, spare, 5);
    rb_dense alone = random_rows(ctx, v.type, v.rows, b.cols, spare, 6);
    const struct rb_type_kernels *kernels = &rb_kernels_of(ctx)->of[v.type];
    kernels->csr(v, 0, b, false, out);
    assert_columns_near(out, vb);
    assert_kept(out);
    for (int64_t i = 0; i < v.rows; i++)
        kernels->csr(v, i, b, false, rb_dense_rows(alone, i, 1));
    assert_same_bits(out, alone);
    rb_dense_free(&out);
    rb_dense_free(&alone);
}

/* All columns at once, and in three parts, to the same bits. */
static void check_crossed(rb_context *ctx, rb_csr v, rb_dense c, bool spare, rb_dense vc) {
    static const int64_t ends[] = {0, 10, 6000, MANY_COLS};
    rb_dense zeros = {.rows = v.cols, .type = v.type};
    rb_dense out = copy_of(ctx, zeros, c.cols, spare), parts = copy_of(ctx, zeros, c.cols, spare);
    const struct rb_type_kernels *kernels = &rb_kernels_of(ctx)->of[v.type];
    kernels->csr_cross(v, 1, c, 0, v.cols, out);
    assert_columns_near(out, vc);
    assert_kept(out);
    for (int i = 0; i < 3; i++)
        kernels->csr_cross(v, 1, c, ends[i], ends[i + 1], parts);
    assert_same_bits(out, parts);
    rb_dense_free(&out);
    rb_dense_free(&parts);
}

static void check_bands(rb_context *ctx, rb_csr v, int64_t width, rb_dense b, rb_dense c,
                        rb_dense vb, rb_dense vc) {
    for (int spare = 0; spare < 4; spare++) {
        rb_dense some_b = copy_of(ctx, b, width, spare & 1);
        rb_dense some_c = copy_of(ctx, c, width, spare & 1);
        check_projected(ctx, v, some_b, spare & 2, vb);
        check_crossed(ctx, v, some_c, spare & 2, vc);
        rb_dense_free(&some_b);
        rb_dense_free(&some_c);
    }
}

static void bands_of_columns_change_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"ref", "avx2", "avx512"};
    static const int64_t widths[] = {20, 50, WIDEST};
    rb_context *ctx = test_context(1);
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        rb_csr v = of_all_kinds((rb_type)type);
        rb_dense b = test_random(ctx, v.type, v.cols, WIDEST, 0, 3);
        rb_dense c = test_random(ctx, v.type, v.rows, WIDEST, 0, 4);
        rb_dense vb = test_zeros(ctx, RB_FLOAT64, v.rows, WIDEST);
        rb_dense vc = test_zeros(ctx, RB_FLOAT64, v.cols, WIDEST);
        multiply(v, b, c, vb, vc);
        for (int k = 0; k < 3 * 3; k++) {
            if (rb_context_set_kernels(ctx, names[k / 3])) continue;
            check_bands(ctx, v, widths[k % 3], b, c, vb, vc);
        }
        rb_dense *all[] = {&b, &c, &vb, &vc};
        for (int i = 0; i < 4; i++)
            rb_dense_free(all[i]);
        free((void *)v.starts);
        free((void *)v.columns);
        free((void *)v.values);
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
        cmocka_unit_test(cross_products_equal_dense_ones),
        cmocka_unit_test(cross_products_do_not_depend_on_threads),
        cmocka_unit_test(bands_of_columns_change_nothing),
        cmocka_unit_test(transposing_swaps_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
