/* Patches of picture files: options, reading the pictures, and what can be wrong with them. */
#include "media.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"size", 0, RB_OPTION_TEXT, offsetof(rb_patches_options, size), "10x10", 0, 0, NULL, "HxW",
     "height and width of a patch in pixels", RB_OPTION_COMMON},
    {"count", 0, RB_OPTION_INTEGER, offsetof(rb_patches_options, count), "40000", 1, INT32_MAX,
     NULL, "N", "number of patches", RB_OPTION_COMMON},
    {"scale", 0, RB_OPTION_TEXT, offsetof(rb_patches_options, scale), NULL, 0, 0, NULL, "LOW:HIGH",
     "scale the values so that all patches together range from LOW to HIGH", RB_OPTION_COMMON},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_patches_options, seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random places", RB_OPTION_COMMON},
    {"pictures", 0, RB_OPTION_TEXT, offsetof(rb_patches_options, pictures), NULL, 0, 0, NULL, "HxW",
     "the files hold many images, one per sample, of this height and width in pixels: IDX, .npy, "
     "or any format that fit reads",
     RB_OPTION_COMMON},
    {"channels", 0, RB_OPTION_INTEGER, offsetof(rb_patches_options, channels), "1", 1, 64, NULL,
     "N", "values per pixel in such data, next to each other", .needs = "pictures"},
    {"contrast", 0, RB_OPTION_CHOICE, offsetof(rb_patches_options, contrast), "none", 0, 0,
     "none|global|local", "HOW",
     "subtract the mean and divide by the standard deviation, per image (global) or per patch "
     "(local)",
     RB_OPTION_COMMON},
    {"whiten", 0, RB_OPTION_CHOICE, offsetof(rb_patches_options, whiten), "none", 0, 0, "none|zca",
     "HOW", "make the pixels of patches uncorrelated, as close to the originals as possible",
     RB_OPTION_COMMON},
    {"epsilon", 0, RB_OPTION_NUMBER, offsetof(rb_patches_options, epsilon), "0.1", 0, DBL_MAX, NULL,
     "E", "added to the eigenvalues of their covariance, as a multiple of their mean",
     .needs = "whiten=zca"},
    {0},
};

const rb_option_group *rb_patches_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Patches", table,
                                          sizeof(rb_patches_options), NULL};
    return &group;
}

/* ---- options ---- */

rb_error rb_patches_plan_of(rb_context *ctx, const rb_patches_options *options,
                            rb_patches_plan *plan) {
    *plan = (rb_patches_plan){
        .count = options->count, .seed = (uint64_t)options->seed, .scaled = options->scale != NULL};
    rb_error err = rb_image_size(ctx, "size", options->size, plan->size);
    if (!err && plan->scaled && (options->whiten || options->contrast)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "`scale` is given, but %s changes the range of values; leave one of them out",
                      options->whiten ? "whiten" : "contrast");
    }
    if (!err && plan->scaled && !rb_parse_range(options->scale, &plan->low, &plan->high)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "`scale` is '%s', but must be two numbers, the smaller first, such as 0:10",
                      options->scale);
    }
    return err;
}

/* ---- pictures ---- */

static rb_error read_picture(rb_context *ctx, const char *const *paths, int64_t index,
                             const rb_patches_plan *plan, rb_images *images) {
    rb_image *image = &images->list[index], *first = images->list;
    rb_error err = rb_picture_read(ctx, paths[index], image);
    err = err ? err : rb_image_holds(ctx, paths[index], plan->size, image);
    if (!err && image->channels != first->channels) {
        err =
            rb_fail(ctx, RB_ERROR_DATA,
                    "%s has %lld channels, but %s has %lld; use images of the same kind, all grey "
                    "or all coloured",
                    paths[index], (long long)image->channels, paths[0], (long long)first->channels);
    }
    return err;
}

/* On failure images are to be cleared as well. */
static rb_error read_pictures(rb_context *ctx, const char *const *paths, int64_t n_paths,
                              const rb_patches_plan *plan, rb_images *images) {
    images->list = rb_alloc_zero(ctx, n_paths, sizeof *images->list);
    if (!images->list) return RB_ERROR_MEMORY;
    images->count = n_paths;
    for (int64_t i = 0; i < n_paths; i++) {
        rb_error err = read_picture(ctx, paths, i, plan, images);
        if (err) return err;
    }
    return RB_OK;
}

/* ---- data of many pictures ---- */

/* Samples of a matrix as pictures of its shape, behind those that are there. */
static rb_error add_samples(rb_context *ctx, const rb_matrix *rows, const rb_image *shape,
                            rb_images *images) {
    for (int64_t i = 0; i < rows->n_samples; i++) {
        rb_image *image = &images->list[images->count];
        *image = *shape;
        image->values = rb_alloc(ctx, rows->n_features, sizeof *image->values);
        if (!image->values) return RB_ERROR_MEMORY;
        images->count++;
        rb_rows_copy(rows, i, RB_FLOAT32, image->values);
        for (int64_t e = 0; e < rows->n_features; e++) {
            if (!isfinite(image->values[e])) {
                return rb_fail(
                    ctx, RB_ERROR_DATA,
                    "image %lld has a value that is missing, infinite or too large for float32",
                    (long long)images->count - 1);
            }
        }
    }
    return RB_OK;
}

