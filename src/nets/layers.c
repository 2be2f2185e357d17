/* Layers of models as numbers for other programs, and nets of numbers that come from there. */
#include "net.h"
#include "stack.h"

#include <math.h>
#include <string.h>

/* ---- out ---- */

/* Has the model rectified layers, as an rfn has one and a stack of such several? */
static rb_error check_rectified(rb_context *ctx, const rb_model *model, bool *solved) {
    rb_method_layer made = {.size = sizeof made};
    bool one = rb_method_rectifies(model->method);
    if (!one && !rb_stack_layers(model)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a model of method '%s' has no rectified layers; take a net, an rfn or a "
                       "stack of rfn",
                       rb_model_method(model));
    }
    rb_error err = one ? model->method->layer(ctx, model, &made) : RB_OK;
    *solved = *solved || made.solved;
    for (int64_t k = 1; !err && k <= rb_stack_layers(model); k++) {
        rb_model *layer = NULL;
        err = rb_stack_layer(ctx, model, k, &layer);
        err = err ? err : check_rectified(ctx, layer, solved);
        if (err) rb_fail_prefix(ctx, "layer %lld: ", (long long)k);
        rb_model_free(layer);
    }
    return err;
}

/* As rb_finetune starts from them: rows of length sqrt(2); rows of zeros stay. */
static void set_lengths(const deep_layer *layer) {
    for (int64_t j = 0; layer->directions && j < layer->out; j++) {
        double *w = layer->weights + j * layer->in, squares = 0;
        for (int64_t i = 0; i < layer->in; i++)
            squares += w[i] * w[i];
        double factor = squares > 0 ? sqrt(2 / squares) : 1;
        layer->bias[j] *= factor;
        for (int64_t i = 0; i < layer->in; i++)
            w[i] *= factor;
    }
}

/* What samples are like by the model of the (first) layer. */
static rb_error take_spread(rb_context *ctx, const rb_model *model, rb_layers *layers) {
    bool stack = rb_stack_layers(model) > 0;
    int64_t m = layers->layers.list[0].in, l = layers->layers.list[0].out;
    const double *w, *noise;
    rb_error err =
        rb_model_need_array(ctx, model, stack ? "layer1.loadings" : "loadings", m, l, &w);
    err =
        err ? err : rb_model_need_array(ctx, model, stack ? "layer1.noise" : "noise", m, 1, &noise);
    if (err) return err;
    layers->causes = l;
    layers->loadings = rb_alloc(ctx, m * l, sizeof *w);
    layers->deviations = rb_alloc(ctx, m, sizeof *w);
    if (!layers->loadings || !layers->deviations) return RB_ERROR_MEMORY;
    memcpy(layers->loadings, w, (size_t)(m * l) * sizeof *w);
    for (int64_t k = 0; k < m; k++)
        layers->deviations[k] = sqrt(fmax(noise[k], 0));
    return RB_OK;
}

static rb_error take_rectified(rb_context *ctx, const rb_model *model, const char *filter,
                               rb_layers *layers) {
    bool solved = false, plain = filter && strcmp(filter, "plain") == 0;
    if (filter && !plain && strcmp(filter, "posterior") != 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`filter` is '%s', but must be posterior or plain",
                       filter);
    }
    rb_error err = check_rectified(ctx, model, &solved);
    err = err ? err
              : deep_layers_of_model(ctx, model, plain ? DEEP_PLAIN : DEEP_POSTERIOR,
                                     &layers->layers);
    err = err ? err : take_spread(ctx, model, layers);
    for (int k = 0; !err && k < layers->layers.count; k++)
        set_lengths(&layers->layers.list[k]);
    if (!err && solved && !plain) {
        rb_log(ctx, RB_LOG_WARNING,
               "codes of the E-step of this model are solved for, and layers give what that begins "
               "with: other numbers than encode; fit with `estep=newton` for the same");
    }
    return err;
}

static rb_error take_net(rb_context *ctx, const rb_model *model, const char *filter,
                         rb_layers *layers) {
    deep_net net;
    if (filter) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`filter` is given, but a net has weights of its own; leave it out");
    }
    rb_error err = deep_net_load(ctx, model, &net);
    if (err) return err;
    layers->net = true;
    layers->last = (int)net.outputs;
    for (int k = 0; !err && k < net.layers; k++) {
        deep_layer *layer = &layers->layers.list[k];
        int64_t cells = net.sizes[k] * net.sizes[k + 1];
        *layer = (deep_layer){.in = net.sizes[k], .out = net.sizes[k + 1]};
        layers->layers.count++;
        layer->weights = rb_alloc(ctx, cells, sizeof *layer->weights);
        layer->bias = rb_alloc(ctx, layer->out, sizeof *layer->bias);
        if (!layer->weights || !layer->bias) {
            err = RB_ERROR_MEMORY;
            break;
        }
        rb_dense_copy(deep_net_weights(&net, net.values, k),
                      (rb_dense){layer->weights, layer->out, layer->in, layer->in, RB_FLOAT64});
        rb_dense_copy(deep_net_bias(&net, net.values, k),
                      (rb_dense){layer->bias, 1, layer->out, layer->out, RB_FLOAT64});
    }
    rb_free(net.values);
    return err;
}

