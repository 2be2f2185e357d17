/* Samples that lack values. They are packed: y and the fields of the candidates at the places that
 * are there, after which they are samples of fewer features. Only what concerns all causes, W'y and
 * |W_h|^2, comes from products with a mask.
 *
 * In the M-step of linear models each feature has sums over the samples in which it is there:
 *   P_hd = sum <s_h> y_d,   Q^d = sum <s s'>,   and the field values W_d solve Q^d W_d = P_d.
 * All Q^d take D H^2 / 2 numbers. Where that is too much, missing values are hidden as the causes
 * are: what the fields of the E-step let expect, <s_h (W's)_d>, is added to P, and one Q serves all
 * features. That is an EM step too, with the same fixed points but of smaller steps. */
#include "fit.h"

#include <math.h>

/* ---- the E-step ---- */

int64_t et_mask(rb_dense rows, rb_dense mask) {
    int64_t missing = 0;
    for (int64_t i = 0; i < rows.rows; i++) {
        for (int64_t d = 0; d < rows.cols; d++) {
            bool there = !isnan(rb_dense_get(rows, i, d));
            rb_dense_set(mask, i, d, there);
            if (!there) {
                rb_dense_set(rows, i, d, 0);
                missing++;
            }
        }
    }
    return missing;
}

et_sample et_observe(const et_engine *engine, et_scratch *scratch, int lane, int64_t row) {
    int64_t all = engine->setup.n_features;
    const double *y = rb_dense_row(scratch->y, row);
    et_sample sample = {
        .n = all, .y = y, .b = rb_dense_row(scratch->b, row), .square = engine->square};
    if (!engine->setup.missing) return sample;
    const double *mask = rb_dense_row(scratch->mask, row);
    int32_t *places = scratch->places + lane * all;
    double *packed = rb_dense_row(scratch->packed, lane);
    sample.n = 0;
    for (int64_t d = 0; d < all; d++) {
        places[sample.n] = (int32_t)d;
        packed[sample.n] = y[d];
        sample.n += mask[d] != 0;
    }
    if (sample.n < all) {
        sample.places = places;
        sample.y = packed;
        sample.square = rb_dense_row(scratch->square, row);
    }
    return sample;
}

et_sample et_observe_block(const et_engine *engine, et_scratch *scratch, const rb_block *block,
                           int64_t i) {
    rb_dense row = rb_dense_rows(scratch->y, 0, 1);
    rb_block_rows(block, i, row);
    if (engine->setup.missing) et_mask(row, rb_dense_rows(scratch->mask, 0, 1));
    return et_observe(engine, scratch, 0, 0);
}

const double *et_field(const et_engine *engine, const et_scratch *scratch, const et_sample *sample,
                       int64_t item, int64_t row) {
    const double *field = rb_dense_row(engine->fields, item);
    if (!sample->places) return field;
    double *packed = rb_dense_row(scratch->fields, row);
    for (int64_t i = 0; i < sample->n; i++)
        packed[i] = field[sample->places[i]];
    return packed;
}

/* ---- moments ---- */

static const double MAX_BYTES = 1 << 28;

int64_t et_missing_pairs(int64_t units, int64_t features) {
    double h = (double)units, d = (double)features;
    if (4.0 * h * (h - 1) * d > MAX_BYTES) return 0;
    return units > 1 ? units * (units - 1) / 2 : 1;
}

/* The place of causes j < k among all pairs. */
static int64_t pair_of(int64_t units, int64_t j, int64_t k) {
    return j * (2 * units - j - 1) / 2 + k - j - 1;
}

/* ---- sums of a block, in bands of features ---- */

static void add_pair(const et_band *band, int64_t j, int64_t k, double q) {
    const et_sums *sums = band->sums;
    double *sum = et_band_row(band, sums->pairs, pair_of(sums->products.rows, j, k));
    for (int64_t d = 0; d < band->count; d++)
        sum[d] += q * band->there[d];
}

