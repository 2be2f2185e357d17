/* Whole fits by the fast engine of the newton E-step and by the plain one, which share neither
 * posterior nor products: the same models, on dense and sparse data, in both types. */
#include "fixture.h"
#include "rfn_plain_engine.h"

#include <string.h>

struct fit_case {
    const char *name;
    int64_t n, m, units;
    int64_t iterations;
    bool single, sparse, trace;
    int64_t batch;
    double prior_mean, variance, sparse_loadings;
    int normalize;
    double missing; /* share of the values */
    int estep;
};

static const struct fit_case cases[] = {
    {.name = "more samples than features", .n = 300, .m = 12, .units = 5},
    {.name = "fewer samples than features", .n = 30, .m = 70, .units = 6},
    {.name = "more units than features", .n = 80, .m = 6, .units = 11},
    {.name = "sparse", .n = 300, .m = 15, .units = 5, .sparse = true},
    {.name = "sparse, fewer samples", .n = 40, .m = 60, .units = 4, .sparse = true},
    {.name = "traced", .n = 120, .m = 10, .units = 4, .trace = true},
    {.name = "dead units", .n = 200, .m = 10, .units = 8, .prior_mean = -6},
    {.name = "dead units, factored", .n = 30, .m = 50, .units = 8, .prior_mean = -6},
    {.name = "prior variance", .n = 150, .m = 10, .units = 4, .prior_mean = -1, .variance = 2},
    {.name = "sparse loadings", .n = 150, .m = 10, .units = 4, .sparse_loadings = 1.5},
    {.name = "variance 1", .n = 150, .m = 10, .units = 4, .normalize = RB_RFN_NORMALIZE_SD},
    {.name = "batches", .n = 310, .m = 10, .units = 4, .batch = 64},
    {.name = "several blocks", .n = 20000, .m = 4, .units = 3, .iterations = 4},
    {.name = "sparse blocks", .n = 40000, .m = 4, .units = 3, .sparse = true, .iterations = 3},
    {.name = "missing", .n = 200, .m = 12, .units = 4, .missing = 0.3},
    {.name = "missing, traced", .n = 90, .m = 10, .units = 4, .missing = 0.3, .trace = true},
    {.name = "missing, fewer samples", .n = 30, .m = 70, .units = 6, .missing = 0.1},
    {.name = "missing, more units", .n = 80, .m = 6, .units = 11, .missing = 0.3},
    {.name = "missing, prior",
     .n = 90,
     .m = 9,
     .units = 3,
     .missing = 0.3,
     .variance = 2,
     .prior_mean = -0.5},
    {.name = "missing, dead units",
     .n = 200,
     .m = 10,
     .units = 8,
     .missing = 0.3,
     .prior_mean = -6},
    {.name = "missing, variance 1",
     .n = 150,
     .m = 10,
     .units = 4,
     .missing = 0.3,
     .normalize = RB_RFN_NORMALIZE_SD},
    {.name = "missing, sparse", .n = 150, .m = 15, .units = 5, .missing = 0.2, .sparse = true},
    {.name = "missing, sparse loadings",
     .n = 150,
     .m = 10,
     .units = 4,
     .missing = 0.3,
     .sparse_loadings = 1.5,
     .iterations = 60},
    {.name = "missing, cyclic",
     .n = 90,
     .m = 10,
     .units = 4,
     .missing = 0.3,
     .estep = RB_RFN_ESTEP_CYCLIC,
     .trace = true},
    {.name = "missing, gradient",
     .n = 90,
     .m = 10,
     .units = 4,
     .missing = 0.3,
     .estep = RB_RFN_ESTEP_GRADIENT,
     .trace = true},
    {.name = "missing, several pieces",
     .n = 2500,
     .m = 5,
     .units = 3,
     .missing = 0.3,
     .iterations = 5},
    {.name = "missing, float32", .n = 200, .m = 12, .units = 4, .missing = 0.3, .single = true},
    {.name = "float32", .n = 300, .m = 12, .units = 5, .single = true},
    {.name = "float32, sparse, fewer samples",
     .n = 40,
     .m = 60,
     .units = 4,
     .sparse = true,
     .single = true},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The values, of which those below 1 are not stored when they are sparse. */
struct data {
    double *values;
    int64_t *starts;
    int32_t *columns;
    double *stored;
    rb_matrix *matrix;
    rb_source *source;
};

static void make_data(rb_context *ctx, const struct fit_case *c, struct data *d) {
    *d = (struct data){.values = fixture_values(c->n, c->m, 3, 21)};
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; c->missing > 0 && e < c->n * c->m; e++)
        if (rb_draw_uniform(&draws) < c->missing) d->values[e] = NAN;
    if (!c->sparse) {
        d->source = fixture_source(ctx, d->values, c->n, c->m, &d->matrix);
        return;
    }
    d->starts = calloc((size_t)c->n + 1, sizeof *d->starts);
    d->columns = calloc((size_t)(c->n * c->m), sizeof *d->columns);
    d->stored = calloc((size_t)(c->n * c->m), sizeof *d->stored);
    int64_t entries = 0;
    for (int64_t e = 0; e < c->n * c->m; e++) {
        if (!(d->values[e] <= 1)) { /* and those that are missing */
            d->columns[entries] = (int32_t)(e % c->m);
            d->stored[entries++] = d->values[e];
        }
        d->starts[e / c->m + 1] = entries;
    }
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, c->n, c->m, d->starts, d->columns, d->stored,
                                 &d->matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, d->matrix, &d->source));
}