rb_error rb_layers_new(rb_context *ctx, const rb_model *model, const char *filter,
                       rb_layers **out) {
    *out = NULL;
    rb_layers *layers = rb_alloc_zero(ctx, 1, sizeof *layers);
    if (!layers) return RB_ERROR_MEMORY;
    rb_error err =
        (model->method == &rb_method_net ? take_net : take_rectified)(ctx, model, filter, layers);
    if (err) {
        rb_layers_free(layers);
        return err;
    }
    *out = layers;
    return RB_OK;
}

void rb_layers_free(rb_layers *layers) {
    if (!layers) return;
    deep_layers_free(&layers->layers);
    rb_free(layers->loadings);
    rb_free(layers->deviations);
    rb_free(layers);
}

int64_t rb_layers_count(const rb_layers *layers) {
    return layers->layers.count;
}

static const deep_layer *layer_at(const rb_layers *layers, int64_t layer) {
    return layer >= 0 && layer < layers->layers.count ? &layers->layers.list[layer] : NULL;
}

const double *rb_layers_weights(const rb_layers *layers, int64_t layer, int64_t *outputs,
                                int64_t *inputs) {
    const deep_layer *found = layer_at(layers, layer);
    if (!found) return NULL;
    if (outputs) *outputs = found->out;
    if (inputs) *inputs = found->in;
    return found->weights;
}

const double *rb_layers_bias(const rb_layers *layers, int64_t layer) {
    const deep_layer *found = layer_at(layers, layer);
    return found ? found->bias : NULL;
}

const char *rb_layers_activation(const rb_layers *layers, int64_t layer) {
    if (!layer_at(layers, layer)) return NULL;
    bool last = layers->net && layer == layers->layers.count - 1;
    return last ? deep_outputs_names[layers->last] : "rectify";
}

/* ---- in ---- */

static rb_error put_layer(rb_context *ctx, const deep_net *net, int k, const double *weights,
                          const double *bias) {
    int64_t in = net->sizes[k], out = net->sizes[k + 1];
    rb_dense w = deep_net_weights(net, net->values, k), b = deep_net_bias(net, net->values, k);
    rb_dense_copy((rb_dense){(void *)weights, out, in, in, RB_FLOAT64}, w);
    rb_dense_copy((rb_dense){(void *)bias, 1, out, out, RB_FLOAT64}, b);
    for (int64_t j = 0; j < out; j++) {
        bool finite = isfinite(rb_dense_get(b, 0, j));
        for (int64_t i = 0; i < in && finite; i++)
            finite = isfinite(rb_dense_get(w, j, i));
        if (!finite) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "a weight or the bias of unit %lld in layer %d is not finite, or too "
                           "large for the precision of the net",
                           (long long)j, k + 1);
        }
    }
    return RB_OK;
}

static rb_error make_net(rb_context *ctx, const rb_model *from, const deep_net *net,
                         rb_model **changed) {
    rb_preprocess *p = rb_preprocess_copy(ctx, from->preprocess);
    rb_error err = p ? rb_model_new(ctx, from->method, from->type, p, changed) : RB_ERROR_MEMORY;
    const char *name;
    for (int64_t i = 0; !err && (name = rb_model_attribute_name(from, i)); i++) {
        /* The best epoch is of the history, which is not that of these numbers. */
        if (strcmp(name, "best_epoch") != 0)
            err = rb_model_set_attribute(ctx, *changed, name, rb_model_attribute(from, name));
    }
    err = err ? err : rb_model_set_attribute(ctx, *changed, "replaced", "true");
    if (!err) (*changed)->status = from->status;
    err = err ? err : deep_net_store(ctx, net, *changed);
    if (err) {
        rb_model_free(*changed);
        *changed = NULL;
    }
    return err;
}

rb_error rb_net_replace(rb_context *ctx, const rb_model *from, int64_t count,
                        const double *const *weights, const double *const *bias,
                        rb_model **changed) {
    deep_net net;
    *changed = NULL;
    if (!rb_net_outputs(from)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the model is of method '%s', but must be a net",
                       rb_model_method(from));
    }
    rb_error err = deep_net_load(ctx, from, &net);
    if (err) return err;
    if (count != net.layers) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there are %lld layers, but the net has %d",
                      (long long)count, net.layers);
    }
    for (int k = 0; !err && k < net.layers; k++)
        err = put_layer(ctx, &net, k, weights[k], bias[k]);
    err = err ? err : make_net(ctx, from, &net, changed);
    rb_free(net.values);
    return err;
}
