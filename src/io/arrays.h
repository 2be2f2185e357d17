/* Named arrays in files: .npz (npz.c, zip.c) and ONNX (onnx.c, onnx_read.c, protobuf.c); and layers
 * as such (layers.c). Private to src/io. */
#ifndef RB_IO_ARRAYS_H
#define RB_IO_ARRAYS_H

#include "io.h"

#include <rarebit/deep.h>

/* ---- bytes of a file in memory ---- */

typedef struct rb_bytes {
    const unsigned char *data;
    int64_t count;
} rb_bytes;

static inline uint64_t rb_little(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* ---- ZIP (zip.c): what a .npz is ---- */

enum { RB_ZIP_NAME = 256, RB_ZIP_ENTRIES = 256 };

/* A file in it that was read. */
typedef struct rb_zip_entry {
    char name[RB_ZIP_NAME];
    unsigned char *data; /* owned */
    int64_t count;
} rb_zip_entry;

typedef struct rb_zip {
    int count;
    rb_zip_entry *entries;
} rb_zip;

/* Reads all of it, stored or deflated, by the list at its end. To be cleared in any case.
 * RB_ERROR_FORMAT: it is none, damaged, encrypted, or has more than RB_ZIP_ENTRIES files. */
rb_error rb_zip_read(rb_context *ctx, const char *path, rb_zip *zip);
void rb_zip_clear(rb_zip *zip);

/* Writes files, stored, one after the other; below 4 GiB all together. */
typedef struct rb_zip_writer {
    rb_context *ctx;
    FILE *file;
    int64_t at;     /* bytes so far */
    rb_buffer list; /* what stands at the end */
    int64_t list_bytes;
    int count;
} rb_zip_writer;
/* RB_ERROR_UNSUPPORTED: too large. */
rb_error rb_zip_add(rb_zip_writer *zip, const char *name, rb_bytes head, rb_bytes data);
rb_error rb_zip_finish(rb_zip_writer *zip); /* also frees */
void rb_zip_abandon(rb_zip_writer *zip);

/* ---- named arrays ---- */

/* float64, whatever they are in the file. */
typedef struct rb_named_array {
    const char *name;
    int dimensions; /* 1 or 2 of those that are read */
    int64_t shape[4];
    double *values;
} rb_named_array;

enum { RB_ARRAYS_MAX = 128 };

typedef struct rb_arrays {
    int count;
    rb_named_array list[RB_ARRAYS_MAX];
    char *names[RB_ARRAYS_MAX]; /* what read names point into; owned, as values are */
} rb_arrays;

void rb_arrays_clear(rb_arrays *arrays);
/* Adds an array of zeros, of at most two dimensions; NULL and a message. */
double *rb_arrays_add(rb_context *ctx, rb_arrays *arrays, const char *name, int dimensions,
                      const int64_t *shape);
/* NULL: there is none. */
const rb_named_array *rb_arrays_find(const rb_arrays *arrays, const char *name);

/* Is an array of that name wanted? An error ends the reading. */
typedef rb_error (*rb_array_choice)(rb_context *ctx, const char *path, const char *name,
                                    bool *wanted);
/* Reads arrays of numbers, in the order of the file; to be cleared in any case. */
rb_error rb_npz_read(rb_context *ctx, const char *path, rb_array_choice choose, rb_arrays *arrays);
/* Floats of that type. */
rb_error rb_npz_add(rb_zip_writer *zip, const rb_named_array *array, rb_type type);
/* A vector of texts in UTF-8. */
rb_error rb_npz_add_texts(rb_zip_writer *zip, const char *name, int64_t count,
                          const char *const *texts);

/* *other: the file has texts of that name, and they are not these. */
rb_error rb_npz_other_texts(rb_context *ctx, const char *path, const char *name, int64_t count,
                            const char *const *texts, bool *other);

/* ---- protobuf (protobuf.c): messages of numbered fields ---- */

/* A message that grows; `err` is why it could not. */
typedef struct rb_message {
    rb_context *ctx;
    rb_buffer bytes;
    int64_t count;
    rb_error err;
} rb_message;

void rb_message_integer(rb_message *message, int field, uint64_t value);
void rb_message_bytes(rb_message *message, int field, const void *data, int64_t count);
void rb_message_text(rb_message *message, int field, const char *text);
/* Puts a message in another one, and frees it. */
void rb_message_put(rb_message *message, int field, rb_message *inner);

/* A walk over the fields of a message. */
typedef struct rb_field_walk {
    rb_bytes left;
    int field, wire;
    uint64_t integer; /* of wire types 0, 1, 5 */
    rb_bytes bytes;   /* of wire type 2 */
    bool damaged;
} rb_field_walk;
/* False: at the end, or damaged. */
bool rb_field_next(rb_field_walk *walk);
/* A number at the front of bytes, as packed lists have them. */
bool rb_varint_take(rb_bytes *bytes, uint64_t *value);

/* ---- layers in files (layers.c) ---- */

/* What a file says of a net: its layers from the input, and what is done to samples before. */
typedef struct rb_net_arrays {
    int count;
    const rb_named_array *weights[RB_ARRAYS_MAX], *bias[RB_ARRAYS_MAX];
    const rb_named_array *centre, *scale; /* NULL: the file does not say */
    bool other_classes;                   /* the file names others */
} rb_net_arrays;

/* onnx.c, onnx_read.c */
rb_error rb_onnx_write(rb_context *ctx, FILE *file, const rb_model *model, const rb_layers *layers);
/* Reads constants, and takes the layers in the order of the graph. classes: those that its metadata
 * should name, if any; NULL: none. */
rb_error rb_onnx_read(rb_context *ctx, const char *path, const char *classes, rb_arrays *arrays,
                      rb_net_arrays *net);

#endif
