/* A stack as a model: layers become named arrays and attributes, and models again. What is read may
 * be damaged: everything is checked. */
#include "stack.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256 };

/* "layer2.loadings" */
static const char *of_layer(int64_t layer, const char *name, char *buffer) {
    snprintf(buffer, NAME_SIZE, "layer%lld.%s", (long long)layer, name);
    return buffer;
}

/* ---- layers into a stack ---- */

static rb_error put_array(rb_context *ctx, rb_model *stack, const char *name, int64_t rows,
                          int64_t columns, const double *values) {
    double *to = rb_model_add_array(ctx, stack, name, rows, columns);
    if (!to) return RB_ERROR_MEMORY;
    memcpy(to, values, (size_t)(rows * columns) * sizeof *to);
    return RB_OK;
}

static int count_columns(const rb_method *method) {
    int count = 0;
    while (rb_store_column_of(method, count).name)
        count++;
    return count;
}

static double *history_value(rb_history *entry, rb_store_column column) {
    return (double *)((char *)entry + column.offset);
}

static rb_error put_history(rb_context *ctx, rb_model *stack, int64_t k, const rb_model *layer) {
    char name[NAME_SIZE];
    int columns = count_columns(layer->method);
    double *to =
        rb_model_add_array(ctx, stack, of_layer(k, "history", name), layer->iterations, columns);
    if (!to) return RB_ERROR_MEMORY;
    for (int64_t t = 0; t < layer->iterations; t++)
        for (int c = 0; c < columns; c++)
            *to++ = *history_value(&layer->history[t], rb_store_column_of(layer->method, c));
    return RB_OK;
}

static rb_error put_layer_arrays(rb_context *ctx, rb_model *stack, int64_t k,
                                 const rb_model *layer) {
    const rb_preprocess *p = layer->preprocess;
    char name[NAME_SIZE];
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < layer->n_arrays; i++) {
        const rb_array *a = &layer->arrays[i];
        err = put_array(ctx, stack, of_layer(k, a->name, name), a->rows, a->columns, a->values);
    }
    if (!err && k > 1) {
        err = put_array(ctx, stack, of_layer(k, "input_centre", name), p->n_features, 1, p->centre);
        err = err ? err
                  : put_array(ctx, stack, of_layer(k, "input_scale", name), p->n_features, 1,
                              p->scale);
    }
    return err ? err : put_history(ctx, stack, k, layer);
}

/* Have all layers this attribute, and the same? */
static bool all_agree(const rb_model *const *layers, int64_t count, const char *name) {
    const char *first = rb_model_attribute(layers[0], name);
    for (int64_t k = 0; first && k < count; k++) {
        const char *value = rb_model_attribute(layers[k], name);
        if (!value || strcmp(value, first) != 0) return false;
    }
    return first != NULL;
}

static rb_error put_layer_attributes(rb_context *ctx, rb_model *stack,
                                     const rb_model *const *layers, int64_t count, int64_t k) {
    const rb_model *layer = layers[k - 1];
    char name[NAME_SIZE];
    rb_error err =
        rb_model_set_attribute(ctx, stack, of_layer(k, "method", name), layer->method->name);
    err = err ? err
              : rb_model_set_attribute(ctx, stack, of_layer(k, "status", name),
                                       rb_store_statuses[layer->status]);
    err = err ? err
              : rb_model_set_attribute(ctx, stack, of_layer(k, "type", name),
                                       rb_store_precisions[layer->type]);
    for (int64_t i = 0; !err && i < layer->n_attributes; i++) {
        const rb_attribute *a = &layer->attributes[i];
        bool agree = all_agree(layers, count, a->name);
        if (agree && k > 1) continue;
        err = rb_model_set_attribute(ctx, stack, agree ? a->name : of_layer(k, a->name, name),
                                     a->value);
    }
    return err;
}

/* The data are those of the first layer: what files say of data must be found by its name. */
static rb_error put_data_attributes(rb_context *ctx, rb_model *stack, const rb_model *first) {
    static const char *const names[] = {"data_checksum", "data_samples", "data_type", "missing",
                                        "regress"};
    rb_error err = RB_OK;
    for (size_t i = 0; !err && i < sizeof names / sizeof *names; i++) {
        const char *value = rb_model_attribute(first, names[i]);
        if (value) err = rb_model_set_attribute(ctx, stack, names[i], value);
    }
    return err;
}

/* ---- the projection ---- */

static const double *loadings_of(const rb_model *layer) {
    return rb_model_array(layer, "loadings", NULL, NULL);
}

