/* Missing values integrated out: codes and likelihood against the Gaussian conditional and marginal
 * of the values that are there; the objective never falls; what lacks nothing is as it always was.
 */
#include "fixture.h"
#include "rfn/patterns.h"

#include <string.h>

/* ---- small models against direct conditioning ---- */

enum { M = 3, L = 2, N = 64 };

/* x = A^-1 b by elimination, and ln |A|; A (size x size) is lost. */
static double solve(int size, double *a, double *b) {
    double log_det = 0;
    for (int j = 0; j < size; j++) {
        log_det += log(a[j * size + j]);
        for (int i = j + 1; i < size; i++) {
            double factor = a[i * size + j] / a[j * size + j];
            for (int c = j; c < size; c++)
                a[i * size + c] -= factor * a[j * size + c];
            b[i] -= factor * b[j];
        }
    }
    for (int j = size - 1; j >= 0; j--) {
        for (int c = j + 1; c < size; c++)
            b[j] -= a[j * size + c] * b[c];
        b[j] /= a[j * size + j];
    }
    return log_det;
}

struct small {
    double w[M][L], noise[M], mean[L], covariance[L][L]; /* W, Psi, xi, prior covariance */
};

/* The conditional of h given the values that are there, from their joint Gaussian, and the log
 * density of these. */
static double condition(const struct small *s, const double *v, double *mean,
                        double covariance[L][L]) {
    int there[M], size = 0;
    double wm[M][L] = {{0}}, k[M * M], b[M], density = 0;
    for (int d = 0; d < M; d++)
        if (!isnan(v[d])) there[size++] = d;
    for (int d = 0; d < M; d++)
        for (int j = 0; j < L; j++)
            for (int c = 0; c < L; c++)
                wm[d][j] += s->w[d][c] * s->covariance[c][j];
    for (int side = -1; side < L; side++) { /* v - W xi, then the columns of W M */
        for (int a = 0; a < size; a++) {
            b[a] = side >= 0 ? wm[there[a]][side] : v[there[a]];
            for (int j = 0; side < 0 && j < L; j++)
                b[a] -= s->w[there[a]][j] * s->mean[j];
            for (int c = 0; c < size; c++) {
                k[a * size + c] = a == c ? s->noise[there[a]] : 0;
                for (int j = 0; j < L; j++)
                    k[a * size + c] += wm[there[a]][j] * s->w[there[c]][j];
            }
        }
        double known[M];
        memcpy(known, b, sizeof known);
        double log_det = solve(size, k, b);
        for (int a = 0; side < 0 && a < size; a++)
            density -= known[a] * b[a] / 2;
        if (side < 0) density -= (size * log(2 * M_PI) + log_det) / 2;
        for (int j = 0; j < L; j++) {
            double sum = 0;
            for (int a = 0; a < size; a++)
                sum += wm[there[a]][j] * b[a];
            if (side < 0)
                mean[j] = s->mean[j] + sum;
            else
                covariance[j][side] = s->covariance[j][side] - sum;
        }
    }
    return density;
}

static rb_model *fit(rb_context *ctx, rb_source *source, const rb_rfn_options *options,
                     const rb_fit_options *run, int missing) {
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.missing = missing;
    return fixture_model(ctx, "rfn", options, run, &preprocess, source, NULL);
}

/* Some of the values become NaN; every fourth sample keeps all, the first one loses them. */
static void punch(double *values, int64_t n, int64_t m, double share, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; e < n * m; e++) {
        bool missing = rb_draw_uniform(&draws) < share && e / m % 4 != 3;
        if (missing || e < m) values[e] = NAN;
    }
}

static void load(const rb_model *model, struct small *s) {
    memcpy(s->w, rb_model_array(model, "loadings", NULL, NULL), sizeof s->w);
    memcpy(s->noise, rb_model_array(model, "noise", NULL, NULL), sizeof s->noise);
    memcpy(s->mean, rb_model_array(model, "prior_mean", NULL, NULL), sizeof s->mean);
    memcpy(s->covariance, rb_model_array(model, "prior_covariance", NULL, NULL),
           sizeof s->covariance);
}

