/* Blocked Cholesky factorisation and solutions with it. Private. */
#ifndef RB_LINALG_CHOLESKY_H
#define RB_LINALG_CHOLESKY_H

#include "linalg/linalg.h"

/* A <- L, A = L L', lower triangle; but in place of each diagonal block of RB_CHOLESKY_BLOCK
 * rows its inverse, with zeros above the diagonal, so that solutions are products. Diagonal
 * blocks are factorised in float64; for a float32 matrix `block` has memory for one, else it is
 * NULL. Parallel. Returns -1, or the first row whose pivot is not positive and finite. */
enum { RB_CHOLESKY_BLOCK = 128 };
int64_t rb_cholesky_factor(rb_context *ctx, rb_dense a, double *block, double *log_det);

/* X <- A^-1 X and X <- X A^-1, on the calling thread. factor: what rb_cholesky_factor left, in the
 * type of X. first: a multiple of the block; rows of X before it are zero and are not wanted. */
void rb_cholesky_left(rb_dense factor, rb_dense x, int64_t first);
/* X <- L^-1 X and X <- L^-T X: one after the other, with first = 0, are rb_cholesky_left. */
void rb_cholesky_forward(rb_dense factor, rb_dense x);
void rb_cholesky_backward(rb_dense factor, rb_dense x);
void rb_cholesky_right(rb_dense factor, rb_dense x);

#endif
