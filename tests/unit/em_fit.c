/* rb_fit: options, stopping, restarts, warm starts, what goes wrong, no memory. */
#include "fixture.h"

enum { N = 60, M = 8, UNITS = 3 };

static int setup(void **state) {
    struct fixture_problem *p = fixture_problem(fixture_values(N, M, 3, 1), N, M);
    p->rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    p->fit = fixture_fit(10, RB_FLOAT64);
    *state = p;
    return 0;
}

static rb_model *fit(struct fixture_problem *p, const rb_model *start) {
    return fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, start);
}

/* The fit fails with this code and a message that holds these words. */
static void assert_fails(struct fixture_problem *p, rb_error code, const char *words) {
    fixture_refused(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL, code, words);
}

static double objective(const rb_model *model, int64_t t) {
    double f, o, seconds;
    assert_int_equal(rb_model_history(model, t, &f, &o, &seconds), RB_OK);
    assert_true(seconds >= 0);
    return f;
}

static void records_what_was_done(void **state) {
    struct fixture_problem *p = *state;
    p->fit.seed = 77;
    rb_model *model = fit(p, NULL);
    assert_string_equal(rb_model_method(model), "rfn");
    assert_int_equal(rb_model_units(model), UNITS);
    assert_int_equal(rb_model_features(model), M);
    assert_int_equal(rb_model_iterations(model), 10);
    assert_int_equal(rb_model_status(model), RB_STATUS_ITERATIONS);
    assert_string_equal(rb_model_attribute(model, "seed"), "77");
    assert_string_equal(rb_model_attribute(model, "eta"), "0.5");
    assert_string_equal(rb_model_attribute(model, "centre"), "mean");
    assert_string_equal(rb_model_attribute(model, "program_version"), RB_VERSION);
    assert_int_equal(strlen(rb_model_attribute(model, "data_checksum")), 8);
    rb_model_free(model);
}

static void same_seed_same_bits(void **state) {
    struct fixture_problem *p = *state;
    rb_model *a = fit(p, NULL), *b = fit(p, NULL);
    p->fit.seed++;
    rb_model *c = fit(p, NULL);
    size_t bytes = M * UNITS * sizeof(double);
    const double *w = rb_model_array(a, "loadings", NULL, NULL);
    assert_memory_equal(w, rb_model_array(b, "loadings", NULL, NULL), bytes);
    assert_memory_not_equal(w, rb_model_array(c, "loadings", NULL, NULL), bytes);
    rb_model_free(a);
    rb_model_free(b);
    rb_model_free(c);
}

static void stops_when_settled(void **state) {
    struct fixture_problem *p = *state;
    p->fit.iterations = 5000;
    p->fit.tolerance = 1e-4;
    rb_model *model = fit(p, NULL);
    int64_t t = rb_model_iterations(model);
    assert_int_equal(rb_model_status(model), RB_STATUS_CONVERGED);
    assert_true(t > 2 && t < 5000);
    double change = fabs(objective(model, t - 1) - objective(model, t - 2));
    assert_true(change < 1e-4 * fabs(objective(model, t - 1)));
    rb_model_free(model);
}

struct watch {
    int64_t calls, stop_at;
    rb_progress last;
};

