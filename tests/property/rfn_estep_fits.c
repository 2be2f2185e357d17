/* Fits with each E-step: the same bits for any number of threads, metrics of every iteration, and
 * memory that runs out at any point. */
#include "fixture.h"

enum { N = 90, M = 40, UNITS = 30, ITERATIONS = 12 };

static rb_source *make_source(rb_context *ctx) {
    rb_biclusters_options options;
    rb_matrix *matrix;
    rb_source *source;
    fixture_default(rb_biclusters_group(), &options);
    options.samples = N;
    options.features = M;
    assert_ok(ctx, rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &options), &matrix,
                                          NULL));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

static rb_model *fit(rb_context *ctx, rb_source *source, int estep, int precision) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(ITERATIONS, precision);
    options.estep = estep;
    run.trace = true;
    return fixture_model(ctx, "rfn", &options, &run, NULL, source, NULL);
}

static void same_bits_for_any_threads(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx);
    for (int estep = RB_RFN_ESTEP_GRADIENT; estep <= RB_RFN_ESTEP_CASCADE; estep++) {
        assert_ok(ctx, rb_context_set_threads(ctx, 1));
        rb_model *one = fit(ctx, source, estep, RB_FLOAT32);
        for (int threads = 2; threads <= 8; threads *= 2) {
            assert_ok(ctx, rb_context_set_threads(ctx, threads));
            rb_model *many = fit(ctx, source, estep, RB_FLOAT32);
            fixture_same_array(one, many, "loadings");
            fixture_same_array(one, many, "multipliers");
            rb_model_free(many);
        }
        rb_model_free(one);
    }
    rb_source_free(source);
}

static double metric(const rb_model *model, int64_t t, const char *name) {
    double value;
    assert_int_equal(rb_model_metric(model, t, name, &value), RB_OK);
    return value;
}

/* The KKT residual of a traced fit is there in every iteration, the stage where there are any, and
 * the attribute counts the stages. */
static void metrics_of_iterations(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx);
    rb_model *cyclic = fit(ctx, source, RB_RFN_ESTEP_CYCLIC, RB_FLOAT64);
    rb_model *cascade = fit(ctx, source, RB_RFN_ESTEP_CASCADE, RB_FLOAT64);
    int counts[RB_RFN_STAGES] = {0};
    char wins[256] = "";
    for (int64_t t = 0; t < ITERATIONS; t++) {
        int stage = (int)metric(cascade, t, "estep_stage");
        assert_true(isnan(metric(cyclic, t, "estep_stage")));
        assert_true(metric(cyclic, t, "kkt_residual") > 0);
        assert_true(metric(cascade, t, "kkt_residual") > 0);
        assert_non_null(rb_rfn_stage_name(stage));
        counts[stage]++;
    }
    for (int stage = 0; stage < RB_RFN_STAGES; stage++) {
        size_t used = strlen(wins);
        if (counts[stage] > 0)
            snprintf(wins + used, sizeof wins - used, "%s%s %d", used ? ", " : "",
                     rb_rfn_stage_name(stage), counts[stage]);
    }
    assert_string_equal(rb_model_attribute(cascade, "estep_wins"), wins);
    assert_int_equal((int)metric(cascade, 0, "estep_stage"), RB_RFN_STAGE_NEWTON);
    assert_null(rb_model_attribute(cyclic, "estep_wins"));
    assert_string_equal(rb_rfn_stage_name(RB_RFN_STAGE_NONE), "none");
    assert_null(rb_rfn_stage_name(-1));
    assert_null(rb_rfn_stage_name(RB_RFN_STAGES));
    rb_model_free(cyclic);
    rb_model_free(cascade);
    rb_source_free(source);
}

/* A single sample, which no E-step needs more than. */
static void one_sample_is_enough(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(1, M, 3, 6);
    rb_source *source = fixture_data(ctx, values, 1, M);
    rb_preprocess_options raw;
    rb_preprocess_options_default(&raw);
    raw.centre = RB_CENTRE_NONE;
    for (int estep = RB_RFN_ESTEP_GRADIENT; estep <= RB_RFN_ESTEP_CASCADE; estep++) {
        rb_rfn_options options = fixture_rfn(3, RB_RFN_NORMALIZE_NONE);
        rb_fit_options run = fixture_fit(5, RB_FLOAT64);
        options.estep = estep;
        rb_model *model = fixture_model(ctx, "rfn", &options, &run, &raw, source, NULL);
        assert_true(*fixture_array(model, "kkt_residual") < 1e-5);
        rb_model_free(model);
    }
    rb_source_free(source);
    free(values);
}

static void memory_runs_out(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx);
    rb_rfn_options options = fixture_rfn(5, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(2, RB_FLOAT64);
    options.estep = RB_RFN_ESTEP_CASCADE;
    const rb_options *all = fixture_options(ctx, "rfn", &options, &run, NULL);
    rb_model_free(fixture_model_at_last(ctx, all, source, 30));
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(metrics_of_iterations),
        cmocka_unit_test(one_sample_is_enough),
        cmocka_unit_test(memory_runs_out),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
