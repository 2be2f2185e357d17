/* Factor models: the likelihood never falls, both solvers reach the same one, the posterior is what
 * integrals say, and the same fit comes from streamed, sparse and threaded data. */
#include "factors_test.h"

enum { N = 200, M = 12, UNITS = 2 };

static int setup(void **state) {
    double *values = fixture_values(N, M, 3, 1);
    for (int i = 0; i < N * M; i++)
        if (i % 5 == 0) values[i] = 0; /* so that there is something to leave out */
    *state = fixture_problem(values, N, M);
    return 0;
}

static rb_model *fit(rb_context *ctx, rb_source *source, const char *method, const char *text) {
    return fixture_text_model(ctx, method, source, NULL, "units=%d seed=1 %s", UNITS, text);
}

static double last_objective(const rb_model *model, rb_context *ctx) {
    double value, estep, seconds;
    assert_ok(ctx,
              rb_model_history(model, rb_model_iterations(model) - 1, &value, &estep, &seconds));
    return value;
}

static double metric(rb_context *ctx, const rb_model *model, rb_source *source, const char *name) {
    rb_metrics *metrics;
    assert_ok(ctx, rb_evaluate(ctx, model, source, &metrics));
    double value = rb_metrics_get(metrics, name);
    rb_metrics_free(metrics);
    return value;
}

/* Of all that promise it. */
static void objective_never_falls(void **state) {
    struct fixture_problem *p = *state;
    static const char *const methods[][2] = {
        {"fa", "solver=em"}, {"fa-laplace", ""}, {"fa-jeffreys", ""}, {"fa", "accelerate=squarem"}};
    for (int i = 0; i < 4; i++) {
        char text[128];
        double before = -INFINITY, value, estep, seconds;
        snprintf(text, sizeof text, "precision=float64 iterations=60 %s", methods[i][1]);
        rb_model *model = fit(p->ctx, p->source, methods[i][0], text);
        for (int64_t t = 0; t < rb_model_iterations(model); t++) {
            assert_ok(p->ctx, rb_model_history(model, t, &value, &estep, &seconds));
            assert_true(value >= before - 1e-10 * fabs(value));
            before = value;
        }
        rb_model_free(model);
    }
}

/* Of more units than lie in one row of what inverts eight pivots at a time. */
static void of_nine_units_it_never_falls(void **state) {
    struct fixture_problem *p = *state;
    double before = -INFINITY, value, estep, seconds;
    rb_model *model =
        fit(p->ctx, p->source, "fa-laplace", "units=9 precision=float64 iterations=40");
    for (int64_t t = 0; t < rb_model_iterations(model); t++) {
        assert_ok(p->ctx, rb_model_history(model, t, &value, &estep, &seconds));
        assert_true(value >= before - 1e-10 * fabs(value));
        before = value;
    }
    rb_model_free(model);
}

/* The same likelihood by both solvers, where it is stationary: C = W W' + Psi on the diagonal, and
 * (C - K) K^-1 W = 0, which W Sigma W' K^-1 v says by codes: W = C Psi^-1 W Sigma S^-1. */
static void solvers_agree(void **state) {
    struct fixture_problem *p = *state;
    rb_model *fast = fit(p->ctx, p->source, "fa", "precision=float64 iterations=300");
    rb_model *slow = fit(p->ctx, p->source, "fa", "precision=float64 iterations=4000 solver=em");
    assert_int_equal(rb_model_status(fast), RB_STATUS_CONVERGED); /* and goes on no longer */
    assert_close(last_objective(fast, p->ctx), last_objective(slow, p->ctx), 1e-8);
    assert_close(metric(p->ctx, fast, p->source, "log_likelihood"), last_objective(fast, p->ctx),
                 1e-9);
    const double *w = rb_model_array(fast, "loadings", NULL, NULL);
    const double *noise = rb_model_array(fast, "noise", NULL, NULL);
    const double *x = rb_model_array(slow, "loadings", NULL, NULL);
    for (int k = 0; k < M; k++) {
        double mean = 0, square = 0, model = noise[k];
        for (int i = 0; i < N; i++)
            mean += p->values[i * M + k] / N;
        for (int i = 0; i < N; i++)
            square += pow(p->values[i * M + k] - mean, 2) / N;
        for (int j = 0; j < UNITS; j++)
            model += w[k * UNITS + j] * w[k * UNITS + j];
        assert_close(model, square, 1e-8);
        for (int l = 0; l < M; l++) { /* W W', which does not know how W is turned */
            double one = 0, other = 0;
            for (int j = 0; j < UNITS; j++) {
                one += w[k * UNITS + j] * w[l * UNITS + j];
                other += x[k * UNITS + j] * x[l * UNITS + j];
            }
            assert_close(one, other, 1e-4);
        }
    }
    rb_model_free(fast);
    rb_model_free(slow);
}

