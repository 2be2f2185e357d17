/* The objectives of spec: F = -E - KL = L - O / 2. Private to src/rfn. */
#ifndef RB_RFN_OBJECTIVE_H
#define RB_RFN_OBJECTIVE_H

#include "posterior.h"

/* What the objectives are made of; all moments are means over samples. */
typedef struct rfn_terms {
    int64_t m, l;
    const double *noise;      /* m */
    const double *second;     /* m: diagonal of C */
    const double *cross;      /* m: u_k . w_k */
    const double *quadratic;  /* m: w_k' S w_k */
    const double *prior_mean; /* l */
    const double *mean;       /* l: mean code */
    double trace_a;           /* of mu'mu / n */
    double trace_sigma;
    double log_det; /* ln |Sigma| */
} rfn_terms;

/* E and KL; F = -E - KL. */
void rfn_energies(const rfn_terms *terms, double *energy, double *divergence);

/* The E-step objective O from P, S, U and mu_p'mu_p (lower triangles), all of parameters as they
 * were in the E-step; n samples. */
double rfn_estep_objective(rb_context *ctx, const rfn_parameters *parameters, rb_dense p,
                           rb_dense s, rb_dense u, const double *mean, rb_dense raw, int64_t n);

#endif
