/* Batches: an M-step after every so many samples instead of all of them.
 *
 * The incremental EM of R. M. Neal, G. E. Hinton, "A view of the EM algorithm that justifies
 * incremental, sparse, and other variants" (1998), in the form with decaying moments, which are the
 * method's. An iteration is a pass over all samples in a new order; the last batch may be smaller.
 * Of several processes each has a part of every batch, and an order of its own samples: so a fit
 * is the same again with as many processes, and another one with others.
 */
#include "em.h"

rb_error rb_batches_begin(rb_context *ctx, rb_run *run, rb_source *source) {
    const rb_problem *problem = &run->problem;
    if (problem->batch_samples == 0 || problem->batch_samples >= problem->n_samples) return RB_OK;
    if (!run->method->takes_batches) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method '%s' cannot be fitted in batches; leave out `batch-size`",
                       run->method->name);
    }
    rb_error err = rb_source_shuffled(ctx, source, &run->shuffled);
    if (!err) rb_source_shuffle_within(run->shuffled, problem->first, problem->own);
    if (!err && rb_ranks(ctx) > 1)
        rb_log(
            ctx, RB_LOG_INFO,
            "each of %d processes takes its part of a batch from its own samples; another number "
            "of processes gives another fit",
            rb_ranks(ctx));
    return err;
}

void rb_batches_shuffle(const rb_run *run, int64_t iteration) {
    const rb_fit_options *fit = run->problem.fit;
    if (!run->shuffled || fit->keep_order) return;
    /* Each iteration has a key of its own, each restart too. */
    rb_stream stream = {.seed = (uint64_t)fit->seed,
                        .purpose = RB_RANDOM_SHUFFLE,
                        .restart = (uint32_t)run->problem.restart};
    stream.seed = rb_random_key(stream, (uint64_t)iteration);
    rb_source_shuffle(run->shuffled, stream);
}

void rb_batches_in_order(const rb_run *run) {
    if (run->shuffled) rb_source_unshuffle(run->shuffled);
}
