/* Posteriors of samples under a model, at temperature 1. Private to src/et. */
#ifndef RB_ET_CODER_H
#define RB_ET_CODER_H

#include "fit.h"

typedef struct et_coder {
    et_model own_model; /* room for one that is made from a general table */
    et_engine *engine;
    et_results results;
} et_coder;

/* With room for the posteriors of so many samples as take a few megabytes, at most block_samples;
 * their states too, or means alone. */
rb_error et_coder_of(rb_context *ctx, const rb_model *model, int64_t block_samples, bool states,
                     et_coder **coder);
/* Posteriors of a block into coder->results, for which it has room. */
rb_error et_code(rb_context *ctx, et_coder *coder, const rb_block *block);

#endif
