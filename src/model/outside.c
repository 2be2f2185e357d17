/* What a method outside of the library needs: blocks, feeds, arrays and sentences by functions. */
#include "model.h"

int64_t rb_block_first(const rb_block *block) {
    return block->first;
}

int64_t rb_block_samples(const rb_block *block) {
    return block->n_samples;
}

void rb_block_values(const rb_block *block, int64_t row, int64_t count, double *values) {
    rb_block_rows(block, row,
                  (rb_dense){values, count, block->n_features, block->n_features, RB_FLOAT64});
}

rb_error rb_feed_values(rb_context *ctx, rb_feed *feed, int64_t first, int64_t count,
                        double *values) {
    rb_block block;
    rb_error err = rb_feed_read(ctx, feed, first, count, &block);
    if (!err) {
        rb_block_values(&block, 0, count, values);
    }
    return err;
}

rb_type rb_model_type(const rb_model *model) {
    return model->type;
}

rb_error rb_context_fail(rb_context *ctx, rb_error code, const char *sentence) {
    return rb_fail(ctx, code, "%s", sentence);
}
