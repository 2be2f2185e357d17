/* What missing.c does, as its equations stand, sample by sample in float64: what tests compare it
 * with. It shares neither matrices of patterns nor products with it, but who has which pattern.
 *
 *     P = M^-1 + sum over o of w_k w_k' / psi_k,  Q = sum over o of w_k v_k / psi_k + M^-1 xi
 */
#include "missing.h"

#include <math.h>

typedef struct reference {
    rb_scratch scratch;
    int64_t m, l;
    double *v;                      /* m: a sample, NaN where it lacks a value */
    double *precision, *covariance; /* l x l */
    double *q, *mean;               /* l */
    double log_det;                 /* ln |P^-1| */
} reference;

static rb_error open_reference(rb_context *ctx, const rfn_parameters *p, reference *r) {
    rb_dense w = p->loadings;
    *r = (reference){.scratch = {.ctx = ctx}, .m = w.rows, .l = w.cols};
    r->v = rb_take(&r->scratch, r->m, sizeof *r->v);
    r->precision = rb_take(&r->scratch, r->l, (size_t)r->l * sizeof *r->precision);
    r->covariance = rb_take(&r->scratch, r->l, (size_t)r->l * sizeof *r->covariance);
    r->q = rb_take(&r->scratch, r->l, sizeof *r->q);
    r->mean = rb_take(&r->scratch, r->l, sizeof *r->mean);
    return r->scratch.err;
}

static void set_precision(const rfn_parameters *p, reference *r) {
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
static bool invert(reference *r) {
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
                               int64_t i, reference *r) {
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

rb_error rfn_missing_collect_plainly(rb_context *ctx, rfn_missing *f, const rfn_parameters *p,
                                     const rb_block *block, rb_dense linear, rb_dense means) {
    reference r;
    rb_error err = open_reference(ctx, p, &r);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        int64_t own = block->own + i, l = r.l;
        rb_block_rows(block, i, (rb_dense){r.v, 1, r.m, r.m, RB_FLOAT64});
        set_precision(p, &r);
        for (int64_t j = 0, at = 0; j < l; j++) {
            f->curvature[j] = fmax(f->curvature[j], r.precision[j * l + j]);
            for (int64_t c = 0; c <= j; c++, at++)
                rb_dense_set(f->precisions, f->of[own], at, r.precision[j * l + c]);
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

static void add(rb_dense to, int64_t i, int64_t j, double value) {
    rb_dense_set(to, i, j, rb_dense_get(to, i, j) + value);
}

/* A feature of a sample: a value, or what is expected of it. */
static void add_value(const reference *r, const rfn_parameters *p, rb_dense mu, int64_t k,
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

rb_error rfn_missing_add_plainly(rb_context *ctx, const rfn_parameters *p, const rb_block *block,
                                 rb_dense codes, rfn_sums *sums) {
    reference r;
    rb_error err = open_reference(ctx, p, &r);
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
