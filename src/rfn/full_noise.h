/* Learning a full noise covariance. Private to src/rfn. */
#ifndef RB_RFN_FULL_NOISE_H
#define RB_RFN_FULL_NOISE_H

#include "linalg/linalg.h"

/* m x m each, in float64; empty where the noise is diagonal. */
typedef struct rfn_full_noise {
    rb_dense second;  /* C = V'V / n */
    rb_dense error;   /* E */
    rb_dense inverse; /* Psi^-1 */
    double product;   /* <Psi^-1, E> after the M-step */
} rfn_full_noise;

#endif
