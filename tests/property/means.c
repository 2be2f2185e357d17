/* What is told of a fit to samples is a mean over them, by any method: twice the data, the same
 * figure. */
#include "fixture.h"
#include <rarebit/deep.h>

enum { N = 40, M = 6 };

static const char *const figures[] = {
    "log_likelihood", "log_likelihood_bound", "objective",          "estep_objective",   "energy",
    "divergence",     "free_energy",          "mean_squared_error", "variance_explained"};
enum { FIGURES = sizeof figures / sizeof *figures };

struct world {
    rb_context *ctx;
    double values[2 * N * M];
    rb_source *sources[2]; /* the samples, and each of them twice */
};

/* Not below 0, for the methods that explain nothing below. */
static int set_up(void **state) {
    struct world *w = calloc(1, sizeof *w);
    double *drawn = fixture_values(N, M, 2, 1);
    w->ctx = fixture_context();
    for (int i = 0; i < 2 * N * M; i++)
        w->values[i] = fabs(drawn[i % (N * M)]);
    for (int s = 0; s < 2; s++)
        w->sources[s] = fixture_data(w->ctx, w->values, (s + 1) * N, M);
    free(drawn);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    for (int s = 0; s < 2; s++)
        rb_source_free(w->sources[s]);
    rb_context_free(w->ctx);
    free(w);
    return 0;
}

static rb_model *fit(struct world *w, const rb_method *method, rb_source *source,
                     const rb_model *start, int iterations) {
    return fixture_text_model(w->ctx, method->name, source, start,
                              "units=3 precision=float64 iterations=%d", iterations);
}

static void within(double share, const rb_method *method, const char *figure, double got,
                   double expected) {
    double most = share * fmax(1, fabs(expected));
    bool same = isnan(got) ? isnan(expected) : fabs(got - expected) <= most;
    if (!same) fail_msg("%s: %s is %.12g, not %.12g", method->name, figure, got, expected);
}

static void near(const rb_method *method, const char *figure, double got, double expected) {
    within(1e-6, method, figure, got, expected); /* codes are near, not at, their minimum */
}

/* Of `evaluate`, and of the array that a model keeps. */
static void of_models(void **state) {
    struct world *w = *state;
    const rb_method *method;
    int seen = 0;
    for (int64_t m = 0; (method = rb_context_method(w->ctx, m)); m++) {
        rb_model *model = fit(w, method, w->sources[0], NULL, 20);
        rb_metrics *metrics[2];
        for (int s = 0; s < 2; s++)
            assert_ok(w->ctx, rb_evaluate(w->ctx, model, w->sources[s], &metrics[s]));
        for (int f = 0; f < FIGURES; f++) {
            double once = rb_metrics_get(metrics[0], figures[f]);
            near(method, figures[f], rb_metrics_get(metrics[1], figures[f]), once);
            seen += f == 0 && isfinite(once);
        }
        const double *kept = rb_model_array(model, "log_likelihood", NULL, NULL);
        if (kept) near(method, "kept", *kept, rb_metrics_get(metrics[0], "log_likelihood"));
        rb_metrics_free(metrics[0]);
        rb_metrics_free(metrics[1]);
        rb_model_free(model);
    }
    assert_true(seen >= 9);
}

/* Of each sample of them. */
static void of_samples(void **state) {
    struct world *w = *state;
    const rb_method *method;
    for (int64_t m = 0; (method = rb_context_method(w->ctx, m)); m++) {
        rb_model *model = fit(w, method, w->sources[0], NULL, 20);
        double likelihoods[N], sum = 0;
        rb_metrics *metrics;
        assert_ok(w->ctx, rb_evaluate_samples(w->ctx, model, w->sources[0], likelihoods, &metrics));
        for (int i = 0; i < N; i++)
            sum += likelihoods[i];
        near(method, "of samples", sum / N, rb_metrics_get(metrics, "log_likelihood"));
        rb_metrics_free(metrics);
        rb_model_free(model);
    }
}

/* Of an iteration: the first one of a fit that goes on from the same model. Not all methods do the
 * same with twice the data, but nearly. */
static void of_iterations(void **state) {
    struct world *w = *state;
    static const char *const metrics[] = {"log_likelihood", "free_energy"};
    const rb_method *method;
    for (int64_t m = 0; (method = rb_context_method(w->ctx, m)); m++) {
        if (!rb_method_takes_start(method)) continue;
        rb_model *start = fit(w, method, w->sources[0], NULL, 20), *next[2];
        double objective[2], value[2][2] = {{NAN, NAN}, {NAN, NAN}};
        for (int s = 0; s < 2; s++) {
            next[s] = fit(w, method, w->sources[s], start, 1);
            rb_model_history(next[s], 0, &objective[s], NULL, NULL);
            for (int k = 0; k < 2; k++)
                rb_model_metric(next[s], 0, metrics[k], &value[s][k]);
            rb_model_free(next[s]);
        }
        within(0.02, method, "history/objective", objective[1], objective[0]);
        for (int k = 0; k < 2; k++)
            within(0.02, method, metrics[k], value[1][k], value[0][k]);
        rb_model_free(start);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_models),
        cmocka_unit_test(of_samples),
        cmocka_unit_test(of_iterations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
