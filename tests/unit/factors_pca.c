/* pca: orthonormal directions of largest variance, by every solver and from every form of data. */
#include "fixture.h"
#include <rarebit/io.h>

#include <rarebit/rerun.h>

#include <unistd.h>

enum { N = 300, M = 40, UNITS = 5 };

static int setup(void **state) {
    double *values = fixture_values(N, M, 8, 1);
    *state = fixture_problem(values, N, M);
    return 0;
}

static rb_model *fit(rb_context *ctx, rb_source *source, const char *method, const char *text) {
    return fixture_text_model(ctx, method, source, NULL, "units=%d seed=1 %s", UNITS, text);
}

/* The same numbers; their signs are fixed. */
static void assert_same_model(const rb_model *a, const rb_model *b, double relative) {
    const double *w = fixture_array(a, "loadings"), *x = fixture_array(b, "loadings");
    for (int64_t i = 0; i < rb_model_features(a) * UNITS; i++)
        assert_close(w[i], x[i], relative);
    for (int64_t j = 0; j < UNITS; j++)
        assert_close(fixture_array(a, "variance")[j], fixture_array(b, "variance")[j], relative);
    assert_close(fixture_array(a, "noise")[0], fixture_array(b, "noise")[0], relative);
}

/* W'W = I, variances descend and are those of the codes, and the loading of largest size is above
 * 0. Whitened codes have variance 1. */
static void loadings_are_orthonormal(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p->ctx, p->source, "pca", "precision=float64");
    const double *w = fixture_array(model, "loadings"),
                 *variance = fixture_array(model, "variance");
    double *codes = fixture_codes(p->ctx, model, p->source);
    for (int j = 0; j < UNITS; j++) {
        double square = 0, largest = 0;
        for (int l = 0; l < UNITS; l++) {
            double product = 0;
            for (int k = 0; k < M; k++)
                product += w[k * UNITS + j] * w[k * UNITS + l];
            assert_close(product, j == l, 1e-12);
        }
        for (int k = 0; k < M; k++)
            largest = fabs(w[k * UNITS + j]) > fabs(largest) ? w[k * UNITS + j] : largest;
        for (int i = 0; i < N; i++)
            square += codes[i * UNITS + j] * codes[i * UNITS + j] / N;
        assert_true(largest > 0);
        assert_close(square, variance[j], 1e-10);
        assert_true(j == 0 || variance[j] <= variance[j - 1]);
    }
    free(codes);
    rb_model_free(model);
    model = fit(p->ctx, p->source, "pca", "precision=float64 whiten=true");
    codes = fixture_codes(p->ctx, model, p->source);
    double square = 0;
    for (int i = 0; i < N * UNITS; i++)
        square += codes[i] * codes[i] / (N * UNITS);
    assert_close(square, 1, 1e-10);
    free(codes);
    rb_model_free(model);
}

/* The same directions, once the spectrum decays. */
static void solvers_agree(void **state) {
    struct fixture_problem *p = *state;
    for (int wide = 0; wide < 2; wide++) { /* also where features outnumber samples */
        int64_t n = wide ? 30 : N, m = wide ? 120 : M;
        double *values = fixture_values(n, m, 8, 3);
        rb_source *source = fixture_data(p->ctx, values, n, m);
        rb_model *exact = fit(p->ctx, source, "pca", "solver=exact precision=float64");
        rb_model *random = fit(p->ctx, source, "pca",
                               "solver=randomized precision=float64 tolerance=0 iterations=60");
        rb_model *narrow = fit(p->ctx, source, "pca", "solver=randomized tolerance=1e-6");
        assert_same_model(exact, random, 1e-8);
        assert_same_model(exact, narrow, 5e-3);
        rb_model_free(exact);
        rb_model_free(random);
        rb_model_free(narrow);
        rb_source_free(source);
        free(values);
    }
}

/* The share of the squares that is explained never falls from pass to pass, though the basis is
 * made anew when it is full. */
