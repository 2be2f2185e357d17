/* Raw rows, passes over them, matching; private to src/data. */
#ifndef RB_ROWS_H
#define RB_ROWS_H

#include "data.h"

/* Walks the raw rows of a view as float64. */
typedef struct rb_row {
    int64_t count;          /* values */
    const int32_t *columns; /* their features; NULL: 0 .. count - 1 */
    double *values;         /* memory for n_features */
} rb_row;

/* Row i of a matrix into row->values (of n_features), as it stands. */
void rb_row_get(const rb_matrix *m, int64_t i, rb_row *row);
/* The message about a value that cannot be used, as it stands in the data: RB_ERROR_DATA. fitted:
 * the preprocessing is that of a model already, and cannot be chosen any more. */
rb_error rb_fail_value(rb_context *ctx, const rb_preprocess_options *options,
                       const rb_source *source, int64_t sample, int64_t feature, double value,
                       bool fitted);
/* Can totals and log1p take the value? One that is missing they can. */
bool rb_value_fits(const rb_preprocess_options *options, double value);

/* Does anything look at whole samples: totals, levels? */
static inline bool rb_levels_samples(const rb_preprocess_options *options) {
    return options->totals > 0 || options->centre_samples != RB_CENTRE_SAMPLES_NONE;
}
/* The sum of the values that are there. */
double rb_row_total(const rb_row *row);
/* Scales the row to its total, takes log1p and centres it, as the options say. A total of 0 leaves
 * the row. */
rb_row_level rb_row_transform(const rb_preprocess_options *options, rb_row *row);

/* RB_ERROR_UNSUPPORTED: samples are to be centred, and those of the source are sparse. */
rb_error rb_check_levels(rb_context *ctx, const rb_preprocess_options *options,
                         const rb_source *source);

/* For each feature in use the feature of the source that it is, -1 when the source lacks it; NULL
 * when all stand in the same order (nothing to map). By name when both have names, else by
 * position. Reports missing and extra features. Free with rb_free. */
rb_error rb_match_features(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                           int64_t **input_of);

/* ---- the samples of a process (pass.c) ---- */

/* The samples of this process in passes: whole groups of those of all. */
typedef struct rb_share {
    int64_t n_samples, groups; /* of all */
    int64_t first, end;        /* its groups */
    int64_t most;              /* samples that a process has at most */
    bool together;             /* with others */
} rb_share;
/* together: all processes walk over the source at the same time; else this one has all groups. */
rb_share rb_share_of(const rb_context *ctx, const rb_source *source, bool together);
/* The first sample of a group. */
static inline int64_t rb_share_sample(const rb_share *share, int64_t group) {
    return group * share->n_samples / share->groups;
}
/* rb_comm_agree, where there are others. */
rb_error rb_share_agree(rb_context *ctx, const rb_share *share, rb_error err);

/* ---- effects of covariates (regress.c) ---- */

/* A column of a sample that is not 0, and its value: of numbers less their mean. */
typedef struct rb_regress_entry {
    int64_t column;
    double value;
} rb_regress_entry;

/* Terms bound to the covariates of a source. */
typedef struct rb_regress_rows {
    const rb_regress *regress;
    int64_t first; /* of the source's samples, among those that the covariates have */
    const double *values[RB_COVARIATES_MAX]; /* of each term */
    int64_t *columns[RB_COVARIATES_MAX];     /* of groups, by level of the source; -1: the first */
    int64_t at[RB_COVARIATES_MAX];           /* the first column of each term */
    int64_t *memory;
} rb_regress_rows;

/* New terms, as the names in `text` say, of the covariates of a source; coefficients are yet to be
 * found. RB_ERROR_DATA: they are not there, or not of all samples, or do not differ;
 * RB_ERROR_ARGUMENT: the text. */
rb_error rb_regress_new(rb_context *ctx, const char *text, const rb_source *source,
                        rb_regress **regress);
/* RB_ERROR_DATA: the source lacks covariates, or one of its samples has none, or a level that is
 * unknown. */
rb_error rb_regress_bind(rb_context *ctx, const rb_regress *regress, const rb_source *source,
                         rb_regress_rows *rows);
void rb_regress_unbind(rb_regress_rows *rows);
/* The columns of a sample of the source; how many there are, one a term at most. */
int rb_regress_row(const rb_regress_rows *rows, int64_t sample,
                   rb_regress_entry entries[RB_COVARIATES_MAX]);
/* What the effect on a feature with these coefficients is of a sample without entries. */
double rb_regress_offset(const rb_regress *regress, const double *coefficients);

/* ---- least squares (regress_fit.c) ---- */

/* Least squares of all features of a source on covariates, while they are fitted. */
typedef struct rb_regress_fit {
    rb_regress *regress;
    rb_regress_rows rows;
    const rb_preprocess_options *options;
    rb_source *source;
    const rb_share *share;
    double *pivots;       /* of each feature, near its values */
    rb_tree tree;         /* of `sums`, for the pass that adds */
    double *sums;         /* n_columns x features: of x_c (y - pivot) */
    double *products;     /* n_columns x n_columns: of x_c x_d */
    double *totals;       /* n_columns: of x_c */
    double *spans;        /* n_columns: the root of the centred sum of x_c^2 */
    double *factor;       /* n_columns x n_columns: of the correlations of the columns */
    double *offsets;      /* of each feature: rb_regress_offset */
    double *coefficients; /* features x n_columns */
    rb_scratch arrays;
} rb_regress_fit;

