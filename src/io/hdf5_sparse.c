/* Sparse groups of HDF5 (data, indices, indptr), compressed by rows or columns. The numbers of a
 * row may come in any order. */
#include "hdf5_place.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- rows in order ---- */

/* Where the entries of a row are, for sorting them by column. */
struct entry {
    int32_t column;
    double value; /* holds float32 without loss */
};

static int compare(const void *a, const void *b) {
    int32_t x = ((const struct entry *)a)->column, y = ((const struct entry *)b)->column;
    return (x > y) - (x < y);
}

static bool ascending(const int32_t *columns, int64_t count) {
    int32_t wrong = 0;
    for (int64_t e = 1; e < count; e++)
        wrong |= columns[e] <= columns[e - 1];
    return wrong == 0;
}

static bool sort_row(rb_context *ctx, rb_type type, int32_t *columns, void *values, int64_t count) {
    struct entry *row = rb_alloc(ctx, count, sizeof *row);
    if (!row) return false;
    for (int64_t e = 0; e < count; e++)
        row[e] = (struct entry){columns[e], rb_get(type, values, e)};
    qsort(row, (size_t)count, sizeof *row, compare);
    for (int64_t e = 0; e < count; e++) {
        columns[e] = row[e].column;
        rb_put(type, values, e, row[e].value);
    }
    rb_free(row);
    return true;
}

/* Sorts rows first .. first + count - 1, which are in the buffers, and checks their columns. */
static rb_error order_rows(rb_h5_stream *s, int64_t first, int64_t count, int64_t n_columns) {
    rb_type type = s->values.type;
    for (int64_t i = first; i < first + count; i++) {
        int64_t skip = s->starts[i] - s->starts[first], length = s->starts[i + 1] - s->starts[i];
        int32_t *row = s->block.columns + skip;
        char *values = (char *)s->block.values + skip * (int64_t)rb_type_size(type);
        bool good = ascending(row, length);
        if (!good && !sort_row(s->file->ctx, type, row, values, length)) return RB_ERROR_MEMORY;
        good = good || ascending(row, length);
        if (length > 0 && (row[0] < 0 || row[length - 1] >= n_columns || !good)) {
            return rb_h5_fail(s->file, RB_ERROR_FORMAT,
                              "the indices of '%s' between %lld and %lld are damaged: each must be "
                              "below %lld and stand once per row",
                              s->place.path, (long long)s->starts[i], (long long)s->starts[i + 1],
                              (long long)n_columns);
        }
    }
    return RB_OK;
}

/* ---- the three data sets ---- */

static rb_error open_vector(rb_h5_stream *s, const char *name, bool whole, rb_h5_data *data) {
    char path[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "%s/%s", s->place.path, name);
    rb_error err = rb_h5_data_open(s->file, path, data);
    if (!err && (data->rank != 1 || !data->numeric || (whole && data->kind != H5T_INTEGER))) {
        err = rb_h5_fail(s->file, RB_ERROR_FORMAT, "'%s' must be a vector of %s", path,
                         whole ? "whole numbers" : "numbers");
    }
    data->path = s->place.path;
    return err;
}

/* Reads indptr, which must ascend from 0 to the number of stored entries. */
static rb_error read_starts(rb_h5_stream *s, int64_t n_rows) {
    rb_h5_data data;
    int64_t stored = s->values.shape[0];
    rb_error err = open_vector(s, "indptr", true, &data);
    if (!err && data.shape[0] - 1 != n_rows) {
        err =
            rb_h5_fail(s->file, RB_ERROR_FORMAT, "'%s/indptr' has %lld numbers, but must have %lld",
                       s->place.path, (long long)data.shape[0], (long long)n_rows + 1);
    }
    s->starts = err ? NULL : rb_alloc(s->file->ctx, n_rows + 1, sizeof *s->starts);
    err = err || s->starts ? err : RB_ERROR_MEMORY;
    err = err ? err : rb_h5_data_read(&data, 0, n_rows + 1, H5T_NATIVE_INT64, s->starts);
    rb_h5_data_close(&data);
    bool good = !err && s->starts[0] == 0 && s->starts[n_rows] == stored;
    for (int64_t i = 0; good && i < n_rows; i++)
        good = s->starts[i] <= s->starts[i + 1];
    return err || good ? err
                       : rb_h5_fail(s->file, RB_ERROR_FORMAT,
                                    "'%s/indptr' must ascend from 0 to %lld, the stored numbers",
                                    s->place.path, (long long)stored);
}

rb_error rb_h5_sparse_open(rb_h5_stream *s) {
    bool by_rows = s->place.kind == RB_H5_ROWS;
    if ((by_rows ? s->place.n_features : s->place.n_samples) > INT32_MAX) {
        return rb_h5_fail(s->file, RB_ERROR_UNSUPPORTED, "a sparse matrix may have at most %d %s",
                          INT32_MAX, by_rows ? "features" : "samples");
    }
    rb_error err = open_vector(s, "data", false, &s->values);
    err = err ? err : open_vector(s, "indices", true, &s->columns);
    if (!err && s->values.shape[0] != s->columns.shape[0]) {
        err = rb_h5_fail(s->file, RB_ERROR_FORMAT,
                         "'%s' has %lld numbers in data, but %lld in indices", s->place.path,
                         (long long)s->values.shape[0], (long long)s->columns.shape[0]);
    }
    return err ? err : read_starts(s, by_rows ? s->place.n_samples : s->place.n_features);
}

/* Indices that do not fit become the nearest that does, which order_rows then refuses. */
rb_error rb_h5_sparse_read(rb_h5_stream *s, int64_t first, int64_t count) {
    bool by_rows = s->place.kind == RB_H5_ROWS;
    int64_t from = s->starts[first], stored = s->starts[first + count] - from;
    hid_t type = rb_h5_native(s->values.type);
    rb_error err = rb_h5_data_read(&s->columns, from, stored, H5T_NATIVE_INT32, s->block.columns);
    err = err ? err : rb_h5_data_read(&s->values, from, stored, type, s->block.values);
    err = err ? err : rb_h5_check(s->file);
    return err ? err
               : order_rows(s, first, count, by_rows ? s->place.n_features : s->place.n_samples);
}
