/* The metrics of a model on samples of which some lack values: of the values that are there.
 *
 *     L_i = -1/2 [ sum over o_i of (ln 2 pi psi_k + v_ik^2 / psi_k) + xi' M^-1 xi + ln |M|
 *                  - ln |Sigma_i| - mu_p,i' Q_i ],   ln N(v_o; W_o xi, W_o M W_o' + Psi_o)
 *     O_i = (mu_i - mu_p,i)' P_i (mu_i - mu_p,i)
 *
 * with P_i, Sigma_i and Q_i as in patterns.c. F = L - O / 2 = -E - KL, means over samples. There is
 * no covariance error: no sample says what all features have in common.
 */
#include "lacking.h"

#include <math.h>

struct totals {
    int64_t n, zeros;
    double values, likelihood, estep, divergence, residual;
};

struct measuring {
    rb_context *ctx;
    rfn_coder *coder;
    rb_scratch scratch;
    rb_dense codes, means, fitted, apart; /* of a block: l, l, m, m columns */
    rb_metrics *metrics;
    double *log_dets, *traces; /* of its samples */
    struct totals sums;
};

/* x' M^-1 y of two rows of l values */
static double prior_product(const rfn_prior *prior, rb_dense x, rb_dense y, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < x.cols; j++) {
        double a = rb_dense_get(x, i, j);
        if (prior->precision.rows == 0) sum += a * rb_dense_get(y, i, j);
        for (int64_t c = 0; c < prior->precision.rows; c++)
            sum += a * rb_dense_get(prior->precision, j, c) * rb_dense_get(y, i, c);
    }
    return sum;
}

/* sum of mu (M^-1 mu - 2 M^-1 xi) + xi' M^-1 xi: the distance of the codes from the prior mean. */
static double distance(const rfn_prior *prior, rb_dense codes, int64_t i) {
    double sum = prior_product(prior, codes, codes, i);
    for (int64_t j = 0; j < codes.cols; j++)
        sum += prior->linear[j] * (prior->mean[j] - 2 * rb_dense_get(codes, i, j));
    return sum;
}

/* apart: mu - mu_p, instead of the means. */
static void add_sample(struct measuring *f, int64_t sample, int64_t i) {
    struct totals *t = &f->sums;
    const rfn_parameters *p = &f->coder->parameters;
    rfn_piece block = f->coder->lacking->block;
    rb_dense q = f->coder->lacking->linear, codes = f->codes;
    double sum = p->prior.log_det - f->log_dets[i], estep = 0, l = (double)codes.cols;
    for (int64_t j = 0; j < codes.cols; j++) {
        double mean = rb_dense_get(codes, i, j) - rb_dense_get(f->means, i, j);
        sum += p->prior.linear[j] * p->prior.mean[j] - mean * rb_dense_get(q, i, j);
        t->zeros += rb_dense_get(codes, i, j) == 0;
    }
    for (int64_t k = 0; k < block.rows.cols; k++) {
        if (rb_dense_get(block.there, i, k) == 0) continue;
        double v = rb_dense_get(block.rows, i, k), apart = rb_dense_get(f->apart, i, k);
        double error = v - rb_dense_get(f->fitted, i, k);
        sum += log(2 * M_PI * p->noise[k]) + v * v / p->noise[k];
        estep += apart * apart / p->noise[k];
        t->residual += error * error;
        t->values++;
    }
    if (f->metrics->likelihoods) f->metrics->likelihoods[sample] = -sum / 2;
    t->n++;
    t->likelihood -= sum / 2;
    t->estep += estep + prior_product(&p->prior, f->means, f->means, i);
    t->divergence +=
        (f->traces[i] + distance(&p->prior, codes, i) - l + p->prior.log_det - f->log_dets[i]) / 2;
}

static rb_error add_block(rb_context *ctx, void *user, const rb_block *block) {
    struct measuring *f = user;
    rfn_coder *c = f->coder;
    int64_t n = block->n_samples, lacking;
    rb_dense codes = f->codes = rb_dense_rows(f->codes, 0, n);
    rb_dense means = f->means = rb_dense_rows(f->means, 0, n);
    rb_error err = rb_metrics_encode(ctx, f->metrics, c, block, codes.data);
    err = err ? err : rfn_lacking_take(ctx, c->lacking, block, &lacking);
    err = err ? err : rfn_lacking_means(ctx, c->lacking, means, f->log_dets, f->traces);
    if (err) return err;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            rb_dense_set(means, i, j, rb_dense_get(codes, i, j) - rb_dense_get(means, i, j));
    rb_gemm_parallel(ctx, 1, codes, RB_PLAIN, c->parameters.loadings, RB_TRANSPOSED, 0,
                     rb_dense_rows(f->fitted, 0, n));
    rb_gemm_parallel(ctx, 1, means, RB_PLAIN, c->parameters.loadings, RB_TRANSPOSED, 0,
                     rb_dense_rows(f->apart, 0, n));
    for (int64_t i = 0; i < n; i++)
        add_sample(f, block->first + i, i);
    return RB_OK;
}

static rb_error add_blocks(struct measuring *f, rb_feed *feed, int64_t size) {
    struct totals *t = &f->sums;
    rb_adding all = {.feed = feed,
                     .block_samples = size,
                     .fn = add_block,
                     .user = f,
                     .totals = {{&t->n, 1, RB_KEPT_INTEGER},
                                {&t->zeros, 1, RB_KEPT_INTEGER},
                                {&t->values, 1, RB_KEPT_FLOAT64},
                                {&t->likelihood, 1, RB_KEPT_FLOAT64},
                                {&t->estep, 1, RB_KEPT_FLOAT64},
                                {&t->divergence, 1, RB_KEPT_FLOAT64},
                                {&t->residual, 1, RB_KEPT_FLOAT64}}};
    return rb_metrics_add(f->ctx, f->metrics, &all, true);
}

rb_error rfn_evaluate_lacking(rb_context *ctx, rfn_coder *coder, rb_feed *feed,
                              int64_t block_samples, rb_metrics *metrics) {
    rb_dense w = coder->parameters.loadings;
    struct measuring f = {.ctx = ctx, .coder = coder, .scratch = {.ctx = ctx}, .metrics = metrics};
    rb_dense_take(&f.scratch, w.type, block_samples, w.cols, &f.codes);
    rb_dense_take(&f.scratch, w.type, block_samples, w.cols, &f.means);
    rb_dense_take(&f.scratch, w.type, block_samples, w.rows, &f.fitted);
    rb_dense_take(&f.scratch, w.type, block_samples, w.rows, &f.apart);
    f.log_dets = rb_take(&f.scratch, block_samples, sizeof *f.log_dets);
    f.traces = rb_take(&f.scratch, block_samples, sizeof *f.traces);
    if (!f.scratch.err) f.scratch.err = add_blocks(&f, feed, block_samples);
    if (!f.scratch.err) {
        const struct totals t = f.sums;
        double n = (double)t.n, likelihood = t.likelihood / n, estep = t.estep / n;
        double objective = likelihood - estep / 2, divergence = t.divergence / n;
        rb_metrics_set(metrics, "objective", objective);
        rb_metrics_set(metrics, "log_likelihood", likelihood);
        rb_metrics_set(metrics, "estep_objective", estep);
        rb_metrics_set(metrics, "energy", -objective - divergence);
        rb_metrics_set(metrics, "divergence", divergence);
        rb_metrics_rebuilt(metrics, (double)t.zeros / (n * (double)w.cols), t.residual, t.values);
    }
    return rb_scratch_end(&f.scratch);
}
