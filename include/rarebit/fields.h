/* Which unit found which true cause, where the causes are known: bars tests, simulations. */
#pragma once

#include <rarebit/model.h>

/* The unit that represents a cause is the one whose field is nearest to it (least sum of squares):
 * for equal prior and Gaussian noise, the one most probable to be active, alone, in the noiseless
 * cause. Of several causes that have one nearest unit, the nearest of them keeps it. A cause is
 * found when it is represented and the mean |field - cause| over the features is below a tenth of
 * the largest |value| in the truth. (J. Luecke, J. Eggert, "Expectation truncation", JMLR 11, 2010,
 * appendix E, where that tenth is 1.) */
typedef struct rb_field_match {
    int64_t causes;
    int64_t causes_found;
    double mean_absolute_error; /* mean over the causes found; NaN when there is none */
    double *error;              /* causes: mean |field - cause| of the nearest unit's field */
    int64_t *unit;              /* causes: the unit that found it, from 0; -1: it was not found */
} rb_field_match;

/* Compares fields[n_features x n_units] (column h is the field of unit h; such as an array of a
 * model) with the truth, causes x features. match is to be cleared with rb_field_match_clear, also
 * when it was not filled. RB_ERROR_ARGUMENT: the truth has another number of features, or there are
 * no units or no causes. RB_ERROR_DATA: a value is not finite, or the truth is 0 throughout. */
RB_API rb_error rb_fields_match(rb_context *context, const double *fields, int64_t n_features,
                                int64_t n_units, const rb_matrix *truth, rb_field_match *match);

/* The same for the fields of a model, its loadings on the scale of the data. The truth is read
 * whole: causes x features in use. RB_ERROR_ARGUMENT too when the model has no loadings; and what
 * reading the truth may give. */
RB_API rb_error rb_model_match_fields(rb_context *context, const rb_model *model, rb_source *truth,
                                      rb_field_match *match);
RB_API void rb_field_match_clear(rb_field_match *match);

/* The 95 % Wilson interval of a rate of successes; 0 to 1 without a trial. */
RB_API void rb_success_interval(int64_t successes, int64_t trials, double *low, double *high);
