/* `./run experiments`: what its experiments share. */
#ifndef BENCH_EXPERIMENTS_H
#define BENCH_EXPERIMENTS_H

#include <rarebit/io.h>
#include <rarebit/patches.h>
#include <rarebit/plot.h>
#include <rarebit/rarebit.h>
#include <rarebit/segments.h>

#include <stdio.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

typedef struct experiment_options {
    const char *experiment;
    bool list, as_printed;
    int singletons, negative; /* places among the words of the options */
    int64_t trials, restarts, iterations, seed, threads;
    const char *data, *picture, *with;
} experiment_options;

/* The bars experiments, all or the one named: lists or runs them. */
bool experiments_bars_has(const char *name);
/* The options that do something for them. */
const char *experiments_bars_heed(const char *name);
int experiments_bars(rb_context *ctx, const experiment_options *options);

/* Experiments on data of the user's; each lists its settings or runs. A status after a message. */
int experiments_mnist(rb_context *ctx, const experiment_options *options);
int experiments_mnist_settings(rb_context *ctx, const experiment_options *options);
int experiments_patches_50(rb_context *ctx, const experiment_options *options);
int experiments_patches_100(rb_context *ctx, const experiment_options *options);
int experiments_sound(rb_context *ctx, const experiment_options *options);
int experiments_sound_400(rb_context *ctx, const experiment_options *options);
/* How the time of an iteration grows with the causes. */
int experiments_scaling(rb_context *ctx, const experiment_options *options);

/* ---- experiments.c ---- */

/* A message on stderr; that of the context, and the status for it. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int report_failure(const rb_context *ctx, rb_error error);
/* Did a signal ask for the end? */
bool interrupted(void);

/* --data, or a message that says what it must be. */
bool experiments_has_data(const experiment_options *options, const char *what);
/* Fits with a line of progress; a fit that was interrupted stops early. */
rb_error experiments_fit(rb_context *ctx, const rb_options *options, rb_source *source,
                         rb_model **model);
/* Options of a method, or of a group where that is NULL. */
rb_error experiments_options_new(rb_context *ctx, const char *method, const rb_option_group *group,
                                 rb_options **options);
/* Of the seconds of a model's iterations. */
double experiments_median_seconds(const rb_model *model);
/* Draws the fields as images or curves of a shape into --picture, if it is given. */
rb_error experiments_picture(rb_context *ctx, const experiment_options *options,
                             const rb_model *model, const char *shape);

#endif