/* a' S^-1 a; ln |S| in *log_det. */
static double quadratic(double matrix[L][L], const double *a, double *log_det) {
    double s[L * L], x[L], sum = 0;
    memcpy(s, matrix, sizeof s);
    memcpy(x, a, sizeof x);
    *log_det = solve(L, s, x);
    for (int j = 0; j < L; j++)
        sum += a[j] * x[j];
    return sum;
}

/* What evaluate tells of samples that lack values: sums over samples, by their posteriors. */
struct told {
    double estep, divergence, squares, values;
};

/* The codes have the posterior's covariance; the divergence is that from the prior. */
static void tell(struct small *s, const double *v, const double *codes, const double *mean,
                 double sigma[L][L], struct told *t) {
    double apart[L], away[L], log_sigma, log_prior, trace = 0;
    for (int j = 0; j < L; j++) {
        double unit[L] = {0}, sum[L], plus, minus, ignored;
        apart[j] = codes[j] - mean[j];
        away[j] = codes[j] - s->mean[j];
        for (int c = 0; c < L; c++) { /* (M^-1 Sigma)_jj by polarisation */
            unit[c] = c == j;
            sum[c] = sigma[c][j] + unit[c];
        }
        plus = quadratic(s->covariance, sum, &ignored);
        for (int c = 0; c < L; c++)
            sum[c] = sigma[c][j] - unit[c];
        minus = quadratic(s->covariance, sum, &ignored);
        trace += (plus - minus) / 4;
    }
    t->estep += quadratic(sigma, apart, &log_sigma);
    t->divergence += (trace + quadratic(s->covariance, away, &log_prior) - L) / 2;
    t->divergence += (log_prior - log_sigma) / 2;
    for (int k = 0; k < M; k++) {
        double error = v[k];
        for (int j = 0; j < L; j++)
            error -= s->w[k][j] * codes[j];
        if (isnan(error)) continue;
        t->squares += error * error;
        t->values++;
    }
}

static void equal_to_conditioning(void **state) {
    static const double covariance[L * L] = {1.5, 0.4, 0.4, 0.8};
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 2, 4);
    rb_matrix *m;
    punch(values, N, M, 0.4, 6);
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, L, L, covariance, L, 1, &m));
    rb_rfn_options options = fixture_rfn(L, RB_RFN_NORMALIZE_NONE);
    options.prior_mean.value = 0.7;
    options.prior_covariance.matrix = m;
    rb_fit_options run = fixture_fit(20, RB_FLOAT64);
    rb_model *model = fit(ctx, source, &options, &run, RB_MISSING_MODEL);
    struct small s;
    load(model, &s);
    double *codes = fixture_codes(ctx, model, source), likelihood = 0;
    const rb_preprocess *p = model->preprocess;
    struct told told = {0};
    for (int64_t i = 0; i < N; i++) {
        double v[M], mean[L], sigma[L][L];
        for (int k = 0; k < M; k++)
            v[k] = (values[i * M + k] - p->centre[k]) / p->scale[k];
        likelihood += condition(&s, v, mean, sigma) / N;
        for (int j = 0; j < L; j++)
            assert_close(codes[i * L + j], fmax(0, mean[j]), 1e-10);
        tell(&s, v, codes + i * L, mean, sigma, &told);
    }
    rb_metrics *metrics;
    assert_ok(ctx, rb_evaluate(ctx, model, source, &metrics));
    assert_close(rb_metrics_get(metrics, "log_likelihood"), likelihood, 1e-10);
    assert_close(rb_metrics_get(metrics, "objective"), likelihood - told.estep / N / 2, 1e-9);
    assert_close(rb_metrics_get(metrics, "estep_objective"), told.estep / N, 1e-9);
    assert_close(rb_metrics_get(metrics, "divergence"), told.divergence / N, 1e-9);
    assert_close(rb_metrics_get(metrics, "mean_squared_error"), told.squares / told.values, 1e-9);
    assert_close(rb_metrics_get(metrics, "reconstruction_error"), sqrt(told.squares), 1e-9);
    assert_close(rb_metrics_get(metrics, "objective"),
                 -rb_metrics_get(metrics, "energy") - rb_metrics_get(metrics, "divergence"), 1e-10);
    rb_metrics_free(metrics);
    rb_model_free(model);
    free(codes);
    free(values);
    rb_source_free(source);
    rb_matrix_free(m);
}

