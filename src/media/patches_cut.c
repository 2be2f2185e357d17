/* Patches of images at random places, none of them twice.
 *
 * All places of all images are counted through, image by image and row by row. The first `count` of
 * a random order of them are taken: step i of the shuffle of Fisher and Yates (R. Durstenfeld,
 * "Algorithm 235: Random permutation", 1964, doi:10.1145/364520.364540) swaps place i of the list
 * with one of i .. n - 1. Of the list only what has moved is kept, so memory goes with the number
 * of patches and not with that of the places.
 */
#include "media.h"

#include <math.h>
#include <string.h>

typedef struct patches {
    rb_patches_plan plan;
    rb_images images;
    int64_t n_features;
    int64_t *places;  /* count: where each patch lies; NULL: everywhere, in order */
    int64_t each;     /* places of an image, where all have the same size; else 0 */
    double min, span; /* of the values of all patches */
} patches;

void rb_images_clear(rb_images *images) {
    for (int64_t i = 0; i < images->count; i++)
        rb_free(images->list[i].values);
    rb_free(images->list);
    *images = (rb_images){0};
}

static int64_t places_of(const rb_image *image, int64_t height, int64_t width) {
    return (image->height - height + 1) * (image->width - width + 1);
}

int64_t rb_patch_places(const rb_images *images, int64_t height, int64_t width) {
    int64_t count = 0;
    for (int64_t i = 0; i < images->count; i++)
        count += places_of(&images->list[i], height, width);
    return count;
}

/* ---- choosing places ---- */

/* A number that has moved in a list 0, 1, 2, ..., in a hash table by its place. */
struct moved {
    bool taken;
    int64_t place, number;
};

/* The slot of a place, or the one that it would take; the table has a power of two of them. */
static struct moved *find_slot(struct moved *table, int64_t size, int64_t place) {
    uint64_t hash = (uint64_t)place * 0x9E3779B97F4A7C15U;
    int64_t slot = (int64_t)(hash >> 20) & (size - 1);
    while (table[slot].taken && table[slot].place != place)
        slot = (slot + 1) & (size - 1);
    return &table[slot];
}

static rb_error choose_places(rb_context *ctx, uint64_t seed, int64_t n_places, int64_t count,
                              int64_t *places) {
    rb_draws draws = {.stream = {.seed = seed, .purpose = RB_RANDOM_PATCHES}};
    int64_t size = 4;
    while (size / 2 < count && size < INT64_MAX / 4)
        size *= 2;
    struct moved *table = rb_alloc_zero(ctx, size, sizeof *table);
    for (int64_t i = 0; table && i < count; i++) {
        int64_t other = rb_draw_integer(&draws, i, n_places - 1);
        struct moved *there = find_slot(table, size, other), *here = find_slot(table, size, i);
        places[i] = there->taken ? there->number : other;
        *there = (struct moved){true, other, here->taken ? here->number : i};
    }
    rb_free(table);
    return table ? RB_OK : RB_ERROR_MEMORY;
}

/* ---- cutting ---- */

/* Copies a patch, values as stored. */
static void copy_patch(const patches *p, int64_t index, float *sample) {
    const rb_image *image = p->images.list;
    int64_t place = p->places ? p->places[index] : index;
    if (p->each > 0) {
        image += place / p->each;
        place %= p->each;
    }
    while (place >= places_of(image, p->plan.size[0], p->plan.size[1])) {
        place -= places_of(image, p->plan.size[0], p->plan.size[1]);
        image++;
    }
    int64_t across = image->width - p->plan.size[1] + 1;
    int64_t top = place / across, left = place % across;
    int64_t line = p->plan.size[1] * image->channels;
    for (int64_t y = 0; y < p->plan.size[0]; y++) {
        int64_t from = ((top + y) * image->width + left) * image->channels;
        memcpy(sample + y * line, image->values + from, (size_t)line * sizeof *sample);
    }
}

static rb_error fill(void *user, int64_t first, int64_t count, void *rows) {
    const patches *p = user;
    for (int64_t i = 0; i < count; i++) {
        float *sample = (float *)rows + i * p->n_features;
        copy_patch(p, first + i, sample);
        for (int64_t d = 0; p->plan.scaled && d < p->n_features; d++) {
            double share = ((double)sample[d] - p->min) / p->span;
            /* so that the ends of the range are met exactly */
            sample[d] = (float)(p->plan.low * (1 - share) + p->plan.high * share);
        }
    }
    return RB_OK;
}

static rb_error find_range(rb_context *ctx, patches *p) {
    float *sample = rb_alloc(ctx, p->n_features, sizeof *sample);
    if (!sample) return RB_ERROR_MEMORY;
    double min = INFINITY, max = -INFINITY;
    for (int64_t i = 0; i < p->plan.count; i++) {
        copy_patch(p, i, sample);
        for (int64_t d = 0; d < p->n_features; d++) {
            min = fmin(min, (double)sample[d]);
            max = fmax(max, (double)sample[d]);
        }
    }
    rb_free(sample);
    if (min == max) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "all values of the patches are %g; they cannot be scaled to %g .. %g", min,
                       p->plan.low, p->plan.high);
    }
    p->min = min;
    p->span = max - min;
    rb_log(ctx, RB_LOG_INFO, "patches scaled from %g .. %g to %g .. %g", min, max, p->plan.low,
           p->plan.high);
    return RB_OK;
}

static bool same_sizes(const rb_images *images) {
    for (int64_t i = 1; i < images->count; i++)
        if (images->list[i].height != images->list->height ||
            images->list[i].width != images->list->width)
            return false;
    return true;
}

static void release(void *user) {
    patches *p = user;
    rb_images_clear(&p->images);
    rb_free(p->places);
    rb_free(p);
}

rb_error rb_patches_cut(rb_context *ctx, const rb_patches_plan *plan, rb_images *images,
                        rb_source **source) {
    *source = NULL;
    patches *p = rb_alloc_zero(ctx, 1, sizeof *p);
    if (!p) {
        rb_images_clear(images);
        return RB_ERROR_MEMORY;
    }
    *p = (patches){.plan = *plan, .images = *images};
    *images = (rb_images){0};
    p->n_features = plan->size[0] * plan->size[1] * p->images.list[0].channels;
    int64_t n_places = rb_patch_places(&p->images, plan->size[0], plan->size[1]);
    if (same_sizes(&p->images)) p->each = n_places / p->images.count;
    rb_error err = RB_OK;
    if (plan->all) {
        p->plan.count = n_places;
    } else {
        p->places = rb_alloc(ctx, plan->count, sizeof *p->places);
        err = p->places ? choose_places(ctx, plan->seed, n_places, plan->count, p->places)
                        : RB_ERROR_MEMORY;
    }
    if (!err && plan->scaled) err = find_range(ctx, p);
    if (err) {
        release(p);
        return err;
    }
    return rb_source_own_callback(ctx, RB_FLOAT32, p->plan.count, p->n_features, fill, p, release,
                                  source);
}
