/* rarebit bench et: the experiments of Luecke and Eggert (2010), their figures beside ours. */
#include "bench_et.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option *bench_option_table(void) {
    static const rb_option table[] = {
        {"experiment", 0, RB_OPTION_TEXT, offsetof(bench_options, experiment), NULL, 0, 0, NULL,
         "NAME", "the one to run (all that make their own bars if not given)"},
        {"list", 0, RB_OPTION_FLAG, offsetof(bench_options, list), "false", 0, 0, NULL, NULL,
         "print the experiments with their settings and run none"},
        {"data", 0, RB_OPTION_TEXT, offsetof(bench_options, data), NULL, 0, 0, NULL, "PATH",
         "mnist: images, in any format that fit reads; patches: a picture; sound: a recording, "
         "or a folder of them"},
        {"picture", 0, RB_OPTION_TEXT, offsetof(bench_options, picture), NULL, 0, 0, NULL, "FILE",
         "mnist, patches, sound: draw the fields; scaling: draw the times (.png or .svg)"},
        {"as-printed", 0, RB_OPTION_FLAG, offsetof(bench_options, as_printed), "false", 0, 0, NULL,
         NULL, "fit bars as the paper prints it, once a trial"},
        {"singletons", 0, RB_OPTION_CHOICE, offsetof(bench_options, singletons), "auto", 0, 0,
         "auto|yes|no", "WHEN", "bars: as fit has it"},
        {"negative", 0, RB_OPTION_CHOICE, offsetof(bench_options, negative), "clamp", 0, 0,
         "clamp|reflect", "WHAT", "bars of nmf and mca: as fit has it"},
        {"trials", 0, RB_OPTION_INTEGER, offsetof(bench_options, trials), "0", 0, 1e6, NULL, "N",
         "bars: data sets of an experiment; mnist: seeds (0: as listed)"},
        {"restarts", 0, RB_OPTION_INTEGER, offsetof(bench_options, restarts), "0", 0, 1000, NULL,
         "N", "bars: fits of a data set, of which the best counts (0: as listed; the paper has 1)"},
        {"iterations", 0, RB_OPTION_INTEGER, offsetof(bench_options, iterations), "0", 0, 1e6, NULL,
         "N", "mnist, patches, sound: iterations of a fit (0: as listed)"},
        {"seed", 0, RB_OPTION_INTEGER, offsetof(bench_options, seed), "1", 0, 1e9, NULL, "N",
         "of the first data set and its fit; the next take the next numbers"},
        {0},
    };
    return table;
}

static const struct {
    const char *name;
    int (*run)(invocation *call, const bench_options *options);
    const char *heeds; /* the options that do something for it */
} experiments[] = {
    {"mnist", bench_mnist, "data picture trials iterations seed"},
    {"patches-50", bench_patches_50, "data picture iterations seed"},
    {"patches-100", bench_patches_100, "data picture iterations seed"},
    {"sound", bench_sound, "data picture iterations seed"},
    {"scaling", bench_scaling, "picture seed"},
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* ---- what the experiments share ---- */

bool bench_has_data(const bench_options *options, const char *what) {
    if (!options->data) {
        report_error("experiment '%s' needs --data: %s", options->experiment, what);
    }
    return options->data != NULL;
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    (void)user;
    report_progress(progress);
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

rb_error bench_fit(invocation *call, const char *method, const rb_et_options *options,
                   const rb_fit_options *fit, rb_source *source, rb_model **model) {
    rb_context_on_progress(call->ctx, on_progress, NULL);
    rb_error err = rb_fit(call->ctx, method, options, fit, NULL, source, NULL, model);
    rb_context_on_progress(call->ctx, NULL, NULL);
    report_progress_end();
    return err;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median_seconds(const rb_model *model) {
    int64_t count = rb_model_iterations(model);
    double *seconds = calloc((size_t)count + 1, sizeof *seconds), median = 0;
    for (int64_t t = 0; seconds && t < count; t++) {
        (void)rb_model_history(model, t, NULL, NULL, &seconds[t]);
    }
    if (seconds) {
        qsort(seconds, (size_t)count, sizeof *seconds, ascending);
        median = seconds[count / 2];
    }
    free(seconds);
    return median;
}

rb_error bench_picture(invocation *call, const bench_options *options, const rb_model *model,
                       const char *shape) {
    rb_plot_options plot;
    if (!options->picture) {
        return RB_OK;
    }
    rb_plot_options_default(&plot);
    plot.shape = shape;
    return rb_plot_filters(call->ctx, model, &plot, options->picture);
}

/* ---- the command ---- */

/* An option that would do nothing for the experiment is refused. */
static int check_options(const invocation *call, const bench_options *options) {
    const char *heeds = bench_bars_heed(options->experiment);
    for (int i = 0; options->experiment && i < EXPERIMENTS; i++) {
        heeds =
            strcmp(options->experiment, experiments[i].name) == 0 ? experiments[i].heeds : heeds;
    }
    for (const rb_option *row = bench_option_table(); row->name; row++) {
        bool which = among_words("experiment list", row->name);
        if (!which && option_was_given(call, row->name) && !among_words(heeds, row->name)) {
            report_error("--%s does nothing for %s; leave it out", row->name,
                         options->experiment ? options->experiment : "experiments on bars");
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

static int run(invocation *call) {
    const bench_options *options = options_of(call, bench_option_table());
    bool known = bench_bars_has(options->experiment);
    int status = check_options(call, options);
    if (status) {
        return status;
    }
    interrupt_gently(call->ctx);
    if (known) {
        status = bench_bars(call, options);
    }
    for (int i = 0; i < EXPERIMENTS && !status; i++) {
        bool named = options->experiment && strcmp(options->experiment, experiments[i].name) == 0;
        if (named || (options->list && !options->experiment)) {
            known = true;
            status = experiments[i].run(call, options);
        }
    }
    if (!known) {
        report_error("there is no experiment '%s'; see --list", options->experiment);
        return STATUS_USAGE;
    }
    return interrupted() ? STATUS_INTERRUPTED : status;
}

const command bench_et_command = {
    .words = "bench et",
    .heading = "Experiments",
    .summary = "repeat the experiments of the paper on expectation truncation",
    .description =
        "Experiments on bars: each trial makes bars, fits them and counts as a success when every "
        "bar is found (evaluate --truth). The rate is printed with its Wilson interval beside that "
        "of Luecke and Eggert (2010); MAE is the mean absolute error of the fields in successes. "
        "Trials run in parallel, each on one thread. Without --experiment all of these run; the "
        "others, on data that --data names, and scaling, are asked for by name.",
    .arguments = {{NULL, NULL, false}},
    .groups = {{"Experiment", bench_option_table, sizeof(bench_options), NULL},
               {"General", general_option_table, sizeof(general_options), NULL}},
    .examples = {{"What there is", "bench et --list"},
                 {"One of them", "bench et --experiment mca-noisy"},
                 {"With the settings that the paper prints", "bench et --as-printed"},
                 {"On photographs",
                  "bench et --experiment patches-50 --data grass.pgm --picture fields.png"}},
    .reads = "data",
    .writes = "picture",
    .check_output = check_picture_output,
    .run = run,
};
