/* The Gaussian posterior, and its activation. Private to src/rfn. */
#ifndef RB_RFN_POSTERIOR_H
#define RB_RFN_POSTERIOR_H

#include "options.h"
#include "parameters.h"
#include <rarebit/rfn.h>

/* mu_p,i = B' v_i + bias, with B = Psi^-1 W Sigma = K^-1 W M and bias = Sigma M^-1 xi (m x l and
 * l). */
typedef struct rfn_posterior {
    bool approximate; /* with l > m: by fewer operations, with other rounding */
    bool factored;    /* B is kept as the factors Psi^-1 W and Sigma: less work for few samples */
    rb_dense filter;  /* B, or Psi^-1 W, m x l */
    rb_dense sigma;   /* Sigma, l x l, full */
    void *bias;       /* l, of the type */
    void *linear;     /* M^-1 xi, l, of the type */
    double log_det;   /* ln |Sigma| */
    rb_dense small;   /* scratch: P, or K */
    rb_spd *factor;
} rfn_posterior;

extern const rb_field rfn_posterior_fields[];

rb_error rfn_posterior_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                           rfn_posterior *posterior);
void rfn_posterior_free(rfn_posterior *posterior);
/* work: m x l scratch. factored is to be set before, for l <= m only. RB_ERROR_NUMERIC when the
 * parameters are not finite. */
rb_error rfn_posterior_compute(rb_context *ctx, const rfn_parameters *parameters, rb_dense work,
                               rfn_posterior *posterior);

/* The Hessian of the E-step, P = M^-1 + W' Psi^-1 W, into p (l x l). */
void rfn_hessian(rb_context *ctx, const rfn_parameters *parameters, rb_dense work, rb_dense p);

/* The row to add to V B, for mu_p: bias, less shift' B; shift: of the blocks, or NULL. `row`: l of
 * the type. The same for products with Psi^-1 W: M^-1 xi, less shift' Psi^-1 W. */
void rfn_offset(const rb_context *ctx, const double *shift, rb_dense filter, const void *bias,
                void *row);
/* Adds `factor` times such a row to every row of codes. */
void rfn_add_offset(const rb_context *ctx, double factor, const void *offset, rb_dense codes);
/* bias, from Sigma and the prior; and linear */
void rfn_set_bias(const rfn_parameters *parameters, rfn_posterior *posterior);
/* Bands for loops over rows that cost little. */
enum { RFN_BANDS = 16 };

/* Of symmetric matrices by their lower triangles: B += A, then mirrored; and <A, B>. A of no rows
 * is the identity, as the matrices of a plain prior. */
void rfn_add_symmetric(rb_context *ctx, rb_dense a, rb_dense b);
double rfn_product_of_lower(rb_context *ctx, rb_dense a, rb_dense b);
/* work = Psi^-1 W */
void rfn_weigh(rb_context *ctx, const rfn_parameters *parameters, rb_dense work);

/* ---- what becomes of a posterior mean before it is scaled ---- */

/* max(0, x), the projection of the paper? Nothing is promised of other activations. */
bool rfn_activation_projects(const rb_rfn_options *options);

/* codes <- activation(codes + bias); bias may be NULL. sum[j]: over the rows of the result.
 * largest[j]: of codes + bias for the projection, infinite for others, under which no unit dies. */
void rfn_activate(const rb_context *ctx, const rb_rfn_options *options, rb_dense codes,
                  const void *bias, double *sum, double *largest);

#endif
