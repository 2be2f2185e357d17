/* Nets as models: their arrays, the names of their outputs, and the method that encodes with them.
 *
 *   weights1, bias1, ...   out x in, out x 1: the layers from the input to the outputs
 *   loadings               features x outputs: the product of all weights, which is the net were
 *                          all its units active
 */
#include "net.h"

#include "train.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const deep_outputs_names[] = {"softmax", "logistic", "linear", NULL};

static void array_name(const char *what, int layer, char name[32]) {
    snprintf(name, 32, "%s%d", what, layer + 1);
}

/* ---- to a model ---- */

/* loadings' = W_last .. W_1, from the top. */
static rb_error store_loadings(rb_context *ctx, const deep_net *net, rb_model *model) {
    int64_t m = net->sizes[0], outputs = net->sizes[net->layers];
    rb_dense product = {0}, next = {0};
    double *to = rb_model_add_array(ctx, model, "loadings", m, outputs);
    if (!to) return RB_ERROR_MEMORY;
    rb_error err = rb_dense_new(ctx, net->type, outputs, net->sizes[net->layers - 1], &product);
    if (!err) rb_dense_copy(deep_net_weights(net, net->values, net->layers - 1), product);
    for (int k = net->layers - 2; !err && k >= 0; k--) {
        err = rb_dense_new(ctx, net->type, outputs, net->sizes[k], &next);
        if (err) break;
        rb_gemm_parallel(ctx, 1, product, RB_PLAIN, deep_net_weights(net, net->values, k), RB_PLAIN,
                         0, next);
        rb_dense_free(&product);
        product = next;
    }
    for (int64_t j = 0; !err && j < outputs; j++)
        for (int64_t k = 0; k < m; k++)
            to[k * outputs + j] = rb_dense_get(product, j, k);
    rb_dense_free(&product);
    for (int64_t i = 0; !err && i < m * outputs; i++)
        if (!isfinite(to[i]))
            err = rb_fail(ctx, RB_ERROR_NUMERIC,
                          "the weights of the net are too large; take a smaller `rate`");
    return err;
}

rb_error deep_net_store(rb_context *ctx, const deep_net *net, rb_model *model) {
    rb_error err = store_loadings(ctx, net, model);
    for (int k = 0; !err && k < net->layers; k++) {
        char name[32];
        rb_dense w = deep_net_weights(net, net->values, k);
        array_name("weights", k, name);
        err = rb_model_put_array(ctx, model, name, w);
        array_name("bias", k, name);
        rb_dense b = {deep_net_bias(net, net->values, k).data, w.rows, 1, 1, w.type};
        err = err ? err : rb_model_put_array(ctx, model, name, b);
    }
    return err;
}

/* ---- from a model ---- */

static rb_error find_sizes(rb_context *ctx, const rb_model *model, deep_net *net) {
    int64_t rows, cols;
    net->sizes[0] = rb_model_features(model);
    for (net->layers = 0; net->layers < DEEP_LAYERS_MAX; net->layers++) {
        char name[32];
        array_name("weights", net->layers, name);
        if (!rb_model_array(model, name, &rows, &cols)) break;
        net->sizes[net->layers + 1] = rows;
    }
    if (net->layers == 0 || rb_model_units(model) != net->sizes[net->layers]) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the net has %d layers and %lld outputs; the model is damaged", net->layers,
                       (long long)rb_model_units(model));
    }
    return RB_OK;
}

static rb_error load_array(rb_context *ctx, const rb_model *model, const char *name, int64_t cols,
                           rb_dense to) {
    const double *values;
    int64_t rows = to.rows * to.cols / (cols > 0 ? cols : 1);
    rb_error err = rb_model_need_array(ctx, model, name, rows, cols, &values);
    if (!err) rb_dense_copy((rb_dense){(void *)values, to.rows, to.cols, to.cols, RB_FLOAT64}, to);
    return err;
}

rb_error deep_net_load(rb_context *ctx, const rb_model *model, deep_net *net) {
    const char *outputs = rb_model_attribute(model, "outputs");
    int kind = outputs ? rb_store_word(deep_outputs_names, 3, outputs) : -1;
    *net = (deep_net){.type = model->type, .outputs = (deep_outputs)kind};
    if (kind < 0) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the outputs of the net are '%s', but must be softmax, logistic or linear; "
                       "the model is damaged",
                       outputs ? outputs : "");
    }
    const double *loadings;
    rb_error err = find_sizes(ctx, model, net);
    err = err ? err
              : rb_model_need_array(ctx, model, "loadings", net->sizes[0], net->sizes[net->layers],
                                    &loadings);
    err = err ? err : deep_net_lay_out(ctx, net);
    if (!err) net->values = rb_alloc_zero(ctx, net->count, rb_type_size(net->type));
    if (!err && !net->values) err = RB_ERROR_MEMORY;
    for (int k = 0; !err && k < net->layers; k++) {
        char name[32];
        array_name("weights", k, name);
        err = load_array(ctx, model, name, net->sizes[k], deep_net_weights(net, net->values, k));
        array_name("bias", k, name);
        err = err ? err : load_array(ctx, model, name, 1, deep_net_bias(net, net->values, k));
    }
    if (err) {
        rb_free(net->values);
        net->values = NULL;
    }
    return err;
}

/* ---- names of outputs ---- */

