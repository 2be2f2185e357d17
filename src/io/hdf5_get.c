/* HDF5 in plain terms: reading shapes and numbers. Nothing in the file is believed before it is
 * checked. */
#include "hdf5_base.h"

#include <string.h>

/* What is read block by block may hold so many times more than what is read whole, which rb_alloc
 * counts. By default this is twice what compression can gain. */
enum { STREAMED = 2 };

/* Of more chunks than these not each one is looked at. */
enum { MAX_CHUNKS = 2000, CACHE_BYTES = 1 << 28 };

static bool found(rb_h5 *file, hid_t object) {
    if (object < 0) rb_h5_forget(file);
    rb_h5_drop(object);
    return object >= 0;
}

bool rb_h5_has(rb_h5 *file, const char *path) {
    return found(file, H5Oopen(file->id, path, H5P_DEFAULT));
}

bool rb_h5_is_group(rb_h5 *file, const char *path) {
    return found(file, H5Gopen2(file->id, path, H5P_DEFAULT));
}

bool rb_h5_has_attribute(rb_h5 *file, const char *path, const char *name) {
    bool has = H5Aexists_by_name(file->id, path, name, H5P_DEFAULT) > 0;
    rb_h5_forget(file);
    return has;
}

hid_t rb_h5_native(rb_type type) {
    return type == RB_FLOAT32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

/* ---- data sets ---- */

bool rb_h5_transfer(hid_t data, const int64_t start[2], const int64_t count[2], hid_t type,
                    void *to, const void *from) {
    hsize_t first[2] = {(hsize_t)start[0], (hsize_t)start[1]};
    hsize_t extent[2] = {(hsize_t)count[0], (hsize_t)count[1]};
    hid_t space = H5Dget_space(data);
    hid_t memory = space >= 0 ? H5Screate_simple(H5Sget_simple_extent_ndims(space), extent, NULL)
                              : H5I_INVALID_HID;
    bool done = memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, extent, NULL) >= 0 &&
                (from ? H5Dwrite(data, type, memory, space, H5P_DEFAULT, from)
                      : H5Dread(data, type, memory, space, H5P_DEFAULT, to)) >= 0;
    rb_h5_drop(memory);
    rb_h5_drop(space);
    return done;
}

/* Does the data set claim far more bytes than are stored for it? */
static rb_error check_stored(const rb_h5_data *data) {
    const rb_context *ctx = data->file->ctx;
    int64_t cells, bytes;
    if (!rb_multiply(data->shape[0], data->shape[1], &cells) ||
        !rb_multiply(cells, (int64_t)data->bytes, &bytes)) {
        return rb_h5_fail(data->file, RB_ERROR_MEMORY,
                          "the data set '%s' of %lld x %lld is too large", data->path,
                          (long long)data->shape[0], (long long)data->shape[1]);
    }
    hsize_t stored = H5Dget_storage_size(data->id);
    if ((double)bytes > rb_expansion_allowed(ctx, 0) &&
        (double)bytes > STREAMED * ctx->max_expansion * (double)stored) {
        return rb_h5_fail(data->file, RB_ERROR_FORMAT,
                          "the data set '%s' claims %lld bytes, but only %lld are stored; if you "
                          "trust the file, raise `max-expansion`, which is %g",
                          data->path, (long long)bytes, (long long)stored, ctx->max_expansion);
    }
    return RB_OK;
}

rb_error rb_h5_data_broken(const rb_h5_data *data) {
    return rb_h5_broken(data->file, RB_ERROR_FORMAT, "cannot read the data set", data->path);
}

static rb_error not_there(const rb_h5_data *data) {
    return rb_h5_broken(data->file, RB_ERROR_FORMAT, "there is no readable data set", data->path);
}

/* HDF5 reads on behind the end of a chunk without filters that is too short, if it keeps it in
 * memory; without that it reads the file where the chunk should be. H5Dget_chunk_storage_size does
 * not look at such chunks: this looks at each, in quadratic time. */
static bool all_have(const rb_h5_data *data, hid_t space, hsize_t count, double bytes) {
    bool same = count <= MAX_CHUNKS;
    for (hsize_t i = 0; i < count && same; i++) {
        hsize_t offset[2], size = 0;
        haddr_t address;
        unsigned skipped;
        same = H5Dget_chunk_info(data->id, space, i, offset, &skipped, &address, &size) >= 0 &&
               (double)size == bytes;
    }
    return same;
}

/* Are the chunks as long as they must be? Gives how many bytes of them HDF5 may keep: a row of
 * chunks, so that reading by rows reads each chunk once. */
