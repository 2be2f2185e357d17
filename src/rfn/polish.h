/* Codes of one sample by an active set. Private to src/rfn. */
#ifndef RB_RFN_POLISH_H
#define RB_RFN_POLISH_H

#include "rfn/estep/estep.h"

/* Scratch of one worker. */
typedef struct rfn_polish {
    int64_t most;       /* units that may be positive at once */
    double *x, *linear; /* l */
    double *factor;     /* most x most */
    double *target;     /* most */
    int64_t *support;   /* most: the positive units */
    bool *positive;     /* l */
} rfn_polish;

rb_error rfn_polish_new(rb_context *ctx, int64_t l, rfn_polish *polish);
void rfn_polish_free(rfn_polish *polish);
/* Improves column i of codes (l x n) of the problem, on the rectified set, into polish->x. */
void rfn_polish_sample(const rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                       int64_t i, rfn_polish *polish);

#endif
