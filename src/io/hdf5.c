/* HDF5 as a format of data: the table, and streams, by which whole matrices are read as well. */
#include "hdf5_place.h"

#include <string.h>

enum { PIECE_BYTES = 1 << 26 };

static bool recognise(const rb_probe *probe) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return !probe->folder && !probe->gzip && probe->n_bytes >= 8 &&
           memcmp(probe->bytes, signature, sizeof signature) == 0;
}

/* ---- streams ---- */

static bool is_sparse(const rb_h5_stream *stream) {
    return stream->place.kind != RB_H5_DENSE;
}

/* Frees a stream whose file is held. Gives err, or RB_ERROR_FILE when not all could be read. */
static rb_error free_stream(rb_h5_stream *stream, rb_error err) {
    rb_h5_data_close(&stream->values);
    rb_h5_data_close(&stream->columns);
    err = rb_h5_end(stream->file, err);
    rb_h5_place_clear(&stream->place);
    rb_free(stream->starts);
    rb_free(stream->block.values);
    rb_free(stream->block.columns);
    rb_free(stream->before.values);
    rb_free(stream->before.columns);
    rb_free(stream);
    return err;
}

/* Opens a file, which stays held, and the data sets of its matrix. */
static rb_error open_stream(rb_context *ctx, const char *path, const rb_read_options *options,
                            rb_h5_stream **out) {
    rb_h5_stream *stream = rb_alloc_zero(ctx, 1, sizeof *stream);
    rb_error err = stream ? rb_h5_open(ctx, path, RB_H5_SHARED, &stream->file) : RB_ERROR_MEMORY;
    if (err) {
        rb_free(stream);
        return err;
    }
    err = rb_h5_find(stream->file, options ? options->dataset : NULL, &stream->place);
    if (!err) {
        err = is_sparse(stream)
                  ? rb_h5_sparse_open(stream)
                  : rb_h5_data_open(stream->file, stream->place.path, &stream->values);
    }
    *out = stream;
    return err ? free_stream(stream, err) : RB_OK;
}

/* Makes memory for so many numbers; the old ones are not kept. */
static rb_error reserve(rb_context *ctx, rb_h5_stream *stream, int64_t capacity) {
    rb_h5_block *block = &stream->block;
    if (capacity <= block->capacity && block->values) return RB_OK;
    rb_free(block->values);
    rb_free(block->columns);
    *block = (rb_h5_block){.capacity = -1};
    block->values = rb_alloc(ctx, capacity, rb_type_size(stream->values.type));
    if (block->values && is_sparse(stream))
        block->columns = rb_alloc(ctx, capacity, sizeof *block->columns);
    if (!block->values || (is_sparse(stream) && !block->columns)) return RB_ERROR_MEMORY;
    block->capacity = capacity;
    return RB_OK;
}

/* Reads rows as they are stored, which are features where a sparse matrix is compressed by them. */
static rb_error read_rows(rb_h5_stream *stream, int64_t first, int64_t count) {
    int64_t columns = stream->place.n_features, cells;
    rb_context *ctx = stream->file->ctx;
    if (is_sparse(stream)) {
        cells = stream->starts[first + count] - stream->starts[first];
    } else if (!rb_multiply(count, columns, &cells)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a block of %lld samples x %lld features is too large",
                       (long long)count, (long long)columns);
    }
    rb_error err = reserve(ctx, stream, cells);
    if (err) return err;
    if (is_sparse(stream)) return rb_h5_sparse_read(stream, first, count);
    int64_t bytes = columns * (int64_t)rb_type_size(stream->values.type);
    int64_t some = PIECE_BYTES / (bytes + 1) + 1;
    for (int64_t i = 0; !err && i < count; i += some) { /* between which a request to stop counts */
        err = rb_check_stop(ctx);
        err = err ? err
                  : rb_h5_data_read(&stream->values, first + i, count - i < some ? count - i : some,
                                    rb_h5_native(stream->values.type),
                                    (char *)stream->block.values + i * bytes);
    }
    return err ? err : rb_h5_check(stream->file);
}

/* ---- whole ---- */

