/* Normalising: from the sums of rectified codes to U, S and the scale of each unit.
 *
 * rms: mean square 1 (Clevert et al. 2015, Theorem 1). sd: divided by sqrt(variance + 1.01e-6),
 * variance about the mean of the rectified code, as the authors' program does; no projection.
 */
#include "state.h"

#include <math.h>
#include <string.h>

static double unit_scale(const rfn_state *st, int64_t j, double mean, double mean_square) {
    if (rfn_holds_codes(st)) {
        return 1; /* these codes are feasible as they are */
    }
    switch ((rb_rfn_normalize)st->options.normalize) {
    case RB_RFN_NORMALIZE_RMS:
        return mean_square > 0 && st->units.alive[j] ? sqrt(mean_square) : 1;
    case RB_RFN_NORMALIZE_SD:
        return sqrt(fmax(mean_square - mean * mean, 0) + 1.01e-6);
    case RB_RFN_NORMALIZE_NONE:
        return 1;
    }
    return 1;
}

static rb_error choose_scales(rb_context *ctx, rfn_state *st) {
    double n = st->weight;
    for (int64_t j = 0; j < st->options.units; j++) {
        double mean = st->units.sum[j] / n, mean_square = rb_dense_get(st->sum_s, j, j) / n;
        if (!isfinite(mean_square) || !isfinite(mean)) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the codes of unit %lld became infinite or NaN; scale the data (--scale "
                           "sd) or take a smaller --eta",
                           (long long)j);
        }
        if (rfn_drops(st) && st->options.dropout_place == RB_RFN_DROPOUT_AFTER) {
            st->units.scale[j] =
                unit_scale(st, j, st->dropout.sum[j] / n, st->dropout.squares[j] / n);
        } else {
            st->units.scale[j] = unit_scale(st, j, mean, mean_square);
        }
        st->mean[j] = mean / st->units.scale[j];
        rfn_put(st->problem.type, st->factors, j, 1 / (n * st->units.scale[j]));
    }
    return RB_OK;
}

/* U = (V' mu - shift (sum of mu)') D^-1 / n */
static void scale_u(rb_context *ctx, rfn_state *st) {
    rb_dense u = st->u;
    for (int64_t k = 0; k < u.rows; k++) {
        rb_shift_scale(ctx, u.type, u.cols, rb_dense_row(st->sum_u, k), st->zeros, st->factors,
                       rb_dense_row(u, k));
    }
    for (int64_t j = 0; st->shift && j < u.cols; j++) {
        rfn_put(u.type, st->offset, j, st->mean[j]);
    }
    for (int64_t k = 0; st->shift && k < u.rows; k++) {
        rb_axpy(ctx, u.type, u.cols, -st->shift[k], st->offset, rb_dense_row(u, k));
    }
}

/* The lower triangle of D^-1 (mu'mu) D^-1 / n */
static void scale_s(rb_context *ctx, rfn_state *st) {
    rb_dense s = st->s;
    for (int64_t j = 0; j < s.rows; j++) {
        void *row = rb_dense_row(s, j);
        rb_shift_scale(ctx, s.type, j + 1, rb_dense_row(st->sum_s, j), st->zeros, st->factors, row);
        size_t bytes = (size_t)(j + 1) * rb_type_size(s.type);
        memset(st->offset, 0, bytes);
        rb_axpy(ctx, s.type, j + 1, 1 / st->units.scale[j], row, st->offset);
        memcpy(row, st->offset, bytes);
    }
}

rb_error rfn_normalize(rb_context *ctx, rfn_state *st) {
    rb_error err = choose_scales(ctx, st);
    if (err) {
        return err;
    }
    scale_u(ctx, st);
    scale_s(ctx, st);
    rfn_place_dying(st);
    rb_dense s = st->s, sigma = st->posterior.sigma;
    st->product_a = rfn_prior_product(ctx, &st->parameters.prior, s);
    st->product_sigma = rfn_prior_product(ctx, &st->parameters.prior, sigma);
    for (int64_t j = 0; j < s.rows; j++) {
        rb_axpy(ctx, s.type, j + 1, 1, rb_dense_row(sigma, j), rb_dense_row(s, j));
    }
    rb_dense_mirror(s);
    return RB_OK;
}
