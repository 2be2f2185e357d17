/* What becomes of a posterior mean before it is scaled. Private to src/rfn. */
#ifndef RB_RFN_ACTIVATION_H
#define RB_RFN_ACTIVATION_H

#include "model/model.h"

typedef struct rfn_activation {
    int kind;                /* rb_rfn_activation */
    double threshold, slope; /* of rectify; of leaky */
} rfn_activation;

/* As the options of a model have it. */
rb_error rfn_activation_load(rb_context *ctx, const rb_model *model, rfn_activation *activation);

/* max(0, x), the projection of the paper? Nothing is promised of the others. */
bool rfn_activation_projects(const rfn_activation *activation);

/* codes <- activation(codes + bias); bias may be NULL. sum[j]: over the rows of the result.
 * largest[j]: of codes + bias for the projection, infinite for others, under which no unit dies. */
void rfn_activate(const rb_context *ctx, const rfn_activation *activation, rb_dense codes,
                  const void *bias, double *sum, double *largest);

#endif
