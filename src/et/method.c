/* The tables of the methods: what the loop, the store and the tool know of them. */
#include "fit.h"

#include <rarebit/method.h>

static int64_t units(const void *options) {
    return ((const rb_et_options *)options)->units;
}

static et_setup setup_of(const rb_problem *problem, const rb_et_options *options) {
    et_setup setup = {
        .n_features = problem->n_features, .units = options->units, .type = problem->type};
    et_limits(options, &setup.candidates, &setup.max_active);
    et_widths(options, &setup);
    return setup;
}

/* Bytes of a sample in a block, at most: as if states were kept. */
static double sample_bytes(const rb_problem *problem, const rb_et_options *options) {
    et_setup setup = setup_of(problem, options);
    double values = (double)problem->n_features * (double)rb_type_size(problem->type);
    double pairs = et_results_bytes(&setup, ET_KEEP_PAIRS);
    double states = et_results_bytes(&setup, ET_KEEP_STATES);
    return values + 8 + (pairs > states ? pairs : states);
}

/* Blocks of about 16 MB, in whole tasks. */
static int64_t block_samples(const rb_problem *problem, const void *options) {
    const double bytes = 1 << 24;
    enum { LEAST = ET_TASK_SAMPLES, MOST = 1 << 14 };
    double room = bytes / sample_bytes(problem, options);
    int64_t samples = room > MOST ? MOST : (int64_t)room / ET_TASK_SAMPLES * ET_TASK_SAMPLES;
    samples = samples < LEAST ? LEAST : samples;
    return samples < problem->n_samples ? samples : problem->n_samples;
}

static int64_t memory(const rb_problem *problem, const void *options) {
    double h = (double)units(options), d = (double)problem->n_features;
    et_setup setup = setup_of(problem, options);
    if (!et_tree_fits(setup.most_candidates, setup.most_active)) {
        return 0; /* it is not memory that is short: the fit will refuse, and say what to lower */
    }
    double block = (double)problem->block_samples * sample_bytes(problem, options);
    double bytes = 8 * (7 * h * d + 6 * h * h) + block + 16 * (double)problem->n_samples;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *from, void **state) {
    return et_start(ctx, problem, options, from, state);
}

static const char *const start_options[] = {"prior", "init-mean", "init-sd", NULL};

/* What all methods of this room share. */
#define SHARED                                                                                     \
    .options_size = sizeof(rb_et_options), .start_options = start_options,                         \
    .centre = RB_CENTRE_NONE, .missing = true, .units = units, .block_samples = block_samples,     \
    .memory = memory, .start = start, .finish = et_finish, .survey = et_survey_block,              \
    .begin = et_begin, .block = et_block, .end = et_end, .last = et_last, .mstep = et_mstep,       \
    .objective = et_objective, .figure_names = et_figure_names, .figures = et_figures,             \
    .may_stop = et_may_stop, .store = et_store, .keep = et_kept_arrays, .coder_new = et_coder_new, \
    .coder_free = et_coder_free, .encode = et_encode, .decode = et_decode, .rebuild = et_rebuild,  \
    .evaluate = et_evaluate

const rb_method rb_method_linca = {
    .name = "linca",
    .title = "linear component analysis (expectation truncation)",
    .code_name = "X_linca",
    .options = et_option_rows + ET_SHARED_OPTIONS,
    SHARED,
};

const rb_method rb_method_nmf_et = {
    .name = "nmf-et",
    .title = "non-negative matrix factorisation (expectation truncation)",
    .code_name = "X_nmf_et",
    .non_negative = true,
    .options = et_option_rows,
    SHARED,
};

const rb_method rb_method_mca = {
    .name = "mca",
    .title = "maximal causes analysis (expectation truncation)",
    .code_name = "X_mca",
    .non_negative = true,
    .options = et_option_rows + 1,
    SHARED,
};

void rb_et_method(const rb_et_model *model, rb_method *method) {
    *method = (rb_method){
        .name = model->name,
        .title = model->title,
        .code_name = model->code_name,
        .own = model,
        .options = et_option_rows + ET_SHARED_OPTIONS,
        SHARED,
    };
}

const et_model *et_model_of(const rb_method *method, const rb_et_options *options, et_model *room) {
    bool poisson = options->noise == RB_ET_POISSON;
    if (method == &rb_method_linca) {
        return &et_linca;
    }
    if (method == &rb_method_nmf_et) {
        return poisson ? &et_nmf_poisson : &et_nmf;
    }
    if (method == &rb_method_mca) {
        return poisson ? &et_mca_poisson : &et_mca;
    }
    const rb_et_model *own = method->own;
    *room = (et_model){
        .name = own->name,
        .general = own,
        .non_negative = true,
        .least = own->least,
        .most = own->most,
        .empty = own->empty,
        .anneal_prior = own->anneal_prior,
        .end_temperature = own->end_temperature,
        .keep = ET_KEEP_STATES,
        .superpose = own->superpose,
        .user = own->user,
        .energies = et_general_energies,
        .add = et_general_add,
        .mstep = et_mstep_shares,
    };
    return room;
}
