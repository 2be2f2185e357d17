/* Non-negative least squares of many rows that share a matrix: private to src/factors.
 *
 * Each row x of X minimises 1/2 x'Gx - p'x over x >= 0, p being its row of P. */
#ifndef RB_COMPARE_NNLS_H
#define RB_COMPARE_NNLS_H

#include "linalg/linalg.h"

typedef struct nnls {
    rb_context *ctx;
    rb_dense gram;  /* units x units, full, rows without gaps */
    rb_dense tiles; /* a row a worker */
    /* For exact solutions, a row a worker each: float64. NULL: there are none. */
    rb_dense exact;
    int64_t *supports;
} nnls;

/* For matrices of so many units, with arrays of the scratch; exact: nnls_solve will be called. */
void nnls_new(rb_scratch *scratch, rb_type type, int64_t units, bool exact, nnls *out);

/* X gets better by sweeps over the units: at most so many, until one gains less than `share` of the
 * first. On the thread of the worker. */
void nnls_descend(const nnls *s, int64_t sweeps, double share, rb_dense linear, rb_dense rows,
                  int worker);

/* X becomes the solution, from whatever it is: by sweeps, and where these have not come to
 * tolerance by an active set method. */
void nnls_solve(const nnls *s, rb_dense linear, rb_dense rows, int worker);

#endif
