/* HDF5 as a format of data: the table, reading whole, and sources that stream. */
#include "hdf5_place.h"

#include <string.h>

static bool recognise(const rb_probe *probe) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return !probe->folder && !probe->gzip && probe->n_bytes >= 8 &&
           memcmp(probe->bytes, signature, sizeof signature) == 0;
}

static rb_error read_place(rb_h5 *file, rb_h5_place *place, rb_matrix **matrix) {
    rb_error err = place->kind == RB_H5_DENSE ? rb_h5_read_dense(file, place, matrix)
                                              : rb_h5_read_sparse(file, place, matrix);
    if (!err) {
        (*matrix)->sample_names = place->samples;
        (*matrix)->feature_names = place->features;
        place->samples = place->features = NULL;
    }
    return err;
}

static rb_error read_hdf5(rb_context *ctx, const char *path, const rb_read_options *options,
                          rb_matrix **matrix) {
    rb_h5 *file;
    rb_h5_place place = {0};
    *matrix = NULL;
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    if (err) {
        return err;
    }
    err = rb_h5_find(file, options ? options->dataset : NULL, &place);
    err = err ? err : read_place(file, &place, matrix);
    rb_h5_place_clear(&place);
    rb_error unread = rb_h5_close(file);
    if (!err && unread) {
        rb_matrix_free(*matrix);
        *matrix = NULL;
    }
    return unread ? unread : err;
}

/* ---- streaming ---- */

rb_error rb_h5_stream_room(rb_context *ctx, rb_h5_stream *stream, rb_type type, bool sparse,
                           int64_t room) {
    if (room <= stream->room && stream->buffer) {
        return RB_OK;
    }
    void *buffer = rb_alloc(ctx, room, rb_type_size(type));
    int32_t *columns = sparse && buffer ? rb_alloc(ctx, room, sizeof *columns) : NULL;
    if (!buffer || (sparse && !columns)) {
        rb_free(buffer);
        return RB_ERROR_MEMORY;
    }
    rb_free(stream->buffer);
    rb_free(stream->column_buffer);
    stream->buffer = buffer;
    stream->column_buffer = columns;
    stream->room = room;
    return RB_OK;
}

/* Frees a stream whose file is held. */
static void free_stream(rb_h5_stream *stream) {
    rb_h5_data_close(&stream->values);
    rb_h5_data_close(&stream->columns);
    rb_h5_close(stream->file);
    rb_h5_place_clear(&stream->place);
    rb_free(stream->starts);
    rb_free(stream->buffer);
    rb_free(stream->column_buffer);
    rb_free(stream);
}

static void close_source(rb_source *source) {
    rb_h5_stream *stream = source->state;
    rb_h5_hold(stream->file, NULL); /* a file that was only read closes without a sentence */
    free_stream(stream);
}

/* Is it compressed? Shuffled bytes and checksums cost little. */
static bool is_packed(hid_t data) {
    hid_t list = H5Dget_create_plist(data);
    int filters = list >= 0 ? H5Pget_nfilters(list) : 0;
    bool packed = false;
    for (int i = 0; i < filters && !packed; i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t id =
            H5Pget_filter2(list, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        packed = id >= 0 && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32;
    }
    rb_h5_drop(list);
    return packed;
}

/* The bytes of a data set that is compressed; else 0. */
static int64_t packed_bytes(const rb_h5_data *data) {
    hid_t type = data->id >= 0 && is_packed(data->id) ? H5Dget_type(data->id) : H5I_INVALID_HID;
    double bytes = 0;
    if (type >= 0) {
        bytes = (double)data->shape[0] * (double)data->shape[1] * (double)H5Tget_size(type);
        H5Tclose(type);
    }
    return bytes < 4e18 ? (int64_t)bytes : INT64_MAX / 2;
}

static rb_error begin_stream(rb_h5_stream *stream, const char *dataset, rb_source *source) {
    rb_error err = rb_h5_find(stream->file, dataset, &stream->place);
    err = err                                 ? err
          : stream->place.kind == RB_H5_DENSE ? rb_h5_stream_dense(stream, source)
                                              : rb_h5_stream_sparse(stream, source);
    err = err ? err : rb_h5_check(stream->file);
    if (!err) {
        source->unpacked = packed_bytes(&stream->values) + packed_bytes(&stream->columns);
    }
    source->n_samples = stream->place.n_samples;
    source->n_features = stream->place.n_features;
    source->sample_names = stream->place.samples;
    source->feature_names = stream->place.features;
    source->close = close_source;
    source->state = stream;
    return err;
}

static rb_error open_hdf5(rb_context *ctx, const char *path, const rb_read_options *options,
                          rb_source **out) {
    *out = NULL;
    if (options && options->transpose) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "%s cannot be transposed by blocks", path);
    }
    rb_h5_stream *stream = rb_alloc_zero(ctx, 1, sizeof *stream);
    rb_source *source = stream ? rb_source_new(ctx) : NULL;
    rb_error err = source ? rb_h5_open(ctx, path, RB_H5_SHARED, &stream->file) : RB_ERROR_MEMORY;
    if (err) {
        rb_free(stream);
        rb_free(source);
        return err;
    }
    stream->values.id = stream->columns.id = H5I_INVALID_HID;
    err = begin_stream(stream, options ? options->dataset : NULL, source);
    if (err) {
        free_stream(stream);
        rb_free(source);
        return err;
    }
    rb_h5_let_go(stream->file);
    *out = source;
    return RB_OK;
}

const rb_format rb_format_hdf5 = {"hdf5", recognise, read_hdf5, open_hdf5};
