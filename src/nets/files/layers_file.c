/* Layers as files for other programs, and numbers that these trained back into a net. */
#include "layers_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_onnx(const char *path) {
    return rb_path_suffix(path, ".onnx", NULL);
}

rb_error rb_layers_path_check(rb_context *ctx, const char *path) {
    return rb_path_suffix(path, ".onnx, .npz", NULL)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "layers are written as .onnx or .npz, but the output is %s", path);
}

/* ---- .npz ---- */

static rb_error add_array(rb_zip_writer *zip, const char *name, int dimensions,
                          const int64_t *shape, const double *values, rb_type type) {
    rb_named_array array = {.name = name, .dimensions = dimensions, .values = (double *)values};
    memcpy(array.shape, shape, (size_t)dimensions * sizeof *shape);
    return rb_npz_add(zip, &array, type);
}

static rb_error add_vector(rb_zip_writer *zip, const char *name, int64_t count,
                           const double *values, rb_type type) {
    return add_array(zip, name, 1, &count, values, type);
}

static rb_error add_selected(rb_zip_writer *zip, const rb_preprocess *p) {
    double *values = rb_alloc(zip->ctx, p->n_features, sizeof *values);
    if (!values) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < p->n_features; k++)
        values[k] = (double)p->selected[k];
    rb_error err = add_vector(zip, "selected", p->n_features, values, RB_FLOAT64);
    rb_free(values);
    return err;
}

static rb_error add_preprocess(rb_zip_writer *zip, const rb_model *model) {
    const rb_preprocess *p = model->preprocess;
    const double one = 1;
    rb_error err = add_vector(zip, "centre", p->n_features, p->centre, model->type);
    err = err ? err : add_vector(zip, "scale", p->n_features, p->scale, model->type);
    if (!err && p->selected) err = add_selected(zip, p);
    if (!err && p->fill) err = add_vector(zip, "fill", p->n_features, p->fill, model->type);
    if (!err && p->options.totals > 0)
        err = add_vector(zip, "totals", 1, &p->options.totals, model->type);
    if (!err && p->options.log1p) err = add_vector(zip, "log1p", 1, &one, model->type);
    return err;
}

static void free_texts(char **texts, int64_t count) {
    for (int64_t k = 0; texts && k < count; k++)
        rb_free(texts[k]);
    rb_free(texts);
}

/* The names of the classes, for free_texts; of a net without none. */
static rb_error take_classes(rb_context *ctx, const rb_model *model, char ***names,
                             int64_t *count) {
    *count = rb_model_attribute(model, "classes") ? rb_model_units(model) : 0;
    *names = rb_alloc_zero(ctx, *count, sizeof **names);
    rb_error err = *names ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t k = 0; !err && k < *count; k++) {
        int64_t length = rb_net_output_name(model, k, NULL, 0);
        (*names)[k] = rb_alloc_zero(ctx, length + 1, 1);
        if (!(*names)[k]) err = RB_ERROR_MEMORY;
        if (!err) rb_net_output_name(model, k, (*names)[k], (size_t)length + 1);
    }
    return err;
}

static rb_error add_classes(rb_zip_writer *zip, const rb_model *model) {
    char **names;
    int64_t count;
    rb_error err = take_classes(zip->ctx, model, &names, &count);
    if (!err && count > 0)
        err = rb_npz_add_texts(zip, "classes", count, (const char *const *)names);
    free_texts(names, count);
    return err;
}

struct work {
    const rb_model *model;
    const rb_layers *layers;
};

static rb_error fill_npz(rb_context *ctx, FILE *file, void *arg) {
    const struct work *w = arg;
    rb_zip_writer zip = {.ctx = ctx, .file = file};
    rb_error err = add_preprocess(&zip, w->model);
    for (int64_t k = 0; !err && k < rb_layers_count(w->layers); k++) {
        char name[32];
        int64_t shape[2];
        const double *weights = rb_layers_weights(w->layers, k, &shape[0], &shape[1]);
        snprintf(name, sizeof name, "weights%lld", (long long)k + 1);
        err = add_array(&zip, name, 2, shape, weights, w->model->type);
        snprintf(name, sizeof name, "bias%lld", (long long)k + 1);
        if (!err)
            err = add_vector(&zip, name, shape[0], rb_layers_bias(w->layers, k), w->model->type);
    }
    if (!err) err = add_classes(&zip, w->model);
    return rb_zip_end(&zip, err);
}

/* ---- ONNX ---- */

static rb_error fill_onnx(rb_context *ctx, FILE *file, void *arg) {
    const struct work *w = arg;
    return rb_onnx_write(ctx, file, w->model, w->layers);
}

