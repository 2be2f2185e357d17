/* Equations of RFN by brute force: posterior, objectives, metrics, both inverse forms. */
#include "fixture.h"
#include "rfn/posterior.h"

/* Inverse and log determinant of a small matrix by Gauss-Jordan with pivots on the diagonal. */
static double invert(double *a, int64_t n) {
    double log_det = 0;
    for (int64_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        log_det += log(pivot);
        a[p * n + p] = 1;
        for (int64_t j = 0; j < n; j++)
            a[p * n + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            double factor = a[i * n + p];
            if (i == p || factor == 0) continue;
            a[i * n + p] = 0;
            for (int64_t j = 0; j < n; j++)
                a[i * n + j] -= factor * a[p * n + j];
        }
    }
    return log_det;
}

enum covariance { IDENTITY, DIAGONAL, FULL };

/* A vector of l numbers and a covariance of l units, as a program gives them. */
struct drawn_prior {
    double mean[16], covariance[16 * 16];
    rb_matrix *mean_matrix, *covariance_matrix;
    rb_values xi, m;
};

static void draw_prior(rb_context *ctx, int64_t l, enum covariance kind, struct drawn_prior *d) {
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    *d = (struct drawn_prior){.m.value = 1};
    for (int64_t j = 0; j < l; j++)
        d->mean[j] = 0.5 * rb_draw_normal(&draws) - 0.3;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 1, l, d->mean, l, 1, &d->mean_matrix));
    d->xi.matrix = d->mean_matrix;
    if (kind == DIAGONAL) {
        for (int64_t j = 0; j < l; j++)
            d->covariance[j] = 0.3 + 2 * rb_draw_uniform(&draws);
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, l, 1, d->covariance, 1, 1,
                                       &d->covariance_matrix));
    } else if (kind == FULL) {
        double root[16 * 16];
        for (int64_t e = 0; e < l * l; e++)
            root[e] = rb_draw_normal(&draws);
        for (int64_t e = 0; e < l * l; e++) {
            d->covariance[e] = e / l == e % l ? 0.5 : 0;
            for (int64_t c = 0; c < l; c++)
                d->covariance[e] += root[e / l * l + c] * root[e % l * l + c] / (double)l;
        }
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, l, l, d->covariance, l, 1,
                                       &d->covariance_matrix));
    }
    d->m.matrix = d->covariance_matrix;
}

static void clear_prior(struct drawn_prior *d) {
    rb_matrix_free(d->mean_matrix);
    rb_matrix_free(d->covariance_matrix);
}

/* M_ab */
static double covariance_of(const rfn_parameters *p, int64_t a, int64_t b) {
    return rfn_prior_is_plain(&p->prior) ? a == b : rb_dense_get(p->prior.covariance, a, b);
}

/* M^-1 into out; its log determinant. */
static double prior_precision(const rfn_parameters *p, double *out) {
    int64_t l = p->loadings.cols;
    for (int64_t e = 0; e < l * l; e++)
        out[e] = covariance_of(p, e / l, e % l);
    return -invert(out, l);
}

/* Psi_ab */
static double noise_of(const rfn_parameters *p, int64_t a, int64_t b) {
    if (rfn_psi_is_full(&p->full)) return rb_dense_get(p->full.covariance, a, b);
    return a == b ? p->noise[a] : 0;
}

/* Psi^-1 into out. */
static void noise_precision(const rfn_parameters *p, double *out) {
    int64_t m = p->loadings.rows;
    for (int64_t e = 0; e < m * m; e++)
        out[e] = noise_of(p, e / m, e % m);
    invert(out, m);
}