/* The minimum of 1/2 x'Hx - q'x over x >= 0 without the units that are dead, of all supports. */
static void minimise(double h[L][L], const double *q, const double *dead, double best[L]) {
    double lowest = 0;
    memset(best, 0, L * sizeof *best);
    for (int support = 1; support < 1 << L; support++) {
        double part[L * L], x[L], value = 0;
        bool feasible = true;
        for (int j = 0; j < L; j++) {
            bool in = support >> j & 1;
            x[j] = in ? q[j] : 0;
            feasible = feasible && !(in && dead[j]);
            for (int c = 0; c < L; c++)
                part[j * L + c] = in && support >> c & 1 ? h[j][c] : j == c;
        }
        solve(L, part, x);
        for (int j = 0; j < L; j++) {
            feasible = feasible && x[j] >= 0;
            value -= q[j] * x[j] / 2;
        }
        if (feasible && value < lowest) {
            lowest = value;
            memcpy(best, x, sizeof x);
        }
    }
}

/* Codes with multipliers minimise 1/2 mu'(P_o + diag tau) mu - Q_o mu over mu >= 0, without the
 * multipliers below 0 where that is not positive definite; dead units have none, and no say. */
static void equal_to_the_minimum(void **state) {
    static const double loadings[M][L] = {{1, -0.5}, {-2, 0.3}, {0.2, 4}}, noise[M] = {0.5, 1, 2};
    static const double tau[][L] = {{0.3, 0.5}, {-6, 0.5}, {0.5, -8.5}},
                        dead[][L] = {{0, 0}, {1, 0}, {0, 1}};
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 2, 4);
    punch(values, N, M, 0.4, 6);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = fixture_rfn(L, RB_RFN_NORMALIZE_RMS);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    rb_fit_options run = fixture_fit(2, RB_FLOAT64);
    rb_model *model = fit(ctx, source, &options, &run, RB_MISSING_MODEL);
    struct small s = {.covariance = {{1, 0}, {0, 1}}};
    memcpy(s.w, loadings, sizeof loadings);
    memcpy(s.noise, noise, sizeof noise);
    memcpy((double *)fixture_array(model, "loadings"), loadings, sizeof loadings);
    memcpy((double *)fixture_array(model, "noise"), noise, sizeof noise);
    int indefinite = 0;
    for (int c = 0; c < 9; c++) {
        memcpy((double *)fixture_array(model, "multipliers"), tau[c / 3], sizeof *tau);
        memcpy((double *)fixture_array(model, "dead"), dead[c % 3], sizeof *dead);
        double *codes = fixture_codes(ctx, model, source);
        for (int64_t i = 0; i < N; i++) {
            const rb_preprocess *p = model->preprocess;
            double v[M], mean[L], sigma[L][L], q[L], x[L];
            bool lacks = false;
            for (int k = 0; k < M; k++) {
                v[k] = (values[i * M + k] - p->centre[k]) / p->scale[k];
                lacks = lacks || isnan(v[k]);
            }
            if (!lacks) continue;
            condition(&s, v, mean, sigma);
            double det = sigma[0][0] * sigma[1][1] - sigma[0][1] * sigma[1][0];
            double h[L][L] = {{sigma[1][1] / det, -sigma[0][1] / det},
                              {-sigma[1][0] / det, sigma[0][0] / det}};
            for (int j = 0; j < L; j++)
                q[j] = h[j][0] * mean[0] + h[j][1] * mean[1];
            double a = h[0][0] + tau[c / 3][0], b = h[1][1] + tau[c / 3][1];
            bool first = !dead[c % 3][0], second = !dead[c % 3][1];
            bool definite = (!first || a > 0) && (!second || b > 0) &&
                            (!first || !second || a * b > h[0][1] * h[0][1]);
            for (int j = 0; j < L; j++)
                h[j][j] += definite ? tau[c / 3][j] : fmax(0, tau[c / 3][j]);
            indefinite += !definite;
            minimise(h, q, dead[c % 3], x);
            for (int j = 0; j < L; j++)
                assert_close(codes[i * L + j], x[j], 1e-9);
        }
        free(codes);
    }
    assert_in_range(indefinite, N / 2, 8 * N);
    rb_model_free(model);
    free(values);
    rb_source_free(source);
}

