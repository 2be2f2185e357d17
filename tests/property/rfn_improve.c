/* What a fit says of how good its codes are. */
#include "fixture.h"

enum { N = 90, M = 14, UNITS = 4 };

/* The smallest eigenvalue of P + diag tau where only so many features are left, of a model. */
static double certificate_of(rb_context *ctx, const rb_model *model, const double *row) {
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *psi = rb_model_array(model, "noise", NULL, NULL);
    const double *tau = rb_model_array(model, "multipliers", NULL, NULL);
    double p[UNITS * UNITS] = {0}, smallest;
    for (int j = 0; j < UNITS * UNITS; j++) {
        p[j] = j / UNITS == j % UNITS ? 1 + tau[j / UNITS] : 0;
        for (int64_t k = 0; k < rb_model_features(model); k++)
            if (!isnan(row[k]))
                p[j] += w[k * UNITS + j / UNITS] * w[k * UNITS + j % UNITS] / psi[k];
    }
    rb_dense sum = {p, UNITS, UNITS, UNITS, RB_FLOAT64};
    assert_ok(ctx, rb_smallest_eigenvalue(ctx, sum, &smallest));
    return smallest;
}

/* The certificate of a fit is the least of all samples, also where but one pattern has it. */
static void certificate_is_the_least(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    for (int64_t lacks = 0; lacks < 6; lacks++) {
        double *values = fixture_values(N, M, 3, 8), least = INFINITY;
        rb_source *source = fixture_data(ctx, values, N, M);
        for (int64_t i = 0; i < 40; i++)
            values[i * M + lacks] = NAN;
        rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
        options.estep = RB_RFN_ESTEP_CYCLIC;
        options.estep_tolerance = 1e-9;
        rb_fit_options run = fixture_fit(100, RB_FLOAT64);
        rb_preprocess_options preprocess;
        rb_preprocess_options_default(&preprocess);
        preprocess.missing = RB_MISSING_MODEL;
        rb_model *model = fixture_model(ctx, "rfn", &options, &run, &preprocess, source, NULL);
        for (int64_t i = 0; i < N; i++)
            least = fmin(least, certificate_of(ctx, model, values + i * M));
        assert_close(*rb_model_array(model, "certificate", NULL, NULL), least, 1e-6 * least);
        rb_model_free(model);
        rb_source_free(source);
        free(values);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(certificate_is_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
