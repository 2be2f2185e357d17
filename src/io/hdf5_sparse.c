/* Sparse groups of HDF5 (data, indices, indptr), compressed by rows or columns: read whole, or by
 * blocks of rows. The numbers of a row may come in any order. */
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
    for (int64_t e = 1; e < count; e++) {
        if (columns[e] <= columns[e - 1]) {
            return false;
        }
    }
    return true;
}

static rb_error sort_row(rb_context *ctx, rb_type type, int32_t *columns, void *values,
                         int64_t count) {
    float *small = values;
    double *large = values;
    struct entry *row = rb_alloc(ctx, count, sizeof *row);
    if (!row) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t e = 0; e < count; e++) {
        row[e] = (struct entry){columns[e], type == RB_FLOAT32 ? (double)small[e] : large[e]};
    }
    qsort(row, (size_t)count, sizeof *row, compare);
    for (int64_t e = 0; e < count; e++) {
        columns[e] = row[e].column;
        if (type == RB_FLOAT32) {
            small[e] = (float)row[e].value;
        } else {
            large[e] = row[e].value;
        }
    }
    rb_free(row);
    return RB_OK;
}

/* Sorts rows first .. first + count - 1 and checks their columns. `starts` is that of the whole
 * matrix, columns and values are those of these rows. */
static rb_error order_rows(rb_h5 *file, const char *path, rb_type type, int64_t first,
                           int64_t count, int64_t n_columns, const int64_t *starts,
                           int32_t *columns, void *values) {
    for (int64_t i = first; i < first + count; i++) {
        int64_t skip = starts[i] - starts[first], length = starts[i + 1] - starts[i];
        int32_t *row = columns + skip;
        if (!ascending(row, length)) {
            rb_error err = sort_row(file->ctx, type, row,
                                    (char *)values + skip * (int64_t)rb_type_size(type), length);
            if (err) {
                return err;
            }
        }
        if (length > 0 && (row[0] < 0 || row[length - 1] >= n_columns || !ascending(row, length))) {
            return rb_h5_fail(file, RB_ERROR_FORMAT,
                              "the indices of '%s' between %lld and %lld are damaged: each must be "
                              "below %lld and come once",
                              path, (long long)starts[i], (long long)starts[i + 1],
                              (long long)n_columns);
        }
    }
    return RB_OK;
}

/* ---- the three data sets ---- */

static void join(char path[RB_H5_LONG_PATH], const rb_h5_place *place, const char *name) {
    snprintf(path, RB_H5_LONG_PATH, "%s/%s", place->path, name);
}

static rb_error open_vector(rb_h5 *file, const rb_h5_place *place, const char *name, bool whole,
                            rb_h5_data *data) {
    char path[RB_H5_LONG_PATH];
    join(path, place, name);
    rb_error err = rb_h5_data_open(file, path, data);
    if (!err && (data->rank != 1 || !data->numeric || (whole && data->kind != H5T_INTEGER))) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must be a vector of %s", path,
                         whole ? "whole numbers" : "numbers");
    }
    return err;
}

/* Reads indptr, which must ascend from 0 to the number of stored entries. */
static rb_error read_starts(rb_h5 *file, const rb_h5_place *place, int64_t n_rows, int64_t stored,
                            int64_t **starts) {
    rb_h5_data data;
    rb_error err = open_vector(file, place, "indptr", true, &data);
    if (!err && data.shape[0] - 1 != n_rows) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s/indptr' has %lld numbers, but must have %lld",
                         place->path, (long long)data.shape[0], (long long)n_rows + 1);
    }
    if (!err) {
        *starts = rb_alloc(file->ctx, n_rows + 1, sizeof **starts);
        err = *starts ? rb_h5_data_read(file, place->path, &data, 0, n_rows + 1, 0, 1,
                                        H5T_NATIVE_INT64, *starts)
                      : RB_ERROR_MEMORY;
    }
    rb_h5_data_close(&data);
    bool good = !err && (*starts)[0] == 0 && (*starts)[n_rows] == stored;
    for (int64_t i = 0; good && i < n_rows; i++) {
        good = (*starts)[i] <= (*starts)[i + 1];
    }
    return err || good ? err
                       : rb_h5_fail(file, RB_ERROR_FORMAT,
                                    "'%s/indptr' must ascend from 0 to %lld, the stored numbers",
                                    place->path, (long long)stored);
}

/* Opens data and indices, and reads indptr. What is opened is to be closed in any case. */
static rb_error open_group(rb_h5 *file, const rb_h5_place *place, rb_h5_data *values,
                           rb_h5_data *columns, int64_t **starts) {
    int64_t n_rows = place->kind == RB_H5_ROWS ? place->n_samples : place->n_features;
    int64_t n_columns = place->kind == RB_H5_ROWS ? place->n_features : place->n_samples;
    if (n_columns > INT32_MAX) {
        return rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "a sparse matrix may have at most %d %s",
                          INT32_MAX, place->kind == RB_H5_ROWS ? "features" : "samples");
    }
    rb_error err = open_vector(file, place, "data", false, values);
    if (!err) {
        err = open_vector(file, place, "indices", true, columns);
    }
    if (!err && values->shape[0] != columns->shape[0]) {
        err =
            rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld numbers in data, but %lld in indices",
                       place->path, (long long)values->shape[0], (long long)columns->shape[0]);
    }
    if (!err) {
        err = read_starts(file, place, n_rows, values->shape[0], starts);
    }
    return err;
}

