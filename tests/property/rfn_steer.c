/* Sparseness by the prior mean: the target is met, F never falls while the prior stays, no unit
 * dies for it, and errors are lower than those of the newton E-step at the same sparseness. */
#include "rfn_pass.h"

#include <stdio.h>

struct setting {
    rb_context *ctx;
    rb_matrix *matrix;
    rb_source *source;
    rb_rfn_options rfn;
    rb_fit_options fit;
    char warning[512];
};

static void take_warning(rb_log_level level, const char *message, void *user) {
    struct setting *s = user;
    if (level == RB_LOG_WARNING) snprintf(s->warning, sizeof s->warning, "%s", message);
}

/* The preset on a data set of the paper. */
static void begin_with(struct setting *s, const char *data, int64_t samples, int64_t units) {
    *s = (struct setting){.ctx = fixture_context()};
    rb_biclusters_options options;
    fixture_default(rb_biclusters_group(), &options);
    options.dataset = data;
    options.samples = samples;
    rb_context_on_log(s->ctx, take_warning, s);
    assert_ok(s->ctx, rb_simulate_biclusters(s->ctx, fixture_of(rb_biclusters_group(), &options),
                                             &s->matrix, NULL));
    assert_ok(s->ctx, rb_source_from_matrix(s->ctx, s->matrix, &s->source));
    rb_rfn_options_default(&s->rfn);
    rb_fit_options_default(&s->fit);
    fixture_preset("sparse", &s->rfn, &s->fit);
    s->rfn.units = units;
}

static void begin(struct setting *s, const char *data, int64_t units) {
    begin_with(s, data, 100, units);
}

static void end(struct setting *s) {
    rb_source_free(s->source);
    rb_matrix_free(s->matrix);
    rb_context_free(s->ctx);
}

static rb_model *fit(struct setting *s, rb_evaluation *e) {
    s->warning[0] = 0;
    rb_model *model = fixture_model(s->ctx, "rfn", &s->rfn, &s->fit, NULL, s->source, NULL);
    assert_ok(s->ctx, fixture_evaluate(s->ctx, model, s->source, e));
    return model;
}

static void meets_the_target(void **state) {
    (void)state;
    static const double targets[] = {0.65, 0.75, 0.8};
    for (int t = 0; t < 3; t++) {
        struct setting s;
        rb_evaluation e;
        begin(&s, "D1", 50);
        s.rfn.target_sparseness = targets[t];
        rb_model *model = fit(&s, &e);
        const double *xi = rb_model_array(model, "prior_mean", NULL, NULL);
        if (fabs(e.sparseness - targets[t]) > 0.015)
            fail_msg("sparseness %g, not %g", e.sparseness, targets[t]);
        assert_true(xi[0] < 0 && xi[49] == xi[0]);
        assert_string_equal(s.warning, "");
        rb_model_free(model);
        end(&s);
    }
}

/* In float64, the iterations after the prior mean was adapted; the first two are with the codes of
 * its last turn. */
static void objective_never_falls_afterwards(void **state) {
    (void)state;
    struct setting s;
    rb_evaluation e;
    begin(&s, "D1", 40);
    s.rfn.newton_iterations = 100;
    s.rfn.steer_iterations = 100;
    s.fit.iterations = 300;
    s.fit.precision = RB_FLOAT64;
    rb_model *model = fit(&s, &e);
    double before = -INFINITY, now, o, seconds, xi[300];
    for (int64_t t = 0; t < 300; t++) {
        assert_ok(s.ctx, rb_model_metric(model, t, "prior_mean", &xi[t]));
        /* The history says where it changes. */
        assert_true((t > 100 && t <= 200) == (t > 0 && xi[t] != xi[t - 1]));
    }
    assert_true(xi[0] == 0 && xi[299] == rb_model_array(model, "prior_mean", NULL, NULL)[0]);
    for (int64_t t = 201; t < 300; t++) {
        rb_model_history(model, t, &now, &o, &seconds);
        if (!(now >= before - 1e-10 * fabs(before)))
            fail_msg("iteration %d: F fell from %.12g to %.12g", (int)t, before, now);
        before = now;
    }
    rb_model_free(model);
    end(&s);
}

/* Without a number: as sparse as newton, at lower errors. */
static void better_than_newton(void **state) {
    (void)state;
    static const char *const data[] = {"D1", "D3"};
    for (int d = 0; d < 2; d++) {
        struct setting s;
        rb_evaluation sparse, newton;
        begin(&s, data[d], 50);
        rb_model_free(fit(&s, &sparse));
        rb_rfn_options_default(&s.rfn);
        fixture_preset("paper", &s.rfn, NULL);
        s.rfn.units = 50;
        s.fit.iterations = 1000;
        rb_model_free(fit(&s, &newton));
        assert_true(sparse.sparseness > newton.sparseness - 0.01);
        assert_true(sparse.reconstruction_error < 0.98 * newton.reconstruction_error);
        assert_true(sparse.covariance_error < 0.95 * newton.covariance_error);
        end(&s);
    }
}

static void warned(const struct setting *s, const char *what) {
    if (!strstr(s->warning, what)) fail_msg("'%s' instead of '%s'", s->warning, what);
}

/* Units that are not normalised would all die for that; before it steps back very few may. */
static void no_unit_dies_for_it(void **state) {
    (void)state;
    struct setting s;
    rb_evaluation e;
    begin(&s, "D3", 50);
    s.rfn.target_sparseness = 0.99;
    s.rfn.normalize = RB_RFN_NORMALIZE_NONE;
    rb_model *model = fit(&s, &e);
    assert_true(e.dead_units <= 2);
    if (!(e.sparseness > 0.6 && e.sparseness < 0.95)) fail_msg("sparseness %g", e.sparseness);
    warned(&s, "instead of the 0.990 asked for");
    rb_model_free(model);
    end(&s);
}