static rfn_parameters draw_parameters(rb_context *ctx, int64_t m, int64_t l, enum covariance kind,
                                      bool full_noise) {
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    rfn_parameters p;
    assert_ok(ctx, rfn_parameters_new(ctx, RB_FLOAT64, m, l, &p));
    for (int64_t k = 0; k < m; k++) {
        p.noise[k] = 0.2 + rb_draw_uniform(&draws);
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(p.loadings, k, j, rb_draw_normal(&draws));
    }
    if (full_noise) {
        assert_ok(ctx, rfn_psi_new(ctx, m, l, &p.full));
        for (int64_t e = 0; e < m * m; e++) {
            double near = pow(-0.5, fabs((double)(e / m - e % m)));
            rb_dense_set(p.full.covariance, e / m, e % m,
                         sqrt(p.noise[e / m] * p.noise[e % m]) * near);
        }
        for (int64_t k = 0; k < m; k++)
            p.noise[k] = rb_dense_get(p.full.covariance, k, k);
        assert_ok(ctx, rfn_psi_factor(ctx, &p.full));
    }
    struct drawn_prior prior;
    draw_prior(ctx, l, kind, &prior);
    assert_ok(ctx, rfn_prior_choose(ctx, RB_FLOAT64, l, &prior.xi, &prior.m, &p.prior));
    clear_prior(&prior);
    return p;
}

/* Psi^-1 W, m x l */
static void weighted_loadings(const rfn_parameters *p, double *out) {
    int64_t m = p->loadings.rows, l = p->loadings.cols;
    double *inverse = calloc((size_t)(m * m), sizeof *inverse);
    noise_precision(p, inverse);
    for (int64_t e = 0; e < m * l; e++) {
        out[e] = 0;
        for (int64_t k = 0; k < m; k++)
            out[e] += inverse[e / l * m + k] * rb_dense_get(p->loadings, k, e % l);
    }
    free(inverse);
}

/* P = M^-1 + W' Psi^-1 W, l x l */
static void precision(const rfn_parameters *p, double *out) {
    int64_t m = p->loadings.rows, l = p->loadings.cols;
    double *weighted = calloc((size_t)(m * l), sizeof *weighted);
    prior_precision(p, out);
    weighted_loadings(p, weighted);
    for (int64_t e = 0; e < l * l; e++)
        for (int64_t k = 0; k < m; k++)
            out[e] += rb_dense_get(p->loadings, k, e / l) * weighted[k * l + e % l];
    free(weighted);
}

/* Sigma = P^-1, B = Psi^-1 W Sigma, bias = Sigma M^-1 xi: by definition, whichever form is taken.
 */
static void posterior_by_definition(int64_t m, int64_t l, enum covariance kind, bool full_noise) {
    rb_context *ctx = fixture_context();
    rfn_parameters p = draw_parameters(ctx, m, l, kind, full_noise);
    double *weighted = calloc((size_t)(m * l), sizeof *weighted);
    weighted_loadings(&p, weighted);
    rfn_posterior posterior;
    rb_dense work;
    double *sigma = calloc((size_t)(l * l), sizeof *sigma);
    double *before = calloc((size_t)(l * l), sizeof *before);
    assert_close(p.prior.log_det, -prior_precision(&p, before), 1e-12);
    assert_ok(ctx, rfn_posterior_new(ctx, RB_FLOAT64, m, l, &posterior));
    assert_ok(ctx, rb_dense_new(ctx, RB_FLOAT64, m, l, &work));
    assert_ok(ctx, rfn_posterior_compute(ctx, &p, work, &posterior));
    precision(&p, sigma);
    assert_close(posterior.log_det, -invert(sigma, l), 1e-11);
    for (int64_t a = 0; a < l; a++) {
        double bias = 0;
        for (int64_t b = 0; b < l; b++) {
            assert_close(rb_dense_get(posterior.sigma, a, b), sigma[a * l + b], 1e-11);
            for (int64_t c = 0; c < l; c++)
                bias += sigma[a * l + b] * before[b * l + c] * p.prior.mean[c];
        }
        assert_close(rb_get(RB_FLOAT64, posterior.bias, a), bias, 1e-11);
        for (int64_t k = 0; k < m; k++) {
            double filter = 0;
            for (int64_t b = 0; b < l; b++)
                filter += weighted[k * l + b] * sigma[b * l + a];
            assert_close(rb_dense_get(posterior.filter, k, a), filter, 1e-11);
        }
    }
    free(sigma);
    free(before);
    free(weighted);
    rb_dense_free(&work);
    rfn_posterior_free(&posterior);
    rfn_parameters_free(&p);
    rb_context_free(ctx);
}