static void objective_never_falls(void **state) {
    struct fixture_problem *p = *state;
    double *values = fixture_values(400, 300, 60, 2), before = 0, value, estep, seconds;
    rb_source *source = fixture_data(p->ctx, values, 400, 300);
    rb_model *model =
        fit(p->ctx, source, "pca", "solver=randomized tolerance=0 iterations=15 precision=float64");
    assert_true(rb_model_iterations(model) > 5);
    for (int64_t t = 0; t < rb_model_iterations(model); t++) {
        assert_ok(p->ctx, rb_model_history(model, t, &value, &estep, &seconds));
        assert_true(value >= before - 1e-13 && value <= 1);
        before = value;
    }
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

/* A basis that was replaced by its best directions leads on to the exact ones. */
static void restarts_lead_to_the_exact_ones(void **state) {
    struct fixture_problem *p = *state;
    double *values = fixture_values(400, 300, 60, 2);
    rb_source *source = fixture_data(p->ctx, values, 400, 300);
    rb_model *exact = fit(p->ctx, source, "pca", "solver=exact precision=float64");
    rb_model *random =
        fit(p->ctx, source, "pca", "solver=randomized tolerance=0 iterations=12 precision=float64");
    assert_same_model(exact, random, 1e-6);
    rb_model_free(exact);
    rb_model_free(random);
    rb_source_free(source);
    free(values);
}

/* Centring sparse data fills nothing, and gives what dense data give. */
static void sparse_is_dense(void **state) {
    struct fixture_problem *p = *state;
    static const char *const ways[] = {"solver=exact", "solver=randomized tolerance=0"};
    for (int way = 0; way < 4; way++) { /* and with n above, below m */
        int64_t n = way & 2 ? 30 : 200, m = way & 2 ? 90 : 50;
        double *values = fixture_values(n, m, 8, 5);
        char text[80];
        rb_matrix *dense, *sparse;
        for (int64_t i = 0; i < n * m; i++)
            values[i] = values[i] > 1.5 ? values[i] : 0;
        rb_source *a = fixture_source(p->ctx, values, n, m, &dense);
        rb_source *b = fixture_sparse(p->ctx, values, n, m, &sparse);
        snprintf(text, sizeof text, "precision=float64 %s", ways[way & 1]);
        rb_model *of_dense = fit(p->ctx, a, "pca", text), *of_sparse = fit(p->ctx, b, "pca", text);
        assert_same_model(of_dense, of_sparse, way & 1 ? 1e-6 : 1e-9);
        double *codes = fixture_codes(p->ctx, of_dense, a);
        double *others = fixture_codes(p->ctx, of_dense, b);
        for (int64_t i = 0; i < n * UNITS; i++)
            assert_close(codes[i], others[i], 1e-10);
        free(codes);
        free(others);
        rb_model_free(of_dense);
        rb_model_free(of_sparse);
        rb_source_free(a);
        rb_source_free(b);
        rb_matrix_free(dense);
        rb_matrix_free(sparse);
        free(values);
    }
}

static rb_error give_rows(void *user, int64_t first, int64_t count, void *to) {
    memcpy(to, (double *)user + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

/* An exact solution has no iterations to count; a model of one is fitted again all the same. */
static void exact_refuses_iterations(void **state) {
    struct fixture_problem *p = *state;
    static const char *const idle[] = {"iterations=5", "tolerance=1e-3", "patience=3"};
    rb_model *model = NULL, *again = NULL;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        rb_options *options;
        assert_ok(p->ctx, rb_options_new(p->ctx, "pca", &options));
        assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "units=2 solver=exact %s", idle[i]));
        assert_error(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model), RB_ERROR_ARGUMENT,
                     "does nothing with `solver=exact`");
        assert_ok(p->ctx, rb_options_set(p->ctx, options, "solver", "auto"));
        assert_ok(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model));
        assert_string_equal(rb_model_attribute(model, "solver"), "exact");
        assert_ok(p->ctx, rb_rerun(p->ctx, model, NULL, p->source, NULL, &again));
        rb_model_free(model);
        rb_model_free(again);
        rb_options_free(options);
    }
}

/* The same bits streamed and in memory, on one thread and on three. */
static void bits_are_the_same(void **state) {
    struct fixture_problem *p = *state;
    static const char *const fits[][2] = {{"pca", "solver=exact"},
                                          {"pca", "solver=randomized"},
                                          {"ica", "iterations=7"},
                                          {"ica", "algorithm=deflation iterations=20"}};
    for (size_t f = 0; f < sizeof fits / sizeof *fits; f++) {
        rb_source *streamed;
        assert_ok(p->ctx, rb_source_from_callback(p->ctx, RB_FLOAT64, N, M, give_rows, p->values,
                                                  &streamed));
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 1));
        rb_model *a = fit(p->ctx, p->source, fits[f][0], fits[f][1]);
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 3));
        rb_model *b = fit(p->ctx, streamed, fits[f][0], fits[f][1]);
        assert_memory_equal(fixture_array(a, "loadings"), fixture_array(b, "loadings"),
                            M * UNITS * sizeof(double));
        assert_memory_equal(fixture_array(a, "noise"), fixture_array(b, "noise"),
                            M * sizeof(double));
        rb_model_free(a);
        rb_model_free(b);
        rb_source_free(streamed);
    }
}