static void free_data(struct data *d) {
    rb_source_free(d->source);
    rb_matrix_free(d->matrix);
    free(d->values);
    free(d->starts);
    free(d->columns);
    free(d->stored);
}

static rb_model *fit_by(rb_context *ctx, const rb_engine *engine, const struct fit_case *c,
                        rb_source *source) {
    rb_rfn_options options = fixture_rfn(c->units, c->normalize);
    rb_fit_options fit =
        fixture_fit(c->iterations ? c->iterations : 20, c->single ? RB_FLOAT32 : RB_FLOAT64);
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.centre = RB_CENTRE_MEAN; /* of sparse data, too: values are then stored - shift */
    options.prior_mean.value = c->prior_mean;
    options.prior_covariance.value = c->variance > 0 ? c->variance : 1;
    options.sparse_loadings = c->sparse_loadings;
    options.estep = c->estep;
    if (c->missing > 0) preprocess.missing = RB_MISSING_MODEL;
    fit.trace = c->trace;
    fit.batch_size = c->batch;
    ctx->engine = engine;
    return fixture_model(ctx, "rfn", &options, &fit, &preprocess, source, NULL);
}

static void assert_same(const struct fit_case *c, const rb_model *fast, const rb_model *plain) {
    static const char *const names[] = {"loadings", "noise", "scale", "dead"};
    double tolerance = c->single ? 1e-4 : 1e-9;
    for (int i = 0; i < 4; i++) {
        int64_t rows, columns;
        const double *x = rb_model_array(fast, names[i], &rows, &columns);
        const double *y = rb_model_array(plain, names[i], NULL, NULL);
        for (int64_t e = 0; e < rows * columns; e++) {
            if (!(fabs(x[e] - y[e]) <= tolerance * fmax(1, fabs(x[e])))) {
                fail_msg("%s: %s %lld is %.15g, and %.15g by the reference", c->name, names[i],
                         (long long)e, x[e], y[e]);
            }
        }
    }
    for (int64_t t = 0; t < rb_model_iterations(fast); t++) {
        double f, o, g, p, seconds;
        rb_model_history(fast, t, &f, &o, &seconds);
        rb_model_history(plain, t, &g, &p, &seconds);
        assert_close(g, f, tolerance);
        assert_true(isnan(o) == !c->trace);
        assert_close(c->trace ? p : 0, c->trace ? o : 0, 10 * tolerance);
    }
}

static void engines_agree(void **state) {
    (void)state;
    int dead_units = 0;
    for (int i = 0; i < CASES; i++) {
        rb_context *ctx = fixture_context();
        struct data data;
        make_data(ctx, &cases[i], &data);
        rb_model *fast = fit_by(ctx, NULL, &cases[i], data.source);
        rb_model *plain = fit_by(ctx, &rfn_plain_engine.engine, &cases[i], data.source);
        assert_same(&cases[i], fast, plain);
        const double *dead = rb_model_array(fast, "dead", NULL, NULL);
        for (int64_t j = 0; j < cases[i].units; j++)
            dead_units += dead[j] != 0;
        rb_model_free(fast);
        rb_model_free(plain);
        free_data(&data);
        rb_context_free(ctx);
    }
    assert_true(dead_units > 0);
}

/* What the reference does not do it refuses, and the model is by the one that was asked for. */
static void reference_refuses(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    struct data data;
    make_data(ctx, &cases[0], &data);
    rb_rfn_options options = fixture_rfn(3, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    rb_model *model;
    options.dropout = 0.1;
    ctx->engine = &rfn_plain_engine.engine;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, data.source, NULL, RB_ERROR_UNSUPPORTED,
                    "dropout");
    ctx->engine = NULL;
    model = fixture_model(ctx, "rfn", &options, &fit, NULL, data.source, NULL);
    rb_model_free(model);
    free_data(&data);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_agree),
        cmocka_unit_test(reference_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
