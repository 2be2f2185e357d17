/* The option table of preprocessing. */
#include "data.h"

#include <float.h>
#include <stddef.h>

static const rb_option table[] = {
    {"missing", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, missing), "refuse", 0, 0,
     "refuse|mean|median|omit|model", "HOW",
     "fill missing values with the mean or median of the feature, or leave them out of the "
     "likelihood (model)",
     RB_OPTION_COMMON},
    {"totals", 0, RB_OPTION_NUMBER, offsetof(rb_preprocess_options, totals), "0", 0, DBL_MAX, NULL,
     "SUM", "scale each sample to this total, or the median one (0: never)", RB_OPTION_COMMON,
     .word = "median"},
    {"log1p", 0, RB_OPTION_FLAG, offsetof(rb_preprocess_options, log1p), "false", 0, 0, NULL, NULL,
     "take log(1 + x), after --totals", RB_OPTION_COMMON},
    {"centre-samples", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, centre_samples), "none",
     0, 0, "none|mean|median", "HOW",
     "subtract the mean or median of each sample, after --log1p: removes a level shared by all "
     "features, such as the brightness of an array (dense data)"},
    {"drop", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, drop), "none", 0, 0,
     "none|constant|duplicates|duplicates,constant|constant,duplicates", "WHICH",
     "drop features with one value throughout, and all but the first of equal features"},
    {"top-variance", 0, RB_OPTION_INTEGER, offsetof(rb_preprocess_options, top_variance), "0", 0,
     9e18, NULL, "N", "keep the N features of largest variance (0: all)", RB_OPTION_COMMON},
    {"centre", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, centre), "auto", 0, 0,
     "mean|median|none|auto", "HOW",
     "subtract the mean or median of each feature (auto: for rfn the mean where many values are "
     "equal, as of counts, and else the median; for others what the method takes)"},
    {"scale", 0, RB_OPTION_CHOICE, offsetof(rb_preprocess_options, scale), "none", 0, 0,
     "none|sd|iqr", "HOW", "divide each feature by its standard deviation or interquartile range"},
    {"regress", 0, RB_OPTION_TEXT, offsetof(rb_preprocess_options, regress), NULL, 0, 0, NULL,
     "NAMES",
     "remove the linear effects of covariates: 'batch,age'; 'batch:groups' treats numbers as "
     "labels",
     RB_OPTION_COMMON},
    {0},
};

const rb_option_group rb_preprocess_group = {sizeof(rb_option), "Preprocessing", table,
                                             sizeof(rb_preprocess_options), NULL};