/* Covariances of patterns, and their determinants. */
static void covariances_of_patterns(void **state) {
    rb_context *ctx = *state;
    struct small s = {{{1, 0.5}, {-2, 0.3}, {0.2, 4}}, {0.5, 1, 2}, {0}, {{1, 0}, {0, 1}}};
    rfn_parameters p;
    assert_ok(ctx, rfn_parameters_new(ctx, RB_FLOAT64, M, L, &p));
    memcpy(p.loadings.data, s.w, sizeof s.w);
    memcpy(p.noise, s.noise, sizeof s.noise);
    double masks[8 * M], precisions[8 * 3], covariances[8 * 3], log_dets[8];
    for (int e = 0; e < 8 * M; e++)
        masks[e] = e / M >> e % M & 1;
    rb_scratch scratch = {.ctx = ctx};
    rfn_pattern_work work;
    rb_dense to = {precisions, 8, 3, 3, RB_FLOAT64}, sigma = {covariances, 8, 3, 3, RB_FLOAT64};
    rfn_pattern_work_take(&scratch, RB_FLOAT64, M, L, &work);
    assert_ok(ctx, scratch.err);
    rfn_precisions(ctx, &p, (rb_dense){masks, 8, M, M, RB_FLOAT64}, &work, to);
    assert_ok(ctx, rfn_covariances(ctx, to, &work, sigma, log_dets));
    for (int g = 0; g < 8; g++) {
        double v[M], mean[L], expected[L][L];
        for (int k = 0; k < M; k++)
            v[k] = masks[g * M + k] != 0 ? 1 : NAN;
        condition(&s, v, mean, expected);
        assert_close(covariances[g * 3], expected[0][0], 1e-12);
        assert_close(covariances[g * 3 + 1], expected[1][0], 1e-12);
        assert_close(covariances[g * 3 + 2], expected[1][1], 1e-12);
        double det = expected[0][0] * expected[1][1] - expected[0][1] * expected[1][0];
        assert_close(log_dets[g], log(det), 1e-11);
    }
    assert_ok(ctx, rb_scratch_end(&scratch));
    rfn_parameters_free(&p);
}

/* ---- fits ---- */

struct data {
    double *values;
    int64_t n, m;
    rb_source *source;
};

static void make_data(rb_context *ctx, int64_t n, int64_t m, double share, struct data *d) {
    *d = (struct data){.values = fixture_values(n, m, 3, 8), .n = n, .m = m};
    if (share > 0) punch(d->values, n, m, share, 9);
    d->source = fixture_data(ctx, d->values, n, m);
}

static void free_data(struct data *d) {
    rb_source_free(d->source);
    free(d->values);
}

static double objective_of(const rb_model *model, int64_t t) {
    double objective, o, seconds;
    rb_model_history(model, t, &objective, &o, &seconds);
    return objective;
}

/* F of the fit is that of evaluate where both know the same parameters, and never falls. */
static void objective_never_falls(void **state) {
    static const double etas[] = {0.1, 0.5, 1};
    rb_context *ctx = *state;
    struct data d;
    make_data(ctx, 60, 20, 0.3, &d);
    for (int index = 0; index < 24; index++) {
        rb_rfn_options options = fixture_rfn(
            index % 2 ? 5 : 30, index / 2 % 2 ? RB_RFN_NORMALIZE_NONE : RB_RFN_NORMALIZE_RMS);
        options.estep = index / 4 % 2 ? RB_RFN_ESTEP_GRADIENT : RB_RFN_ESTEP_CYCLIC;
        options.eta = etas[index / 8];
        rb_fit_options run = fixture_fit(100, RB_FLOAT64);
        run.accelerate = index == 9 ? RB_ACCELERATE_SQUAREM : RB_ACCELERATE_NONE;
        rb_model *model = fit(ctx, d.source, &options, &run, RB_MISSING_MODEL);
        for (int64_t t = 2; t < rb_model_iterations(model); t++) {
            double now = objective_of(model, t), before = objective_of(model, t - 1);
            if (now < before - 1e-10 * fabs(before))
                fail_msg("case %d, iteration %d: %.15g after %.15g", index, (int)t, now, before);
        }
        rb_metrics *metrics;
        assert_ok(ctx, rb_evaluate(ctx, model, d.source, &metrics));
        double exact = rb_metrics_get(metrics, "objective");
        assert_true(exact >= objective_of(model, rb_model_iterations(model) - 1) - 1e-9);
        rb_metrics_free(metrics);
        rb_model_free(model);
    }
    free_data(&d);
}

