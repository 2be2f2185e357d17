/* Writing layers as an ONNX graph (onnx.proto of ONNX 1.8, operator set 13): raw samples go in,
 * what is done to them before the layers are nodes as well.
 *
 *   samples -> [totals, log1p, selected features, fillings] -> Sub centre -> Div scale
 *           -> Gemm weights1 bias1 -> Relu -> ... -> Softmax or Sigmoid
 */
#include "layers_file.h"

#include <rarebit/version.h>

#include <string.h>

enum { IR_VERSION = 7, OPERATORS = 13 };
/* Numbers of fields. */
enum {
    MODEL_IR = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_GRAPH = 7,
    MODEL_OPERATORS = 8,
    MODEL_METADATA = 14
};
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_KIND = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INTEGER = 3, ATTRIBUTE_TYPE = 20, TYPE_INTEGER = 2 };
enum { TENSOR_SIZE = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { FLOAT = 1, INT64 = 7, DOUBLE = 11 };

/* A graph that grows at its end. */
struct graph {
    rb_message message;
    rb_type type;
    char last[32]; /* the value that came out last */
    int values;
};

/* ---- pieces ---- */

static void add_tensor(struct graph *g, const char *name, int type, int dimensions,
                       const int64_t *shape, rb_span raw) {
    rb_message tensor = {.ctx = g->message.ctx};
    for (int d = 0; d < dimensions; d++)
        rb_message_integer(&tensor, TENSOR_SIZE, (uint64_t)shape[d]);
    rb_message_integer(&tensor, TENSOR_TYPE, (uint64_t)type);
    rb_message_text(&tensor, TENSOR_NAME, name);
    rb_message_bytes(&tensor, TENSOR_RAW, raw.data, raw.count);
    rb_message_put(&g->message, GRAPH_CONSTANT, &tensor);
}

/* Numbers are little-endian in the file. */
static void swap(unsigned char *bytes, int64_t count, size_t size) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return;
    for (int64_t i = 0; i < count; i++, bytes += size) {
        for (size_t k = 0; k < size / 2; k++) {
            unsigned char kept = bytes[k];
            bytes[k] = bytes[size - 1 - k];
            bytes[size - 1 - k] = kept;
        }
    }
}

static void add_numbers(struct graph *g, const char *name, int dimensions, const int64_t *shape,
                        const double *values) {
    int64_t cells = dimensions == 2 ? shape[0] * shape[1] : shape[0];
    size_t size = rb_type_size(g->type);
    void *raw = g->message.err ? NULL : rb_alloc(g->message.ctx, cells, size);
    if (!raw) {
        g->message.err = g->message.err ? g->message.err : RB_ERROR_MEMORY;
        return;
    }
    for (int64_t i = 0; i < cells; i++)
        rb_put(g->type, raw, i, values[i]);
    swap(raw, cells, size);
    add_tensor(g, name, g->type == RB_FLOAT32 ? FLOAT : DOUBLE, dimensions, shape,
               (rb_span){raw, cells * (int64_t)size});
    rb_free(raw);
}

static void add_vector(struct graph *g, const char *name, int64_t count, const double *values) {
    add_numbers(g, name, 1, &count, values);
}

static void add_integers(struct graph *g, const char *name, int64_t count, const int64_t *values) {
    unsigned char *raw = rb_alloc(g->message.ctx, count, sizeof *values);
    if (!raw) {
        g->message.err = RB_ERROR_MEMORY;
        return;
    }
    memcpy(raw, values, (size_t)count * sizeof *values);
    swap(raw, count, sizeof *values);
    add_tensor(g, name, INT64, 1, &count, (rb_span){raw, count * (int64_t)sizeof *values});
    rb_free(raw);
}

/* A node of up to three inputs (NULL: none), and one attribute (NULL: none). */
struct node {
    const char *kind, *inputs[3], *output, *attribute;
    int64_t value;
};

