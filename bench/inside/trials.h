/* Fits of data whose causes are known, beside the truth (Luecke and Eggert 2010, Figs. 4, 7 and 10). */
#ifndef TRIALS_H
#define TRIALS_H

#include <rarebit/rarebit.h>

/* Values are differences from what the true parameters give, such as of the log-likelihood. */
typedef struct bench_trial {
    bool success;         /* all causes were found */
    double value;         /* at the end */
    int64_t count;        /* iterations */
    const double *values; /* count: after each of them; NULL: not known */
} bench_trial;

typedef struct bench_example {
    const rb_model *model;
    rb_source *source;       /* its samples */
    const rb_matrix *states; /* which causes were active in each, 0 where one was not */
} bench_example;

/* One panel has values over the iterations, a line for each trial that has them; another one those
 * at the end, a point for each trial, a cross where causes were not found; `up` names them. Two more
 * are of an example (NULL: none): Q over the iterations, where the model has it, in two colours, for
 * samples of at most max-active true causes and of more; and sorted log evidences. */
rb_error bench_draw_trials(rb_context *ctx, const bench_trial *trials, int64_t count,
                           const char *up, const bench_example *example, int width,
                           const char *path);

#endif