static void assert_same_bits(const rb_model *a, const rb_model *b) {
    static const char *const names[] = {"loadings", "noise", "scale", "dead"};
    for (int i = 0; i < 4; i++)
        fixture_same_array(a, b, names[i]);
}

/* Where nothing is missing the option does nothing; and samples that lack nothing have the codes
 * that they have among others that do not either. */
static void nothing_missing(void **state) {
    enum { ROWS = 200, COLUMNS = 15, UNITS = 4 };
    rb_context *ctx = *state;
    struct data whole, holes;
    make_data(ctx, ROWS, COLUMNS, 0, &whole);
    make_data(ctx, ROWS, COLUMNS, 0.3, &holes);
    for (int estep = 0; estep < 2; estep++) {
        rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
        options.estep = estep ? RB_RFN_ESTEP_CYCLIC : RB_RFN_ESTEP_NEWTON;
        rb_fit_options run = fixture_fit(20, RB_FLOAT32);
        rb_model *plain = fit(ctx, whole.source, &options, &run, RB_MISSING_REFUSE);
        rb_model *model = fit(ctx, whole.source, &options, &run, RB_MISSING_MODEL);
        assert_same_bits(plain, model);
        double *a = fixture_codes(ctx, plain, whole.source);
        double *b = fixture_codes(ctx, model, whole.source);
        double *c = fixture_codes(ctx, model, holes.source);
        assert_memory_equal(a, b, ROWS * UNITS * sizeof *a);
        for (int64_t i = 3; i < ROWS; i += 4)
            for (int64_t j = i * UNITS; j < (i + 1) * UNITS; j++)
                assert_close(c[j], a[j], estep ? 5e-5 : 0);
        assert_ok(ctx, rb_model_omit_missing(ctx, plain)); /* a model of whole data */
        double *e = fixture_codes(ctx, plain, holes.source);
        assert_memory_equal(c, e, ROWS * UNITS * sizeof *a);
        free(a);
        free(b);
        free(c);
        free(e);
        rb_model_free(plain);
        rb_model_free(model);
    }
    free_data(&whole);
    free_data(&holes);
}

