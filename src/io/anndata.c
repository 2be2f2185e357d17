/* AnnData files: X and its layers, dense or sparse, with the names of observations (our samples)
 * and variables (our features). Layouts of anndata 0.5 and later. */
#include "hdf5_place.h"

#include <stdio.h>
#include <string.h>

bool rb_h5_is_anndata(rb_h5 *file) {
    return rb_h5_has(file, "obs") && rb_h5_has(file, "var");
}

/* Old files keep a table as one compound data set; the index is the field of that name. */
static rb_error read_compound_index(rb_h5 *file, const char *table, rb_names **names) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, table, &data);
    if (!err && data.kind != H5T_COMPOUND) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is no table", table);
    }
    if (!err) {
        hid_t type = H5Dget_type(data.id);
        bool plain = type >= 0 && H5Tget_member_index(type, "index") >= 0;
        rb_h5_drop(type);
        err = rb_h5_read_texts(file, table, &data, plain ? "index" : "_index", names);
    }
    rb_h5_data_close(&data);
    return err;
}

/* New files keep a group; an attribute says which column is the index. */
static rb_error read_group_index(rb_h5 *file, const char *table, rb_names **names) {
    char path[RB_H5_LONG_PATH], *index = NULL;
    if (rb_h5_has_attribute(file, table, "_index")) {
        rb_error err = rb_h5_get_text(file, table, "_index", &index);
        if (err) {
            return err;
        }
    }
    snprintf(path, sizeof path, "%s/%s", table, index ? index : "_index");
    rb_free(index);
    if (rb_h5_is_group(file, path)) { /* texts that may be missing: their values and a mask */
        strncat(path, "/values", sizeof path - strlen(path) - 1);
    }
    return rb_h5_get_texts(file, path, names);
}

rb_error rb_h5_anndata_index(rb_h5 *file, const char *table, rb_names **names) {
    *names = NULL;
    return rb_h5_is_group(file, table) ? read_group_index(file, table, names)
                                       : read_compound_index(file, table, names);
}

/* Does the path (without leading slashes) begin with a folder? */
static bool within(const char *path, const char *folder) {
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Reads names and keeps them where their number fits; where they must fit, another number is an
 * error. */
static rb_error take_names(rb_h5 *file, const char *table, int64_t count, bool must,
                           rb_names **names) {
    rb_error err = rb_h5_anndata_index(file, table, names);
    if (err || (*names)->count == count) {
        return err;
    }
    int64_t found = (*names)->count;
    rb_names_free(*names);
    *names = NULL;
    return must ? rb_h5_fail(file, RB_ERROR_FORMAT,
                             "'%s' has %lld names, but the matrix has %lld of them", table,
                             (long long)found, (long long)count)
                : RB_OK;
}

rb_error rb_h5_find_anndata(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    const char *path = dataset + strspn(dataset, "/");
    bool raw = within(path, "raw/");
    bool usual = strcmp(path, "X") == 0 || within(path, "layers/") || strcmp(path, "raw/X") == 0;
    rb_error err = rb_h5_find_matrix(file, path, place);
    err = err ? err : take_names(file, "obs", place->n_samples, usual, &place->samples);
    if (!err && usual) {
        err = take_names(file, raw ? "raw/var" : "var", place->n_features, true, &place->features);
    }
    return err;
}
