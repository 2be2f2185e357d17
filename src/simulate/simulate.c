/* Planted data for the public: options to plan, plan to matrices and modules. */
#include "simulate.h"

#include <rarebit/simulate.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- biclusters ---- */

static const rb_option biclusters_table[] = {
    {"generator", 0, RB_OPTION_CHOICE, offsetof(rb_biclusters_options, generator), "rfn", 0, 0,
     "rfn|fabia|constant|shift|scale|plaid", "NAME",
     "generator: the RFN paper's D1-D9, FABIA's, or those of biclustering comparisons"},
    {"dataset", 0, RB_OPTION_TEXT, offsetof(rb_biclusters_options, dataset), "D1", 0, 0, NULL,
     "D1..D9", "rfn: data set; sets the number of large biclusters and the noise",
     .needs = "generator=rfn"},
    {"rest-sd", 0, RB_OPTION_NUMBER, offsetof(rb_biclusters_options, rest_sd), "0.01", 0, DBL_MAX,
     NULL, "SD", "rfn: standard deviation outside of a bicluster: 0.01 (set I) or 0.5 (set II)",
     .needs = "generator=rfn"},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, samples), "0", 0, INT32_MAX,
     NULL, "N", "number of samples; 0: 100 (constant, shift, scale, plaid: 200)"},
    {"features", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, features), "0", 0, INT32_MAX,
     NULL, "M", "number of features; 0: 100 (fabia: 1000; constant, shift, scale, plaid: 500)"},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(rb_biclusters_options, noise), "-1", -1, DBL_MAX, NULL,
     "SD",
     "standard deviation of the noise; below 0: 1, 5 or 10 as the data set has it (fabia: 3; the "
     "others: 1)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, seed), "1", 0, DBL_MAX, NULL,
     "N", "seed of the random numbers"},
    {0},
};

const rb_option_group *rb_biclusters_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Biclusters", biclusters_table,
                                          sizeof(rb_biclusters_options), NULL};
    return &group;
}

static rb_error make_plan(rb_context *ctx, const rb_biclusters_options *options,
                          rb_bicluster_plan *plan) {
    int generator = options->generator;
    bool fabia = generator == RB_GENERATOR_FABIA, pattern = generator >= RB_GENERATOR_PATTERNS;
    int64_t samples = options->samples ? options->samples : pattern ? 200 : 100;
    int64_t features = options->features ? options->features : fabia ? 1000 : pattern ? 500 : 100;
    const char *name = options->dataset ? options->dataset : "";
    if (fabia) {
        *plan = rb_plan_fabia(samples, features);
    } else if (pattern) {
        *plan = rb_plan_pattern((rb_pattern)(generator - RB_GENERATOR_PATTERNS), samples, features);
    } else if (name[0] == 'D' && name[1] >= '1' && name[1] <= '9' && !name[2]) {
        *plan = rb_plan_rfn(name[1] - '0', options->rest_sd, samples, features);
    } else {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`dataset` is '%s', but must be D1, D2, ... or D9",
                       name);
    }
    plan->seed = (uint64_t)options->seed;
    plan->noise_sd = options->noise >= 0 ? options->noise : plan->noise_sd;
    return RB_OK;
}

/* Hands a matrix over; after an error, or where nobody wants it, it is freed. */
static void give(rb_error err, rb_matrix *matrix, rb_matrix **to) {
    if (to) *to = err ? NULL : matrix;
    if (err || !to) rb_matrix_free(matrix);
}

static void give_modules(rb_error err, rb_modules *planted, rb_modules **to) {
    if (to) *to = err ? NULL : planted;
    if (err || !to) rb_modules_free(planted);
}

/* Options may be numbers that are still too large once they are multiplied. */
static rb_error check_finite(rb_context *ctx, const rb_matrix *matrix) {
    for (int64_t i = 0; i < matrix->n_samples; i++) {
        for (int64_t k = 0; k < matrix->n_features; k++) {
            if (isfinite(rb_matrix_at(matrix, i, k))) continue;
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "the value of sample %lld, feature %lld would not be finite: noise or "
                           "sizes are too large",
                           (long long)rb_nth(ctx, i), (long long)rb_nth(ctx, k));
        }
    }
    return RB_OK;
}

rb_error rb_simulate_biclusters(rb_context *ctx, const rb_options *given, rb_matrix **matrix,
                                rb_modules **truth) {
    rb_biclusters_options options;
    rb_bicluster_plan plan;
    rb_matrix *samples = NULL;
    rb_modules *planted = NULL;
    rb_error err = rb_options_take(ctx, given, rb_biclusters_group(), &options);
    err = err ? err : make_plan(ctx, &options, &plan);
    err = err ? err : rb_generate_biclusters(ctx, &plan, &samples, &planted);
    err = err ? err : check_finite(ctx, samples);
    give(err, samples, matrix);
    give_modules(err, planted, truth);
    return err;
}

/* ---- cells ---- */

static const rb_option cells_table[] = {
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_cells_options, samples), "2000", 1, INT32_MAX,
     NULL, "N", "number of cells"},
    {"features", 0, RB_OPTION_INTEGER, offsetof(rb_cells_options, features), "2000", 1, INT32_MAX,
     NULL, "M", "number of genes"},
    {"types", 0, RB_OPTION_TEXT, offsetof(rb_cells_options, types), "0.5,0.3,0.15,0.04,0.01", 0, 0,
     NULL, "SHARES",
     "shares of the cell types, separated by commas; the first type takes the rest"},
    {"counts", 0, RB_OPTION_NUMBER, offsetof(rb_cells_options, counts), "5000", DBL_MIN, 1e9, NULL,
     "N", "mean counts per cell"},
    {"de-probability", 0, RB_OPTION_NUMBER, offsetof(rb_cells_options, probability), "0.1", 0, 1,
     NULL, "P", "probability that a gene differs between a type and the others"},
    {"de-location", 0, RB_OPTION_NUMBER, offsetof(rb_cells_options, location), "0.1", -20, 20, NULL,
     "MEAN", "mean of the log factor by which it differs"},
    {"de-scale", 0, RB_OPTION_NUMBER, offsetof(rb_cells_options, scale), "0.4", 0, 20, NULL, "SD",
     "standard deviation of that log factor"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_cells_options, seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random numbers"},
    {0},
};

