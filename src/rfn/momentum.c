/* Momentum of the loadings: the M-step's step goes on in part in the next one.
 *
 *     D <- target - W + momentum D,   W <- W + eta D
 *
 * with the target of the M-step (mstep.c), U S^-1 for newton. The noise variance has none.
 */
#include "state.h"

rb_error rfn_momentum_new(rb_context *ctx, rfn_state *st) {
    rb_dense w = st->parameters.loadings;
    return st->options.momentum > 0 ? rb_dense_new(ctx, w.type, w.rows, w.cols, &st->velocity)
                                    : RB_OK;
}

void rfn_add_momentum(const rb_context *ctx, rfn_state *st, int64_t k, void *target) {
    rb_dense w = st->parameters.loadings;
    void *velocity = rb_dense_row(st->velocity, k);
    rb_axpy(ctx, w.type, w.cols, st->options.momentum, velocity, target);
    rb_shift_scale(ctx, w.type, w.cols, target, rb_dense_row(w, k), NULL, velocity);
}
