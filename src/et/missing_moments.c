/* The M-step of linear models where values are missing. Each feature has sums over the samples in
 * which it is there:
 *   P_hd = sum <s_h> y_d,   Q^d = sum <s s'>,   and the field values W_d solve Q^d W_d = P_d.
 * All Q^d take D H^2 / 2 numbers. Where that is too much, missing values are hidden as the causes
 * are: what the fields of the E-step let expect, <s_h (W's)_d>, is added to P, and one Q serves all
 * features. That is an EM step too, with the same fixed points but of smaller steps. */
#include "fit.h"

static const double MOST_BYTES = 1 << 28;

rb_error et_missing_moments_new(rb_context *ctx, const et_state *st, et_moments *m) {
    int64_t h = st->options.units, d = st->problem.n_features;
    if (4.0 * (double)h * (double)(h - 1) * (double)d > MOST_BYTES) {
        return RB_OK;
    }
    int64_t pairs = h > 1 ? h * (h - 1) / 2 : 1;
    return rb_dense_new(ctx, RB_FLOAT64, pairs, d, &m->pairs);
}

/* The place of causes j < k among all pairs. */
static int64_t pair_of(int64_t units, int64_t j, int64_t k) {
    return j * (2 * units - j - 1) / 2 + k - j - 1;
}

/* ---- sums of a block, in bands of features ---- */

struct task {
    et_state *st;
    int64_t samples;
};

struct band {
    int64_t first, count;
    double there[ET_BAND]; /* of a sample: 1, or 0 for a value that is missing */
};

static double *band_row(const struct band *band, rb_dense rows, int64_t row) {
    return (double *)rb_dense_row(rows, row) + band->first;
}

static void add_pair(et_state *st, const struct band *band, int64_t j, int64_t k, double q) {
    double *sum = band_row(band, st->moments.pairs, pair_of(st->options.units, j, k));
    for (int64_t d = 0; d < band->count; d++) {
        sum[d] += q * band->there[d];
    }
}

/* What causes j and k of a state share of its missing values. */
static void add_expected(et_state *st, const struct band *band, int64_t j, int64_t k, double q) {
    rb_dense fields = st->engine->parameters.fields, products = st->moments.products;
    const double *wj = band_row(band, fields, j), *wk = band_row(band, fields, k);
    double *pj = band_row(band, products, j), *pk = band_row(band, products, k);
    for (int64_t d = 0; d < band->count; d++) {
        double missing = q * (1 - band->there[d]);
        pj[d] += missing * wk[d];
        pk[d] += missing * wj[d];
    }
}

static void add_sample(et_state *st, const struct band *band, int64_t i) {
    et_look look = et_look_at(st->engine, &st->results, i);
    const int32_t *list = look.candidates;
    int candidates = look.tree->candidates;
    bool apart = st->moments.pairs.data != NULL;
    for (int j = 0; j < candidates; j++) {
        for (int k = j + 1; k < candidates; k++) {
            double q = look.pairs[j * candidates + k];
            if (apart) {
                add_pair(st, band, list[j], list[k], q);
            } else {
                add_expected(st, band, list[j], list[k], q);
            }
        }
    }
}

static void band_task(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct task *task = arg;
    et_state *st = task->st;
    struct band band = {.first = index * ET_BAND};
    int64_t left = st->mask.cols - band.first;
    band.count = left < ET_BAND ? left : ET_BAND;
    for (int64_t i = 0; i < task->samples; i++) {
        bool whole = st->results.there[i] == st->mask.cols;
        if (!st->results.used[i] || (whole && !st->moments.pairs.data)) {
            continue;
        }
        for (int64_t d = 0; d < band.count; d++) {
            band.there[d] = rb_dense_get(st->mask, i, band.first + d);
        }
        add_sample(st, &band, i);
    }
}

void et_missing_add(rb_context *ctx, et_state *st, const rb_block *block) {
    struct task task = {st, block->n_samples};
    rb_dense mean = rb_dense_rows(st->results.mean, 0, block->n_samples);
    rb_dense mask = rb_dense_rows(st->mask, 0, block->n_samples);
    et_add_products(ctx, st, mean, mask, st->moments.weights);
    if (st->results.pairs) {
        rb_parallel(ctx, (mask.cols + ET_BAND - 1) / ET_BAND, band_task, &task);
    }
}

/* Without room for all Q^d: what each cause is expected to have given missing values by itself. */
void et_missing_finish(et_state *st) {
    const et_moments *m = &st->moments;
    rb_dense fields = st->engine->parameters.fields;
    for (int64_t h = 0; h < fields.rows && !m->pairs.data; h++) {
        const double *field = rb_dense_row(fields, h), *there = rb_dense_row(m->weights, h);
        double *products = rb_dense_row(m->products, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            products[d] += (m->sums[h] - there[d]) * field[d];
        }
    }
}

/* ---- the M-step ---- */

void et_missing_second(et_state *st, int64_t d) {
    rb_dense q = st->moments.second;
    for (int64_t j = 0; j < q.rows; j++) {
        rb_dense_set(q, j, j, rb_dense_get(st->moments.weights, j, d));
        for (int64_t k = j + 1; k < q.rows; k++) {
            double value = rb_dense_get(st->moments.pairs, pair_of(q.rows, j, k), d);
            rb_dense_set(q, j, k, value);
            rb_dense_set(q, k, j, value);
        }
    }
}

/* out_d = Q^d W_d */
static void apply_pairs(const et_moments *m, rb_dense fields, rb_dense out) {
    for (int64_t j = 0; j < fields.rows; j++) {
        const double *wj = rb_dense_row(fields, j), *there = rb_dense_row(m->weights, j);
        double *sum = rb_dense_row(out, j);
        for (int64_t d = 0; d < fields.cols; d++) {
            sum[d] = wj[d] * there[d];
        }
    }
    for (int64_t j = 0; j < fields.rows; j++) {
        const double *wj = rb_dense_row(fields, j);
        double *sum_j = rb_dense_row(out, j);
        for (int64_t k = j + 1; k < fields.rows; k++) {
            const double *wk = rb_dense_row(fields, k);
            const double *pair = rb_dense_row(m->pairs, pair_of(fields.rows, j, k));
            double *sum_k = rb_dense_row(out, k);
            for (int64_t d = 0; d < fields.cols; d++) {
                sum_j[d] += pair[d] * wk[d];
                sum_k[d] += pair[d] * wj[d];
            }
        }
    }
}

void et_apply_second(rb_context *ctx, et_state *st) {
    rb_dense fields = st->engine->parameters.fields;
    if (st->moments.pairs.data) {
        apply_pairs(&st->moments, fields, st->target);
    } else {
        rb_gemm_parallel(ctx, 1, st->moments.second, RB_PLAIN, fields, RB_PLAIN, 0, st->target);
    }
}