/* The variance that is left, shared out among the directions that are left. */
static void noise_is_the_mean_of_what_is_left(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p->ctx, p->source, "pca", "precision=float64");
    double left = 0, mean[M] = {0};
    for (int e = 0; e < N * M; e++)
        mean[e % M] += p->values[e] / N;
    for (int e = 0; e < N * M; e++)
        left += pow(p->values[e] - mean[e % M], 2) / N;
    for (int j = 0; j < UNITS; j++)
        left -= fixture_array(model, "variance")[j];
    assert_close(fixture_array(model, "noise")[0], left / (M - UNITS), 1e-10);
    rb_model_free(model);
}

/* log p(v) of Tipping and Bishop by the inverse and determinant of W W' + s2 I, m x m, where W W' =
 * A (D - s2) A'. */
static void likelihood_is_that_of_the_covariance(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p->ctx, p->source, "pca", "precision=float64");
    const double *w = fixture_array(model, "loadings"), *d = fixture_array(model, "variance");
    double s2 = fixture_array(model, "noise")[0], sum = 0, mean[M] = {0};
    rb_dense c, solved, v;
    rb_spd *factor;
    rb_metrics *metrics;
    assert_ok(p->ctx, rb_dense_new(p->ctx, RB_FLOAT64, M, M, &c));
    assert_ok(p->ctx, rb_dense_new(p->ctx, RB_FLOAT64, M, 1, &solved));
    assert_ok(p->ctx, rb_dense_new(p->ctx, RB_FLOAT64, M, 1, &v));
    for (int i = 0; i < M; i++) {
        for (int k = 0; k < M; k++) {
            double value = i == k ? s2 : 0;
            for (int j = 0; j < UNITS; j++)
                value += (d[j] - s2) * w[i * UNITS + j] * w[k * UNITS + j];
            rb_dense_set(c, i, k, value);
        }
    }
    for (int i = 0; i < N * M; i++)
        mean[i % M] += p->values[i] / N;
    assert_ok(p->ctx, rb_spd_new(p->ctx, RB_FLOAT64, M, &factor));
    assert_ok(p->ctx, rb_spd_factor(p->ctx, factor, c));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < M; k++)
            rb_dense_set(v, k, 0, p->values[i * M + k] - mean[k]);
        rb_spd_solve_left(p->ctx, factor, v, solved);
        for (int k = 0; k < M; k++)
            sum += rb_dense_get(v, k, 0) * rb_dense_get(solved, k, 0) / N;
    }
    assert_ok(p->ctx, rb_evaluate(p->ctx, model, p->source, &metrics));
    assert_close(rb_metrics_get(metrics, "log_likelihood"),
                 -(M * log(2 * acos(-1)) + rb_spd_log_det(factor) + sum) / 2, 1e-10);
    double value, estep, seconds;
    assert_ok(p->ctx, rb_model_history(model, 0, &value, &estep, &seconds));
    assert_close(rb_metrics_get(metrics, "variance_explained"), value, 1e-10);
    rb_metrics_free(metrics);
    rb_spd_free(factor);
    rb_dense_free(&c);
    rb_dense_free(&solved);
    rb_dense_free(&v);
    rb_model_free(model);
}

/* And no noise. */
static double *two_causes(void) {
    double *values = calloc(N * M, sizeof *values);
    for (int i = 0; i < N * M; i++)
        values[i] = (i / M % 7) * (i % M % 5) + (i / M % 11) * (i % M % 3);
    return values;
}

/* Units beyond the rank have no loadings, and nothing is infinite. */
static void units_beyond_the_rank_are_dead(void **state) {
    struct fixture_problem *p = *state;
    double *values = two_causes();
    rb_source *source = fixture_data(p->ctx, values, N, M);
    static const char *const ways[][2] = {{"pca", "solver=exact"},
                                          {"pca", "solver=randomized"},
                                          {"pca", "whiten=true"},
                                          {"ica", "iterations=20"},
                                          {"ica", "algorithm=deflation"}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        rb_metrics *metrics;
        rb_model *model = fit(p->ctx, source, ways[way][0], ways[way][1]);
        assert_int_equal(rb_model_dead(model), UNITS - 2);
        assert_ok(p->ctx, rb_evaluate(p->ctx, model, source, &metrics));
        assert_true(rb_metrics_get(metrics, "variance_explained") > 0.9999);
        assert_true(isfinite(rb_metrics_get(metrics, "log_likelihood")));
        assert_close(rb_metrics_get(metrics, "sparseness"), (double)(UNITS - 2) / UNITS, 1e-12);
        rb_metrics_free(metrics);
        rb_model_free(model);
    }
    rb_source_free(source);
    free(values);
}

