/* New samples, v = W h + e with e ~ N(0, Psi).
 *
 * By the prior, h ~ N(xi, M). Of given samples, h ~ N(mu_i, Sigma) with the rectified and
 * normalised codes mu_i: what the M-step takes h for (Clevert et al. 2015, Alg. 1), so that the
 * second moment of v is W S W' + Psi with S = 1/n sum mu_i mu_i' + Sigma, the C that a fit makes
 * like the data's. Where a sample lacks values its Sigma is larger than the one taken. */
#include "coder.h"

static rb_error draw_prior(rb_context *ctx, const rfn_coder *c, const rb_sampling *sampling,
                           rb_dense codes) {
    const rfn_prior *prior = &c->parameters.prior;
    for (int64_t i = 0; i < codes.rows; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            rb_dense_set(codes, i, j, prior->mean[j]);
    if (!rfn_prior_is_plain(prior))
        return rb_add_correlated(ctx, sampling, 1, prior->covariance, codes);
    return rb_add_normal(ctx, sampling, 1, NULL, codes);
}

rb_error rfn_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                  const rb_block *block, void *codes) {
    rfn_coder *c = coder;
    rb_dense w = c->parameters.loadings, to = {codes, n, w.cols, w.cols, w.type};
    if (!block) return draw_prior(ctx, c, sampling, to);
    rb_error err = rfn_encode(ctx, c, block, codes);
    return err ? err : rb_add_correlated(ctx, sampling, 1, c->posterior.sigma, to);
}

rb_error rfn_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                  const void *codes, void *rows) {
    const rfn_coder *c = coder;
    rb_dense w = c->parameters.loadings, to = {rows, n, w.rows, w.rows, w.type};
    rb_error err = rfn_decode(ctx, coder, n, codes, rows);
    if (err) return err;
    const rfn_psi *full = &c->parameters.full;
    return rfn_psi_is_full(full)
               ? rb_add_correlated(ctx, sampling, sampling->noise, full->covariance, to)
               : rb_add_normal(ctx, sampling, sampling->noise, c->parameters.noise, to);
}
