/* Files of anndata before 0.7 have obsm and varm as one compound data set, a field per array. To
 * add an array to them they are made into groups, as later versions have them. */
#include "hdf5_place.h"

#include <stdio.h>
#include <string.h>

/* A field: numbers, or lists of them of one length. */
struct field {
    char *name;         /* of HDF5 */
    hid_t type, number; /* of the field, and of one of its numbers */
    hsize_t width;
};

static bool find_field(hid_t table, unsigned index, struct field *field) {
    *field = (struct field){H5Tget_member_name(table, index), H5Tget_member_type(table, index),
                            H5I_INVALID_HID, 1};
    bool list = field->type >= 0 && H5Tget_class(field->type) == H5T_ARRAY;
    if (list && H5Tget_array_ndims(field->type) == 1)
        H5Tget_array_dims2(field->type, &field->width);
    field->number = list ? H5Tget_super(field->type) : H5Tcopy(field->type);
    H5T_class_t kind = field->number >= 0 ? H5Tget_class(field->number) : H5T_NO_CLASS;
    return field->name && (!list || H5Tget_array_ndims(field->type) == 1) &&
           (kind == H5T_INTEGER || kind == H5T_FLOAT) && !strchr(field->name, '/');
}

static void clear_field(struct field *field) {
    rb_h5_drop(field->number);
    rb_h5_drop(field->type);
    H5free_memory(field->name);
}

static rb_error move_field(rb_h5 *file, const char *path, const rb_h5_data *old,
                           const struct field *field) {
    char place[RB_H5_LONG_PATH];
    int64_t shape[2] = {old->shape[0], (int64_t)field->width};
    hid_t alone = rb_h5_member(field->name, field->type);
    void *numbers = rb_alloc(file->ctx, shape[0], H5Tget_size(field->type));
    rb_error err = numbers ? RB_OK : RB_ERROR_MEMORY;
    if (!err && alone < 0) err = rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the table", path);
    err = err ? err : rb_h5_data_read(old, 0, shape[0], alone, numbers);
    snprintf(place, sizeof place, "%s/%s", path, field->name);
    err = err ? err : rb_h5_put(file, place, 2, shape, field->number, field->number, numbers);
    err = err ? err : rb_h5_encode(file, place, "array", "0.2.0");
    rb_h5_drop(alone);
    rb_free(numbers);
    return err;
}

static rb_error move_fields(rb_h5 *file, const char *path, const rb_h5_data *old) {
    hid_t table = H5Dget_type(old->id);
    int count = table >= 0 ? H5Tget_nmembers(table) : -1;
    rb_error err =
        count >= 0 ? RB_OK : rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the table", path);
    for (int i = 0; i < count && !err; i++) {
        struct field field;
        err = find_field(table, (unsigned)i, &field)
                  ? move_field(file, path, old, &field)
                  : rb_h5_fail(file, RB_ERROR_UNSUPPORTED,
                               "'%s' is in the layout of an old anndata and holds more than "
                               "numbers; rewrite the file with a newer anndata first",
                               path);
        clear_field(&field);
    }
    rb_h5_drop(table);
    return err;
}

rb_error rb_h5_renew_table(rb_h5 *file, const char *path) {
    rb_h5_data old;
    rb_error err = rb_h5_data_open(file, path, &old);
    if (!err && (old.kind != H5T_COMPOUND || old.rank != 1))
        err = rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "'%s' is neither a group nor a table", path);
    if (!err) err = rb_h5_remove(file, path); /* it stays readable until it is closed */
    err = err ? err : rb_h5_put_dict(file, path);
    err = err ? err : move_fields(file, path, &old);
    rb_h5_data_close(&old);
    return err;
}
