/* New samples, drawn from models. */
#pragma once

#include <rarebit/model.h>

/* The options of rb_sample, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_sample_group(void);

/* Draws samples from a model, on the scale of the data before preprocessing, and hands them on
 * block by block; docs/howto/sample.md says what distribution each method has.
 *   source NULL: codes come from the prior. Sample totals are those of the option, and effects of
 *   covariates what they were on average.
 *   else: from the codes of the samples of the source, by their posterior or as encoded (the table
 *   in docs/howto/sample.md).
 *   Every sample is taken once before one is taken again, and what is left is spread evenly over
 *   them; totals and effects of covariates are those of the sample. count 0: once each.
 * The same bits for any number of threads. options NULL: the defaults. RB_ERROR_UNSUPPORTED: the
 * method draws no samples, or has no prior. RB_ERROR_ARGUMENT: steps where there is no chain, or
 * noise other than 0 and 1 where it has no standard deviation (Poisson, binary units). Otherwise
 * errors are those of rb_encode. */
RB_API rb_error rb_sample(rb_context *context, const rb_model *model, rb_source *source,
                          const rb_options *options, rb_rows_fn fn, void *user);

/* The same into the caller's memory, as rb_encode_into has it: count x features in use. */
RB_API rb_error rb_sample_into(rb_context *context, const rb_model *model, rb_source *source,
                               const rb_options *options, rb_type type, void *rows,
                               int64_t row_stride, int64_t column_stride);

/* How many samples these options ask for. */
RB_API int64_t rb_sample_count(const rb_options *options, const rb_source *source);
