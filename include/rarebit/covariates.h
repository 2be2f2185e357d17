/* Covariates: what else is known of the samples (age, batch, cell type), against their codes. */
#pragma once

#include <rarebit/modules.h>

/* ---- covariates: columns of one value per sample, numbers or groups ---- */

typedef struct rb_covariates rb_covariates;

/* An empty table of n_samples; free it with rb_covariates_free. Files: rb_annotations_covariates
 * (rarebit/annotations.h). RB_ERROR_MEMORY. */
RB_API rb_error rb_covariates_new(rb_context *context, int64_t n_samples, rb_covariates **table);
RB_API void rb_covariates_free(rb_covariates *table); /* NULL is accepted */
/* Adds a column of n_samples numbers, NaN where one is missing, or of groups by their names, NULL
 * or "" where it is missing. Copied. RB_ERROR_DATA: a number is infinite; RB_ERROR_MEMORY. */
RB_API rb_error rb_covariates_add_numbers(rb_context *context, rb_covariates *table,
                                          const char *name, const double *values);
RB_API rb_error rb_covariates_add_groups(rb_context *context, rb_covariates *table,
                                         const char *name, const char *const *groups);
/* The same of classes. RB_ERROR_ARGUMENT: they are of another number of samples. */
RB_API rb_error rb_covariates_add_classes(rb_context *context, rb_covariates *table,
                                          const char *name, const rb_classes *classes);

/* How many there are. */
RB_API int64_t rb_covariates_count(const rb_covariates *table);
/* Of a covariate, from 0: its name, the samples without a value, and how many groups it has; 0
 * for numbers. NULL, -1 and -1 when there is no such covariate. */
RB_API const char *rb_covariates_name(const rb_covariates *table, int64_t covariate);
RB_API int64_t rb_covariates_missing(const rb_covariates *table, int64_t covariate);
RB_API int64_t rb_covariates_groups(const rb_covariates *table, int64_t covariate);
/* The name of a group, from 0, in alphabetical order; NULL when there is none. */
RB_API const char *rb_covariates_group(const rb_covariates *table, int64_t covariate,
                                       int64_t group);
/* The place of a group among all of the table that was read, as rb_classes_place; -1: none. */
RB_API int64_t rb_covariates_group_place(const rb_covariates *table, int64_t covariate,
                                         int64_t group);
/* The group of a sample; -1: it has none, or the covariate is numbers. */
RB_API int64_t rb_covariates_group_of(const rb_covariates *table, int64_t covariate,
                                      int64_t sample);

/* ---- tests ---- */

/* One unit, one covariate, over the samples that have a value. */
typedef struct rb_covariate_test {
    int64_t unit;
    int64_t covariate;
    int64_t samples;               /* with a value */
    int64_t groups;                /* among these; 0: the covariate is numbers */
    double statistic;              /* numbers: Spearman's rho; groups: H of Kruskal and Wallis */
    double p_value, log10_p_value; /* the first is 0 where it is too small for a number */
    double fdr, log10_fdr;         /* Benjamini and Hochberg's over all rows, likewise */
    /* Of the variance of the codes, the share that the covariate explains: between groups (eta
     * squared), or by a straight line (r squared); and the same without what chance would give
     * (epsilon squared, the adjusted r squared), which may be below 0. */
    double explained, explained_adjusted;
} rb_covariate_test;

typedef struct rb_covariate_tests {
    size_t size;             /* sizeof(rb_covariate_tests), set by the caller */
    rb_covariate_test *rows; /* units of the first covariate, of the second one, ... */
    int64_t n_rows;
    int64_t n_tests; /* rows with a p-value: the family of the false discovery rate */
} rb_covariate_tests;

/* Tests codes (samples x units, as of rb_encode_into) against every covariate. Statistic, p-value
 * and shares are NaN where there is nothing to test: the codes or the covariate do not vary, each
 * sample is a group of its own, or there are fewer than 3 samples. docs/howto/enrichment.md has the
 * statistics.
 *
 * tests begins as {.size = sizeof tests} and is to be cleared with rb_covariate_tests_clear, also
 * when it was not filled. RB_ERROR_ARGUMENT: its size, or codes that are sparse or of another
 * number of samples; RB_ERROR_DATA: a code that is not finite; RB_ERROR_STOPPED. */
RB_API rb_error rb_covariates_test(rb_context *context, const rb_covariates *table,
                                   const rb_matrix *codes, rb_covariate_tests *tests);
RB_API void rb_covariate_tests_clear(rb_covariate_tests *tests);

/* How well a unit marks a group: one unit, one group, over the samples that have a group. */
typedef struct rb_group_auc {
    int64_t unit, group;
    int64_t group_size;
    double auc; /* the probability that of a sample of the group and one of another the first has
                   the larger code; equal codes count half */
    double p_value, log10_p_value; /* Mann and Whitney's, two-sided (docs/howto/enrichment.md) */
    double fdr, log10_fdr;         /* Benjamini and Hochberg's over all rows */
    int64_t overlap; /* rb_covariates_overlap; -1: it was not asked, or the unit has no module */
} rb_group_auc;

typedef struct rb_group_aucs {
    size_t size;               /* sizeof(rb_group_aucs), set by the caller */
    rb_group_auc *rows;        /* n_units of the first group, of the second one, ... */
    int64_t n_groups, n_units; /* 0 groups where there are fewer than two: nothing to compare */
    int64_t n_samples;         /* with a group */
    int64_t *best; /* n_groups: the unit of largest AUC; where codes have signs, of the AUC
                          farthest from 1/2 */
} rb_group_aucs;

/* Every unit against every group of one covariate. aucs begins as {.size = sizeof aucs} and is to
 * be cleared with rb_group_aucs_clear. Errors are those of rb_covariates_test, and
 * RB_ERROR_ARGUMENT: there is no such covariate, or it is numbers. */
RB_API rb_error rb_covariates_auc(rb_context *context, const rb_covariates *table,
                                  int64_t covariate, const rb_matrix *codes, rb_group_aucs *aucs);
/* How many samples of each group are in the module of each unit; where both sides of a unit are
 * modules (rb_modules_other_side) in that of negative codes for an AUC below 1/2, else in the other
 * one. aucs: as rb_covariates_auc filled it, of the same covariate. RB_ERROR_ARGUMENT: there is no
 * such covariate, or it is numbers; RB_ERROR_DATA: a module holds a sample that is not there. */
RB_API rb_error rb_covariates_overlap(rb_context *context, const rb_covariates *table,
                                      int64_t covariate, const rb_modules *modules,
                                      rb_group_aucs *aucs);
RB_API void rb_group_aucs_clear(rb_group_aucs *aucs);