const rb_option_group *rb_cells_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Cells", cells_table,
                                          sizeof(rb_cells_options), NULL};
    return &group;
}

/* Reads "0.5,0.4,0.1": the shares of at least one type, which need not add up to 1. */
static bool read_shares(const char *text, rb_cells_plan *plan) {
    const char *end = text ? text + strlen(text) : text;
    while (text && plan->n_types < RB_CELL_TYPES_MAX) {
        double *share = &plan->shares[plan->n_types++];
        text = rb_number_scan(text, end, share);
        if (!text || !(*share > 0 && *share <= 1)) return false;
        if (text == end) return true;
        if (*text++ != ',') return false;
    }
    return false;
}

rb_error rb_simulate_cells(rb_context *ctx, const rb_options *given, rb_matrix **matrix,
                           rb_modules **truth) {
    rb_cells_options o;
    rb_modules *planted = NULL;
    *matrix = NULL;
    rb_error err = rb_options_take(ctx, given, rb_cells_group(), &o);
    if (err) return err;
    rb_cells_plan plan = {.n_samples = o.samples,
                          .n_features = o.features,
                          .counts = o.counts,
                          .probability = o.probability,
                          .location = o.location,
                          .scale = o.scale,
                          .seed = (uint64_t)o.seed};
    if (!read_shares(o.types, &plan))
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`types` is '%s', but must be shares of at most %d types, each above 0 and "
                       "at most 1, separated by commas: 0.5,0.4,0.1",
                       o.types ? o.types : "", RB_CELL_TYPES_MAX);
    err = rb_generate_cells(ctx, &plan, matrix, &planted);
    give_modules(err, planted, truth);
    return err;
}

/* ---- bars ---- */

enum { LARGEST_SIZE = 4096 };

static const rb_option bars_table[] = {
    {"style", 0, RB_OPTION_CHOICE, offsetof(rb_bars_options, style), "linear", 0, 0,
     "linear|max|signed", "NAME",
     "where bars cross: their sum, or the largest value; signed: the sum, every second bar "
     "negative",
     RB_OPTION_COMMON},
    {"size", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.size), "5", 1, LARGEST_SIZE, NULL,
     "PIXELS", "height and width of the images", RB_OPTION_COMMON},
    {"width", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.width), "1", 1, LARGEST_SIZE,
     NULL, "PIXELS", "width of a bar; from 2 on, neighbouring bars overlap"},
    {"bars", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, bars), "0", 0, 2 * LARGEST_SIZE, NULL,
     "N", "number of bars, as a check: 2 (size - width + 1); 0: no check"},
    {"heights", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.heights), "1", 1, 1000, NULL,
     "N", "a bar in a sample has 1, 2, ... or N times --value, equally likely"},
    {"value", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.value), "10", DBL_MIN, DBL_MAX,
     NULL, "VALUE", "pixels of a bar; the others are 0"},
    {"probability", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.probability), "0.2", 0, 1,
     NULL, "P", "probability of each bar in a sample"},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(rb_bars_options, plan.noise_sd), "2", 0, DBL_MAX, NULL,
     "SD", "standard deviation of the noise of each pixel", RB_OPTION_COMMON},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.n_samples), "500", 1,
     INT32_MAX, NULL, "N", "number of samples", RB_OPTION_COMMON},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_bars_options, plan.seed), "1", 0, DBL_MAX, NULL, "N",
     "seed of the random numbers", RB_OPTION_COMMON},
    {0},
};

const rb_option_group *rb_bars_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Bars", bars_table,
                                          sizeof(rb_bars_options), NULL};
    return &group;
}

static rb_error complete_plan(rb_context *ctx, rb_bars_options *options) {
    rb_bars_plan *plan = &options->plan;
    if (plan->width > plan->size) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`width` is %lld, but must be at most the size of the image, %lld",
                       (long long)plan->width, (long long)plan->size);
    }
    int64_t bars = rb_bars_count(plan->size, plan->width);
    if (options->bars && options->bars != bars) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`bars` is %lld, but an image of %lld x %lld pixels has %lld bars of width "
                       "%lld: 2 (size - width + 1)",
                       (long long)options->bars, (long long)plan->size, (long long)plan->size,
                       (long long)bars, (long long)plan->width);
    }
    plan->maximum = options->style == RB_BARS_MAX;
    plan->signs = options->style == RB_BARS_SIGNED;
    return RB_OK;
}

rb_error rb_simulate_bars(rb_context *ctx, const rb_options *given, rb_matrix **matrix,
                          rb_matrix **fields, rb_matrix **states) {
    rb_bars_options options;
    rb_matrix *samples = NULL, *bars = NULL, *present = NULL;
    rb_error err = rb_options_take(ctx, given, rb_bars_group(), &options);
    err = err ? err : complete_plan(ctx, &options);
    err = err ? err : rb_generate_bars(ctx, &options.plan, &samples, &bars, &present);
    err = err ? err : check_finite(ctx, samples);
    give(err, samples, matrix);
    give(err, bars, fields);
    give(err, present, states);
    return err;
}
