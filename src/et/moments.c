/* Sums over samples for the M-step. Each number is summed by one thread, sample after sample. */
#include "fit.h"

enum { BAND_ROWS = 64 };

rb_error et_moments_new(rb_context *ctx, const et_state *st, et_moments *m) {
    int64_t h = st->options.units, d = st->problem.n_features;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, h, d, &m->products);
    if (!err) {
        err = rb_dense_new(ctx, st->problem.type, h, d, &m->part);
    }
    bool linear = st->model->keep == ET_KEEP_PAIRS;
    if (!err && (!linear || st->problem.missing)) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, d, &m->weights);
    }
    if (!err && linear) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, h, &m->second);
    }
    if (!err && st->model->max) {
        err = et_sets_new(ctx, st, &m->sets);
    }
    if (!err && linear && st->problem.missing) {
        err = et_missing_moments_new(ctx, st, m);
    }
    if (!err) {
        m->sums = rb_alloc_zero(ctx, h, sizeof *m->sums);
        err = m->sums ? RB_OK : RB_ERROR_MEMORY;
    }
    return err;
}

void et_moments_free(et_moments *m) {
    rb_dense_free(&m->products);
    rb_dense_free(&m->second);
    rb_dense_free(&m->weights);
    rb_dense_free(&m->pairs);
    et_sets_free(&m->sets);
    rb_dense_free(&m->part);
    rb_free(m->sums);
}

void et_moments_clear(et_moments *m) {
    m->used = 0;
    m->values = m->squares = m->active = m->residual = m->evidence = 0;
    rb_dense_zero(m->products);
    rb_dense_zero(m->second);
    rb_dense_zero(m->weights);
    rb_dense_zero(m->pairs);
    rb_dense_zero(m->sets.weights);
    rb_dense_zero(m->sets.products);
    for (int64_t h = 0; h < m->products.rows; h++) {
        m->sums[h] = 0;
    }
}

rb_dense et_given_rows(et_state *st, const rb_block *block) {
    if (!block->sparse) {
        return rb_dense_rows(block->dense, 0, block->n_samples);
    }
    rb_dense rows = rb_dense_rows(st->rows, 0, block->n_samples);
    rb_block_rows(block, 0, rows);
    return rows;
}

rb_dense et_block_rows(et_state *st, const rb_block *block) {
    if (!st->problem.missing) {
        return et_given_rows(st, block);
    }
    rb_dense rows = rb_dense_rows(st->rows, 0, block->n_samples);
    rb_block_rows(block, 0, rows);
    et_mask(rows, rb_dense_rows(st->mask, 0, block->n_samples));
    return rows;
}

void et_add_products(rb_context *ctx, et_state *st, rb_dense mean, rb_dense rows, rb_dense sums) {
    et_moments *m = &st->moments;
    rb_gemm_parallel(ctx, 1, mean, RB_TRANSPOSED, rows, RB_PLAIN, 0, m->part);
    for (int64_t h = 0; h < m->part.rows; h++) {
        const void *part = rb_dense_row(m->part, h);
        double *sum = rb_dense_row(sums, h);
        for (int64_t d = 0; d < m->part.cols; d++) {
            sum[d] += et_get(m->part.type, part, d);
        }
    }
}

void et_add_rows(const et_kernels *kernels, rb_dense rows, double *sums) {
    for (int64_t i = 0; i < rows.rows; i++) {
        if (rows.type == RB_FLOAT32) {
            kernels->add(rows.cols, rb_dense_row(rows, i), sums);
        } else {
            const double *row = rb_dense_row(rows, i);
            for (int64_t h = 0; h < rows.cols; h++) {
                sums[h] += row[h];
            }
        }
    }
}

void et_add_sums(et_state *st, int64_t count) {
    et_add_rows(st->engine->kernels, rb_dense_rows(st->results.mean, 0, count), st->moments.sums);
}

/* ---- linear: sum <s s'> ---- */

struct task {
    et_state *st;
    int64_t count;
};

/* Adds the pairs of a sample whose lower candidate is in first .. last - 1. */
static void add_pairs(const et_look *look, int64_t first, int64_t last, rb_dense second) {
    const int32_t *list = look->candidates;
    int candidates = look->tree->candidates;
    for (int j = 0; j < candidates; j++) {
        if (list[j] < first || list[j] >= last) {
            continue;
        }
        double *row = rb_dense_row(second, list[j]);
        for (int k = j + 1; k < candidates; k++) {
            row[list[k]] += look->pairs[j * candidates + k];
        }
    }
}

/* A band of rows above the diagonal, on which <s_h s_h> = <s_h>. */
static void second_task(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct task *task = arg;
    const et_results *r = &task->st->results;
    rb_dense second = task->st->moments.second;
    int64_t first = index * BAND_ROWS, last = first + BAND_ROWS;
    last = last < second.rows ? last : second.rows;
    for (int64_t i = 0; i < task->count; i++) {
        if (r->used[i]) {
            et_look look = et_look_at(task->st->engine, r, i);
            add_pairs(&look, first, last, second);
        }
    }
}

rb_error et_linear_add(rb_context *ctx, et_state *st, const rb_block *block) {
    struct task task = {st, block->n_samples};
    rb_dense mean = rb_dense_rows(st->results.mean, 0, block->n_samples);
    et_add_products(ctx, st, mean, et_block_rows(st, block), st->moments.products);
    if (st->problem.missing) {
        et_missing_add(ctx, st, block);
    }
    if (st->results.pairs && !st->moments.pairs.data) {
        rb_parallel(ctx, (mean.cols + BAND_ROWS - 1) / BAND_ROWS, second_task, &task);
    }
    return RB_OK;
}
