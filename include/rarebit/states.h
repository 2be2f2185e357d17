/* Most probable states of samples, by models of causes that are there or not. */
#pragma once

#include <rarebit/model.h>

/* The most probable state of a sample, of causes that are there or not. The library sets size, and
 * later ones may add fields at the end; all is valid during the call. */
typedef struct rb_state {
    size_t size;
    int64_t sample;
    double log_evidence; /* of the sample */
    int64_t count;
    const int64_t *causes; /* count: those that are active, ascending from 0 */
    const double *values;  /* count: 1 where causes are binary */
} rb_state;

/* What it returns other than RB_OK ends the call. */
typedef rb_error (*rb_state_fn)(void *user, const rb_state *state);

/* The most probable states of the samples of a source, in order. RB_ERROR_UNSUPPORTED for a model
 * whose method has none; else as rb_encode. */
RB_API rb_error rb_states(rb_context *context, const rb_model *model, rb_source *source,
                          rb_state_fn fn, void *user);
