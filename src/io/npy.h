/* The header of an .npy file and its numbers. Private to src/io. */
#ifndef RB_IO_NPY_H
#define RB_IO_NPY_H

#include "io.h"

enum { RB_NPY_PREFIX = 12, RB_NPY_DIMENSIONS = 32 };

/* What the header says. */
typedef struct rb_npy_header {
    int64_t text_offset, data_offset; /* bytes from the start of the file */
    char kind;                        /* 'f', 'i', 'u', 'b' as numpy writes them */
    int item_bytes;
    bool swapped; /* the other byte order */
    rb_type type; /* what the numbers become: float32 where it holds them all exactly */
    int dimensions;
    int64_t shape[RB_NPY_DIMENSIONS];
    int64_t n_samples, n_features; /* features: the product of all dimensions but the first */
    bool by_features; /* Fortran order: the numbers of one feature stand side by side */
} rb_npy_header;

/* Reads the first bytes: version, and where the text of the header stands. */
rb_error rb_npy_prefix(rb_context *ctx, const char *path, const char *bytes, int64_t count,
                       int64_t file_bytes, rb_npy_header *header);
/* Reads the text of the header; checks that the file holds as many numbers as it says. */
rb_error rb_npy_parse(rb_context *ctx, const char *path, const char *text, int64_t file_bytes,
                      rb_npy_header *header);
/* Looks at the header of a file. */
rb_error rb_npy_look(rb_context *ctx, const char *path, rb_npy_header *header);
/* A source that reads blocks of the file, which stays open; RB_ERROR_UNSUPPORTED where transposing
 * needs all of it. */
rb_error rb_npy_stream(rb_context *ctx, const char *path, bool transposed, rb_source **source);
/* Of a file by features: how many numbers stand before those of a feature. */
int64_t rb_npy_feature_offset(const rb_npy_header *header, int64_t feature);
/* Converts numbers as they stand in the file to header->type. */
void rb_npy_convert(const rb_npy_header *header, const char *raw, int64_t count, void *out);

#endif
