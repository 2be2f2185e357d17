/* What the files of select share: the plan of the fits, what a fit gives, the table. */
#ifndef RB_STUDY_SELECT_H
#define RB_STUDY_SELECT_H

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
    int64_t *units; /* n_rows */
    int64_t n_rows, per_row;
    const rb_matrix *matrix, *compared; /* all samples; those whose codes are compared */
    rb_matrix *own, *compared_own;
    int64_t *fold_of; /* per sample */
    rb_selection *selection;
} select_plan;

/* What a restart or a fold gives. Of a restart there follow codes, living units x compared samples,
 * float32, and with permutations the information of each unit, float64; of a fold the
 * log-likelihood of each sample that was held out, float64. A permutation gives the largest
 * information of its units alone, float64. */
typedef struct select_outcome {
    double objective, duplicates, empty, background;
    int64_t living;
    double held_out, held_out_error, entry_error;
    int64_t held_out_samples;
} select_outcome;

/* ---- the table (select_table.c) ---- */

rb_error rb_selection_new(rb_context *ctx, const select_plan *plan, rb_selection **selection);
/* A taker of jobs, whose user is the plan. */
rb_error rb_selection_take(rb_context *ctx, int64_t job, rb_bytes result, void *user);

enum select_column {
    SELECT_UNITS,
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
    int64_t n_rows, folds, restarts, permutations;
    double *cells; /* n_rows x SELECT_COLUMNS */
    int64_t n_samples;
    double *held_out; /* n_rows x n_samples: log-likelihoods, or the mean of the sample's fold */
    bool means;       /* the latter: of a method that knows no single ones */
    bool *left_out;   /* n_samples: do not count in the choice */
    int64_t n_left_out, last_left_out;
    rb_bytes *models; /* restarts: outcomes of the row at hand, with codes */
    double *largest;  /* permutations: of the row at hand */
    int64_t units, low, high;
    char reason[512];
};

/* ---- the rule (select_rule.c) ---- */

rb_error rb_selection_choose(rb_context *ctx, rb_selection *selection);

#endif
