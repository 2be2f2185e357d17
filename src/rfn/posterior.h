/* The Gaussian posterior before rectifying. Private to src/rfn. */
#ifndef RB_RFN_POSTERIOR_H
#define RB_RFN_POSTERIOR_H

#include "prior.h"
#include "psi.h"

/* W and Psi, which are learned, and the prior. */
typedef struct rfn_parameters {
    rb_dense loadings; /* W, m x l */
    double *noise;     /* diagonal of Psi, m */
    rfn_psi full;      /* Psi whole, where it is not diagonal */
    rfn_prior prior;   /* N(xi, M) */
} rfn_parameters;

rb_error rfn_parameters_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                            rfn_parameters *parameters);
void rfn_parameters_free(rfn_parameters *parameters);
/* From the arrays of a model. */
rb_error rfn_parameters_load(rb_context *ctx, rb_type type, const rb_model *model,
                             rfn_parameters *parameters);

/* mu_p,i = B' v_i + bias, with B = Psi^-1 W Sigma = K^-1 W M and bias = Sigma M^-1 xi (m x l and
 * l). */
typedef struct rfn_posterior {
    bool hurried;    /* with l > m: by fewer operations, with other rounding */
    bool factored;   /* B is kept as the factors Psi^-1 W and Sigma: less work for few samples */
    rb_dense filter; /* B, or Psi^-1 W, m x l */
    rb_dense sigma;  /* Sigma, l x l, full */
    void *bias;      /* l, of the type */
    double log_det;  /* ln |Sigma| */
    rb_dense small;  /* scratch: P, or K */
    rb_dense spread; /* scratch: W M; of no rows unless needed */
    rb_spd *factor;
} rfn_posterior;

rb_error rfn_posterior_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                           rfn_posterior *posterior);
void rfn_posterior_free(rfn_posterior *posterior);
/* work: m x l scratch. factored is to be set before, for l <= m only. RB_ERROR_NUMERIC when the
 * parameters are not finite. */
rb_error rfn_posterior_compute(rb_context *ctx, const rfn_parameters *parameters, rb_dense work,
                               rfn_posterior *posterior);

/* The Hessian of the E-step, P = M^-1 + W' Psi^-1 W, lower triangle, into p (l x l). */
void rfn_hessian(rb_context *ctx, const rfn_parameters *parameters, rb_dense work, rb_dense p);

/* mu_p of a block, samples first .. first + codes.rows - 1, without the bias, on this thread. */
void rfn_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense filter,
                 rb_dense codes);
/* The row to add to what rfn_project gives: bias, less shift' B for a sparse block. `row`: l of the
 * type. */
void rfn_offset(const rb_context *ctx, const rb_block *block, rb_dense filter, const void *bias,
                void *row);
/* The same for products with Psi^-1 W: M^-1 xi, less shift' Psi^-1 W. */
void rfn_linear_offset(const rb_context *ctx, const rb_block *block,
                       const rfn_parameters *parameters, rb_dense weighted, void *row);
/* bias = Sigma M^-1 xi */
void rfn_set_bias(const rfn_parameters *parameters, rfn_posterior *posterior);
/* ln |Psi| */
double rfn_log_det_noise(const rfn_parameters *parameters);
/* work = Psi^-1 W */
void rfn_weigh(rb_context *ctx, const rfn_parameters *parameters, rb_dense work);

/* Reading and writing vectors of either type. */
static inline double rfn_get(rb_type type, const void *values, int64_t index) {
    return type == RB_FLOAT32 ? (double)((const float *)values)[index]
                              : ((const double *)values)[index];
}

static inline void rfn_put(rb_type type, void *values, int64_t index, double value) {
    if (type == RB_FLOAT32) {
        ((float *)values)[index] = (float)value;
    } else {
        ((double *)values)[index] = value;
    }
}

#endif
