/* Which data a model was fitted to: a checksum of their values. */
#include "data.h"
#include "statistics.h"

#include <math.h>

/* Of a sparse row also where its values stand, and how many there are: rows do not run together. */
uint32_t rb_row_checksum(uint32_t before, const rb_row *row) {
    uint32_t sum = before;
    size_t count = (size_t)row->count;
    if (row->columns) {
        sum = rb_crc32(sum, &row->count, sizeof row->count);
        sum = rb_crc32(sum, row->columns, count * sizeof *row->columns);
    }
    return rb_crc32(sum, row->values, count * sizeof *row->values);
}

static int64_t count_missing(const rb_row *row) {
    int64_t count = 0;
    for (int64_t e = 0; e < row->count; e++) {
        count += isnan(row->values[e]) != 0;
    }
    return count;
}

rb_error rb_matrix_checksum(rb_context *ctx, const rb_matrix *matrix, uint32_t *checksum) {
    double *values = rb_alloc(ctx, matrix->n_features, sizeof *values);
    *checksum = 0;
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < matrix->n_samples; i++) {
        rb_row row = {.values = values};
        rb_row_get(matrix, i, &row);
        *checksum = rb_row_checksum(*checksum, &row);
    }
    rb_free(values);
    return RB_OK;
}

rb_error rb_preprocess_renew(rb_context *ctx, rb_preprocess *p, rb_source *source) {
    enum { BLOCK_CELLS = 1 << 21 };
    int64_t n = source->n_samples, size = 1 + BLOCK_CELLS / (source->n_features + 1);
    double *values = rb_alloc(ctx, source->n_features, sizeof *values);
    rb_error err = values ? RB_OK : RB_ERROR_MEMORY;
    uint32_t checksum = 0;
    int64_t missing = 0;
    for (int64_t first = 0; !err && first < n; first += size) {
        int64_t count = n - first < size ? n - first : size;
        rb_matrix view;
        err = rb_source_read(ctx, source, first, count, &view);
        for (int64_t i = 0; !err && i < count; i++) {
            rb_row row = {.values = values};
            rb_row_get(&view, i, &row);
            checksum = rb_row_checksum(checksum, &row);
            missing += count_missing(&row);
        }
    }
    rb_free(values);
    if (!err) {
        p->checksum = checksum;
        p->n_filled = missing;
    }
    return err;
}
