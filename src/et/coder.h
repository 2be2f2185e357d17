/* Posteriors of samples under a model, at temperature 1. Private to src/et. */
#ifndef RB_ET_CODER_H
#define RB_ET_CODER_H

#include "fit.h"

typedef struct et_coder {
    et_model own_model; /* room for one that is made from a general table */
    et_parameters parameters;
    et_engine *engine;
    int64_t block_samples; /* of the blocks it is given, at most */
    rb_dense row;          /* 1 x D: a sample of a sparse block */
    et_results results;    /* room for as many of them as take a few megabytes */
} et_coder;

/* From now on posteriors keep what et_expect needs: their states, unless fields add up. */
rb_error et_coder_keep_states(rb_context *ctx, et_coder *coder);
/* Posteriors of a block into coder->results, for which it has room. */
rb_error et_code(rb_context *ctx, et_coder *coder, const rb_block *block);

/* <Wbar(s)> of the first samples of coder->results into rows, of the model's type and
 * contiguous. */
void et_expect(rb_context *ctx, et_coder *coder, rb_dense rows);

#endif