static rb_error watch(const rb_progress *progress, void *user) {
    struct watch *w = user;
    w->last = *progress;
    return ++w->calls == w->stop_at ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void callback_stops_with_a_usable_model(void **state) {
    struct fixture_problem *p = *state;
    struct watch w = {.stop_at = 4};
    rb_context_on_progress(p->ctx, watch, &w);
    rb_model *model = fit(p, NULL);
    assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
    assert_int_equal(rb_model_iterations(model), 4);
    assert_int_equal(w.last.iteration, 4);
    assert_int_equal(w.last.iterations, 10);
    assert_true(w.last.objective == objective(model, 3));
    assert_true(isnan(w.last.estep_objective));
    rb_evaluation e;
    assert_ok(p->ctx, fixture_evaluate(p->ctx, model, p->source, &e));
    assert_true(isfinite(e.objective));
    rb_model_free(model);
}

/* What is left ends with the time that a fit may take. */
static void tells_what_is_left(void **state) {
    struct fixture_problem *p = *state;
    struct watch w = {.stop_at = 3};
    rb_context_on_progress(p->ctx, watch, &w);
    p->fit.iterations = 1000000000000;
    rb_model_free(fit(p, NULL));
    assert_true(w.last.remaining > 3600);
    p->fit.max_time = 3600;
    w.calls = 0;
    rb_model_free(fit(p, NULL));
    assert_true(w.last.remaining > 3000 && w.last.remaining < 3600);
}

struct ends {
    double objective[5]; /* of the last iteration of each restart */
};

static rb_error note_end(const rb_progress *progress, void *user) {
    struct ends *ends = user;
    if (progress->iteration % 10 == 0)
        ends->objective[progress->iteration / 10 - 1] = progress->objective;
    return RB_OK;
}

/* Of five fits that differ the best is kept, wherever it stands among them. */
static void best_of_restarts(void **state) {
    struct fixture_problem *p = *state;
    struct ends ends;
    int64_t times_best[5] = {0};
    rb_context_on_progress(p->ctx, note_end, &ends);
    p->fit.restarts = 5;
    for (p->fit.seed = 1; p->fit.seed <= 12; p->fit.seed++) {
        rb_model *model = fit(p, NULL);
        int64_t best = 0;
        for (int64_t r = 1; r < 5; r++) {
            assert_true(ends.objective[r] != ends.objective[r - 1]);
            best = ends.objective[r] > ends.objective[best] ? r : best;
        }
        times_best[best]++;
        assert_int_equal(atoi(rb_model_attribute(model, "best_restart")), best);
        assert_true(objective(model, 9) == ends.objective[best]);
        rb_model_free(model);
    }
    assert_true(times_best[0] < 12 && times_best[4] < 12 && times_best[2] > 0);
}

/* 4 iterations and 6 more from there are 10 iterations. */
static void warm_start_goes_on(void **state) {
    struct fixture_problem *p = *state;
    rb_model *all = fit(p, NULL);
    p->fit.iterations = 4;
    rb_model *half = fit(p, NULL);
    p->fit.iterations = 6;
    rb_model *rest = fit(p, half);
    fixture_same_array(all, rest, "loadings");
    assert_true(objective(all, 9) == objective(rest, 5));
    p->rfn.units = UNITS + 1;
    fixture_refused(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, half, RB_ERROR_ARGUMENT,
                    "has 3 units");
    rb_model_free(all);
    rb_model_free(half);
    rb_model_free(rest);
}

/* The model says which data it was fitted to, also when it began with those of another. */
static void warm_start_records_the_data_at_hand(void **state) {
    struct fixture_problem *p = *state;
    p->rfn.prior_mean.value = -0.25;
    rb_model *start = fit(p, NULL);
    p->values[5] += 1;
    rb_model *fresh = fit(p, NULL), *warm = fit(p, start);
    assert_string_not_equal(rb_model_attribute(start, "data_checksum"),
                            rb_model_attribute(fresh, "data_checksum"));
    assert_string_equal(rb_model_attribute(warm, "data_checksum"),
                        rb_model_attribute(fresh, "data_checksum"));
    assert_int_equal(warm->preprocess->checksum, fresh->preprocess->checksum);
    /* Not given, it is recorded as the model to start from had it. */
    p->rfn.prior_mean.value = -0.5; /* the default */
    rb_model *silent = fit(p, start);
    assert_string_equal(rb_model_attribute(silent, "prior-mean"), "-0.25");
    rb_model_free(start);
    rb_model_free(fresh);
    rb_model_free(warm);
    rb_model_free(silent);
}

static void assert_start_refused(struct fixture_problem *p, const rb_model *start,
                                 const char *words) {
    fixture_refused(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, start, RB_ERROR_ARGUMENT,
                    words);
}

/* What a warm start would ignore is refused. */
static void warm_start_ignores_nothing(void **state) {
    struct fixture_problem *p = *state;
    rb_model *start = fit(p, NULL);
    p->rfn.prior_mean.value = -2;
    assert_start_refused(p, start, "`prior-mean` is '-2'");
    p->rfn.prior_mean.value = 0;
    p->rfn.psi_init = 0.5;
    assert_start_refused(p, start, "`psi-init` is '0.5'");
    p->rfn.psi_init = 0.1;
    p->rfn.weight_init = 0.5;
    assert_start_refused(p, start, "`weight-init` is '0.5'");
    p->rfn.weight_init = 0.01;
    p->fit.restarts = 3;
    assert_start_refused(p, start, "`restarts` is 3");
    rb_model_free(start);
}

/* The M-step never lowers F: F after M against F with the same codes before it. With psi from the
 * old W or the new one, and within the bounds. */
static void mstep_never_lowers_the_objective(void **state) {
    struct fixture_problem *p = *state;
    p->rfn.eta = 1;
    for (int update = RB_RFN_PSI_OLD; update <= RB_RFN_PSI_NEW; update++) {
        p->rfn.psi_update = update;
        for (int64_t iterations = 1; iterations < 12; iterations++) {
            rb_evaluation before;
            p->fit.iterations = iterations;
            rb_model *model = fit(p, NULL);
            assert_ok(p->ctx, fixture_evaluate(p->ctx, model, p->source, &before));
            p->fit.iterations = 1;
            rb_model *next = fit(p, model);
            assert_true(objective(next, 0) >= before.objective - 1e-9);
            rb_model_free(model);
            rb_model_free(next);
        }
    }
}

static void gradient_form(void **state) {
    struct fixture_problem *p = *state;
    p->rfn.mstep = RB_RFN_MSTEP_GRADIENT;
    p->rfn.eta = 0.003;
    p->rfn.psi_init = 1;
    p->fit.iterations = 200;
    rb_model *model = fit(p, NULL);
    assert_true(objective(model, 199) > objective(model, 0));
    rb_model_free(model);
}

static void bounds(void **state) {
    struct fixture_problem *p = *state;
    p->rfn.weight_max = 0.05;
    p->rfn.psi_min = 0.7;
    rb_model *model = fit(p, NULL);
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    double largest = 0;
    for (int64_t e = 0; e < M * UNITS; e++)
        largest = fmax(largest, fabs(w[e]));
    assert_true(largest == 0.05);
    for (int64_t k = 0; k < M; k++)
        assert_true(noise[k] >= 0.7);
    rb_evaluation e;
    assert_ok(p->ctx, fixture_evaluate(p->ctx, model, p->source, &e));
    rb_model_free(model);
}

/* By rule: ten standard deviations of the feature that varies most. */
static void bound_of_loadings_by_rule(void **state) {
    struct fixture_problem *p = *state;
    double largest = 0, variance = 0;
    p->rfn.weight_init = 1000;
    p->rfn.weight_max = -1;
    p->rfn.eta = 0.01;
    p->fit.iterations = 1;
    p->fit.precision = RB_FLOAT64;
    rb_model *model = fit(p, NULL);
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    for (int64_t e = 0; e < M * UNITS; e++)
        largest = fmax(largest, fabs(w[e]));
    for (int64_t k = 0; k < M; k++) {
        double squares = 0;
        for (int64_t i = 0; i < N; i++)
            squares += pow(p->values[i * M + k] - model->preprocess->centre[k], 2) / N;
        variance = fmax(variance, squares);
    }
    assert_close(largest, 10 * sqrt(variance), 1e-12);
    rb_model_free(model);
}

static void wrong_use(void **state) {
    struct fixture_problem *p = *state;
    rb_options *options;
    assert_int_equal(rb_options_new(p->ctx, "nothing", &options), RB_ERROR_ARGUMENT);
    assert_null(options);
    p->rfn.eta = 2;
    assert_fails(p, RB_ERROR_ARGUMENT, "`eta` is '2', but must be a number above 0 and at most 1");
    p->rfn.eta = 0.5;
    p->fit.iterations = 0;
    assert_fails(p, RB_ERROR_ARGUMENT, "`iterations` is '0'");
    p->fit.iterations = 3;
    p->rfn.psi_min = 1e6;
    assert_fails(p, RB_ERROR_DATA, "take a smaller `psi-min`");
}

static void missing_and_infinite_values(void **state) {
    struct fixture_problem *p = *state;
    p->values[3 * M + 2] = NAN;
    assert_fails(p, RB_ERROR_DATA, "sample 3, feature 2 (counted from 0) is missing");
    p->values[3 * M + 2] = INFINITY;
    assert_fails(p, RB_ERROR_DATA, "sample 3, feature 2 (counted from 0) is infinite");
}

/* Values whose squares leave float32 are refused. */
static void overflow_is_said(void **state) {
    struct fixture_problem *p = *state;
    for (int64_t e = 0; e < N * M; e++)
        p->values[e] *= 1e30;
    p->fit.precision = RB_FLOAT32;
    fixture_refused(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL, RB_ERROR_DATA,
                    "beyond float32");
}

/* One sample, one feature, a constant feature, more units than samples. */
static void edges(void **state) {
    struct fixture_problem *p = *state;
    static const struct {
        int64_t n, m, units;
    } shapes[] = {{1, M, 2}, {2, 1, 1}, {N, 1, 4}, {5, M, 20}};
    for (int s = 0; s < 4; s++) {
        rb_source *source = fixture_data(p->ctx, p->values, shapes[s].n, shapes[s].m);
        rb_rfn_options rfn = fixture_rfn(shapes[s].units, RB_RFN_NORMALIZE_RMS);
        rb_model *model;
        rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &rfn, &p->fit, NULL), source,
                              NULL, &model);
        /* One sample has no variance about its mean. */
        assert_int_equal(err, shapes[s].n == 1 ? RB_ERROR_DATA : RB_OK);
        rb_model_free(model);
        rb_source_free(source);
    }
    for (int64_t i = 0; i < N; i++)
        p->values[i * M + 1] = 4;
    rb_model *model = fit(p, NULL);
    rb_model_free(model);
}

