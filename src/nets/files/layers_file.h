/* Layers in files: ONNX (onnx.c, onnx_read.c, protobuf.c), and either format (layers_file.c). */
#ifndef RB_NETS_LAYERS_FILE_H
#define RB_NETS_LAYERS_FILE_H

#include "io/io.h"

#include <rarebit/deep.h>

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
    rb_span left;
    int field, wire;
    uint64_t integer; /* of wire types 0, 1, 5 */
    rb_span bytes;    /* of wire type 2 */
    bool damaged;
} rb_field_walk;
/* False: at the end, or damaged. */
bool rb_field_next(rb_field_walk *walk);
/* A number at the front of bytes, as packed lists have them. */
bool rb_varint_take(rb_span *bytes, uint64_t *value);

/* ---- layers in files (layers_file.c) ---- */

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
