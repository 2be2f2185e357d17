/* rarebit bench et: what its experiments share. */
#ifndef TOOL_BENCH_ET_H
#define TOOL_BENCH_ET_H

#include "tool.h"

typedef struct bench_options {
    const char *experiment;
    bool list, as_printed;
    int singletons, negative; /* as in the rows of bench_et.c */
    int64_t trials, restarts, iterations, seed;
    const char *data, *picture;
} bench_options;

/* The bars experiments, all or the one named: lists or runs them. */
bool bench_bars_has(const char *name);
/* The options that do something for them. */
const char *bench_bars_heed(const char *name);
int bench_bars(invocation *call, const bench_options *options);

/* Experiments on data of the user's; each lists its settings or runs. A status after a message. */
int bench_mnist(invocation *call, const bench_options *options);
int bench_patches_50(invocation *call, const bench_options *options);
int bench_patches_100(invocation *call, const bench_options *options);
int bench_sound(invocation *call, const bench_options *options);
/* How the time of an iteration grows with the causes. */
int bench_scaling(invocation *call, const bench_options *options);

/* ---- bench_et.c ---- */

/* --data, or a message that says what it must be. */
bool bench_has_data(const bench_options *options, const char *what);
/* Options of a method, or of a group where that is NULL. */
rb_error bench_options_new(rb_context *ctx, const char *method, const rb_option_group *group,
                           rb_options **options);
/* Fits with a line of progress; a fit that was interrupted stops early. */
rb_error bench_fit(invocation *call, const rb_options *options, rb_source *source,
                   rb_model **model);
/* Of the seconds of a model's iterations. */
double bench_median_seconds(const rb_model *model);
/* Draws the fields as images or curves of a shape into --picture, if it is given. */
rb_error bench_picture(invocation *call, const bench_options *options, const rb_model *model,
                       const char *shape);

#endif