/* Where nothing is left, so large a share of the mean variance stands for it. */
static void noise_has_a_floor(void **state) {
    struct fixture_problem *p = *state;
    double *values = two_causes(), total = 0;
    rb_source *source = fixture_data(p->ctx, values, N, M);
    for (int k = 0; k < M; k++) {
        double mean = 0;
        for (int i = 0; i < N; i++)
            mean += values[i * M + k] / N;
        for (int i = 0; i < N; i++)
            total += pow(values[i * M + k] - mean, 2) / N;
    }
    rb_model *model = fit(p->ctx, source, "pca", "precision=float64");
    assert_close(fixture_array(model, "noise")[0] / (1e-14 * total / M), 1, 1e-6);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

static rb_error stop_at(const rb_progress *progress, void *user) {
    return progress->iteration == *(const int64_t *)user ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* A fit that was stopped goes on from its checkpoint to the same bits. */
static void checkpoints_go_on(void **state) {
    struct fixture_problem *p = *state;
    static const char *const fits[][2] = {{"pca", "solver=randomized iterations=6 tolerance=0"},
                                          {"ica", "iterations=9"},
                                          {"ica", "algorithm=deflation iterations=30"}};
    char path[] = "/tmp/rarebit-pca-XXXXXX", settings[128];
    close(mkstemp(path));
    for (size_t f = 0; f < sizeof fits / sizeof *fits; f++) {
        int64_t at = 2;
        remove(path);
        snprintf(settings, sizeof settings, "%s checkpoint=%s", fits[f][1], path);
        rb_model *whole = fit(p->ctx, p->source, fits[f][0], settings);
        rb_context_on_progress(p->ctx, stop_at, &at);
        rb_model *stopped = fit(p->ctx, p->source, fits[f][0], settings);
        assert_int_equal(rb_model_status(stopped), RB_STATUS_STOPPED);
        assert_int_equal(rb_model_iterations(stopped), at);
        rb_context_on_progress(p->ctx, NULL, NULL);
        rb_model *gone_on = fit(p->ctx, p->source, fits[f][0], settings);
        assert_true(rb_model_iterations(gone_on) > at);
        assert_int_equal(rb_model_iterations(gone_on), rb_model_iterations(whole));
        assert_memory_equal(fixture_array(whole, "loadings"), fixture_array(gone_on, "loadings"),
                            M * UNITS * sizeof(double));
        rb_model_free(whole);
        rb_model_free(stopped);
        rb_model_free(gone_on);
    }
    remove(path);
}

/* Wherever memory ends, nothing leaks and nothing is half done. */
static void no_memory(void **state) {
    struct fixture_problem *p = *state;
    static const char *const fits[][2] = {{"pca", "solver=exact"},
                                          {"pca", "solver=randomized iterations=3"},
                                          {"ica", "iterations=3"},
                                          {"ica", "algorithm=deflation iterations=3"}};
    for (size_t f = 0; f < sizeof fits / sizeof *fits; f++) {
        rb_options *options;
        assert_ok(p->ctx, rb_options_new(p->ctx, fits[f][0], &options));
        assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "units=%d %s", UNITS, fits[f][1]));
        rb_model *model = fixture_model_at_last(p->ctx, options, p->source, 0);
        fixture_evaluate_at_last(p->ctx, model, p->source);
        rb_model_free(model);
        rb_options_free(options);
    }
}

static void refused(void **state) {
    struct fixture_problem *p = *state;
    rb_options *options;
    rb_model *model = NULL, *again = NULL;
    assert_ok(p->ctx, rb_options_new(p->ctx, "pca", &options));
    assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "units=%d", M + 1));
    assert_error(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model), RB_ERROR_ARGUMENT,
                 "at most 40 directions");
    assert_ok(p->ctx,
              rb_options_set_all(p->ctx, options, "units=%d", M)); /* all of them are fine */
    assert_ok(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model));
    assert_int_equal(rb_fit(p->ctx, options, p->source, model, &again), RB_ERROR_UNSUPPORTED);
    assert_null(again);
    rb_model_free(model);
    rb_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loadings_are_orthonormal),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(objective_never_falls),
        cmocka_unit_test(restarts_lead_to_the_exact_ones),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(exact_refuses_iterations),
        cmocka_unit_test(bits_are_the_same),
        cmocka_unit_test(noise_is_the_mean_of_what_is_left),
        cmocka_unit_test(noise_has_a_floor),
        cmocka_unit_test(likelihood_is_that_of_the_covariance),
        cmocka_unit_test(units_beyond_the_rank_are_dead),
        cmocka_unit_test(checkpoints_go_on),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(refused),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, fixture_teardown);
}
