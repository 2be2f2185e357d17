/* Where mca begins to cool: tr(C^2) / (tr(C) sigma^2) of the covariance of the data. */
#include "et_fixture.h"

enum { N = 60, FEW = 7, MANY = 100 };

/* A few directions of variance, far from 0. */
static void draw(double *y, int d) {
    rb_draws draws = {{8, RB_RANDOM_SIMULATE, 5}, 0};
    for (int i = 0; i < N; i++) {
        double a = 3 * rb_draw_normal(&draws), b = 2 * rb_draw_normal(&draws);
        for (int j = 0; j < d; j++)
            y[i * d + j] = 50 + (j % 2 ? a : b) + (j % 3 ? b : -a) + rb_draw_normal(&draws);
    }
}

/* Means take the place of what is missing. */
static double expected(const double *y, int d) {
    double *c = calloc((size_t)(d * d), sizeof *c), *x = calloc(N * (size_t)d, sizeof *x);
    double trace = 0, squares = 0;
    for (int j = 0; j < d; j++) {
        double sum = 0, count = 0;
        for (int i = 0; i < N; i++) {
            count += !isnan(y[i * d + j]);
            sum += isnan(y[i * d + j]) ? 0 : y[i * d + j];
        }
        for (int i = 0; i < N; i++)
            x[i * d + j] = isnan(y[i * d + j]) ? 0 : y[i * d + j] - sum / count;
    }
    for (int j = 0; j < d; j++)
        for (int k = 0; k < d; k++)
            for (int i = 0; i < N; i++)
                c[j * d + k] += x[i * d + j] * x[i * d + k] / N;
    for (int j = 0; j < d * d; j++) {
        trace += j % (d + 1) == 0 ? c[j] : 0;
        squares += c[j] * c[j];
    }
    free(c);
    free(x);
    return squares / trace;
}

static double start_temperature(rb_context *ctx, const double *y, int d, int64_t seed,
                                void (*change)(rb_et_options *options), bool missing) {
    double value;
    rb_source *source = fixture_data(ctx, y, N, d);
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = 4;
    options.sigma = 2;
    if (change) change(&options);
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    fit.seed = seed;
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.centre = RB_CENTRE_NONE;
    preprocess.scale = RB_SCALE_NONE;
    preprocess.missing = missing ? RB_MISSING_MODEL : RB_MISSING_REFUSE;
    rb_model *model = fixture_model(ctx, "mca", &options, &fit, &preprocess, source, NULL);
    assert_int_equal(rb_model_metric(model, 0, "temperature", &value), RB_OK);
    rb_model_free(model);
    rb_source_free(source);
    return value;
}

static void give(rb_et_options *options) {
    options->temperature = "13";
}

static void print(rb_et_options *options) {
    options->as_printed = true;
}

static void few_features_are_exact(void **state) {
    rb_context *ctx = *state;
    double y[N * FEW];
    draw(y, FEW);
    double exact = expected(y, FEW) / 4;
    assert_true(exact > 2);
    assert_close(start_temperature(ctx, y, FEW, 1, NULL, false), exact, 1e-9);
    assert_close(start_temperature(ctx, y, FEW, 2, NULL, false), exact, 1e-9);
    assert_true(start_temperature(ctx, y, FEW, 1, give, false) == 13);
    assert_true(fabs(start_temperature(ctx, y, FEW, 1, print, false) - exact) > 1);
    for (int i = 0; i < N * FEW; i += 5)
        y[i] = NAN;
    assert_close(start_temperature(ctx, y, FEW, 1, NULL, true), expected(y, FEW) / 4, 1e-9);
}

static void many_features_are_near(void **state) {
    rb_context *ctx = *state;
    double *y = calloc(N * MANY, sizeof *y);
    draw(y, MANY);
    double exact = expected(y, MANY) / 4;
    for (int64_t seed = 1; seed <= 5; seed++) {
        double got = start_temperature(ctx, y, MANY, seed, NULL, false);
        assert_true(got != exact && fabs(got / exact - 1) < 0.4);
    }
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_features_are_exact),
        cmocka_unit_test(many_features_are_near),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
