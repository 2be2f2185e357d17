/* Planted data for the public: options to plan, plan to matrix and modules. */
#include "analysis.h"

#include <rarebit/simulate.h>

#include <float.h>
#include <stddef.h>

static const rb_option table[] = {
    {"generator", 0, RB_OPTION_CHOICE, offsetof(rb_biclusters_options, generator), "rfn", 0, 0,
     "rfn|fabia", "NAME", "whose data: the RFN paper's D1-D9 or FABIA's"},
    {"dataset", 0, RB_OPTION_TEXT, offsetof(rb_biclusters_options, dataset), "D1", 0, 0, NULL,
     "D1..D9", "rfn: which data set; it fixes how many biclusters are large, and the noise",
     .needs = "generator=rfn"},
    {"rest-sd", 0, RB_OPTION_NUMBER, offsetof(rb_biclusters_options, rest_sd), "0.01", 0, DBL_MAX,
     NULL, "SD", "rfn: standard deviation outside of a bicluster: 0.01 (set I) or 0.5 (set II)",
     .needs = "generator=rfn"},
    {"samples", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, samples), "0", 0, INT32_MAX,
     NULL, "N", "number of samples; 0: 100"},
    {"features", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, features), "0", 0, INT32_MAX,
     NULL, "M", "number of features; 0: 100 (fabia: 1000)"},
    {"noise", 0, RB_OPTION_NUMBER, offsetof(rb_biclusters_options, noise), "-1", -1, DBL_MAX, NULL,
     "SD",
     "standard deviation of the noise; below 0: 1, 5 or 10 as the data set has it (fabia: 3)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_biclusters_options, seed), "1", 0, DBL_MAX, NULL,
     "N", "seed of the random numbers"},
    {0},
};

const rb_option_group *rb_biclusters_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Biclusters", table,
                                          sizeof(rb_biclusters_options), NULL};
    return &group;
}

static rb_error make_plan(rb_context *ctx, const rb_biclusters_options *options,
                          rb_bicluster_plan *plan) {
    bool fabia = options->generator == RB_GENERATOR_FABIA;
    int64_t samples = options->samples ? options->samples : 100;
    int64_t features = options->features ? options->features : fabia ? 1000 : 100;
    const char *name = options->dataset ? options->dataset : "";
    if (fabia) {
        *plan = rb_plan_fabia(samples, features);
    } else if (name[0] == 'D' && name[1] >= '1' && name[1] <= '9' && !name[2]) {
        *plan = rb_plan_rfn(name[1] - '0', options->rest_sd, samples, features);
    } else {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "dataset is '%s', but must be D1, D2, ... or D9",
                       name);
    }
    plan->seed = (uint64_t)options->seed;
    plan->noise_sd = options->noise >= 0 ? options->noise : plan->noise_sd;
    return RB_OK;
}

static rb_error modules_of(rb_context *ctx, const rb_planted *planted, rb_modules **truth) {
    rb_error err = rb_modules_new(ctx, planted->count, truth);
    for (int64_t b = 0; b < planted->count && !err; b++) {
        const rb_bicluster *from = &planted->biclusters[b];
        rb_module *to = &(*truth)->list[b];
        to->unit = b;
        to->n_samples = from->n_samples;
        to->n_features = from->n_features;
        to->samples = rb_members_from_indices(ctx, from->samples, from->n_samples);
        to->features = rb_members_from_indices(ctx, from->features, from->n_features);
        err = to->samples && to->features ? RB_OK : RB_ERROR_MEMORY;
    }
    if (err) {
        rb_modules_free(*truth);
        *truth = NULL;
    }
    return err;
}

rb_error rb_simulate_biclusters(rb_context *ctx, const rb_options *given, rb_matrix **matrix,
                                rb_modules **truth) {
    rb_biclusters_options options;
    rb_bicluster_plan plan;
    rb_planted planted;
    *matrix = NULL;
    if (truth) {
        *truth = NULL;
    }
    rb_error err = rb_options_take(ctx, given, rb_biclusters_group(), &options);
    err = err ? err : make_plan(ctx, &options, &plan);
    err = err ? err : rb_generate_biclusters(ctx, &plan, matrix, &planted);
    if (err) {
        return err;
    }
    err = truth ? modules_of(ctx, &planted, truth) : RB_OK;
    rb_planted_clear(&planted);
    if (err) {
        rb_matrix_free(*matrix);
        *matrix = NULL;
    }
    return err;
}