rb_error rb_regress_fit_begin(rb_context *ctx, rb_regress *regress, rb_source *source,
                              const rb_share *share, const rb_preprocess_options *options,
                              rb_regress_fit *fit);
void rb_regress_fit_end(rb_regress_fit *fit);
/* Adds samples as a pass collects them. */
void rb_regress_fit_add(rb_context *ctx, rb_regress_fit *fit, const rb_matrix *rows, int64_t first);
/* Finds offsets and coefficients; the moments of the features become those of what is left. */
rb_error rb_regress_fit_solve(rb_context *ctx, rb_regress_fit *fit, rb_moments *moments);
/* The effect on feature k of a sample of the source. */
double rb_regress_fit_effect(const rb_regress_fit *fit, int64_t sample, int64_t k);

/* ---- moments of features (moments.c) ---- */

/* Adds `count` values with this mean and sum of squared differences from it. */
void rb_moments_join(rb_moments *m, int64_t count, double mean, double squares);
/* Adds rows of float64 that lie side by side to the moments of their features. */
void rb_moments_add(rb_context *ctx, rb_moments *moments, const rb_matrix *rows);
/* A tree for a pass that adds moments; and what it gave, to be freed; NULL: nothing. */
void rb_moments_begin(rb_context *ctx, rb_tree *tree, int64_t n_features);
rb_moments *rb_moments_take(rb_tree *tree);
/* After all rows of so many samples: what a sparse matrix does not store is 0. How many values are
 * missing, of all features? */
int64_t rb_moments_end(rb_moments *moments, int64_t count, int64_t n_samples);

/* ---- features that are dropped (drop.c) ---- */

/* Adds hashes of some samples to those of others: an rb_combine_fn. */
void rb_join_hashes(int64_t count, void *mine, const void *theirs);
/* Adds rows as a pass collects them, from sample `first` on, to the hashes of features. */
void rb_hash_features(rb_context *ctx, const rb_matrix *rows, int64_t first, uint64_t *hashes);
/* Which of the features, of the moments before effects are taken out; hashes NULL: constant ones
 * alone. RB_ERROR_DATA: none would be left. */
rb_error rb_drop_choose(rb_context *ctx, int drop, const rb_moments *moments,
                        const uint64_t *hashes, int64_t count, bool *dropped);

/* ---- which centre suits the data (centre.c) ---- */

/* Values of some samples and features while a pass goes by: columns x rows. */
typedef struct rb_ties {
    int64_t n_samples, n_features, sample_step, feature_step, rows, columns;
    double *values;
} rb_ties;

rb_error rb_ties_begin(rb_context *ctx, rb_ties *t, int64_t n_samples, int64_t n_features);
/* Takes what it needs of samples as a pass collects them. */
void rb_ties_add(rb_ties *t, const rb_matrix *rows, int64_t first);
/* Mean or median, and says which. Values are moved by it. */
int rb_ties_choose(rb_context *ctx, rb_ties *t);

/* ---- passes over raw samples (pass.c) ---- */

/* Row i of a matrix of float64 whose rows lie side by side: its own numbers. */
rb_row rb_row_of(const rb_matrix *rows, int64_t i);
/* The first place from low on, below high, whose number is not below the value; they ascend. */
int64_t rb_first_from(const int32_t *list, int64_t low, int64_t high, int64_t value);
/* The first entry of a row whose column is not below k. */
int64_t rb_row_from(const rb_row *row, int64_t k);

/* What a pass is to do. */
enum { PASS_TREES = 2 };
typedef struct rb_pass {
    rb_source *source;
    const rb_share *share; /* NULL: all samples in one go, without sums */
    /* Begun, or NULL: `collect` adds to rb_tree_next of them, zeros at first; the first place of
     * their stack has the sums of all samples afterwards. */
    rb_tree *trees[PASS_TREES];
    /* Rows are transformed as they say, and a value that they cannot take is an error; NULL: rows
     * are as they stand. */
    const rb_preprocess_options *options;
    bool any;           /* it becomes infinite instead */
    uint32_t *checksum; /* becomes that of all samples, from 0; NULL: none */
    int64_t *stored;    /* becomes how many values all samples have, from 0; NULL: none */
    /* Gets the samples as float64, some at a time and in order, the first of them sample `first`;
     * NULL: nobody does. */
    rb_collect_fn collect;
    void *user;
} rb_pass;
/* Of several processes together: all fail, or none. */
rb_error rb_pass_run(rb_context *ctx, const rb_pass *pass);

/* ---- medians and quartiles of features (quantiles.c) ---- */

typedef struct rb_quantiles {
    double fill; /* of missing values: as it is there, or the median of the others */
    double median, quartile_range;
} rb_quantiles;
/* Of all features, of the samples as options and effects (or NULL) leave them; quantiles are those
 * of the values that are there, or of all once missing ones are filled. */
rb_error rb_quantiles_find(rb_context *ctx, rb_source *source, const rb_share *share,
                           const rb_preprocess_options *options, const rb_regress_fit *effects,
                           rb_quantiles *quantiles);
/* The median of the samples' totals, of those above 0; 0 where none is. */
rb_error rb_median_total(rb_context *ctx, rb_source *source, const rb_share *share, double *median);

#endif
