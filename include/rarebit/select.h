/* How many units are stable: fits of several numbers, from other starts, of other samples. */
#pragma once

#include <rarebit/fit.h>
#include <rarebit/table.h>

/* A handle with the options of a fit of that method (rarebit/fit.h), but these are other ones:
 *   units     the numbers to try: "10:20:5" (every fifth, the default), "2:20", "5,10,20"
 *   restarts  fits of each number, from different starts; 6; the next multiple of folds
 *   folds     parts of the samples, of which each fit holds out one in turn; 3; 0: nothing is held
 *             out
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
 *   stable             units that recur in the fits, in a share of 0.85 at least, each counted by
 *                      how similar its unit is (rarebit/consensus.h); but for background, and units
 *                      of a single sample or feature; NaN for one fit
 *   objective          the best of the fits; to be maximised
 *   objective_mean     of the fits
 *   held_out           log-likelihood per sample, mean over samples when they were not fitted, but
 *                      for those that no number explains
 *   held_out_se        the standard error of its difference from the best row (0 there), over the
 *                      differences of the same samples
 *   held_out_error     mean squared error of the preprocessed data, of the same samples
 *   entry_error        of a fifth of their values, predicted a twentieth at a time from the rest of
 *                      the sample: squared errors as a share of those of the mean of the feature;
 *                      NaN for sparse data
 *   match              units of two fits paired so that the correlation of their codes is
 *                      largest: the sum over the larger number of living units, mean over pairs
 *   shared             share of units whose partner's codes correlate by more than 0.9
 *   used               living units: not 0 in all samples; mean over fits
 *   duplicated         units whose codes and loadings are those of another one; likewise
 *   background         units whose codes have a negative skewness: what centring leaves of sparse
 *                      causes; likewise
 *   empty              share of samples without an active unit; likewise
 *   beyond_noise       only with permutations: units whose information is larger than that of any
 *                      unit of permuted data (family-wise error rate 0.05); mean over fits */
RB_API const char *rb_selection_name(const rb_selection *selection, int64_t column);
/* NaN where there is none, or it was not measured. */
RB_API double rb_selection_get(const rb_selection *selection, int64_t row, const char *name);

/* How many units are stable, by the median over the numbers tried from half of the largest on; the
 * smallest and the largest of these; and a sentence. *units is 0 where nothing is stable, and where
 * one fit of each number cannot tell. Valid as long as the selection. */
RB_API const char *rb_selection_choice(const rb_selection *selection, int64_t *units, int64_t *low,
                                       int64_t *high);
/* The row to fit: the first of those whose fits have as many stable units; -1: there is none. */
RB_API int64_t rb_selection_row(const rb_selection *selection);
/* The same as a table, with `choice`, "picked" in that row, and `data`, the checksum of the data:
 * rb_report_write asks for it. Valid as long as the selection. */
RB_API rb_table rb_selection_table(const rb_selection *selection);
