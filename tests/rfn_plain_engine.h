/* The newton E-step as its equations stand, sample by sample in float64: what tests compare the
 * fast engine with. It shares neither posterior nor products with it.
 *
 *     P = M^-1 + W' Psi^-1 W,  mu_p = P^-1 (W' Psi^-1 v + M^-1 xi),  mu = max(0, mu_p)
 */
#ifndef RFN_PLAIN_ENGINE_H
#define RFN_PLAIN_ENGINE_H

#include "rfn/missing.h"

#include <math.h>

typedef struct reference {
    rb_scratch scratch; /* frees the arrays */
    rb_type type;
    int64_t m, l;
    double *weighted;               /* Psi^-1 W, m x l */
    double *precision, *covariance; /* P, which is lost, and P^-1, l x l */
    const double *linear;           /* M^-1 xi, l */
    double *v, *means;              /* of a sample: m; mu_p, l */
    void *codes;                    /* mu, of the type */
} reference;

static void close_engine(void *engine) {
    reference *r = engine;
    if (r) {
        rb_scratch_end(&r->scratch);
        rb_free(r);
    }
}

static rb_error open_engine(rb_context *ctx, const rb_problem *problem, const void *options,
                            void **engine) {
    const rb_rfn_options *rfn = options;
    if (rfn->dropout > 0 || rfn->input_noise != RB_RFN_NOISE_NONE ||
        rfn->noise == RB_RFN_PSI_FULL || !rfn_activation_projects(rfn)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the reference engine has no dropout, `input-noise`, noise full, and no "
                       "activation but rectify");
    }
    reference *r = rb_alloc_zero(ctx, 1, sizeof *r);
    if (!r) return RB_ERROR_MEMORY;
    int64_t m = problem->n_features, l = rfn->units;
    *r = (reference){.scratch = {.ctx = ctx}, .type = problem->type, .m = m, .l = l};
    r->weighted = rb_take(&r->scratch, m, (size_t)l * sizeof *r->weighted);
    r->precision = rb_take(&r->scratch, l, (size_t)l * sizeof *r->precision);
    r->covariance = rb_take(&r->scratch, l, (size_t)l * sizeof *r->covariance);
    r->v = rb_take(&r->scratch, m, sizeof *r->v);
    r->means = rb_take(&r->scratch, l, sizeof *r->means);
    r->codes = rb_take(&r->scratch, l, rb_type_size(r->type));
    rb_error err = r->scratch.err;
    if (err) {
        close_engine(r);
        return err;
    }
    *engine = r;
    return RB_OK;
}

static rb_error set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    (void)ctx;
    reference *r = engine;
    const rfn_parameters *p = ((const rfn_given *)parameters)->parameters;
    int64_t m = r->m, l = r->l;
    bool plain = rfn_prior_is_plain(&p->prior);
    for (int64_t e = 0; e < m * l; e++)
        r->weighted[e] = rb_dense_get(p->loadings, e / l, e % l) / p->noise[e / l];
    for (int64_t e = 0; e < l * l; e++) {
        r->covariance[e] = e / l == e % l;
        double sum = plain ? r->covariance[e] : rb_dense_get(p->prior.precision, e / l, e % l);
        for (int64_t k = 0; k < m; k++)
            sum += rb_dense_get(p->loadings, k, e / l) * r->weighted[k * l + e % l];
        r->precision[e] = sum;
    }
    rb_solve_small(l, r->precision, l, r->covariance);
    r->linear = p->prior.linear;
    return RB_OK;
}

static void find_means(reference *r) {
    for (int64_t j = 0; j < r->l; j++) {
        r->means[j] = 0;
        for (int64_t c = 0; c < r->l; c++) {
            double q = r->linear[c];
            for (int64_t k = 0; k < r->m; k++)
                q += r->weighted[k * r->l + c] * r->v[k];
            r->means[j] += r->covariance[j * r->l + c] * q;
        }
        rb_put(r->type, r->codes, j, fmax(0, r->means[j]));
    }
}

static void add(rb_dense to, int64_t i, int64_t j, double value) {
    if (to.rows > 0) rb_dense_set(to, i, j, rb_dense_get(to, i, j) + value);
}

