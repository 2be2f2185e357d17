/* The option table of preprocessing. */
#include "data.h"

#include <float.h>
#include <stddef.h>

static const rb_option table[] = {
    {"missing", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, missing), "refuse", 0, 0,
     "refuse|mean|median|omit|model", "HOW",
     "what to do with missing values (NaN, NA, an empty field): fill them with the mean or median "
     "of their feature, or let the model do without them, integrated out (model or omit, where the "
     "method can)",
     RB_OPTION_COMMON},
    {"totals", 0, RB_OPTION_NUMBER, offsetof(rb_preprocess_options, totals), "0", 0, DBL_MAX, NULL,
     "SUM", "scale every sample to this sum of values, 1e4 say; none may be below 0 (0: leave it)",
     RB_OPTION_COMMON},
    {"log1p", 0, RB_OPTION_FLAG, offsetof(rb_preprocess_options, log1p), "false", 0, 0, NULL, NULL,
     "take log(1 + x), after the totals", RB_OPTION_COMMON},
    {"centre-samples", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, centre_samples), "none",
     0, 0, "none|mean|median", "HOW",
     "what is subtracted from each sample, of its own values after --log1p: takes out a level that "
     "all features share, such as the brightness of an array (dense data)"},
    {"top-variance", 0, RB_OPTION_INTEGER, offsetof(rb_preprocess_options, top_variance), "0", 0,
     9e18, NULL, "N", "keep the N features of largest variance (0: all)", RB_OPTION_COMMON},
    {"centre", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, centre), "auto", 0, 0,
     "mean|median|none|auto", "HOW",
     "what is subtracted from each feature (auto: the mean, or nothing where the method wants data "
     "as "
     "they are)"},
    {"scale", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, scale), "none", 0, 0,
     "none|sd|iqr", "HOW", "what each feature is divided by"},
    {"regress", 0, RB_OPTION_TEXT, offsetof(rb_preprocess_options, regress), NULL, 0, 0, NULL,
     "NAMES",
     "take the effects of these covariates out of each feature, by least squares: 'batch,age'; a "
     "column of numbers that are only labels is 'batch:groups'",
     RB_OPTION_COMMON},
    {0},
};

const rb_option_group rb_preprocess_group = {sizeof(rb_option), "Preprocessing", table,
                                             sizeof(rb_preprocess_options), NULL};