/* Small numbers settle as late as large ones. */
static void rescaled_it_is_the_same(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p->ctx, p->source, "fa", "precision=float64 iterations=300");
    double *small = calloc(N * M, sizeof *small);
    for (int e = 0; e < N * M; e++)
        small[e] = ldexp(p->values[e], -12);
    rb_source *source = fixture_data(p->ctx, small, N, M);
    rb_model *other = fit(p->ctx, source, "fa", "precision=float64 iterations=300");
    assert_int_equal(rb_model_iterations(other), rb_model_iterations(model));
    const double *w = fixture_array(model, "loadings"), *x = fixture_array(other, "loadings");
    for (int e = 0; e < M * UNITS; e++)
        assert_close(ldexp(x[e], 12), w[e], 1e-10);
    rb_model_free(model);
    rb_model_free(other);
    rb_source_free(source);
    free(small);
}

/* Fewer samples than features: by a root of the covariance, to the same place. */
static void solvers_agree_on_few_samples(void **state) {
    struct fixture_problem *p = *state;
    rb_source *source = fixture_data(p->ctx, p->values, 25, 40);
    const char *const fast_options = "precision=float64 iterations=1000 noise-min=0.05";
    rb_model *fast = fit(p->ctx, source, "fa", fast_options);
    rb_model *slow =
        fit(p->ctx, source, "fa", "precision=float64 iterations=20000 noise-min=0.05 solver=em");
    double objective = last_objective(fast, p->ctx);
    assert_close(objective, metric(p->ctx, fast, source, "log_likelihood"), 1e-9);
    assert_close(objective, last_objective(slow, p->ctx), 1e-4);
    rb_model_free(fast);
    rb_model_free(slow);
    rb_source_free(source);
}

/* Where eigenvectors come from those of the iteration before, with more or fewer samples than
 * features; and for any number of threads. */
static void solvers_agree_on_large_matrices(void **state) {
    struct fixture_problem *p = *state;
    static const int shapes[][2] = {{150, 120}, {120, 150}};
    for (int c = 0; c < 2; c++) {
        int n = shapes[c][0], m = shapes[c][1];
        double *values = fixture_values(n, m, 3, 5);
        rb_source *source = fixture_data(p->ctx, values, n, m);
        const char *const text = "precision=float64 noise-min=0.05 iterations=2000";
        rb_model *fast = fit(p->ctx, source, "fa", text);
        rb_model *slow = fit(p->ctx, source, "fa",
                             "precision=float64 noise-min=0.05 iterations=20000 solver=em");
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 3));
        rb_model *threads = fit(p->ctx, source, "fa", text);
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 1));
        assert_int_equal(rb_model_status(fast), RB_STATUS_CONVERGED);
        assert_close(last_objective(fast, p->ctx), last_objective(slow, p->ctx), 1e-6);
        assert_int_equal(rb_model_checksum(fast), rb_model_checksum(threads));
        rb_model_free(fast);
        rb_model_free(slow);
        rb_model_free(threads);
        rb_source_free(source);
        free(values);
    }
}

