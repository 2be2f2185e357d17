/* Reading the layers of a net from an ONNX graph: rectified layers one above the other, each a
 * Gemm, and before them perhaps the centring and scaling that onnx.c writes. Any other graph is
 * refused by the name of the node that does not belong there. */
#include "layers_file.h"

#include <math.h>
#include <string.h>

enum { MODEL_GRAPH = 7, MODEL_METADATA = 14 };
enum { GRAPH_NODE = 1, GRAPH_CONSTANT = 5 };
enum { NODE_INPUT = 1, NODE_KIND = 4, NODE_ATTRIBUTE = 5 };
enum { FLOAT = 1, INT64 = 7, DOUBLE = 11 };

struct reading {
    rb_context *ctx;
    const char *path;
    rb_arrays *arrays;
    rb_net_arrays *net;
    const char *classes; /* NULL: none */
    int rectified;       /* how many Relu there were */
};

static rb_error damaged(const struct reading *r) {
    return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: not an ONNX file, or damaged", r->path);
}

/* A text of a message, cut to its room. */
static void take_text(rb_span bytes, char *text, size_t size) {
    size_t count = (size_t)bytes.count < size - 1 ? (size_t)bytes.count : size - 1;
    if (count > 0) memcpy(text, bytes.data, count); /* an empty one may have no place */
    text[count] = '\0';
}

/* ---- constants ---- */

struct tensor {
    int64_t shape[4];
    int dimensions;
    uint64_t type;
    char name[128];
    rb_span raw, floats, doubles;
    bool outside; /* its numbers are in another file */
    bool single;  /* a float in a field of its own, as no one packs it */
};

static bool add_size(struct tensor *t, uint64_t size) {
    if (t->dimensions < 4 && size <= INT64_MAX) t->shape[t->dimensions] = (int64_t)size;
    t->dimensions++;
    return size <= INT64_MAX;
}

static bool take_tensor(rb_span bytes, struct tensor *t) {
    rb_field_walk walk = {.left = bytes};
    bool sound = true;
    *t = (struct tensor){0};
    while (sound && rb_field_next(&walk)) {
        bool packed = walk.wire == 2;
        uint64_t size;
        if (walk.field == 1 && packed)
            while (sound && walk.bytes.count > 0)
                sound = rb_varint_take(&walk.bytes, &size) && add_size(t, size);
        else if (walk.field == 1)
            sound = add_size(t, walk.integer);
        if (walk.field == 2) t->type = walk.integer;
        if (walk.field == 4) t->floats = walk.bytes;
        if (walk.field == 8) take_text(walk.bytes, t->name, sizeof t->name);
        if (walk.field == 9) t->raw = walk.bytes;
        if (walk.field == 10) t->doubles = walk.bytes;
        if (walk.field == 14) t->outside = walk.integer == 1;
        t->single = t->single || ((walk.field == 4 || walk.field == 10) && !packed);
    }
    return sound && !walk.damaged;
}

static double number_at(rb_span raw, int64_t i, size_t size) {
    float f4;
    double f8;
    uint64_t bits = rb_little(raw.data + i * (int64_t)size, (int)size);
    uint32_t b4 = (uint32_t)bits;
    memcpy(&f4, &b4, sizeof f4);
    memcpy(&f8, &bits, sizeof f8);
    return size == sizeof f4 ? (double)f4 : f8;
}

/* Constants of other types, or of more dimensions, are left out: no layer can be made of them. */
static rb_error add_constant(const struct reading *r, rb_span bytes) {
    struct tensor t;
    int64_t cells = 1, wanted;
    if (!take_tensor(bytes, &t)) return damaged(r);
    if (t.outside) {
        return rb_fail(r->ctx, RB_ERROR_UNSUPPORTED,
                       "%s keeps the numbers of '%s' in another file; save both in one file",
                       r->path, t.name);
    }
    if ((t.type != FLOAT && t.type != DOUBLE) || t.dimensions < 1 || t.dimensions > 2 || t.single)
        return RB_OK;
    size_t size = t.type == FLOAT ? sizeof(float) : sizeof(double);
    rb_span from = t.raw.count > 0 ? t.raw : t.type == FLOAT ? t.floats : t.doubles;
    for (int d = 0; d < t.dimensions; d++)
        if (!rb_multiply(cells, t.shape[d], &cells)) return damaged(r);
    if (!rb_multiply(cells, (int64_t)size, &wanted) || wanted != from.count) return damaged(r);
    double *values = rb_arrays_add(r->ctx, r->arrays, t.name, t.dimensions, t.shape);
    if (!values) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < cells; i++)
        values[i] = number_at(from, i, size);
    return RB_OK;
}