static void add_node(struct graph *g, const struct node *n) {
    rb_message node = {.ctx = g->message.ctx};
    for (int i = 0; i < 3 && n->inputs[i]; i++)
        rb_message_text(&node, NODE_INPUT, n->inputs[i]);
    rb_message_text(&node, NODE_OUTPUT, n->output);
    rb_message_text(&node, NODE_NAME, n->output);
    rb_message_text(&node, NODE_KIND, n->kind);
    if (n->attribute) {
        rb_message attribute = {.ctx = g->message.ctx};
        rb_message_text(&attribute, ATTRIBUTE_NAME, n->attribute);
        rb_message_integer(&attribute, ATTRIBUTE_INTEGER, (uint64_t)n->value);
        rb_message_integer(&attribute, ATTRIBUTE_TYPE, TYPE_INTEGER);
        rb_message_put(&node, NODE_ATTRIBUTE, &attribute);
    }
    rb_message_put(&g->message, GRAPH_NODE, &node);
}

/* A node on what came out last and perhaps a constant; its output is named, or numbered. */
static void then(struct graph *g, const char *kind, const char *constant, const char *output) {
    char name[32];
    snprintf(name, sizeof name, "x%d", ++g->values);
    add_node(g, &(struct node){
                    .kind = kind, .inputs = {g->last, constant}, .output = output ? output : name});
    snprintf(g->last, sizeof g->last, "%s", output ? output : name);
}

/* Samples of `columns` floats, as an input or output. */
static void add_value(struct graph *g, int field, const char *name, int64_t columns) {
    rb_context *ctx = g->message.ctx;
    rb_message rows = {.ctx = ctx}, cols = rows, shape = rows, tensor = rows, type = rows,
               value = rows;
    rb_message_text(&rows, 2, "samples_count");
    rb_message_integer(&cols, 1, (uint64_t)columns);
    rb_message_put(&shape, 1, &rows);
    rb_message_put(&shape, 1, &cols);
    rb_message_integer(&tensor, 1, g->type == RB_FLOAT32 ? FLOAT : DOUBLE);
    rb_message_put(&tensor, 2, &shape);
    rb_message_put(&type, 1, &tensor);
    rb_message_text(&value, 1, name);
    rb_message_put(&value, 2, &type);
    rb_message_put(&g->message, field, &value);
}

/* ---- what is done to samples ---- */

/* x totals / sum(x), of what is not missing; of a sum of 0, x is 0 whatever it is divided by. */
static void add_totals(struct graph *g, const rb_preprocess *p) {
    const double zero = 0, least = 1e-30;
    const int64_t axis = 1;
    char there[32];
    snprintf(there, sizeof there, "%s", g->last);
    add_vector(g, "zero", 1, &zero);
    add_vector(g, "least", 1, &least);
    add_vector(g, "totals", 1, &p->options.totals);
    add_integers(g, "axis", 1, &axis);
    add_node(g, &(struct node){.kind = "IsNaN", .inputs = {there}, .output = "lacking"});
    add_node(g, &(struct node){
                    .kind = "Where", .inputs = {"lacking", "zero", there}, .output = "present"});
    add_node(g,
             &(struct node){.kind = "ReduceSum", .inputs = {"present", "axis"}, .output = "sum"});
    add_node(g, &(struct node){.kind = "Max", .inputs = {"sum", "least"}, .output = "divisor"});
    then(g, "Mul", "totals", NULL);
    then(g, "Div", "divisor", NULL);
}

static void add_preprocess(struct graph *g, const rb_preprocess *p) {
    const double one = 1;
    if (p->options.totals > 0) add_totals(g, p);
    if (p->options.log1p) {
        add_vector(g, "one", 1, &one);
        then(g, "Add", "one", NULL);
        then(g, "Log", NULL, NULL);
    }
    if (p->selected) {
        add_integers(g, "selected", p->n_features, p->selected);
        add_node(g, &(struct node){"Gather", {g->last, "selected"}, "features", "axis", 1});
        snprintf(g->last, sizeof g->last, "features");
    }
    if (p->fill) {
        add_vector(g, "fill", p->n_features, p->fill);
        add_node(g, &(struct node){.kind = "IsNaN", .inputs = {g->last}, .output = "missing"});
        add_node(g, &(struct node){
                        .kind = "Where", .inputs = {"missing", "fill", g->last}, .output = "full"});
        snprintf(g->last, sizeof g->last, "full");
    }
    add_vector(g, "centre", p->n_features, p->centre);
    add_vector(g, "scale", p->n_features, p->scale);
    then(g, "Sub", "centre", NULL);
    then(g, "Div", "scale", NULL);
}

