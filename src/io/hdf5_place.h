/* Where in an HDF5 file the matrix is, and how it is stored there: between what finds it
 * (hdf5_find.c, anndata.c) and what reads it (hdf5.c, hdf5_sparse.c). */
#ifndef RB_HDF5_PLACE_H
#define RB_HDF5_PLACE_H

#include "hdf5_base.h"

enum { RB_H5_PATH = 1024, RB_H5_LONG_PATH = RB_H5_PATH + 256 };

typedef enum rb_h5_kind {
    RB_H5_DENSE,  /* a data set, samples x features */
    RB_H5_ROWS,   /* a group of data, indices and indptr: compressed samples */
    RB_H5_COLUMNS /* the same, compressed features */
} rb_h5_kind;

typedef struct rb_h5_place {
    rb_h5_kind kind;
    char path[RB_H5_PATH]; /* of the data set or group */
    int64_t n_samples, n_features;
    rb_names *samples, *features; /* or NULL */
} rb_h5_place;

void rb_h5_place_clear(rb_h5_place *place);

/* Finds the matrix; `dataset` is what the user asks for, or NULL for the usual one. The place is to
 * be cleared in any case. */
rb_error rb_h5_find(rb_h5 *file, const char *dataset, rb_h5_place *place);

/* A data set of two dimensions or a sparse group with its format as an attribute: kind and
 * shape. */
rb_error rb_h5_find_matrix(rb_h5 *file, const char *path, rb_h5_place *place);

bool rb_h5_is_anndata(rb_h5 *file);
/* Matrix `path` of an AnnData file ("X", "layers/counts", "raw/X", ...) with its names. */
rb_error rb_h5_find_anndata(rb_h5 *file, const char *path, rb_h5_place *place);

/* The names of a table of an AnnData file: "obs", "var" or "raw/var". */
rb_error rb_h5_anndata_index(rb_h5 *file, const char *table, rb_names **names);

/* Are there `count` names, which were read from `path`? */
rb_error rb_h5_check_names(rb_h5 *file, const char *path, int64_t count, const rb_names *names);

typedef struct rb_h5_block {
    void *values;
    int32_t *columns; /* of a sparse matrix */
    int64_t capacity; /* numbers */
} rb_h5_block;

/* What is read from, block by block or whole. A file that outlives the call is held only while it
 * reads. */
typedef struct rb_h5_stream {
    rb_h5 *file;
    rb_h5_place place;
    rb_h5_data values, columns; /* columns: of a sparse one */
    int64_t *starts;            /* sparse: of the rows as they are stored, and one more */
    rb_h5_block block;          /* that is in use */
    rb_h5_block before;         /* it may still be in use */
} rb_h5_stream;

/* Opens data, indices and indptr of a sparse matrix (hdf5_sparse.c). What is opened is freed by the
 * caller, also on failure. */
rb_error rb_h5_sparse_open(rb_h5_stream *stream);
/* Reads rows as they are stored into the buffers, which are large enough. */
rb_error rb_h5_sparse_read(rb_h5_stream *stream, int64_t first, int64_t count);

#endif