rb_error deep_names_store(rb_context *ctx, rb_model *model, int64_t count,
                          const char *const *names) {
    int64_t size = 1;
    if (!names) return RB_OK;
    for (int64_t k = 0; k < count; k++)
        size += (int64_t)strlen(names[k]) + 1;
    char *text = rb_alloc_zero(ctx, size, 1), *at = text;
    if (!text) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        if (k > 0) *at++ = '\t';
        for (const char *c = names[k]; *c; c++)
            *at++ = *c;
        *at = 0;
        if (strchr(names[k], '\t')) {
            rb_free(text);
            return rb_fail(ctx, RB_ERROR_DATA, "the name of class %lld contains a tab",
                           (long long)k);
        }
    }
    rb_error err = rb_model_set_attribute(ctx, model, "classes", text);
    rb_free(text);
    return err;
}

const char *deep_name_at(const char *text, int64_t k, int64_t *length) {
    for (; text && k > 0; k--) {
        text = strchr(text, '\t');
        text = text ? text + 1 : NULL;
    }
    *length = text ? (int64_t)strcspn(text, "\t") : 0;
    return text;
}

/* The output of that name; -1: none. */
static int64_t find_name(const char *text, int64_t n_outputs, const char *name) {
    int64_t length;
    for (int64_t k = 0; k < n_outputs; k++) {
        const char *at = deep_name_at(text, k, &length);
        if (at && (size_t)length == strlen(name) && memcmp(at, name, (size_t)length) == 0) return k;
    }
    return -1;
}

rb_error deep_names_match(rb_context *ctx, const char *what, const char *text, int64_t n_outputs,
                          const rb_labelled *data, int64_t *place) {
    for (int64_t c = 0; c < data->n_classes; c++) {
        bool named = text && data->names;
        place[c] = named ? find_name(text, n_outputs, data->names[c]) : c < n_outputs ? c : -1;
        if (place[c] < 0) {
            char number[32];
            snprintf(number, sizeof number, "%lld", (long long)c);
            return rb_fail(ctx, RB_ERROR_DATA,
                           "%s have the class '%s', which the net does not know; leave these "
                           "samples out, or train with some",
                           what, data->names ? data->names[c] : number);
        }
    }
    return RB_OK;
}

int64_t rb_net_output_name(const rb_model *model, int64_t output, char *buffer, size_t size) {
    const char *text = rb_model_attribute(model, "classes");
    int64_t length = 0;
    bool there = rb_net_outputs(model) && output >= 0 && output < rb_model_units(model);
    if (size > 0) *buffer = 0;
    if (!there) return -1;
    const char *name = deep_name_at(text, output, &length);
    if (!name) return snprintf(buffer, size, "%lld", (long long)output);
    return snprintf(buffer, size, "%.*s", length < INT_MAX ? (int)length : INT_MAX, name);
}

const char *rb_net_outputs(const rb_model *model) {
    if (model->method != &rb_method_net) return NULL;
    const char *outputs = rb_model_attribute(model, "outputs");
    int kind = outputs ? rb_store_word(deep_outputs_names, 3, outputs) : -1;
    return kind < 0 ? NULL : deep_outputs_names[kind];
}

/* ---- the method ---- */

struct coder {
    deep_net net;
    deep_pass pass;
};

static void coder_free(void *coder) {
    struct coder *c = coder;
    if (!c) return;
    deep_pass_free(&c->pass);
    rb_free(c->net.values);
    rb_free(c);
}

static rb_error coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                          void **coder) {
    struct coder *c = *coder = rb_alloc_zero(ctx, 1, sizeof *c);
    if (!c) return RB_ERROR_MEMORY;
    rb_error err = deep_net_load(ctx, model, &c->net);
    err = err ? err : deep_pass_new(ctx, &c->net, block_samples, false, &c->pass);
    if (err) {
        coder_free(c);
        *coder = NULL;
    }
    return err;
}

static rb_error encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    static const deep_noise none = {0};
    struct coder *c = coder;
    rb_block x;
    rb_error err = deep_net_input(ctx, &c->pass, block, &none, NULL, &x);
    if (err) return err;
    rb_dense y = deep_net_forward(ctx, &c->net, &x, &none, NULL, &c->pass);
    rb_dense_copy(y, (rb_dense){codes, y.rows, y.cols, y.cols, y.type});
    return RB_OK;
}

static rb_error decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes,
                       void *rows) {
    (void)coder, (void)n_samples, (void)codes, (void)rows;
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "a net has no way back from its outputs to samples; rebuild them by the model "
                   "that it started from");
}

/* Whether outputs are right, labels alone tell. */
static rb_error evaluate(rb_context *ctx, const rb_model *model, struct rb_feed *feed,
                         rb_metrics *metrics) {
    (void)model, (void)feed, (void)metrics;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "a net is evaluated with labels, but there are none; give them");
}

static const char *const metric_names[] = {"train_error", "valid_loss", "valid_error", "rate",
                                           NULL};

const rb_method rb_method_net = {
    .size = sizeof(rb_method),
    .name = "net",
    .title = "net of rectified layers",
    .options = deep_train_rows,
    .options_size = sizeof(deep_train_options),
    .code_name = "X_net",
    .centre = RB_CENTRE_MEAN,
    .metric_names = metric_names,
    .coder_new = coder_new,
    .coder_free = coder_free,
    .encode = encode,
    .decode = decode,
    .evaluate = evaluate,
    .no_samples = "it answers, and its codes have no distribution",
};