/* ---- nodes ---- */

struct node {
    char kind[64], inputs[3][128];
    int n_inputs;
    bool transposed, scaled; /* of Gemm: transB; transA, or alpha or beta other than 1 */
};

static bool take_attribute(rb_span bytes, struct node *node) {
    rb_field_walk walk = {.left = bytes};
    char name[32] = "";
    uint64_t integer = 0;
    float number = 1;
    while (rb_field_next(&walk)) {
        uint32_t bits = (uint32_t)walk.integer;
        if (walk.field == 1 && walk.wire == 2) take_text(walk.bytes, name, sizeof name);
        if (walk.field == 2 && walk.wire == 5) memcpy(&number, &bits, sizeof number);
        if (walk.field == 3 && walk.wire == 0) integer = walk.integer;
    }
    if (strcmp(name, "transB") == 0) node->transposed = integer != 0;
    node->scaled =
        node->scaled || (strcmp(name, "transA") == 0 && integer != 0) ||
        ((strcmp(name, "alpha") == 0 || strcmp(name, "beta") == 0) && !(fabsf(number - 1) == 0));
    return !walk.damaged;
}

static bool take_node(rb_span bytes, struct node *node) {
    rb_field_walk walk = {.left = bytes};
    bool sound = true;
    *node = (struct node){0};
    while (sound && rb_field_next(&walk)) {
        if (walk.wire != 2) continue;
        if (walk.field == NODE_INPUT) {
            if (node->n_inputs < 3)
                take_text(walk.bytes, node->inputs[node->n_inputs], sizeof node->inputs[0]);
            node->n_inputs++;
        }
        if (walk.field == NODE_KIND) take_text(walk.bytes, node->kind, sizeof node->kind);
        if (walk.field == NODE_ATTRIBUTE) sound = take_attribute(walk.bytes, node);
    }
    return sound && !walk.damaged;
}

/* Turns inputs x outputs around, in place of what was there. */
static rb_error transpose(rb_context *ctx, rb_named_array *array) {
    int64_t rows = array->shape[0], cols = array->shape[1];
    double *turned = rb_alloc(ctx, rows * cols, sizeof *turned);
    if (!turned) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            turned[j * rows + i] = array->values[i * cols + j];
    rb_free(array->values);
    array->values = turned;
    array->shape[0] = cols;
    array->shape[1] = rows;
    return RB_OK;
}

static rb_error add_layer(const struct reading *r, const struct node *node) {
    rb_net_arrays *net = r->net;
    const rb_named_array *w = rb_arrays_find(r->arrays, node->inputs[1]);
    const rb_named_array *b = rb_arrays_find(r->arrays, node->inputs[2]);
    bool plain =
        node->n_inputs == 3 && !node->scaled && w && b && w->dimensions == 2 && b->dimensions == 1;
    if (!plain || net->count == RB_ARRAYS_MAX) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT,
                       "%s: layer %d is not a product with stored weights plus a stored bias; save "
                       "the net's layers as an .npz",
                       r->path, net->count + 1);
    }
    for (int k = 0; k < net->count; k++) {
        if (net->weights[k] == w)
            return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: two layers share their weights, '%s'",
                           r->path, w->name);
    }
    net->weights[net->count] = w;
    net->bias[net->count++] = b;
    return node->transposed ? RB_OK : transpose(r->ctx, &r->arrays->list[w - r->arrays->list]);
}

static bool among(const char *kind, const char *const *kinds) {
    while (*kinds && strcmp(*kinds, kind) != 0)
        kinds++;
    return *kinds != NULL;
}

/* What is done to samples before the layers, by the names of the constants that onnx.c gives. */
static bool is_preprocessing(const struct reading *r, const struct node *node) {
    static const char *const kinds[] = {"Gather", "IsNaN", "Where", "ReduceSum", "Max",
                                        "Mul",    "Add",   "Log",   NULL};
    static const char *const constants[] = {"selected", "fill", "zero", "least",
                                            "totals",   "one",  "axis", NULL};
    if (r->net->count > 0 || !among(node->kind, kinds)) return false;
    bool known = among(node->kind, (const char *const[]){"IsNaN", "Log", NULL});
    for (int i = 0; i < node->n_inputs && i < 3; i++)
        known = known || among(node->inputs[i], constants);
    return known;
}

