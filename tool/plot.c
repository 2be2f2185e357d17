/* rarebit plot: pictures of models. */
#include "tool.h"

#include <stddef.h>
#include <stdlib.h>

/* What a picture is made from and of. */
struct scene {
    invocation *call;
    rb_model *model;
    rb_source *source; /* NULL: not given */
    const rb_options *options;
};

typedef rb_error (*painter)(const struct scene *scene, const char *path);

static int draw(invocation *call, painter paint, bool needs_data) {
    const path_options *to = options_of(call, path_group());
    struct scene scene = {.call = call, .options = call->options};
    output out;
    int status = output_begin(&out, to->output, "png");
    if (status) {
        return status;
    }
    rb_error err = load_model(call, &scene.model);
    if (!err && needs_data) {
        err = open_data(call, scene.model, call->arguments[1], &scene.source);
    }
    if (!err) {
        err = paint(&scene, out.path);
    }
    if (err) {
        status = report_failure(call->ctx, err);
        output_abandon(&out);
    } else {
        status = output_end(&out);
    }
    if (!status) {
        report("picture in %s", to->output);
    }
    rb_source_free(scene.source);
    rb_model_free(scene.model);
    return status;
}

static rb_error paint_history(const struct scene *s, const char *path) {
    return rb_plot_history(s->call->ctx, s->model, s->options, path);
}

static rb_error paint_codes(const struct scene *s, const char *path) {
    return rb_plot_codes(s->call->ctx, s->model, s->source, s->options, path);
}

static rb_error paint_filters(const struct scene *s, const char *path) {
    return rb_plot_filters(s->call->ctx, s->model, s->options, path);
}

static rb_error paint_modules(const struct scene *s, const char *path) {
    rb_modules *modules = NULL;
    rb_context *ctx = s->call->ctx;
    rb_error err = rb_modules_find(ctx, s->model, s->source, s->call->options, &modules);
    if (!err) {
        err = rb_plot_modules(ctx, s->model, s->source, modules, s->options, path);
    }
    rb_modules_free(modules);
    return err;
}

static rb_error paint_fields(const struct scene *s, const char *path) {
    return rb_plot_fields(s->call->ctx, s->model, s->options, path);
}

static rb_error paint_quality(const struct scene *s, const char *path) {
    return rb_plot_quality(s->call->ctx, s->model, s->options, path);
}

/* ---- evidences ---- */

typedef struct evidence_options {
    const char *true_causes;
} evidence_options;

static const rb_option_group *evidence_group(void) {
    static const rb_option table[] = {
        {"true-causes", 0, RB_OPTION_TEXT, offsetof(evidence_options, true_causes), NULL, 0, 0,
         NULL, "FILE",
         "which causes were active in each sample, samples x causes (simulate bars --states): "
         "colours say how many"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Truth", table,
                                          sizeof(evidence_options), NULL};
    return &group;
}

static rb_error keep_evidence(void *user, int64_t sample, double log_evidence, int64_t count,
                              const int64_t *causes) {
    double *evidence = user;
    (void)count;
    (void)causes;
    evidence[sample] = log_evidence;
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* How many samples the fit kept; 0: these are others than it had, its cut means nothing here. */
static int64_t used_samples(const rb_model *model, int64_t n) {
    int64_t values = 0;
    const double *used = rb_model_array(model, "used", &values, NULL);
    const char *fitted = rb_model_attribute(model, "data_samples");
    return used && values == 1 && fitted && strtoll(fitted, NULL, 10) == n ? (int64_t)*used : 0;
}

static rb_error paint_evidence(const struct scene *s, const char *path) {
    int64_t n = rb_source_samples(s->source);
    const evidence_options *options = options_of(s->call, evidence_group());
    rb_source *states = NULL;
    double *evidence = calloc((size_t)n + 1, sizeof *evidence);
    if (!evidence) {
        return RB_ERROR_MEMORY;
    }
    interrupt_gently(s->call->ctx);
    rb_error err = RB_OK;
    if (options->true_causes) {
        err = rb_open(s->call->ctx, options->true_causes, NULL, &states);
    }
    if (!err) {
        err = rb_et_map(s->call->ctx, s->model, s->source, keep_evidence, evidence);
    }
    if (!err) {
        err = rb_plot_evidence(s->call->ctx, evidence, n, used_samples(s->model, n), states,
                               s->options, path);
    }
    rb_source_free(states);
    free(evidence);
    return err;
}

/* ---- commands ---- */

static int run_fields(invocation *call) {
    return draw(call, paint_fields, false);
}

static int run_quality(invocation *call) {
    return draw(call, paint_quality, false);
}

static int run_evidence(invocation *call) {
    return draw(call, paint_evidence, true);
}

static int run_history(invocation *call) {
    return draw(call, paint_history, false);
}

static int run_codes(invocation *call) {
    return draw(call, paint_codes, true);
}

static int run_filters(invocation *call) {
    return draw(call, paint_filters, false);
}

static int run_modules(invocation *call) {
    return draw(call, paint_modules, true);
}

#define MODEL_ARGUMENT                                                                             \
    { "MODEL", "a model that 'rarebit fit' wrote", false }
#define DATA_ARGUMENT                                                                              \
    { "DATA", "samples x features, in any format that fit reads", false }
#define IGNORED_DATA_ARGUMENT                                                                      \
    { "DATA", "not needed; taken so that all pictures can be asked for alike", true }

const command plot_history_command = {
    .words = "plot history",
    .heading = "Pictures",
    .summary = "draw the objective over the iterations of a fit",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"Has the fit come to rest?", "plot history model.h5 -o history.png"}},
    .without = "shape labels",
    .check_output = check_picture_output,
    .run = run_history,
};

