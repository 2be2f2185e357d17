/* rarebit compare: which units of a model another model, or another cohort, has as well. */
#include "tool.h"

#include <stddef.h>
#include <string.h>

typedef struct compare_options {
    const char *output;
    bool json;
} compare_options;

static const rb_option_group *compare_group(void) {
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(compare_options, output), NULL, 0, 0, NULL, "FILE",
         "write a table of all units: .tsv or .json", RB_OPTION_COMMON},
        {"json", 0, RB_OPTION_FLAG, offsetof(compare_options, json), "false", 0, 0, NULL, NULL,
         "print JSON instead of a table", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(compare_options), NULL};
    return &group;
}

/* ---- forms of a table of units ---- */

/* What is told of them all; owned by deliver. keys: the columns at the terminal; NULL: all. */
typedef struct comparison {
    rb_table table;
    json_t *head;
    const char *keys;
} comparison;

static int write_file(invocation *call, const result_table *rows, const char *target) {
    output out = {0};
    rb_error err = has_suffix(target, ".json") ? name_origin(call, NULL, NULL) : RB_OK;
    int status = err ? report_failure(call->ctx, err) : table_begin(call, &out, target, rows);
    status = status ? status : output_end(&out, STATUS_DONE);
    if (!status) report("%lld units in %s", (long long)rows->rows, output_shown(target));
    return status;
}

static int deliver(invocation *call, comparison *c) {
    const char *target = option_text(call, "output");
    const table_view all = view_table(c->table, NULL, NULL),
                     shown = view_table(c->table, NULL, c->keys);
    result_table rows = view_rows(&all);
    rows.key = c->table.key;
    rows.head = c->head;
    if (!c->head)
        return report_failure(call->ctx,
                              rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory"));
    int status = target ? write_file(call, &rows, target) : STATUS_DONE;
    if (!status && option_flag(call, "json")) {
        json_t *json = json_incref(c->head);
        json_add(&json, c->table.key, table_json(&rows));
        rb_error err = json_put_from(call->ctx, stdout, json, NULL, NULL);
        status = err ? report_failure(call->ctx, err) : STATUS_DONE;
    } else if (!status && !target) {
        view_print(&shown, NULL, rows.rows);
    }
    json_decref(c->head);
    return status;
}

/* ---- two models ---- */

static int tell_models(invocation *call, const rb_replication *r) {
    comparison c = {.table = rb_replication_table(r),
                    .head =
                        json_pack("{sI sI sI sI sb sb sb}", "units_first", (json_int_t)r->n_units,
                                  "units_second", (json_int_t)r->n_others, "features",
                                  (json_int_t)r->n_features, "permutations",
                                  (json_int_t)r->permutations, "by_name", r->by_name,
                                  "without_signs", r->no_signs, "same_data", r->same_data)};
    report("%lld features in common%s", (long long)r->n_features,
           r->no_signs ? "; correlations are compared without signs" : "");
    int status = deliver(call, &c);
    report("%lld of %lld units are found in the other model (q-value at most 0.05, and the most "
           "similar unit is the partner)%s",
           (long long)rb_replication_found(r), (long long)r->n_units,
           r->same_data ? ": both models are of the same data, so that this is no replication; "
                          "units of noise come back as well"
                        : "");
    return status;
}

static int refuse_data(const invocation *call) {
    const char *format = NULL, *path = call->arguments[1];
    if (rb_format_of(call->ctx, path, &format) || strcmp(format, "hdf5") == 0) return STATUS_DONE;
    report_error("'%s' is data (%s): give a second cohort as well, or a second model instead", path,
                 format);
    return STATUS_FAILED;
}

static int compare_models(invocation *call) {
    rb_replication replication = {.size = sizeof replication};
    rb_model *first = NULL, *second = NULL;
    int status = refuse_data(call);
    if (!status)
        status = refuse_options(call, data_groups, "does nothing with two models; leave it out");
    if (status) return status;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &first);
    err = err ? err : rb_model_load(call->ctx, call->arguments[1], &second);
    err = err ? err : rb_compare_models(call->ctx, first, second, call->options, &replication);
    status = err ? report_failure(call->ctx, err) : tell_models(call, &replication);
    rb_replication_clear(&replication);
    rb_model_free(second);
    rb_model_free(first);
    return status;
}