/* ln of the integral of p(v | z) p(z) over a grid of two factors. */
static double integral(const rb_model *model, const double *v, double (*log_prior)(double)) {
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    const double step = 0.02, end = 8;
    double sum = 0, constant = 0;
    for (int k = 0; k < M; k++)
        constant -= log(2 * 3.14159265358979323846 * noise[k]) / 2;
    for (double a = -end; a <= end; a += step) {
        for (double b = -end; b <= end; b += step) {
            double value = log_prior(a) + log_prior(b);
            for (int k = 0; k < M; k++) {
                double rest = v[k] - w[k * UNITS] * a - w[k * UNITS + 1] * b;
                value -= rest * rest / (2 * noise[k]);
            }
            sum += exp(value + constant / 1) * step * step;
        }
    }
    return log(sum);
}

static double log_normal(double z) {
    return -z * z / 2 - log(2 * 3.14159265358979323846) / 2;
}

static double log_laplace(double z) {
    return -sqrt(2) * fabs(z) - log(2) / 2;
}

/* Laplacian up to 1, normal beyond; ln C by quadrature. */
static double log_fabia(double z) {
    const double total = 1.7466631649622646;
    return -(fabs(z) <= 1 ? fabs(z) : (z * z + 1) / 2) - log(total);
}

/* The likelihood is the integral; the bound is below it, and not far. */
static void likelihoods_are_integrals(void **state) {
    struct fixture_problem *p = *state;
    static const struct {
        const char *method, *metric;
        double (*prior)(double);
        double slack;
    } cases[] = {{"fa", "log_likelihood", log_normal, 1e-6},
                 {"fa-laplace", "log_likelihood_bound", log_laplace, 1},
                 {"fabia", "log_likelihood_bound", log_fabia, 1}};
    for (int c = 0; c < 3; c++) {
        rb_model *model = fit(p->ctx, p->source, cases[c].method,
                              "precision=float64 iterations=50 centre=none noise-min=0.05");
        for (int i = 0; i < 3; i++) {
            rb_source *source = fixture_data(p->ctx, p->values + i * M, 1, M);
            double value = metric(p->ctx, model, source, cases[c].metric);
            double truth = integral(model, p->values + i * M, cases[c].prior);
            assert_true(value <= truth + 1e-6);
            assert_true(value >= truth - cases[c].slack);
            rb_source_free(source);
        }
        rb_model_free(model);
    }
}

static rb_error give(void *user, int64_t first, int64_t count, void *rows) {
    const double *values = user;
    memcpy(rows, values + first * M, (size_t)(count * M) * sizeof *values);
    return RB_OK;
}

static void assert_same(const rb_model *a, const rb_model *b, double relative) {
    const double *w = rb_model_array(a, "loadings", NULL, NULL);
    const double *x = rb_model_array(b, "loadings", NULL, NULL);
    for (int i = 0; i < M * UNITS; i++)
        assert_close(w[i], x[i], relative);
}

static void any_form_of_data(void **state) {
    struct fixture_problem *p = *state;
    static const char *const methods[] = {"fa", "sfa", "fa-laplace", "fa-jeffreys", "fabia"};
    rb_source *stream, *sparse = fixture_sparse_data(p->ctx, p->values, N, M);
    assert_ok(p->ctx, rb_source_from_callback(p->ctx, RB_FLOAT64, N, M, give, p->values, &stream));
    for (int i = 0; i < 5; i++) {
        const char *text = "precision=float64 iterations=20";
        rb_model *model = fit(p->ctx, p->source, methods[i], text);
        rb_model *streamed = fit(p->ctx, stream, methods[i], text);
        rb_model *csr = fit(p->ctx, sparse, methods[i], text);
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 3));
        rb_model *threads = fit(p->ctx, p->source, methods[i], text);
        assert_ok(p->ctx, rb_context_set_threads(p->ctx, 1));
        assert_int_equal(rb_model_checksum(model), rb_model_checksum(streamed));
        assert_int_equal(rb_model_checksum(model), rb_model_checksum(threads));
        assert_same(model, csr, 1e-8);
        rb_model_free(model);
        rb_model_free(streamed);
        rb_model_free(csr);
        rb_model_free(threads);
    }
    rb_source_free(stream);
    rb_source_free(sparse);
}

