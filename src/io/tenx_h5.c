/* 10x Genomics feature-barcode matrices in HDF5. The file has genes x cells, compressed by cell,
 * which is cells x genes compressed by row: nothing needs turning round. */
#include "hdf5_place.h"

#include <stdio.h>

static void join(char path[RB_H5_LONG_PATH], const char *group, const char *name) {
    snprintf(path, RB_H5_LONG_PATH, "%s/%s", group, name);
}

static bool has(rb_h5 *file, const char *group, const char *name) {
    char path[RB_H5_LONG_PATH];
    join(path, group, name);
    return rb_h5_has(file, path);
}

bool rb_h5_is_tenx(rb_h5 *file, const char *group) {
    return has(file, group, "barcodes") && has(file, group, "indptr") &&
           has(file, group, "indices") && has(file, group, "data") && has(file, group, "shape") &&
           (has(file, group, "features/name") || has(file, group, "gene_names"));
}

static rb_error get_names(rb_h5 *file, const char *group, const char *name, int64_t count,
                          rb_names **names) {
    char path[RB_H5_LONG_PATH];
    join(path, group, name);
    rb_error err = rb_h5_get_texts(file, path, names);
    if (!err && (*names)->count != count) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "'%s' has %lld names, but the matrix has %lld of them", path,
                         (long long)(*names)->count, (long long)count);
    }
    return err;
}

rb_error rb_h5_find_tenx(rb_h5 *file, const char *group, rb_h5_place *place) {
    char path[RB_H5_LONG_PATH];
    int64_t shape[2];
    join(path, group, "shape");
    rb_error err = rb_h5_get_integers(file, path, 2, shape);
    if (!err && (shape[0] < 0 || shape[1] < 0)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is negative", path);
    }
    if (err) {
        return err;
    }
    place->kind = RB_H5_ROWS;
    place->n_samples = shape[1];
    place->n_features = shape[0];
    snprintf(place->path, sizeof place->path, "%s", group);
    err = get_names(file, group, "barcodes", place->n_samples, &place->samples);
    if (!err) {
        const char *genes = has(file, group, "features/name") ? "features/name" : "gene_names";
        err = get_names(file, group, genes, place->n_features, &place->features);
    }
    return err ? err : rb_names_make_unique(file->ctx, &place->features);
}
