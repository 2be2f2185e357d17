/* How many units: fits of every number in a range, measured on data that they have not seen. */
#ifndef RAREBIT_SELECT_H
#define RAREBIT_SELECT_H

#include <rarebit/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle with the options of a fit of that method (rarebit/fit.h), but these are other ones:
 *   units     the numbers to try: "2:20", "2:50:4" (every fourth), "5,10,20"
 *   restarts  fits of each number, from different starts; 10
 *   folds     parts that are held out in turn; 5; 0: nothing is held out
 *   permutations  data whose features are permuted, to which each number is fitted too; 0: none,
 *             else at least 19
 *   part      "3/100": only the third of 100 equal parts is done, on this machine
 * and checkpoint is a file that keeps the results of all fits, from which the same call goes on,
 * and of which rb_journal_merge (rarebit/checkpoint.h) makes one of several parts. Free with
 * rb_options_free. RB_ERROR_ARGUMENT: there is no such method. */
RB_API rb_error rb_select_options(rb_context *context, const char *method, rb_options **options);

/* What was found. It belongs to the caller. */
typedef struct rb_selection rb_selection;

/* What rb_select refuses before it looks at the samples. */
RB_API rb_error rb_select_check(rb_context *context, const rb_options *options);

/* Fits and measures; the data are read into memory once, and fits run side by side, one per thread.
 * docs/howto/select.md has the measures and the rule. *selection is NULL on failure, and where part
 * was given and others are missing. Errors are those of rb_fit, and RB_ERROR_ARGUMENT (folds: more
 * than samples). */
RB_API rb_error rb_select(rb_context *context, const rb_options *options, rb_source *source,
                          rb_selection **selection);
RB_API void rb_selection_free(rb_selection *selection); /* NULL is accepted */

/* One row per number of units, ascending. */
RB_API int64_t rb_selection_rows(const rb_selection *selection);
/* Names of the columns: NULL past the last.
 *   units
 *   objective          the best of the restarts; to be maximised
 *   objective_mean     of the restarts
 *   held_out           log-likelihood per sample, mean over samples when they were not fitted, but
 *                      for those that no number explains
 *   held_out_se        the standard error of its difference from the best row (0 there), over the
 *                      differences of the same samples
 *   held_out_error     mean squared error of the preprocessed data, of the same samples
 *   entry_error        of 5 % of their values, each predicted from the rest of its sample: squared
 *                      errors as a share of those of the mean of its feature; NaN for sparse data
 *   match              units of two restarts paired so that the correlation of their codes is
 *                      largest: the sum over the larger number of living units, mean over pairs
 *   shared             share of units whose partner's codes correlate by more than 0.9
 *   used               living units: not 0 in all samples; mean over restarts
 *   duplicated         units whose codes and loadings are those of another one; likewise
 *   background         units that are active in more than half of the samples: what centring leaves
 *                      of sparse causes; likewise
 *   empty              share of samples without an active unit; likewise
 *   beyond_noise       only with permutations: units whose information is larger than that of any
 *                      unit of permuted data (family-wise error rate 0.05); mean over restarts */
RB_API const char *rb_selection_name(const rb_selection *selection, int64_t column);
/* NaN where there is none, or it was not measured. */
RB_API double rb_selection_get(const rb_selection *selection, int64_t row, const char *name);

/* The number that the rule picks, the range that fits the data as well, and why, in a sentence:
 * also where the rule cannot pick (then *units is 0). Valid as long as the selection. */
RB_API const char *rb_selection_choice(const rb_selection *selection, int64_t *units, int64_t *low,
                                       int64_t *high);

#ifdef __cplusplus
}
#endif
#endif
