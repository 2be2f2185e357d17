/* Pictures without their noise: a model rebuilds the patch at every place, and each pixel becomes
 * the mean of what all patches over it say. */
#include "io.h"

#include <rarebit/denoise.h>

#include <math.h>
#include <stddef.h>

static const rb_option table[] = {
    {"size", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, size), "10x10", 0, 0, NULL, "HxW",
     "height and width of the patches that the model was fitted to"},
    {"scale", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, scale), NULL, 0, 0, NULL, "LOW:HIGH",
     "stretch the picture's values to LOW .. HIGH for the model, as its patches were"},
    {"truth", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, truth), NULL, 0, 0, NULL, "PICTURE",
     "the picture without noise: say how near the result is"},
    {0},
};

const rb_option_group *rb_denoise_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Denoising", table,
                                          sizeof(rb_denoise_options), NULL};
    return &group;
}

/* ---- comparing with the truth ---- */

static int64_t cells_of(const rb_image *image) {
    return image->height * image->width * image->channels;
}

static void find_range(const rb_image *image, double *min, double *max) {
    *min = INFINITY;
    *max = -INFINITY;
    for (int64_t i = 0; i < cells_of(image); i++) {
        *min = fmin(*min, (double)image->values[i]);
        *max = fmax(*max, (double)image->values[i]);
    }
}

static double signal_to_noise(const rb_image *image, const rb_image *truth) {
    double min, max, squares = 0;
    int64_t cells = cells_of(truth);
    find_range(truth, &min, &max);
    double peak = truth->max ? (double)truth->max : max - min;
    for (int64_t i = 0; i < cells; i++) {
        double error = (double)image->values[i] - (double)truth->values[i];
        squares += error * error;
    }
    return 10 * log10(peak * peak * (double)cells / squares);
}

/* Reads the truth, if there is one. */
static rb_error read_truth(rb_context *ctx, const char *path, const rb_image *image,
                           rb_image *truth) {
    rb_error err = path ? rb_picture_read(ctx, path, truth) : RB_OK;
    if (err || !path) {
        return err;
    }
    if (truth->height != image->height || truth->width != image->width ||
        truth->channels != image->channels) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "%s has %lld x %lld x %lld values, but the picture %lld x %lld x %lld: give "
                       "the same picture without noise",
                       path, (long long)truth->height, (long long)truth->width,
                       (long long)truth->channels, (long long)image->height,
                       (long long)image->width, (long long)image->channels);
    }
    return RB_OK;
}

/* ---- patches back to a picture ---- */

typedef struct mosaic {
    const rb_patches_plan *plan;
    const rb_image *image;
    double *sums; /* as the values of the image */
} mosaic;

/* Adds rebuilt patches where they lie. */
static rb_error add_patches(void *user, int64_t first, const rb_matrix *rows) {
    const mosaic *m = user;
    int64_t across = m->image->width - m->plan->width + 1, channels = m->image->channels;
    int64_t line = m->plan->width * channels;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        int64_t top = (first + i) / across, left = (first + i) % across;
        for (int64_t d = 0; d < m->plan->height * line; d++) {
            int64_t y = top + d / line, x = left * channels + d % line;
            m->sums[y * m->image->width * channels + x] += rb_matrix_at(rows, i, d);
        }
    }
    return RB_OK;
}

/* How many of the windows of a size, in a row of so many pixels, lie over a pixel. */
static double windows_over(int64_t pixel, int64_t size, int64_t pixels) {
    int64_t first = pixel - size + 1 > 0 ? pixel - size + 1 : 0;
    int64_t last = pixel < pixels - size ? pixel : pixels - size;
    return (double)(last - first + 1);
}

/* Sums become means, on the scale of the picture: least .. most was stretched to the plan's. */
static void finish(const mosaic *m, double min, double max, rb_image *result) {
    const rb_patches_plan *plan = m->plan;
    int64_t line = result->width * result->channels;
    for (int64_t i = 0; i < cells_of(result); i++) {
        double count = windows_over(i / line, plan->height, result->height) *
                       windows_over(i % line / result->channels, plan->width, result->width);
        double value = m->sums[i] / count;
        if (plan->scaled) {
            value = min + (max - min) * (value - plan->low) / (plan->high - plan->low);
        }
        if (result->max) {
            value = fmin(fmax(value, 0), (double)result->max);
        }
        result->values[i] = (float)value;
    }
}

