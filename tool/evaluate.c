/* rarebit evaluate: how well a model explains data. */
#include "tool.h"

#include <math.h>
#include <stddef.h>

/* ---- known causes ---- */

typedef struct truth_options {
    const char *truth;
} truth_options;

static const rb_option_group *truth_group(void) {
    static const rb_option table[] = {
        {"truth", 0, RB_OPTION_TEXT, offsetof(truth_options, truth), NULL, 0, 0, NULL, "FILE",
         "the true causes, causes x features (simulate bars --truth): which of them units found"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Truth", table, sizeof(truth_options),
                                          NULL};
    return &group;
}

/* Compares the fields of the units with the truth, if there is one. */
static rb_error match_truth(const invocation *call, const rb_model *model, rb_field_match *match) {
    const truth_options *options = options_of(call, truth_group());
    rb_source *truth = NULL;
    *match = (rb_field_match){.mean_absolute_error = NAN};
    if (!options->truth) {
        return RB_OK;
    }
    rb_error err = rb_open(call->ctx, options->truth, NULL, &truth);
    if (!err) {
        err = rb_model_match_fields(call->ctx, model, truth, match);
    }
    rb_source_free(truth);
    return err;
}

/* ---- results ---- */

/* The names in JSON, where a metric that a method does not have is null. */
static const char *const names[] = {
    "samples",
    "features",
    "units",
    "dead_units",
    "sparseness",
    "reconstruction_error",
    "variance_explained",
    "covariance_error",
    "objective",
    "log_likelihood",
    "estep_objective",
    "energy",
    "divergence",
    "kkt_residual",
    "certificate",
    "mean_squared_error",
    "causes_used",
    "samples_used",
    "quality",
    "truncation",
    "candidate_hits",
    "exact_samples",
    "samples_without_unit",
    "samples_with_nearly_all_units",
    "duplicated_units",
};

static void print_json(const rb_metrics *metrics, const rb_field_match *match) {
    json j = {.file = stdout};
    emit_open(&j, NULL, '{');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        emit_number(&j, names[i], rb_metrics_get(metrics, names[i]));
    }
    if (match->causes) {
        emit_integer(&j, "causes", match->causes);
        emit_integer(&j, "causes_found", match->causes_found);
        emit_number(&j, "mean_absolute_error", match->mean_absolute_error);
    }
    emit_close(&j, '}');
    putc('\n', stdout);
}

static const struct {
    const char *name, *label, *meaning;
} lines[] = {
    {"sparseness", "sparseness", "share of zeros in the codes"},
    {"samples_without_unit", "samples without unit", "share of the samples"},
    {"samples_with_nearly_all_units", "samples with all units",
     "the same, with at least 9 in 10 of the living ones"},
    {"reconstruction_error", "reconstruction error", "norm of data - rebuilt data"},
    {"variance_explained", "variance explained", "share of the squares of the data"},
    {"covariance_error", "covariance error", "norm of covariance - the model's"},
    {"objective", "objective", "larger is better"},
    {"log_likelihood", "log likelihood", "larger is better"},
    {"estep_objective", "E-step objective", "0: the codes are the exact posterior"},
    {"energy", "energy", "objective = - energy - divergence"},
    {"divergence", "divergence", "of the codes from the prior"},
    {"kkt_residual", "KKT residual", "of the codes of the fit"},
    {"certificate", "certificate", "above 0: these are the best codes there are"},
    {"mean_squared_error", "mean squared error", "of what the model expects"},
    {"causes_used", "causes used", "in the most probable state of a sample"},
    {"samples_used", "samples used", "of the training data, in the last M-step"},
    {"quality", "quality", "share of the evidence in the states looked at"},
    {"truncation", "truncation", "mean - log quality: KL from all states"},
    {"candidate_hits", "candidate hits", "share of the causes among candidates"},
    {"exact_samples", "exact samples", "that the last three are means of"},
};

/* Leaves out what the method does not have. */
static void print_number(const char *label, double value, const char *meaning) {
    if (!isnan(value)) {
        printf("%-22s %12.6g   %s\n", label, value, meaning);
    }
}

static void print_table(const rb_metrics *metrics, const rb_field_match *match) {
    printf("%-22s %12.0f\n", "samples", rb_metrics_get(metrics, "samples"));
    printf("%-22s %12.0f\n", "features", rb_metrics_get(metrics, "features"));
    printf("%-22s %12.0f\n", "units", rb_metrics_get(metrics, "units"));
    printf("%-22s %12.0f   units that no training sample activates\n", "dead units",
           rb_metrics_get(metrics, "dead_units"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        print_number(lines[i].label, rb_metrics_get(metrics, lines[i].name), lines[i].meaning);
    }
    if (match->causes) {
        printf("%-22s %12lld   of %lld\n", "causes found", (long long)match->causes_found,
               (long long)match->causes);
        print_number("mean absolute error", match->mean_absolute_error, "of the causes found");
    }
}

static int run(invocation *call) {
    const json_options *options = options_of(call, json_group());
    rb_model *model = NULL;
    rb_source *source = NULL;
    rb_metrics *metrics = NULL;
    rb_field_match match = {0};
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (!err) {
        err = rb_evaluate(call->ctx, model, source, &metrics);
    }
    if (!err) {
        err = match_truth(call, model, &match);
    }
    if (!err && options->json) {
        print_json(metrics, &match);
    } else if (!err) {
        print_table(metrics, &match);
    }
    rb_metrics_free(metrics);
    rb_field_match_clear(&match);
    rb_source_free(source);
    rb_model_free(model);
    return err ? report_failure(call->ctx, err) : STATUS_DONE;
}

const command evaluate_command = {
    .words = "evaluate",
    .heading = "Use a model",
    .summary = "measure how well a model explains data",
    .description = "Errors are of the preprocessed data. Numbers that a method does not have are "
                   "left out of the table and are null in JSON.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .groups = {json_group, truth_group, coding_group, rb_read_group, general_group},
    .examples = {{"On the data that it was fitted to", "evaluate model.h5 X.npy"},
                 {"On other data, for a program", "evaluate model.h5 test.npy --json"},
                 {"Bars whose fields are known", "evaluate bars.h5 Y.npy --truth fields.npy"}},
    .reads = "truth",
    .run = run,
};
