/* Layers of patches as convolutions, and what was done to the patches as a file. */
#include "media.h"

#include <math.h>
#include <string.h>

void rb_whitening_free(rb_whitening *whitening) {
    rb_whitening_drop(whitening);
}

static int64_t features_of(const rb_whitening *w) {
    return w->height * w->width * w->channels;
}

/* ---- the whitening as a file ---- */

static rb_error fill_whitening(rb_context *ctx, FILE *file, void *arg) {
    rb_whitening *w = arg;
    int64_t m = features_of(w);
    double shape[] = {(double)w->height, (double)w->width, (double)w->channels};
    double contrast = w->contrast, checksum = w->checksum;
    rb_named_array list[] = {{"matrix", 2, {m, m}, w->matrix},   {"centre", 1, {m}, w->centre},
                             {"shape", 1, {3}, shape},           {"contrast", 1, {1}, &contrast},
                             {"constant", 1, {1}, &w->constant}, {"checksum", 1, {1}, &checksum}};
    rb_zip_writer zip = {.ctx = ctx, .file = file};
    rb_error err = RB_OK;
    for (size_t i = 0; !err && i < sizeof list / sizeof *list; i++)
        err = rb_npz_add(&zip, &list[i], RB_FLOAT64);
    return rb_zip_end(&zip, err);
}

rb_error rb_whitening_write(rb_context *ctx, const rb_whitening *whitening, const char *path) {
    return rb_output_file(ctx, path, fill_whitening, (void *)whitening);
}

static rb_error choose_array(rb_context *ctx, const char *path, const char *name, bool *wanted) {
    static const char *const names[] = {"matrix",   "centre",   "shape",
                                        "contrast", "constant", "checksum"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *wanted = *wanted || strcmp(names[i], name) == 0;
    return *wanted
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_FORMAT,
                         "%s is not a whitening written by rarebit patches: it has an array '%s'",
                         path, name);
}

/* Numbers of that name and count; NULL: they are not there, or not finite. */
static const double *take(const rb_arrays *arrays, const char *name, int64_t count) {
    const rb_named_array *a = rb_arrays_find(arrays, name);
    int64_t cells = a ? a->shape[0] * (a->dimensions > 1 ? a->shape[1] : 1) : -1;
    if (cells != count) return NULL;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(a->values[i])) return NULL;
    return a->values;
}

static rb_error take_whitening(rb_context *ctx, const char *path, const rb_arrays *arrays,
                               rb_whitening **out) {
    const double *shape = take(arrays, "shape", 3), *contrast = take(arrays, "contrast", 1);
    const double *constant = take(arrays, "constant", 1);
    int64_t sizes[3] = {0}, m = 1;
    bool sound = shape && contrast && constant && *constant >= 0 && *contrast >= 0 &&
                 *contrast <= 2 && floor(*contrast) == *contrast;
    for (int i = 0; sound && i < 3; i++) {
        sound = shape[i] >= 1 && shape[i] < 1e6 && floor(shape[i]) == shape[i];
        sizes[i] = sound ? (int64_t)shape[i] : 1;
        m *= sizes[i];
    }
    sound = sound && m < 1 << 20;
    const double *centre = sound ? take(arrays, "centre", m) : NULL;
    const double *matrix = sound ? take(arrays, "matrix", m * m) : NULL;
    if (!centre || !matrix) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s is not a whitening written by rarebit patches: an array is missing or "
                       "has another shape",
                       path);
    }
    rb_error err = rb_whitening_new(ctx, sizes[0], sizes[1], sizes[2], out);
    if (err) return err;
    (*out)->contrast = (rb_contrast)(int)*contrast;
    (*out)->constant = *constant;
    const double *checksum = take(arrays, "checksum", 1);
    if (checksum && *checksum > 0 && *checksum <= UINT32_MAX)
        (*out)->checksum = (uint32_t)*checksum;
    memcpy((*out)->centre, centre, (size_t)m * sizeof *centre);
    memcpy((*out)->matrix, matrix, (size_t)(m * m) * sizeof *matrix);
    return RB_OK;
}

rb_error rb_whitening_read(rb_context *ctx, const char *path, rb_whitening **whitening) {
    *whitening = NULL;
    rb_arrays *arrays = rb_alloc_zero(ctx, 1, sizeof *arrays);
    if (!arrays) return RB_ERROR_MEMORY;
    rb_error err = rb_npz_read(ctx, path, choose_array, arrays);
    err = err ? err : take_whitening(ctx, path, arrays, whitening);
    rb_arrays_clear(arrays);
    rb_free(arrays);
    return err;
}

/* ---- kernels ---- */

struct kernels {
    int64_t size[3], units, features;
    double *values, *bias; /* units x channels x height x width; units */
};