/* P S W; S: what the layer divides its input by. */
static rb_error project(rb_context *ctx, rb_dense p, const rb_model *layer, rb_dense out) {
    int64_t m = rb_model_features(layer), l = rb_model_units(layer);
    const double *w = loadings_of(layer);
    rb_dense scaled;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, m, l, &scaled);
    if (err) return err;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(scaled, i, j, w[i * l + j] * layer->preprocess->scale[i]);
    rb_gemm_parallel(ctx, 1, p, RB_PLAIN, scaled, RB_PLAIN, 0, out);
    rb_dense_free(&scaled);
    return RB_OK;
}

static rb_error put_projection(rb_context *ctx, rb_model *stack, const rb_model *const *layers,
                               int64_t count) {
    int64_t m = rb_model_features(layers[0]), l = rb_model_units(layers[0]);
    rb_dense at = {(void *)loadings_of(layers[0]), m, l, l, RB_FLOAT64}, kept = {0};
    rb_error err = RB_OK;
    for (int64_t k = 1; !err && k < count; k++) {
        rb_dense next;
        err = rb_dense_new(ctx, RB_FLOAT64, m, rb_model_units(layers[k]), &next);
        err = err ? err : project(ctx, at, layers[k], next);
        rb_dense_free(&kept);
        at = kept = next;
    }
    double max = stack->type == RB_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
    for (int64_t i = 0; !err && i < at.rows * at.cols; i++)
        if (!(fabs(((const double *)at.data)[i]) <= max))
            err = rb_fail(ctx, RB_ERROR_NUMERIC,
                          "the loadings of the layers are too large for a stack; divide the data "
                          "by a constant");
    err = err ? err : put_array(ctx, stack, "loadings", at.rows, at.cols, at.data);
    rb_dense_free(&kept);
    return err;
}

/* ---- a stack of models ---- */

static bool prepares_codes_only(const rb_preprocess *p) {
    const rb_preprocess_options *o = &p->options;
    return !p->selected && !p->regress && !p->fill && !o->log1p && o->totals == 0 &&
           o->centre_samples == RB_CENTRE_SAMPLES_NONE;
}

static rb_error check_layer(rb_context *ctx, const rb_model *const *layers, int64_t k) {
    if (!layers[k])
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "layer %lld is NULL, no model", (long long)k + 1);
    const rb_model *layer = layers[k], *below = k > 0 ? layers[k - 1] : NULL;
    const char *flaw = NULL;
    if (rb_method_has_top(layer->method))
        flaw = "is a stack itself; take its layers one by one";
    else if (!loadings_of(layer))
        flaw = "has no loadings";
    else if (below && !prepares_codes_only(layer->preprocess))
        flaw = "does more to its input than to centre and to scale it";
    else if (below && layer->preprocess->n_input != rb_model_units(below))
        flaw = "has other features than the layer below has units";
    return flaw ? rb_fail(ctx, RB_ERROR_ARGUMENT, "layer %lld %s", (long long)k + 1, flaw) : RB_OK;
}

static rb_error fill(rb_context *ctx, rb_model *stack, const rb_model *const *layers,
                     int64_t count) {
    const rb_model *top = layers[count - 1];
    int64_t rows, columns;
    const double *dead = rb_model_array(top, "dead", &rows, &columns);
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)count);
    rb_error err = put_projection(ctx, stack, layers, count);
    if (!err && dead) err = put_array(ctx, stack, "dead", rows, columns, dead);
    err = err ? err : rb_model_set_attribute(ctx, stack, "layers", text);
    for (int64_t k = 1; !err && k <= count; k++) {
        err = put_layer_arrays(ctx, stack, k, layers[k - 1]);
        err = err ? err : put_layer_attributes(ctx, stack, layers, count, k);
    }
    err = err ? err : put_data_attributes(ctx, stack, layers[0]);
    for (int64_t t = 0; !err && t < top->iterations; t++)
        err = rb_model_add_history(ctx, stack, top->history[t]);
    stack->status = top->status;
    return err;
}

rb_error rb_stack_new(rb_context *ctx, const rb_model *const *layers, int64_t count,
                      rb_model **stack) {
    *stack = NULL;
    if (count < 1 || count > RB_STACK_LAYERS_MAX) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "a stack has 1 to %d layers, not %lld",
                       RB_STACK_LAYERS_MAX, (long long)count);
    }
    rb_error err = layers ? RB_OK : rb_fail(ctx, RB_ERROR_ARGUMENT, "a stack needs layers");
    for (int64_t k = 0; !err && k < count; k++)
        err = check_layer(ctx, layers, k);
    if (err) return err;
    rb_preprocess *p = rb_preprocess_copy(ctx, layers[0]->preprocess);
    rb_model *made = NULL;
    err = p ? rb_model_new(ctx, &rb_method_stack, layers[count - 1]->type, p, &made)
            : RB_ERROR_MEMORY;
    err = err ? err : fill(ctx, made, layers, count);
    if (err)
        rb_model_free(made);
    else
        *stack = made;
    return err;
}

