/* Pictures for the public: options and what is given to a plan, and what cannot be. */
#include "simulate.h"

#include <rarebit/simulate.h>

#include <math.h>
#include <stddef.h>

typedef struct pictures_options {
    int kind, values;
    int64_t samples, first, seed;
    double least_sd;
} pictures_options;

static const rb_option table[] = {
    {"kind", 0, RB_OPTION_CHOICE, offsetof(pictures_options, kind), "rectangles", 0, 0,
     "rectangles|rectangles-image|convex|mnist-basic|mnist-rand|mnist-img|mnist-rot", "NAME",
     "what is in the pictures"},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(pictures_options, samples), "1000", 1, INT32_MAX,
     NULL, "N", "number of pictures", RB_OPTION_COMMON},
    {"first", 0, RB_OPTION_INTEGER, offsetof(pictures_options, first), "0", 0, INT32_MAX, NULL, "N",
     "begin with the picture that has this number, from 0: for a test set that goes on behind a "
     "training set of the same seed"},
    {"values", 0, RB_OPTION_CHOICE, offsetof(pictures_options, values), "unit", 0, 0, "unit|bytes",
     "HOW", "grey levels from 0 to 1, or whole numbers from 0 to 255"},
    {"least-sd", 0, RB_OPTION_NUMBER, offsetof(pictures_options, least_sd), "10", 0, 255, NULL,
     "LEVELS", "patches of images vary by at least this standard deviation, of 0 to 255"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(pictures_options, seed), "1", 0, 9e15, NULL, "N",
     "seed of the random numbers", RB_OPTION_COMMON},
    {0},
};

const rb_option_group *rb_pictures_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Pictures", table,
                                          sizeof(pictures_options), NULL};
    return &group;
}

static bool has_digits(int kind) {
    return kind >= RB_PICTURES_BASIC;
}

static bool has_images(int kind) {
    return kind == RB_PICTURES_RECTANGLES_IMAGE || kind == RB_PICTURES_IMG;
}

/* ---- what is given ---- */

static rb_error check_levels(rb_context *ctx, const rb_matrix *m, const char *what) {
    double largest = 0;
    for (int64_t i = 0; i < m->n_samples; i++) {
        for (int64_t k = 0; k < m->n_features; k++) {
            double level = rb_matrix_at(m, i, k);
            if (!(level >= 0 && level <= 255)) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "%s have the value %g in row %lld, column %lld, but must be grey "
                               "levels from 0 to 255",
                               what, level, (long long)i + 1, (long long)k + 1);
            }
            largest = fmax(largest, level);
        }
    }
    return largest > 1
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_DATA,
                         "%s have no value above 1, but must be grey levels from 0 to 255", what);
}

static rb_error check_labels(rb_context *ctx, const rb_pictures_input *in) {
    const rb_matrix *labels = in->digit_labels;
    if (labels->n_samples != in->digits->n_samples || labels->n_features != 1) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "there are %lld digits, but labels of %lld x %lld: one for each is needed",
                       (long long)in->digits->n_samples, (long long)labels->n_samples,
                       (long long)labels->n_features);
    }
    for (int64_t i = 0; i < labels->n_samples; i++) {
        double label = rb_matrix_at(labels, i, 0);
        if (!(label >= 0 && label <= 1e6 && label == floor(label))) {
            return rb_fail(ctx, RB_ERROR_DATA, "the label of digit %lld is %g, no whole number",
                           (long long)i + 1, label);
        }
    }
    return RB_OK;
}

static rb_error check_digits(rb_context *ctx, const pictures_options *o,
                             const rb_pictures_input *in, int64_t *side) {
    if (!in->digits || !in->digit_labels)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "there are no digits, or no labels of them");
    int64_t n = in->digits->n_samples, pixels = in->digits->n_features;
    *side = (int64_t)lround(sqrt((double)pixels));
    if (*side * *side != pixels || *side < 1 || *side > RB_PICTURE_SIDE_MAX) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "digits have %lld pixels, but must be square, of at most %d x %d",
                       (long long)pixels, RB_PICTURE_SIDE_MAX, RB_PICTURE_SIDE_MAX);
    }
    if (o->first + o->samples > n) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "there are %lld digits, too few for pictures %lld to %lld: no digit is "
                       "taken twice",
                       (long long)n, (long long)o->first, (long long)(o->first + o->samples - 1));
    }
    rb_error err = check_levels(ctx, in->digits, "the digits");
    return err ? err : check_labels(ctx, in);
}

static rb_error check_images(rb_context *ctx, const rb_pictures_input *in, int64_t side) {
    if (in->n_images < 1)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no image for the background");
    for (int64_t i = 0; i < in->n_images; i++) {
        const rb_matrix *image = in->images[i];
        if (image->n_samples < side || image->n_features < side) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "image %lld is %lld x %lld, smaller than a picture of %lld x %lld",
                           (long long)i + 1, (long long)image->n_samples,
                           (long long)image->n_features, (long long)side, (long long)side);
        }
        rb_error err = check_levels(ctx, image, "the images");
        if (err) return err;
    }
    return RB_OK;
}

/* ---- the call ---- */

/* All digits in a random order. */
static rb_error draw_order(rb_context *ctx, const pictures_options *o, int64_t n, int64_t **order) {
    rb_draws draws = {{(uint64_t)o->seed, RB_RANDOM_PICTURES, 1}, 0};
    *order = rb_alloc(ctx, n, sizeof **order);
    for (int64_t i = 0; *order && i < n; i++)
        (*order)[i] = i;
    for (int64_t i = n - 1; *order && i > 0; i--) {
        int64_t other = rb_draw_integer(&draws, 0, i), kept = (*order)[i];
        (*order)[i] = (*order)[other];
        (*order)[other] = kept;
    }
    return *order ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_simulate_pictures(rb_context *ctx, const rb_options *given, const rb_pictures_input *in,
                              rb_matrix **matrix, rb_matrix **labels) {
    const rb_pictures_input nothing = {.size = sizeof nothing};
    pictures_options o;
    int64_t side = 28, *order = NULL;
    *matrix = *labels = NULL;
    in = in ? in : &nothing;
    rb_error err = rb_size_check(ctx, "the input", in->size, sizeof *in);
    err = err ? err : rb_options_take(ctx, given, rb_pictures_group(), &o);
    if (err) return err;
    if (has_digits(o.kind)) err = check_digits(ctx, &o, in, &side);
    if (!err && has_images(o.kind)) err = check_images(ctx, in, side);
    if (!err && has_digits(o.kind)) err = draw_order(ctx, &o, in->digits->n_samples, &order);
    const rb_pictures_plan plan = {.kind = (rb_pictures_kind)o.kind,
                                   .n_samples = o.samples,
                                   .first = o.first,
                                   .seed = (uint64_t)o.seed,
                                   .bytes = o.values == 1,
                                   .least_sd = o.least_sd,
                                   .digits = in->digits,
                                   .digit_labels = in->digit_labels,
                                   .order = order,
                                   .images = in->images,
                                   .n_images = in->n_images};
    err = err ? err : rb_generate_pictures(ctx, &plan, side, matrix, labels);
    rb_free(order);
    return err;
}
