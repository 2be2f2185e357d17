/* The header of an .npy file and its numbers. Private to src/io. */
#ifndef RB_IO_NPY_H
#define RB_IO_NPY_H

#include "io.h"

enum { RB_NPY_PREFIX = 12, RB_NPY_DIMENSIONS = 32 };

/* What the header says. Strides are counted in numbers of the file. */
typedef struct rb_npy_header {
    int64_t text_offset, data_offset; /* bytes from the start of the file */
    char kind;                        /* 'f', 'i', 'u', 'b' as numpy writes them */
    int item_bytes;
    bool swapped; /* the other byte order */
    rb_type type; /* what the numbers become: float32 where it holds them all exactly */
    int dimensions;
    int64_t shape[RB_NPY_DIMENSIONS];
    int64_t n_samples, n_features; /* features: the product of all dimensions but the first */
    int64_t row_stride, column_stride;
    bool scattered; /* more than two dimensions in Fortran order: a row has no single stride */
} rb_npy_header;

/* Reads the first bytes: version, and where the text of the header stands. */
rb_error rb_npy_prefix(rb_context *ctx, const char *path, const char *bytes, int64_t count,
                       int64_t file_bytes, rb_npy_header *header);
/* Reads the text of the header; checks that the file holds as many numbers as it says. */
rb_error rb_npy_parse(rb_context *ctx, const char *path, const char *text, int64_t file_bytes,
                      rb_npy_header *header);
/* Looks at the header of a file. */
rb_error rb_npy_look(rb_context *ctx, const char *path, rb_npy_header *header);
/* Converts rows that start at `raw` to contiguous rows of header->type. */
void rb_npy_convert(const rb_npy_header *header, const char *raw, int64_t rows, void *out);

#endif
