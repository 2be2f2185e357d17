/* `./run experiments`: the experiments of Luecke and Eggert (2010), their metrics beside ours. */
#include "experiments.h"
#include "../tool/blas_choice.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an option takes; a word of a choice is kept as its place among the words. */
typedef enum option_kind { TEXT, NUMBER, FLAG, CHOICE } option_kind;

static const struct option {
    const char *name;
    option_kind kind;
    size_t field;
    const char *values; /* of a choice, or what help calls the value */
    const char *help;
} options_table[] = {
    {"experiment", TEXT, offsetof(experiment_options, experiment), "NAME",
     "the one to run (all that make their own bars if not given)"},
    {"list", FLAG, offsetof(experiment_options, list), "",
     "print the experiments with their settings and run none"},
    {"data", TEXT, offsetof(experiment_options, data), "PATH",
     "mnist: images; patches: a picture; sound: a recording, or a folder of them"},
    {"picture", TEXT, offsetof(experiment_options, picture), "FILE",
     "one on bars: draw likelihoods of its trials, quality and evidences of the first; mnist, "
     "patches, sound: the fields; scaling: the times (.png or .svg)"},
    {"as-printed", FLAG, offsetof(experiment_options, as_printed), "",
     "fit bars as the paper prints it, once a trial"},
    {"singletons", CHOICE, offsetof(experiment_options, singletons), "auto|yes|no",
     "bars: as fit has it"},
    {"negative", CHOICE, offsetof(experiment_options, negative), "clamp|reflect",
     "bars of nmf and mca: as fit has it"},
    {"with", TEXT, offsetof(experiment_options, with), "OPTIONS",
     "bars: other options of the fit: 'iterations=1600 candidates=6'"},
    {"trials", NUMBER, offsetof(experiment_options, trials), "N",
     "bars: data sets; mnist: seeds (0: as listed)"},
    {"restarts", NUMBER, offsetof(experiment_options, restarts), "N",
     "bars: fits of a data set, of which the best counts (0: as listed; the paper has 1)"},
    {"iterations", NUMBER, offsetof(experiment_options, iterations), "N",
     "mnist, patches, sound: iterations of a fit (0: as listed)"},
    {"seed", NUMBER, offsetof(experiment_options, seed), "N",
     "of the first data set and its fit; the next take the next numbers (1)"},
    {"threads", NUMBER, offsetof(experiment_options, threads), "N",
     "of all experiments; on bars, trials run in parallel (0: one a processor)"},
};
enum { OPTIONS = sizeof options_table / sizeof *options_table };

