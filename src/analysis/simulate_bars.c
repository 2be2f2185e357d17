/* The bars test for the public: options to plan. */
#include "analysis.h"

#include <rarebit/simulate.h>

#include <float.h>
#include <stddef.h>

enum { LARGEST_SIZE = 4096 };

static const rb_option table[] = {
    {"style", 0, RB_OPTION_CHOICE, offsetof(rb_bars_options, style), "linear", 0, 0,
     "linear|max|signed", "NAME",
     "where bars cross: their sum, or the largest value; signed: the sum, every second bar "
     "negative"},
    {"size", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.size), "5", 1, LARGEST_SIZE, NULL,
     "PIXELS", "height and width of the pictures"},
    {"width", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.width), "1", 1, LARGEST_SIZE,
     NULL, "PIXELS", "width of a bar; from 2 on, neighbouring bars overlap"},
    {"bars", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, bars), "0", 0, 2 * LARGEST_SIZE, NULL,
     "N", "number of bars, to be sure: 2 (size - width + 1), or 0 for whatever that is"},
    {"value", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.value), "10", DBL_MIN, DBL_MAX,
     NULL, "VALUE", "pixels of a bar; the others are 0"},
    {"probability", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.probability), "0.2", 0, 1,
     NULL, "P", "how likely each bar is in a sample"},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.noise_sd), "2", 0, DBL_MAX, NULL,
     "SD", "standard deviation of the noise of each pixel"},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.n_samples), "500", 1,
     INT32_MAX, NULL, "N", "number of samples"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random numbers"},
    {0},
};

const rb_option_group *rb_bars_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Bars", table, sizeof(rb_bars_options),
                                          NULL};
    return &group;
}

static rb_error complete_plan(rb_context *ctx, rb_bars_options *options) {
    rb_bars_plan *plan = &options->plan;
    if (plan->width > plan->size) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "width is %lld, but must be at most the size of the picture, %lld",
                       (long long)plan->width, (long long)plan->size);
    }
    int64_t bars = rb_bars_count(plan->size, plan->width);
    if (options->bars && options->bars != bars) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "bars is %lld, but a picture of %lld x %lld pixels has %lld bars of width "
                       "%lld: 2 (size - width + 1)",
                       (long long)options->bars, (long long)plan->size, (long long)plan->size,
                       (long long)bars, (long long)plan->width);
    }
    plan->maximum = options->style == RB_BARS_MAX;
    plan->signs = options->style == RB_BARS_SIGNED;
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
    rb_matrix *samples = NULL, *bars = NULL, *present = NULL;
    rb_error err = rb_options_take(ctx, given, rb_bars_group(), &options);
    err = err ? err : complete_plan(ctx, &options);
    err = err ? err : rb_generate_bars(ctx, &options.plan, &samples, &bars, &present);
    give(samples, matrix);
    give(bars, fields);
    give(present, states);
    return err;
}