static rb_error add_source(rb_context *ctx, rb_source *source, const char *path,
                           const rb_image *shape, rb_images *images) {
    int64_t n = source->n_samples, max = rb_samples_at_once(source), cells = rb_image_cells(shape);
    if (source->n_features != cells) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "%s has %lld values per sample, but images of %lldx%lld with %lld channel%s have %lld",
            path, (long long)source->n_features, (long long)shape->height, (long long)shape->width,
            (long long)shape->channels, shape->channels == 1 ? "" : "s", (long long)cells);
    }
    rb_image *list =
        rb_grow(ctx, images->list, images->count, images->count + n, sizeof *images->list);
    if (!list) return RB_ERROR_MEMORY;
    images->list = list;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += max) {
        rb_matrix view;
        err = rb_source_read(ctx, source, first, n - first < max ? n - first : max, &view);
        err = err ? err : add_samples(ctx, &view, shape, images);
        if (err) rb_fail_prefix(ctx, "%s: ", path);
    }
    return err;
}

/* Likewise. */
static rb_error read_samples(rb_context *ctx, const char *const *paths, int64_t n_paths,
                             const rb_patches_options *options, const rb_patches_plan *plan,
                             rb_images *images) {
    int64_t size[2];
    rb_error err = rb_image_size(ctx, "pictures", options->pictures, size);
    rb_image shape = {.height = size[0], .width = size[1], .channels = options->channels};
    int64_t cells;
    if (!err && (!rb_multiply(shape.height, shape.width, &cells) ||
                 !rb_multiply(cells, shape.channels, &cells)))
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "images of %s are too large", options->pictures);
    err = err ? err : rb_image_holds(ctx, "pictures", plan->size, &shape);
    for (int64_t i = 0; !err && i < n_paths; i++) {
        rb_source *source = NULL;
        err = rb_open(ctx, paths[i], NULL, &source);
        err = err ? err : add_source(ctx, source, paths[i], &shape, images);
        rb_source_free(source);
    }
    return err;
}

static rb_error check_places(rb_context *ctx, const rb_patches_plan *plan,
                             const rb_images *images) {
    int64_t places = rb_patch_places(images, plan->size[0], plan->size[1]);
    if (plan->count > places) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`count` is %lld, but a patch of %lldx%lld fits in only %lld places; use at "
                       "most as many",
                       (long long)plan->count, (long long)plan->size[0], (long long)plan->size[1],
                       (long long)places);
    }
    return RB_OK;
}

/* ---- contrast and whitening ---- */

static rb_error make_whitening(rb_context *ctx, const rb_patches_options *options,
                               const rb_patches_plan *plan, rb_images *images,
                               rb_whitening **whitening) {
    rb_error err =
        rb_whitening_new(ctx, plan->size[0], plan->size[1], images->list->channels, whitening);
    if (err) return err;
    (*whitening)->contrast = (rb_contrast)options->contrast;
    if (options->contrast != RB_CONTRAST_NONE)
        (*whitening)->constant = rb_contrast_constant(images);
    if (options->contrast == RB_CONTRAST_GLOBAL) rb_images_contrast(images, (*whitening)->constant);
    return RB_OK;
}

/* Patches of these pictures, changed as the options say; takes over the pictures. */
static rb_error cut(rb_context *ctx, const rb_patches_options *options, const rb_patches_plan *plan,
                    rb_images *images, rb_whitening *w, rb_source **source) {
    rb_source *as_cut = NULL, *local = NULL;
    rb_error err = rb_patches_cut(ctx, plan, images, &as_cut);
    if (err || (w->contrast != RB_CONTRAST_LOCAL && !options->whiten)) {
        *source = as_cut;
        return err;
    }
    if (!options->whiten) return rb_whitening_apply(ctx, w, as_cut, source);
    /* The whitening is that of patches whose contrast is done with: reading twice, cut once. */
    rb_source *to_fit = as_cut;
    if (w->contrast == RB_CONTRAST_LOCAL) {
        err = rb_whitening_apply(ctx, w, as_cut, &local);
        if (err) return err;
        to_fit = local;
    }
    err = rb_whitening_fit(ctx, to_fit, options->epsilon, w);
    if (err) {
        rb_source_free(to_fit);
        return err;
    }
    rb_whitening plain = *w;
    if (w->contrast == RB_CONTRAST_LOCAL) plain.contrast = RB_CONTRAST_NONE; /* done by `local` */
    return rb_whitening_apply(ctx, &plain, to_fit, source);
}

rb_error rb_patches_whitened(rb_context *ctx, const char *const *paths, int64_t n_paths,
                             const rb_options *given, rb_source **source,
                             rb_whitening **whitening) {
    rb_patches_options options;
    rb_patches_plan plan;
    rb_images images = {0};
    rb_whitening *w = NULL;
    *source = NULL;
    if (whitening) *whitening = NULL;
    rb_error err = rb_options_take(ctx, given, rb_patches_group(), &options);
    err = err ? err : rb_patches_plan_of(ctx, &options, &plan);
    if (!err && n_paths < 1)
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "no image to cut patches from; name one or more");
    if (!err)
        err = options.pictures ? read_samples(ctx, paths, n_paths, &options, &plan, &images)
                               : read_pictures(ctx, paths, n_paths, &plan, &images);
    err = err ? err : check_places(ctx, &plan, &images);
    err = err ? err : make_whitening(ctx, &options, &plan, &images, &w);
    if (err) {
        rb_images_clear(&images);
        rb_whitening_drop(w);
        return err;
    }
    err = cut(ctx, &options, &plan, &images, w, source);
    if (!err && whitening) {
        err = rb_source_checksum(ctx, *source, &w->checksum);
        if (err) {
            rb_source_free(*source);
            *source = NULL;
        }
    }
    if (!err && whitening)
        *whitening = w;
    else
        rb_whitening_drop(w);
    return err;
}

rb_error rb_patches(rb_context *ctx, const char *const *paths, int64_t n_paths,
                    const rb_options *given, rb_source **source) {
    return rb_patches_whitened(ctx, paths, n_paths, given, source, NULL);
}
