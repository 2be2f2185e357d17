/* Sums over the states themselves, for models whose M-step needs more than moments. In bands of
 * features: each number is summed by one thread, sample after sample. States of probability below
 * LEAST are left out: nearly all of them at low temperatures. */
#include "fit.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 64 };
static const double LEAST = 1e-12;

struct band {
    et_state *st;
    rb_dense rows;
    int64_t samples;
    int64_t first, count; /* features */
};

/* A part of a sample: y in float64, which of it is there, and the causes of a state. */
struct part {
    const struct band *band;
    double y[ET_BAND], there[ET_BAND];
    bool whole; /* all of it is there */
    int64_t causes[MOST_DEPTH];
    int size;
};

typedef void (*adder)(const struct part *part, double q);

static double *row_part(const struct band *band, rb_dense rows, int64_t h) {
    return (double *)rb_dense_row(rows, h) + band->first;
}

/* ---- shares of any model: up and down ---- */

/* Features first .. last - 1 of the band, all of which are there. */
static void add_run(const struct part *part, double q, int64_t first, int64_t last,
                    const double *wbar) {
    const struct band *band = part->band;
    const et_state *st = band->st;
    for (int k = 0; k < part->size; k++) {
        int64_t h = part->causes[k];
        st->model->general->share(st->model->user, last - first, part->y + first, wbar + first,
                                  row_part(band, st->engine->parameters.fields, h) + first, q,
                                  (rb_et_shares){row_part(band, st->moments.products, h) + first,
                                                 row_part(band, st->moments.weights, h) + first});
    }
}

static void add_shares(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_state *st = band->st;
    rb_dense fields = st->engine->parameters.fields;
    double wbar[ET_BAND];
    for (int64_t d = 0; d < band->count; d++) {
        wbar[d] = st->model->empty;
    }
    for (int k = 0; k < part->size; k++) {
        st->model->superpose(st->model->user, band->count, wbar,
                             row_part(band, fields, part->causes[k]), wbar);
    }
    for (int64_t first = 0, last = 0; first < band->count; first = last + 1) {
        last = part->whole ? band->count : first;
        while (last < band->count && part->there[last] != 0) {
            last++;
        }
        if (last > first) {
            add_run(part, q, first, last, wbar);
        }
    }
}

/* ---- MCA (eqs 30, 36): sum <A> and sum <A> y ----
 *
 *   A_hd(s) = s_h R_hd^a (sum_{j in s} R_jd)^-a,   R = W^rho,  a = 1 - 1 / rho
 * is 1 for a cause alone: those samples come from a product. */
static void add_responsibilities(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_state *st = band->st;
    const double *powers[MOST_DEPTH], *roots[MOST_DEPTH];
    double *weights[MOST_DEPTH], *products[MOST_DEPTH];
    for (int k = 0; k < part->size; k++) {
        int64_t h = part->causes[k];
        powers[k] = row_part(band, st->powers, h);
        roots[k] = row_part(band, st->roots, h);
        weights[k] = row_part(band, st->moments.weights, h);
        products[k] = row_part(band, st->moments.products, h);
    }
    st->engine->kernels->responsibilities(band->count, part->size, band->rows.type == RB_FLOAT32, q,
                                          st->exponent, powers, roots, part->y,
                                          part->whole ? NULL : part->there, weights, products);
}

/* The same where sets of causes are few: the powers come later (moments_sets.c). */
static void add_to_set(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_state *st = band->st;
    const et_sets *sets = &st->moments.sets;
    int64_t index = et_set_of(sets, st->options.units, part->causes, part->size);
    st->engine->kernels->add_weighted(band->count, q, part->y, part->whole ? NULL : part->there,
                                      row_part(band, sets->weights, index),
                                      row_part(band, sets->products, index));
}

/* ---- samples ---- */

static void set_causes(struct part *part, const et_tree *tree, const int32_t *list, int64_t s) {
    part->size = 0;
    for (int64_t p = s; p > 0; p = tree->parent[p]) {
        part->causes[part->size++] = list[tree->last[p]];
    }
}

/* Single causes count here only for general shares. */
static void add_sample(struct part *part, int64_t i, adder add) {
    const et_state *st = part->band->st;
    const et_results *r = &st->results;
    et_look look = et_look_at(st->engine, r, i);
    const et_tree *tree = look.tree;
    const double *q = look.states;
    const void *single = rb_dense_row(r->single, i);
    for (int64_t h = 0; !st->model->max && h < r->single.cols; h++) {
        double one = et_get(r->single.type, single, h);
        if (one >= LEAST) {
            part->causes[0] = h;
            part->size = 1;
            add(part, one);
        }
    }
    for (int64_t s = 1 + tree->candidates; s < tree->count; s++) {
        if (q[s] >= LEAST) {
            set_causes(part, tree, look.candidates, s);
            add(part, q[s]);
        }
    }
}

struct task {
    et_state *st;
    rb_dense rows;
    int64_t samples;
    adder add;
};

static void band_task(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct task *task = arg;
    int64_t first = index * ET_BAND, left = task->rows.cols - first;
    struct band band = {task->st, task->rows, task->samples, first,
                        left < ET_BAND ? left : ET_BAND};
    struct part part = {.band = &band};
    for (int64_t i = 0; i < band.samples; i++) {
        if (task->st->results.used[i]) {
            const void *row = rb_dense_row(band.rows, i);
            for (int64_t d = 0; d < band.count; d++) {
                part.y[d] = et_get(band.rows.type, row, first + d);
            }
            part.whole = task->st->results.there[i] == band.rows.cols;
            for (int64_t d = 0; !part.whole && d < band.count; d++) {
                part.there[d] = rb_dense_get(task->st->mask, i, first + d);
            }
            add_sample(&part, i, task->add);
        }
    }
}

static void add_block(rb_context *ctx, et_state *st, rb_dense rows, int64_t samples, adder add) {
    struct task task = {st, rows, samples, add};
    rb_parallel(ctx, (rows.cols + ET_BAND - 1) / ET_BAND, band_task, &task);
}

rb_error et_general_add(rb_context *ctx, et_state *st, const rb_block *block) {
    add_block(ctx, st, et_block_rows(st, block), block->n_samples, add_shares);
    return RB_OK;
}

static void add_singles(rb_context *ctx, et_state *st, int64_t count) {
    rb_dense single = rb_dense_rows(st->results.single, 0, count), weights = st->moments.weights;
    if (st->problem.missing) {
        et_add_products(ctx, st, single, rb_dense_rows(st->mask, 0, count), weights);
        return;
    }
    double *sums = st->engine->scratch[0].scores;
    memset(sums, 0, (size_t)weights.rows * sizeof *sums);
    et_add_rows(st->engine->kernels, single, sums);
    for (int64_t h = 0; h < weights.rows; h++) {
        double *row = rb_dense_row(weights, h);
        for (int64_t d = 0; d < weights.cols; d++) {
            row[d] += sums[h];
        }
    }
}

rb_error et_max_add(rb_context *ctx, et_state *st, const rb_block *block) {
    rb_dense rows = et_block_rows(st, block);
    et_add_products(ctx, st, rb_dense_rows(st->results.single, 0, block->n_samples), rows,
                    st->moments.products);
    add_singles(ctx, st, block->n_samples);
    add_block(ctx, st, rows, block->n_samples,
              st->moments.sets.choose ? add_to_set : add_responsibilities);
    return RB_OK;
}