const command plot_codes_command = {
    .words = "plot codes",
    .heading = "Pictures",
    .summary = "draw the codes as a heat map, samples x units",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, path_group, coding_group, rb_read_group, general_group},
    .examples = {{"With samples grouped by a known class",
                  "plot codes model.h5 cells.h5ad --labels types.tsv -o codes.png"}},
    .reads = "labels",
    .without = "shape",
    .check_output = check_picture_output,
    .run = run_codes,
};

const command plot_filters_command = {
    .words = "plot filters",
    .heading = "Pictures",
    .summary = "draw the loadings of each unit as an image",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"Of digits", "plot filters model.h5 --shape 28x28 -o filters.png"},
                 {"Of colour patches", "plot filters model.h5 --shape 12x12x3 -o filters.svg"}},
    .without = "labels",
    .check_output = check_picture_output,
    .run = run_filters,
};

const command plot_modules_command = {
    .words = "plot modules",
    .heading = "Pictures",
    .summary = "draw the data, ordered by module, with the modules framed",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, rb_modules_group, path_group, coding_group, rb_read_group,
               general_group},
    .examples = {{"The ten most informative ones",
                  "plot modules model.h5 X.npy --best 10 -o modules.png"}},
    .reads = "labels",
    .without = "shape",
    .check_output = check_picture_output,
    .run = run_modules,
};

const command plot_fields_command = {
    .words = "plot fields",
    .heading = "Pictures",
    .summary = "draw the fields of a traced fit over time",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"A row of images for each of ten iterations",
                  "plot fields model.h5 --shape 5x5 -o fields.png"}},
    .without = "labels",
    .check_output = check_picture_output,
    .run = run_fields,
};

const command plot_quality_command = {
    .words = "plot quality",
    .heading = "Pictures",
    .summary = "draw how good the truncation of a traced fit was",
    .arguments = {MODEL_ARGUMENT, IGNORED_DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, path_group, general_group},
    .examples = {{"Q of up to 40 samples over the iterations",
                  "plot quality model.h5 -o quality.png"}},
    .without = "shape labels",
    .check_output = check_picture_output,
    .run = run_quality,
};

const command plot_evidence_command = {
    .words = "plot evidence",
    .heading = "Pictures",
    .summary = "draw sorted log evidences and the data cut",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .output = "PICTURE",
    .groups = {rb_plot_group, evidence_group, path_group, rb_read_group, general_group},
    .examples = {{"Which samples few causes explain",
                  "plot evidence model.h5 Y.npy -o evidence.png"},
                 {"Of bars, in the colours of how many there are",
                  "plot evidence model.h5 Y.npy --true-causes states.npy -o evidence.png"}},
    .reads = "true-causes",
    .without = "shape labels",
    .check_output = check_picture_output,
    .run = run_evidence,
};
