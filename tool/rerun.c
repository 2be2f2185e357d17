/* rarebit rerun: fits again what a model says, and tells whether the bits agree. */
#include "tool.h"

#include <rarebit/method.h>
#include <rarebit/rerun.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option rerun_options[] = {
    {OUTPUT_OPTION, "MODEL", "keep the new model (HDF5)", RB_OPTION_COMMON},
    {TEXT_OPTION("init"), "MODEL",
     "the model that the fit was started from, when it is not where it was"},
    {FLAG_OPTION("json"), "print JSON instead of a table"},
    {0},
};

/* ---- what the fit was made of ---- */

typedef struct repeating {
    rb_model *model, *start, *again;
    rb_options *options;
    rb_source *source;
    fit_files files;
    fit_record record;
} repeating;

/* The data are read as they were, but for what is said now. */
static rb_error recall_reading(const invocation *call, const rb_model *model) {
    rb_error err = RB_OK;
    for (const rb_option *row = rb_read_group()->rows; !err && row->name; row++) {
        char name[64];
        snprintf(name, sizeof name, READING_ATTRIBUTE "%s", row->name);
        const char *value = rb_model_attribute(model, name);
        if (value && !option_was_given(call, row->name))
            err = rb_options_set(call->ctx, call->options, row->name, value);
    }
    return err;
}

/* Data that are not where they were may be elsewhere. */
static rb_error open_recorded(const invocation *call, repeating *r) {
    rb_error err = open_data(call, r->model, r->record.data, &r->source);
    if (err != RB_ERROR_FILE || call->arguments[1]) return err;
    return fail(call->ctx, err,
                "%s; the model says that its data were there: if they are elsewhere now, name them "
                "after the model",
                rb_context_error(call->ctx));
}

/* Which options each layer had, or what labels a net had, one table of options does not say. */
static rb_error refuse_layers(const invocation *call, const rb_model *model) {
    if (rb_model_table(model)->mstep) return RB_OK; /* fitted in one piece */
    return fail(call->ctx, RB_ERROR_UNSUPPORTED,
                "a %s cannot be repeated by rerun; 'rarebit info %.300s' shows its command_line, "
                "which can be given again",
                rb_model_method(model), call->arguments[0]);
}

static rb_error gather(const invocation *call, repeating *r) {
    fit_record *record = &r->record;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &r->model);
    err = err ? err : refuse_layers(call, r->model);
    if (err) return err;
    bool warm = rb_model_attribute(r->model, "start_checksum") &&
                !rb_model_attribute(r->model, "consensus_models");
    record->data = call->arguments[1];
    record->init = option_text(call, "init");
    if (!record->data) record->data = rb_model_attribute(r->model, "data_path");
    if (!record->init) record->init = rb_model_attribute(r->model, "init");
    if (!record->data || (warm && !record->init)) {
        return fail(call->ctx, RB_ERROR_ARGUMENT, "the model does not say %s",
                    record->data ? "where the model is that its fit was started from: say --init"
                                 : "where its data were: name them after the model");
    }
    err = record->init ? rb_model_load(call->ctx, record->init, &r->start) : RB_OK;
    err = err ? err : rb_model_options(call->ctx, r->model, &r->options);
    err = err ? err : read_fit_files(call->ctx, r->options, &r->files);
    err = err ? err : recall_reading(call, r->model);
    err = err ? err : open_recorded(call, r);
    return err ? err : read_covariates(call, rb_model_attribute(r->model, "regress"), r->source);
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    (void)user;
    report_progress(progress);
    return RB_OK;
}

static rb_error fit_again(const invocation *call, repeating *r) {
    const char *seed = rb_model_attribute(r->model, "seed");
    if (seed) report("seed %s", seed);
    rb_context_on_progress(call->ctx, on_progress, NULL);
    rb_error err = rb_rerun(call->ctx, r->model, r->options, r->source, r->start, &r->again);
    rb_context_on_progress(call->ctx, NULL, NULL);
    report_progress_end();
    return err;
}

/* ---- what came out ---- */

/* What last digits depend on, where it is not as it was. */
static const struct {
    const char *name, *label, *usual; /* usual: of a model that does not say it */
} surroundings[] = {{"program_version", "the version of rarebit"},
                    {"kernels", "rarebit's kernels"},
                    {"blas", "the BLAS"},
                    {"blas_kernels", "the kernels of the BLAS"},
                    {"device", "the device", "none"},
                    {"processes", "the number of processes", "1"},
                    {"data_type", "the type of the data"}};
enum { SURROUNDINGS = sizeof surroundings / sizeof *surroundings };

/* Is it other than it was? Models of earlier versions say little. */
static bool is_other(const repeating *r, int i, const char **before, const char **now) {
    *before = rb_model_attribute(r->model, surroundings[i].name);
    *now = rb_model_attribute(r->again, surroundings[i].name);
    if (!*before) *before = surroundings[i].usual;
    if (!*now) *now = surroundings[i].usual;
    return *before && *now && strcmp(*before, *now) != 0;
}

static int64_t count_different(const repeating *r) {
    rb_model_difference d = {.size = sizeof d};
    int64_t count = 0;
    for (int64_t i = 0; rb_model_compare(r->model, r->again, i, &d); i++)
        count += !d.same;
    return count;
}

