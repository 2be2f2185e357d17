/* Log evidence and most probable state of samples. */
#include "coder.h"

static rb_error each_block(rb_context *ctx, et_coder *c, rb_feed *feed, rb_et_map_fn fn,
                           void *user) {
    int64_t causes[ET_MOST_ACTIVE];
    int64_t n = rb_feed_samples(feed), size = c->results.room;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_block block;
        err = rb_feed_read(ctx, feed, first, n - first < size ? n - first : size, &block);
        if (!err) {
            err = et_code(ctx, c, &block);
        }
        for (int64_t i = 0; !err && i < block.n_samples; i++) {
            int64_t count = et_map_causes(c->engine, &c->results, i, causes);
            int64_t failures = ctx->failures;
            err = fn(user, first + i, c->results.evidence[i], count, causes);
            if (err && ctx->failures == failures) {
                rb_fail(ctx, err, "the program stopped taking states at sample %lld",
                        (long long)(first + i));
            }
        }
    }
    return err;
}

rb_error rb_et_map(rb_context *ctx, const rb_model *model, rb_source *source, rb_et_map_fn fn,
                   void *user) {
    enum { SAMPLES = 4 * ET_TASK_SAMPLES };
    void *coder = NULL;
    rb_feed *feed = NULL;
    if (model->method->coder_new != et_coder_new) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "a model of method '%s' has no most probable states; only those of expectation "
            "truncation have",
            model->method->name);
    }
    rb_error err = et_coder_new(ctx, model, SAMPLES, &coder);
    if (!err) {
        err = rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    }
    if (!err) {
        err = each_block(ctx, coder, feed, fn, user);
    }
    rb_feed_free(feed);
    et_coder_free(coder);
    return err;
}
