/* RFN by the newton E-step, sample by sample in float64, as its definitions have it: what fits are
 * compared with. For small problems without dying units. */
#ifndef RFN_REFERENCE_H
#define RFN_REFERENCE_H

#include "fixture.h"

typedef struct reference {
    int64_t n, m, l;
    rb_rfn_options options;
    double *v, *second;          /* centred samples, n x m; diagonal of C */
    double *w, *psi, *velocity;  /* m x l, m, m x l */
    double *scale;               /* of the last E-step */
    double *u, *a, *sum, weight; /* sums over samples, decayed from batch to batch */
    double *full_sum, *full_squares;
    /* Randomness, by sample and feature or unit; NULL: none. */
    double (*corrupt)(const struct reference *r, int64_t sample, int64_t feature);
    bool (*dropped)(const struct reference *r, int64_t sample, int64_t unit);
    uint64_t noise_key, dropout_key;
} reference;

static inline double *reference_zeros(int64_t count) {
    return calloc((size_t)count, sizeof(double));
}

/* Centres the values and draws the loadings that a fit with seed 1 begins with. */
static inline reference reference_new(const double *values, int64_t n, int64_t m,
                                      const rb_rfn_options *options) {
    int64_t l = options->units;
    reference r = {.n = n, .m = m, .l = l, .options = *options};
    double **arrays[] = {&r.v, &r.second, &r.w,   &r.psi,      &r.velocity,    &r.scale,
                         &r.u, &r.a,      &r.sum, &r.full_sum, &r.full_squares};
    int64_t sizes[] = {n * m, m, m * l, m, m * l, l, m * l, l * l, l, l, l};
    for (int i = 0; i < 11; i++)
        *arrays[i] = reference_zeros(sizes[i]);
    rb_stream stream = {1, RB_RANDOM_LOADINGS, 0};
    for (int64_t k = 0; k < m; k++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += values[i * m + k] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            double x = values[i * m + k] - mean;
            r.v[i * m + k] = x;
            r.second[k] += x * x / (double)n;
        }
        r.psi[k] = options->psi_init;
        for (int64_t e = k * l; e < (k + 1) * l; e++)
            r.w[e] = options->weight_init * (options->weight_start == RB_RFN_START_UNIFORM
                                                 ? 2 * rb_random_uniform(stream, (uint64_t)e) - 1
                                                 : rb_random_normal(stream, (uint64_t)e));
    }
    return r;
}

static inline void reference_free(reference *r) {
    double *arrays[] = {r->v, r->second, r->w,   r->psi,      r->velocity,    r->scale,
                        r->u, r->a,      r->sum, r->full_sum, r->full_squares};
    for (int i = 0; i < 11; i++)
        free(arrays[i]);
}

/* The inverse of a small positive definite matrix, by Gauss-Jordan. */
static inline void reference_invert(double *a, int64_t n) {
    for (int64_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        a[p * n + p] = 1;
        for (int64_t j = 0; j < n; j++)
            a[p * n + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            double factor = a[i * n + p];
            if (i == p) continue;
            a[i * n + p] = 0;
            for (int64_t j = 0; j < n; j++)
                a[i * n + j] -= factor * a[p * n + j];
        }
    }
}

/* Sigma = (I + W' Psi^-1 W)^-1 */
static inline void reference_sigma(const reference *r, double *sigma) {
    for (int64_t a = 0; a < r->l; a++) {
        for (int64_t b = 0; b < r->l; b++) {
            double sum = a == b;
            for (int64_t k = 0; k < r->m; k++)
                sum += r->w[k * r->l + a] * r->w[k * r->l + b] / r->psi[k];
            sigma[a * r->l + b] = sum;
        }
    }
    reference_invert(sigma, r->l);
}

static inline double reference_activate(const rb_rfn_options *o, double x) {
    switch (o->activation) {
    case RB_RFN_ACTIVATION_LEAKY:
        return x < 0 ? o->activation_slope * x : x;
    case RB_RFN_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case RB_RFN_ACTIVATION_TANH:
        return tanh(x);
    default:
        return fmax(x, o->activation_threshold);
    }
}

/* The code of a sample before scaling, from its posterior mean. */
static inline double reference_code(const reference *r, const double *sigma, int64_t i, int64_t j,
                                    bool clean) {
    double mean = 0;
    for (int64_t k = 0; k < r->m; k++) {
        double x = r->corrupt && !clean ? r->corrupt(r, i, k) : r->v[i * r->m + k], filter = 0;
        for (int64_t b = 0; b < r->l; b++)
            filter += r->w[k * r->l + b] / r->psi[k] * sigma[b * r->l + j];
        mean += x * filter;
    }
    return reference_activate(&r->options, mean);
}

/* Scales from sums of codes and of their squares over `weight` samples. */
static inline void reference_scales(reference *r, const double *sum, const double *squares,
                                    int64_t stride, double weight) {
    for (int64_t j = 0; j < r->l; j++) {
        double mean = sum[j] / weight, square = squares[j * stride] / weight;
        r->scale[j] = 1;
        if (r->options.normalize == RB_RFN_NORMALIZE_RMS)
            r->scale[j] = sqrt(square);
        else if (r->options.normalize == RB_RFN_NORMALIZE_SD)
            r->scale[j] = sqrt(square - mean * mean + 1.01e-6);
    }
}

