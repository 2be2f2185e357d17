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
    float *narrow; /* values, of float32 */
} sparse_block;

static sparse_block make(rb_type type, int64_t n, int64_t m, bool shifted) {
    sparse_block s = {.n = n, .m = m};
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 1}, 0};
    s.starts = calloc((size_t)n + 1, sizeof *s.starts);
    s.columns = calloc((size_t)(n * m), sizeof *s.columns);
    s.values = calloc((size_t)(n * m), sizeof *s.values);
    s.narrow = calloc((size_t)(n * m), sizeof *s.narrow);
    s.filled = calloc((size_t)(n * m), sizeof *s.filled);
    s.shift = calloc((size_t)m, sizeof *s.shift);
    for (int64_t k = 0; k < m; k++)
        s.shift[k] = k % 4 != 1 ? rb_draw_normal(&draws) : 0;
    for (int64_t i = 0, e = 0; i < n; i++) {
        for (int64_t k = 0; k < m; k++) {
            double value = rb_draw_uniform(&draws) < 1. / 3 ? 0 : rb_draw_normal(&draws);
            s.filled[i * m + k] = value - (shifted ? s.shift[k] : 0);
            if (value == 0) continue;
            s.columns[e] = (int32_t)k;
            s.narrow[e] = (float)value;
            s.values[e++] = value;
        }
        s.starts[i + 1] = e;
    }
    const void *stored = type == RB_FLOAT32 ? (void *)s.narrow : s.values;
    s.block = (rb_block){.n_samples = n,
                         .n_features = m,
                         .sparse = true,
                         .csr = {n, m, s.starts, s.columns, stored, type},
                         .shift = shifted ? s.shift : NULL};
    return s;
}

static void drop(sparse_block *s) {
    free(s->starts);
    free(s->columns);
    free(s->values);
    free(s->narrow);
    free(s->filled);
    free(s->shift);
}

static rb_dense table(rb_context *ctx, rb_type type, int64_t rows, int64_t cols) {
    rb_dense d;
    rb_draws draws = {{6, RB_RANDOM_SIMULATE, 2}, 0};
    assert_ok(ctx, rb_dense_new(ctx, type, rows, cols, &d));
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
        sparse_block s = make(RB_FLOAT64, MANY, FEW, shifted);
        rb_dense b = table(ctx, RB_FLOAT64, FEW, WIDTH), out = table(ctx, RB_FLOAT64, MANY, WIDTH);
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
        sparse_block s = make(RB_FLOAT64, FEW, MANY, shifted);
        rb_dense codes = table(ctx, RB_FLOAT64, FEW, WIDTH),
                 u = table(ctx, RB_FLOAT64, MANY, WIDTH);
        rb_dense before = table(ctx, RB_FLOAT64, MANY, WIDTH);
        assert_ok(ctx, factors_add_cross(ctx, &s.block, codes, u));
        for (int64_t k = 0; k < MANY; k++)
            for (int64_t j = 0; j < WIDTH; j++)
                assert_close(rb_dense_get(u, k, j) - rb_dense_get(before, k, j),
                             dot(FEW, s.filled + k, MANY, (double *)codes.data + j, codes.ld),
                             1e-10);
        rb_dense_free(&codes);
        rb_dense_free(&u);
        rb_dense_free(&before);
        drop(&s);
    }
}

/* Features with features, and samples with samples: the lower triangle, in both types. */
static void times_itself(void **state) {
    rb_context *ctx = *state;
    for (int which = 0; which < 8; which++) {
        rb_type type = which / 4 ? RB_FLOAT32 : RB_FLOAT64;
        bool gram = which / 2 % 2;
        sparse_block s = make(type, FEW, FEW + 7, which % 2);
        int64_t size = gram ? s.n : s.m, across = gram ? s.m : s.n;
        int64_t next = gram ? s.m : 1, step = gram ? 1 : s.m;
        rb_csr_memory columns = {0};
        rb_dense out = table(ctx, type, size, size), before = table(ctx, type, size, size);
        assert_ok(ctx, gram ? factors_gram(ctx, &columns, &s.block, out)
                            : factors_add_second(ctx, &columns, &s.block, out));
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j <= i; j++)
                assert_close(rb_dense_get(out, i, j) - (gram ? 0 : rb_dense_get(before, i, j)),
                             dot(across, s.filled + i * next, step, s.filled + j * next, step),
                             type == RB_FLOAT32 ? 1e-4 : 1e-10);
        rb_csr_memory_free(&columns);
        rb_dense_free(&out);
        rb_dense_free(&before);
        drop(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_loadings),
        cmocka_unit_test(times_codes),
        cmocka_unit_test(times_itself),
    };
    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
