/* Layers that models hand over.
 *
 * An RFN, v = W h + e, e ~ N(0, Psi), h ~ N(xi, I), gives max(0, B' v + b) / scale with
 *
 *   B = Psi^-1 W Sigma,   Sigma = (I + W' Psi^-1 W)^-1,   b = Sigma xi
 *
 * (Clevert et al. 2015, E-step), which is a layer of rectified units; a scale above 0 goes into
 * both. */
#include "net.h"
#include "stack.h"

#include <math.h>
#include <string.h>

void deep_layers_free(deep_layers *layers) {
    for (int k = 0; k < layers->count; k++) {
        rb_free(layers->list[k].weights);
        rb_free(layers->list[k].bias);
    }
    layers->count = 0;
}

rb_error deep_layers_add(rb_context *ctx, deep_layers *layers, int64_t in, int64_t out,
                         deep_layer **added) {
    int64_t cells;
    if (layers->count == DEEP_LAYERS_MAX - 1)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "there are more than %d layers",
                       DEEP_LAYERS_MAX - 1);
    deep_layer *layer = &layers->list[layers->count];
    *layer = (deep_layer){.in = in, .out = out};
    if (!rb_multiply(in, out, &cells)) cells = INT64_MAX;
    layer->weights = rb_alloc_zero(ctx, cells, sizeof *layer->weights);
    layer->bias = layer->weights ? rb_alloc_zero(ctx, out, sizeof *layer->bias) : NULL;
    if (!layer->bias) {
        rb_free(layer->weights);
        return RB_ERROR_MEMORY;
    }
    layers->count++;
    *added = layer;
    return RB_OK;
}

/* ---- factor models ---- */

static rb_dense dense_of(const double *values, int64_t rows, int64_t cols) {
    return (rb_dense){(void *)values, rows, cols, cols, RB_FLOAT64};
}

/* Sigma and weighted = Psi^-1 W; then the layer. */
static rb_error posterior_layer(rb_context *ctx, const deep_factors *f, deep_layer *layer) {
    int64_t m = f->features, l = f->units;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense weighted = {0}, precision = {0}, sigma = {0};
    rb_spd *factor = NULL;
    rb_dense_take(&scratch, RB_FLOAT64, m, l, &weighted);
    rb_dense_take(&scratch, RB_FLOAT64, l, l, &precision);
    rb_dense_take(&scratch, RB_FLOAT64, l, l, &sigma);
    rb_error err = scratch.err ? scratch.err : rb_spd_new(ctx, RB_FLOAT64, l, &factor);
    for (int64_t k = 0; !err && k < m; k++)
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(weighted, k, j, f->loadings[k * l + j] / f->noise[k]);
    for (int64_t j = 0; !err && j < l; j++)
        rb_dense_set(precision, j, j, 1);
    if (!err) {
        rb_gemm_parallel(ctx, 1, dense_of(f->loadings, m, l), RB_TRANSPOSED, weighted, RB_PLAIN, 1,
                         precision);
        err = rb_spd_factor(ctx, factor, precision);
    }
    if (!err) {
        rb_spd_inverse(ctx, factor, sigma);
        rb_gemm_parallel(ctx, 1, sigma, RB_PLAIN, weighted, RB_TRANSPOSED, 0,
                         dense_of(layer->weights, l, m));
        if (f->prior_mean) {
            rb_gemm(1, sigma, RB_PLAIN, dense_of(f->prior_mean, l, 1), RB_PLAIN, 0,
                    dense_of(layer->bias, l, 1));
        }
    }
    rb_spd_free(factor);
    rb_error ended = rb_scratch_end(&scratch);
    return err ? err : ended;
}

static void plain_layer(const deep_factors *f, deep_layer *layer) {
    for (int64_t j = 0; j < f->units; j++)
        for (int64_t k = 0; k < f->features; k++)
            layer->weights[j * f->features + k] = f->loadings[k * f->units + j];
}

/* Scales of units go into weights and bias. */
static void fold(const deep_factors *f, bool scaled, deep_layer *layer) {
    int64_t m = f->features;
    for (int64_t j = 0; j < f->units; j++) {
        double *w = layer->weights + j * m;
        double factor = scaled && f->scale ? 1 / f->scale[j] : 1;
        if (scaled && f->dead && f->dead[j] != 0) factor = 0;
        layer->bias[j] *= factor;
        for (int64_t k = 0; k < m; k++)
            w[k] *= factor;
    }
}

