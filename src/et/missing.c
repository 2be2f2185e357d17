/* Samples that lack values. They are packed: y and the fields of the candidates at the places that
 * are there, after which they are samples of fewer features. Only what concerns all causes, W'y and
 * |W_h|^2, comes from products with a mask. */
#include "engine.h"

#include <math.h>

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
    if (!engine->setup.missing) {
        return sample;
    }
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
    if (engine->setup.missing) {
        et_mask(row, rb_dense_rows(scratch->mask, 0, 1));
    }
    return et_observe(engine, scratch, 0, 0);
}

const double *et_field(const et_engine *engine, const et_sample *sample, int64_t cause,
                       double *room) {
    const double *field = rb_dense_row(engine->parameters.fields, cause);
    if (!sample->places) {
        return field;
    }
    for (int64_t i = 0; i < sample->n; i++) {
        room[i] = field[sample->places[i]];
    }
    return room;
}
