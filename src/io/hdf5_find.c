/* Finding the matrix in an HDF5 file: AnnData, 10x, or the only matrix there is. */
#include "hdf5_place.h"

#include <stdio.h>
#include <string.h>

/* How deep and how long to look for data sets. */
enum { DEEPEST = 8, MAX_OBJECTS = 10000, MAX_LISTED = 8 };

void rb_h5_place_clear(rb_h5_place *place) {
    rb_names_free(place->samples);
    rb_names_free(place->features);
    place->samples = place->features = NULL;
}

/* A sparse group, by the attributes of new and old AnnData files: its format, "csr_matrix" or
 * "csc", and its shape. */
static rb_error find_sparse(rb_h5 *file, const char *path, rb_h5_place *place) {
    const char *encoding = "encoding-type", *dimensions = "shape";
    char *format;
    int64_t shape[2];
    if (!rb_h5_has_attribute(file, path, encoding)) encoding = "h5sparse_format";
    if (!rb_h5_has_attribute(file, path, encoding)) {
        return rb_h5_fail(
            file, RB_ERROR_FORMAT,
            "the group '%s' is not a sparse matrix; name a matrix with the option `dataset`", path);
    }
    rb_error err = rb_h5_get_text(file, path, encoding, &format);
    if (err) return err;
    bool rows = strncmp(format, "csr", 3) == 0;
    if (!rows && strncmp(format, "csc", 3) != 0) {
        err = rb_h5_fail(file, RB_ERROR_UNSUPPORTED,
                         "the group '%s' holds a '%s', but must hold a csr_matrix or csc_matrix",
                         path, format);
    }
    rb_free(format);
    if (!rb_h5_has_attribute(file, path, dimensions)) dimensions = "h5sparse_shape";
    err = err ? err : rb_h5_get_attribute_integers(file, path, dimensions, 2, shape);
    if (!err) {
        place->kind = rows ? RB_H5_ROWS : RB_H5_COLUMNS;
        place->n_samples = shape[0];
        place->n_features = shape[1];
    }
    return err;
}

static rb_error find_dense(rb_h5 *file, const char *path, rb_h5_place *place) {
    rb_h5_data data;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && (!data.numeric || data.rank != 2)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "the data set '%s' is not a matrix of numbers: it has %d dimension(s)%s",
                         path, data.rank, data.numeric ? "" : " and holds no numbers");
    }
    place->kind = RB_H5_DENSE;
    place->n_samples = data.shape[0];
    place->n_features = data.shape[1];
    rb_h5_data_close(&data);
    return err;
}

rb_error rb_h5_find_matrix(rb_h5 *file, const char *path, rb_h5_place *place) {
    if (strlen(path) >= sizeof place->path) {
        return rb_h5_fail(file, RB_ERROR_ARGUMENT, "a path of %zu characters is too long",
                          strlen(path));
    }
    if (!rb_h5_has(file, path)) {
        return rb_h5_fail(file, RB_ERROR_FORMAT, "there is no '%s' in the file%s", path,
                          rb_h5_other_files(file));
    }
    snprintf(place->path, sizeof place->path, "%s", path);
    rb_error err =
        rb_h5_is_group(file, path) ? find_sparse(file, path, place) : find_dense(file, path, place);
    if (!err && (place->n_samples < 0 || place->n_features < 0))
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "the shape of '%s' is negative", path);
    return err;
}

/* ---- the only matrix ---- */

struct search {
    rb_h5 *file;
    char path[RB_H5_PATH]; /* of the first matrix */
    char listing[512];
    int64_t objects, matrices;
};

static void note_matrix(struct search *search, const char *path, const rb_h5_data *data) {
    size_t used = strlen(search->listing);
    if (search->matrices == 0) snprintf(search->path, sizeof search->path, "%s", path);
    if (search->matrices < MAX_LISTED) {
        snprintf(search->listing + used, sizeof search->listing - used, "%s'%s' (%lld x %lld)",
                 search->matrices == 0 ? "" : ", ", path, (long long)data->shape[0],
                 (long long)data->shape[1]);
    }
    search->matrices++;
}

/* Walks the groups from `group` (with its depth); what cannot be read is passed by. */
static rb_error walk(struct search *search, const char *group, int depth) {
    rb_names *names;
    rb_error err = rb_h5_list(search->file, group, &names);
    if (err) return err == RB_ERROR_MEMORY ? err : RB_OK;
    for (int64_t i = 0; !err && i < names->count && search->objects < MAX_OBJECTS; i++) {
        char path[RB_H5_PATH];
        int length = snprintf(path, sizeof path, "%s%s%s", depth == 0 ? "" : group,
                              depth == 0 ? "" : "/", names->text[i]);
        search->objects++;
        if (length >= (int)sizeof path) continue;
        if (rb_h5_is_group(search->file, path)) {
            err = depth < DEEPEST ? walk(search, path, depth + 1) : RB_OK;
            continue;
        }
        rb_h5_data data;
        rb_error unread = rb_h5_data_open(search->file, path, &data);
        bool there = !unread || unread == RB_ERROR_UNSUPPORTED; /* the latter is told of later */
        if (there && data.numeric && data.rank == 2) note_matrix(search, path, &data);
        rb_h5_data_close(&data);
    }
    rb_names_free(names);
    return err;
}

