/* Posteriors of samples under a model, at temperature 1. Private to src/et. */
#ifndef RB_ET_CODER_H
#define RB_ET_CODER_H

#include "fit.h"

typedef struct et_coder {
    et_model own_model; /* room for one that is made from a general table */
    et_engine *engine;
    et_results results;
} et_coder;

/* Posteriors of a block into coder->results. */
rb_error et_code(rb_context *ctx, et_coder *coder, const rb_block *block);

#endif
