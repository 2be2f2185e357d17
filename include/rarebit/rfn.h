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
 * Options, by name (rarebit/options.h, whose rows have ranges, defaults and help):
 *   preset       paper: the method as its paper has it, with newton E-steps, eta 0.1, no sparse
 *                loadings, prior mean 0, 1000 iterations, numbers of its own for psi-init, psi-min
 *                and weight-init. biclustering: the same with sparse-loadings 1.5, noise variance
 *                that begins at the largest variance of a feature, 400 iterations, best of 3
 *                starts. sparse: the paper's with 500 iterations of newton, 250 of cyclic in which
 *                the prior mean is adapted, 100 more in which it stays: codes are as sparse as
 *                newton's, and reconstruction and covariance error lower. What is set besides
 *                stays as it is set
 *   units        l, the number of hidden units
 *   eta, eta-psi learning rates of the loadings and of the noise variance (0: the same), which fall
 *                by eta-schedule, eta-every, eta-factor
 *   estep        how codes are found. newton: rectify and normalise the posterior means, in one
 *                pass; the codes of the paper's tables, but the objective may fall. The others
 *                (gradient, cyclic, annealed, reduced, grg, rosen, haug-arora, cascade) go on from
 *                the codes of the iteration before, which they keep in memory with what else they
 *                need (n_samples x units values, twice for cyclic, three times for gradient, six
 *                times for cascade and five times for the others, and once more for what a stopped
 *                fit goes back to), and never raise the E-step objective; they need normalize rms
 *                or none. After the last iteration the codes are converged by cyclic sweeps.
 *                docs/reference/estep.md compares them. auto: cyclic, or newton where another
 *                option allows no other one; the model says which (attribute estep)
 *   normalize    rms: each unit's mean square over the samples is 1, the paper's text; sd: divide
 *                by sqrt(variance + 1.01e-6), as the authors' program does; none: rectify only
 *   noise        diagonal: each feature has noise of its own; full: the noise of features is
 *                correlated, which leaves less of the covariance for the units to explain; m^2
 *                numbers, m^3 work an iteration
 *   sparse-loadings  c: from iteration 51 on, shrink loadings by eta c standard errors; 0: no
 *   prior-mean   xi, the mean of the hidden units before data, one number or one for each unit;
 *                negative makes codes sparser. With sparse-loadings it is 0 for 50 iterations and
 *                grows over the next 20, as long as at most 1 % of the samples are without an
 *                active unit (E-steps but newton)
 *   prior-covariance  M, their covariance: one variance, or one for each unit, or units x units
 *   target-sparseness share of codes that are to be 0; takes the preset sparse unless one is set.
 *                While the prior mean is adapted, the metric prior_mean of rb_model_metric says
 *                what it was in an iteration: where it differs from the one before, the objective
 *                may fall
 * and accept, gradient-search, newton-iterations, adapt-iterations, estep-tolerance, mstep,
 * psi-update, psi-step, noise-decay, psi-min, psi-init, weight-max, weight-init, weight-start,
 * weight-decay, weight-decay-laplace, dropout, dropout-place, input-noise, input-noise-level,
 * momentum, activation, activation-threshold, activation-slope, moment-decay.
 */
#ifndef RAREBIT_RFN_H
#define RAREBIT_RFN_H

#include <rarebit/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
