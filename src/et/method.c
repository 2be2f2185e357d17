/* The tables of the methods: what the loop, the store and the tool know of them. */
#include "device.h"

#include <rarebit/method.h>

#include <stddef.h>
#include <string.h>

static int64_t units(const void *options) {
    return ((const rb_et_options *)options)->units;
}

/* Bytes of a sample in a block, at most: as if states were kept. */
static double sample_bytes(const rb_problem *problem, const rb_et_options *options) {
    et_setup setup = et_setup_of(problem, options);
    double values = (double)problem->n_features * (double)rb_type_size(problem->type);
    double pairs = et_results_bytes(&setup, ET_KEEP_PAIRS);
    double states = et_results_bytes(&setup, ET_KEEP_STATES);
    return values + 8 + (pairs > states ? pairs : states);
}

/* Blocks of about 16 MB, in whole tasks. */
int64_t et_samples_of(double bytes, int64_t n) {
    const double block = 1 << 24;
    enum { MIN = ET_TASK_SAMPLES, MAX = 1 << 14 };
    double capacity = block / bytes;
    int64_t samples = capacity > MAX ? MAX : (int64_t)capacity / ET_TASK_SAMPLES * ET_TASK_SAMPLES;
    return rb_smaller(samples < MIN ? MIN : samples, n);
}

static int64_t block_samples(const rb_problem *problem, const void *options) {
    return et_samples_of(sample_bytes(problem, options), problem->n_samples);
}

static int64_t memory(const rb_problem *problem, const void *options) {
    et_setup setup = et_setup_of(problem, options);
    if (!et_tree_fits(setup.max_candidates, setup.widest_active, setup.values.count))
        return 0; /* it is not memory that is short: the fit will refuse, and say what to lower */
    rb_shape shape = rb_shape_of(problem, options);
    double h = (double)setup.units, d = (double)setup.n_features;
    double block = (double)problem->block_samples * sample_bytes(problem, options);
    double fields = et_binary(&setup.values) ? 3 : 1 + 4.0 * setup.values.count;
    double engine = 8 * (fields * h * d + h * h) + block; /* at most */
    double bytes = rb_parts_bytes(problem->method->parts, &shape, 0) + engine;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static const char *const start_options[] = {"prior", "value-prior", "init-mean", "init-sd", NULL};

static const rb_engine *const engines[] = {&et_engine_cpu, NULL};

static const rb_array_kind arrays[] = {{"sigma", RB_ARRAY_OF_ALL},
                                       {"values", RB_ARRAY_OF_ALL},
                                       {"prior", RB_ARRAY_ROW_EACH},
                                       {"value_prior", RB_ARRAY_COLUMN_EACH},
                                       {0}};

rb_error et_spreads(rb_context *ctx, const rb_problem *problem, const void *options) {
    return RB_OK;
}

static bool reads(const void *state) {
    const et_fit *f = state;
    return !f->problem.device || !et_device_is_filled(f->engine);
}

/* A device has no codes that an iteration goes on from. */
static rb_error device(rb_context *ctx, void *state, rb_device_codes what) {
    return RB_OK;
}

/* What all methods of this room share. */
#define SHARED                                                                                     \
    .size = sizeof(rb_method), .options_size = sizeof(rb_et_options),                              \
    .start_options = start_options, .centre = RB_CENTRE_NONE, .missing = true, .units = units,     \
    .block_samples = block_samples, .memory = memory, .shape = et_shape, .engines = engines,       \
    .start = et_start, .finish = et_finish, .survey = et_survey_block,                             \
    .survey_end = et_survey_end, .begin = et_begin, .block = et_block, .group_end = et_group_end,  \
    .end = et_end, .last = et_last, .mstep = et_mstep, .objective = et_objective,                  \
    .metric_names = et_metric_names, .metrics = et_metrics, .may_stop = et_may_stop,               \
    .store = et_store, .coder_new = et_coder_new, .coder_free = et_coder_free,                     \
    .encode = et_encode, .decode = et_decode, .rebuild = et_rebuild, .evaluate = et_evaluate,      \
    .metric_rows = et_metric_rows, .draw = et_draw, .emit = et_emit,                               \
    .active_above = et_active_above, .noise = et_noise, .plots = et_plots, .traces = &et_traces,   \
    .valued = et_has_values, .arrays = arrays, .states = et_states, .summary = et_summary,         \
    .samples_used = et_samples_used, .slow = true, .spreads = et_spreads, .reads = reads,          \
    .device = device

const rb_method rb_method_linca = {
    .name = "linca",
    .title = "linear component analysis (expectation truncation)",
    .purpose = "causes that are present or absent and add up",
    .code_name = "X_linca",
    .parts = et_parts_any,
    .advised = RB_ADVISED_BELOW,
    .options = &et_option_rows[ET_FIRST_OF_ALL],
    SHARED,
};

const rb_method rb_method_nmf_et = {
    .name = "nmf-et",
    .title = "non-negative matrix factorisation (expectation truncation)",
    .purpose = "the same with non-negative fields",
    .code_name = "X_nmf_et",
    .parts = et_parts_not_negative,
    .advised = RB_ADVISED_BINARY,
    .advised_why = "the values are 0 and 1: causes that are there or not, and add up",
    .non_negative = true,
    .options = &et_option_rows[ET_FIRST_OF_NMF],
    SHARED,
};

const rb_method rb_method_mca = {
    .name = "mca",
    .title = "maximal causes analysis (expectation truncation)",
    .purpose = "causes that hide each other: edges of images, sounds",
    .code_name = "X_mca",
    .parts = et_parts_positive,
    .non_negative = true,
    .options = &et_option_rows[ET_FIRST_OF_MCA],
    SHARED,
};

rb_error rb_et_method(const rb_et_model *model, rb_method *method) {
    size_t size = method->size;
    bool known = model->size >= offsetof(rb_et_model, like) && model->size <= sizeof *model;
    bool knows_like = known && model->size >= offsetof(rb_et_model, select);
    const rb_method *base = knows_like && model->like ? et_method_like(model->like) : NULL;
    if (!known || (knows_like && model->like && !base)) {
        method->size = 0;
        return RB_ERROR_ARGUMENT;
    }
    rb_method table = {
        .parts = et_parts_any,
        .options = &et_option_rows[ET_FIRST_OF_OWN],
        SHARED,
    };
    if (base) table = *base;
    table.name = model->name;
    table.title = model->title;
    table.purpose = NULL;
    table.code_name = model->code_name;
    table.own = model;
    table.advised = 0;
    memcpy(method, &table, size < sizeof table ? size : sizeof table);
    method->size = size;
    return RB_OK;
}