static rb_error check_preprocess(rb_context *ctx, const rb_model *model) {
    const rb_preprocess *p = model->preprocess;
    if (p->regress) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the model takes effects of covariates out of its samples, which no other "
                       "program could repeat without them; fit without `regress`");
    }
    if (p->options.centre_samples != RB_CENTRE_SAMPLES_NONE) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the model centres each sample, which layers cannot; fit without "
                       "`centre-samples` to data that are centred already");
    }
    if (rb_missing_stays(&p->options)) {
        rb_log(ctx, RB_LOG_WARNING,
               "the model does without missing values, which layers cannot: samples that lack some "
               "give none, or other codes there");
    }
    return RB_OK;
}

rb_error rb_layers_write(rb_context *ctx, const rb_model *model, const rb_layers *layers,
                         const char *path) {
    struct work work = {model, layers};
    rb_error err = rb_layers_path_check(ctx, path);
    err = err ? err : check_preprocess(ctx, model);
    return err ? err : rb_output_file(ctx, path, is_onnx(path) ? fill_onnx : fill_npz, &work);
}

/* ---- back ---- */

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* "weights12" -> 12; 0: the name is another. */
static long numbered(const char *name, const char *word) {
    size_t length = strlen(word);
    char *end;
    if (strncmp(name, word, length) != 0 || name[length] < '1' || name[length] > '9') return 0;
    long number = strtol(name + length, &end, 10);
    return *end || number >= RB_ARRAYS_MAX ? 0 : number;
}

static bool is_weights(const char *name) {
    return numbered(name, "weights") || ends_with(name, ".weight");
}

static bool is_bias(const char *name) {
    return numbered(name, "bias") || ends_with(name, ".bias");
}

/* What is done to samples before. */
enum { PREPARED = 6 };
static const char *const prepared[PREPARED] = {"centre", "scale",  "selected",
                                               "fill",   "totals", "log1p"};

/* The arrays of a .npz by their names: ours, or those of PyTorch's state_dict. */
static rb_error choose_array(rb_context *ctx, const char *path, const char *name, bool *wanted) {
    *wanted = is_weights(name) || is_bias(name);
    for (int i = 0; i < PREPARED; i++)
        *wanted = *wanted || strcmp(name, prepared[i]) == 0;
    if (*wanted || strcmp(name, "classes") == 0) return RB_OK;
    return rb_fail(ctx, RB_ERROR_FORMAT,
                   "%s has an array '%s', which is not part of a net; arrays are weights1, bias1, "
                   "... or, in the order of the layers, NAME.weight, NAME.bias, and centre, scale",
                   path, name);
}

/* Where arrays have numbers these say the layer; else the order. */
static rb_error sort_layers(rb_context *ctx, const char *path, const rb_arrays *arrays,
                            rb_net_arrays *net) {
    int biases = 0;
    for (int i = 0; i < arrays->count; i++) {
        const rb_named_array *a = &arrays->list[i];
        bool weights = is_weights(a->name);
        if (!weights && !is_bias(a->name)) continue;
        long number = numbered(a->name, weights ? "weights" : "bias");
        int k = number ? (int)number - 1 : weights ? net->count : biases;
        const rb_named_array **place = weights ? &net->weights[k] : &net->bias[k];
        if (*place)
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s: '%s' and '%s' belong to the same layer", path,
                           (*place)->name, a->name);
        *place = a;
        net->count += weights;
        biases += !weights;
    }
    net->centre = rb_arrays_find(arrays, "centre");
    net->scale = rb_arrays_find(arrays, "scale");
    for (int k = 0; k < net->count; k++) {
        if (!net->weights[k] || !net->bias[k])
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s lacks the %s of layer %d", path,
                           net->weights[k] ? "bias" : "weights", k + 1);
    }
    return RB_OK;
}

static rb_error compare_classes(rb_context *ctx, const char *path, const rb_model *like,
                                bool *other) {
    char **names;
    int64_t count;
    rb_error err = take_classes(ctx, like, &names, &count);
    if (!err)
        err = rb_npz_other_texts(ctx, path, "classes", count, (const char *const *)names, other);
    free_texts(names, count);
    return err;
}

static rb_error read_layers(rb_context *ctx, const char *path, const rb_model *like,
                            rb_arrays *arrays, rb_net_arrays *net) {
    if (is_onnx(path))
        return rb_onnx_read(ctx, path, rb_model_attribute(like, "classes"), arrays, net);
    rb_error err = rb_npz_read(ctx, path, choose_array, arrays);
    err = err ? err : sort_layers(ctx, path, arrays, net);
    return err ? err : compare_classes(ctx, path, like, &net->other_classes);
}

