/* rarebit plot: plots of models. */
#include "tool.h"

#include <rarebit/method.h>

#include <stdlib.h>
#include <string.h>

static int draw(invocation *call, rb_model *model, rb_source *source) {
    const command *c = call->command;
    const char *target = option_text(call, "output");
    output out;
    int status = output_begin(&out, target, "png");
    if (status) return status;
    rb_error err = name_origin(call, model, source);
    if (!err) {
        err = c->plot ? c->plot(call->ctx, model, call->options, out.path)
                      : c->plot_data(call->ctx, model, source, call->options, out.path);
    }
    status = finish_output(call, &out, err);
    if (!status) report("plot in %s", output_shown(target));
    return status;
}

static int run(invocation *call) {
    return with_model_and_data(call, NULL, draw);
}

static rb_error plot_modules(rb_context *ctx, const rb_model *model, rb_source *source,
                             const rb_options *options, const char *path) {
    rb_modules *modules = NULL;
    rb_error err = rb_modules_find(ctx, model, source, options, &modules);
    err = err ? err : rb_plot_modules(ctx, model, source, modules, options, path);
    rb_modules_free(modules);
    return err;
}

/* ---- evidences ---- */

static const rb_option evidence_options[] = {
    {TEXT_OPTION("true-causes"), "FILE",
     "which causes were active in each sample, samples x causes (simulate bars --states): "
     "colours say how many"},
    {0},
};

static rb_error keep_evidence(void *user, const rb_state *state) {
    double *evidence = user;
    evidence[state->sample] = state->log_evidence;
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* How many samples the fit kept; 0: these are others than it had, its cut means nothing here. */
static int64_t used_samples(const rb_model *model, int64_t n) {
    const rb_method *method = rb_model_table(model);
    const char *fitted = rb_model_attribute(model, "data_samples");
    bool same = fitted && strtoll(fitted, NULL, 10) == n;
    return same && method->samples_used ? method->samples_used(model) : 0;
}

static rb_error plot_evidence(rb_context *ctx, const rb_model *model, rb_source *source,
                              const rb_options *options, const char *path) {
    int64_t n = rb_source_samples(source), used = used_samples(model, n);
    const char *causes = rb_options_text(options, "true-causes");
    rb_source *states = NULL;
    double *evidence = calloc((size_t)n + 1, sizeof *evidence);
    if (!evidence) return RB_ERROR_MEMORY;
    interrupt_gently(ctx);
    rb_error err = causes ? rb_open(ctx, causes, NULL, &states) : RB_OK;
    err = err ? err : rb_states(ctx, model, source, keep_evidence, evidence);
    err = err ? err : rb_plot_evidence(ctx, evidence, n, used, states, options, path);
    rb_source_free(states);
    free(evidence);
    return err;
}

/* ---- filters ---- */

static const rb_option answers_options[] = {
    {"by", 0, RB_OPTION_CHOICE, 0, "projection", 0, 0, "projection|activation", "HOW",
     "filters: the loadings, of a stack or net the linear projection of its layers; or the "
     "sample "
     "that each unit answers most, of rfn, stacks of it and nets"},
    {0},
};

static rb_error plot_answers(rb_context *ctx, const rb_model *model, const rb_layers *layers,
                             const rb_options *options, const char *path) {
    int64_t features = 0, units = 0;
    if (!rb_model_array(model, "loadings", &features, &units))
        return rb_plot_filters(ctx, model, options, path); /* which says so */
    double *samples = calloc((size_t)(features * units) + 1, sizeof *samples);
    rb_error err = samples ? rb_layers_maximise(ctx, layers, samples) : RB_ERROR_MEMORY;
    err = err ? err : rb_plot_answers(ctx, model, samples, options, path);
    free(samples);
    return err;
}

static rb_error plot_filters(rb_context *ctx, const rb_model *model, const rb_options *options,
                             const char *path) {
    rb_layers *layers = NULL;
    char by[16] = "";
    rb_options_get(options, "by", by, sizeof by);
    if (strcmp(by, "activation") != 0) return rb_plot_filters(ctx, model, options, path);
    rb_error err = rb_layers_new(ctx, model, NULL, &layers);
    err = err ? err : plot_answers(ctx, model, layers, options, path);
    rb_layers_free(layers);
    return err;
}

/* ---- commands ---- */

#define IGNORED_DATA_ARGUMENT                                                                      \
    { "DATA", "not needed; taken so that all pictures can be asked for alike", true }

/* What all of them have. */
#define PICTURE .output = "PICTURE", .check_output = rb_plot_check, .run = run

const command plot_history_command = {
    .words = "plot history",
    .summary = "draw the objective over the iterations of a fit",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"Has the fit come to rest?", "plot history model.h5 -o history.png"}},
    .without = "shape labels",
    .plot = rb_plot_history,
    PICTURE,
};