static rb_error find_only_matrix(rb_h5 *file, rb_h5_place *place) {
    struct search search = {.file = file};
    rb_error err = walk(&search, "/", 0);
    if (!err && search.matrices == 0) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "the file has no matrix of numbers: neither AnnData, nor 10x, nor a data "
                         "set of two dimensions%s",
                         rb_h5_other_files(file));
    }
    if (!err && search.matrices > 1) {
        err = rb_h5_fail(
            file, RB_ERROR_ARGUMENT,
            "there are %lld matrices in the file; choose one with the option `dataset`: %s",
            (long long)search.matrices, search.listing);
    }
    return err ? err : rb_h5_find_matrix(file, search.path, place);
}

/* Names beside a matrix, as our own .h5 files have them: taken where their number fits. */
static rb_error find_plain_names(rb_h5 *file, const char *path, int64_t count, rb_names **names) {
    rb_h5_data data;
    if (!rb_h5_has(file, path) || rb_h5_is_group(file, path)) return RB_OK;
    rb_error err = rb_h5_data_open(file, path, &data);
    if (!err && data.rank == 1 && data.shape[0] == count && data.kind == H5T_STRING)
        err = rb_h5_read_texts(&data, NULL, false, names);
    rb_h5_data_close(&data);
    return err;
}

/* ---- 10x ---- */

rb_error rb_h5_check_names(rb_h5 *file, const char *path, int64_t count, const rb_names *names) {
    return names->count == count
               ? RB_OK
               : rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' has %lld names, but the matrix needs %lld",
                            path, (long long)names->count, (long long)count);
}

static const char *within(const char *group, const char *name, char path[RB_H5_LONG_PATH]) {
    snprintf(path, RB_H5_LONG_PATH, "%s/%s", group, name);
    return path;
}

static bool has(rb_h5 *file, const char *group, const char *name) {
    char path[RB_H5_LONG_PATH];
    return rb_h5_has(file, within(group, name, path));
}

static bool is_tenx(rb_h5 *file, const char *group) {
    return has(file, group, "barcodes") && has(file, group, "indptr") &&
           has(file, group, "indices") && has(file, group, "data") && has(file, group, "shape") &&
           (has(file, group, "features/name") || has(file, group, "gene_names"));
}

static rb_error get_names(rb_h5 *file, const char *path, int64_t count, rb_names **names) {
    rb_error err = rb_h5_get_texts(file, path, names);
    return err ? err : rb_h5_check_names(file, path, count, *names);
}

/* Feature-barcode matrices of 10x Genomics have genes x cells, compressed by cell, which is cells x
 * genes compressed by row: nothing needs turning round. */
static rb_error find_tenx(rb_h5 *file, const char *group, rb_h5_place *place) {
    char path[RB_H5_LONG_PATH];
    const char *genes = has(file, group, "features/name") ? "features/name" : "gene_names";
    int64_t shape[2];
    rb_error err = rb_h5_get_integers(file, within(group, "shape", path), 2, shape);
    if (err || shape[0] < 0 || shape[1] < 0)
        return err ? err : rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is negative", path);
    *place = (rb_h5_place){.kind = RB_H5_ROWS, .n_samples = shape[1], .n_features = shape[0]};
    snprintf(place->path, sizeof place->path, "%s", group);
    err = get_names(file, within(group, "barcodes", path), shape[1], &place->samples);
    err = err ? err : get_names(file, within(group, genes, path), shape[0], &place->features);
    return err ? err : rb_names_make_unique(file->ctx, &place->features);
}

/* ---- the decision ---- */

/* The only group of the root that is a 10x genome of the old layout; "" when there is none. */
static rb_error find_genome(rb_h5 *file, char genome[RB_H5_PATH]) {
    rb_names *names;
    int64_t found = 0;
    rb_error err = rb_h5_list(file, "/", &names);
    genome[0] = '\0';
    for (int64_t i = 0; !err && i < names->count && i < MAX_OBJECTS; i++) {
        if (strlen(names->text[i]) < RB_H5_PATH && is_tenx(file, names->text[i])) {
            snprintf(genome, RB_H5_PATH, "%s", names->text[i]);
            found++;
        }
    }
    rb_names_free(names);
    if (!err && found > 1) {
        err = rb_h5_fail(file, RB_ERROR_ARGUMENT,
                         "there are %lld genomes in this 10x file; choose one with the option "
                         "`dataset`, such as "
                         "'%s'",
                         (long long)found, genome);
    }
    return err;
}

static rb_error find_plain(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    rb_error err =
        dataset ? rb_h5_find_matrix(file, dataset, place) : find_only_matrix(file, place);
    err = err ? err : find_plain_names(file, "samples", place->n_samples, &place->samples);
    return err ? err : find_plain_names(file, "features", place->n_features, &place->features);
}

static rb_error find_any(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    char genome[RB_H5_PATH];
    if (rb_h5_is_anndata(file)) return rb_h5_find_anndata(file, dataset ? dataset : "X", place);
    if (!dataset) {
        rb_error err = find_genome(file, genome);
        return err ? err : *genome ? find_tenx(file, genome, place) : find_plain(file, NULL, place);
    }
    return is_tenx(file, dataset) ? find_tenx(file, dataset, place)
                                  : find_plain(file, dataset, place);
}

rb_error rb_h5_find(rb_h5 *file, const char *dataset, rb_h5_place *place) {
    *place = (rb_h5_place){0};
    rb_error err = find_any(file, dataset, place);
    if (!err && (place->n_samples == 0 || place->n_features == 0)) {
        err =
            rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' is empty: it has %lld samples x %lld features",
                       place->path, (long long)place->n_samples, (long long)place->n_features);
    }
    return err;
}