/* Adds a sample as it is stored. */
static void add_sample(reference *r, const double *shift, rfn_sums *sums) {
    double gain = sums->gain;
    sums->weight += gain;
    for (int64_t j = 0; j < r->l; j++) {
        double code = fmax(0, r->means[j]);
        sums->codes[j] += gain * code;
        for (int64_t k = 0; k < r->m; k++)
            add(sums->u, k, j, gain * (r->v[k] + (shift ? shift[k] : 0)) * code);
        for (int64_t c = 0; c <= j; c++) {
            add(sums->s, j, c, gain * code * fmax(0, r->means[c]));
            add(sums->raw, j, c, r->means[j] * r->means[c]);
        }
    }
}

static rb_error add_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    reference *r = engine;
    rfn_sums *sums = to;
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_block_rows(block, i, (rb_dense){r->v, 1, r->m, r->m, RB_FLOAT64});
        find_means(r);
        add_sample(r, block->shift, sums);
        for (int64_t j = 0; !err && j < r->l; j++) {
            sums->active[j] = sums->active[j] || r->means[j] > 0;
            if (!sums->active[j] && r->means[j] > sums->largest[j])
                err = rfn_take_candidate(ctx, sums, j, r->means[j], block, i, r->codes);
        }
    }
    return err;
}

/* ---- samples that lack values ----
 *
 *     P = M^-1 + sum over o of w_k w_k' / psi_k,  Q = sum over o of w_k v_k / psi_k + M^-1 xi
 *
 * It shares neither matrices of patterns nor products with missing.c, but who has which pattern. */

typedef struct lacking {
    rb_scratch scratch;
    int64_t m, l;
    double *v;                      /* m: a sample, NaN where it lacks a value */
    double *precision, *covariance; /* l x l */
    double *q, *mean;               /* l */
    double log_det;                 /* ln |P^-1| */
} lacking;

static rb_error open_lacking(rb_context *ctx, const rfn_parameters *p, lacking *r) {
    rb_dense w = p->loadings;
    *r = (lacking){.scratch = {.ctx = ctx}, .m = w.rows, .l = w.cols};
    r->v = rb_take(&r->scratch, r->m, sizeof *r->v);
    r->precision = rb_take(&r->scratch, r->l, (size_t)r->l * sizeof *r->precision);
    r->covariance = rb_take(&r->scratch, r->l, (size_t)r->l * sizeof *r->covariance);
    r->q = rb_take(&r->scratch, r->l, sizeof *r->q);
    r->mean = rb_take(&r->scratch, r->l, sizeof *r->mean);
    return r->scratch.err;
}

static void set_precision(const rfn_parameters *p, lacking *r) {
    int64_t l = r->l;
    bool plain = rfn_prior_is_plain(&p->prior);
    for (int64_t e = 0; e < l * l; e++) {
        int64_t j = e / l, c = e % l;
        double sum = plain ? j == c : rb_dense_get(p->prior.precision, j, c);
        for (int64_t k = 0; k < r->m; k++) {
            double product = rb_dense_get(p->loadings, k, j) * rb_dense_get(p->loadings, k, c);
            sum += isnan(r->v[k]) ? 0 : product / p->noise[k];
        }
        r->precision[e] = sum;
    }
}

/* The determinant by elimination; then P is lost to its inverse. */
static bool invert(lacking *r) {
    int64_t l = r->l;
    double *a = r->covariance;
    r->log_det = 0;
    for (int64_t e = 0; e < l * l; e++)
        a[e] = r->precision[e];
    for (int64_t j = 0; j < l; j++) {
        r->log_det -= log(a[j * l + j]);
        for (int64_t i = j + 1; i < l; i++) {
            double factor = a[i * l + j] / a[j * l + j];
            for (int64_t c = j; c < l; c++)
                a[i * l + c] -= factor * a[j * l + c];
        }
    }
    for (int64_t e = 0; e < l * l; e++)
        a[e] = e / l == e % l;
    return rb_solve_small(l, r->precision, l, a);
}

