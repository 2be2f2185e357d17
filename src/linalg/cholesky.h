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

/* X <- op(L)^-1 X and X <- X op(L)^-1, on the calling thread; L: what rb_cholesky_factor left, in
 * the type of X. */
void rb_cholesky_left(rb_dense l, rb_side op, rb_dense x);
void rb_cholesky_right(rb_dense x, rb_dense l, rb_side op);

#endif