static size_t look_at_chunks(rb_h5_data *data) {
    hsize_t count = 0;
    hid_t space = H5Dget_space(data->id);
    bool told = space >= 0 && H5Dget_num_chunks(data->id, space, &count) >= 0;
    double bytes = (double)data->chunk[0] * (double)data->chunk[1] * (double)rb_h5_cell_bytes(data);
    data->short_chunks =
        !told || (bytes > 0 && (double)H5Dget_storage_size(data->id) != (double)count * bytes);
    bool keep = !data->short_chunks && bytes > 0 && all_have(data, space, count, bytes);
    int64_t across = keep ? (int64_t)((data->shape[1] - 1) / data->chunk[1]) + 1 : 0;
    double row = bytes * (double)across;
    rb_h5_drop(space);
    return row < CACHE_BYTES ? (size_t)row : CACHE_BYTES;
}

static rb_error open_plain_chunks(rb_h5_data *data) {
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    bool done = list >= 0 && H5Pset_chunk_cache(list, 12421, look_at_chunks(data), 1.0) >= 0;
    H5Dclose(data->id); /* while it is open its old cache would be shared */
    data->id = done ? H5Dopen2(data->file->id, data->path, list) : H5I_INVALID_HID;
    rb_h5_drop(list);
    return data->id >= 0 ? RB_OK : not_there(data);
}

static rb_error open_chunks(rb_h5_data *data, hid_t list) {
    hsize_t chunk[2] = {1, 1};
    if ((data->rank == 1 || data->rank == 2) && H5Pget_chunk(list, 2, chunk) == data->rank) {
        data->chunk[0] = (int64_t)chunk[0];
        data->chunk[1] = (int64_t)chunk[1];
    }
    return H5Pget_nfilters(list) == 0 ? open_plain_chunks(data) : rb_h5_chunks_open(data, list);
}

/* Other files are not read: HDF5 takes what is missing there for zeros, and they may be anything
 * that the user can read. */
static rb_error check_inside(rb_h5_data *data) {
    hid_t list = H5Dget_create_plist(data->id);
    H5D_layout_t layout = list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
    int external = list >= 0 ? H5Pget_external_count(list) : -1;
    rb_error err = layout == H5D_CHUNKED ? open_chunks(data, list) : RB_OK;
    rb_h5_drop(list);
    if (err) return err;
    if (layout == H5D_LAYOUT_ERROR || external < 0) {
        return rb_h5_broken(data->file, RB_ERROR_FORMAT, "cannot read the layout of the data set",
                            data->path);
    }
    return layout != H5D_VIRTUAL && external == 0
               ? RB_OK
               : rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                            "the numbers of the data set '%s' are in other files (%s), which are "
                            "not read; join them with h5repack -l '%s:CONTI'",
                            data->path, external > 0 ? "external storage" : "a virtual data set",
                            data->path);
}

/* The shape of the open data set. False when HDF5 fails or a size does not fit. */
static bool look_at_shape(rb_h5_data *data) {
    hid_t space = H5Dget_space(data->id);
    bool done = space >= 0 && H5Sget_simple_extent_type(space) != H5S_NULL;
    if (done) {
        hsize_t shape[H5S_MAX_RANK];
        data->rank = H5Sget_simple_extent_dims(space, shape, NULL);
        done = data->rank >= 0;
        data->shape[0] = data->shape[1] = 1;
        for (int d = 0; done && d < data->rank && d < 2; d++) {
            done = shape[d] <= INT64_MAX;
            data->shape[d] = (int64_t)shape[d];
        }
    }
    rb_h5_drop(space);
    return done;
}

/* Booleans as h5py and PyTables store them: an enumeration of FALSE and TRUE, 0 and 1. */
static bool is_boolean(hid_t type) {
    int8_t no = -1, yes = -1;
    hid_t native = H5Tget_native_type(type, H5T_DIR_DEFAULT); /* the values, in our byte order */
    bool boolean = native >= 0 && H5Tget_size(native) == 1 && H5Tget_nmembers(native) == 2 &&
                   H5Tenum_valueof(native, "FALSE", &no) >= 0 &&
                   H5Tenum_valueof(native, "TRUE", &yes) >= 0 && no == 0 && yes == 1;
    rb_h5_drop(native);
    return boolean;
}

