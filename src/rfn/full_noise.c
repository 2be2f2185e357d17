/* Learning a full noise covariance (Clevert et al. 2015, S4.2 and the M-step of Alg. S2).
 *
 *     E = C - U W' - W U' + W S W',   Psi <- Psi + eta (E - Psi)
 *
 * E is (1/n) sum (v - W mu)(v - W mu)' + W Sigma W', so that Psi stays positive definite; its
 * eigenvalues are then moved into [psi_min, e_max(C)]. (Alg. S2 has max {C}. A bound of the largest
 * variance of a feature would exclude Psi = C, which is the best without loadings; at a fixed point
 * Psi = C - W S W' is within e_max(C).)
 *
 * Neither raises g(Psi) = log |Psi| + <Psi^-1, E>, of which F has -1/2, once Psi is within the
 * bounds. Let N = Psi + t (E - Psi), N+ the same with eigenvalues nu_i within the bounds, and k_ij
 * in [0, 1] the divided differences of moving them there (1 where both eigenvalues are within the
 * bounds, 0 where both are beyond the same one). In the eigenvectors of N
 *     d g(N+) / dt = -(1 - t) / t^2 sum_ij k_ij (N+ - Psi)_ij^2 / (nu_i nu_j) <= 0
 * since N+ - E = (1 - 1/t) (N+ - Psi) + (N+ - N) / t, whose last term is diagonal and has k_ii = 0
 * where it is not 0.
 *
 * C is kept whole, and everything is in float64.
 */
#include "fit.h"

#include <math.h>

static bool is_full(const rfn_setup *setup) {
    return setup->options.noise == RB_RFN_PSI_FULL;
}

/* ---- before the first iteration ---- */

/* A sparse block becomes dense piece by piece. */
rb_error rfn_full_noise_survey(rb_context *ctx, const rfn_setup *setup, const rb_block *block,
                               rfn_survey *survey) {
    enum { ROWS = 256 };
    const rb_problem *problem = &setup->problem;
    rb_dense typed = {0}, wide = {0};
    if (!is_full(setup)) return RB_OK;
    rb_error err = rb_dense_new(ctx, problem->type, ROWS, problem->n_features, &typed);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, ROWS, problem->n_features, &wide);
    for (int64_t first = 0; !err && first < block->n_samples; first += ROWS) {
        typed.rows = wide.rows = rb_smaller(block->n_samples - first, ROWS);
        rb_block_rows(block, first, typed);
        rb_dense_copy(typed, wide);
        rb_gemm_lower(ctx, 1 / (double)problem->n_samples, wide, RB_TRANSPOSED, wide, RB_PLAIN, 1,
                      survey->full_second);
    }
    rb_dense_free(&typed);
    rb_dense_free(&wide);
    return err;
}

/* The covariance has changed: what is made of it. */
static rb_error complete(rb_context *ctx, rfn_parameters *parameters) {
    rb_dense psi = parameters->full.covariance;
    for (int64_t k = 0; k < psi.rows; k++)
        parameters->noise[k] = rb_dense_get(psi, k, k);
    return rfn_psi_factor(ctx, &parameters->full);
}

/* psi_min, or what is smallest of that of the features. */
static double min_eigenvalue(const rfn_setup *setup, const rfn_survey *survey) {
    double min = INFINITY;
    for (int64_t k = 0; k < setup->problem.n_features; k++)
        min = fmin(min, rfn_noise_floor(setup, survey, k));
    return min;
}

rb_error rfn_full_noise_begin(rb_context *ctx, const rfn_setup *setup, rfn_survey *survey,
                              rfn_parameters *parameters) {
    rb_dense psi = parameters->full.covariance;
    if (!is_full(setup)) return RB_OK;
    rb_dense_mirror(survey->full_second);
    rb_error err = rb_largest_eigenvalue(ctx, survey->full_second, &survey->full_max);
    if (err) return err;
    for (int64_t k = 0; k < psi.rows; k++)
        if (rb_dense_get(psi, k, k) == 0) /* not from a model */
            rb_dense_set(psi, k, k, parameters->noise[k]);
    err = rb_clamp_eigenvalues(ctx, psi, min_eigenvalue(setup, survey), survey->full_max);
    return err ? err : complete(ctx, parameters);
}

