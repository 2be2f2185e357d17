/* Contrasts of FastICA: G, its derivative g, and g'. Private to src/factors. */
#ifndef RB_COMPARE_CONTRAST_H
#define RB_COMPARE_CONTRAST_H

#include "factors.h"

typedef enum ica_contrast { ICA_LOGCOSH = 0, ICA_EXP, ICA_CUBE } ica_contrast;

/* Y <- g(Y), and for each column slopes += sum of g'(y), values += sum of G(y). On the calling
 * thread. scratch: 2 * Y.cols floats. */
void ica_apply(ica_contrast contrast, rb_dense y, float *scratch, double *slopes, double *values);

/* The expectation of G(v), v normal with mean 0 and variance 1. */
double ica_normal(ica_contrast contrast);

#endif
