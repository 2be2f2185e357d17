/* Moments: sums of the rectified codes of a block, V'mu and mu'mu; and at the end of a pass, from
 * the sums to U, S and the scale of each unit.
 *
 * rms: mean square 1 (Clevert et al. 2015, Theorem 1). sd: divided by sqrt(variance + 1.01e-6),
 * variance about the mean of the rectified code, as the authors' program does; no projection.
 *
 * In batches sums run on and decay, so that moments are weighted means of what was seen: of the
 * first batch its own, a smaller last batch weighs less. The scale of a unit is the root of its
 * running mean square.
 */
#include "fit.h"

#include <math.h>
#include <stddef.h>

const rb_field rfn_block_fields[] = {
    {"block_codes", offsetof(rfn_block_work, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_BLOCK,
     RFN_PADDED},
    {"block_offset", offsetof(rfn_block_work, offset), RB_FIELD_POINTER, RB_KEPT_WORKING,
     RFN_UNITS},
    {"task_sum", offsetof(rfn_block_work, task_sum), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_TASKS,
     RFN_UNITS},
    {"task_largest", offsetof(rfn_block_work, task_largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_TASKS, RFN_UNITS},
    {0},
};

/* ---- a block ---- */

void rfn_add_tasks(const rfn_block_work *work, int64_t tasks, rfn_sums *sums) {
    int64_t l = work->codes.cols;
    for (int64_t t = 0; t < tasks; t++) {
        for (int64_t j = 0; j < l; j++) {
            sums->codes[j] += sums->gain * work->task_sum[t * l + j];
            sums->active[j] = sums->active[j] || work->task_largest[t * l + j] > 0;
        }
    }
}

rb_error rfn_add_moments(rb_context *ctx, const rfn_block_work *work, const rb_block *block,
                         rfn_sums *sums) {
    rb_dense codes = rb_dense_rows(work->codes, 0, block->n_samples);
    sums->weight += sums->gain * (double)block->n_samples;
    if (!block->sparse)
        return rb_moments_of_codes(ctx, sums->gain, block->dense, codes, sums->u, sums->s);
    rb_gemm_lower(ctx, sums->gain, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, sums->s);
    rb_csr_add_cross(ctx, block->csr, sums->gain, codes, sums->u);
    return RB_OK;
}

/* ---- the end of a pass ---- */

double rfn_unit_scale(const rb_rfn_options *options, double mean, double mean_square) {
    if (options->normalize == RB_RFN_NORMALIZE_SD)
        return sqrt(fmax(mean_square - mean * mean, 0) + 1.01e-6);
    return options->normalize == RB_RFN_NORMALIZE_RMS && mean_square > 0 ? sqrt(mean_square) : 1;
}

static double unit_scale(const rfn_fit *fit, int64_t j, double mean, double mean_square) {
    const rb_rfn_options *options = &fit->setup.options;
    bool dead = options->normalize == RB_RFN_NORMALIZE_RMS && !fit->progress.alive[j];
    /* Codes that persist are feasible as they are. */
    return dead || rfn_persists(&fit->setup, &fit->progress)
               ? 1
               : rfn_unit_scale(options, mean, mean_square);
}

static rb_error choose_scales(rb_context *ctx, rfn_fit *fit) {
    const rfn_sums *sums = &fit->sums;
    const rb_rfn_options *options = &fit->setup.options;
    bool batches = rfn_in_batches(&fit->setup.problem);
    bool of_all = options->dropout > 0 && options->dropout_place == RB_RFN_DROPOUT_AFTER &&
                  !fit->progress.last;
    double n = sums->weight;
    for (int64_t j = 0; j < options->units; j++) {
        double sum = rb_dense_get(sums->s, j, j);
        double mean = sums->codes[j] / n, mean_square = sum / n;
        if (!isfinite(mean_square) || !isfinite(mean)) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the codes of unit %lld became infinite or NaN; scale the data "
                           "(`scale=sd`) or take a smaller `eta`",
                           (long long)rb_nth(ctx, j));
        }
        /* A unit that was active need not be in every batch. */
        fit->progress.alive[j] = sums->active[j] || (batches && sum > 0);
        double scale = of_all ? unit_scale(fit, j, sums->all_codes[j] / n, sums->all_squares[j] / n)
                              : unit_scale(fit, j, mean, mean_square);
        fit->progress.scale[j] = scale;
        fit->moments.mean[j] = mean / scale;
        rb_put(sums->s.type, fit->scratch.factors, j, 1 / (n * scale));
    }
    return RB_OK;
}

