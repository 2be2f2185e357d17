/* Preprocessing: fitted on the training data, stored in the model, replayed on new data.
 *
 * Order: samples are scaled to equal totals (of the values that are there), log1p, each sample
 * centred, effects of covariates taken out, missing values filled or left out, features dropped and
 * selected by variance, centred, scaled. It is applied to each block on its way in: the input is
 * never copied whole, and centring never fills the zeros of a sparse one.
 *
 * Dense values of the precision of the fit that are centred and scaled, and nothing else, are so in
 * that precision; all others in float64, rounded once. In float32 the two agree to 2^-22 of the
 * larger of value and centre, over the scale.
 *
 * Options are described by their rows (rarebit/options.h).
 */
#pragma once

#include <rarebit/context.h>

typedef enum rb_missing {
    RB_MISSING_REFUSE = 0,
    RB_MISSING_MEAN,
    RB_MISSING_MEDIAN,
    RB_MISSING_OMIT, /* NaN stays: for methods that leave it out of their sums (rarebit/et.h,
                      * rarebit/rfn.h) */
    RB_MISSING_MODEL /* the same by another name: the model integrates missing values out */
} rb_missing;
typedef enum rb_centre {
    RB_CENTRE_MEAN = 0,
    RB_CENTRE_MEDIAN,
    RB_CENTRE_NONE,
    RB_CENTRE_AUTO /* what the method wants: nothing for those of rarebit/et.h; for rfn the mean
                    * where many values of a feature are equal, else the median; the mean for the
                    * others */
} rb_centre;
typedef enum rb_centre_samples {
    RB_CENTRE_SAMPLES_NONE = 0,
    RB_CENTRE_SAMPLES_MEAN,
    RB_CENTRE_SAMPLES_MEDIAN
} rb_centre_samples;
typedef enum rb_drop {
    RB_DROP_NONE = 0,
    RB_DROP_CONSTANT,   /* features with one value throughout, or none */
    RB_DROP_DUPLICATES, /* all but the first of features that vary and are equal */
    RB_DROP_BOTH,
    RB_DROP_BOTH_TURNED /* the same by another name */
} rb_drop;
typedef enum rb_scale { RB_SCALE_NONE = 0, RB_SCALE_SD, RB_SCALE_IQR } rb_scale;
