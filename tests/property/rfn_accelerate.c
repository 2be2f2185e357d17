/* Accelerated fits: the objective never falls, is reached in fewer iterations, and the bits do not
 * depend on threads. */
#include "fixture.h"

#include <rarebit/simulate.h>

static rb_source *simulated(rb_context *ctx, const char *dataset) {
    rb_biclusters_options data;
    rb_matrix *matrix;
    rb_source *source;
    fixture_default(rb_biclusters_group(), &data);
    data.dataset = dataset;
    assert_ok(ctx,
              rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &data), &matrix, NULL));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

static rb_rfn_options cyclic(int64_t units) {
    rb_rfn_options rfn;
    rb_rfn_options_default(&rfn);
    fixture_preset("paper", &rfn, NULL);
    rfn.units = units;
    rfn.estep = RB_RFN_ESTEP_CYCLIC;
    rfn.eta = 1;
    return rfn;
}

static rb_model *fit(rb_context *ctx, const rb_rfn_options *rfn, rb_fit_options how,
                     rb_source *source) {
    return fixture_model(ctx, "rfn", rfn, &how, NULL, source, NULL);
}

/* Rounding: 1e-10 in float64, 1e-5 in float32. */
static void assert_rises(const rb_model *model, double relative) {
    for (int64_t t = 1; t < model->iterations; t++) {
        double before = model->history[t - 1].objective, now = model->history[t].objective;
        if (now < before - relative * fabs(before))
            fail_msg("iteration %lld: %.12g after %.12g", (long long)t + 1, now, before);
    }
}

/* Both accelerations, guaranteed E-steps, feasible sets, noise updates; fewer and more units than
 * features, the latter in float64 alone: there rounding to float32 makes plain iterations fall too,
 * by up to 7e-4. */
static void never_falls(void **state) {
    rb_context *ctx = *state;
    static const char *const datasets[] = {"D1", "D3"};
    static const int64_t units[] = {20, 110};
    for (int c = 0; c < 64; c++) {
        rb_source *source = simulated(ctx, datasets[c & 1]);
        rb_rfn_options rfn = cyclic(units[c >> 1 & 1]);
        rb_fit_options how = fixture_fit(60, c & 4 || c & 2 ? RB_FLOAT64 : RB_FLOAT32);
        how.accelerate = c & 8 ? RB_ACCELERATE_SQUAREM : RB_ACCELERATE_NESTEROV;
        rfn.estep = c & 16 ? RB_RFN_ESTEP_CYCLIC : RB_RFN_ESTEP_GRADIENT;
        rfn.normalize = c & 32 ? RB_RFN_NORMALIZE_NONE : RB_RFN_NORMALIZE_RMS;
        rfn.psi_update = c % 3 ? RB_RFN_PSI_NEW : RB_RFN_PSI_OLD;
        rb_model *model = fit(ctx, &rfn, how, source);
        assert_rises(model, how.precision == RB_FLOAT64 ? 1e-10 : 1e-5);
        rb_model_free(model);
        rb_source_free(source);
    }
}

/* The objective of 1000 plain iterations at eta 0.1 within 100 iterations. */
static void needs_fewer_iterations(void **state) {
    rb_context *ctx = *state;
    rb_source *source = simulated(ctx, "D1");
    rb_rfn_options rfn = cyclic(50);
    rb_fit_options how = fixture_fit(1000, RB_FLOAT32);
    rfn.eta = 0.1;
    rb_model *plain = fit(ctx, &rfn, how, source);
    double target = plain->history[999].objective;
    rfn.eta = 1;
    how.iterations = 100;
    for (how.accelerate = RB_ACCELERATE_NONE; how.accelerate <= RB_ACCELERATE_NESTEROV;
         how.accelerate++) {
        rb_model *model = fit(ctx, &rfn, how, source);
        bool reached = model->history[99].objective >= target;
        assert_true(reached == (how.accelerate != RB_ACCELERATE_NONE));
        rb_model_free(model);
    }
    rb_model_free(plain);
    rb_source_free(source);
}