static rb_error check(rb_context *ctx, const rb_model *model, const rb_whitening *w,
                      const struct kernels *k) {
    const rb_preprocess *p = model->preprocess;
    if (k->size[0] * k->size[1] * k->size[2] != p->n_input) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "patches of %lldx%lldx%lld have %lld values, but the samples of the model "
                       "%lld",
                       (long long)k->size[0], (long long)k->size[1], (long long)k->size[2],
                       (long long)k->features, (long long)p->n_input);
    }
    if (w && (w->height != k->size[0] || w->width != k->size[1] || w->channels != k->size[2])) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the whitening is for patches of %lldx%lldx%lld",
                       (long long)w->height, (long long)w->width, (long long)w->channels);
    }
    if (p->options.totals > 0 || p->options.log1p || p->regress ||
        p->options.centre_samples != RB_CENTRE_SAMPLES_NONE) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "the model takes totals, logarithms, levels or effects of covariates of its samples, "
            "which no convolution does");
    }
    return RB_OK;
}

/* Weights of a unit for whole patches as the layer gets them, and its bias. */
static void unfold_unit(const rb_preprocess *p, const double *w, int64_t features, double *patch,
                        double *bias) {
    memset(patch, 0, (size_t)features * sizeof *patch);
    for (int64_t k = 0; k < p->n_features; k++) {
        double weight = w[k] / p->scale[k];
        patch[p->selected ? p->selected[k] : k] = weight;
        *bias -= weight * p->centre[k];
    }
}

static void fold_units(const rb_model *model, const rb_unit_weights *layer, const rb_whitening *w,
                       struct kernels *k, double *room) {
    int64_t in = model->preprocess->n_features;
    int64_t pixels = k->size[0] * k->size[1], channels = k->size[2];
    double *patch = room, *kernel = room + k->features;
    for (int64_t j = 0; j < k->units; j++) {
        k->bias[j] = layer->bias[j];
        unfold_unit(model->preprocess, layer->weights + j * in, k->features, patch, &k->bias[j]);
        if (w) rb_whitening_fold(w, patch, kernel, &k->bias[j]);
        for (int64_t e = 0; e < k->features; e++)
            k->values[j * k->features + e % channels * pixels + e / channels] =
                w ? kernel[e] : patch[e];
    }
}

static rb_error fill_kernels(rb_context *ctx, FILE *file, void *arg) {
    const struct kernels *k = arg;
    rb_zip_writer zip = {.ctx = ctx, .file = file};
    rb_named_array kernels = {
        "kernels", 4, {k->units, k->size[2], k->size[0], k->size[1]}, k->values};
    rb_named_array bias = {"bias", 1, {k->units}, k->bias};
    rb_error err = rb_npz_add(&zip, &kernels, RB_FLOAT32);
    err = err ? err : rb_npz_add(&zip, &bias, RB_FLOAT32);
    return rb_zip_end(&zip, err);
}

static rb_error write_kernels(rb_context *ctx, const rb_model *model, const rb_unit_weights *layer,
                              const rb_whitening *w, struct kernels *k, const char *path) {
    rb_scratch scratch = {.ctx = ctx};
    k->values = rb_take(&scratch, k->units * k->features, sizeof *k->values);
    k->bias = rb_take(&scratch, k->units, sizeof *k->bias);
    double *room = rb_take(&scratch, 2 * k->features, sizeof *room);
    rb_error err = scratch.err;
    if (!err) {
        fold_units(model, layer, w, k, room);
        if (w && w->checksum && w->checksum != model->preprocess->checksum) {
            rb_log(ctx, RB_LOG_WARNING,
                   "the checksum of the training data differs from that of the patches that this "
                   "whitening made; kernels are right only for those (a text file changes the "
                   "checksum)");
        }
        if (w && w->contrast == RB_CONTRAST_LOCAL) {
            rb_log(ctx, RB_LOG_WARNING,
                   "patches were divided by their standard deviations, which a convolution cannot "
                   "do; kernels are for patches of standard deviation 1");
        }
        err = rb_output_file(ctx, path, fill_kernels, k);
    }
    rb_error ended = rb_scratch_end(&scratch);
    return err ? err : ended;
}

rb_error rb_kernels_write(rb_context *ctx, const rb_model *model, const rb_unit_weights *layer,
                          const char *size, const rb_whitening *w, const char *path) {
    struct kernels k = {.size = {0, 0, 1}, .units = layer->units};
    int count = size ? rb_parse_shape(size, k.size, 3) : 0;
    if (count < 2 || !rb_multiply(k.size[0], k.size[1], &k.features) ||
        !rb_multiply(k.features, k.size[2], &k.features)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`conv` is '%s', but must be the height x width of the patches, such as "
                       "5x5, or height x width x channels",
                       size ? size : "");
    }
    if (!rb_path_suffix(path, ".npz", NULL))
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "kernels are written as .npz, but the output is %s",
                       path);
    rb_error err = check(ctx, model, w, &k);
    return err ? err : write_kernels(ctx, model, layer, w, &k, path);
}