static rb_error print_json(rb_context *ctx, const repeating *r, bool same) {
    json_t *rows = json_array(), *others = json_object();
    rb_model_difference d = {.size = sizeof d};
    const char *before, *now;
    for (int64_t i = 0; rb_model_compare(r->model, r->again, i, &d); i++) {
        rb_json_add(&rows, NULL,
                    json_pack("{so ss sb so}", "name", rb_json_text(d.name), "of",
                              d.history ? "history" : "arrays", "same", d.same, "difference",
                              rb_json_number(d.difference)));
    }
    for (int i = 0; i < SURROUNDINGS; i++) {
        if (is_other(r, i, &before, &now)) {
            rb_json_add(&others, surroundings[i].name,
                        json_pack("[oo]", rb_json_text(before), rb_json_text(now)));
        }
    }
    const char *fits = rb_model_attribute(r->again, "consensus_models");
    json_t *models = fits ? json_integer(strtoll(fits, NULL, 10)) : NULL;
    json_t *json = json_pack("{sb sI so* so so}", "same", same, "iterations",
                             (json_int_t)rb_model_iterations(r->again), "consensus_models", models,
                             "compared", rows, "other_surroundings", others);
    return json_put_from(ctx, stdout, json, r->model, r->source);
}

/* A model may come from anybody: nothing in it may write elsewhere on a terminal. */
static void print_change(const char *label, const char *before, const char *now) {
    char *line = NULL;
    if (asprintf(&line, "%s: '%s' then, '%s' now", label, before, now) < 0) return;
    put_plain(line);
    puts(line);
    free(line);
}

/* Of a consensus all fits are made again, and what became of them is compared. */
static void print_extent(const repeating *r) {
    const char *fits = rb_model_attribute(r->again, "consensus_models");
    int64_t iterations = rb_model_iterations(r->again);
    if (fits) printf(" of the consensus of %s fits, which were all fitted again", fits);
    if (!fits || iterations > 0)
        printf(", %lld iterations%s", (long long)iterations, fits ? " of its refit" : "");
    putchar('\n');
}

static void print_table(const repeating *r, bool same) {
    rb_model_difference d = {.size = sizeof d};
    int64_t arrays = 0;
    const char *before, *now;
    for (int64_t i = 0; rb_model_compare(r->model, r->again, i, &d); i++)
        arrays += !d.history;
    printf("%s: %lld arrays", same ? "the same bits" : "not the same bits", (long long)arrays);
    print_extent(r);
    if (!same) printf("%-24s %s\n", "differs", "by, relative to its largest value");
    for (int64_t i = 0; rb_model_compare(r->model, r->again, i, &d); i++) {
        if (d.same) continue;
        char name[128], difference[32];
        snprintf(name, sizeof name, "%s%s", d.history ? "history/" : "", d.name);
        snprintf(difference, sizeof difference, "%.2g", d.difference);
        printf("%-24s %s\n", name, isinf(d.difference) ? "other shape or values" : difference);
    }
    for (int i = 0; i < SURROUNDINGS; i++)
        if (is_other(r, i, &before, &now)) print_change(surroundings[i].label, before, now);
}

static int deliver(const invocation *call, const repeating *r) {
    const char *target = option_text(call, "output");
    bool same = count_different(r) == 0;
    if (target) {
        output out;
        int status = output_begin(&out, target, "h5");
        if (status) return status;
        rb_error err = save_fit(call, r->again, &r->record, out.path);
        status = finish_output(call, &out, err);
        if (status) return status;
    }
    if (!option_flag(call, "json")) {
        print_table(r, same);
    } else {
        rb_error err = print_json(call->ctx, r, same);
        if (err) return report_failure(call->ctx, err);
    }
    return same ? STATUS_DONE : STATUS_FAILED;
}

static int run(invocation *call) {
    repeating r = {0};
    rb_error err = gather(call, &r);
    err = err ? err : fit_again(call, &r);
    int status = err ? report_failure(call->ctx, err) : deliver(call, &r);
    free_fit_files(&r.files);
    rb_source_free(r.source);
    rb_options_free(r.options);
    rb_model_free(r.start);
    rb_model_free(r.again);
    rb_model_free(r.model);
    return status;
}

const command rerun_command = {
    .words = "rerun",
    .summary = "refit from the recorded options and compare bit by bit",
    .description =
        "All options come from the model, and so do the data, unless they are named here: the "
        "checksum tells whether they are those of the fit. Exit status 0 means the same bits in "
        "all arrays and in the history; otherwise it is said what differs and by how much, and "
        "whether version, processor or BLAS are others.",
    .arguments = {MODEL_ARGUMENT,
                  {"DATA", "the data of the fit, when they are not where they were", true}},
    .own = {sizeof(rb_option), "Output", rerun_options},
    .own_after = 2,
    .groups = {rb_read_group, covariates_group, general_group},
    .examples = {{"Does the model come out again?", "rerun model.h5"},
                 {"With the data in another place, for a program",
                  "rerun model.h5 data/X.npy --json"}},
    .reads = "init",
    .fixed = {"output", "a model is written as HDF5", ".h5"},
    .run = run,
};