/* Sums over these samples, what there was before times `decay`; then the scales. */
static inline void reference_estep(reference *r, const int64_t *samples, int64_t count,
                                   double decay, bool clean) {
    int64_t l = r->l;
    double *sums[] = {r->u, r->a, r->sum, r->full_sum, r->full_squares};
    int64_t sizes[] = {r->m * l, l * l, l, l, l};
    for (int s = 0; s < 5; s++)
        for (int64_t e = 0; e < sizes[s]; e++)
            sums[s][e] *= decay;
    r->weight = decay * r->weight + (double)count;
    double *sigma = reference_zeros(l * l), *mu = reference_zeros(l);
    reference_sigma(r, sigma);
    for (int64_t at = 0; at < count; at++) {
        int64_t i = samples ? samples[at] : at;
        for (int64_t j = 0; j < l; j++) {
            mu[j] = reference_code(r, sigma, i, j, clean);
            r->full_sum[j] += mu[j];
            r->full_squares[j] += mu[j] * mu[j];
            mu[j] = r->dropped && !clean && r->dropped(r, i, j) ? 0 : mu[j];
            r->sum[j] += mu[j];
        }
        for (int64_t j = 0; j < l; j++) {
            for (int64_t k = 0; k < r->m; k++)
                r->u[k * l + j] += r->v[i * r->m + k] * mu[j];
            for (int64_t b = 0; b < l; b++)
                r->a[j * l + b] += mu[j] * mu[b];
        }
    }
    if (r->dropped && !clean && r->options.dropout_place == RB_RFN_DROPOUT_AFTER)
        reference_scales(r, r->full_sum, r->full_squares, 1, r->weight);
    else
        reference_scales(r, r->sum, r->a, l + 1, r->weight);
    free(sigma);
    free(mu);
}

static inline double reference_shrink(double x, double threshold) {
    return copysign(fmax(fabs(x) - threshold, 0), x);
}

/* The M-step, newton form, with rates eta and noise variance from the old W. */
static inline void reference_mstep(reference *r, double eta, double eta_psi) {
    int64_t m = r->m, l = r->l;
    double *s = reference_zeros(l * l), *inverse = reference_zeros(l * l);
    double *u = reference_zeros(l), largest = 0;
    reference_sigma(r, s);
    for (int64_t j = 0; j < l; j++)
        for (int64_t b = 0; b < l; b++)
            s[j * l + b] += r->a[j * l + b] / (r->weight * r->scale[j] * r->scale[b]);
    memcpy(inverse, s, (size_t)(l * l) * sizeof *s);
    reference_invert(inverse, l);
    for (int64_t k = 0; k < m; k++)
        largest = fmax(largest, r->second[k]);
    for (int64_t k = 0; k < m; k++) {
        double *w = r->w + k * l, error = r->second[k];
        for (int64_t j = 0; j < l; j++) {
            u[j] = r->u[k * l + j] / (r->weight * r->scale[j]);
            error -= 2 * u[j] * w[j];
            for (int64_t b = 0; b < l; b++)
                error += w[j] * s[j * l + b] * w[b];
        }
        for (int64_t j = 0; j < l; j++) {
            double target = 0, *d = &r->velocity[k * l + j];
            for (int64_t b = 0; b < l; b++)
                target += u[b] * inverse[b * l + j];
            *d = target - w[j] + r->options.momentum * *d;
        }
        for (int64_t j = 0; j < l; j++) {
            w[j] += eta * r->velocity[k * l + j];
            w[j] -= r->options.weight_decay * w[j];
            w[j] = reference_shrink(w[j], r->options.weight_decay_laplace);
        }
        double psi = r->psi[k] + eta_psi * (error - r->psi[k]);
        if (r->options.psi_step == RB_RFN_PSI_STEP_PRECISION) {
            double p = 1 / r->psi[k]; /* eq. 121 */
            p += eta_psi * (p - p * error * p);
            psi = p > 0 ? 1 / p : INFINITY;
        }
        r->psi[k] = fmin(fmax(psi, r->options.psi_min), largest);
    }
    free(s);
    free(inverse);
    free(u);
}

static inline void reference_compare(reference *r, const rb_model *model, double relative) {
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *psi = rb_model_array(model, "noise", NULL, NULL);
    const double *scale = rb_model_array(model, "scale", NULL, NULL);
    for (int64_t e = 0; e < r->m * r->l; e++)
        assert_close(w[e], r->w[e], relative);
    for (int64_t k = 0; k < r->m; k++)
        assert_close(psi[k], r->psi[k], relative);
    /* The last E-step is a clean one over all samples. */
    reference_estep(r, NULL, r->n, 0, true);
    for (int64_t j = 0; j < r->l; j++)
        assert_close(scale[j], r->scale[j], relative);
}

#endif
