/* A Matrix Market file: what its text says (mtx.c) and the matrix made of it (mtx_matrix.c).
 * Private to src/io. */
#ifndef RB_IO_MTX_H
#define RB_IO_MTX_H

#include "io.h"

typedef enum rb_mtx_symmetry { RB_MTX_GENERAL, RB_MTX_SYMMETRIC, RB_MTX_SKEW } rb_mtx_symmetry;

typedef struct rb_mtx {
    const char *path;
    rb_lines *lines;
    bool array, pattern, integer;
    rb_mtx_symmetry symmetry;
    int64_t rows, columns;
    int64_t entries; /* in the file */
    /* What was read: coordinate files have rows and columns of values, from 0. */
    int32_t *row, *column;
    double *value;
    int64_t used, room;
} rb_mtx;

/* The matrix of the entries that were read; it may take the values over. */
rb_error rb_mtx_sparse(rb_context *ctx, rb_mtx *m, rb_matrix **matrix);
rb_error rb_mtx_dense(rb_context *ctx, rb_mtx *m, rb_matrix **matrix);

#endif
