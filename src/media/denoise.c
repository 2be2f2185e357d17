/* Pictures without their noise: a model rebuilds the patch at every place, and each pixel becomes
 * the mean of what all patches over it say. */
#include "media.h"

#include <math.h>
#include <stddef.h>

static const rb_option table[] = {
    {"size", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, size), "10x10", 0, 0, NULL, "HxW",
     "height and width of the patches that the model was fitted to"},
    {"scale", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, scale), NULL, 0, 0, NULL, "LOW:HIGH",
     "scale the values of the image to LOW .. HIGH for the model, as for its patches"},
    {"truth", 0, RB_OPTION_TEXT, offsetof(rb_denoise_options, truth), NULL, 0, 0, NULL, "PICTURE",
     "the image without noise, to report how close the result is"},
    {0},
};

const rb_option_group *rb_denoise_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Denoising", table,
                                          sizeof(rb_denoise_options), NULL};
    return &group;
}

/* ---- comparing with the truth ---- */

static void find_range(const rb_image *image, double *min, double *max) {
    *min = INFINITY;
    *max = -INFINITY;
    for (int64_t i = 0; i < rb_image_cells(image); i++) {
        *min = fmin(*min, (double)image->values[i]);
        *max = fmax(*max, (double)image->values[i]);
    }
}

static double signal_to_noise(const rb_image *image, const rb_image *truth) {
    double min, max, squares = 0;
    int64_t cells = rb_image_cells(truth);
    find_range(truth, &min, &max);
    double peak = truth->max ? (double)truth->max : max - min;
    for (int64_t i = 0; i < cells; i++) {
        double error = (double)image->values[i] - (double)truth->values[i];
        squares += error * error;
    }
    return 10 * log10(peak * peak * (double)cells / squares);
}

static rb_error read_truth(rb_context *ctx, const char *path, const rb_image *image,
                           rb_image *truth) {
    rb_error err = rb_picture_read(ctx, path, truth);
    if (!err && (truth->height != image->height || truth->width != image->width ||
                 truth->channels != image->channels)) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "%s has %lld x %lld x %lld values, but the noisy image has %lld x %lld x "
                      "%lld; give the same image without noise",
                      path, (long long)truth->height, (long long)truth->width,
                      (long long)truth->channels, (long long)image->height, (long long)image->width,
                      (long long)image->channels);
    }
    return err;
}

/* ---- patches back to a picture ---- */

typedef struct mosaic {
    rb_patches_plan plan;
    rb_image image; /* the picture, and then what becomes of it */
    double *sums;   /* as the values of the image */
} mosaic;

