/* Matrices in their own precision, so that what is read back is what was written, bit by bit. */
#include "hdf5_write.h"

rb_error rb_h5_put_dense(rb_h5 *file, const char *path, rb_dense values) {
    rb_matrix view = {.n_samples = values.rows,
                      .n_features = values.cols,
                      .type = values.type,
                      .values = values.data,
                      .row_stride = values.ld,
                      .column_stride = 1};
    return rb_h5_put_matrix(file, path, &view);
}

/* All rows at once where they lie side by side, else one by one. */
static rb_error read_rows(rb_h5 *file, const char *path, const rb_h5_data *data, rb_dense values) {
    int64_t step = values.ld == values.cols ? values.rows : 1;
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < values.rows; i += step) {
        err = rb_h5_data_read(file, path, data, i, step, 0, values.cols, rb_h5_native(values.type),
                              rb_dense_row(values, i));
    }
    return err;
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
    err = err ? err : read_rows(file, path, &data, values);
    rb_h5_data_close(&data);
    return err;
}