/* While the prior mean is adapted objectives cannot be compared: acceleration begins after that. */
static void waits_while_steered(void **state) {
    rb_context *ctx = *state;
    rb_source *source = simulated(ctx, "D1");
    rb_rfn_options rfn = cyclic(20);
    rb_fit_options how = fixture_fit(80, RB_FLOAT64);
    rfn.newton_iterations = 10;
    rfn.steer_iterations = 30;
    rb_model *plain = fit(ctx, &rfn, how, source);
    how.accelerate = RB_ACCELERATE_NESTEROV;
    rb_model *model = fit(ctx, &rfn, how, source);
    for (int64_t t = 0; t < 41; t++)
        assert_true(model->history[t].objective == plain->history[t].objective);
    for (int64_t t = 42; t < 80; t++) {
        assert_true(model->history[t].objective >=
                    model->history[t - 1].objective - 1e-10 * fabs(model->history[t].objective));
    }
    assert_true(model->history[79].objective > plain->history[79].objective);
    rb_model_free(plain);
    rb_model_free(model);
    rb_source_free(source);
}

static void same_bits_for_any_threads(void **state) {
    rb_context *ctx = *state;
    rb_source *source = simulated(ctx, "D2");
    rb_rfn_options rfn = cyclic(40);
    rb_fit_options how = fixture_fit(30, RB_FLOAT32);
    for (how.accelerate = RB_ACCELERATE_SQUAREM; how.accelerate <= RB_ACCELERATE_NESTEROV;
         how.accelerate++) {
        assert_ok(ctx, rb_context_set_threads(ctx, 1));
        rb_model *one = fit(ctx, &rfn, how, source);
        for (int threads = 2; threads <= 3; threads++) {
            assert_ok(ctx, rb_context_set_threads(ctx, threads));
            rb_model *more = fit(ctx, &rfn, how, source);
            fixture_same_array(one, more, "loadings");
            rb_model_free(more);
        }
        rb_model_free(one);
    }
    rb_source_free(source);
}

/* Only where iterations never lower the objective. */
static void refuses_the_rest(void **state) {
    rb_context *ctx = *state;
    rb_source *source = simulated(ctx, "D1");
    rb_rfn_options rfn = cyclic(5);
    rb_fit_options how = fixture_fit(5, RB_FLOAT32);
    how.accelerate = RB_ACCELERATE_NESTEROV;
    rfn.estep = RB_RFN_ESTEP_NEWTON;
    fixture_refused(ctx, "rfn", &rfn, &how, NULL, source, NULL, RB_ERROR_ARGUMENT,
                    "use `estep=cyclic`");
    rfn = cyclic(5);
    rfn.sparse_loadings = 1.5;
    fixture_refused(ctx, "rfn", &rfn, &how, NULL, source, NULL, RB_ERROR_ARGUMENT,
                    "`sparse-loadings` cannot be accelerated");
    rfn = cyclic(5);
    how.batch_size = 10;
    fixture_refused(ctx, "rfn", &rfn, &how, NULL, source, NULL, RB_ERROR_ARGUMENT,
                    "leave out `accelerate` or `batch-size`");
    how.batch_size = 0;
    rb_et_options et;
    rb_et_options_default(&et);
    fixture_refused(ctx, "linca", &et, &how, NULL, source, NULL, RB_ERROR_ARGUMENT,
                    "cannot be accelerated");
    rb_source_free(source);
}

static void without_memory(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(30, 6, 2, 1);
    rb_source *source = fixture_data(ctx, values, 30, 6);
    rb_rfn_options rfn = cyclic(3);
    rb_fit_options how = fixture_fit(6, RB_FLOAT64);
    for (how.accelerate = RB_ACCELERATE_SQUAREM; how.accelerate <= RB_ACCELERATE_NESTEROV;
         how.accelerate++) {
        const rb_options *options = fixture_options(ctx, "rfn", &rfn, &how, NULL);
        rb_model_free(fixture_model_at_last(ctx, options, source, 0));
    }
    rb_source_free(source);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_falls),         cmocka_unit_test(needs_fewer_iterations),
        cmocka_unit_test(waits_while_steered), cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(refuses_the_rest),    cmocka_unit_test(without_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
