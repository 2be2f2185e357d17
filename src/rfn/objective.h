/* The objectives: F = -E - KL = L - O / 2. Private to src/rfn. */
#ifndef RB_RFN_OBJECTIVE_H
#define RB_RFN_OBJECTIVE_H

#include "posterior.h"

/* What the objectives are made of; all moments are means over samples. */
typedef struct rfn_terms {
    int64_t m, l;
    double log_det_noise; /* ln |Psi| */
    double noise_product; /* <Psi^-1, C - U W' - W U' + W S W'> */
    const rfn_prior *prior;
    const double *mean;   /* l: mean code */
    double product_a;     /* <M^-1, mu'mu / n> */
    double product_sigma; /* <M^-1, Sigma> */
    double log_det;       /* ln |Sigma| */
} rfn_terms;

/* <Psi^-1, C - U W' - W U' + W S W'> for diagonal noise, from the diagonals (m each) of C, U W' and
 * W S W'. */
double rfn_noise_product(int64_t m, const double *noise, const double *second, const double *cross,
                         const double *quadratic);
/* E and KL; F = -E - KL. */
void rfn_energies(const rfn_terms *terms, double *energy, double *divergence);

/* The E-step objective O from P, S (lower triangles) and U, all of parameters as they were in the
 * E-step; constant: <P, mu_p'mu_p> / n = <mu_p, Q> / n, which codes do not change. */
double rfn_estep_objective(rb_context *ctx, const rfn_parameters *parameters, rb_dense p,
                           rb_dense s, rb_dense u, const double *mean, double constant);
/* <A, B> of two symmetric matrices by their lower triangles. */
double rfn_product_of_lower(rb_context *ctx, rb_dense a, rb_dense b);

#endif