static bool are_finite(const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

rb_error deep_layers_add_factors(rb_context *ctx, const deep_factors *f, deep_filter filter,
                                 deep_layers *layers) {
    deep_layer *layer;
    rb_error err = deep_layers_add(ctx, layers, f->features, f->units, &layer);
    if (err) return err;
    if (filter == DEEP_PLAIN)
        plain_layer(f, layer);
    else
        err = posterior_layer(ctx, f, layer);
    layer->directions = filter != DEEP_POSTERIOR;
    layer->undone = filter == DEEP_RESCALED;
    if (!err) fold(f, filter != DEEP_PLAIN, layer);
    if (!err && (!are_finite(layer->weights, layer->in * layer->out) ||
                 !are_finite(layer->bias, layer->out))) {
        err = rb_fail(ctx, RB_ERROR_NUMERIC,
                      "the weights that the model gives layer %d are not finite", layers->count);
    }
    return err;
}

/* ---- by method ---- */

static rb_error of_method(rb_context *ctx, const rb_model *model, deep_filter filter,
                          deep_layers *layers) {
    rb_method_layer from = {.size = sizeof from};
    rb_error err = model->method->layer(ctx, model, &from);
    deep_factors f = {.features = rb_model_features(model),
                      .units = rb_model_units(model),
                      .loadings = from.weights,
                      .noise = from.noise,
                      .prior_mean = from.prior_mean,
                      .scale = from.scale,
                      .dead = from.dead};
    err = err ? err : deep_layers_add_factors(ctx, &f, from.noise ? filter : DEEP_PLAIN, layers);
    if (!err && from.bias) {
        deep_layer *layer = &layers->list[layers->count - 1];
        memcpy(layer->bias, from.bias, (size_t)f.units * sizeof *from.bias);
        layer->directions = false;
    }
    return err;
}

static rb_error of_net(rb_context *ctx, const rb_model *model, deep_layers *layers) {
    deep_net net;
    rb_error err = deep_net_load(ctx, model, &net);
    for (int k = 0; !err && k < net.layers - 1; k++) {
        deep_layer *layer = NULL;
        err = deep_layers_add(ctx, layers, net.sizes[k], net.sizes[k + 1], &layer);
        if (err) break;
        rb_dense_copy(deep_net_weights(&net, net.values, k),
                      dense_of(layer->weights, layer->out, layer->in));
        rb_dense_copy(deep_net_bias(&net, net.values, k), dense_of(layer->bias, 1, layer->out));
    }
    rb_free(net.values);
    return err;
}

/* What a layer above the first subtracts from the codes below it, and divides them by. */
static void fold_input(const rb_preprocess *p, deep_layer *layer) {
    for (int64_t j = 0; j < layer->out; j++) {
        double *w = layer->weights + j * layer->in;
        for (int64_t k = 0; k < layer->in; k++) {
            w[k] /= p->scale[k];
            layer->bias[j] -= w[k] * p->centre[k];
        }
    }
}

static rb_error of_stack(rb_context *ctx, const rb_model *stack, deep_filter filter,
                         deep_layers *layers) {
    stack_layers of;
    rb_error err = stack_layers_take(ctx, stack, &of);
    for (int64_t k = 0; !err && k < of.count; k++) {
        const rb_model *layer = of.list[k];
        int first = layers->count; /* a net has several, and its output is none of them */
        if (layer->method == &rb_method_net && k + 1 < of.count)
            err =
                rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                        "layer %lld of the stack is a net, on which a net can have no other layer",
                        (long long)k + 1);
        err = err ? err : deep_layers_of_model(ctx, layer, filter, layers);
        if (!err && k > 0 && layers->count > first)
            fold_input(layer->preprocess, &layers->list[first]);
    }
    stack_layers_free(&of);
    return err;
}

rb_error deep_layers_of_model(rb_context *ctx, const rb_model *model, deep_filter filter,
                              deep_layers *layers) {
    char names[256];
    if (model->method == &rb_method_net) return of_net(ctx, model, layers);
    if (model->method == &rb_method_stack) return of_stack(ctx, model, filter, layers);
    if (rb_method_has_layer(model->method)) return of_method(ctx, model, filter, layers);
    rb_method_names(ctx, rb_method_has_layer, ", ", names, sizeof names);
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "a model of method '%s' has no layer for a net; start from %s, a stack of them, "
                   "a net or none",
                   rb_model_method(model), names);
}
