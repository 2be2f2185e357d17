/* rarebit consensus: what models of several fits have in common, as one model. */
#include "tool.h"

#include <stddef.h>
#include <stdlib.h>

static const rb_option consensus_output_options[] = {
    {OUTPUT_OPTION, "MODEL", "where to write the model (HDF5)", RB_OPTION_COMMON},
    {TEXT_OPTION("data"), "DATA",
     "the data of the fits: units are compared by their codes as well as by their loadings",
     RB_OPTION_COMMON},
    {0},
};

void report_consensus(const rb_model *model, int64_t most) {
    int64_t dropped = 0, units = rb_model_units(model);
    const double *stability = rb_model_array(model, "stability", NULL, NULL);
    const double *others = rb_model_array(model, "dropped_stability", &dropped, NULL);
    const char *models = rb_model_attribute(model, "consensus_models");
    report("%lld %s of %s models, with a stability of at least %.2f", (long long)units,
           units == 1 ? "unit" : "units", models, stability[units - 1]);
    if (dropped == 0 && units >= most)
        report("all units of the fits were kept, so there may be more; use a larger --units");
    if (dropped > 0) report("the next one, with a stability of %.2f, is left out", others[0]);
}

static rb_error load_all(const invocation *call, rb_model **models) {
    rb_error err = RB_OK;
    for (int i = 0; i < call->n_arguments && !err; i++)
        err = rb_model_load(call->ctx, call->arguments[i], &models[i]);
    return err;
}

static rb_error merge(const invocation *call, rb_model **models, const output *out) {
    const char *data = option_text(call, "data");
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_error err = load_all(call, models);
    if (!err && data) err = open_data(call, models[0], data, &source);
    if (!err && data) err = read_covariates(call, rb_model_attribute(models[0], "regress"), source);
    err = err ? err
              : rb_consensus(call->ctx, (const rb_model *const *)models, call->n_arguments, source,
                             call->options, &model);
    fit_record record = {data, NULL};
    err = err ? err : save_fit(call, model, &record, out->path);
    int64_t most = 0;
    for (int i = 0; i < call->n_arguments && !err; i++)
        most = rb_model_units(models[i]) > most ? rb_model_units(models[i]) : most;
    if (!err) report_consensus(model, most);
    rb_source_free(source);
    rb_model_free(model);
    return err;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    output out;
    static const option_group reading[] = {rb_read_group, covariates_group, NULL};
    int status = option_text(call, "data")
                     ? STATUS_DONE
                     : refuse_options(call, reading,
                                      "does nothing without --data; leave it out, or give both");
    status = status ? status : output_begin(&out, target, "h5");
    if (status) return status;
    rb_model **models = calloc((size_t)call->n_arguments + 1, sizeof *models);
    rb_error err = models ? merge(call, models, &out) : fail_memory(call->ctx);
    for (int i = 0; models && i < call->n_arguments; i++)
        rb_model_free(models[i]);
    free(models);
    status = finish_output(call, &out, err);
    if (!status) report("model in %s", output_shown(target));
    return status;
}

const command consensus_command = {
    .words = "consensus",
    .summary = "make a model of the units that recur in several fits",
    .description =
        "Units of different fits with the same loadings and codes are one unit. The units that "
        "recur in enough models become the units of one model. Each has its stability, the share "
        "of the models that have it. 'rarebit fit --consensus' makes the fits as well.",
    .arguments = {{"MODEL...", "models of the same data, by the same method", false}},
    .output = "MODEL",
    .own = {sizeof(rb_option), "Output", consensus_output_options},
    .groups = {rb_consensus_group, covariates_group, rb_read_group, general_group},
    .examples = {{"Of three seeds", "consensus m1.h5 m2.h5 m3.h5 --data X.npy -o model.h5"}},
    .reads = "data covariates",
    .run = run,
};
