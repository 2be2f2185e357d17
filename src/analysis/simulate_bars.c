/* The bars test for the public: options to plan. */
#include "analysis/options.h"
#include "data/data.h"

#include <rarebit/simulate.h>

#include <float.h>
#include <stddef.h>

enum { LARGEST_SIZE = 4096 };

static const rb_option table[] = {
    {"style", 0, RB_OPTION_CHOICE, offsetof(rb_bars_options, style), "linear", 0, 0,
     "linear|max|signed", "NAME",
     "where bars cross: their sum, or the largest value; signed: the sum, every second bar "
     "negative"},
    {"size", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, size), "5", 1, LARGEST_SIZE, NULL,
     "PIXELS", "height and width of the pictures"},
    {"width", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, width), "1", 1, LARGEST_SIZE, NULL,
     "PIXELS", "width of a bar; from 2 on, neighbouring bars overlap"},
    {"bars", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, bars), "0", 0, 2 * LARGEST_SIZE, NULL,
     "N", "number of bars, to be sure: 2 (size - width + 1), or 0 for whatever that is"},
    {"value", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, value), "10", DBL_MIN, DBL_MAX, NULL,
     "VALUE", "pixels of a bar; the others are 0"},
    {"probability", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, probability), "0.2", 0, 1, NULL,
     "P", "how likely each bar is in a sample"},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, noise), "2", 0, DBL_MAX, NULL, "SD",
     "standard deviation of the noise of each pixel"},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, samples), "500", 1, INT32_MAX, NULL,
     "N", "number of samples"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random numbers"},
    {0},
};

const rb_option_group *rb_bars_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Bars", table, sizeof(rb_bars_options),
                                          NULL};
    return &group;
}

static rb_error make_plan(rb_context *ctx, const rb_bars_options *options, rb_bars_plan *plan) {
    if (options->width > options->size) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "width is %lld, but must be at most the size of the picture, %lld",
                       (long long)options->width, (long long)options->size);
    }
    int64_t bars = rb_bars_count(options->size, options->width);
    if (options->bars && options->bars != bars) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "bars is %lld, but a picture of %lld x %lld pixels has %lld bars of width "
                       "%lld: 2 (size - width + 1)",
                       (long long)options->bars, (long long)options->size, (long long)options->size,
                       (long long)bars, (long long)options->width);
    }
    *plan = (rb_bars_plan){
        .size = options->size,
        .width = options->width,
        .value = options->value,
        .maximum = options->style == RB_BARS_MAX,
        .signs = options->style == RB_BARS_SIGNED,
        .probability = options->probability,
        .noise_sd = options->noise,
        .n_samples = options->samples,
        .seed = (uint64_t)options->seed,
    };
    return RB_OK;
}

/* Hands a matrix over, or frees it when nobody wants it. */
static void give(rb_matrix *matrix, rb_matrix **to) {
    if (to) {
        *to = matrix;
    } else {
        rb_matrix_free(matrix);
    }
}

rb_error rb_simulate_bars(rb_context *ctx, const rb_options *given, rb_matrix **matrix,
                          rb_matrix **fields, rb_matrix **states) {
    rb_bars_options options;
    rb_bars_plan plan;
    rb_matrix *samples = NULL, *bars = NULL, *present = NULL;
    rb_error err = rb_options_take(ctx, given, rb_bars_group(), &options);
    err = err ? err : make_plan(ctx, &options, &plan);
    if (!err) {
        err = rb_generate_bars(ctx, &plan, &samples, &bars, &present);
    }
    give(samples, matrix);
    give(bars, fields);
    give(present, states);
    return err;
}
