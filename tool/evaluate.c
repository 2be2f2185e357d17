/* rarebit evaluate: how well a model explains data. */
#include "labels.h"

#include <rarebit/document.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

static const rb_option figures_options[] = {
    {TEXT_OPTION("truth"), "FILE",
     "true causes, causes x features (simulate bars --truth); counts those that units match",
     RB_OPTION_COMMON},
    {FLAG_OPTION("details"),
     "also show figures for research, such as the KKT residual; --json has them always",
     RB_OPTION_COMMON},
    {0},
};

/* Compares the fields of the units with the truth, if there is one. */
static rb_error match_truth(const invocation *call, const rb_model *model, rb_field_match *match) {
    const char *path = option_text(call, "truth");
    rb_source *truth = NULL;
    *match = (rb_field_match){.mean_absolute_error = NAN};
    rb_error err = path ? rb_open(call->ctx, path, NULL, &truth) : RB_OK;
    if (truth) err = rb_model_match_fields(call->ctx, model, truth, match);
    rb_source_free(truth);
    return err;
}

static const rb_option_group *labels_group(void) {
    static const rb_option table[] = {
        {TEXT_OPTION("labels"), "FILE[:COLUMN]",
         "classes of the samples, for a net: error rate and more", RB_OPTION_COMMON},
        {TEXT_OPTION("targets"), "FILE",
         "values of the samples, for a net with logistic or linear outputs", RB_OPTION_COMMON},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Nets", table};
    return &group;
}

static int evaluate_net(invocation *call, const rb_model *net, rb_source *source) {
    const char *labels = option_text(call, "labels"), *targets = option_text(call, "targets");
    labelled_data data = {0};
    rb_net_scores scores = {.size = sizeof scores};
    rb_error err = labelled_read(call, source, labels, targets, &data);
    err = err ? err : rb_net_score(call->ctx, net, &data.data, &scores);
    if (!err && processes_lead()) err = scores_print(call, net, source, &scores);
    rb_net_scores_clear(&scores);
    labelled_clear(&data);
    return report_failure(call->ctx, err);
}

/* Labels are for nets, and nets need one of both kinds. */
static rb_error check_labels(const invocation *call, const rb_model *model) {
    const char *labels = option_text(call, "labels"), *targets = option_text(call, "targets");
    const char *outputs = rb_net_outputs(model), *problem = NULL;
    bool classes = outputs && strcmp(outputs, "softmax") == 0;
    if (!outputs && (labels || targets))
        problem = "labels and targets are for nets, but the model is not a net; leave them out";
    else if (outputs && !(classes ? labels : targets))
        problem = classes ? "a net is compared with classes; give --labels"
                          : "a net with these outputs is compared with values; give --targets";
    else if (outputs && (classes ? targets : labels))
        problem = "the net takes only one of --labels and --targets; leave the other out";
    else if (outputs && option_text(call, "truth"))
        problem = "truth does nothing for a net; leave it out";
    return problem ? rb_context_fail(call->ctx, RB_ERROR_ARGUMENT, problem) : RB_OK;
}

/* A metric that a method does not have is null in JSON and left out of the table; one without a
 * label is in JSON alone. */
static rb_error print_json(rb_context *ctx, const rb_metrics *metrics, const rb_field_match *match,
                           const rb_model *model, rb_source *source) {
    json_t *json = json_object();
    const rb_metric_row *m;
    for (int64_t i = 0; (m = rb_metric_row_of(ctx, i)); i++)
        rb_json_add(&json, m->name, rb_json_number(rb_metrics_get(metrics, m->name)));
    rb_json_add(&json, "units_of_level", rb_json_number(rb_metrics_get(metrics, "units_of_level")));
    if (match->causes) {
        rb_json_add(&json, "causes", json_integer(match->causes));
        rb_json_add(&json, "causes_found", json_integer(match->causes_found));
        rb_json_add(&json, "mean_absolute_error", rb_json_number(match->mean_absolute_error));
    }
    return json_put_from(ctx, stdout, json, model, source);
}

static void print_table(const rb_context *ctx, const rb_metrics *metrics,
                        const rb_field_match *match, bool details) {
    const rb_metric_row *m;
    for (int64_t i = 0; (m = rb_metric_row_of(ctx, i)); i++)
        if (m->label && (details || !m->detail))
            print_figure(m->label, rb_metrics_get(metrics, m->name), m->meaning);
    if (match->causes) {
        printf("%-22s %12lld   of %lld\n", "causes found", (long long)match->causes_found,
               (long long)match->causes);
        print_figure("mean absolute error", match->mean_absolute_error, "of the causes found");
    }
}

static int evaluate(invocation *call, rb_model *model, rb_source *source) {
    rb_document d = {.size = sizeof d,
                     .model = model,
                     .source = source,
                     .with_metrics = true,
                     .only_metrics = true};
    rb_field_match match = {0};
    if (rb_net_outputs(model)) return evaluate_net(call, model, source);
    rb_error err = rb_document_make(call->ctx, &d);
    err = err ? err : match_truth(call, model, &match);
    bool json = option_flag(call, "json"), says = !err && processes_lead();
    if (says && json) err = print_json(call->ctx, d.metrics, &match, model, source);
    if (says && !json) print_table(call->ctx, d.metrics, &match, option_flag(call, "details"));
    rb_document_clear(&d);
    rb_field_match_clear(&match);
    return report_failure(call->ctx, err);
}

static int run(invocation *call) {
    return with_model_and_data(call, check_labels, evaluate);
}

const command evaluate_command = {
    .words = "evaluate",
    .summary = "measure how well a model explains data",
    .description = "Errors refer to the preprocessed data. Metrics that a method does not have are "
                   "left out of the table and are null in JSON. Codes of dead units are 0 here. In "
                   "an rfn fit each has one sample, so the objective of the fit is lower.",
    .arguments = {{"MODEL", "a model of 'rarebit fit'", false}, DATA_ARGUMENT},
    .own = {sizeof(rb_option), "Figures", figures_options},
    .own_after = 1,
    .groups = {json_group, layer_group, labels_group, coding_group, covariates_group, rb_read_group,
               general_group},
    .examples = {{"The data of the fit", "evaluate model.h5 X.npy"},
                 {"Other data, for a program", "evaluate model.h5 test.npy --json"},
                 {"Bars with known fields", "evaluate bars.h5 Y.npy --truth fields.npy"},
                 {"Error rate of a net", "evaluate net.h5 test.npy --labels y.npy"}},
    .reads = "truth labels targets covariates",
    .together = true,
    .run = run,
};
