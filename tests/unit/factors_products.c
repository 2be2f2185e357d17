/* Products with sparse samples less a shift, against loops over the filled ones; several tasks. */
#include "fixture.h"

#include "factors/factors.h"

enum { MANY = 2100, FEW = 150, WIDTH = 3 };

/* Samples, a third of them zeros, as rows and filled, less their shift. */
typedef struct sparse_block {
    rb_block block;
    int64_t n, m, *starts;
    int32_t *columns;
    double *values, *shift, *filled;
} sparse_block;

static sparse_block make(int64_t n, int64_t m, bool shifted) {
    sparse_block s = {.n = n, .m = m};
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 1}, 0};
    s.starts = calloc((size_t)n + 1, sizeof *s.starts);
    s.columns = calloc((size_t)(n * m), sizeof *s.columns);
    s.values = calloc((size_t)(n * m), sizeof *s.values);
    s.filled = calloc((size_t)(n * m), sizeof *s.filled);
    s.shift = calloc((size_t)m, sizeof *s.shift);
    for (int64_t k = 0; k < m; k++)
        s.shift[k] = k % 4 ? rb_draw_normal(&draws) : 0;
    for (int64_t i = 0, e = 0; i < n; i++) {
        for (int64_t k = 0; k < m; k++) {
            double value = rb_draw_uniform(&draws) < 1. / 3 ? 0 : rb_draw_normal(&draws);
            s.filled[i * m + k] = value - (shifted ? s.shift[k] : 0);
            if (value != 0) s.columns[e] = (int32_t)k, s.values[e++] = value;
        }
        s.starts[i + 1] = e;
    }
    s.block = (rb_block){.n_samples = n,
                         .n_features = m,
                         .sparse = true,
                         .csr = {n, m, s.starts, s.columns, s.values, RB_FLOAT64},
                         .shift = shifted ? s.shift : NULL};
    return s;
}

static void drop(sparse_block *s) {
    free(s->starts);
    free(s->columns);
    free(s->values);
    free(s->filled);
    free(s->shift);
}

static rb_dense table(rb_context *ctx, int64_t rows, int64_t cols) {
    rb_dense d;
    rb_draws draws = {{6, RB_RANDOM_SIMULATE, 2}, 0};
    assert_ok(ctx, rb_dense_new(ctx, RB_FLOAT64, rows, cols, &d));
    for (int64_t e = 0; e < rows * cols; e++)
        rb_dense_set(d, e / cols, e % cols, rb_draw_normal(&draws));
    return d;
}

/* sum over e < count of a[e step_a] b[e step_b] */
static double dot(int64_t count, const double *a, int64_t step_a, const double *b, int64_t step_b) {
    double sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += a[e * step_a] * b[e * step_b];
    return sum;
}

static void times_loadings(void **state) {
    rb_context *ctx = *state;
    for (int shifted = 0; shifted < 2; shifted++) {
        sparse_block s = make(MANY, FEW, shifted);
        rb_dense b = table(ctx, FEW, WIDTH), out = table(ctx, MANY, WIDTH);
        assert_ok(ctx, factors_project(ctx, &s.block, b, out));
        for (int64_t i = 0; i < MANY; i++)
            for (int64_t j = 0; j < WIDTH; j++)
                assert_close(rb_dense_get(out, i, j),
                             dot(FEW, s.filled + i * FEW, 1, (double *)b.data + j, b.ld), 1e-10);
        rb_dense_free(&b);
        rb_dense_free(&out);
        drop(&s);
    }
}

static void times_codes(void **state) {
    rb_context *ctx = *state;
    for (int shifted = 0; shifted < 2; shifted++) {
        sparse_block s = make(FEW, MANY, shifted);
        factors_columns columns = {0};
        rb_dense codes = table(ctx, FEW, WIDTH), u = table(ctx, MANY, WIDTH);
        rb_dense before = table(ctx, MANY, WIDTH);
        assert_ok(ctx, factors_add_cross(ctx, &columns, &s.block, codes, u));
        for (int64_t k = 0; k < MANY; k++)
            for (int64_t j = 0; j < WIDTH; j++)
                assert_close(rb_dense_get(u, k, j) - rb_dense_get(before, k, j),
                             dot(FEW, s.filled + k, MANY, (double *)codes.data + j, codes.ld),
                             1e-10);
        factors_columns_clear(&columns);
        rb_dense_free(&codes);
        rb_dense_free(&u);
        rb_dense_free(&before);
        drop(&s);
    }
}

/* Features with features, and samples with samples: the lower triangle. */
static void times_itself(void **state) {
    rb_context *ctx = *state;
    for (int which = 0; which < 4; which++) {
        bool gram = which / 2;
        sparse_block s = make(FEW, FEW + 7, which % 2);
        int64_t size = gram ? s.n : s.m, across = gram ? s.m : s.n;
        int64_t next = gram ? s.m : 1, step = gram ? 1 : s.m;
        factors_columns columns = {0};
        rb_dense out = table(ctx, size, size), before = table(ctx, size, size);
        assert_ok(ctx, gram ? factors_gram(ctx, &columns, &s.block, out)
                            : factors_add_second(ctx, &columns, &s.block, out));
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j <= i; j++)
                assert_close(rb_dense_get(out, i, j) - (gram ? 0 : rb_dense_get(before, i, j)),
                             dot(across, s.filled + i * next, step, s.filled + j * next, step),
                             1e-10);
        factors_columns_clear(&columns);
        rb_dense_free(&out);
        rb_dense_free(&before);
        drop(&s);
    }
}

static int set_up(void **state) {
    *state = fixture_context();
    return 0;
}

static int tear_down(void **state) {
    rb_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_loadings),
        cmocka_unit_test(times_codes),
        cmocka_unit_test(times_itself),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
