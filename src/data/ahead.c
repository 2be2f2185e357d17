/* Reading ahead: the next block of a source is read by a thread in the background while the caller
 * works on the one before.
 *
 * A source is asked by one thread at a time: nothing is asked of it between start and the next
 * read, which waits. The thread has a context of its own, whose error message is handed over by
 * that read.
 */
#include "data.h"

/* Not with one thread: who asks for one wants the others left alone. */
void rb_ahead_begin(const rb_context *ctx, rb_source *source, rb_ahead *ahead) {
    *ahead = (rb_ahead){.source = source};
    if (source->reads_ahead && ctx->threads > 1) {
        ahead->own = (rb_context){.threads = 1,
                                  .kernels = ctx->kernels,
                                  .max_expansion = ctx->max_expansion,
                                  .allocations_left = -1};
        ahead->active = source->ahead = true;
    }
}

void rb_ahead_end(rb_ahead *ahead) {
    rb_background_wait(&ahead->thread);
    if (ahead->active) {
        ahead->source->ahead = false;
    }
}

static void read_block(void *arg) {
    rb_ahead *ahead = arg;
    ahead->err =
        ahead->source->read(ahead->source, &ahead->own, ahead->first, ahead->count, &ahead->view);
}

void rb_ahead_start(rb_ahead *ahead, int64_t first, int64_t count) {
    if (ahead->active) {
        ahead->first = first;
        ahead->count = count;
        ahead->begun = true;
        rb_background_start(&ahead->thread, read_block, ahead);
    }
}

rb_error rb_ahead_read(rb_context *ctx, rb_ahead *ahead, int64_t first, int64_t count,
                       rb_matrix *view) {
    rb_error err = rb_check_stop(ctx);
    if (err || !ahead->begun) {
        return err ? err : ahead->source->read(ahead->source, ctx, first, count, view);
    }
    rb_background_wait(&ahead->thread);
    ahead->begun = false;
    if (ahead->first != first || ahead->count != count) {
        return ahead->source->read(ahead->source, ctx, first, count, view);
    }
    *view = ahead->view;
    return ahead->err ? rb_fail(ctx, ahead->err, "%s", ahead->own.message) : RB_OK;
}
