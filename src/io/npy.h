/* The header of an .npy file, and its numbers, which IDX files have as well. Private to src/io. */
#ifndef RB_IO_NPY_H
#define RB_IO_NPY_H

#include "io.h"

enum { RB_NPY_PREFIX = 12, RB_NPY_DIMENSIONS = 32 };

/* A number as it stands in a file. */
typedef struct rb_item {
    char kind; /* 'f', 'i', 'u', 'b' as numpy writes them */
    int bytes;
    bool swapped; /* the other byte order */
    rb_type type; /* what it becomes: float32 where it holds them all exactly */
} rb_item;

rb_item rb_item_of(char kind, int bytes, bool big);
void rb_items_convert(rb_item item, const char *raw, int64_t count, void *out);

/* What the header says. */
typedef struct rb_npy_header {
    int64_t text_offset, data_offset; /* bytes from the start of the file */
    rb_item item;
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
/* Writes the header of an array in C order and the byte order of this machine, version 1.0: type is
 * "f4" or the like. Gives how many bytes, a multiple of 64. */
enum { RB_NPY_HEAD = 256 };
int64_t rb_npy_head(char head[RB_NPY_HEAD], const char *type, int dimensions, const int64_t *shape);
/* Looks at the header of a file. */
rb_error rb_npy_look(rb_context *ctx, const char *path, rb_npy_header *header);
/* A source that reads blocks of the file, which stays open; RB_ERROR_UNSUPPORTED where transposing
 * needs all of it. */
rb_error rb_npy_stream(rb_context *ctx, const char *path, bool transposed, rb_source **source);

#endif