/* P, its inverse, Q and mu_p of a sample. */
static rb_error find_posterior(rb_context *ctx, const rfn_parameters *p, const rb_block *block,
                               int64_t i, lacking *r) {
    rb_block_rows(block, i, (rb_dense){r->v, 1, r->m, r->m, RB_FLOAT64});
    set_precision(p, r);
    if (!invert(r)) return rb_fail(ctx, RB_ERROR_NUMERIC, "P is not positive definite");
    for (int64_t j = 0; j < r->l; j++) {
        r->q[j] = p->prior.linear[j];
        for (int64_t k = 0; k < r->m; k++)
            r->q[j] += isnan(r->v[k]) ? 0 : rb_dense_get(p->loadings, k, j) * r->v[k] / p->noise[k];
    }
    for (int64_t j = 0; j < r->l; j++) {
        r->mean[j] = 0;
        for (int64_t c = 0; c < r->l; c++)
            r->mean[j] += r->covariance[j * r->l + c] * r->q[c];
    }
    return RB_OK;
}

static rb_error collect_plainly(rb_context *ctx, rfn_missing *f, const rfn_parameters *p,
                                const rb_block *block, rb_dense linear, rb_dense means) {
    lacking r;
    rb_error err = open_lacking(ctx, p, &r);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        int64_t own = block->own + i, l = r.l;
        rb_block_rows(block, i, (rb_dense){r.v, 1, r.m, r.m, RB_FLOAT64});
        set_precision(p, &r);
        for (int64_t j = 0, at = 0; j < l; j++) {
            f->patterns.curvature[j] = fmax(f->patterns.curvature[j], r.precision[j * l + j]);
            for (int64_t c = 0; c <= j; c++, at++)
                rb_dense_set(f->patterns.precisions, f->patterns.of[own], at,
                             r.precision[j * l + c]);
        }
        err = find_posterior(ctx, p, block, i, &r);
        for (int64_t j = 0; !err && j < l; j++) {
            f->constant += r.mean[j] * r.q[j];
            rb_dense_set(linear, j, own, r.q[j]);
            if (means.rows > 0) rb_dense_set(means, j, own, r.mean[j]);
        }
    }
    rb_scratch_end(&r.scratch);
    return err;
}

/* A feature of a sample: a value, or what is expected of it. */
static void add_value(const lacking *r, const rfn_parameters *p, rb_dense mu, int64_t k,
                      rfn_sums *sums) {
    double value = r->v[k];
    if (isnan(value)) {
        value = 0;
        for (int64_t j = 0; j < r->l; j++)
            value += rb_dense_get(p->loadings, k, j) * rb_dense_get(mu, 0, j);
        sums->imputed[k] += value * value;
        for (int64_t e = 0; e < r->l * r->l; e++)
            add(sums->lacking, e / r->l, k,
                r->covariance[e] * rb_dense_get(p->loadings, k, e % r->l));
    }
    for (int64_t j = 0; j < r->l; j++)
        add(sums->u, k, j, value * rb_dense_get(mu, 0, j));
}

static rb_error add_plainly(rb_context *ctx, const rfn_parameters *p, const rb_block *block,
                            rb_dense codes, rfn_sums *sums) {
    lacking r;
    rb_error err = open_lacking(ctx, p, &r);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_dense mu = rb_dense_rows(codes, i, 1);
        err = find_posterior(ctx, p, block, i, &r);
        sums->weight++;
        sums->log_det += r.log_det;
        for (int64_t k = 0; k < r.m; k++)
            add_value(&r, p, mu, k, sums);
        for (int64_t j = 0; j < r.l; j++)
            for (int64_t c = 0; c <= j; c++) {
                add(sums->s, j, c, rb_dense_get(mu, 0, j) * rb_dense_get(mu, 0, c));
                add(sums->sigma, j, c, r.covariance[j * r.l + c]);
            }
    }
    rb_scratch_end(&r.scratch);
    return err;
}

static const rfn_engine rfn_plain_engine = {
    .engine = {"reference", open_engine, close_engine, set_parameters, add_block},
    .collect = collect_plainly,
    .add = add_plainly,
};

#endif