/* Adds rebuilt patches where they lie. */
static rb_error add_patches(void *user, int64_t first, const rb_matrix *rows) {
    const mosaic *m = user;
    int64_t across = m->image.width - m->plan.size[1] + 1, channels = m->image.channels;
    int64_t line = m->plan.size[1] * channels;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        int64_t top = (first + i) / across, left = (first + i) % across;
        for (int64_t d = 0; d < m->plan.size[0] * line; d++) {
            int64_t y = top + d / line, x = left * channels + d % line;
            m->sums[y * m->image.width * channels + x] += rb_matrix_at(rows, i, d);
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

/* Sums become means, on the scale of the picture: min .. max was stretched to the plan's. */
static void take_means(mosaic *m, double min, double max) {
    const rb_patches_plan *plan = &m->plan;
    rb_image *image = &m->image;
    int64_t line = image->width * image->channels;
    for (int64_t i = 0; i < rb_image_cells(image); i++) {
        double count = windows_over(i / line, plan->size[0], image->height) *
                       windows_over(i % line / image->channels, plan->size[1], image->width);
        double value = m->sums[i] / count;
        if (plan->scaled)
            value = min + (max - min) * (value - plan->low) / (plan->high - plan->low);
        if (image->max) value = fmin(fmax(value, 0), (double)image->max);
        image->values[i] = (float)value;
    }
}

/* The values of the picture go to the source of its patches, and new ones take their place. */
static rb_error rebuild(rb_context *ctx, const rb_model *model, mosaic *m) {
    double min, max;
    rb_source *source = NULL;
    rb_images images = {rb_alloc(ctx, 1, sizeof *images.list), 1};
    if (!images.list) return RB_ERROR_MEMORY;
    find_range(&m->image, &min, &max);
    *images.list = m->image;
    m->image.values = NULL;
    rb_error err = rb_patches_cut(ctx, &m->plan, &images, &source);
    if (!err) {
        m->sums = rb_alloc_zero(ctx, rb_image_cells(&m->image), sizeof *m->sums);
        m->image.values = rb_alloc(ctx, rb_image_cells(&m->image), sizeof *m->image.values);
        err = m->sums && m->image.values ? rb_reconstruct(ctx, model, source, add_patches, m)
                                         : RB_ERROR_MEMORY;
    }
    if (!err) take_means(m, min, max);
    rb_source_free(source);
    return err;
}

/* ---- the whole course ---- */

static rb_error check_patches(rb_context *ctx, const rb_model *model, const rb_patches_plan *plan,
                              const rb_image *image) {
    int64_t features = plan->size[0] * plan->size[1] * image->channels;
    if (features != model->preprocess->n_input) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "patches of %lldx%lld with %lld channel%s have %lld features, but the model "
                       "has %lld; give the `size` that 'rarebit patches' was given",
                       (long long)plan->size[0], (long long)plan->size[1],
                       (long long)image->channels, image->channels == 1 ? "" : "s",
                       (long long)features, (long long)model->preprocess->n_input);
    }
    if (rb_model_features(model) != features) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model uses only %lld of its %lld features, but an image needs all; fit "
                       "without `top-variance` and `drop`",
                       (long long)rb_model_features(model), (long long)features);
    }
    return RB_OK;
}

/* Reads the picture and tells what is wrong before the work. */
static rb_error begin(rb_context *ctx, const rb_model *model, const char *path, const char *output,
                      mosaic *m) {
    rb_error err = rb_picture_read(ctx, path, &m->image);
    err = err ? err : rb_picture_check(ctx, output, m->image.channels, m->image.max);
    err = err ? err : rb_image_holds(ctx, path, m->plan.size, &m->image);
    return err ? err : check_patches(ctx, model, &m->plan, &m->image);
}

static rb_denoising denoising_of(const mosaic *m, double before, double after) {
    int64_t down = m->image.height - m->plan.size[0] + 1;
    int64_t across = m->image.width - m->plan.size[1] + 1;
    return (rb_denoising){.size = sizeof(rb_denoising),
                          .height = m->image.height,
                          .width = m->image.width,
                          .channels = m->image.channels,
                          .patches = down * across,
                          .psnr_before = before,
                          .psnr_after = after};
}

rb_error rb_denoise(rb_context *ctx, const rb_model *model, const char *picture,
                    const rb_options *given, const char *output, rb_denoising *result) {
    rb_denoise_options options;
    mosaic m = {.sums = NULL};
    rb_image truth = {0}, *image = &m.image;
    double before = NAN, after = NAN;
    rb_error err = result ? rb_size_check(ctx, "the result", result->size, sizeof *result) : RB_OK;
    err = err ? err : rb_options_take(ctx, given, rb_denoise_group(), &options);
    err = err ? err : rb_picture_check_suffix(ctx, output);
    if (err) return err;
    rb_patches_options patches = {options.size, 1, options.scale, 0};
    err = rb_patches_plan_of(ctx, &patches, &m.plan);
    m.plan.all = true;
    err = err ? err : begin(ctx, model, picture, output, &m);
    if (!err && options.truth) {
        err = read_truth(ctx, options.truth, image, &truth);
        before = err ? NAN : signal_to_noise(image, &truth);
    }
    err = err ? err : rebuild(ctx, model, &m);
    if (!err && options.truth) after = signal_to_noise(image, &truth);
    err = err ? err : rb_picture_write(ctx, output, image);
    if (!err && result) *result = denoising_of(&m, before, after);
    rb_free(m.sums);
    rb_free(m.image.values);
    rb_free(truth.values);
    return err;
}