static void posterior_forms(void **state) {
    (void)state;
    for (enum covariance kind = IDENTITY; kind <= FULL; kind++) {
        posterior_by_definition(9, 4, kind, false);
        posterior_by_definition(9, 4, kind, true);
        posterior_by_definition(6, 6, kind, false);
        posterior_by_definition(6, 6, kind, true);
        posterior_by_definition(5, 11, kind, false);
        posterior_by_definition(5, 11, kind, true);
        posterior_by_definition(1, 1, kind, false);
        posterior_by_definition(1, 1, kind, true);
    }
}

/* log N(v; W xi, W M W' + Psi) */
static double log_density(const rfn_parameters *p, const double *v) {
    int64_t m = p->loadings.rows, l = p->loadings.cols;
    double *k = calloc((size_t)(m * m), sizeof *k), *d = calloc((size_t)m, sizeof *d);
    for (int64_t a = 0; a < m; a++) {
        d[a] = v[a];
        for (int64_t j = 0; j < l; j++)
            d[a] -= rb_dense_get(p->loadings, a, j) * p->prior.mean[j];
        for (int64_t b = 0; b < m; b++) {
            k[a * m + b] = noise_of(p, a, b);
            for (int64_t e = 0; e < l * l; e++) {
                k[a * m + b] += rb_dense_get(p->loadings, a, e / l) *
                                covariance_of(p, e / l, e % l) *
                                rb_dense_get(p->loadings, b, e % l);
            }
        }
    }
    double value = (double)m * log(2 * M_PI) + invert(k, m);
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++)
            value += d[a] * k[a * m + b] * d[b];
    free(k);
    free(d);
    return -value / 2;
}