/* ---- a layer of a stack ---- */

int64_t rb_stack_layers(const rb_model *model) {
    const char *text = rb_model_attribute(model, "layers");
    long long count = text && model->method == &rb_method_stack ? strtoll(text, NULL, 10) : 0;
    return count > 0 && count <= RB_STACK_LAYERS_MAX ? count : 0;
}

static rb_error damaged(rb_context *ctx, int64_t k, const char *what) {
    return rb_fail(ctx, RB_ERROR_FORMAT, "layer %lld of the stack %s; the model is damaged",
                   (long long)k, what);
}

/* The layer's own, or what all layers have. */
static const char *find_attribute(const rb_model *stack, int64_t k, const char *name) {
    char own[NAME_SIZE];
    const char *value = rb_model_attribute(stack, of_layer(k, name, own));
    return value ? value : rb_model_attribute(stack, name);
}

/* Centre and scale of codes. */
static rb_error get_preprocess(rb_context *ctx, const rb_model *stack, int64_t k,
                               rb_preprocess *p) {
    static const char *const options[] = {"centre", "scale"};
    static const char *const arrays[] = {"input_centre", "input_scale"};
    char name[NAME_SIZE];
    rb_rows_default(rb_preprocess_group.rows, &p->options);
    rb_model_array(stack, of_layer(k, arrays[0], name), &p->n_features, NULL);
    p->n_input = p->n_features;
    for (int i = 0; i < 2; i++) {
        const char *text = find_attribute(stack, k, options[i]);
        const double *values;
        rb_error err = rb_model_need_array(ctx, stack, of_layer(k, arrays[i], name), p->n_features,
                                           1, &values);
        if (!err && text &&
            rb_rows_set(ctx, rb_preprocess_group.rows, &p->options, options[i], text))
            err = damaged(ctx, k, "has an unknown preprocessing");
        double **to = i == 0 ? &p->centre : &p->scale;
        *to = err ? NULL : rb_alloc(ctx, p->n_features, sizeof **to);
        if (!*to) return err ? err : RB_ERROR_MEMORY;
        memcpy(*to, values, (size_t)p->n_features * sizeof **to);
    }
    const char *checksum = find_attribute(stack, k, "data_checksum");
    p->checksum = checksum ? (uint32_t)strtoul(checksum, NULL, 16) : 0;
    return RB_OK;
}

static rb_error get_history(rb_context *ctx, const rb_array *array, int64_t k, rb_model *layer) {
    int columns = count_columns(layer->method);
    if (array->columns != columns)
        return damaged(ctx, k, "has a history that does not fit its method");
    rb_error err = rb_model_empty_history(ctx, layer, array->rows);
    for (int64_t t = 0; !err && t < array->rows; t++)
        for (int c = 0; c < columns; c++)
            *history_value(&layer->history[t], rb_store_column_of(layer->method, c)) =
                array->values[t * columns + c];
    return err;
}

static rb_error get_arrays(rb_context *ctx, const rb_model *stack, int64_t k, rb_model *layer) {
    char prefix[NAME_SIZE];
    size_t length = strlen(of_layer(k, "", prefix));
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < stack->n_arrays; i++) {
        const rb_array *a = &stack->arrays[i];
        const char *name = a->name + length;
        if (strncmp(a->name, prefix, length) != 0 || strncmp(name, "input_", 6) == 0) continue;
        err = strcmp(name, "history") == 0
                  ? get_history(ctx, a, k, layer)
                  : put_array(ctx, layer, name, a->rows, a->columns, a->values);
    }
    return err;
}

/* Attributes of the stack that no layer has by this name: its own ones, and those of layers. */
static bool is_of_stack(const char *name) {
    return strcmp(name, "layers") == 0 || (strncmp(name, "layer", 5) == 0 && strchr(name, '.'));
}

static rb_error get_attributes(rb_context *ctx, const rb_model *stack, int64_t k, rb_model *layer) {
    char prefix[NAME_SIZE];
    size_t length = strlen(of_layer(k, "", prefix));
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < stack->n_attributes; i++) {
        const rb_attribute *a = &stack->attributes[i];
        if (!is_of_stack(a->name) && !rb_model_attribute(layer, a->name))
            err = rb_model_set_attribute(ctx, layer, a->name, a->value);
        if (strncmp(a->name, prefix, length) != 0) continue;
        const char *name = a->name + length;
        bool own =
            strcmp(name, "method") == 0 || strcmp(name, "status") == 0 || strcmp(name, "type") == 0;
        if (!own) err = rb_model_set_attribute(ctx, layer, name, a->value);
    }
    return err;
}

