/* Samples of a model that lack values, block by block: codes and evaluation. Private to src/rfn. */
#ifndef RB_RFN_LACKING_H
#define RB_RFN_LACKING_H

#include "coder.h"
#include "patterns.h"

typedef struct rfn_lacking {
    const rfn_coder *coder;
    rb_scratch scratch;
    rfn_piece piece; /* room for a block; and what is in it: */
    rfn_piece block;
    rb_dense weighted; /* Psi^-1 W */
    rb_dense linear;   /* Q of the block */
    rfn_pattern_work work;
    rb_dense masks, precisions, covariances; /* of some patterns */
    double *log_dets;
    rfn_keyed *order;          /* samples by what they lack */
    int64_t *pattern;          /* of each of them: which of those at hand */
    double *squares;           /* of each worker: l x l, and codes and Q of a sample */
    rb_active *active;         /* likewise; of a model with multipliers */
    const double *multipliers; /* NULL: none */
    const bool *dead;
} rfn_lacking;

/* For a coder that has its parameters; NULL in *lacking for one whose preprocessing leaves no value
 * missing. To be freed whatever comes back. */
rb_error rfn_lacking_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                         const rfn_coder *coder, rfn_lacking **lacking);
void rfn_lacking_free(rfn_lacking *lacking);
/* Takes a block; how many of its samples lack values. lacking->block has it with zeros for these,
 * and Q is there. RB_ERROR_UNSUPPORTED: the model cannot do without them. */
rb_error rfn_lacking_take(rb_context *ctx, rfn_lacking *lacking, const rb_block *block,
                          int64_t *samples);
/* Codes of those samples of the block that lack values, into its rows. */
rb_error rfn_lacking_encode(rb_context *ctx, rfn_lacking *lacking, rb_dense codes);
/* mu_p of all samples of the block; of each ln |Sigma| and <M^-1, Sigma>. */
rb_error rfn_lacking_means(rb_context *ctx, rfn_lacking *lacking, rb_dense means, double *log_dets,
                           double *traces);
/* evaluate_lacking.c: the metrics of samples of which some lack values. */
rb_error rfn_evaluate_lacking(rb_context *ctx, rfn_coder *coder, rb_feed *feed,
                              int64_t block_samples, rb_metrics *metrics);

#endif
