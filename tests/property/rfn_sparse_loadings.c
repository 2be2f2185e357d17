/* Sparse loadings are a soft threshold of the plain M-step, which begins at iteration 51 or at once
 * when a fit goes on from a model. */
#include "fixture.h"

enum { N = 200, M = 30, UNITS = 6 };

static rb_model *fit(rb_source *source, double sparse, int64_t iterations, const rb_model *start) {
    rb_context *ctx = fixture_context();
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(iterations, RB_FLOAT64);
    rb_model *model;
    options.sparse_loadings = sparse;
    assert_ok(
        ctx, rb_fit(ctx, fixture_options(ctx, "rfn", &options, &run, NULL), source, start, &model));
    rb_context_free(ctx);
    return model;
}

static const double *loadings(const rb_model *model) {
    return rb_model_array(model, "loadings", NULL, NULL);
}

static void soft_threshold(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_matrix *matrix;
    double *values = fixture_values(N, M, 3, 5);
    rb_source *source = fixture_source(ctx, values, N, M, &matrix);
    const double c = 2.5, eta = 0.5;

    rb_model *plain = fit(source, 0, 50, NULL), *free_still = fit(source, c, 50, NULL);
    assert_memory_equal(loadings(plain), loadings(free_still), M * UNITS * sizeof(double));

    rb_model *without = fit(source, 0, 1, plain), *with = fit(source, c, 1, plain);
    const double *noise = rb_model_array(without, "noise", NULL, NULL);
    int zeros = 0;
    for (int64_t e = 0; e < M * UNITS; e++) {
        double w = loadings(without)[e];
        double threshold = eta * c * sqrt(noise[e / UNITS] / N);
        assert_close(loadings(with)[e], copysign(fmax(fabs(w) - threshold, 0), w), 1e-12);
        zeros += loadings(with)[e] == 0;
    }
    assert_in_range(zeros, 1, M * UNITS - 1);

    rb_model *models[] = {plain, free_still, without, with};
    for (int i = 0; i < 4; i++)
        rb_model_free(models[i]);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(values);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(soft_threshold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