/* Reads entries from .. from + count - 1. Numbers that do not fit become the nearest that does,
 * which order_rows then refuses. */
static rb_error read_entries(rb_h5 *file, const rb_h5_place *place, const rb_h5_data *values,
                             const rb_h5_data *columns, int64_t from, int64_t count,
                             int32_t *column_numbers, void *numbers) {
    rb_error err = rb_h5_data_read(file, place->path, columns, from, count, 0, 1, H5T_NATIVE_INT32,
                                   column_numbers);
    if (!err) {
        err = rb_h5_data_read(file, place->path, values, from, count, 0, 1,
                              rb_h5_native(values->type), numbers);
    }
    return err;
}

/* ---- whole ---- */

/* Reads what is stored as compressed rows, n_rows x n_columns; starts is taken over. */
static rb_error read_rows_of(rb_h5 *file, const rb_h5_place *place, const rb_h5_data *values,
                             const rb_h5_data *columns, int64_t *starts, rb_matrix **matrix) {
    bool rows = place->kind == RB_H5_ROWS;
    int64_t n_rows = rows ? place->n_samples : place->n_features;
    int64_t n_columns = rows ? place->n_features : place->n_samples;
    int64_t stored = starts[n_rows];
    int32_t *column_numbers = rb_alloc(file->ctx, stored, sizeof *column_numbers);
    void *numbers = rb_alloc(file->ctx, stored, rb_type_size(values->type));
    rb_error err = column_numbers && numbers ? read_entries(file, place, values, columns, 0, stored,
                                                            column_numbers, numbers)
                                             : RB_ERROR_MEMORY;
    if (!err) {
        err = order_rows(file, place->path, values->type, 0, n_rows, n_columns, starts,
                         column_numbers, numbers);
    }
    if (err) {
        rb_free(column_numbers);
        rb_free(numbers);
        rb_free(starts);
        return err;
    }
    return rb_matrix_own_csr(file->ctx, values->type, n_rows, n_columns, starts, column_numbers,
                             numbers, matrix);
}

rb_error rb_h5_read_sparse(rb_h5 *file, const rb_h5_place *place, rb_matrix **matrix) {
    rb_h5_data values = {.id = H5I_INVALID_HID}, columns = {.id = H5I_INVALID_HID};
    int64_t *starts = NULL;
    *matrix = NULL;
    rb_error err = open_group(file, place, &values, &columns, &starts);
    if (err) {
        rb_free(starts);
    } else {
        err = read_rows_of(file, place, &values, &columns, starts, matrix);
    }
    if (!err && place->kind == RB_H5_COLUMNS) {
        err = rb_matrix_transpose(file->ctx, matrix);
        if (err) {
            rb_matrix_free(*matrix);
            *matrix = NULL;
        }
    }
    rb_h5_data_close(&values);
    rb_h5_data_close(&columns);
    return err;
}

/* ---- by blocks ---- */

static rb_error read_block(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    rb_h5_stream *stream = source->state;
    int64_t from = stream->starts[first];
    int64_t stored = stream->starts[first + count] - from;
    rb_error err = rb_h5_stream_room(ctx, stream, source->type, true, stored);
    if (err) {
        return err;
    }
    rb_h5_hold(stream->file, ctx);
    err = read_entries(stream->file, &stream->place, &stream->values, &stream->columns, from,
                       stored, stream->column_buffer, stream->buffer);
    if (!err) {
        err = rb_h5_check(stream->file);
    }
    if (!err) {
        err = order_rows(stream->file, stream->place.path, source->type, first, count,
                         source->n_features, stream->starts, stream->column_buffer, stream->buffer);
    }
    rb_h5_let_go(stream->file);
    *view = (rb_matrix){.n_samples = count,
                        .n_features = source->n_features,
                        .type = source->type,
                        .sparse = true,
                        .values = stream->buffer,
                        .starts = stream->starts + first,
                        .columns = stream->column_buffer};
    return err;
}

rb_error rb_h5_stream_sparse(rb_h5_stream *stream, rb_source *source) {
    if (stream->place.kind == RB_H5_COLUMNS) {
        return rb_h5_fail(stream->file, RB_ERROR_UNSUPPORTED,
                          "'%s' is compressed by columns and cannot be read by rows",
                          stream->place.path);
    }
    rb_error err = open_group(stream->file, &stream->place, &stream->values, &stream->columns,
                              &stream->starts);
    source->type = stream->values.type;
    source->sparse = true;
    source->read = read_block;
    source->reads_ahead = true;
    return err;
}
