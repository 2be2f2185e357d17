/* Expectation truncation: what a fit says of its iterations is what its models say of the data. */
#include "et_fixture.h"

enum { N = 300, CAUSES = 5, D = 2 * CAUSES, ITERATIONS = 20, ACTIVE = 2 };
static const double prior = 0.25, INIT_MEAN = 5, INIT_SD = 0.5;

/* Cause h lights features 2 h and 2 h + 1; counts for Poisson noise. */
static void draw(double *y, int noise) {
    rb_draws draws = {{21, RB_RANDOM_SIMULATE, 3}, 0};
    for (int i = 0; i < N; i++) {
        bool on[CAUSES];
        for (int h = 0; h < CAUSES; h++)
            on[h] = rb_draw_uniform(&draws) < prior;
        for (int d = 0; d < D; d++) {
            double value = 10 * on[d / 2] + 2 * rb_draw_normal(&draws);
            y[i * D + d] = noise == RB_ET_POISSON ? round(fabs(value)) : value;
        }
    }
}

static rb_error stop_at(const rb_progress *progress, void *user) {
    return progress->iteration >= *(const int64_t *)user ? RB_ERROR_INTERRUPTED : RB_OK;
}

static rb_fit_options how(bool trace) {
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT64);
    fit.trace = trace;
    return fit;
}

static rb_et_options options_of(int m) {
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = CAUSES;
    options.candidates = 4;
    options.max_active = ACTIVE;
    options.noise = models[m].noise;
    options.prior = prior;
    options.init_mean = INIT_MEAN;
    options.init_sd = INIT_SD;
    return options;
}

/* A fit that is stopped after so many iterations. */
static rb_model *fit_until(rb_context *ctx, int m, bool trace, rb_source *source, int64_t last) {
    rb_et_options options = options_of(m);
    rb_fit_options fit = how(trace);
    rb_context_on_progress(ctx, stop_at, &last);
    rb_model *model = fixture_model(ctx, models[m].method, &options, &fit, NULL, source, NULL);
    rb_context_on_progress(ctx, NULL, NULL);
    assert_int_equal(rb_model_iterations(model), last);
    return model;
}

static double metric(const rb_model *model, int64_t iteration, const char *name) {
    double value;
    assert_int_equal(rb_model_metric(model, iteration, name, &value), RB_OK);
    return value;
}

static double objective(const rb_model *model, int64_t iteration) {
    double value, estep;
    assert_int_equal(rb_model_history(model, iteration, &value, &estep, NULL), RB_OK);
    assert_true(isnan(estep));
    return value;
}

/* The log-likelihood of iteration t is that of the model after t iterations, at any temperature of
 * the fit; and so is what that model keeps. */
static void likelihoods_are_those_of_models(void **state) {
    static const int64_t some[] = {1, 2, 7, 15, 17, 19};
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        double y[N * D];
        draw(y, models[m].noise);
        rb_source *source = fixture_data(ctx, y, N, D);
        rb_model *whole = fit_until(ctx, m, true, source, ITERATIONS);
        assert_true(metric(whole, 0, "temperature") > 2);
        for (int k = 0; k < 6; k++) {
            rb_evaluation e;
            rb_model *part = fit_until(ctx, m, false, source, some[k]);
            assert_ok(ctx, fixture_evaluate(ctx, part, source, &e));
            assert_close(metric(whole, some[k], "log_likelihood"), e.log_likelihood, 1e-12);
            const double *kept = rb_model_array(part, "log_likelihood", NULL, NULL);
            assert_close(*kept, e.log_likelihood, 1e-12);
            rb_model_free(part);
        }
        rb_model_free(whole);
        rb_source_free(source);
    }
}

/* The fields that a trace keeps are those of the model after as many iterations; before the first
 * they are the ones that the fit begins with, drawn as asked for. */
