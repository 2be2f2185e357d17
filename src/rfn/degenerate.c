/* Units that die: no posterior mean is positive over all samples.
 *
 * On the rectified and normalised set the nearest feasible point of such a unit is sqrt(n) for the
 * sample of its largest posterior mean (ties: the first) and 0 elsewhere (Clevert et al. 2015,
 * Theorem 12, eq. 175, which prints the largest unit for the largest sample; Theorem 1 prints
 * sqrt(1/n), whose mean square is not 1). The sample is kept as the pass goes by, so that one pass
 * is enough.
 */
#include "state.h"

#include <math.h>
#include <string.h>

/* The task of the block in which unit j has its largest posterior mean. */
static int64_t best_task(const rfn_state *st, int64_t tasks, int64_t j) {
    int64_t l = st->options.units, best = 0;
    for (int64_t t = 1; t < tasks; t++) {
        if (st->task_largest[t * l + j] > st->task_largest[best * l + j]) {
            best = t;
        }
    }
    return best;
}

/* The sample of that task, counted in the block; means are computed again, rectifying lost them. */
static int64_t best_sample(rb_context *ctx, const rfn_state *st, const rb_block *block,
                           int64_t task, int64_t j, rb_dense column) {
    struct bands tasks = rfn_tasks(block->n_samples);
    int64_t first = rb_band_start(tasks, task);
    column = rb_dense_rows(column, 0, rb_band_size(tasks, task));
    if (st->posterior.factored) {
        rb_dense linear = rfn_task_rows(rb_dense_rows(st->linear, 0, block->n_samples), task);
        rb_dense sigma = rb_dense_part(st->posterior.sigma, 0, linear.cols, j, 1);
        rb_gemm(1, linear, RB_PLAIN, sigma, RB_PLAIN, 0, column);
    } else {
        rb_dense filter = rb_dense_part(st->posterior.filter, 0, st->problem.n_features, j, 1);
        rfn_project(ctx, block, first, filter, column);
    }
    int64_t best = 0;
    for (int64_t i = 1; i < column.rows; i++) {
        if (rb_dense_get(column, i, 0) > rb_dense_get(column, best, 0)) {
            best = i;
        }
    }
    return first + best;
}

static rb_error keep(rb_context *ctx, rfn_state *st, const rb_block *block, int64_t i, int64_t j,
                     double largest) {
    int64_t m = st->problem.n_features, l = st->options.units;
    size_t size = rb_type_size(st->problem.type);
    rfn_candidate *candidate = &st->units.candidates[j];
    if (!candidate->row) {
        candidate->row = rb_alloc(ctx, m, size);
    }
    if (!candidate->codes) {
        candidate->codes = rb_alloc(ctx, l, size);
    }
    if (!candidate->row || !candidate->codes) {
        return RB_ERROR_MEMORY;
    }
    candidate->sample = block->first + i;
    candidate->largest = largest;
    rb_block_rows(block, i, (rb_dense){candidate->row, 1, m, m, st->problem.type});
    memcpy(candidate->codes, rb_dense_row(st->codes, i), (size_t)l * size);
    return RB_OK;
}

rb_error rfn_note_dying(rb_context *ctx, rfn_state *st, const rb_block *block,
                        const rb_block *seen) {
    int64_t l = st->options.units;
    struct bands tasks = rfn_tasks(block->n_samples);
    if (st->options.normalize != RB_RFN_NORMALIZE_RMS) {
        return RB_OK;
    }
    rb_dense column = {0};
    rb_error err = RB_OK;
    for (int64_t j = 0; !err && j < l; j++) {
        if (st->units.alive[j]) {
            continue;
        }
        int64_t task = best_task(st, tasks.count, j);
        double largest = st->task_largest[task * l + j];
        const rfn_candidate *candidate = &st->units.candidates[j];
        if (candidate->sample >= 0 && !(largest > candidate->largest)) {
            continue;
        }
        if (!column.data) {
            err = rb_dense_new(ctx, st->problem.type, tasks.size, 1, &column);
        }
        if (!err) {
            int64_t i = best_sample(ctx, st, seen, task, j, column);
            err = keep(ctx, st, block, i, j, largest);
        }
    }
    rb_dense_free(&column);
    return err;
}

/* Overwrites what the sums have for dead units: U and the rows and columns of S, Sigma not yet
 * added. */
void rfn_place_dying(rfn_state *st) {
    int64_t m = st->problem.n_features, l = st->options.units;
    rb_type type = st->problem.type;
    double root = sqrt(st->weight / st->gain);
    for (int64_t j = 0; j < l; j++) {
        const rfn_candidate *own = &st->units.candidates[j];
        if (st->units.alive[j] || own->sample < 0) {
            continue;
        }
        for (int64_t k = 0; k < m; k++) {
            rb_dense_set(st->u, k, j, rfn_get(type, own->row, k) / root);
        }
        for (int64_t c = 0; c < l; c++) {
            const rfn_candidate *other = &st->units.candidates[c];
            double code = rfn_get(type, own->codes, c) / st->units.scale[c];
            if (!st->units.alive[c]) {
                code = other->sample == own->sample ? root : 0;
            }
            rb_dense_set(st->s, j > c ? j : c, j > c ? c : j, code / root);
        }
        st->mean[j] = 1 / root;
    }
}
