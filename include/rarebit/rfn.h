/* Rectified factor networks.
 *
 * Factor analysis v = W h + e, h ~ N(xi, M), e ~ N(0, Psi), whose posterior means are rectified and
 * normalised, so that codes are sparse. Reference: Clevert, Mayr, Unterthiner, Hochreiter,
 * "Rectified Factor Networks", NIPS 2015.
 *
 * Values may be missing (NaN, with RB_MISSING_MODEL): they are integrated out, and codes are those
 * of the values that are there; docs/howto/missing.md.
 *
 * Arrays of a model of method "rfn" (rb_model_array):
 *   loadings     n_features x units W
 *   noise        n_features         the diagonal of Psi, the noise variance
 *   noise_covariance  n_features x n_features  Psi, where the noise is full; modules go by the
 *                                   diagonal alone
 *   prior_mean   units              xi, nearer to 0 than the option where it was held back
 *   prior_covariance  units x units M; not there when it is I
 *   scale        units              what a rectified posterior mean is divided by; 1 without
 *                                   normalising and for every E-step but newton
 *   dead         units              1 for a unit that no training sample activates, else 0
 * and for every E-step but newton
 *   multipliers  units              tau: the codes of a sample minimise
 *                                   1/2 mu' (P + diag tau) mu - Q mu over mu >= 0
 *   kkt_residual 1                  how far the codes of the fit are from a stationary point
 *   certificate  1                  smallest eigenvalue of P + diag tau of the living units: at or
 *                                   above 0 the codes of the fit are the best there are; where
 *                                   values are missing, of all P of the samples
 *
 * Options are described by their rows (rarebit/options.h, `rarebit help fit rfn`);
 * docs/reference/estep.md compares the E-steps, which all but newton go on from the codes of the
 * iteration before: these are kept in memory (n_samples x units values), with up to five times as
 * many besides.
 */
#pragma once

#include <rarebit/fit.h>

/* What moved the codes in an iteration of the E-steps that try candidates, from annealed to
 * cascade: the metric estep_stage of rb_model_metric is one of these. The metric kkt_residual, of
 * a traced fit, says how far the codes of that iteration were from a stationary point. */
typedef enum rb_rfn_stage {
    RB_RFN_STAGE_NONE = 0, /* no candidate was good enough: the codes stayed */
    RB_RFN_STAGE_NEWTON,   /* P(mu_p), P the projection */
    RB_RFN_STAGE_GAMMA,    /* P((1 - gamma) mu + gamma P(mu_p)) */
    RB_RFN_STAGE_LAMBDA,   /* P((1 - lambda) mu + lambda mu_p) */
    RB_RFN_STAGE_BOTH,     /* P((1 - gamma) mu + gamma P((1 - lambda) mu + lambda mu_p)) */
    RB_RFN_STAGE_REDUCED,
    RB_RFN_STAGE_GRG,
    RB_RFN_STAGE_ROSEN,
    RB_RFN_STAGE_HAUG_ARORA,
    RB_RFN_STAGE_GRADIENT,
    RB_RFN_STAGES
} rb_rfn_stage;

/* "newton"; NULL for what is no stage. */
RB_API const char *rb_rfn_stage_name(int stage);