static void traced_fields_are_those_of_models(void **state) {
    rb_context *ctx = *state;
    double y[N * D], mean = 0, square = 0;
    draw(y, RB_ET_GAUSSIAN);
    rb_source *source = fixture_data(ctx, y, N, D);
    rb_model *whole = fit_until(ctx, 0, true, source, ITERATIONS);
    int64_t kept, wide, rows;
    const double *at = rb_model_array(whole, "trace_fields_at", &kept, NULL);
    const double *fields = rb_model_array(whole, "trace_fields", &rows, &wide);
    assert_int_equal(rows, D);
    assert_int_equal(wide, kept * CAUSES);
    for (int64_t k = 0; k < kept; k++) {
        if (at[k] == 0) continue;
        rb_model *part = fit_until(ctx, 0, false, source, (int64_t)at[k]);
        const double *w = fixture_array(part, "loadings");
        for (int e = 0; e < D * CAUSES; e++)
            assert_true(fields[e / CAUSES * wide + k * CAUSES + e % CAUSES] == w[e]);
        rb_model_free(part);
    }
    for (int e = 0; e < D * CAUSES; e++) {
        double w = fields[e / CAUSES * wide + e % CAUSES];
        mean += w / (D * CAUSES);
        square += w * w / (D * CAUSES);
    }
    assert_true(fabs(mean - INIT_MEAN) < 4 * INIT_SD / sqrt(D * CAUSES));
    assert_true(fabs(sqrt(square - mean * mean) / INIT_SD - 1) < 0.4);
    rb_model_free(whole);
    rb_source_free(source);
}

/* Fields of non-negative models begin around what the mean of the data leaves for a cause of mean
 * size, with a third of that as standard deviation. */
static void fields_begin_on_the_scale_of_the_data(void **state) {
    rb_context *ctx = *state;
    for (int valued = 0; valued < 2; valued++) {
        double y[N * D], mean = 0, start = 0;
        draw(y, RB_ET_POISSON);
        for (int e = 0; e < N * D; e++)
            mean += y[e] / (N * D) / (valued ? (0.5 * 2 + 0.5 * 6) : 1);
        rb_source *source = fixture_data(ctx, y, N, D);
        rb_et_options options;
        rb_et_options_default(&options);
        options.units = CAUSES;
        options.values = valued ? "0,2,6" : NULL;
        rb_fit_options fit = how(true);
        rb_model *model = fixture_model(ctx, "nmf-et", &options, &fit, NULL, source, NULL);
        int64_t wide;
        const double *fields = rb_model_array(model, "trace_fields", NULL, &wide);
        for (int e = 0; e < D * CAUSES; e++)
            start += fields[e / CAUSES * wide + e % CAUSES] / (D * CAUSES);
        assert_true(fabs(start / mean - 1) < 4.0 / 3 / sqrt(D * CAUSES));
        rb_model_free(model);
        rb_source_free(source);
    }
}

/* Looking changes nothing. Without a trace the log-likelihood is there where it costs nothing. */
static void traces_change_no_bit(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        double y[N * D];
        draw(y, models[m].noise);
        rb_source *source = fixture_data(ctx, y, N, D);
        rb_model *traced = fit_until(ctx, m, true, source, ITERATIONS);
        rb_model *plain = fit_until(ctx, m, false, source, ITERATIONS);
        static const char *const arrays[] = {"loadings", "sigma", "prior", "dead", "used"};
        for (int a = 0; a < 5; a++) {
            int64_t rows, columns;
            const double *x = rb_model_array(traced, arrays[a], &rows, &columns);
            assert_memory_equal(x, rb_model_array(plain, arrays[a], NULL, NULL),
                                sizeof *x * (size_t)(rows * columns));
        }
        for (int t = 0; t < ITERATIONS; t++) {
            double seen = metric(plain, t, "log_likelihood");
            bool cold = metric(plain, t, "temperature") == 1;
            assert_true(objective(plain, t) == objective(traced, t));
            assert_true(cold ? seen == metric(traced, t, "log_likelihood") : isnan(seen));
        }
        rb_model_free(traced);
        rb_model_free(plain);
        rb_source_free(source);
    }
}