static const struct {
    const char *name;
    int (*run)(rb_context *ctx, const experiment_options *options);
    const char *heeds; /* the options that do something for it */
} experiments[] = {
    {"mnist", experiments_mnist, "data picture trials iterations seed"},
    {"mnist-settings", experiments_mnist_settings, "data trials seed"},
    {"patches-50", experiments_patches_50, "data picture iterations seed"},
    {"patches-100", experiments_patches_100, "data picture iterations seed"},
    {"sound", experiments_sound, "data picture iterations seed"},
    {"sound-400", experiments_sound_400, "data picture iterations seed"},
    {"scaling", experiments_scaling, "picture seed"},
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* ---- messages and signals ---- */

void report_error(const char *format, ...) {
    va_list list;
    fputs("experiments: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    putc('\n', stderr);
}

int report_failure(const rb_context *ctx, rb_error error) {
    report_error("%s", rb_context_error(ctx));
    return error == RB_ERROR_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;
}

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    stopped = 1;
    signal(number, SIG_DFL); /* the second one ends the program */
}

bool interrupted(void) {
    return stopped;
}

/* ---- what the experiments share ---- */

bool experiments_has_data(const experiment_options *options, const char *what) {
    if (!options->data) report_error("experiment '%s' needs --data: %s", options->experiment, what);
    return options->data != NULL;
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    (void)progress;
    (void)user;
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

rb_error experiments_options_new(rb_context *ctx, const char *method, const rb_option_group *group,
                                 rb_options **options) {
    rb_error err = rb_options_new(ctx, method, options);
    return err || !group ? err : rb_options_add(ctx, *options, group);
}

rb_error experiments_fit(rb_context *ctx, const rb_options *options, rb_source *source,
                         rb_model **model) {
    rb_context_on_progress(ctx, on_progress, NULL);
    rb_error err = rb_fit(ctx, options, source, NULL, model);
    rb_context_on_progress(ctx, NULL, NULL);
    return err;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double experiments_median_seconds(const rb_model *model) {
    int64_t count = rb_model_iterations(model);
    double *seconds = calloc((size_t)count + 1, sizeof *seconds), median = 0;
    for (int64_t t = 0; seconds && t < count; t++)
        (void)rb_model_history(model, t, NULL, NULL, &seconds[t]);
    if (seconds) {
        qsort(seconds, (size_t)count, sizeof *seconds, ascending);
        median = seconds[count / 2];
    }
    free(seconds);
    return median;
}

rb_error experiments_picture(rb_context *ctx, const experiment_options *options,
                             const rb_model *model, const char *shape) {
    rb_options *plot = NULL;
    if (!options->picture) return RB_OK;
    rb_error err = experiments_options_new(ctx, NULL, rb_plot_group(), &plot);
    err = err ? err : rb_options_set(ctx, plot, "shape", shape);
    err = err ? err : rb_plot_filters(ctx, model, plot, options->picture);
    rb_options_free(plot);
    return err;
}

/* ---- the command line ---- */

static void help(void) {
    puts("usage: ./run experiments [--OPTION VALUE]...\n\n"
         "The experiments of Luecke and Eggert (2010) on expectation truncation, their figures\n"
         "beside ours: docs/measurements/et-experiments.md. Without --experiment: all on bars.\n");
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *row = &options_table[i];
        printf("  --%s %s\n        %s\n", row->name, row->values, row->help);
    }
}

/* The place of a word among "auto|yes|no"; below 0: none. */
static int place_of(const char *words, const char *word) {
    for (int place = 0; *words; place++) {
        size_t length = strcspn(words, "|");
        if (strlen(word) == length && strncmp(words, word, length) == 0) return place;
        words += length + (words[length] == '|');
    }
    return -1;
}

static bool set(const struct option *row, const char *value, experiment_options *options) {
    void *field = (char *)options + row->field;
    char *end = NULL;
    switch (row->kind) {
    case TEXT:
        *(const char **)field = value;
        return true;
    case FLAG:
        *(bool *)field = true;
        return true;
    case CHOICE:
        return (*(int *)field = place_of(row->values, value)) >= 0;
    case NUMBER:
        errno = 0;
        *(int64_t *)field = strtoll(value, &end, 10);
        return end != value && !*end && !errno && *(int64_t *)field >= 0;
    }
    return false;
}

/* Is the word one of "data picture"? */
static bool among(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* Reads the words; given[k]: option k is there. A status after a message. */
static int read_words(int argc, char **argv, experiment_options *options, bool given[OPTIONS]) {
    for (int i = 1; i < argc; i++) {
        int k = 0;
        while (k < OPTIONS &&
               (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, options_table[k].name) != 0))
            k++;
        if (k == OPTIONS) {
            report_error("'%s' is no option; see --help", argv[i]);
            return STATUS_USAGE;
        }
        const struct option *row = &options_table[k];
        const char *value = row->kind == FLAG ? "" : ++i < argc ? argv[i] : NULL;
        if (!value || !set(row, value, options)) {
            report_error("--%s needs %s, not '%s'", row->name, row->values, value ? value : "");
            return STATUS_USAGE;
        }
        given[k] = true;
    }
    return STATUS_DONE;
}

/* An option that would do nothing for the experiment is refused. */
static int check_options(const experiment_options *options, const bool given[OPTIONS]) {
    const char *heeds = experiments_bars_heed(options->experiment);
    for (int i = 0; options->experiment && i < EXPERIMENTS; i++) {
        heeds =
            strcmp(options->experiment, experiments[i].name) == 0 ? experiments[i].heeds : heeds;
    }
    for (int k = 0; k < OPTIONS; k++) {
        const char *name = options_table[k].name;
        if (given[k] && !among("experiment list threads", name) && !among(heeds, name)) {
            report_error("--%s does nothing for %s; leave it out", name,
                         options->experiment ? options->experiment : "experiments on bars");
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

/* Can the picture be drawn there? */
static int check_picture(rb_context *ctx, const experiment_options *options) {
    if (options->picture && options->data && strcmp(options->picture, options->data) == 0) {
        report_error("the picture would write over '%s'", options->data);
        return STATUS_USAGE;
    }
    rb_error err = options->picture ? rb_plot_check(ctx, options->picture) : RB_OK;
    return err ? report_failure(ctx, err) : STATUS_DONE;
}

static int run(rb_context *ctx, const experiment_options *options) {
    int status = STATUS_DONE;
    bool known = experiments_bars_has(options->experiment);
    if (known) status = experiments_bars(ctx, options);
    for (int i = 0; i < EXPERIMENTS && !status; i++) {
        bool named = options->experiment && strcmp(options->experiment, experiments[i].name) == 0;
        if (named || (options->list && !options->experiment)) {
            known = true;
            status = experiments[i].run(ctx, options);
        }
    }
    if (!known) {
        report_error("there is no experiment '%s'; see --list", options->experiment);
        return STATUS_USAGE;
    }
    return interrupted() ? STATUS_INTERRUPTED : status;
}

int main(int argc, char **argv) {
    experiment_options options = {.seed = 1};
    bool given[OPTIONS] = {false};
    rb_context *ctx;
    choose_blas(argv);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        help();
        return STATUS_DONE;
    }
    int status = read_words(argc, argv, &options, given);
    status = status ? status : check_options(&options, given);
    if (status) return status;
    if (rb_context_new(&ctx) || rb_context_set_threads(ctx, (int)options.threads)) {
        report_error("%d threads could not be started", (int)options.threads);
        return STATUS_FAILED;
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    status = check_picture(ctx, &options);
    status = status ? status : run(ctx, &options);
    rb_context_free(ctx);
    return status;
}
