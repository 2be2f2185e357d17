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

/* A number that only models with binary causes have: of others NaN. */
static double of_causes(const rb_model *model, double value) {
    return rb_model_array(model, "used", NULL, NULL) ? value : NAN;
}

static double share(const rb_evaluation *e, int64_t samples) {
    return (double)samples / (double)e->codes.samples;
}

static void print_json(const rb_model *model, const rb_evaluation *e, const rb_field_match *match) {
    json j = {.file = stdout};
    emit_open(&j, NULL, '{');
    emit_integer(&j, "samples", e->samples);
    emit_integer(&j, "features", e->features);
    emit_integer(&j, "units", e->units);
    emit_integer(&j, "dead_units", e->dead_units);
    emit_number(&j, "sparseness", e->sparseness);
    emit_number(&j, "reconstruction_error", e->reconstruction_error);
    emit_number(&j, "variance_explained", e->variance_explained);
    emit_number(&j, "covariance_error", e->covariance_error);
    emit_number(&j, "objective", e->objective);
    emit_number(&j, "log_likelihood", e->log_likelihood);
    emit_number(&j, "estep_objective", e->estep_objective);
    emit_number(&j, "energy", e->energy);
    emit_number(&j, "divergence", e->divergence);
    emit_number(&j, "kkt_residual", e->kkt_residual);
    emit_number(&j, "certificate", e->certificate);
    emit_number(&j, "mean_squared_error", e->mean_squared_error);
    emit_number(&j, "causes_used", of_causes(model, (double)e->causes_used));
    emit_number(&j, "samples_used", of_causes(model, e->samples_used));
    emit_number(&j, "quality", of_causes(model, e->quality));
    emit_number(&j, "truncation", of_causes(model, e->truncation));
    emit_number(&j, "candidate_hits", of_causes(model, e->candidate_hits));
    emit_number(&j, "exact_samples", of_causes(model, (double)e->exact_samples));
    bool checked = e->codes.samples > 0;
    emit_number(&j, "samples_without_unit", checked ? share(e, e->codes.empty) : NAN);
    emit_number(&j, "samples_with_nearly_all_units", checked ? share(e, e->codes.full) : NAN);
    emit_number(&j, "duplicated_units", checked ? (double)e->codes.duplicates : NAN);
    if (match->causes) {
        emit_integer(&j, "causes", match->causes);
        emit_integer(&j, "causes_found", match->causes_found);
        emit_number(&j, "mean_absolute_error", match->mean_absolute_error);
    }
    emit_close(&j, '}');
    putc('\n', stdout);
}

/* Leaves out what the method does not have. */
static void print_number(const char *name, double value, const char *meaning) {
    if (!isnan(value)) {
        printf("%-22s %12.6g   %s\n", name, value, meaning);
    }
}

static void print_table(const rb_model *model, const rb_evaluation *e,
                        const rb_field_match *match) {
    printf("%-22s %12lld\n", "samples", (long long)e->samples);
    printf("%-22s %12lld\n", "features", (long long)e->features);
    printf("%-22s %12lld\n", "units", (long long)e->units);
    printf("%-22s %12lld   units that no training sample activates\n", "dead units",
           (long long)e->dead_units);
    print_number("sparseness", e->sparseness, "share of zeros in the codes");
    if (e->codes.samples > 0) {
        print_number("samples without unit", share(e, e->codes.empty), "share of the samples");
        print_number("samples with all units", share(e, e->codes.full),
                     "the same, with at least 9 in 10 of the living ones");
    }
    print_number("reconstruction error", e->reconstruction_error, "norm of data - rebuilt data");
    print_number("variance explained", e->variance_explained, "share of the squares of the data");
    print_number("covariance error", e->covariance_error, "norm of covariance - the model's");
    print_number("objective", e->objective, "larger is better");
    print_number("log likelihood", e->log_likelihood, "larger is better");
    print_number("E-step objective", e->estep_objective, "0: the codes are the exact posterior");
    print_number("energy", e->energy, "objective = - energy - divergence");
    print_number("divergence", e->divergence, "of the codes from the prior");
    print_number("KKT residual", e->kkt_residual, "of the codes of the fit");
    print_number("certificate", e->certificate, "above 0: these are the best codes there are");
    print_number("mean squared error", e->mean_squared_error, "of what the model expects");
    print_number("causes used", of_causes(model, (double)e->causes_used),
                 "in the most probable state of a sample");
    print_number("samples used", of_causes(model, e->samples_used),
                 "of the training data, in the last M-step");
    print_number("quality", of_causes(model, e->quality),
                 "share of the evidence in the states looked at");
    print_number("truncation", of_causes(model, e->truncation),
                 "mean - log quality: KL from all states");
    print_number("candidate hits", of_causes(model, e->candidate_hits),
                 "share of the causes among candidates");
    print_number("exact samples", of_causes(model, (double)e->exact_samples),
                 "that the last three are means of");
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
    rb_evaluation evaluation;
    rb_field_match match = {0};
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (!err) {
        err = rb_evaluate(call->ctx, model, source, &evaluation);
    }
    if (!err) {
        err = match_truth(call, model, &match);
    }
    if (!err && options->json) {
        print_json(model, &evaluation, &match);
    } else if (!err) {
        print_table(model, &evaluation, &match);
    }
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