/* An empty model of the layer's method. */
static rb_error begin_layer(rb_context *ctx, const rb_model *stack, int64_t k, rb_model **layer) {
    char name[NAME_SIZE];
    const char *method = rb_model_attribute(stack, of_layer(k, "method", name));
    const char *type = rb_model_attribute(stack, of_layer(k, "type", name));
    const char *status = rb_model_attribute(stack, of_layer(k, "status", name));
    int t = type ? rb_store_word(rb_store_precisions, 2, type) : -1;
    int s = status ? rb_store_word(rb_store_statuses, RB_STORE_STATUSES, status) : -1;
    if (!method || t < 0 || s < 0) return damaged(ctx, k, "says not what it is");
    const rb_method *found = rb_find_made(ctx, method);
    if (found && rb_method_has_top(found)) return damaged(ctx, k, "is a stack itself");
    return rb_model_begin(ctx, method, t, s, layer);
}

static rb_error fill_layer(rb_context *ctx, const rb_model *stack, int64_t k, rb_model *layer) {
    rb_error err;
    if (k == 1) {
        rb_preprocess_free(layer->preprocess);
        layer->preprocess = rb_preprocess_copy(ctx, stack->preprocess);
        err = layer->preprocess ? RB_OK : RB_ERROR_MEMORY;
    } else {
        err = get_preprocess(ctx, stack, k, layer->preprocess);
    }
    err = err ? err : get_arrays(ctx, stack, k, layer);
    err = err ? err : get_attributes(ctx, stack, k, layer);
    if (err) return err;
    const char *flaw = rb_model_flaw(layer);
    if (flaw)
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "layer %lld of the stack: %s; the model is "
                       "damaged",
                       (long long)k, flaw);
    const double *loadings;
    if (!loadings_of(layer)) return damaged(ctx, k, "has no loadings");
    err = rb_model_need_array(ctx, layer, "loadings", -1, -1, &loadings);
    if (err) rb_fail_prefix(ctx, "layer %lld of the stack: ", (long long)k);
    return err;
}

rb_error rb_stack_layer(rb_context *ctx, const rb_model *stack, int64_t layer, rb_model **model) {
    int64_t count = rb_stack_layers(stack);
    *model = NULL;
    if (layer < 1 || layer > count) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       count ? "there is no layer %lld in a stack of %lld"
                             : "there is no layer %lld: the model is not a stack",
                       (long long)layer, (long long)count);
    }
    rb_model *made = NULL;
    rb_error err = begin_layer(ctx, stack, layer, &made);
    err = err ? err : fill_layer(ctx, stack, layer, made);
    if (err)
        rb_model_free(made);
    else
        *model = made;
    return err;
}

void stack_layers_free(stack_layers *layers) {
    for (int64_t k = 0; k < layers->count; k++)
        rb_model_free(layers->list[k]);
    layers->count = 0;
}

/* Of the first layers. */
static rb_error take_layers(rb_context *ctx, const rb_model *stack, int64_t count,
                            stack_layers *layers) {
    *layers = (stack_layers){0};
    rb_error err = RB_OK;
    for (int64_t k = 1; !err && k <= count; k++) {
        rb_model *layer;
        err = rb_stack_layer(ctx, stack, k, &layer);
        if (err) break;
        layers->list[layers->count++] = layer;
        int64_t units = k > 1 ? rb_model_units(layers->list[k - 2]) : -1;
        if (k > 1 && layer->preprocess->n_input != units)
            err = damaged(ctx, k, "has other features than the layer below has units");
    }
    return err;
}

rb_error stack_layers_take(rb_context *ctx, const rb_model *stack, stack_layers *layers) {
    int64_t count = rb_stack_layers(stack);
    rb_error err = take_layers(ctx, stack, count, layers);
    if (err) return err;
    if (count == 0 || rb_model_units(layers->list[count - 1]) != rb_model_units(stack) ||
        layers->list[count - 1]->type != stack->type)
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the layers of the stack are not those that its "
                       "loadings show; the model is damaged");
    const double *loadings;
    return rb_model_need_array(ctx, stack, "loadings", -1, -1, &loadings);
}

rb_error rb_stack_cut(rb_context *ctx, const rb_model *stack, int64_t layer, rb_model **model) {
    if (layer <= 1 || layer > rb_stack_layers(stack))
        return rb_stack_layer(ctx, stack, layer, model);
    stack_layers layers;
    *model = NULL;
    rb_error err = take_layers(ctx, stack, layer, &layers);
    err = err ? err : rb_stack_new(ctx, (const rb_model *const *)layers.list, layers.count, model);
    stack_layers_free(&layers);
    return err;
}
