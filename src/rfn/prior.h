/* The prior of the hidden units, h ~ N(xi, M). Private to src/rfn. */
#ifndef RB_RFN_PRIOR_H
#define RB_RFN_PRIOR_H

#include "model/model.h"

typedef struct rfn_prior {
    double *mean;   /* xi, l */
    double *linear; /* M^-1 xi, l */
    /* M and M^-1, l x l, full; of no rows where M is the identity. */
    rb_dense covariance, precision;
    double log_det; /* ln |M| */
} rfn_prior;

/* N(0, I) */
rb_error rfn_prior_new(rb_context *ctx, int64_t l, rfn_prior *prior);
void rfn_prior_free(rfn_prior *prior);
/* What the options ask for, into a prior that is new. RB_ERROR_ARGUMENT: of the wrong shape, or M
 * is no covariance. */
rb_error rfn_prior_choose(rb_context *ctx, rb_type type, int64_t l, const rb_values *mean,
                          const rb_values *covariance, rfn_prior *prior);
/* xi as asked for, of a shape that rfn_prior_choose has checked. */
void rfn_prior_take_mean(rfn_prior *prior, int64_t l, const rb_values *mean);
void rfn_prior_scale_mean(rfn_prior *prior, int64_t l, double factor);
/* xi = value for every unit. */
void rfn_prior_set_mean(rfn_prior *prior, int64_t l, double value);

/* From the arrays of a model, into a prior that is new; and to them. */
rb_error rfn_prior_load(rb_context *ctx, rb_type type, const rb_model *model, rfn_prior *prior);
rb_error rfn_prior_store(rb_context *ctx, const rfn_prior *prior, int64_t l, rb_model *model);

static inline bool rfn_prior_is_plain(const rfn_prior *prior) {
    return prior->covariance.rows == 0; /* M = I */
}

/* Lower triangle of a (l x l) += M^-1. */
void rfn_prior_add_precision(rb_context *ctx, const rfn_prior *prior, rb_dense a);
/* <M^-1, A>, by lower triangles. */
double rfn_prior_product(rb_context *ctx, const rfn_prior *prior, rb_dense a);

#endif