/* The likelihoods of samples add up to that of all. */
static void likelihoods_are_of_samples(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p->ctx, p->source, "fa", "precision=float64 iterations=5");
    double of_each[N], sum = 0;
    rb_metrics *metrics;
    assert_ok(p->ctx, rb_evaluate_samples(p->ctx, model, p->source, of_each, &metrics));
    for (int i = 0; i < N; i++)
        sum += of_each[i];
    assert_close(sum, N * rb_metrics_get(metrics, "log_likelihood"), 1e-9);
    rb_metrics_free(metrics);
    rb_model_free(model);
}

/* A fit from noise variances below the least one begins with that: of each feature. */
static void starts_have_the_least_noise(void **state) {
    struct fixture_problem *p = *state;
    rb_model *start = fit(p->ctx, p->source, "fa", "precision=float64 iterations=3"), *models[2];
    for (int i = 0; i < 2; i++) {
        double *noise = (double *)fixture_array(start, "noise");
        for (int k = 0; k < M; k++) {
            double mean = 0, square = 0;
            for (int n = 0; n < N; n++) {
                mean += p->values[n * M + k] / N;
                square += p->values[n * M + k] * p->values[n * M + k] / N;
            }
            noise[k] = (i ? 0.5 : 0.3) * 0.6 * (square - mean * mean);
        }
        assert_ok(p->ctx, compare_try(p->ctx, "fa",
                                      "solver=em precision=float64 iterations=1 "
                                      "noise-min=0.6",
                                      p->source, start, &models[i]));
    }
    assert_same(models[0], models[1], 1e-12);
    rb_model_free(start);
    rb_model_free(models[0]);
    rb_model_free(models[1]);
}

/* || C - L L' - Psi || with the loadings that belong to the codes. */
static void assert_covariance_error(struct fixture_problem *p, const rb_model *model) {
    const double *w = fixture_array(model, "loadings"), *noise = fixture_array(model, "noise");
    double mean[M] = {0}, sum = 0;
    for (int e = 0; e < N * M; e++)
        mean[e % M] += p->values[e] / N;
    for (int k = 0; k < M; k++) {
        for (int l = 0; l < M; l++) {
            double rest = k == l ? -noise[k] : 0;
            for (int i = 0; i < N; i++)
                rest += (p->values[i * M + k] - mean[k]) * (p->values[i * M + l] - mean[l]) / N;
            for (int j = 0; j < UNITS; j++)
                rest -= w[k * UNITS + j] * w[l * UNITS + j];
            sum += rest * rest;
        }
    }
    assert_close(metric(p->ctx, model, p->source, "covariance_error"), sqrt(sum), 1e-9);
}

/* Codes of mean square 1, the same reconstruction, the same likelihood. */
static void codes_are_scaled(void **state) {
    struct fixture_problem *p = *state;
    rb_model *plain = fit(p->ctx, p->source, "fa", "precision=float64 solver=em");
    rb_model *scaled = fit(p->ctx, p->source, "fa", "precision=float64 solver=em normalize=rms");
    double *codes = fixture_codes(p->ctx, scaled, p->source), square = 0;
    for (int i = 0; i < N; i++)
        square += codes[i * UNITS] * codes[i * UNITS] / N;
    assert_close(square, 1, 1e-9);
    static const char *const metrics[] = {"log_likelihood", "reconstruction_error"};
    for (int i = 0; i < 2; i++)
        assert_close(metric(p->ctx, plain, p->source, metrics[i]),
                     metric(p->ctx, scaled, p->source, metrics[i]), 1e-9);
    assert_covariance_error(p, plain);
    assert_covariance_error(p, scaled);
    free(codes);
    rb_model_free(plain);
    rb_model_free(scaled);
}

/* Sums of an E-step by hand, for two factors: U and S times N, mean squares of the features, and
 * the sum of ln |Sigma_i| / 2. */
struct sums {
    double u[M][2], s[3], second[M], log_det;
};

