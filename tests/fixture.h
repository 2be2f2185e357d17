/* What many tests need: a context, data, a fit. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "errors.h"
#include "model/model.h"
#include "options.h"
#include <rarebit/rarebit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of io.h and deep.h. */
void rb_io_use(rb_context *ctx);
rb_error rb_nets_use(rb_context *ctx);

/* It knows the libraries that the test links: those whose headers it includes (CMakeLists.txt). */
static inline rb_context *fixture_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
#ifdef TEST_nets
    assert_int_equal(rb_nets_use(ctx), RB_OK);
#endif
#ifdef TEST_io
    rb_io_use(ctx);
#endif
    return ctx;
}

/* Around a test, or a group of them, whose state is a context. */
static inline int fixture_enter(void **state) {
    *state = fixture_context();
    return 0;
}

static inline int fixture_leave(void **state) {
    rb_context_free(*state);
    return 0;
}

/* Runs tests, each with a context of its own as its state unless it has a set-up. */
static inline int fixture_run(const struct CMUnitTest *tests, size_t count) {
    return run_each(tests, count, fixture_enter, fixture_leave);
}

/* Fails the test with the context's message. */
static inline void assert_ok(rb_context *ctx, rb_error err) {
    if (err) fail_msg("%s: %s", rb_error_name(err), rb_context_error(ctx));
}

static inline void assert_close(double got, double expected, double relative) {
    if (!(fabs(got - expected) <= relative * fmax(1, fabs(expected))))
        fail_msg("%.12g is not %.12g within %g", got, expected, relative);
}

/* n x m values with a few strong causes: rank `causes`, noise sd 0.5, column means not 0. */
static inline double *fixture_values(int64_t n, int64_t m, int64_t causes, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = calloc((size_t)(n * m), sizeof *values);
    double *sample = calloc((size_t)n, sizeof *sample),
           *feature = calloc((size_t)m, sizeof *feature);
    for (int64_t c = 0; c < causes; c++) {
        for (int64_t i = 0; i < n; i++)
            sample[i] = fmax(0, rb_draw_normal(&draws) - 0.5);
        for (int64_t k = 0; k < m; k++)
            feature[k] = 2 * rb_draw_normal(&draws);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < m; k++)
                values[i * m + k] += sample[i] * feature[k];
    }
    for (int64_t i = 0; i < n * m; i++)
        values[i] += 0.5 * rb_draw_normal(&draws) + 0.3;
    free(sample);
    free(feature);
    return values;
}