/* Which numbers it holds: integers of up to 16 bits and floats of up to 32 fit into float32. */
static bool look_at_type(rb_h5_data *data) {
    hid_t type = H5Dget_type(data->id);
    if (type < 0) return false;
    data->kind = H5Tget_class(type);
    data->boolean = data->kind == H5T_ENUM && is_boolean(type);
    data->kind = data->boolean ? H5T_INTEGER : data->kind;
    data->bytes = H5Tget_size(type);
    data->numeric = data->kind == H5T_INTEGER || data->kind == H5T_FLOAT;
    bool small = data->bytes <= (data->kind == H5T_INTEGER ? 2 : 4);
    data->type = small ? RB_FLOAT32 : RB_FLOAT64;
    H5Tclose(type);
    return data->kind != H5T_NO_CLASS && data->bytes > 0;
}

rb_error rb_h5_data_open(rb_h5 *file, const char *path, rb_h5_data *data) {
    *data = (rb_h5_data){file, path, .id = H5Dopen2(file->id, path, H5P_DEFAULT)};
    if (data->id < 0) return not_there(data);
    if (!look_at_shape(data) || !look_at_type(data)) {
        return rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read shape and type of the data set",
                            path);
    }
    rb_error err = check_inside(data);
    if (err || data->rank > 2) return err;
    err = check_stored(data);
    /* HDF5 unpacks whole chunks, in memory of its own */
    double chunk = (double)data->chunk[0] * (double)data->chunk[1] * (double)data->bytes;
    return err ? err : rb_reading_check(file->ctx, chunk);
}

void rb_h5_data_close(rb_h5_data *data) {
    rb_h5_chunks_close(data->chunks);
    rb_h5_drop(data->id);
    data->chunks = NULL;
    data->id = H5I_INVALID_HID;
}

rb_error rb_h5_data_read(const rb_h5_data *data, int64_t first, int64_t count, hid_t type,
                         void *values) {
    int64_t columns = data->shape[1];
    if (count == 0 || columns == 0) return RB_OK;
    if (data->chunks) return rb_h5_chunks_read(data, first, count, type, values);
    if (data->short_chunks) {
        return rb_h5_fail(
            data->file, RB_ERROR_FORMAT,
            "a chunk of the data set '%s' is damaged: not all have the length of a chunk",
            data->path);
    }
    /* HDF5 leaves what was never written as it is */
    memset(values, 0, (size_t)count * (size_t)columns * H5Tget_size(type));
    return rb_h5_transfer(data->id, (int64_t[]){first, 0}, (int64_t[]){count, columns}, type,
                          values, NULL)
               ? RB_OK
               : rb_h5_data_broken(data);
}

static bool is_numbers(const rb_h5_data *data) {
    return data->numeric && (data->rank == 1 || data->rank == 2);
}

rb_error rb_h5_get_shape(rb_h5 *file, const char *path, int64_t *rows, int64_t *columns) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && !is_numbers(&data)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "the data set '%s' is not a vector or matrix of numbers", path);
    }
    *rows = data.shape[0];
    *columns = data.rank == 2 ? data.shape[1] : -1;
    rb_h5_data_close(&data);
    return err;
}

rb_error rb_h5_get_numbers(rb_h5 *file, const char *path, int64_t count, hid_t type, void *values) {
    rb_h5_data data;
    int64_t cells;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && (!is_numbers(&data) || !rb_multiply(data.shape[0], data.shape[1], &cells) ||
                 cells != count)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "the data set '%s' must hold %lld numbers", path,
                         (long long)count);
    }
    err = err ? err : rb_h5_data_read(&data, 0, data.shape[0], type, values);
    rb_h5_data_close(&data);
    return err;
}

rb_error rb_h5_get_values(rb_h5 *file, const char *path, int64_t count, double *values) {
    return rb_h5_get_numbers(file, path, count, H5T_NATIVE_DOUBLE, values);
}

rb_error rb_h5_get_integers(rb_h5 *file, const char *path, int64_t count, int64_t *values) {
    return rb_h5_get_numbers(file, path, count, H5T_NATIVE_INT64, values);
}

rb_error rb_h5_get_dense(rb_h5 *file, const char *path, rb_dense values) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && (data.rank != 2 || data.kind != H5T_FLOAT || data.type != values.type ||
                 data.shape[0] != values.rows || data.shape[1] != values.cols)) {
        err =
            rb_h5_fail(file, RB_ERROR_FORMAT, "the data set '%s' must hold %lld x %lld %s numbers",
                       path, (long long)values.rows, (long long)values.cols,
                       values.type == RB_FLOAT32 ? "float32" : "float64");
    }
    /* all rows at once where they lie side by side, else one by one */
    int64_t step = values.ld == values.cols ? values.rows : 1;
    for (int64_t i = 0; !err && i < values.rows; i += step)
        err = rb_h5_data_read(&data, i, step, rb_h5_native(values.type), rb_dense_row(values, i));
    rb_h5_data_close(&data);
    return err;
}
