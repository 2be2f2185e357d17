/* Patches of picture files: options, reading the pictures, and what can be wrong with them. */
#include "io.h"

#include <rarebit/patches.h>

#include <float.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"size", 0, RB_OPTION_TEXT, offsetof(rb_patches_options, size), "10x10", 0, 0, NULL, "HxW",
     "height and width of a patch in pixels"},
    {"count", 0, RB_OPTION_INTEGER, offsetof(rb_patches_options, count), "40000", 1, INT32_MAX,
     NULL, "N", "number of patches"},
    {"scale", 0, RB_OPTION_TEXT, offsetof(rb_patches_options, scale), NULL, 0, 0, NULL, "LOW:HIGH",
     "shift and stretch the values so that those of all patches range from LOW to HIGH"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_patches_options, seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random places"},
    {0},
};

const rb_option_group *rb_patches_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Patches", table,
                                          sizeof(rb_patches_options), NULL};
    return &group;
}

/* ---- options ---- */

rb_error rb_patches_size(rb_context *ctx, const char *option, const char *text,
                         rb_patches_plan *plan) {
    int64_t sizes[2];
    if (!text || rb_parse_shape(text, sizes, 2) != 2) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s is '%s', but must be height x width in pixels, such as 10x10", option,
                       text ? text : "");
    }
    plan->height = sizes[0];
    plan->width = sizes[1];
    return RB_OK;
}

rb_error rb_patches_plan_of(rb_context *ctx, const rb_patches_options *options,
                            rb_patches_plan *plan) {
    *plan = (rb_patches_plan){
        .count = options->count, .seed = (uint64_t)options->seed, .scaled = options->scale != NULL};
    rb_error err = rb_patches_size(ctx, "size", options->size, plan);
    if (!err && plan->scaled && !rb_parse_range(options->scale, &plan->low, &plan->high)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "scale is '%s', but must be two numbers, the smaller first, such as 0:10",
                      options->scale);
    }
    return err;
}

/* ---- pictures ---- */

rb_error rb_patches_check(rb_context *ctx, const char *path, const rb_patches_plan *plan,
                          const rb_image *image) {
    if (plan->height <= image->height && plan->width <= image->width) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%s: patches of %lldx%lld do not fit into a picture of %lld rows x %lld columns",
                   path, (long long)plan->height, (long long)plan->width, (long long)image->height,
                   (long long)image->width);
}

static rb_error read_picture(rb_context *ctx, const char *const *paths, int64_t index,
                             const rb_patches_plan *plan, rb_images *images) {
    rb_image *image = &images->list[index], *first = images->list;
    rb_error err = rb_picture_read(ctx, paths[index], image);
    err = err ? err : rb_patches_check(ctx, paths[index], plan, image);
    if (!err && image->channels != first->channels) {
        err =
            rb_fail(ctx, RB_ERROR_DATA,
                    "%s has %lld channels, but %s has %lld: all pictures must be grey, or all "
                    "coloured",
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
    int64_t places = rb_patch_places(images, plan->height, plan->width);
    if (plan->count > places) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "count is %lld, but a patch of %lldx%lld can lie in %lld places only: ask for "
            "at most as many",
            (long long)plan->count, (long long)plan->height, (long long)plan->width,
            (long long)places);
    }
    return RB_OK;
}

rb_error rb_patches(rb_context *ctx, const char *const *paths, int64_t n_paths,
                    const rb_options *given, rb_source **source) {
    rb_patches_options options;
    rb_patches_plan plan;
    rb_images images = {0};
    *source = NULL;
    rb_error err = rb_options_take(ctx, given, rb_patches_group(), &options);
    err = err ? err : rb_patches_plan_of(ctx, &options, &plan);
    if (!err && n_paths < 1)
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no picture to cut patches out of");
    err = err ? err : read_pictures(ctx, paths, n_paths, &plan, &images);
    if (err) {
        rb_images_clear(&images);
        return err;
    }
    return rb_patches_cut(ctx, &plan, &images, source);
}