/* What causes j and k of a state share of its missing values. */
static void add_expected(const et_band *band, int64_t j, int64_t k, double q) {
    rb_dense fields = band->cpu->pass->parameters->fields, products = band->sums->products;
    const double *wj = et_band_row(band, fields, j), *wk = et_band_row(band, fields, k);
    double *pj = et_band_row(band, products, j), *pk = et_band_row(band, products, k);
    for (int64_t d = 0; d < band->count; d++) {
        double missing = q * (1 - band->there[d]);
        pj[d] += missing * wk[d];
        pk[d] += missing * wj[d];
    }
}

static void add_sample(const et_band *band, int64_t i) {
    et_look look = et_look_at(band->cpu->engine, &band->cpu->results, i);
    int candidates = look.tree->candidates, step = look.tree->items / candidates;
    bool apart = band->sums->pairs.data != NULL;
    for (int j = 0; (apart || !band->whole) && j < candidates; j++) {
        for (int k = j + 1; k < candidates; k++) {
            (apart ? add_pair : add_expected)(band, look.candidates[j * step],
                                              look.candidates[k * step],
                                              look.pairs[j * candidates + k]);
        }
    }
}

void et_missing_add(rb_context *ctx, et_cpu *cpu, rb_dense rows, et_sums *sums) {
    rb_dense items = rb_dense_rows(cpu->results.items, 0, rows.rows);
    et_add_products(ctx, cpu->part, items, rb_dense_rows(cpu->mask, 0, rows.rows), sums->weights);
    if (cpu->results.pairs) et_each_band(ctx, cpu, rows, sums, add_sample);
}

/* From items to causes: sum <s_h^2> where a value is there, into the first rows. */
static void square_weights(const et_values *values, int64_t units, rb_dense weights) {
    for (int64_t h = 0; h < units; h++) {
        double *row = rb_dense_row(weights, h);
        for (int64_t d = 0; d < weights.cols; d++) {
            double sum = 0;
            for (int a = 0; a < values->count; a++)
                sum +=
                    values->value[a] * values->value[a] * rb_dense_get(weights, a * units + h, d);
            row[d] = sum;
        }
    }
}

/* Without memory for all Q^d: what each cause is expected to have given missing values by
 * itself. */
void et_missing_finish(const et_cpu *cpu, et_sums *m) {
    rb_dense fields = cpu->pass->parameters->fields;
    square_weights(&cpu->engine->setup.values, fields.rows, m->weights);
    for (int64_t h = 0; h < fields.rows && !m->pairs.data; h++) {
        const double *field = rb_dense_row(fields, h), *there = rb_dense_row(m->weights, h);
        double *products = rb_dense_row(m->products, h), all = rb_dense_get(m->second, h, h);
        for (int64_t d = 0; d < fields.cols; d++)
            products[d] += (all - there[d]) * field[d];
    }
}

/* ---- the M-step ---- */

void et_missing_second(et_sums *sums, int64_t d) {
    rb_dense q = sums->second;
    for (int64_t j = 0; j < q.rows; j++) {
        rb_dense_set(q, j, j, rb_dense_get(sums->weights, j, d));
        for (int64_t k = j + 1; k < q.rows; k++) {
            double value = rb_dense_get(sums->pairs, pair_of(q.rows, j, k), d);
            rb_dense_set(q, j, k, value);
            rb_dense_set(q, k, j, value);
        }
    }
}

/* out_d = Q^d W_d */
static void apply_pairs(const et_sums *m, rb_dense fields, rb_dense out) {
    const double *w = fields.data, *there = m->weights.data;
    double *sum = out.data;
    for (int64_t i = 0; i < fields.rows * fields.cols; i++)
        sum[i] = w[i] * there[i];
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

void et_apply_second(rb_context *ctx, const et_sums *sums, rb_dense fields, rb_dense out) {
    if (sums->pairs.data)
        apply_pairs(sums, fields, out);
    else
        rb_gemm_parallel(ctx, 1, sums->second, RB_PLAIN, fields, RB_PLAIN, 0, out);
}
