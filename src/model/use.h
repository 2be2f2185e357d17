/* A walk over samples with a model. Private to src/model. */
#ifndef RB_MODEL_USE_H
#define RB_MODEL_USE_H

#include "model.h"

/* A coder, and what a walk over samples needs besides. */
struct rb_coder {
    const rb_model *model;
    void *own; /* the method's coder */
    int threads;
    int64_t block_samples;
    rb_dense codes;         /* block_samples x units */
    rb_dense rows;          /* block_samples x features, when samples are rebuilt */
    bool keeps;             /* of these only the values that are missing */
    rb_feed *feed;          /* of the source that is walked */
    rb_block block;         /* what it gave last */
    rb_source samples;      /* of rb_coder_encode: the matrix that it was given last */
    rb_model *top;          /* of a stack, its last layer: the model; NULL: of no stack */
    rb_source *codes_below; /* and what that encodes */
    const rb_dense *given;  /* the codes of all samples, which are not made; NULL: they are */
    rb_below *below; /* counts values below 0 where the method explains none; NULL: nobody asks */
};

/* Everything but the feed; rebuild: with rows. To be cleared in any case, as after the next one. */
rb_error rb_coder_prepare(rb_context *ctx, rb_coder *coder, const rb_model *model,
                          int64_t n_samples, bool rebuild);
/* For the codes of the samples of a source. */
rb_error rb_coder_start(rb_context *ctx, rb_coder *coder, const rb_model *model, rb_source *source);
/* The same with the samples as blocks, which between the layers of a stack there are not; rebuild:
 * with rows. */
rb_error rb_coder_start_blocks(rb_context *ctx, rb_coder *coder, const rb_model *model,
                               rb_source *source, bool rebuild);
/* Samples first .. end - 1, block by block, to the program. */
rb_error rb_coder_run(rb_context *ctx, rb_coder *coder, int64_t first, int64_t end, rb_rows_fn fn,
                      void *user);
/* The same of all n samples, shared out among the processes, all of which get all rows (share.c).
 * err: of what came before, in this process. blocks: the samples of the rows are in the coder. */
rb_error rb_coder_walk(rb_context *ctx, rb_coder *coder, rb_error err, int64_t n, bool blocks,
                       rb_rows_fn fn, void *user);
void rb_coder_clear(rb_coder *coder);
/* Codes of samples of the source, block_samples at most: valid until the next call. */
rb_error rb_coder_block(rb_context *ctx, rb_coder *coder, int64_t first, int64_t count,
                        rb_matrix *view);
/* The first `count` rows, preprocessed samples, from as many codes. */
rb_error rb_coder_decode(rb_context *ctx, rb_coder *coder, int64_t count);
/* Rows to the program; where it fails without a message this is one. */
rb_error rb_give_rows(rb_context *ctx, rb_rows_fn fn, void *user, int64_t first,
                      const rb_matrix *rows);
/* Takes rows as the program does: into the rb_target `user`. */
rb_error rb_copy_rows(void *user, int64_t first, const rb_matrix *rows);
/* What overflows on the way must not be written without a word: RB_ERROR_NUMERIC names the sample
 * of a value that is not finite. what: "codes". */
rb_error rb_coder_check(rb_context *ctx, int64_t first, rb_dense rows, const char *what);

#endif