/* Sparse samples that lack values, centred, have the fit of the same numbers with their zeros. */
static void sparse_samples(void **state) {
    enum { ROWS = 150, COLUMNS = 20, UNITS = 3 };
    static double numbers[ROWS * COLUMNS], stored[ROWS * COLUMNS];
    static int64_t starts[ROWS + 1];
    static int32_t columns[ROWS * COLUMNS];
    rb_context *ctx = *state;
    double *drawn = fixture_values(ROWS, COLUMNS, UNITS, 29);
    for (int64_t e = 0; e < ROWS * COLUMNS; e++)
        numbers[e] = drawn[e] > 1 ? drawn[e] : 0;
    for (int64_t e = 5, at = 0; e < ROWS * COLUMNS; e++)
        if (numbers[e] != 0 && ++at % 7 == 0) numbers[e] = NAN;
    int64_t count = 0;
    for (int64_t e = 0; e < ROWS * COLUMNS; e++) {
        if (e % COLUMNS == 0) starts[e / COLUMNS] = count;
        if (numbers[e] == 0) continue;
        columns[count] = (int32_t)(e % COLUMNS);
        stored[count++] = numbers[e];
    }
    starts[ROWS] = count;
    assert_true(count < ROWS * COLUMNS * 3 / 10); /* blocks stay sparse */
    rb_matrix *matrices[2];
    rb_source *sources[2];
    assert_ok(ctx,
              rb_matrix_dense(ctx, RB_FLOAT64, ROWS, COLUMNS, numbers, COLUMNS, 1, &matrices[0]));
    assert_ok(ctx,
              rb_matrix_csr(ctx, RB_FLOAT64, ROWS, COLUMNS, starts, columns, stored, &matrices[1]));
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, rb_source_from_matrix(ctx, matrices[i], &sources[i]));
    for (int estep = 0; estep < 2; estep++) {
        rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
        options.estep = estep ? RB_RFN_ESTEP_CYCLIC : RB_RFN_ESTEP_NEWTON;
        rb_fit_options run = fixture_fit(10, RB_FLOAT64);
        rb_model *dense = fit(ctx, sources[0], &options, &run, RB_MISSING_MODEL);
        rb_model *sparse = fit(ctx, sources[1], &options, &run, RB_MISSING_MODEL);
        const double *a = rb_model_array(dense, "loadings", NULL, NULL);
        const double *b = rb_model_array(sparse, "loadings", NULL, NULL);
        for (int64_t e = 0; e < COLUMNS * UNITS; e++)
            assert_true(fabs(a[e] - b[e]) < 1e-9);
        rb_model_free(dense);
        rb_model_free(sparse);
    }
    for (int i = 0; i < 2; i++) {
        rb_source_free(sources[i]);
        rb_matrix_free(matrices[i]);
    }
    free(drawn);
}

/* scale^2 = variance of the codes before they are scaled + 1.01e-6, also with missing values. */
static void scales_are_deviations(void **state) {
    enum { ROWS = 100, UNITS = 4 };
    rb_context *ctx = *state;
    struct data d;
    make_data(ctx, ROWS, 12, 0.2, &d);
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_SD);
    rb_fit_options run = fixture_fit(20, RB_FLOAT64);
    rb_model *model = fit(ctx, d.source, &options, &run, RB_MISSING_MODEL);
    const double *scale = fixture_array(model, "scale");
    double *codes = fixture_codes(ctx, model, d.source);
    for (int j = 0; j < UNITS; j++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < ROWS; i++)
            mean += codes[i * UNITS + j] / ROWS;
        for (int i = 0; i < ROWS; i++)
            variance += pow(codes[i * UNITS + j] - mean, 2) / ROWS;
        assert_close(scale[j] * scale[j] * (1 - variance), 1.01e-6, 1e-9);
    }
    free(codes);
    rb_model_free(model);
    free_data(&d);
}

static rb_error give(void *user, int64_t first, int64_t count, void *rows) {
    const struct data *d = user;
    memcpy(rows, d->values + first * d->m, (size_t)(count * d->m) * sizeof *d->values);
    return RB_OK;
}

/* The same bits whatever the threads, and from a callback. */
static void same_bits(void **state) {
    (void)state;
    struct data d;
    rb_model *first = NULL;
    double *codes = NULL;
    rb_context *own = fixture_context();
    make_data(own, 2600, 30, 0.2, &d);
    for (int run_index = 0; run_index < 4; run_index++) {
        rb_context *ctx = fixture_context();
        assert_ok(ctx, rb_context_set_threads(ctx, run_index + 1));
        rb_source *source = d.source;
        if (run_index == 3)
            assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, d.n, d.m, give, &d, &source));
        rb_rfn_options options = fixture_rfn(6, RB_RFN_NORMALIZE_RMS);
        options.estep = RB_RFN_ESTEP_CYCLIC;
        rb_fit_options run = fixture_fit(6, RB_FLOAT32);
        rb_model *model = fit(ctx, source, &options, &run, RB_MISSING_MODEL);
        double *own_codes = fixture_codes(ctx, model, source);
        if (first) {
            assert_same_bits(first, model);
            assert_memory_equal(codes, own_codes, (size_t)d.n * 6 * sizeof *codes);
            rb_model_free(model);
            free(own_codes);
        } else {
            first = model;
            codes = own_codes;
        }
        if (run_index == 3) rb_source_free(source);
        rb_context_free(ctx);
    }
    rb_model_free(first);
    free(codes);
    free_data(&d);
    rb_context_free(own);
}

