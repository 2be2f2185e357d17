/* Patches of picture files: options, reading the pictures, and what can be wrong with them. */
#include "cells.h"
#include "image.h"
#include "npy.h"
#include "rows.h"

#include <rarebit/patches.h>

#include <float.h>
#include <math.h>
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

const rb_option *rb_patches_option_table(void) {
    return table;
}

void rb_patches_options_default(rb_patches_options *options) {
    rb_options_default(table, options);
}

/* ---- options ---- */

/* "0:10" */
static bool parse_range(const char *text, double *low, double *high) {
    const char *end = text + strlen(text);
    const char *colon = rb_number_scan(text, end, low);
    if (!colon || *colon != ':') {
        return false;
    }
    return rb_number_scan(colon + 1, end, high) == end && isfinite(*low) && isfinite(*high) &&
           *low < *high;
}

static rb_error make_plan(rb_context *ctx, const rb_patches_options *options,
                          rb_patches_plan *plan) {
    int64_t sizes[2];
    rb_error err = rb_options_check(ctx, table, options);
    if (err) {
        return err;
    }
    *plan = (rb_patches_plan){.count = options->count, .seed = (uint64_t)options->seed};
    if (!options->size || rb_parse_shape(options->size, sizes, 2) != 2) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "size is '%s', but must be height x width in pixels, such as 10x10",
                       options->size ? options->size : "");
    }
    plan->height = sizes[0];
    plan->width = sizes[1];
    plan->scaled = options->scale != NULL;
    if (plan->scaled && !parse_range(options->scale, &plan->low, &plan->high)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "scale is '%s', but must be two numbers, the smaller first, such as 0:10",
                       options->scale);
    }
    return RB_OK;
}

/* ---- pictures ---- */

/* An array of height x width, or height x width x channels. */
static rb_error find_shape(rb_context *ctx, const char *path, rb_image *image) {
    enum { MOST_CHANNELS = 4 };
    rb_npy_header header;
    rb_error err = rb_npy_look(ctx, path, &header);
    if (err) {
        return err;
    }
    bool coloured = header.dimensions == 3 && header.shape[2] <= MOST_CHANNELS;
    if (header.dimensions != 2 && !coloured) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s is no picture: an array must be height x width, or height x width x "
                       "channels with at most %d channels",
                       path, MOST_CHANNELS);
    }
    image->height = header.shape[0];
    image->width = header.shape[1];
    image->channels = coloured ? header.shape[2] : 1;
    return RB_OK;
}

static rb_error check_values(rb_context *ctx, const char *path, const rb_image *image) {
    int64_t line = image->width * image->channels;
    for (int64_t e = 0; e < image->height * line; e++) {
        if (!isfinite(image->values[e])) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "%s: the value in row %lld, column %lld is missing, infinite or too "
                           "large for float32",
                           path, (long long)(e / line) + 1,
                           (long long)(e % line / image->channels) + 1);
        }
    }
    return RB_OK;
}

static rb_error read_array(rb_context *ctx, const char *path, rb_image *image) {
    rb_matrix *matrix = NULL;
    rb_error err = find_shape(ctx, path, image);
    if (!err) {
        err = rb_read(ctx, path, NULL, &matrix);
    }
    if (err) {
        return err;
    }
    /* The matrix has that many values: the product cannot overflow. */
    int64_t line = image->width * image->channels;
    image->values = rb_alloc(ctx, image->height * line, sizeof *image->values);
    err = image->values ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t y = 0; y < image->height && !err; y++) {
        rb_rows_copy(matrix, y, RB_FLOAT32, image->values + y * line);
    }
    rb_matrix_free(matrix);
    return err ? err : check_values(ctx, path, image);
}

static rb_error read_picture(rb_context *ctx, const char *path, rb_image *image) {
    const char *format;
    rb_error err = rb_format_of(ctx, path, &format);
    if (err) {
        return err;
    }
    if (strcmp(format, "image") == 0) {
        return rb_image_decode(ctx, path, image);
    }
    if (strcmp(format, "npy") == 0) {
        return read_array(ctx, path, image);
    }
    return rb_fail(ctx, RB_ERROR_FORMAT,
                   "%s is no picture: patches are cut out of PNG, PGM, PPM and .npy", path);
}

/* Does a patch fit, and do the channels agree with those of the first picture? */
static rb_error check_picture(rb_context *ctx, const char *const *paths, int64_t index,
                              const rb_patches_plan *plan, const rb_images *images) {
    const rb_image *image = &images->list[index], *first = images->list;
    if (image->height < plan->height || image->width < plan->width) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s: patches of %lldx%lld do not fit into a picture of %lld rows x %lld "
                       "columns",
                       paths[index], (long long)plan->height, (long long)plan->width,
                       (long long)image->height, (long long)image->width);
    }
    if (image->channels != first->channels) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "%s has %lld channels, but %s has %lld: all pictures must be grey, or all "
                       "coloured",
                       paths[index], (long long)image->channels, paths[0],
                       (long long)first->channels);
    }
    return RB_OK;
}

/* On failure images are to be cleared as well. */
static rb_error read_pictures(rb_context *ctx, const char *const *paths, int64_t n_paths,
                              const rb_patches_plan *plan, rb_images *images) {
    images->list = rb_alloc_zero(ctx, n_paths, sizeof *images->list);
    if (!images->list) {
        return RB_ERROR_MEMORY;
    }
    images->count = n_paths;
    for (int64_t i = 0; i < n_paths; i++) {
        rb_error err = read_picture(ctx, paths[i], &images->list[i]);
        if (!err) {
            err = check_picture(ctx, paths, i, plan, images);
        }
        if (err) {
            return err;
        }
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
                    const rb_patches_options *options, rb_source **source) {
    rb_patches_options defaults;
    rb_patches_plan plan;
    rb_images images = {0};
    *source = NULL;
    if (!options) {
        rb_patches_options_default(&defaults);
        options = &defaults;
    }
    rb_error err = make_plan(ctx, options, &plan);
    if (!err && n_paths < 1) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no picture to cut patches out of");
    }
    if (!err) {
        err = read_pictures(ctx, paths, n_paths, &plan, &images);
    }
    if (err) {
        rb_images_clear(&images);
        return err;
    }
    return rb_patches_cut(ctx, &plan, &images, source);
}