const command plot_codes_command = {
    .words = "plot codes",
    .summary = "draw the codes as a heat map, samples x units",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .groups = {rb_plot_group, path_group, coding_group, covariates_group, rb_read_group,
               general_group},
    .examples = {{"With samples grouped by a known class",
                  "plot codes model.h5 cells.h5ad --labels types.tsv -o codes.png"}},
    .reads = "labels covariates",
    .without = "shape",
    .plot_data = rb_plot_codes,
    PICTURE,
};

const command plot_filters_command = {
    .words = "plot filters",
    .summary = "draw the loadings of each unit as an image",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .own = {sizeof(rb_option), "Filters", answers_options},
    .own_after = 2,
    .groups = {rb_plot_group, rb_plot_filters_group, path_group, layer_group, general_group},
    .examples = {{"Of digits", "plot filters model.h5 --shape 28x28 -o filters.png"},
                 {"Of colour patches", "plot filters model.h5 --shape 12x12x3 -o filters.svg"},
                 {"The hundred units of the largest loadings",
                  "plot filters model.h5 --shape 28x28 --best 100 -o best.png"},
                 {"What units of the second layer of a stack answer most",
                  "plot filters stack.h5 --layer 2 --by activation --shape 28x28 -o second.png"}},
    .without = "labels",
    .plot = plot_filters,
    PICTURE,
};

const command plot_unit_command = {
    .words = "plot unit",
    .summary = "draw the codes of a unit over the samples, and its features below",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .required = "unit",
    .groups = {rb_plot_group, rb_plot_unit_group, path_group, coding_group, covariates_group,
               rb_read_group, general_group},
    .examples = {{"Which classes unit 3 finds, and by which genes",
                  "plot unit model.h5 cells.h5ad --unit 3 --labels types.tsv -o unit.png"}},
    .reads = "labels covariates",
    .without = "shape",
    .plot_data = rb_plot_unit,
    PICTURE,
};

const command plot_samples_command = {
    .words = "plot samples",
    .summary = "draw data, what the model makes of them, and samples drawn from it",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .groups = {rb_plot_group, rb_plot_samples_group, rb_sample_group, path_group, layer_group,
               coding_group, rb_read_group, general_group},
    .examples = {{"Does the model know what data look like?",
                  "plot samples model.h5 Y.npy --shape 5x5 -o samples.png"},
                 {"With less noise than the data have",
                  "plot samples model.h5 P.npy --shape 10x10 --noise 0.25 -o samples.png"}},
    .without = "labels",
    .plot_data = rb_plot_samples,
    PICTURE,
};

const command plot_modules_command = {
    .words = "plot modules",
    .summary = "draw the data, ordered by module, with the modules framed",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .groups = {rb_plot_group, rb_modules_group, path_group, coding_group, covariates_group,
               rb_read_group, general_group},
    .examples = {{"The ten most informative ones",
                  "plot modules model.h5 X.npy --best 10 -o modules.png"}},
    .reads = "labels covariates",
    .without = "shape",
    .plot_data = plot_modules,
    PICTURE,
};

const command plot_fields_command = {
    .words = "plot fields",
    .summary = "draw the fields of a traced fit over time",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"A row of images for each of ten iterations",
                  "plot fields model.h5 --shape 5x5 -o fields.png"}},
    .without = "labels",
    .plot = rb_plot_fields,
    PICTURE,
};

const command plot_quality_command = {
    .words = "plot quality",
    .summary = "draw how good the truncation of a traced fit was",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"Q of up to 40 samples over the iterations",
                  "plot quality model.h5 -o quality.png"}},
    .without = "shape labels",
    .plot = rb_plot_quality,
    PICTURE,
};

const command plot_evidence_command = {
    .words = "plot evidence",
    .summary = "draw sorted log evidences and the data cut",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .own = {sizeof(rb_option), "Truth", evidence_options},
    .own_after = 1,
    .groups = {rb_plot_group, path_group, covariates_group, rb_read_group, general_group},
    .examples = {{"Which samples few causes explain",
                  "plot evidence model.h5 Y.npy -o evidence.png"},
                 {"Of bars, in the colours of how many there are",
                  "plot evidence model.h5 Y.npy --true-causes states.npy -o evidence.png"}},
    .reads = "true-causes covariates",
    .without = "shape labels",
    .plot_data = plot_evidence,
    PICTURE,
};
