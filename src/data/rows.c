/* Raw rows as float64, scaled to totals, as logarithms, and centred. */
#include "rows.h"

#include <math.h>
#include <string.h>

void rb_row_get(const rb_matrix *m, int64_t i, rb_row *row) {
    int64_t first = m->sparse ? m->starts[i] - m->starts[0] : i * m->row_stride;
    int64_t stride = m->sparse ? 1 : m->column_stride;
    row->count = m->sparse ? m->starts[i + 1] - m->starts[i] : m->n_features;
    row->columns = m->sparse ? m->columns + first : NULL;
    if (stride == 1) {
        const char *values = (const char *)m->values + first * (int64_t)rb_type_size(m->type);
        rb_dense_copy((rb_dense){(void *)values, 1, row->count, row->count, m->type},
                      (rb_dense){row->values, 1, row->count, row->count, RB_FLOAT64});
        return;
    }
    for (int64_t e = 0; e < row->count; e++)
        row->values[e] = rb_get(m->type, m->values, first + e * stride);
}

bool rb_value_fits(const rb_preprocess_options *options, double value) {
    return !(options->totals > 0 && value < 0) && !(options->log1p && value <= -1);
}

/* What cannot be used stays infinite, so that it is found afterwards and never filled. */
static double transform(const rb_preprocess_options *options, double value, double factor) {
    if (value == 0) return value; /* as of most counts */
    if (isinf(value) || !rb_value_fits(options, value)) return -INFINITY;
    return options->log1p ? log1p(value * factor) : value * factor;
}

/* Of a row of counts most are a few small numbers, and logarithms take long. */
static void transform_all(const rb_preprocess_options *options, double factor, rb_row *row) {
    enum { SEEN = 64 };
    double seen[SEEN] = {0}, became[SEEN] = {0};
    for (int64_t e = 0; e < row->count; e++) {
        double value = row->values[e];
        int at = value > 0 && value < SEEN ? (int)value : 0;
        if (value != seen[at]) {
            seen[at] = value;
            became[at] = transform(options, value, factor);
        }
        row->values[e] = became[at];
    }
}

/* A number of 64 bits in the order of the values, and back. */
static uint64_t key_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of(uint64_t key) {
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value with `rank` finite ones before it, byte by byte of its key: no memory is needed. */
static double ranked(const rb_row *row, int64_t rank) {
    uint64_t known = 0, mask = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        int64_t counts[256] = {0};
        uint64_t byte = 0;
        for (int64_t e = 0; e < row->count; e++) {
            uint64_t key = key_of(row->values[e]);
            if (isfinite(row->values[e]) && (key & mask) == known) counts[key >> shift & 255]++;
        }
        for (; byte < 255 && rank >= counts[byte]; byte++)
            rank -= counts[byte];
        known |= byte << shift;
        mask |= (uint64_t)255 << shift;
    }
    return value_of(known);
}

/* The mean or median of the values that are there; 0 where none is. */
static double level_of(const rb_row *row, int how) {
    double sum = 0;
    int64_t there = 0;
    for (int64_t e = 0; e < row->count; e++) {
        there += isfinite(row->values[e]);
        sum += isfinite(row->values[e]) ? row->values[e] : 0;
    }
    if (there == 0) return 0;
    if (how == RB_CENTRE_SAMPLES_MEAN) return sum / (double)there;
    double middle = ranked(row, there / 2);
    return there % 2 ? middle : (ranked(row, there / 2 - 1) + middle) / 2;
}

double rb_row_total(const rb_row *row) {
    double total = 0;
    for (int64_t e = 0; e < row->count; e++)
        total += isfinite(row->values[e]) ? row->values[e] : 0;
    return total;
}

rb_row_level rb_row_transform(const rb_preprocess_options *options, rb_row *row) {
    rb_row_level lost = {0};
    double factor = 1;
    if (options->totals > 0) {
        lost.total = rb_row_total(row);
        factor = lost.total > 0 ? options->totals / lost.total : 1; /* below 0 a value is refused */
    }
    if (options->totals > 0 || options->log1p) transform_all(options, factor, row);
    if (options->centre_samples != RB_CENTRE_SAMPLES_NONE) {
        lost.level = level_of(row, options->centre_samples);
        for (int64_t e = 0; e < row->count; e++)
            row->values[e] -= lost.level;
    }
    return lost;
}

rb_error rb_check_levels(rb_context *ctx, const rb_preprocess_options *options,
                         const rb_source *source) {
    if (!source->sparse || options->centre_samples == RB_CENTRE_SAMPLES_NONE) return RB_OK;
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "`centre-samples` requires dense data, since it would fill the zeros of sparse "
                   "ones; leave it out, or convert the data to a dense format such as .npy");
}