/* Are samples treated as the net treats them? Files are in float32, say. */
static rb_error check_vector(rb_context *ctx, const char *path, const rb_named_array *a,
                             int64_t count, const double *values) {
    if (!a) return RB_OK;
    bool same = values && a->dimensions == 1 && a->shape[0] == count;
    for (int64_t k = 0; k < count && same; k++)
        same = fabs(a->values[k] - values[k]) <= 1e-6 * fabs(values[k]) + 1e-30;
    if (same) return RB_OK;
    return rb_fail(ctx, RB_ERROR_DATA,
                   "%s and the net differ in %s: it was made from another net, or trained; give "
                   "the net that it was made from",
                   path, a->name);
}

/* Of a .npz also what centre and scale do not tell. */
static rb_error check_prepared(rb_context *ctx, const char *path, const rb_arrays *arrays,
                               const rb_net_arrays *net, const rb_preprocess *p) {
    const double one = 1;
    double *selected = rb_alloc(ctx, p->n_features, sizeof *selected);
    if (!selected) return RB_ERROR_MEMORY;
    for (int64_t k = 0; p->selected && k < p->n_features; k++)
        selected[k] = (double)p->selected[k];
    const double *const values[PREPARED] = {p->centre,
                                            p->scale,
                                            p->selected ? selected : NULL,
                                            p->fill,
                                            p->options.totals > 0 ? &p->options.totals : NULL,
                                            p->options.log1p ? &one : NULL};
    const rb_named_array *of[PREPARED] = {net->centre, net->scale};
    rb_error err = RB_OK;
    for (int i = 0; !err && i < PREPARED; i++) {
        const rb_named_array *a = of[i];
        if (i >= 2 && !is_onnx(path)) a = rb_arrays_find(arrays, prepared[i]);
        err = check_vector(ctx, path, a, i < 4 ? p->n_features : 1, values[i]);
    }
    rb_free(selected);
    if (err || !net->other_classes) return err;
    return rb_fail(ctx, RB_ERROR_DATA,
                   "%s and the net differ in their classes or the order of these; give the net "
                   "that it was made from",
                   path);
}

static rb_error check_shapes(rb_context *ctx, const char *path, const rb_layers *layers,
                             const rb_net_arrays *net) {
    int64_t count = rb_layers_count(layers), out, in;
    if (net->count != count) {
        return rb_fail(ctx, RB_ERROR_DATA, "%s has %d layers, but the net has %lld", path,
                       net->count, (long long)count);
    }
    for (int k = 0; k < count; k++) {
        const rb_named_array *w = net->weights[k], *b = net->bias[k];
        (void)rb_layers_weights(layers, k, &out, &in);
        if (w->dimensions != 2 || w->shape[0] != out || w->shape[1] != in || b->dimensions != 1 ||
            b->shape[0] != out) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "%s: '%s' and '%s' are %lld x %lld and %lld, but layer %d of the net is "
                           "%lld x %lld and %lld",
                           path, w->name, b->name, (long long)w->shape[0],
                           (long long)(w->dimensions > 1 ? w->shape[1] : 1), (long long)b->shape[0],
                           k + 1, (long long)out, (long long)in, (long long)out);
        }
    }
    return RB_OK;
}

static rb_error replace(rb_context *ctx, const rb_model *like, const rb_net_arrays *from,
                        rb_model **net) {
    const double *weights[RB_ARRAYS_MAX], *bias[RB_ARRAYS_MAX];
    for (int k = 0; k < from->count; k++) {
        weights[k] = from->weights[k]->values;
        bias[k] = from->bias[k]->values;
    }
    return rb_net_replace(ctx, like, from->count, weights, bias, net);
}

static rb_error check_like(rb_context *ctx, const rb_model *like) {
    return rb_net_outputs(like)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "numbers can be imported into a net only, but the model is of method '%s'",
                         rb_model_method(like));
}

rb_error rb_net_read(rb_context *ctx, const char *path, const rb_model *like, rb_model **net) {
    rb_arrays *arrays = rb_alloc_zero(ctx, 1, sizeof *arrays);
    rb_net_arrays *found = arrays ? rb_alloc_zero(ctx, 1, sizeof *found) : NULL;
    rb_layers *layers = NULL;
    *net = NULL;
    rb_error err = found ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : check_like(ctx, like);
    err = err ? err : rb_layers_path_check(ctx, path);
    err = err ? err : rb_layers_new(ctx, like, NULL, &layers);
    err = err ? err : read_layers(ctx, path, like, arrays, found);
    err = err ? err : check_shapes(ctx, path, layers, found);
    err = err ? err : check_prepared(ctx, path, arrays, found, like->preprocess);
    err = err ? err : replace(ctx, like, found, net);
    rb_layers_free(layers);
    if (arrays) rb_arrays_clear(arrays);
    rb_free(found);
    rb_free(arrays);
    return err;
}