/* Few units could only be so sparse with a prior under which the codes of the fit are not the best
 * ones: those of the samples one by one would be others, and their mean squares not 1. */
static void codes_stay_the_best(void **state) {
    (void)state;
    static const int64_t units[] = {10, 20};
    for (int u = 0; u < 2; u++) {
        struct setting s;
        rb_evaluation e;
        begin(&s, "D1", units[u]);
        s.rfn.target_sparseness = 0.9;
        rb_model *model = fit(&s, &e);
        double *codes = fixture_codes(s.ctx, model, s.source);
        assert_true(e.certificate > 0 && e.sparseness < 0.85);
        warned(&s, "sparser codes would not be optimal for");
        for (int64_t j = 0; j < units[u]; j++) {
            double square = 0;
            for (int64_t i = 0; i < 100; i++)
                square += codes[i * units[u] + j] * codes[i * units[u] + j] / 100;
            assert_close(square, 1, 1e-3);
        }
        free(codes);
        rb_model_free(model);
        end(&s);
    }
}

/* Codes are sparser than that without any prior. */
static void target_out_of_reach(void **state) {
    (void)state;
    struct setting s;
    rb_evaluation e;
    begin(&s, "D1", 20);
    s.rfn.target_sparseness = 0.1;
    rb_model_free(fit(&s, &e));
    warned(&s, "instead of the 0.100 asked for");
    warned(&s, "a lower share needs a");
    end(&s);
}

/* Iterations of newton before another E-step are those of newton alone. */
static void begins_with_newton(void **state) {
    (void)state;
    struct setting s;
    rb_evaluation e;
    begin(&s, "D1", 20);
    s.fit.iterations = 30;
    rb_model *both = fit(&s, &e);
    warned(&s, "no iteration is left for the other E-step");
    rb_rfn_options_default(&s.rfn);
    fixture_preset("paper", &s.rfn, NULL);
    s.rfn.units = 20;
    rb_model *newton = fit(&s, &e);
    fixture_same_array(both, newton, "loadings");
    assert_non_null(rb_model_array(both, "multipliers", NULL, NULL));
    rb_model_free(both);
    rb_model_free(newton);
    end(&s);
}

/* A settled objective does not end the fit before the prior mean has been adapted. */
static void does_not_stop_early(void **state) {
    (void)state;
    struct setting s;
    rb_evaluation e;
    begin(&s, "D1", 5);
    s.rfn.newton_iterations = 20;
    s.rfn.steer_iterations = 30;
    s.fit.tolerance = 0.5;
    rb_model *model = fit(&s, &e);
    assert_int_equal(rb_model_iterations(model), 51);
    rb_model_free(model);
    end(&s);
}

static void assert_refused(struct setting *s, const char *words) {
    fixture_refused(s->ctx, "rfn", &s->rfn, &s->fit, NULL, s->source, NULL, RB_ERROR_ARGUMENT,
                    words);
}

/* Nothing that is asked for is ignored. */
static void refused(void **state) {
    (void)state;
    struct setting s;
    begin(&s, "D1", 5);
    s.rfn.prior_mean.value = 1;
    assert_refused(&s, "for all units, at most 0; give");
    s.rfn.prior_mean.value = 0;
    s.rfn.estep = RB_RFN_ESTEP_NEWTON;
    assert_refused(&s, "`newton-iterations` is 500");
    s.rfn.newton_iterations = 0;
    assert_refused(&s, "choose another `estep` than newton");
    s.rfn.steer_iterations = 0;
    s.rfn.target_sparseness = 0.5;
    assert_refused(&s, "give `steer-iterations`");
    end(&s);
}

static void memory_may_end_anywhere(void **state) {
    (void)state;
    struct setting s;
    begin(&s, "D1", 4);
    s.rfn.newton_iterations = 1;
    s.rfn.steer_iterations = 1;
    s.fit.iterations = 3;
    const rb_options *options = fixture_options(s.ctx, "rfn", &s.rfn, &s.fit, NULL);
    rb_model_free(fixture_model_at_last(s.ctx, options, s.source, 0));
    end(&s);
}

/* The certificate is looked at in every fifth iteration in which rho is adapted. Below 0.02 rho is
 * to stay at 0.95 of what it is; above, the bound rises by 2 % a time. */
static void certificates_bound_it(void **state) {
    (void)state;
    rfn_setup setup = {.options = fixture_rfn(4, RB_RFN_NORMALIZE_RMS)};
    setup.options.newton_iterations = 3;
    setup.options.steer_iterations = 12;
    for (int64_t t = 0; t < 20; t++) {
        rfn_progress progress = {.iteration = t};
        assert_int_equal(rfn_looks_at_certificate(&setup, &progress), t == 8 || t == 13);
    }
    rfn_adaptation a = {.rho = 2, .ceiling = INFINITY};
    rfn_bound_adaptation(0.021, &a);
    assert_true(a.ceiling == INFINITY);
    rfn_bound_adaptation(0.019, &a);
    assert_close(a.ceiling, 0.95 * 2, 1e-12);
    rfn_bound_adaptation(0.021, &a);
    assert_close(a.ceiling, 1.02 * 0.95 * 2, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_the_target),
        cmocka_unit_test(objective_never_falls_afterwards),
        cmocka_unit_test(better_than_newton),
        cmocka_unit_test(no_unit_dies_for_it),
        cmocka_unit_test(codes_stay_the_best),
        cmocka_unit_test(target_out_of_reach),
        cmocka_unit_test(begins_with_newton),
        cmocka_unit_test(does_not_stop_early),
        cmocka_unit_test(certificates_bound_it),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