static inline rb_source *fixture_source(rb_context *ctx, const double *values, int64_t n, int64_t m,
                                        rb_matrix **matrix) {
    rb_source *source;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, m, values, m, 1, matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

/* The same as compressed rows, which the matrix owns; zeros are left out. */
static inline rb_source *fixture_sparse(rb_context *ctx, const double *values, int64_t n, int64_t m,
                                        rb_matrix **matrix) {
    int64_t *starts = rb_alloc_zero(ctx, n + 1, sizeof *starts), count = 0;
    int32_t *columns = rb_alloc(ctx, n * m, sizeof *columns);
    double *stored = rb_alloc(ctx, n * m, sizeof *stored);
    rb_source *source;
    for (int64_t e = 0; e < n * m; e++) {
        if (values[e] != 0) {
            columns[count] = (int32_t)(e % m);
            stored[count++] = values[e];
        }
        starts[e / m + 1] = count;
    }
    assert_ok(ctx, rb_matrix_own_csr(ctx, RB_FLOAT64, n, m, starts, columns, stored, matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

/* A source of such values that frees its matrix with itself. */
static inline rb_source *fixture_data(rb_context *ctx, const double *values, int64_t n, int64_t m) {
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, m, values, m, 1, &matrix));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

static inline rb_source *fixture_sparse_data(rb_context *ctx, const double *values, int64_t n,
                                             int64_t m) {
    rb_matrix *matrix;
    rb_source *source;
    rb_source_free(fixture_sparse(ctx, values, n, m, &matrix));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

/* Data, what reads them, and options of fits to them for tests that set some. */
struct fixture_problem {
    rb_context *ctx;
    double *values;
    rb_source *source;
    rb_rfn_options rfn;
    rb_fit_options fit;
};

/* Takes the values; freed by fixture_teardown. */
static inline struct fixture_problem *fixture_problem(double *values, int64_t n, int64_t m) {
    struct fixture_problem *p = calloc(1, sizeof *p);
    p->ctx = fixture_context();
    p->values = values;
    p->source = fixture_data(p->ctx, p->values, n, m);
    return p;
}

static inline int fixture_teardown(void **state) {
    struct fixture_problem *p = *state;
    rb_source_free(p->source);
    free(p->values);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

/* An array of a model that has it. */
static inline const double *fixture_array(const rb_model *model, const char *name) {
    const double *values = rb_model_array(model, name, NULL, NULL);
    assert_non_null(values);
    return values;
}

/* An array of two models has the same bits. */
static inline void fixture_same_array(const rb_model *a, const rb_model *b, const char *name) {
    int64_t rows, columns, other_rows, other_columns;
    const double *x = rb_model_array(a, name, &rows, &columns);
    const double *y = rb_model_array(b, name, &other_rows, &other_columns);
    assert_non_null(x);
    assert_non_null(y);
    assert_int_equal(rows, other_rows);
    assert_int_equal(columns, other_columns);
    assert_memory_equal(x, y, (size_t)(rows * columns) * sizeof *x);
}

/* All of them have. */
static inline void fixture_same_arrays(const rb_model *a, const rb_model *b) {
    assert_int_equal(a->n_arrays, b->n_arrays);
    for (int64_t i = 0; i < a->n_arrays; i++)
        fixture_same_array(a, b, a->arrays[i].name);
}

/* Options for small fits: eta 0.5, float64, `iterations`. */
static inline rb_rfn_options fixture_rfn(int64_t units, int normalize) {
    rb_rfn_options options;
    rb_rfn_options_default(&options);
    fixture_preset("paper", &options, NULL);
    options.units = units;
    options.eta = 0.5;
    options.normalize = normalize;
    return options;
}

static inline rb_fit_options fixture_fit(int64_t iterations, int precision) {
    rb_fit_options fit;
    rb_fit_options_default(&fit);
    fit.iterations = iterations;
    fit.precision = precision;
    return fit;
}

/* A fit by the structs of its options (options.h), from a model or from NULL. */
static inline rb_model *fixture_model(rb_context *ctx, const char *method, const void *own,
                                      const rb_fit_options *fit,
                                      const rb_preprocess_options *preprocess, rb_source *source,
                                      const rb_model *start) {
    rb_model *model = NULL;
    const rb_options *options = fixture_options(ctx, method, own, fit, preprocess);
    assert_ok(ctx, rb_fit(ctx, options, source, start, &model));
    return model;
}

/* Such a fit is refused, in these words, and gives no model. */
static inline void fixture_refused(rb_context *ctx, const char *method, const void *own,
                                   const rb_fit_options *fit,
                                   const rb_preprocess_options *preprocess, rb_source *source,
                                   const rb_model *start, rb_error code, const char *words) {
    rb_model *model = (rb_model *)&model; /* must become NULL */
    const rb_options *options = fixture_options(ctx, method, own, fit, preprocess);
    assert_error(ctx, rb_fit(ctx, options, source, start, &model), code, words);
    assert_null(model);
}

/* A fit by options as text, with values in it as printf has them. */
RB_PRINTF(5, 6)
static inline rb_model *fixture_text_model(rb_context *ctx, const char *method, rb_source *source,
                                           const rb_model *start, const char *text, ...) {
    char words[512];
    rb_options *options = NULL;
    rb_model *model = NULL;
    va_list values;
    va_start(values, text);
    assert_in_range(vsnprintf(words, sizeof words, text, values), 0, sizeof words - 1);
    va_end(values);
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", words));
    assert_ok(ctx, rb_fit(ctx, options, source, start, &model));
    rb_options_free(options);
    return model;
}

/* A fit, after each of its allocations has failed once: there are at least so many, and not
 * thousands. */
static inline rb_model *fixture_model_at_last(rb_context *ctx, const rb_options *options,
                                              rb_source *source, int64_t least) {
    rb_model *model = NULL;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        model = (rb_model *)&model; /* must become NULL */
        err = rb_fit(ctx, options, source, NULL, &model);
        assert_int_equal(model != NULL, !err);
    }
    assert_in_range(n, least + 1, 2000);
    return model;
}

/* An evaluation likewise. */
static inline void fixture_evaluate_at_last(rb_context *ctx, const rb_model *model,
                                            rb_source *source) {
    rb_evaluation evaluation;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++)
        err = fixture_evaluate(ctx, model, source, &evaluation);
}

/* Takes all rows of rb_encode or rb_reconstruct into an array of doubles. */
struct fixture_rows {
    double *values;
    int64_t columns;
};

static inline rb_error fixture_take(void *user, int64_t first, const rb_matrix *rows) {
    struct fixture_rows *out = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t k = 0; k < out->columns; k++)
            out->values[(first + i) * out->columns + k] = rb_matrix_at(rows, i, k);
    return RB_OK;
}

static inline double *fixture_codes(rb_context *ctx, const rb_model *model, rb_source *source) {
    struct fixture_rows rows = {NULL, rb_model_units(model)};
    rows.values = calloc((size_t)(rb_source_samples(source) * rows.columns), sizeof(double));
    assert_ok(ctx, rb_encode(ctx, model, source, fixture_take, &rows));
    return rows.values;
}

#endif
