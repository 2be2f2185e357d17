/* Covariates: what is known of each sample besides its features, such as its batch or the age of
 * the donor.
 *
 * They are bound to a source by name. The option `regress` of a fit (rarebit/preprocess.h) takes
 * the effects of those that it names out of the data, and so does whatever uses the model later:
 * the source of new samples needs their covariates as well. Equations: docs/howto/regress.md.
 */
#pragma once

#include <rarebit/matrix.h>

/* Binds a covariate of numbers to the samples of a source, one each, in their order; NaN: it is not
 * known. One of that name is replaced. Everything is copied. Slices of the source that are made
 * afterwards have it, too. To be called while nothing else uses the source. RB_ERROR_ARGUMENT: an
 * empty name, one with a comma or one that ends in ":groups" or ":numbers"; another number of
 * values than there are samples; an infinite number; more than 32 covariates. */
RB_API rb_error rb_source_set_numbers(rb_context *context, rb_source *source, const char *name,
                                      const double *values, int64_t count);

/* The same for groups, by their names: "batch1". NULL or "": not known. */
RB_API rb_error rb_source_set_groups(rb_context *context, rb_source *source, const char *name,
                                     const char *const *groups, int64_t count);
