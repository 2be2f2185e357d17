/* The metrics of a model do not depend on the precision of its products. */
#include "fixture.h"

enum { N = 100000, M = 6, UNITS = 3 };

static rb_evaluation evaluate(rb_context *ctx, rb_source *source, rb_model *model, rb_type type) {
    rb_evaluation e;
    rb_type kept = model->type;
    model->type = type;
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    model->type = kept;
    return e;
}

/* One model on many samples, float32 against float64: sums over 100 000 samples become means. */
static void float32_agrees_with_float64(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 2, 5);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = (double)(float)values[e];
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(20, RB_FLOAT64);
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    rb_evaluation a = evaluate(ctx, source, model, RB_FLOAT64);
    rb_evaluation b = evaluate(ctx, source, model, RB_FLOAT32);
    assert_close(b.sparseness, a.sparseness, 1e-5);
    assert_close(b.reconstruction_error, a.reconstruction_error, 1e-5);
    assert_close(b.covariance_error, a.covariance_error, 1e-5);
    assert_close(b.objective, a.objective, 1e-5);
    assert_close(b.log_likelihood, a.log_likelihood, 1e-5);
    assert_close(b.estep_objective, a.estep_objective, 1e-5);
    assert_close(b.energy, a.energy, 1e-5);
    assert_close(b.divergence, a.divergence, 1e-5);
    assert_close(b.mean_squared_error, a.mean_squared_error, 1e-5);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

/* The likelihoods of samples add up to that of all, and each is that of the sample by itself. */
static void likelihoods_are_of_samples(void **state) {
    enum { FEW = 30 };
    rb_context *ctx = *state;
    double *values = fixture_values(FEW, M, 2, 5), of_each[FEW], alone, sum = 0;
    rb_source *source = fixture_data(ctx, values, FEW, M);
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    options.prior_mean.value = 0.5;
    rb_fit_options fit = fixture_fit(10, RB_FLOAT64);
    rb_metrics *metrics;
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    assert_ok(ctx, rb_evaluate_samples(ctx, model, source, of_each, &metrics));
    for (int i = 0; i < FEW; i++)
        sum += of_each[i];
    assert_close(sum, FEW * rb_metrics_get(metrics, "log_likelihood"), 1e-9);
    rb_metrics_free(metrics);
    rb_source_free(source);
    source = fixture_data(ctx, values + 7 * M, 1, M);
    assert_ok(ctx, rb_evaluate_samples(ctx, model, source, &alone, &metrics));
    assert_close(alone, of_each[7], 1e-12);
    assert_close(alone, rb_metrics_get(metrics, "log_likelihood"), 1e-9);
    rb_metrics_free(metrics);
    rb_source_free(source);
    rb_model_free(model);
    free(values);
}

/* A model whose noise is 0 somewhere is refused. */
static void noise_is_above_zero(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(30, M, 2, 5);
    rb_source *source = fixture_data(ctx, values, 30, M);
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    rb_evaluation e;
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    ((double *)fixture_array(model, "noise"))[M - 1] = 0;
    assert_int_equal(fixture_evaluate(ctx, model, source, &e), RB_ERROR_FORMAT);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

/* More features than have their rows of C at once: || C - Psi - W S W' || by its definition. */
static void features_come_in_groups(void **state) {
    enum { FEW = 3, WIDE = 4100 };
    rb_context *ctx = *state;
    double *values = fixture_values(FEW, WIDE, 2, 7), squares = 0, sum = 0, precision = 1;
    rb_source *source = fixture_data(ctx, values, FEW, WIDE);
    rb_rfn_options options = fixture_rfn(1, RB_RFN_NORMALIZE_NONE);
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    rb_evaluation e;
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    const double *w = fixture_array(model, "loadings"), *psi = fixture_array(model, "noise");
    double *mu = fixture_codes(ctx, model, source);
    for (int k = 0; k < WIDE; k++) {
        precision += w[k] * w[k] / psi[k];
        for (int i = 0; i < FEW; i++)
            values[i * WIDE + k] -= model->preprocess->centre[k];
    }
    for (int i = 0; i < FEW; i++)
        squares += mu[i] * mu[i] / FEW;
    for (int k = 0; k < WIDE; k++) {
        for (int b = 0; b < WIDE; b++) {
            double rest = -w[k] * w[b] * (squares + 1 / precision) - (k == b ? psi[k] : 0);
            for (int i = 0; i < FEW; i++)
                rest += values[i * WIDE + k] * values[i * WIDE + b] / FEW;
            sum += rest * rest;
        }
    }
    assert_close(e.covariance_error, sqrt(sum), 1e-9);
    free(mu);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_agrees_with_float64),
        cmocka_unit_test(likelihoods_are_of_samples),
        cmocka_unit_test(noise_is_above_zero),
        cmocka_unit_test(features_come_in_groups),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