/* ---- layers ---- */

static void add_layer(struct graph *g, const rb_layers *layers, int64_t k) {
    char weights[32], bias[32], output[32];
    int64_t shape[2];
    const double *w = rb_layers_weights(layers, k, &shape[0], &shape[1]);
    const char *activation = rb_layers_activation(layers, k);
    bool last = k == rb_layers_count(layers) - 1, rectified = strcmp(activation, "rectify") == 0;
    snprintf(weights, sizeof weights, "weights%lld", (long long)k + 1);
    snprintf(bias, sizeof bias, "bias%lld", (long long)k + 1);
    snprintf(output, sizeof output, "z%lld", (long long)k + 1);
    const char *shown = last && strcmp(activation, "linear") == 0 ? "values"
                        : last && !rectified                      ? "logits"
                                                                  : output;
    add_numbers(g, weights, 2, shape, w);
    add_vector(g, bias, shape[0], rb_layers_bias(layers, k));
    add_node(g, &(struct node){"Gemm", {g->last, weights, bias}, shown, "transB", 1});
    snprintf(g->last, sizeof g->last, "%s", shown);
    if (rectified) then(g, "Relu", NULL, last ? "codes" : NULL);
    if (last && !rectified) add_value(g, GRAPH_OUTPUT, shown, shape[0]);
    if (strcmp(activation, "logistic") == 0) then(g, "Sigmoid", NULL, "probabilities");
    if (strcmp(activation, "softmax") == 0) {
        add_node(g, &(struct node){"Softmax", {g->last}, "probabilities", "axis", 1});
        snprintf(g->last, sizeof g->last, "probabilities");
    }
    if (last && strcmp(g->last, shown) != 0) add_value(g, GRAPH_OUTPUT, g->last, shape[0]);
}

static void add_metadata(rb_message *model, const char *key, const char *value) {
    rb_message entry = {.ctx = model->ctx};
    if (!value) return;
    rb_message_text(&entry, 1, key);
    rb_message_text(&entry, 2, value);
    rb_message_put(model, MODEL_METADATA, &entry);
}

static void fill(rb_message *onnx, const rb_model *model, const rb_layers *layers) {
    struct graph g = {.message = {.ctx = onnx->ctx}, .type = model->type, .last = "samples"};
    rb_message operators = {.ctx = onnx->ctx};
    rb_message_text(&g.message, GRAPH_NAME, rb_model_method(model));
    add_value(&g, GRAPH_INPUT, "samples", model->preprocess->n_input);
    add_preprocess(&g, model->preprocess);
    for (int64_t k = 0; k < rb_layers_count(layers); k++)
        add_layer(&g, layers, k);
    rb_message_integer(onnx, MODEL_IR, IR_VERSION);
    rb_message_text(onnx, MODEL_PRODUCER, "rarebit");
    rb_message_text(onnx, MODEL_PRODUCER_VERSION, RB_VERSION);
    rb_message_put(onnx, MODEL_GRAPH, &g.message);
    rb_message_text(&operators, 1, "");
    rb_message_integer(&operators, 2, OPERATORS);
    rb_message_put(onnx, MODEL_OPERATORS, &operators);
    add_metadata(onnx, "classes", rb_model_attribute(model, "classes"));
}

rb_error rb_onnx_write(rb_context *ctx, FILE *file, const rb_model *model,
                       const rb_layers *layers) {
    rb_message onnx = {.ctx = ctx};
    fill(&onnx, model, layers);
    rb_error err = onnx.err;
    if (!err && onnx.count > INT32_MAX)
        err = rb_fail(ctx, RB_ERROR_UNSUPPORTED, "the ONNX file would exceed 2 GB; write .npz");
    if (!err) fwrite(onnx.bytes.data, 1, (size_t)onnx.count, file);
    rb_free(onnx.bytes.data);
    return err;
}
