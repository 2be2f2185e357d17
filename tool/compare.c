/* rarebit compare: which units of a model another model, or another cohort, has as well. */
#include "tool.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double FOUND = 0.05; /* of q-values: rb_replication_found */

static const rb_option compare_options[] = {
    {OUTPUT_OPTION, "FILE", "write a table of all units: .tsv or .json", RB_OPTION_COMMON},
    {FLAG_OPTION("json"), "print JSON instead of a table", RB_OPTION_COMMON},
    {0},
};

/* Those of the loadings of units that are found again: a p-value says only that one is not 0. */
typedef struct correlations {
    double low, high;
    bool any;
} correlations;

static void note_correlation(correlations *c, double correlation) {
    c->low = c->any ? fmin(c->low, correlation) : correlation;
    c->high = c->any ? fmax(c->high, correlation) : correlation;
    c->any = true;
}

static void tell_correlations(const correlations *c) {
    if (c->any) report("their loadings have correlations of %.2f to %.2f", c->low, c->high);
}

/* Units of the other model that live and are nobody's partner. */
static int64_t count_left(const rb_replication *r, const rb_model *other) {
    int64_t rows = 0, columns = 0, left = 0;
    const double *loadings = rb_model_array(other, "loadings", &rows, &columns);
    for (int64_t u = 0; loadings && u < columns; u++) {
        bool lives = false, paired = false;
        for (int64_t k = 0; k < rows; k++)
            lives = lives || loadings[k * columns + u] != 0;
        for (int64_t j = 0; j < r->n_units; j++)
            paired = paired || r->units[j].partner == u;
        left += lives && !paired;
    }
    return left;
}

static int tell_models(invocation *call, const rb_replication *r, const rb_model *other) {
    table_answer answer = {
        .table = rb_replication_table(r),
        .key = "units",
        .head = json_pack("{sI sI sI sI sb sb sb}", "units_first", (json_int_t)r->n_units,
                          "units_second", (json_int_t)r->n_others, "features",
                          (json_int_t)r->n_features, "permutations", (json_int_t)r->permutations,
                          "by_name", r->by_name, "without_signs", r->no_signs, "same_data",
                          r->same_data),
        .noun = "units"};
    report("%lld features in common%s", (long long)r->n_features,
           r->no_signs ? "; correlations are compared without signs" : "");
    int status = table_deliver(call, &answer, NULL);
    correlations found = {0};
    int64_t living = 0;
    for (int64_t j = 0; j < r->n_units; j++) {
        living += r->units[j].best >= 0;
        if (r->units[j].q_value <= FOUND && r->units[j].partner == r->units[j].best)
            note_correlation(&found, r->no_signs ? fabs(r->units[j].partner_correlation)
                                                 : r->units[j].partner_correlation);
    }
    report("%lld of %lld living units are found in the other model (q-value at most 0.05, and the "
           "most similar unit is the partner)%s",
           (long long)rb_replication_found(r), (long long)living,
           r->same_data
               ? ": both models are of the same samples, all or most of them, so that this "
                 "is no replication; "
                 "units of noise come back as well"
               : "");
    tell_correlations(&found);
    int64_t left = count_left(r, other);
    if (left)
        report("%lld living unit%s of the other model without a partner", (long long)left,
               left == 1 ? "" : "s");
    return status;
}

static int refuse_data(const invocation *call) {
    const char *format = NULL, *path = call->arguments[1];
    if (rb_format_of(call->ctx, path, &format) || strcmp(format, "hdf5") == 0) return STATUS_DONE;
    return report_error(
        "'%s' is data (%s): give a second cohort as well, or a second model instead", path, format);
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
    status = err ? report_failure(call->ctx, err) : tell_models(call, &replication, second);
    rb_replication_clear(&replication);
    rb_model_free(second);
    rb_model_free(first);
    return status;
}

static int tell_cohorts(invocation *call, const rb_cohorts *r) {
    table_answer answer = {
        .table = rb_cohorts_table(r),
        .key = "units",
        .head = json_pack("{sI sI sI}", "samples_a", (json_int_t)r->n_samples[0], "samples_b",
                          (json_int_t)r->n_samples[1], "permutations", (json_int_t)r->permutations),
        .noun = "units",
        .shown = "unit active_a explained_a correlation_a p_value_a q_value_a active_b "
                 "explained_b correlation_b p_value_b q_value_b correlation"};
    int status = table_deliver(call, &answer, NULL);
    correlations found = {0};
    int64_t living = 0;
    for (int64_t j = 0; j < r->n_units; j++) {
        const rb_cohort_unit *a = &r->units[j].in[0], *b = &r->units[j].in[1];
        living += !isnan(a->p_value) || !isnan(b->p_value);
        if (a->q_value <= FOUND && b->q_value <= FOUND && !isnan(r->units[j].correlation))
            note_correlation(&found, r->units[j].correlation);
    }
    report("%lld of %lld living units explain more than independent features in both (q-value at "
           "most 0.05); 'rarebit modules --permutations N --null encode' on a cohort also tests "
           "them against correlated features",
           (long long)rb_cohorts_found(r), (long long)living);
    tell_correlations(&found);
    return status;
}

/* Opens a cohort; three files are a model and two of them. */
static rb_error open_cohort(const invocation *call, const rb_model *model, const char *path,
                            rb_source **source) {
    rb_error err = open_data(call, model, path, source);
    if (!err) return read_covariates(call, rb_model_attribute(model, "regress"), *source);
    char message[1024];
    snprintf(message, sizeof message, "%s", rb_context_error(call->ctx));
    if (option_was_given(call, "dataset") || !is_model(call->ctx, path))
        return rb_context_fail(call->ctx, err, message);
    return fail(call->ctx, RB_ERROR_ARGUMENT,
                "'%.300s' is a model, not data: two models are compared without data, one model "
                "with two cohorts; give MODEL MODEL, or MODEL DATA DATA",
                path);
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

static int run(invocation *call) {
    return call->arguments[2] ? compare_cohorts(call) : compare_models(call);
}

const command compare_command = {
    .words = "compare",
    .summary = "match units of two models, or replicate them in other data",
    .description =
        "With two models: the correlations of their loadings over the features that both have, the "
        "partner of each unit in an optimal assignment, and the chance of as good a partner with "
        "permuted features. With a model and two data sets: how many samples of each activate a "
        "unit, what it explains there, and the chance of as much in data whose features are "
        "permuted.",
    .arguments = {MODEL_ARGUMENT,
                  {"OTHER", "a second model; or the data of the first cohort", false},
                  {"COHORT", "the data of the second cohort", true}},
    .own = {sizeof(rb_option), "Output", compare_options},
    .own_after = 1,
    .groups = {rb_replication_group, coding_group, covariates_group, rb_read_group, general_group},
    .examples = {{"Are the modules of one study those of another?",
                  "compare study1.h5 study2.h5 -o replicated.tsv"},
                 {"Do the modules of the training cohort live in the other?",
                  "compare model.h5 train.tsv test.tsv --permutations 200"}},
    .reads = "covariates",
    .check_output = table_check,
    .run = run,
};
