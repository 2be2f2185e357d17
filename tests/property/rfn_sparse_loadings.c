/* Sparse loadings are a soft threshold of the plain M-step, which begins at iteration 51 or at once
 * when a fit goes on from a model. */
#include "rfn_pass.h"

enum { N = 800, M = 30, UNITS = 6, FEWEST = 10 };

static rb_model *fit(rb_source *source, double sparse, int64_t iterations, const rb_model *start) {
    rb_context *ctx = fixture_context();
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(iterations, RB_FLOAT64);
    options.sparse_loadings = sparse;
    rb_model *model = fixture_model(ctx, "rfn", &options, &run, NULL, source, start);
    rb_context_free(ctx);
    return model;
}

static const double *loadings(const rb_model *model) {
    return rb_model_array(model, "loadings", NULL, NULL);
}

static void soft_threshold(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 5);
    rb_source *source = fixture_data(ctx, values, N, M);
    const double c = 2.5, eta = 0.5;

    rb_model *plain = fit(source, 0, 50, NULL), *free_still = fit(source, c, 50, NULL);
    assert_memory_equal(loadings(plain), loadings(free_still), M * UNITS * sizeof(double));

    for (int warm = 0; warm < 2; warm++) { /* from the model, and the 51st iteration of a fit */
        const rb_model *start = warm ? plain : NULL;
        int64_t iterations = warm ? 1 : 51;
        rb_model *without = fit(source, 0, iterations, start);
        rb_model *with = fit(source, c, iterations, start);
        const double *noise = rb_model_array(without, "noise", NULL, NULL);
        int zeros = 0;
        for (int64_t e = 0; e < M * UNITS; e++) {
            double w = loadings(without)[e];
            double threshold = eta * c * sqrt(noise[e / UNITS] / N);
            assert_close(loadings(with)[e], copysign(fmax(fabs(w) - threshold, 0), w), 1e-12);
            zeros += loadings(with)[e] == 0;
        }
        assert_in_range(zeros, 1, M * UNITS - 1);
        rb_model_free(without);
        rb_model_free(with);
    }
    rb_model_free(plain);
    rb_model_free(free_still);
    rb_source_free(source);
    free(values);
}

/* A fit that is as far as `iteration`, with room for codes of N samples that are all 0. */
static rfn_fit *fit_at(rb_context *ctx, double sparse, int64_t iteration, rfn_steps *steps) {
    static rb_fit_options run;
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    run = fixture_fit(200, RB_FLOAT64);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.sparse_loadings = sparse;
    options.prior_mean.value = -0.5;
    rb_problem problem = {
        .n_samples = N, .n_features = M, .type = RB_FLOAT64, .block_samples = N, .fit = &run};
    rfn_steps_new(ctx, problem, &options, steps);
    rfn_fit *fit = steps->fit;
    rb_dense_zero(fit->codes.values);
    fit->codes.filled = true;
    fit->progress.iteration = iteration * rfn_msteps_an_iteration(&fit->setup);
    fit->progress.prior_share = 0.5;
    return fit;
}

/* Each sample has `usual` units, but `empty` of them have none and `full` all but `lacking`. */
static void set_codes(rfn_fit *fit, int usual, int empty, int full, int lacking) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < UNITS; j++)
            rb_dense_set(fit->codes.values, j, i,
                         i < empty          ? 0
                         : i < empty + full ? j >= lacking
                                            : (i + j) % UNITS < usual);
}

static void set_loadings(rfn_fit *fit, double size) {
    for (int64_t k = 0; k < M; k++) {
        fit->parameters.noise[k] = 1;
        for (int64_t j = 0; j < UNITS; j++)
            rb_dense_set(fit->parameters.loadings, k, j, size);
    }
}

/* The prior mean grows by 0.05 until more than 1 % of the samples have no unit: then it halves, and
 * stays. More than 1 %, and 10, with nearly all units: loadings are shrunk more,
 * unless the units explain no more than noise does: w' w below a quarter of 2 r + r^2, with
 * r^2 = M / N. */
static void extremes_hold_back(void **state) {
    rb_context *ctx = *state;
    rfn_steps steps;
    rfn_fit *fit = fit_at(ctx, 2, 150, &steps);
    rfn_progress *p = &fit->progress;
    const double factor = p->shrink_factor, r = sqrt((double)M / N);
    const double bound = sqrt((2 * r + r * r) / 4 / M);
    set_loadings(fit, 1.001 * bound);
    set_codes(fit, 2, N / 100, N / 100, 0);
    rfn_hold_prior_back(ctx, fit);
    assert_close(p->prior_share, 0.55, 1e-12);
    assert_close(fit->parameters.prior.mean[0], -0.5 * 0.55, 1e-12);
    assert_true(p->shrink_factor == factor && !p->prior_stays);
    set_codes(fit, 2, 0, FEWEST, 1); /* 5 of 6 are not nearly all */
    rfn_hold_prior_back(ctx, fit);
    assert_close(p->prior_share, 0.6, 1e-12);
    assert_true(p->shrink_factor == factor);
    set_codes(fit, 2, 1, FEWEST - 1, 0);
    rfn_hold_prior_back(ctx, fit);
    assert_true(p->shrink_factor == factor);
    set_codes(fit, 2, N / 100 + 1, FEWEST, 0);
    rfn_hold_prior_back(ctx, fit);
    assert_close(p->prior_share, 0.325, 1e-12);
    assert_close(p->shrink_factor, 1.02 * factor, 1e-12);
    set_loadings(fit, 0.999 * bound);
    set_codes(fit, 2, 0, N, 0);
    rfn_hold_prior_back(ctx, fit);
    assert_close(p->shrink_factor, 1.02 * factor, 1e-12);
    set_codes(fit, 2, 0, 0, 0);
    rfn_hold_prior_back(ctx, fit);
    assert_close(p->prior_share, 0.325, 1e-12);
    rfn_steps_free(&steps);
}

/* Units are merged every ten iterations from 70 to 100, however little is shrunk. */
static void merges_at_its_time(void **state) {
    rb_context *ctx = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        for (int64_t iteration = 55; iteration <= 115; iteration += 5) {
            rfn_steps steps;
            rfn_fit *fit = fit_at(ctx, 0.5 * sparse, iteration, &steps);
            bool expected = sparse && iteration % 10 == 0 && iteration >= 70 && iteration <= 100;
            assert_int_equal(rfn_merges_units(fit), expected);
            rfn_steps_free(&steps);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(soft_threshold),
                                       cmocka_unit_test(extremes_hold_back),
                                       cmocka_unit_test(merges_at_its_time)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