/* ---- the M-step ---- */

/* E, with W as it is: C - G W' - W G', G = U - W S / 2. */
static void compute_error(rb_context *ctx, const rfn_parameters *parameters,
                          const rfn_moments *moments, rb_dense second, rfn_scratch *scratch) {
    const rfn_psi *noise = &parameters->full;
    rb_dense w = parameters->loadings, g = noise->part;
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, moments->s, RB_PLAIN, 0, scratch->work);
    rb_dense_copy(w, noise->wide);
    for (int64_t k = 0; k < w.rows; k++) {
        for (int64_t j = 0; j < w.cols; j++) {
            double half = rb_dense_get(scratch->work, k, j) / 2;
            rb_dense_set(g, k, j, rb_dense_get(moments->u, k, j) - half);
        }
    }
    rb_dense_copy(second, scratch->error);
    rb_gemm_lower(ctx, -1, g, RB_PLAIN, noise->wide, RB_TRANSPOSED, 1, scratch->error);
    rb_gemm_lower(ctx, -1, noise->wide, RB_PLAIN, g, RB_TRANSPOSED, 1, scratch->error);
    rb_dense_mirror(scratch->error);
}

static rb_error update(rb_context *ctx, const rfn_setup *setup, const rfn_survey *survey,
                       const rfn_scratch *scratch, rfn_parameters *parameters) {
    rb_dense psi = parameters->full.covariance;
    double rate = scratch->rates.eta_psi, rest = 1 - setup->options.noise_decay;
    for (int64_t k = 0; k < psi.rows; k++) {
        for (int64_t c = 0; c < psi.cols; c++) {
            double before = rb_dense_get(psi, k, c), error = rb_dense_get(scratch->error, k, c);
            rb_dense_set(psi, k, c, before + rate * (error - before));
        }
    }
    rb_error err = rb_check_stop(ctx);
    err =
        err ? err : rb_clamp_eigenvalues(ctx, psi, min_eigenvalue(setup, survey), survey->full_max);
    for (int64_t k = 0; !err && rest < 1 && k < psi.rows; k++)
        for (int64_t c = 0; c < psi.cols; c++)
            rb_dense_set(psi, k, c, (k == c ? 1 : rest) * rb_dense_get(psi, k, c));
    err = err ? err : complete(ctx, parameters);
    if (err == RB_ERROR_NUMERIC) rb_fail_prefix(ctx, "the M-step: ");
    return err;
}

rb_error rfn_full_noise_before(rb_context *ctx, rfn_fit *fit) {
    if (!is_full(&fit->setup) || fit->setup.options.psi_update != RB_RFN_PSI_OLD) return RB_OK;
    compute_error(ctx, &fit->parameters, &fit->moments, fit->survey.full_second, &fit->scratch);
    return update(ctx, &fit->setup, &fit->survey, &fit->scratch, &fit->parameters);
}

rb_error rfn_full_noise_after(rb_context *ctx, rfn_fit *fit) {
    rfn_scratch *scratch = &fit->scratch;
    rb_error err = RB_OK;
    if (!is_full(&fit->setup)) return RB_OK;
    compute_error(ctx, &fit->parameters, &fit->moments, fit->survey.full_second, scratch);
    if (fit->setup.options.psi_update == RB_RFN_PSI_NEW)
        err = update(ctx, &fit->setup, &fit->survey, scratch, &fit->parameters);
    if (!err) {
        rb_spd_inverse(ctx, fit->parameters.full.factor, scratch->inverse);
        scratch->noise_product = rfn_product_of_lower(ctx, scratch->inverse, scratch->error);
    }
    return err;
}
