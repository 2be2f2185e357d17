/* Expectation truncation by the processor's engine and by the plain reference: whole fits, with
 * annealing, cut, learned sigma and priors, agree in all that they report (1e-9). */
#include "et_plain_engine.h"
#include "fixture.h"

#include <stdio.h>

enum { MAX_N = 60, MAX_D = 12 };

struct shape {
    int n, d, h, candidates, max_active;
};

static const struct shape shapes[] = {
    {40, 8, 5, 4, 2}, {60, 12, 9, 5, 3}, {60, 9, 11, 6, 2}, {30, 5, 4, 4, 3}, {25, 6, 1, 1, 1}};

/* Superpositions of about two fields with noise; a tenth of the values is 0. */
static void draw(const struct shape *c, bool max, bool signs, double *y) {
    rb_draws draws = {{17, RB_RANDOM_SIMULATE, (uint32_t)c->n}, 0};
    double w[14 * MAX_D];
    for (int i = 0; i < c->h * c->d; i++) {
        double value = 3 * rb_draw_normal(&draws);
        w[i] = signs ? value : fabs(value);
    }
    for (int i = 0; i < c->n; i++) {
        for (int d = 0; d < c->d; d++)
            y[i * c->d + d] = 0.5 * rb_draw_normal(&draws);
        for (int h = 0; h < c->h; h++) {
            bool active = rb_draw_uniform(&draws) < 2.0 / (c->h + 2);
            for (int d = 0; active && d < c->d; d++) {
                double *value = &y[i * c->d + d], field = w[h * c->d + d];
                *value = max ? fmax(*value, field) : *value + field;
            }
        }
        for (int d = 0; d < c->d; d++)
            y[i * c->d + d] *= rb_draw_uniform(&draws) < 0.9;
    }
}

static rb_error fit(rb_context *ctx, const rb_engine *engine, const char *method,
                    const rb_et_options *options, rb_source *source, rb_model **model) {
    rb_fit_options how = fixture_fit(15, RB_FLOAT64);
    how.seed = 3;
    ctx->engine = engine;
    rb_error err =
        rb_fit(ctx, fixture_options(ctx, method, options, &how, NULL), source, NULL, model);
    ctx->engine = NULL;
    return err;
}

static void compare(const rb_model *a, const rb_model *b, const char *what) {
    static const char *const arrays[] = {"loadings", "sigma",          "prior",      "dead",
                                         "used",     "log_likelihood", "value_prior"};
    for (int k = 0; k < 7; k++) {
        int64_t rows = 0, columns = 0;
        const double *x = rb_model_array(a, arrays[k], &rows, &columns);
        const double *y = rb_model_array(b, arrays[k], NULL, NULL);
        assert_true(!x == !y && (x || k == 6));
        for (int64_t i = 0; i < rows * columns; i++)
            if (!(fabs(x[i] - y[i]) <= 1e-9 * fmax(1, fabs(y[i]))))
                fail_msg("%s: %s[%d] is %.15g and %.15g", what, arrays[k], (int)i, x[i], y[i]);
    }
    assert_int_equal(rb_model_iterations(a), rb_model_iterations(b));
    for (int64_t t = 0; t < rb_model_iterations(a); t++) {
        double x, y;
        assert_int_equal(rb_model_history(a, t, &x, NULL, NULL), RB_OK);
        assert_int_equal(rb_model_history(b, t, &y, NULL, NULL), RB_OK);
        assert_close(x, y, 1e-9);
    }
}

/* Causes of two or three values. */
static void give_values(const struct shape *c, int variant, bool signs, rb_et_options *options) {
    const char *three = signs ? "-1,0,1.5" : "0.5,0,1.5";
    options->values = variant == 4 ? "0,2" : three;
    if (variant == 6 && c->h > 1) options->value_prior = "0.1,0.2";
    options->prior_per_cause = variant == 6;
    options->learn_prior = variant == 5;
}

static void engines_agree(void **state) {
    static const char *const methods[] = {"linca", "nmf-et", "mca"};
    rb_context *ctx = *state;
    for (int m = 0; m < 3; m++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int variant = 0; variant < 7; variant++) {
                const struct shape *c = &shapes[s];
                if (variant > 3 && c->h > 5) continue; /* too many states for the reference */
                double y[MAX_N * MAX_D];
                draw(c, m == 2, m == 0, y);
                rb_et_options options;
                rb_et_options_default(&options);
                options.units = c->h;
                options.candidates = c->candidates;
                options.max_active = c->max_active;
                options.learn_prior = variant % 2 == 1;
                options.prior_per_cause = variant == 2;
                options.singletons = variant == 3 ? RB_ET_NO : RB_ET_AUTO;
                if (variant >= 4) give_values(c, variant, m == 0, &options);
                rb_model *fast, *plain;
                rb_source *source = fixture_data(ctx, y, c->n, c->d);
                char what[64];
                snprintf(what, sizeof what, "%s, shape %d, variant %d", methods[m], (int)s,
                         variant);
                assert_ok(ctx, fit(ctx, NULL, methods[m], &options, source, &fast));
                assert_ok(ctx, fit(ctx, &et_plain_engine, methods[m], &options, source, &plain));
                compare(fast, plain, what);
                rb_model_free(fast);
                rb_model_free(plain);
                rb_source_free(source);
            }
        }
    }
}

/* Several blocks and groups of samples, through the tree of sums. */
static void engines_agree_over_groups(void **state) {
    enum { N = 20000, D = 4 };
    struct shape c = {N, D, 4, 3, 2};
    rb_context *ctx = *state;
    double *y = calloc(N * D, sizeof *y);
    rb_model *fast, *plain;
    draw(&c, false, false, y);
    rb_source *source = fixture_data(ctx, y, N, D);
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = c.h;
    options.max_active = 2;
    options.candidates = 3;
    options.temperature = "1:1";
    assert_ok(ctx, fit(ctx, NULL, "nmf-et", &options, source, &fast));
    assert_ok(ctx, fit(ctx, &et_plain_engine, "nmf-et", &options, source, &plain));
    compare(fast, plain, "groups");
    rb_model_free(fast);
    rb_model_free(plain);
    rb_source_free(source);
    free(y);
}

/* What the reference does not do it refuses, before anything is fitted. */
static void reference_refuses(void **state) {
    rb_context *ctx = *state;
    double y[MAX_N * MAX_D];
    rb_model *model;
    draw(&shapes[0], false, false, y);
    for (int i = 0; i < MAX_N * MAX_D; i++)
        y[i] = fabs(y[i]);
    rb_source *source = fixture_data(ctx, y, 40, 8);
    for (int kind = 0; kind < 4; kind++) {
        rb_et_options options;
        rb_et_options_default(&options);
        options.noise = kind == 0 ? RB_ET_POISSON : RB_ET_GAUSSIAN;
        options.count = kind == 1 ? 2 : 0;
        options.selection = kind == 2 ? RB_ET_SELECT_COSINE : RB_ET_SELECT_AUTO;
        options.max_active_limit = kind == 3 ? 5 : 0;
        assert_int_equal(fit(ctx, &et_plain_engine, "mca", &options, source, &model),
                         RB_ERROR_UNSUPPORTED);
        assert_null(model);
    }
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(engines_agree),
                                       cmocka_unit_test(engines_agree_over_groups),
                                       cmocka_unit_test(reference_refuses)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
