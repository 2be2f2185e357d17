/* Reading AnnData files, in the layouts of anndata 0.5 and later: X and its layers, dense or
 * sparse, with the names of observations (our samples) and variables (our features); one column of
 * the table of observations. */
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
    if (!err && data.kind != H5T_COMPOUND)
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is not a table", table);
    if (!err) {
        hid_t plain = rb_h5_member_type(&data, "index");
        rb_h5_drop(plain);
        err = rb_h5_read_texts(&data, plain >= 0 ? "index" : "_index", false, names);
    }
    rb_h5_data_close(&data);
    return err;
}

/* New files keep a group; an attribute says which column is the index. */
static rb_error read_group_index(rb_h5 *file, const char *table, rb_names **names) {
    char path[RB_H5_LONG_PATH], *index = NULL;
    if (rb_h5_has_attribute(file, table, "_index")) {
        rb_error err = rb_h5_get_text(file, table, "_index", &index);
        if (err) return err;
    }
    snprintf(path, sizeof path, "%s/%s", table, index ? index : "_index");
    rb_free(index);
    if (rb_h5_is_group(file, path)) /* texts that may be missing: their values and a mask */
        strncat(path, "/values", sizeof path - strlen(path) - 1);
    return rb_h5_get_texts(file, path, names);
}

rb_error rb_h5_anndata_index(rb_h5 *file, const char *table, rb_names **names) {
    *names = NULL;
    return rb_h5_is_group(file, table) ? read_group_index(file, table, names)
                                       : read_compound_index(file, table, names);
}

rb_error rb_h5_find_anndata(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    const char *path = dataset + strspn(dataset, "/");
    const char *variables = strncmp(path, "raw/", 4) == 0 ? "raw/var" : "var";
    bool usual =
        strcmp(path, "X") == 0 || strncmp(path, "layers/", 7) == 0 || strcmp(path, "raw/X") == 0;
    rb_error err = rb_h5_find_matrix(file, path, place);
    err = err ? err : rb_h5_anndata_index(file, "obs", &place->samples);
    if (err) return err;
    if (!usual) { /* names where their number fits */
        if (place->samples->count != place->n_samples) {
            rb_names_free(place->samples);
            place->samples = NULL;
        }
        return RB_OK;
    }
    err = rb_h5_check_names(file, "obs", place->n_samples, place->samples);
    err = err ? err : rb_h5_anndata_index(file, variables, &place->features);
    return err ? err : rb_h5_check_names(file, variables, place->n_features, place->features);
}