/* Takes over the values of `picture`; result->values is to be freed. */
static rb_error rebuild(rb_context *ctx, const rb_model *model, const rb_patches_plan *plan,
                        rb_image *picture, rb_image *result) {
    mosaic m = {.plan = plan, .image = result};
    double min, max;
    rb_source *source = NULL;
    rb_images images = {rb_alloc(ctx, 1, sizeof *images.list), 1};
    if (!images.list) {
        return RB_ERROR_MEMORY;
    }
    find_range(picture, &min, &max);
    *result = *images.list = *picture;
    picture->values = result->values = NULL;
    rb_error err = rb_patches_cut(ctx, plan, &images, &source);
    if (!err) {
        m.sums = rb_alloc_zero(ctx, cells_of(result), sizeof *m.sums);
        result->values = rb_alloc(ctx, cells_of(result), sizeof *result->values);
        err = m.sums && result->values ? rb_reconstruct(ctx, model, source, add_patches, &m)
                                       : RB_ERROR_MEMORY;
    }
    if (!err) {
        finish(&m, min, max, result);
    }
    rb_free(m.sums);
    rb_source_free(source);
    return err;
}

/* ---- the whole course ---- */

static rb_error check_patches(rb_context *ctx, const rb_model *model, const char *path,
                              const rb_patches_plan *plan, const rb_image *image) {
    if (image->height < plan->height || image->width < plan->width) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s: patches of %lldx%lld do not fit into a picture of %lld rows x %lld "
                       "columns",
                       path, (long long)plan->height, (long long)plan->width,
                       (long long)image->height, (long long)image->width);
    }
    int64_t features = plan->height * plan->width * image->channels;
    if (features != model->preprocess->n_input) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "patches of %lldx%lld with %lld channel%s have %lld features, but the model "
                       "was fitted to %lld: give size as 'rarebit patches' had it",
                       (long long)plan->height, (long long)plan->width, (long long)image->channels,
                       image->channels == 1 ? "" : "s", (long long)features,
                       (long long)model->preprocess->n_input);
    }
    if (rb_model_features(model) != features) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model uses only %lld of its %lld features: a picture needs all of them",
                       (long long)rb_model_features(model), (long long)features);
    }
    return RB_OK;
}

static rb_error denoise(rb_context *ctx, const rb_model *model, const char *path,
                        const rb_denoise_options *options, const char *output, rb_image *picture,
                        rb_image *truth, rb_image *clean, rb_denoising *result) {
    rb_patches_plan plan;
    rb_patches_options patches = {options->size, 1, options->scale, 0};
    rb_error err = rb_patches_plan_of(ctx, &patches, &plan);
    plan.all = true;
    err = err ? err : rb_picture_read(ctx, path, picture);
    err = err ? err : rb_picture_check(ctx, output, picture->channels, picture->max);
    err = err ? err : check_patches(ctx, model, path, &plan, picture);
    err = err ? err : read_truth(ctx, options->truth, picture, truth);
    if (err) {
        return err;
    }
    *result =
        (rb_denoising){picture->height,
                       picture->width,
                       picture->channels,
                       (picture->height - plan.height + 1) * (picture->width - plan.width + 1),
                       NAN,
                       NAN};
    if (truth->values) {
        result->psnr_before = signal_to_noise(picture, truth);
    }
    err = rebuild(ctx, model, &plan, picture, clean);
    if (!err && truth->values) {
        result->psnr_after = signal_to_noise(clean, truth);
    }
    return err ? err : rb_picture_write(ctx, output, clean);
}

rb_error rb_denoise(rb_context *ctx, const rb_model *model, const char *picture,
                    const rb_options *given, const char *output, rb_denoising *result) {
    rb_denoise_options chosen, *options = &chosen;
    rb_denoising unwanted = {0};
    rb_image noisy = {0}, truth = {0}, clean = {0};
    result = result ? result : &unwanted;
    rb_error err = rb_options_take(ctx, given, rb_denoise_group(), options);
    err = err ? err : rb_picture_check_suffix(ctx, output);
    err = err ? err : denoise(ctx, model, picture, options, output, &noisy, &truth, &clean, result);
    rb_free(noisy.values);
    rb_free(truth.values);
    rb_free(clean.values);
    return err;
}
