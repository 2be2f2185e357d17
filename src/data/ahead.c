/* Reading ahead: the next block of a source is read by a thread in the background while the caller
 * works on the one before. Which one that is follows from the blocks before: walks go through the
 * samples in order, and begin again.
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
    if (ahead->active) ahead->source->ahead = false;
}

static void read_block(void *arg) {
    rb_ahead *ahead = arg;
    ahead->err =
        ahead->source->read(ahead->source, &ahead->own, ahead->first, ahead->count, &ahead->view);
}

/* Begins to read the block after this one, if this one is part of a walk from the first sample. */
static void read_next(rb_ahead *ahead, int64_t first, int64_t count) {
    int64_t n = ahead->source->n_samples, next = first + count;
    bool begins = first == 0, goes_on = first == ahead->walk_end && first > 0;
    bool again = ahead->walked, ends = next == n;
    ahead->walk_end = next;
    ahead->walk_count = begins || ahead->walk_count == 0 ? count : ahead->walk_count;
    if (!begins && (!goes_on || (count < ahead->walk_count && !ends))) return;
    ahead->walked = again || ends;
    if (!ends || (again && !begins)) {
        ahead->first = ends ? 0 : next;
        ahead->count = rb_smaller(n - ahead->first, ahead->walk_count);
        ahead->begun = true;
        rb_background_start(&ahead->thread, read_block, ahead);
    }
}

rb_error rb_ahead_read(rb_context *ctx, rb_ahead *ahead, int64_t first, int64_t count,
                       rb_matrix *view) {
    rb_error err = rb_check_stop(ctx);
    if (err) return err;
    rb_background_wait(&ahead->thread);
    if (ahead->begun && ahead->first == first && ahead->count == count) {
        *view = ahead->view;
        err = ahead->err ? rb_fail(ctx, ahead->err, "%s", ahead->own.message) : RB_OK;
    } else {
        err = ahead->source->read(ahead->source, ctx, first, count, view);
    }
    ahead->begun = false;
    if (!err && ahead->active) read_next(ahead, first, count);
    return err;
}