/* "Sub" of "centre", "Div" by "scale". */
static bool takes_constant(const struct reading *r, const struct node *node, const char *kind,
                           const char *constant, const rb_named_array **found) {
    if (r->net->count > 0 || strcmp(node->kind, kind) != 0 || node->n_inputs != 2) return false;
    if (strcmp(kind, "Div") == 0 && strcmp(node->inputs[1], "divisor") == 0) return true;
    if (strcmp(node->inputs[1], constant) != 0) return false;
    *found = rb_arrays_find(r->arrays, constant);
    return *found != NULL;
}

static rb_error add_node(struct reading *r, rb_span bytes) {
    static const char *const ends[] = {"Softmax", "LogSoftmax", "Sigmoid", NULL};
    static const char *const nothing[] = {"Identity", "Flatten", "Dropout", NULL};
    struct node node;
    if (!take_node(bytes, &node)) return damaged(r);
    if (strcmp(node.kind, "Gemm") == 0) {
        if (r->rectified == r->net->count) return add_layer(r, &node);
    } else if (strcmp(node.kind, "Relu") == 0) {
        r->rectified++;
        if (r->rectified == r->net->count) return RB_OK;
    } else if (among(node.kind, nothing) || is_preprocessing(r, &node) ||
               (among(node.kind, ends) && r->rectified == r->net->count - 1) ||
               takes_constant(r, &node, "Sub", "centre", &r->net->centre) ||
               takes_constant(r, &node, "Div", "scale", &r->net->scale)) {
        return RB_OK;
    }
    return rb_fail(
        r->ctx, RB_ERROR_FORMAT,
        "%s has a node '%s' after %d layers, which a net of rectified layers cannot have", r->path,
        node.kind, r->net->count);
}

/* ---- the file ---- */

static rb_error find_graph(const struct reading *r, rb_span file, rb_span *graph) {
    rb_field_walk walk = {.left = file};
    bool found = false;
    while (rb_field_next(&walk)) {
        if (walk.field != MODEL_GRAPH || walk.wire != 2) continue;
        *graph = walk.bytes;
        found = true;
    }
    return walk.damaged || !found ? damaged(r) : RB_OK;
}

static rb_error each(struct reading *r, rb_span graph, int field,
                     rb_error (*take)(struct reading *r, rb_span bytes)) {
    rb_field_walk walk = {.left = graph};
    rb_error err = RB_OK;
    while (!err && rb_field_next(&walk))
        if (walk.field == field && walk.wire == 2) err = take(r, walk.bytes);
    return err ? err : walk.damaged ? damaged(r) : RB_OK;
}

static rb_error take_constant(struct reading *r, rb_span bytes) {
    return add_constant(r, bytes);
}

static bool is_text(rb_span bytes, const char *text) {
    size_t count = strlen(text);
    return bytes.count == (int64_t)count &&
           (count == 0 || (bytes.data && memcmp(bytes.data, text, count) == 0));
}

/* An entry of the metadata: key and value. */
static rb_error check_metadata(struct reading *r, rb_span bytes) {
    rb_field_walk walk = {.left = bytes};
    rb_span key = {0}, value = {0};
    while (rb_field_next(&walk)) {
        if (walk.field == 1 && walk.wire == 2) key = walk.bytes;
        if (walk.field == 2 && walk.wire == 2) value = walk.bytes;
    }
    bool same = is_text(value, r->classes ? r->classes : "");
    if (is_text(key, "classes") && !same) r->net->other_classes = true;
    return walk.damaged ? damaged(r) : RB_OK;
}

rb_error rb_onnx_read(rb_context *ctx, const char *path, const char *classes, rb_arrays *arrays,
                      rb_net_arrays *net) {
    struct reading r = {.ctx = ctx, .path = path, .arrays = arrays, .net = net, .classes = classes};
    rb_reading reading;
    rb_span graph = {0};
    unsigned char *bytes;
    int64_t count;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_load_bytes(ctx, path, &bytes, &count);
    err = err ? err : find_graph(&r, (rb_span){bytes, count}, &graph);
    err = err ? err : each(&r, graph, GRAPH_CONSTANT, take_constant);
    err = err ? err : each(&r, graph, GRAPH_NODE, add_node);
    err = err ? err : each(&r, (rb_span){bytes, count}, MODEL_METADATA, check_metadata);
    rb_reading_end(ctx);
    rb_free(bytes);
    return err;
}
