/* What the files of select share: the plan of the fits, what a fit gives, the table. */
#pragma once

#include "study.h"
#include <rarebit/select.h>

typedef struct select_options {
    const char *units;
    int64_t restarts, folds, permutations;
    const char *part;
} select_options;

typedef struct select_plan {
    rb_options *options;
    select_options chosen;
    int64_t seed;
    bool signs;     /* codes may have both: which of two a unit has says nothing */
    int64_t *units; /* n_rows */
    int64_t n_rows;
    int64_t fits, per_row; /* of a number: restarts, a multiple of folds; with permutations */
    const rb_matrix *matrix;
    rb_matrix *own;
    const rb_source *given; /* whose samples these are */
    int64_t *fold_of; /* samples of each partition into folds; the fits go through folds in turn */
    bool serial;      /* samples depend on the one before: a fold is a run of them */
    rb_selection *selection;
    rb_source *thin; /* the samples that fits see; NULL: all */
} select_plan;

/* The plan of a selection by its options, with the data; to be cleared also on failure. */
rb_error rb_select_plan(rb_context *ctx, const rb_options *options, rb_source *source,
                        select_plan *plan);
void rb_select_plan_clear(select_plan *plan);
bool rb_select_holds_out(const select_plan *plan, int64_t fit, int64_t sample);

/* ---- one fit (select_fit.c) ---- */

/* The role of a unit that counts, but is no module: samples along its loadings are as good as
 * normal. No unit here is another side. */
enum { SELECT_NORMAL = RB_UNIT_OTHER_SIDE };

/* What a fit gives. There follow, see rb_select_arrays_of: the log-likelihood of each sample that
 * was held out; of each unit its rb_unit_role, or SELECT_NORMAL; with permutations its information;
 * codes, units x compared samples, each of mean 0 and length 1, or 0; loadings, units x features,
 * each of length 1, or 0. A permutation gives the information of its units alone, float64. */
typedef struct select_outcome {
    double objective, duplicates, empty;
    int64_t units, living, features; /* features: 0 where the method has no loadings */
    double held_out, held_out_error, entry_error;
    double gain, gain_squares; /* by which squared errors of entries are below those of constants */
    int64_t held_out_samples;
} select_outcome;

typedef struct select_arrays {
    double *held_out, *role, *information;
    float *codes, *loadings;
    int64_t size; /* of outcome and arrays, in bytes */
} select_arrays;

select_arrays rb_select_arrays_of(const select_plan *plan, const select_outcome *outcome);
/* Options of a fit of so many units, without those of the tool. */
rb_error rb_select_fit_options(rb_context *ctx, const select_plan *plan, int64_t units,
                               rb_options **options);
/* A fit to the data or a part of them, from the start and seed of its number. */
rb_error rb_select_fit(rb_context *ctx, const select_plan *plan, const rb_matrix *matrix,
                       int64_t units, int64_t fit, rb_model **model);
/* A job, whose user is the plan. */
rb_error rb_select_do(rb_context *ctx, int64_t job, void *user, rb_bytes *result);

/* ---- the table (select_table.c) ---- */

rb_error rb_selection_new(rb_context *ctx, const select_plan *plan, rb_selection **selection);
/* A taker of jobs, whose user is the plan. */
rb_error rb_selection_take(rb_context *ctx, int64_t job, rb_bytes result, void *user);

enum select_column {
    SELECT_UNITS,
    SELECT_STABLE,
    SELECT_OBJECTIVE,
    SELECT_OBJECTIVE_MEAN,
    SELECT_HELD_OUT,
    SELECT_HELD_OUT_SE,
    SELECT_HELD_OUT_ERROR,
    SELECT_ENTRY_ERROR,
    SELECT_MATCH,
    SELECT_SHARED,
    SELECT_USED,
    SELECT_DUPLICATED,
    SELECT_BACKGROUND,
    SELECT_EMPTY,
    SELECT_BEYOND_NOISE, /* the last: only with permutations */
    SELECT_COLUMNS
};

struct rb_selection {
    rb_scratch memory; /* has all arrays */
    int64_t n_rows, folds, fits, permutations;
    bool serial;   /* folds are runs of samples */
    double *cells; /* n_rows x SELECT_COLUMNS */
    int64_t n_samples;
    double *held_out; /* n_rows x n_samples: log-likelihoods, or the mean of the sample's fold */
    bool means;       /* the latter: of a method that knows no single ones */
    bool *left_out;   /* n_samples: do not count in held-out figures */
    int64_t n_left_out;
    rb_bytes *models;              /* fits: outcomes of the row at hand */
    double *largest;               /* permutations: of the row at hand */
    double match_sd;               /* over pairs of fits: likewise */
    double most_stable;            /* of all rows: of a unit that could count */
    int64_t units, low, high, row; /* row: whose fits have as many; -1: none is picked */
    char reason[512], data[16];    /* data: their checksum */
};

/* ---- the rule (select_rule.c) ---- */

/* source: what the samples are called; NULL: they have no names. */
rb_error rb_selection_choose(rb_context *ctx, const rb_source *source, rb_selection *selection);
