/* The objectives: F = -E - KL = L - O / 2. Private to src/rfn. */
#ifndef RB_RFN_OBJECTIVE_H
#define RB_RFN_OBJECTIVE_H

#include "posterior.h"

/* Means over samples, what the M-step and the objectives are made of. */
typedef struct rfn_moments {
    rb_dense u; /* U = V'mu / n, m x l */
    rb_dense s; /* S = mu'mu / n + Sigma, l x l, full */
    rb_dense own_u,
        own_s;            /* of a fit: their memory in batches; else they lie where the sums were */
    double *mean;         /* l: mean code */
    double product_a;     /* <M^-1, mu'mu / n> */
    double product_sigma; /* <M^-1, Sigma> */
    double estep_objective;
} rfn_moments;

/* S, the lower triangle of mu'mu / n, gets Sigma; and what else follows. */
void rfn_complete_moments(rb_context *ctx, const rfn_prior *prior, rb_dense sigma,
                          rfn_moments *moments);
/* The diagonals (m each) of U W' and W S W'; work: m x l, becomes W S. */
void rfn_forms(rb_context *ctx, rb_dense w, const rfn_moments *moments, rb_dense work,
               double *cross, double *quadratic);
/* <Psi^-1, C - U W' - W U' + W S W'> for diagonal noise, from these and the diagonal of C. */
double rfn_noise_product(int64_t m, const double *noise, const double *second, const double *cross,
                         const double *quadratic);
/* E and KL; F = -E - KL. */
void rfn_energies(const rfn_parameters *parameters, const rfn_posterior *posterior,
                  const rfn_moments *moments, double noise_product, double *energy,
                  double *divergence);

/* The E-step objective O from P (lower triangle), all of parameters as they were in the E-step;
 * constant: <P, mu_p'mu_p> / n = <mu_p, Q> / n, which codes do not change. */
double rfn_estep_objective(rb_context *ctx, const rfn_parameters *parameters, rb_dense p,
                           const rfn_moments *moments, double constant);

#endif
