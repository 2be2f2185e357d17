/* Which method for these data? Every one that takes them, on one scale: docs/howto/methods.md. */
#pragma once

#include <rarebit/covariates.h>
#include <rarebit/table.h>

/* A handle with the options of a comparison and of preprocessing, for all methods the same:
 *   methods  names, by commas; not set: all but slow ones (rb_method.slow)
 *   units    of each fit; 10
 *   folds    parts of the samples, each left out of one fit, of a seed of its own; 5; 0: none is
 *   seeds    fits of all samples; 3; also the fits whose codes are matched where folds is 0
 *   seed     the first one; 1
 * regress is not among them. Free with rb_options_free. RB_ERROR_MEMORY. */
RB_API rb_error rb_methods_options(rb_context *context, rb_options **options);

/* What was found. It belongs to the caller. */
typedef struct rb_method_comparison rb_method_comparison;

/* Fits each method and compares. The data are read into memory once, and fits run side by side, one
 * per thread; but for seconds, results are the same bits for any number of threads. A progress
 * callback is told of fits. Values that are missing are refused unless the options say otherwise.
 *
 * options     of rb_methods_options; NULL: the defaults
 * source      samples x features
 * labels      one per sample, whose first covariate are the classes; NULL: there are none. Must
 *             stay as it is during the call
 * comparison  the result; NULL on failure
 *
 * A method that cannot be fitted to the data is left out, with the reason. RB_ERROR_ARGUMENT (an
 * option; a name that is no method; labels that are numbers or of other samples), RB_ERROR_DATA (no
 * method takes the data), RB_ERROR_STOPPED, and the errors of preprocessing and of reading. */
RB_API rb_error rb_methods_compare(rb_context *context, const rb_options *options,
                                   rb_source *source, const rb_covariates *labels,
                                   rb_method_comparison **comparison);
RB_API void rb_method_comparison_free(rb_method_comparison *comparison); /* NULL is accepted */

/* A row for each method, in the order of the context or as named. The columns say what they are;
 * lower errors, higher matches and AUCs are better. Valid as long as the comparison. */
RB_API rb_table rb_method_comparison_table(const rb_method_comparison *comparison);
/* Sentences: which methods are the best or within the spread of it, which to take for what, which
 * are left out and why. Likewise. */
RB_API const char *rb_method_comparison_summary(const rb_method_comparison *comparison);
