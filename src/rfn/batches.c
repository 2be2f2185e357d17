/* Batches: running moments instead of those of all samples.
 *
 * Sums over samples and the number of samples decay by the same factor from batch to batch, so that
 * moments are weighted means of what was seen: of the first batch its own, a smaller last batch
 * weighs less. They are sums of rectified codes before scaling; the scale of a unit is the root of
 * its running mean square, by which rows and columns are divided as ever (normalize.c).
 *
 * What is new is multiplied up instead of what is old down, which costs a pass over the sums only
 * now and then.
 */
#include "state.h"

#include <math.h>

bool rfn_in_batches(const rfn_state *st) {
    return rfn_batch_samples(&st->problem) < st->problem.n_samples;
}

rb_error rfn_batches_new(rb_context *ctx, rfn_state *st) {
    int64_t m = st->problem.n_features, l = st->options.units;
    if (!rfn_in_batches(st)) {
        st->sum_u = st->u;
        st->sum_s = st->s;
        return RB_OK;
    }
    rb_error err = rb_dense_new(ctx, st->problem.type, m, l, &st->sum_u);
    return err ? err : rb_dense_new(ctx, st->problem.type, l, l, &st->sum_s);
}

void rfn_batches_free(rfn_state *st) {
    if (rfn_in_batches(st)) {
        rb_dense_free(&st->sum_u);
        rb_dense_free(&st->sum_s);
    }
}

static void scale_rows(rb_context *ctx, const rfn_state *st, rb_dense rows, bool lower) {
    for (int64_t k = 0; k < rows.rows; k++) {
        void *row = rb_dense_row(rows, k);
        rb_shift_scale(ctx, rows.type, lower ? k + 1 : rows.cols, row, st->zeros, st->factors, row);
    }
}

static void scale(double *values, int64_t count, double factor) {
    for (int64_t i = 0; values && i < count; i++) {
        values[i] *= factor;
    }
}

static void scale_sums(rb_context *ctx, rfn_state *st, double factor) {
    int64_t l = st->options.units;
    for (int64_t j = 0; j < l; j++) {
        rfn_put(st->problem.type, st->factors, j, factor);
    }
    scale_rows(ctx, st, st->sum_u, false);
    scale_rows(ctx, st, st->sum_s, true);
    scale(st->units.sum, l, factor);
    scale(st->dropout.sum, l, factor);
    scale(st->dropout.squares, l, factor);
    scale(&st->weight, 1, factor);
}

void rfn_decay_moments(rb_context *ctx, rfn_state *st) {
    const double most = 1e6;
    st->gain /= st->options.moment_decay;
    if (!(st->gain <= most)) { /* also where nothing is kept */
        scale_sums(ctx, st, isfinite(st->gain) ? 1 / st->gain : 0);
        st->gain = 1;
    }
}
