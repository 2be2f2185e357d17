/* Matching features; private to src/data. */
#ifndef RB_MATCH_H
#define RB_MATCH_H

#include "data.h"

#include <stdio.h>

/* For each feature in use the feature of the source that it is, -1 when the source lacks it; NULL
 * when all stand in the same order (nothing to map). By name when both have names, else by
 * position. Reports missing and extra features. Free with rb_free. */
rb_error rb_match_features(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                           int64_t **input_of);

#endif
