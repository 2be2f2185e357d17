/* Raw rows as float64, scaled to totals and as logarithms. */
#include "rows.h"

#include <math.h>

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

/* The first entry whose column is not below k. */
int64_t rb_row_entry(const rb_row *row, int64_t k) {
    int64_t low = row->columns ? 0 : k, high = row->columns ? row->count : k;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool before = row->columns[middle] < k;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

bool rb_value_fits(const rb_preprocess_options *options, double value) {
    return !(options->totals > 0 && value < 0) && !(options->log1p && value <= -1);
}

/* What cannot be used stays infinite, so that it is found afterwards and never filled. */
static double transformed(const rb_preprocess_options *options, double value, double factor) {
    if (isinf(value) || !rb_value_fits(options, value)) return -INFINITY;
    return options->log1p ? log1p(value * factor) : value * factor;
}

double rb_row_transform(const rb_preprocess_options *options, rb_row *row) {
    double total = 0, factor = 1;
    if (options->totals == 0 && !options->log1p) return 0;
    if (options->totals > 0) {
        for (int64_t e = 0; e < row->count; e++)
            total += isfinite(row->values[e]) ? row->values[e] : 0;
        factor = total == 0 ? 1 : options->totals / total;
    }
    for (int64_t e = 0; e < row->count; e++)
        row->values[e] = transformed(options, row->values[e], factor);
    return total;
}
