/* Dense data sets of HDF5: read whole, or by blocks of rows. */
#include "hdf5_place.h"

/* A row of chunks is kept decompressed up to this many bytes, so that reading by rows unpacks each
 * chunk once. */
enum { CACHE_BYTES = 1 << 28 };

rb_error rb_h5_read_dense(rb_h5 *file, const rb_h5_place *place, rb_matrix **matrix) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, place->path, &data);
    if (!err) {
        err =
            rb_matrix_new_dense(file->ctx, data.type, place->n_samples, place->n_features, matrix);
    }
    if (!err) {
        err = rb_h5_data_read(file, place->path, &data, 0, place->n_samples, 0, place->n_features,
                              rb_h5_native(data.type), (void *)(*matrix)->values);
        if (err) {
            rb_matrix_free(*matrix);
            *matrix = NULL;
        }
    }
    rb_h5_data_close(&data);
    return err;
}

/* Bytes of all chunks that a row touches; 0 when the data set has none. */
static size_t row_of_chunks(hid_t data, int64_t n_features) {
    hsize_t chunk[2] = {0, 0};
    size_t bytes = 0;
    hid_t list = H5Dget_create_plist(data);
    hid_t type = H5Dget_type(data);
    if (list >= 0 && type >= 0 && H5Pget_layout(list) == H5D_CHUNKED &&
        H5Pget_chunk(list, 2, chunk) == 2 && chunk[1] > 0) {
        hsize_t across = ((hsize_t)n_features + chunk[1] - 1) / chunk[1];
        double all =
            (double)across * (double)chunk[0] * (double)chunk[1] * (double)H5Tget_size(type);
        bytes = all < CACHE_BYTES ? (size_t)all : CACHE_BYTES;
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (list >= 0) {
        H5Pclose(list);
    }
    return bytes;
}

/* HDF5 keeps a row of the chunks that it reads itself; where it may not, it is only slower. */
static rb_error enlarge_cache(rb_h5 *file, const rb_h5_place *place, rb_h5_data *data) {
    size_t bytes =
        data->chunks || data->keep_no_chunks ? 0 : row_of_chunks(data->id, place->n_features);
    return bytes == 0 || rb_h5_data_reopen(file, place->path, bytes, data)
               ? RB_OK
               : rb_h5_broken(file, RB_ERROR_FORMAT, "there is no readable data set", place->path);
}

static rb_error read_rows(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                          rb_matrix *view) {
    rb_h5_stream *stream = source->state;
    int64_t cells;
    if (!rb_multiply(count, source->n_features, &cells)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a block of %lld samples x %lld features is too large",
                       (long long)count, (long long)source->n_features);
    }
    rb_error err = rb_h5_stream_room(ctx, stream, source->type, false, cells);
    if (err) {
        return err;
    }
    rb_h5_hold(stream->file, ctx);
    err = rb_h5_data_read(stream->file, stream->place.path, &stream->values, first, count, 0,
                          source->n_features, rb_h5_native(source->type), stream->buffer);
    if (!err) {
        err = rb_h5_check(stream->file);
    }
    rb_h5_let_go(stream->file);
    *view = (rb_matrix){.n_samples = count,
                        .n_features = source->n_features,
                        .type = source->type,
                        .values = stream->buffer,
                        .row_stride = source->n_features,
                        .column_stride = 1};
    return err;
}

rb_error rb_h5_stream_dense(rb_h5_stream *stream, rb_source *source) {
    rb_error err = rb_h5_data_open(stream->file, stream->place.path, &stream->values);
    if (!err) {
        err = enlarge_cache(stream->file, &stream->place, &stream->values);
    }
    if (!err) {
        source->type = stream->values.type;
        source->read = read_rows;
        source->reads_ahead = true;
    }
    return err;
}
