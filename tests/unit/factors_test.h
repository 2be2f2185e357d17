/* Fits of the methods in src/factors to small data. */
#ifndef COMPARE_TEST_H
#define COMPARE_TEST_H

#include "fixture.h"

/* Fits a method with options as text. */
static inline rb_error compare_try(rb_context *ctx, const char *method, const char *text,
                                   rb_source *source, const rb_model *start, rb_model **model) {
    rb_options *options = NULL;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    rb_error err = rb_fit(ctx, options, source, start, model);
    rb_options_free(options);
    return err;
}

static inline rb_model *compare_fit(rb_context *ctx, const char *method, const char *text,
                                    rb_source *source) {
    rb_model *model = NULL;
    assert_ok(ctx, compare_try(ctx, method, text, source, NULL, &model));
    return model;
}

static inline double compare_objective(const rb_model *model, int64_t t) {
    double value, estep, seconds;
    assert_int_equal(rb_model_history(model, t, &value, &estep, &seconds), RB_OK);
    return value;
}

static inline double compare_last(const rb_model *model) {
    return compare_objective(model, rb_model_iterations(model) - 1);
}

/* No iteration lowers the objective by more than a share of `size`. */
static inline void assert_rises(const rb_model *model, double size) {
    for (int64_t t = 1; t < rb_model_iterations(model); t++) {
        double now = compare_objective(model, t), before = compare_objective(model, t - 1);
        if (!(now >= before - 1e-12 * size))
            fail_msg("iteration %d: %.17g after %.17g", (int)t + 1, now, before);
    }
}

/* The same samples as compressed rows; zeros are left out. */
struct compare_sparse {
    int64_t *starts;
    int32_t *columns;
    double *values;
    rb_matrix *matrix;
    rb_source *source;
};

static inline struct compare_sparse compare_sparse_of(rb_context *ctx, const double *values,
                                                      int64_t n, int64_t m) {
    struct compare_sparse s = {calloc((size_t)n + 1, sizeof *s.starts),
                               calloc((size_t)(n * m), sizeof *s.columns),
                               calloc((size_t)(n * m), sizeof *s.values), NULL, NULL};
    for (int64_t i = 0; i < n; i++) {
        s.starts[i + 1] = s.starts[i];
        for (int64_t k = 0; k < m; k++) {
            if (values[i * m + k] == 0) continue;
            s.columns[s.starts[i + 1]] = (int32_t)k;
            s.values[s.starts[i + 1]++] = values[i * m + k];
        }
    }
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, n, m, s.starts, s.columns, s.values, &s.matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, s.matrix, &s.source));
    return s;
}

static inline void compare_sparse_free(struct compare_sparse *s) {
    rb_source_free(s->source);
    rb_matrix_free(s->matrix);
    free(s->starts);
    free(s->columns);
    free(s->values);
}

/* The same samples on demand. */
struct compare_rows {
    const double *values;
    int64_t m;
};

static inline rb_error compare_give(void *user, int64_t first, int64_t count, void *rows) {
    const struct compare_rows *r = user;
    memcpy(rows, r->values + first * r->m, (size_t)(count * r->m) * sizeof(double));
    return RB_OK;
}

static inline void assert_same_arrays(const rb_model *a, const rb_model *b, const char *name) {
    int64_t rows, columns, other_rows, other_columns;
    const double *x = rb_model_array(a, name, &rows, &columns);
    const double *y = rb_model_array(b, name, &other_rows, &other_columns);
    assert_non_null(x);
    assert_int_equal(rows, other_rows);
    assert_int_equal(columns, other_columns);
    assert_memory_equal(x, y, (size_t)(rows * columns) * sizeof *x);
}

#endif