/* Codes of the fit are those of encode: E-step objectives agree. */
static void codes_of_the_fit(void **state) {
    rb_context *ctx = *state;
    struct data d;
    make_data(ctx, 90, 14, 0.3, &d);
    rb_rfn_options options = fixture_rfn(4, RB_RFN_NORMALIZE_RMS);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.estep_tolerance = 1e-9;
    rb_fit_options run = fixture_fit(2000, RB_FLOAT64);
    run.trace = true;
    rb_model *model = fit(ctx, d.source, &options, &run, RB_MISSING_MODEL);
    double objective, estep, seconds, *codes = fixture_codes(ctx, model, d.source);
    rb_model_history(model, rb_model_iterations(model) - 1, &objective, &estep, &seconds);
    rb_metrics *metrics;
    assert_ok(ctx, rb_evaluate(ctx, model, d.source, &metrics));
    assert_close(rb_metrics_get(metrics, "objective"), objective, 1e-4);
    assert_close(rb_metrics_get(metrics, "estep_objective"), estep, 1e-3);
    for (int j = 0; j < 4; j++) { /* feasible, as those of the fit */
        double squares = 0;
        for (int64_t i = 0; i < d.n; i++)
            squares += codes[i * 4 + j] * codes[i * 4 + j] / (double)d.n;
        assert_close(squares, 1, 1e-5);
    }
    rb_metrics_free(metrics);
    rb_model_free(model);
    free(codes);
    free_data(&d);
}

/* What does not go with missing values says so. */
static void refusals(void **state) {
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"batch-size=20", "a fit in batches cannot have missing"},
        {"noise=full", "full noise cannot have missing values; use"},
        {"dropout=0.1", "cannot have missing values; leave these options"},
        {"input-noise=masking input-noise-level=0.1", "`dropout` and `input-noise`"},
        {"activation=tanh", "with missing values the activation must be"},
        {"activation-threshold=0.1", "with missing values the activation must be"},
        {"estep=cascade", "must be cyclic, gradient or newton; choose"},
        {"estep=rosen", "must be cyclic, gradient or newton; choose"},
        {"missing=refuse", "is missing (NaN)"},
    };
    rb_context *ctx = *state;
    struct data d;
    make_data(ctx, 60, 10, 0.2, &d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rb_options *options;
        rb_model *model;
        assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
        assert_ok(ctx,
                  rb_options_set_all(ctx, options, "units=3 missing=model %s", cases[i].words));
        assert_true(rb_fit(ctx, options, d.source, NULL, &model) != RB_OK);
        if (!strstr(rb_context_error(ctx), cases[i].message))
            fail_msg("%s: %s", cases[i].words, rb_context_error(ctx));
        assert_null(model);
        rb_options_free(options);
    }
    free_data(&d);
}

/* A method that needs all values says so, under the name that was given. */
static void needs_all(void **state) {
    rb_context *ctx = *state;
    rb_method method = *rb_find_method(ctx, "rfn");
    method.name = "whole";
    method.missing = false;
    assert_ok(ctx, rb_context_add_method(ctx, &method));
    struct data d;
    make_data(ctx, 60, 10, 0.2, &d);
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, "whole", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "units=3 missing=model"));
    assert_error(ctx, rb_fit(ctx, options, d.source, NULL, &model), RB_ERROR_ARGUMENT,
                 "`missing` is 'model', but whole needs all");
    rb_options_free(options);
    free_data(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_conditioning),
        cmocka_unit_test(equal_to_the_minimum),
        cmocka_unit_test(covariances_of_patterns),
        cmocka_unit_test(objective_never_falls),
        cmocka_unit_test(scales_are_deviations),
        cmocka_unit_test(nothing_missing),
        cmocka_unit_test(sparse_samples),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(codes_of_the_fit),
        cmocka_unit_test(refusals),
        cmocka_unit_test(needs_all),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