/* The matrix of the rows that were read takes over all that the stream holds of it. */
static rb_error take_matrix(rb_context *ctx, rb_h5_stream *s, rb_matrix **matrix) {
    bool turned = s->place.kind == RB_H5_COLUMNS;
    int64_t rows = turned ? s->place.n_features : s->place.n_samples;
    int64_t columns = turned ? s->place.n_samples : s->place.n_features;
    rb_error err = is_sparse(s) ? rb_matrix_own_csr(ctx, s->values.type, rows, columns, s->starts,
                                                    s->block.columns, s->block.values, matrix)
                                : rb_matrix_own_dense(ctx, s->values.type, rows, columns,
                                                      s->block.values, matrix);
    s->starts = NULL;
    s->block = (rb_h5_block){0};
    if (!err && turned) err = rb_matrix_transpose(ctx, matrix);
    if (!err) {
        (*matrix)->sample_names = s->place.samples;
        (*matrix)->feature_names = s->place.features;
        s->place.samples = s->place.features = NULL;
    }
    return err;
}

static rb_error read_hdf5(rb_context *ctx, const char *path, const rb_read_options *options,
                          rb_matrix **matrix) {
    rb_h5_stream *stream;
    *matrix = NULL;
    rb_error err = open_stream(ctx, path, options, &stream);
    if (err) return err;
    bool turned = stream->place.kind == RB_H5_COLUMNS;
    err = read_rows(stream, 0, turned ? stream->place.n_features : stream->place.n_samples);
    err = err ? err : take_matrix(ctx, stream, matrix);
    return rb_matrix_end(free_stream(stream, err), matrix);
}

/* ---- by blocks ---- */

static rb_error read_block(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    rb_h5_stream *stream = source->state;
    if (source->ahead) {
        rb_h5_block block = stream->before;
        stream->before = stream->block;
        stream->block = block;
    }
    rb_h5_hold(stream->file, ctx);
    rb_error err = read_rows(stream, first, count);
    rb_h5_let_go(stream->file);
    *view = (rb_matrix){.n_samples = count,
                        .n_features = source->n_features,
                        .type = source->type,
                        .sparse = source->sparse,
                        .values = stream->block.values,
                        .row_stride = source->n_features,
                        .column_stride = 1,
                        .starts = source->sparse ? stream->starts + first : NULL,
                        .columns = stream->block.columns};
    return err;
}

rb_h5 *rb_hdf5_file(const rb_source *source) {
    return source->read == read_block ? ((rb_h5_stream *)source->state)->file : NULL;
}

static void close_source(rb_source *source) {
    rb_h5_stream *stream = source->state;
    rb_h5_hold(stream->file, NULL); /* a file that was only read closes without a message */
    free_stream(stream, RB_OK);
}

/* The bytes of a data set that is compressed; else 0. */
static int64_t packed_bytes(const rb_h5_data *data) {
    double bytes = (double)data->shape[0] * (double)data->shape[1] * (double)data->bytes;
    return !data->packed ? 0 : bytes < 4e18 ? (int64_t)bytes : INT64_MAX / 2;
}

static rb_error open_hdf5(rb_context *ctx, const char *path, const rb_read_options *options,
                          rb_source **out) {
    rb_h5_stream *stream;
    *out = NULL;
    if (options && options->transpose)
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "%s cannot be transposed by blocks", path);
    rb_error err = open_stream(ctx, path, options, &stream);
    if (err) return err;
    rb_source *source = rb_source_new(ctx);
    err = source ? RB_OK : RB_ERROR_MEMORY;
    if (!err && stream->place.kind == RB_H5_COLUMNS) {
        err = rb_h5_fail(stream->file, RB_ERROR_UNSUPPORTED,
                         "'%s' is compressed by columns and cannot be read by rows",
                         stream->place.path);
    }
    err = err ? err : rb_h5_check(stream->file);
    if (err) {
        rb_free(source);
        return free_stream(stream, err);
    }
    *source =
        (rb_source){.n_samples = stream->place.n_samples,
                    .n_features = stream->place.n_features,
                    .type = stream->values.type,
                    .sparse = is_sparse(stream),
                    .sample_names = stream->place.samples,
                    .feature_names = stream->place.features,
                    .unpacked = packed_bytes(&stream->values) + packed_bytes(&stream->columns),
                    .reads_ahead = true,
                    .read = read_block,
                    .close = close_source,
                    .state = stream};
    rb_h5_let_go(stream->file);
    *out = source;
    return RB_OK;
}

const rb_format rb_format_hdf5 = {"hdf5", recognise, read_hdf5, open_hdf5};
