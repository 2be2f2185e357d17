/* HDF5 in plain terms: writing groups, numbers, texts and attributes. The same content gives the
 * same bytes: there are no time stamps, and types do not depend on the machine. */
#include "hdf5_base.h"

#include <string.h>

enum { CHUNK_BYTES = 1 << 20 };

hid_t rb_h5_text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    bool done = type >= 0 && H5Tset_size(type, size) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                (size == H5T_VARIABLE || H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0);
    if (!done) rb_h5_drop(type);
    return done ? type : H5I_INVALID_HID;
}

/* Numbers are stored in chunks with a checksum, so that a damaged file is noticed. A data set
 * without numbers has no chunks. */
static bool set_chunks(hid_t list, int rank, const hsize_t *shape) {
    hsize_t max = CHUNK_BYTES / sizeof(double), width = rank == 2 ? shape[1] : 1;
    if (rank == 0 || shape[0] == 0 || width == 0) return true;
    width = width < max ? width : max;
    hsize_t chunk[2] = {shape[0] < max / width ? shape[0] : max / width, width};
    return H5Pset_chunk(list, rank, chunk) >= 0 && H5Pset_fletcher32(list) >= 0;
}

rb_error rb_h5_create_data(rb_h5 *file, const char *path, int rank, const int64_t *shape,
                           hid_t type, bool checked, hid_t *data) {
    hsize_t extent[2] = {rank > 0 ? (hsize_t)shape[0] : 1, rank > 1 ? (hsize_t)shape[1] : 1};
    hid_t list = rb_h5_properties(H5P_DATASET_CREATE);
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
    bool unfit = H5Tis_variable_str(type) > 0; /* HDF5 has no checksums for them */
    *data = H5I_INVALID_HID;
    if (list >= 0 && space >= 0 && (!checked || unfit || set_chunks(list, rank, extent)))
        *data = H5Dcreate2(file->id, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    rb_h5_drop(space);
    rb_h5_drop(list);
    return *data >= 0 ? RB_OK
                      : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", path);
}

rb_error rb_h5_finish_data(rb_h5 *file, const char *path, rb_error err, hid_t data) {
    return H5Dclose(data) < 0 && !err
               ? rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", path)
               : err;
}

rb_error rb_h5_put(rb_h5 *file, const char *path, int rank, const int64_t *shape, hid_t file_type,
                   hid_t memory_type, const void *values) {
    hid_t data;
    rb_error err = rb_h5_create_data(file, path, rank, shape, file_type, true, &data);
    if (err) return err;
    bool empty = (rank > 0 && shape[0] == 0) || (rank > 1 && shape[1] == 0);
    if (!empty && H5Dwrite(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        err = rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", path);
    return rb_h5_finish_data(file, path, err, data);
}

rb_error rb_h5_put_group(rb_h5 *file, const char *path) {
    hid_t list = rb_h5_properties(H5P_GROUP_CREATE);
    hid_t group = H5I_INVALID_HID;
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    if (list >= 0 && H5Pset_link_creation_order(list, order) >= 0)
        group = H5Gcreate2(file->id, path, H5P_DEFAULT, list, H5P_DEFAULT);
    rb_h5_drop(list);
    return group >= 0 && H5Gclose(group) >= 0
               ? RB_OK
               : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the group", path);
}

rb_error rb_h5_put_values(rb_h5 *file, const char *path, int64_t rows, int64_t columns,
                          const double *values) {
    return rb_h5_put(file, path, columns < 0 ? 1 : 2, (int64_t[]){rows, columns}, H5T_IEEE_F64LE,
                     H5T_NATIVE_DOUBLE, values);
}

rb_error rb_h5_put_integers(rb_h5 *file, const char *path, int64_t count, const int64_t *values) {
    return rb_h5_put(file, path, 1, &count, H5T_STD_I64LE, H5T_NATIVE_INT64, values);
}

static rb_error put_cells(rb_h5 *file, const char *path, int rank, int64_t count, size_t size,
                          const void *cells) {
    hid_t type = rb_h5_text_type(size);
    rb_error err = rb_h5_put(file, path, rank, &count, type, type, cells);
    rb_h5_drop(type);
    return err;
}

/* Texts side by side, each filled up with zeros to the longest. */
static rb_error put_fixed_texts(rb_h5 *file, const char *path, int64_t count,
                                const char *const *texts) {
    size_t size = 1;
    for (int64_t i = 0; i < count; i++)
        size = strlen(texts[i]) > size ? strlen(texts[i]) : size;
    char *cells = rb_alloc_zero(file->ctx, count, size);
    if (!cells) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        memcpy(cells + (size_t)i * size, texts[i], strlen(texts[i]));
    rb_error err = put_cells(file, path, 1, count, size, cells);
    rb_free(cells);
    return err;
}

rb_error rb_h5_put_texts(rb_h5 *file, const char *path, int64_t count, const char *const *texts) {
    return file->style == RB_H5_OWN ? put_fixed_texts(file, path, count, texts)
                                    : put_cells(file, path, 1, count, H5T_VARIABLE, texts);
}

rb_error rb_h5_put_names(rb_h5 *file, const char *path, const rb_names *names) {
    return rb_h5_put_texts(file, path, names->count, (const char *const *)names->text);
}

rb_error rb_h5_put_text(rb_h5 *file, const char *path, const char *text) {
    return put_cells(file, path, 0, 1, H5T_VARIABLE, &text);
}

/* ---- attributes ---- */

rb_error rb_h5_set_attribute(rb_h5 *file, const char *path, const char *name, int64_t count,
                             hid_t file_type, hid_t memory_type, const void *values) {
    hsize_t extent = (hsize_t)count;
    hid_t attribute = H5I_INVALID_HID;
    hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    bool old = space >= 0 && H5Aexists_by_name(file->id, path, name, H5P_DEFAULT) > 0;
    if (space >= 0 && (!old || H5Adelete_by_name(file->id, path, name, H5P_DEFAULT) >= 0)) {
        attribute = H5Acreate_by_name(file->id, path, name, file_type, space, H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT);
    }
    bool done = attribute >= 0 && (count == 0 || H5Awrite(attribute, memory_type, values) >= 0);
    done = attribute >= 0 && H5Aclose(attribute) >= 0 && done;
    rb_h5_drop(space);
    return done ? RB_OK : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the attribute", name);
}

rb_error rb_h5_set_text(rb_h5 *file, const char *path, const char *name, const char *text) {
    bool own = file->style == RB_H5_OWN;
    size_t length = strlen(text);
    hid_t type = rb_h5_text_type(own ? length + (length == 0) : H5T_VARIABLE);
    rb_error err =
        rb_h5_set_attribute(file, path, name, -1, type, type, own ? text : (const void *)&text);
    rb_h5_drop(type);
    return err;
}

rb_error rb_h5_set_integer(rb_h5 *file, const char *path, const char *name, int64_t value) {
    return rb_h5_set_attribute(file, path, name, -1, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

rb_error rb_h5_remove(rb_h5 *file, const char *path) {
    if (rb_h5_has(file, path) && H5Ldelete(file->id, path, H5P_DEFAULT) < 0)
        return rb_h5_broken(file, RB_ERROR_FILE, "cannot replace", path);
    return RB_OK;
}