/* From W, psi and Xi; square becomes E z^2. */
static void infer_by_hand(const double *x, const double *w, const double *psi, double xi[N][2],
                          double square[N][2], struct sums *sums) {
    *sums = (struct sums){.log_det = 0};
    for (int i = 0; i < N; i++) {
        double q[2] = {0, 0}, g[3] = {1 / xi[i][0], 0, 1 / xi[i][1]};
        for (int k = 0; k < M; k++) {
            const double *row = w + 2 * k;
            g[0] += row[0] * row[0] / psi[k];
            g[1] += row[0] * row[1] / psi[k];
            g[2] += row[1] * row[1] / psi[k];
            for (int j = 0; j < 2; j++)
                q[j] += row[j] / psi[k] * x[i * M + k];
        }
        double det = g[0] * g[2] - g[1] * g[1];
        double mu[2] = {(g[2] * q[0] - g[1] * q[1]) / det, (g[0] * q[1] - g[1] * q[0]) / det};
        square[i][0] = g[2] / det + mu[0] * mu[0];
        square[i][1] = g[0] / det + mu[1] * mu[1];
        sums->log_det -= log(det) / 2;
        sums->s[0] += square[i][0];
        sums->s[1] += mu[0] * mu[1] - g[1] / det;
        sums->s[2] += square[i][1];
        for (int k = 0; k < M; k++) {
            sums->second[k] += x[i * M + k] * x[i * M + k] / N;
            for (int j = 0; j < 2; j++)
                sums->u[k][j] += x[i * M + k] * mu[j];
        }
    }
}

/* Row k of U S^-1, each loading closer to 0 by `decay`. */
static void maximise_by_hand(const struct sums *sums, int k, double decay, double *row) {
    const double *s = sums->s, *u = sums->u[k];
    double det = s[0] * s[2] - s[1] * s[1];
    double free[2] = {(s[2] * u[0] - s[1] * u[1]) / det, (s[0] * u[1] - s[1] * u[0]) / det};
    for (int j = 0; j < 2; j++)
        row[j] = copysign(fmax(fabs(free[j]) - decay, 0), free[j]);
}

/* So many steps from a model of the same method, by the library. */
static rb_model *step_on(struct fixture_problem *p, const char *method, int steps, const char *text,
                         const rb_model *first) {
    return fixture_text_model(p->ctx, method, p->source, first,
                              "units=%d precision=float64 iterations=%d normalize=none "
                              "%s",
                              UNITS, steps, text);
}

static void assert_parameters(const rb_model *model, const double *w, const double *noise) {
    const double *got = fixture_array(model, "loadings"), *psi = fixture_array(model, "noise");
    for (int e = 0; e < M * UNITS; e++)
        assert_true(fabs(got[e] - w[e]) <= 1e-9);
    for (int k = 0; k < M; k++)
        assert_close(psi[k], noise[k], 1e-9);
}

/* Two steps of EM with the noise of the loadings after their decay, and what they make of the
 * bound: Xi is 1 at first (and stays so where factors are normal), then what E z^2 says. */
