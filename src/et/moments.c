/* Sums over samples for the M-step. Each number is summed by one thread, sample after sample. */
#include "fit.h"

#include <math.h>

enum { BAND_ROWS = 64, BAND_COLUMNS = 32 };

rb_error et_moments_new(rb_context *ctx, const et_state *st, et_moments *m) {
    int64_t h = st->options.units, d = st->problem.n_features;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, h, d, &m->products);
    if (!err) {
        err = rb_dense_new(ctx, st->problem.type, h, d, &m->part);
    }
    if (!err && st->model->max) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, d, &m->weights);
    } else if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, h, &m->second);
    }
    return err;
}

void et_moments_free(et_moments *m) {
    rb_dense_free(&m->products);
    rb_dense_free(&m->second);
    rb_dense_free(&m->weights);
    rb_dense_free(&m->part);
}

void et_moments_clear(et_moments *m) {
    m->used = 0;
    m->squares = m->active = m->residual = m->evidence = 0;
    rb_dense_zero(m->products);
    rb_dense_zero(m->second);
    rb_dense_zero(m->weights);
}

rb_dense et_block_rows(et_state *st, const rb_block *block) {
    if (!block->sparse) {
        return rb_dense_rows(block->dense, 0, block->n_samples);
    }
    rb_dense rows = rb_dense_rows(st->rows, 0, block->n_samples);
    rb_block_rows(block, 0, rows);
    return rows;
}

void et_add_products(rb_context *ctx, et_state *st, rb_dense mean, rb_dense rows) {
    et_moments *m = &st->moments;
    rb_gemm_parallel(ctx, 1, mean, RB_TRANSPOSED, rows, RB_PLAIN, 0, m->part);
    for (int64_t h = 0; h < m->part.rows; h++) {
        const void *part = rb_dense_row(m->part, h);
        double *sum = rb_dense_row(m->products, h);
        for (int64_t d = 0; d < m->part.cols; d++) {
            sum[d] += et_get(m->part.type, part, d);
        }
    }
}

/* ---- linear: sum <s s'> ---- */

struct task {
    et_state *st;
    rb_dense rows;
    int64_t count;
};

/* Adds the pairs of a sample whose lower candidate is in first .. last - 1. */
static void add_pairs(const et_results *r, int64_t i, int candidates, int64_t first, int64_t last,
                      rb_dense second) {
    const int32_t *list = r->candidates + i * candidates;
    const double *pairs = r->pairs + i * candidates * candidates;
    for (int j = 0; j < candidates; j++) {
        if (list[j] < first || list[j] >= last) {
            continue;
        }
        double *row = rb_dense_row(second, list[j]);
        for (int k = j + 1; k < candidates; k++) {
            row[list[k]] += pairs[j * candidates + k];
        }
    }
}

/* A band of rows of the upper triangle; on the diagonal <s_h s_h> = <s_h>. */
static void second_task(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct task *task = arg;
    const et_results *r = &task->st->results;
    rb_dense second = task->st->moments.second;
    int64_t first = index * BAND_ROWS, last = first + BAND_ROWS;
    last = last < second.rows ? last : second.rows;
    for (int64_t i = 0; i < task->count; i++) {
        if (!r->used[i]) {
            continue;
        }
        const void *mean = rb_dense_row(r->mean, i);
        for (int64_t h = first; h < last; h++) {
            ((double *)rb_dense_row(second, h))[h] += et_get(r->mean.type, mean, h);
        }
        if (r->pairs) {
            add_pairs(r, i, task->st->engine->tree.candidates, first, last, second);
        }
    }
}

rb_error et_linear_add(rb_context *ctx, et_state *st, const rb_block *block) {
    struct task task = {st, et_block_rows(st, block), block->n_samples};
    rb_dense mean = rb_dense_rows(st->results.mean, 0, block->n_samples);
    et_add_products(ctx, st, mean, task.rows);
    rb_parallel(ctx, (mean.cols + BAND_ROWS - 1) / BAND_ROWS, second_task, &task);
    return RB_OK;
}

/* ---- max: sum <A> and sum <A> y (eq. 40) ----
 *
 *   A_hd(s) = s_h R_hd^a (sum_{j in s} R_jd)^-a,   R = W^rho,  a = 1 - 1 / rho
 * is 1 for a cause alone: those samples come from a product. States of probability below LEAST are
 * left out: nearly all of them at low temperatures. */

static const double LEAST = 1e-12;

struct band {
    et_state *st;
    int64_t first, count; /* features */
};

/* Adds one state of two causes or more. y: the sample, from the band's first feature on. */
static void add_state(const struct band *band, const int32_t *list, int64_t s, double q,
                      const void *y, rb_type type) {
    et_state *st = band->st;
    const et_tree *tree = &st->engine->tree;
    double sum[BAND_COLUMNS] = {0};
    for (int64_t p = s; p > 0; p = tree->parent[p]) {
        const double *power = rb_dense_row(st->powers, list[tree->last[p]]);
        for (int64_t d = 0; d < band->count; d++) {
            sum[d] += power[band->first + d];
        }
    }
    for (int64_t d = 0; d < band->count; d++) {
        sum[d] = sum[d] > 0 ? q * pow(sum[d], -st->exponent) : 0;
    }
    for (int64_t p = s; p > 0; p = tree->parent[p]) {
        int64_t h = list[tree->last[p]];
        const double *root = (const double *)rb_dense_row(st->roots, h) + band->first;
        double *weights = (double *)rb_dense_row(st->moments.weights, h) + band->first;
        double *products = (double *)rb_dense_row(st->moments.products, h) + band->first;
        for (int64_t d = 0; d < band->count; d++) {
            double share = root[d] * sum[d];
            weights[d] += share;
            products[d] += share * et_get(type, y, band->first + d);
        }
    }
}

/* A band of features: singles, then the states, sample after sample. */
static void states_task(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct task *task = arg;
    et_state *st = task->st;
    const et_results *r = &st->results;
    const et_tree *tree = &st->engine->tree;
    struct band band = {st, index * BAND_COLUMNS, st->problem.n_features - index * BAND_COLUMNS};
    band.count = band.count < BAND_COLUMNS ? band.count : BAND_COLUMNS;
    for (int64_t i = 0; i < task->count; i++) {
        const double *q = r->states + i * tree->count;
        const int32_t *list = r->candidates + i * tree->candidates;
        const void *y = rb_dense_row(task->rows, i);
        for (int64_t s = 1 + tree->candidates; r->used[i] && s < tree->count; s++) {
            if (q[s] >= LEAST) {
                add_state(&band, list, s, q[s], y, task->rows.type);
            }
        }
    }
}

static void add_singles(et_state *st, int64_t count) {
    rb_dense single = st->results.single, weights = st->moments.weights;
    for (int64_t h = 0; h < weights.rows; h++) {
        double sum = 0, *row = rb_dense_row(weights, h);
        for (int64_t i = 0; i < count; i++) {
            sum += et_get(single.type, rb_dense_row(single, i), h);
        }
        for (int64_t d = 0; d < weights.cols; d++) {
            row[d] += sum;
        }
    }
}

rb_error et_max_add(rb_context *ctx, et_state *st, const rb_block *block) {
    struct task task = {st, et_block_rows(st, block), block->n_samples};
    et_add_products(ctx, st, rb_dense_rows(st->results.single, 0, block->n_samples), task.rows);
    add_singles(st, block->n_samples);
    int64_t bands = (st->problem.n_features + BAND_COLUMNS - 1) / BAND_COLUMNS;
    rb_parallel(ctx, bands, states_task, &task);
    return RB_OK;
}
