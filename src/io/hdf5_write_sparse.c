/* Sparse rows as AnnData has them: a group of data, indices and indptr. How many numbers there will
 * be is not known before the last row, so that two of them grow. */
#include "hdf5_base.h"

enum { CHUNK_NUMBERS = 1 << 14 };

static rb_error create_growing(rb_h5 *file, const char *path, hid_t type, hid_t *data) {
    const hsize_t none = 0, any = H5S_UNLIMITED, chunk = CHUNK_NUMBERS;
    hid_t list = rb_h5_properties(H5P_DATASET_CREATE), space = H5Screate_simple(1, &none, &any);
    if (list >= 0 && space >= 0 && H5Pset_chunk(list, 1, &chunk) >= 0)
        *data = H5Dcreate2(file->id, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    rb_h5_drop(space);
    rb_h5_drop(list);
    return *data >= 0 ? RB_OK
                      : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", path);
}

rb_error rb_h5_rows_begin(rb_h5 *file, const rb_write_header *header, rb_h5_rows *to) {
    hid_t type = header->type == RB_FLOAT32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    *to = (rb_h5_rows){H5I_INVALID_HID, H5I_INVALID_HID, NULL, 0};
    to->starts = rb_alloc(file->ctx, header->n_samples + 1, sizeof *to->starts);
    if (!to->starts) return RB_ERROR_MEMORY;
    to->starts[0] = 0;
    rb_error err = rb_h5_put_group(file, "X");
    const int64_t shape[] = {header->n_samples, header->n_features};
    err = err ? err
              : rb_h5_set_attribute(file, "X", "shape", 2, H5T_STD_I64LE, H5T_NATIVE_INT64, shape);
    err = err ? err : create_growing(file, "X/data", type, &to->values);
    return err ? err : create_growing(file, "X/indices", H5T_STD_I32LE, &to->columns);
}

static bool append(hid_t data, int64_t at, int64_t count, hid_t type, const void *numbers) {
    const hsize_t end = (hsize_t)(at + count);
    return H5Dset_extent(data, &end) >= 0 &&
           rb_h5_transfer(data, (int64_t[]){at, 0}, (int64_t[]){count, 1}, type, NULL, numbers);
}

rb_error rb_h5_rows_add(rb_h5 *file, rb_h5_rows *to, const rb_matrix *m) {
    int64_t at = to->starts[to->count], more = rb_matrix_stored(m);
    for (int64_t i = 1; i <= m->n_samples; i++)
        to->starts[to->count + i] = at + m->starts[i] - m->starts[0];
    to->count += m->n_samples;
    bool done = more == 0 || (append(to->values, at, more, rb_h5_native(m->type), m->values) &&
                              append(to->columns, at, more, H5T_NATIVE_INT32, m->columns));
    return done ? rb_h5_check(file)
                : rb_h5_broken(file, RB_ERROR_FILE, "cannot write the data set", "X");
}

rb_error rb_h5_rows_end(rb_h5 *file, rb_h5_rows *to, bool abandon) {
    rb_error err =
        abandon ? RB_OK : rb_h5_put_integers(file, "X/indptr", to->count + 1, to->starts);
    bool closed = to->values < 0 || H5Dclose(to->values) >= 0;
    closed = (to->columns < 0 || H5Dclose(to->columns) >= 0) && closed;
    rb_free(to->starts);
    return err || closed || abandon
               ? err
               : rb_h5_broken(file, RB_ERROR_FILE, "cannot finish the data set", "X");
}