static void takes_its_steps(struct fixture_problem *p, const char *method, double share,
                            double noise_min) {
    static double xi[N][2], square[N][2];
    double w[M * UNITS], psi[M], bound = 0, decayed = 0;
    bool laplace = strcmp(method, "fa-laplace") == 0, normal = strcmp(method, "sfa") == 0;
    char text[96];
    struct sums sums;
    rb_model *first =
        fit(p->ctx, p->source, method, "precision=float64 iterations=5 normalize=none centre=none");
    memcpy(w, fixture_array(first, "loadings"), sizeof w);
    memcpy(psi, fixture_array(first, "noise"), sizeof psi);
    for (int i = 0; i < N; i++)
        xi[i][0] = xi[i][1] = 1;
    infer_by_hand(p->values, w, psi, xi, square, &sums);
    for (int k = 0; k < M; k++) /* a model to start from may have had another */
        psi[k] = fmax(psi[k], noise_min * sums.second[k]);
    for (int step = 0; step < 2; step++) {
        infer_by_hand(p->values, w, psi, xi, square, &sums);
        bound = sums.log_det / N + UNITS * (1 + log(2 * M_PI)) / 2;
        for (int e = 0; e < N * UNITS; e++) {
            double s = square[e / 2][e % 2], *x = &xi[e / 2][e % 2];
            double next = normal ? 1 : laplace ? sqrt(s / 2) : s;
            double constant = normal    ? -log(2 * M_PI) / 2
                              : laplace ? -log(2) / 2 - next
                                        : 0.5 - log(next) / 2;
            bound += (constant - s / (2 * next)) / N;
            *x = next;
        }
        for (int k = 0; k < M; k++) {
            double *row = w + 2 * k, by = share * sqrt(sums.second[k]), error = sums.second[k];
            maximise_by_hand(&sums, k, by, row);
            for (int j = 0; j < 2; j++)
                error += row[j] * (row[j] * sums.s[2 * j] - 2 * sums.u[k][j]) / N;
            error += 2 * row[0] * row[1] * sums.s[1] / N;
            decayed += row[0] == 0 || row[1] == 0;
            psi[k] = fmax(error, noise_min * sums.second[k]);
            bound -= (log(2 * M_PI * psi[k]) + error / psi[k]) / 2;
        }
    }
    snprintf(text, sizeof text, "noise-min=%g", noise_min);
    if (normal) snprintf(text, sizeof text, "noise-min=%g weight-decay=%g", noise_min, share);
    rb_model *second = step_on(p, method, 2, text, first);
    assert_parameters(second, w, psi);
    assert_close(last_objective(second, p->ctx), bound, 1e-9);
    assert_true(share == 0 || decayed > 0);
    rb_model_free(first);
    rb_model_free(second);
}

static void sparse_methods_take_their_steps(void **state) {
    takes_its_steps(*state, "sfa", 0.05, 1e-4);
    takes_its_steps(*state, "sfa", 0.05, 0.4);
    takes_its_steps(*state, "fa-laplace", 0, 0.3);
    takes_its_steps(*state, "fa-jeffreys", 0, 1e-4);
}

/* All Xi = 1: one step of FABIA by its equations. */
static void fabia_takes_its_step(void **state) {
    static double xi[N][2], square[N][2];
    struct fixture_problem *p = *state;
    double next[M * UNITS], noise[M];
    struct sums sums;
    rb_model *first = fit(p->ctx, p->source, "fabia",
                          "precision=float64 iterations=5 normalize=none centre=none");
    for (int i = 0; i < N; i++)
        xi[i][0] = xi[i][1] = 1;
    const double *psi = fixture_array(first, "noise");
    infer_by_hand(p->values, fixture_array(first, "loadings"), psi, xi, square, &sums);
    sums.s[0] += 1e-3;
    sums.s[2] += 1e-3;
    for (int k = 0; k < M; k++) {
        double size = sqrt(1.349 * sqrt(sums.second[k])), *row = next + 2 * k;
        maximise_by_hand(&sums, k, 0.05 * psi[k] / size, row);
        noise[k] = sums.second[k] - (row[0] * sums.u[k][0] + row[1] * sums.u[k][1]) / N;
        noise[k] = fmax(noise[k], 1e-3 * size * size);
    }
    rb_model *second = step_on(p, "fabia", 1, "weight-decay=0.05", first);
    assert_parameters(second, next, noise);
    rb_model_free(first);
    rb_model_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(objective_never_falls),
                                       cmocka_unit_test(of_nine_units_it_never_falls),
                                       cmocka_unit_test(solvers_agree),
                                       cmocka_unit_test(rescaled_it_is_the_same),
                                       cmocka_unit_test(likelihoods_are_integrals),
                                       cmocka_unit_test(any_form_of_data),
                                       cmocka_unit_test(codes_are_scaled),
                                       cmocka_unit_test(starts_have_the_least_noise),
                                       cmocka_unit_test(likelihoods_are_of_samples),
                                       cmocka_unit_test(fabia_takes_its_step),
                                       cmocka_unit_test(sparse_methods_take_their_steps),
                                       cmocka_unit_test(solvers_agree_on_few_samples),
                                       cmocka_unit_test(solvers_agree_on_large_matrices)};
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
