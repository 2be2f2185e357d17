/* Figures of a model on data. Private to src/rfn. */
#ifndef RB_RFN_EVALUATE_H
#define RB_RFN_EVALUATE_H

#include "coder.h"

rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);

/* || C - Psi - W S W' ||_F with C = V'V / n, by passes over the data for a group of features each,
 * so that no m x m matrix is needed when m is large. */
rb_error rfn_covariance_error(rb_context *ctx, const rfn_parameters *parameters, rb_dense s,
                              rb_feed *feed, int64_t block_samples, double *error);

#endif