/* Every figure of rb_evaluate against its definition, sample by sample. */
static void metrics_by_definition(int64_t m, int64_t l, int normalize, enum covariance kind,
                                  int noise) {
    enum { N = 30 };
    rb_context *ctx = fixture_context();
    double *values = fixture_values(N, m, 3, 11);
    rb_source *source = fixture_data(ctx, values, N, m);
    rb_rfn_options options = fixture_rfn(l, normalize);
    struct drawn_prior prior;
    draw_prior(ctx, l, kind, &prior);
    options.prior_mean = prior.xi;
    options.prior_covariance = prior.m;
    options.noise = noise;
    rb_fit_options fit = fixture_fit(30, RB_FLOAT64);
    rb_evaluation e;
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    double *mu = fixture_codes(ctx, model, source);

    rfn_parameters p = {0};
    assert_ok(ctx, rfn_parameters_load(ctx, RB_FLOAT64, model, &p));
    double *big = calloc((size_t)(l * l), sizeof *big),
           *sigma = calloc((size_t)(l * l), sizeof *sigma),
           *before = calloc((size_t)(l * l), sizeof *before);
    double *weighted = calloc((size_t)(m * l), sizeof *weighted);
    weighted_loadings(&p, weighted);
    double log_det_m = -prior_precision(&p, before);
    precision(&p, big);
    memcpy(sigma, big, (size_t)(l * l) * sizeof *big);
    double log_det_sigma = -invert(sigma, l);

    double zeros = 0, squares = 0, all_squares = 0, likelihood = 0, o = 0,
           kl = -(double)l + log_det_m - log_det_sigma;
    double *c = calloc((size_t)(m * m), sizeof *c), *v = calloc((size_t)m, sizeof *v);
    double *q = calloc((size_t)l, sizeof *q), *d = calloc((size_t)l, sizeof *d);
    for (int64_t a = 0; a < l * l; a++)
        kl += before[a] * sigma[a];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < m; k++)
            v[k] = values[i * m + k] - model->preprocess->centre[k];
        likelihood += log_density(&p, v) / N;
        for (int64_t j = 0; j < l; j++) {
            q[j] = 0;
            for (int64_t b = 0; b < l; b++) {
                q[j] += before[j * l + b] * p.prior.mean[b];
                kl += (mu[i * l + j] - p.prior.mean[j]) * before[j * l + b] *
                      (mu[i * l + b] - p.prior.mean[b]) / N;
            }
            for (int64_t k = 0; k < m; k++)
                q[j] += v[k] * weighted[k * l + j];
            zeros += mu[i * l + j] == 0;
        }
        for (int64_t j = 0; j < l; j++) {
            d[j] = mu[i * l + j];
            for (int64_t b = 0; b < l; b++)
                d[j] -= sigma[j * l + b] * q[b];
        }
        for (int64_t a = 0; a < l; a++)
            for (int64_t b = 0; b < l; b++)
                o += d[a] * big[a * l + b] * d[b] / N;
        for (int64_t k = 0; k < m; k++) {
            double rest = v[k];
            for (int64_t j = 0; j < l; j++)
                rest -= mu[i * l + j] * rb_dense_get(p.loadings, k, j);
            squares += rest * rest;
            all_squares += v[k] * v[k];
            for (int64_t b = 0; b < m; b++)
                c[k * m + b] += v[k] * v[b] / N;
        }
    }
    double covariance = 0;
    for (int64_t a = 0; a < m; a++) {
        for (int64_t b = 0; b < m; b++) {
            double difference = c[a * m + b] - noise_of(&p, a, b);
            for (int64_t x = 0; x < l; x++) {
                for (int64_t y = 0; y < l; y++) {
                    double s = sigma[x * l + y];
                    for (int64_t i = 0; i < N; i++)
                        s += mu[i * l + x] * mu[i * l + y] / N;
                    difference -=
                        rb_dense_get(p.loadings, a, x) * s * rb_dense_get(p.loadings, b, y);
                }
            }
            covariance += difference * difference;
        }
    }
    assert_int_equal(e.samples, N);
    assert_int_equal(e.features, m);
    assert_int_equal(e.units, l);
    assert_close(e.sparseness, zeros / (double)(N * l), 1e-12);
    assert_close(e.reconstruction_error, sqrt(squares), 1e-9);
    assert_close(e.variance_explained, 1 - squares / all_squares, 1e-9);
    assert_close(e.covariance_error, sqrt(covariance), 1e-8);
    assert_close(e.log_likelihood, likelihood, 1e-9);
    assert_close(e.estep_objective, o, 1e-8);
    assert_close(e.divergence, kl / 2, 1e-9);
    assert_close(e.objective, likelihood - o / 2, 1e-12);
    assert_close(e.objective, -e.energy - e.divergence, 1e-12);
    free(values);
    free(mu);
    free(big);
    free(sigma);
    free(before);
    clear_prior(&prior);
    free(weighted);
    free(c);
    free(v);
    free(q);
    free(d);
    rfn_parameters_free(&p);
    rb_model_free(model);
    rb_source_free(source);
    rb_context_free(ctx);
}

static void metrics(void **state) {
    (void)state;
    for (enum covariance kind = IDENTITY; kind <= FULL; kind++) {
        for (int noise = RB_RFN_PSI_DIAGONAL; noise <= RB_RFN_PSI_FULL; noise++) {
            metrics_by_definition(8, 3, RB_RFN_NORMALIZE_RMS, kind, noise);
            metrics_by_definition(8, 3, RB_RFN_NORMALIZE_SD, kind, noise);
            metrics_by_definition(8, 3, RB_RFN_NORMALIZE_NONE, kind, noise);
            metrics_by_definition(5, 9, RB_RFN_NORMALIZE_RMS, kind, noise);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posterior_forms),
        cmocka_unit_test(metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