struct scaling {
    rb_context *ctx;
    const rfn_fit *fit;
    struct bands bands;
};

/* U = (V' mu - shift (sum of mu)') D^-1 / n; the mean codes are in scratch->row */
static void scale_u(void *arg, int64_t index, int worker) {
    const struct scaling *scaling = arg;
    const rfn_fit *fit = scaling->fit;
    const double *shift = fit->survey.shift;
    rb_dense u = fit->moments.u;
    int64_t first = rb_band_start(scaling->bands, index);
    for (int64_t k = first; k < first + rb_band_size(scaling->bands, index); k++) {
        void *row = rb_dense_row(u, k);
        rb_shift_scale(scaling->ctx, u.type, u.cols, rb_dense_row(fit->sums.u, k),
                       fit->scratch.zeros, fit->scratch.factors, row);
        if (shift) rb_axpy(scaling->ctx, u.type, u.cols, -shift[k], fit->scratch.row, row);
    }
}

/* The lower triangle of D^-1 (mu'mu) D^-1 / n */
static void scale_s(void *arg, int64_t index, int worker) {
    const struct scaling *scaling = arg;
    const rfn_fit *fit = scaling->fit;
    rb_dense s = fit->moments.s;
    void (*scale)(int64_t, double, const void *, void *) =
        rb_kernels_of(scaling->ctx)->of[s.type].scale;
    int64_t first = rb_band_start(scaling->bands, index);
    for (int64_t j = first; j < first + rb_band_size(scaling->bands, index); j++) {
        void *row = rb_dense_row(s, j);
        rb_shift_scale(scaling->ctx, s.type, j + 1, rb_dense_row(fit->sums.s, j),
                       fit->scratch.zeros, fit->scratch.factors, row);
        scale(j + 1, 1 / fit->progress.scale[j], row, row);
    }
}

static void scale_moments(rb_context *ctx, rfn_fit *fit) {
    rb_dense u = fit->moments.u, s = fit->moments.s;
    struct scaling of_u = {ctx, fit, rb_cut(u.rows, RFN_BANDS)};
    struct scaling of_s = {ctx, fit, rb_cut(s.rows, RFN_BANDS)};
    for (int64_t j = 0; j < u.cols; j++)
        rb_put(u.type, fit->scratch.row, j, fit->moments.mean[j]);
    rb_parallel(ctx, of_u.bands.count, scale_u, &of_u);
    rb_parallel(ctx, of_s.bands.count, scale_s, &of_s);
}

rb_error rfn_normalize(rb_context *ctx, rfn_fit *fit) {
    rb_error err = choose_scales(ctx, fit);
    err = err ? err : rfn_share_candidates(ctx, &fit->setup.problem, &fit->progress, &fit->sums);
    if (!err) {
        scale_moments(ctx, fit);
        rfn_place_dead(&fit->sums, &fit->progress, &fit->moments);
        if (fit->setup.problem.missing)
            rfn_missing_moments(&fit->persistent.missing, &fit->parameters, &fit->survey,
                                &fit->sums, &fit->moments, &fit->posterior);
        rfn_complete_moments(ctx, &fit->parameters.prior, fit->posterior.sigma, &fit->moments);
    }
    return err;
}