static rb_error note_evidence(void *user, const rb_state *state) {
    ((double *)user)[state->sample] = state->log_evidence;
    return RB_OK;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* log A: the prior's probability of at most ACTIVE causes. */
static double log_mass(void) {
    double none = pow(1 - prior, CAUSES), odds = prior / (1 - prior);
    return log(none * (1 + CAUSES * odds + CAUSES * (CAUSES - 1) / 2.0 * odds * odds));
}

/* The free energy is the mean of the evidences of the samples in use less log A: of all of them
 * hot, of the largest at the end. */
static void free_energy_is_of_samples_in_use(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < 2; m++) { /* those that end at temperature 1 */
        double y[N * D], evidence[N], sum = 0, all = 0;
        draw(y, models[m].noise);
        rb_source *source = fixture_data(ctx, y, N, D);
        rb_model *whole = fit_until(ctx, m, false, source, ITERATIONS);
        rb_model *part = fit_until(ctx, m, false, source, ITERATIONS - 1);
        assert_close(metric(whole, 3, "free_energy"), objective(whole, 3) - log_mass(), 1e-12);
        assert_ok(ctx, rb_states(ctx, part, source, note_evidence, evidence));
        qsort(evidence, N, sizeof *evidence, descending);
        int used = (int)metric(whole, ITERATIONS - 1, "samples_used");
        assert_in_range(used, N / 2, N - 1);
        for (int i = 0; i < N; i++) {
            sum += i < used ? evidence[i] : 0;
            all += evidence[i];
        }
        assert_close(metric(whole, ITERATIONS - 1, "free_energy"), sum / used - log_mass(), 1e-10);
        assert_close(objective(whole, ITERATIONS - 1), all / N, 1e-10);
        rb_model_free(part);
        rb_model_free(whole);
        rb_source_free(source);
    }
}

static void note_warning(rb_log_level level, const char *message, void *user) {
    *(int *)user += level == RB_LOG_WARNING && strstr(message, "before the end temperature");
}

/* A fit that is stopped before it is cold says so, and does not take the place of a restart that is
 * done, however large its objective is at its temperature. */
static void hot_fits_are_told(void **state) {
    enum { MCA = 2 };
    static const struct {
        int64_t restarts, last;
        int warnings;
    } cases[] = {{1, 15, 1}, {1, 17, 0}, {1, ITERATIONS, 0}, {2, ITERATIONS + 15, 1}};
    rb_context *ctx = *state;
    double y[N * D];
    draw(y, RB_ET_GAUSSIAN);
    rb_source *source = fixture_data(ctx, y, N, D);
    for (int k = 0; k < 4; k++) {
        int warnings = 0;
        rb_et_options options = options_of(MCA);
        rb_fit_options fit = how(false);
        fit.restarts = cases[k].restarts;
        int64_t last = cases[k].last;
        options.sigma = 1;
        rb_context_on_log(ctx, note_warning, &warnings);
        rb_context_on_progress(ctx, stop_at, &last);
        rb_model *model = fixture_model(ctx, "mca", &options, &fit, NULL, source, NULL);
        assert_int_equal(warnings, cases[k].warnings);
        assert_string_equal(rb_model_attribute(model, "best_restart"), "0");
        if (k == 2) /* what the restart would have to be compared with */
            assert_true(objective(model, 14) > objective(model, ITERATIONS - 1));
        rb_model_free(model);
    }
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihoods_are_those_of_models),
        cmocka_unit_test(traced_fields_are_those_of_models),
        cmocka_unit_test(fields_begin_on_the_scale_of_the_data),
        cmocka_unit_test(traces_change_no_bit),
        cmocka_unit_test(free_energy_is_of_samples_in_use),
        cmocka_unit_test(hot_fits_are_told),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
