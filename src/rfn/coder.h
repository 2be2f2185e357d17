/* Codes of samples: by the closed form with the stored scales; or exactly, for models with
 * multipliers. Private to src/rfn. */
#ifndef RB_RFN_CODER_H
#define RB_RFN_CODER_H

#include "posterior.h"

typedef struct rfn_coder {
    rb_rfn_options options; /* of the model, as far as codes need them */
    rfn_parameters parameters;
    rfn_posterior posterior;
    void *offset;                    /* l: of the block at hand */
    void *factors;                   /* l: 1 / scale, 0 for a dead unit */
    struct rfn_exact *exact;         /* of a model with multipliers, else NULL */
    void *zeros;                     /* l */
    double *task_sum, *task_largest; /* l a task: what rectifying reports, not used here */
} rfn_coder;

rb_error rfn_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void rfn_coder_free(void *coder);
rb_error rfn_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error rfn_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows);
/* mu_p of a block, bias and all, into codes (n_samples x l). */
void rfn_posterior_means(rb_context *ctx, rfn_coder *coder, const rb_block *block, rb_dense codes);

/* evaluate.c: metrics of a model on data. */
rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);

#endif