/* ---- two cohorts ---- */

static int tell_cohorts(invocation *call, const rb_cohorts *r) {
    comparison c = {.table = rb_cohorts_table(r),
                    .head = json_pack("{sI sI sI}", "samples_a", (json_int_t)r->n_samples[0],
                                      "samples_b", (json_int_t)r->n_samples[1], "permutations",
                                      (json_int_t)r->permutations),
                    .keys = "unit active_a explained_a correlation_a p_value_a q_value_a active_b "
                            "explained_b correlation_b p_value_b q_value_b correlation"};
    int status = deliver(call, &c);
    report("%lld of %lld units explain more than independent features in both (q-value at most "
           "0.05); 'rarebit modules --permutations N --null encode' on a cohort also tests them "
           "against correlated features",
           (long long)rb_cohorts_found(r), (long long)r->n_units);
    return status;
}

/* Opens a cohort; three files are a model and two of them. */
static rb_error open_cohort(const invocation *call, const rb_model *model, const char *path,
                            rb_source **source) {
    rb_error err = open_data(call, model, path, source);
    if (!err) return read_covariates(call, rb_model_attribute(model, "regress"), *source);
    char message[1024], text[1024];
    snprintf(message, sizeof message, "%s", rb_context_error(call->ctx));
    if (option_was_given(call, "dataset") || !is_model(call->ctx, path))
        return rb_context_fail(call->ctx, err, message);
    snprintf(text, sizeof text,
             "'%.300s' is a model, not data: two models are compared without data, one model with "
             "two cohorts; give MODEL MODEL, or MODEL DATA DATA",
             path);
    return rb_context_fail(call->ctx, RB_ERROR_ARGUMENT, text);
}

static int compare_cohorts(invocation *call) {
    rb_cohorts cohorts = {.size = sizeof cohorts};
    rb_model *model = NULL;
    rb_source *sources[2] = {NULL, NULL};
    rb_error err = load_model(call, &model);
    for (int i = 0; !err && i < 2; i++)
        err = open_cohort(call, model, call->arguments[i + 1], &sources[i]);
    err =
        err ? err
            : rb_compare_cohorts(call->ctx, model, sources[0], sources[1], call->options, &cohorts);
    int status = err ? report_failure(call->ctx, err) : tell_cohorts(call, &cohorts);
    rb_cohorts_clear(&cohorts);
    rb_source_free(sources[1]);
    rb_source_free(sources[0]);
    rb_model_free(model);
    return status;
}

static rb_error check_output(rb_context *ctx, const char *path) {
    if (has_suffix(path, ".tsv") || has_suffix(path, ".json")) return RB_OK;
    char text[512];
    snprintf(text, sizeof text, "cannot write '%.300s': its suffix must be .tsv or .json", path);
    return rb_context_fail(ctx, RB_ERROR_ARGUMENT, text);
}

static int run(invocation *call) {
    return call->arguments[2] ? compare_cohorts(call) : compare_models(call);
}

const command compare_command = {
    .words = "compare",
    .heading = "Use a model",
    .summary = "match units of two models, or replicate them in other data",
    .description =
        "With two models: the correlations of their loadings over the features that both have, the "
        "partner of each unit in an optimal assignment, and the chance of as good a partner with "
        "permuted features. With a model and two data sets: how many samples of each activate a "
        "unit, what it explains there, and the chance of as much in data whose features are "
        "permuted.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"OTHER", "a second model; or the data of the first cohort", false},
                  {"COHORT", "the data of the second cohort", true}},
    .groups = {rb_replication_group, compare_group, coding_group, covariates_group, rb_read_group,
               general_group},
    .examples = {{"Are the modules of one study those of another?",
                  "compare study1.h5 study2.h5 -o replicated.tsv"},
                 {"Do the modules of the training cohort live in the other?",
                  "compare model.h5 train.tsv test.tsv --permutations 200"}},
    .reads = "covariates",
    .check_output = check_output,
    .run = run,
};
