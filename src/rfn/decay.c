/* Weight decay of the loadings, after the M-step (Clevert et al. 2015, Alg. S8).
 *
 *     Gaussian:   W <- W - g W
 *     Laplacian:  W <- W - median(-g, W, g), the soft threshold
 */
#include "state.h"

#include <math.h>

void rfn_soft_threshold(rb_dense w, int64_t k, double threshold) {
    void *row = rb_dense_row(w, k);
    for (int64_t j = 0; j < w.cols; j++) {
        double x = rfn_get(w.type, row, j);
        rfn_put(w.type, row, j, copysign(fmax(fabs(x) - threshold, 0), x));
    }
}

bool rfn_decays(const rfn_state *st) {
    return st->options.weight_decay > 0 || st->options.weight_decay_laplace > 0;
}

void rfn_decay_row(const rb_context *ctx, const rfn_state *st, int64_t k) {
    rb_dense w = st->parameters.loadings;
    void *row = rb_dense_row(w, k);
    if (st->options.weight_decay > 0) {
        rb_axpy(ctx, w.type, w.cols, -st->options.weight_decay, row, row);
    }
    if (st->options.weight_decay_laplace > 0) {
        rfn_soft_threshold(w, k, st->options.weight_decay_laplace);
    }
}