/* The n-th allocation fails, for every n: the error says so, nothing leaks (the sanitizers
 * watch). */
static void no_memory(void **state) {
    struct fixture_problem *p = *state;
    p->fit.iterations = 2;
    p->fit.trace = true;
    p->fit.restarts = 2;
    const rb_options *options = fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL);
    rb_model *model = fixture_model_at_last(p->ctx, options, p->source, 40);
    fixture_evaluate_at_last(p->ctx, model, p->source);
    struct fixture_rows rows = {calloc(N * M, sizeof(double)), M};
    for (rb_error err = RB_ERROR_MEMORY, t = 0; allow_allocations(p->ctx, t, err); t++)
        err = rb_reconstruct(p->ctx, model, p->source, fixture_take, &rows);
    free(rows.values);
    rb_model_free(model);
}

/* Reconstructing inverts centring, scaling, log1p and totals: with as many units as features and
 * little noise the samples come back. */
static void reconstructs_on_the_scale_of_the_data(void **state) {
    struct fixture_problem *p = *state;
    rb_preprocess_options pre;
    rb_preprocess_options_default(&pre);
    pre.scale = RB_SCALE_SD;
    pre.log1p = true;
    pre.totals = 100;
    for (int64_t e = 0; e < N * M; e++)
        p->values[e] = fabs(p->values[e]) + 1;
    p->rfn.units = 2 * M;
    p->fit.iterations = 3000;
    p->rfn.psi_min = 1e-4;
    rb_model *model = fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, &pre, p->source, NULL);
    struct fixture_rows rows = {calloc(N * M, sizeof(double)), M};
    assert_ok(p->ctx, rb_reconstruct(p->ctx, model, p->source, fixture_take, &rows));
    double error = 0, all = 0;
    for (int64_t e = 0; e < N * M; e++) {
        error += pow(rows.values[e] - p->values[e], 2);
        all += pow(p->values[e], 2);
    }
    assert_true(error < 0.01 * all);
    free(rows.values);
    rb_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_what_was_done),
        cmocka_unit_test(same_seed_same_bits),
        cmocka_unit_test(stops_when_settled),
        cmocka_unit_test(callback_stops_with_a_usable_model),
        cmocka_unit_test(tells_what_is_left),
        cmocka_unit_test(best_of_restarts),
        cmocka_unit_test(warm_start_goes_on),
        cmocka_unit_test(warm_start_records_the_data_at_hand),
        cmocka_unit_test(warm_start_ignores_nothing),
        cmocka_unit_test(mstep_never_lowers_the_objective),
        cmocka_unit_test(gradient_form),
        cmocka_unit_test(bounds),
        cmocka_unit_test(bound_of_loadings_by_rule),
        cmocka_unit_test(wrong_use),
        cmocka_unit_test(missing_and_infinite_values),
        cmocka_unit_test(overflow_is_said),
        cmocka_unit_test(edges),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(reconstructs_on_the_scale_of_the_data),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, fixture_teardown);
}
