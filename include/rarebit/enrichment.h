/* Enrichment: known sets of features (pathways, targets) in the modules of a model. */
#pragma once

#include <rarebit/modules.h>

/* ---- sets of features, by name ---- */

typedef struct rb_feature_sets rb_feature_sets;

/* An empty list of sets; free it with rb_feature_sets_free. RB_ERROR_MEMORY. */
RB_API rb_error rb_feature_sets_new(rb_context *context, rb_feature_sets **sets);
RB_API void rb_feature_sets_free(rb_feature_sets *sets); /* NULL is accepted */
/* Adds a set of `count` names of features; a name that is there twice counts once. Everything is
 * copied. Files of sets: rb_feature_sets_read (rarebit/modules_file.h). RB_ERROR_MEMORY: the list
 * stays as it was. */
RB_API rb_error rb_feature_sets_add(rb_context *context, rb_feature_sets *sets, const char *name,
                                    const char *const *features, int64_t count);
RB_API int64_t rb_feature_sets_count(const rb_feature_sets *sets);
/* The name of a set, from 0; NULL when there is none. Valid until a set is added. */
RB_API const char *rb_feature_sets_name(const rb_feature_sets *sets, int64_t set);

/* ---- tests ---- */

/* The options of rb_modules_test_sets, for rb_options_add:
 *   gmt-min, gmt-max   sets of fewer or more of the features in use are left out: 5, 500 */
RB_API const rb_option_group *rb_sets_group(void);

typedef enum rb_set_question {
    RB_SET_UP = 0, /* are the module's features of weight above 0 more often in the set? */
    RB_SET_DOWN,   /* those of weight below 0? */
    RB_SET_RANK    /* have the set's features larger, or smaller, loadings than the others? */
} rb_set_question;

/* One module, one set, one question. */
typedef struct rb_set_test {
    int64_t module; /* rank, from 0 */
    int64_t unit;
    int64_t set;
    rb_set_question question;
    int64_t set_size; /* features in use that are in the set */
    int64_t size;     /* up and down: such features of the module; rank: features in use */
    int64_t overlap;  /* features in both */
    double expected;  /* up and down: of the overlap by chance, size set_size / features in use */
    double fold;      /* up and down: overlap / expected */
    double auc;       /* rank: the probability that of a feature in the set and another one the
                         first has the larger loading; equal ones count half. Else NaN */
    double p_value, log10_p_value; /* the first is 0 where it is too small for a number */
    double fdr, log10_fdr;         /* Benjamini and Hochberg's, likewise */
    const int64_t *features;       /* up and down: the overlap, features in use, largest |weight|
                                      first. rank: NULL */
} rb_set_test;

typedef struct rb_set_tests {
    size_t size; /* sizeof(rb_set_tests), set by the caller */
    /* By module, question and p-value. Of up and down, those with an overlap: the others have
     * p-value 1, and count as tests. */
    rb_set_test *rows;
    int64_t n_rows;
    int64_t n_overlap_tests, n_rank_tests; /* the two families of the false discovery rate */
    int64_t n_features;                    /* the background: features in use */
    int64_t n_sets, n_small, n_large;      /* sets tested, left out as too small, too large */
    int64_t *features;                     /* what rows point into */
} rb_set_tests;

/* Tests every set against every module, features of positive and negative weight apart. The
 * background is the features in use of the model, and of a set those that are among them; names
 * are compared as they are. The p-value of an overlap is hypergeometric, that of ranks Mann and
 * Whitney's, two-sided (docs/howto/enrichment.md). Two families: all overlaps, of all modules, sets
 * and both signs; all ranks.
 *
 * tests begins as {.size = sizeof tests} and is to be cleared with rb_set_tests_clear, also when it
 * was not filled. options may be NULL. A log message says how many names were found where these
 * are few. RB_ERROR_UNSUPPORTED: the model has no names of features; RB_ERROR_DATA: no name of a
 * set is one of the model, or no set has a size that is tested; RB_ERROR_ARGUMENT: the size of
 * tests, or gmt-min above gmt-max; RB_ERROR_STOPPED. */
RB_API rb_error rb_modules_test_sets(rb_context *context, const rb_modules *modules,
                                     const rb_model *model, const rb_feature_sets *sets,
                                     const rb_options *options, rb_set_tests *tests);
RB_API void rb_set_tests_clear(rb_set_tests *tests);
