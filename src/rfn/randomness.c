/* What noise and dropout share: keys and room for random words. */
#include "state.h"

static int64_t row_room(const rfn_state *st) {
    int64_t m = st->problem.n_features, l = st->options.units, longest = l > m ? l : m;
    return (longest + RB_RANDOM_RUN - 1) / RB_RANDOM_RUN * RB_RANDOM_RUN;
}

rb_error rfn_randomness_new(rb_context *ctx, rfn_state *st) {
    if (st->options.input_noise == RB_RFN_NOISE_NONE && st->options.dropout == 0) {
        return RB_OK;
    }
    int64_t threads = rb_context_threads(ctx);
    st->words = rb_alloc(ctx, threads * row_room(st), sizeof *st->words);
    rb_error err = st->words ? rfn_noise_new(ctx, st) : RB_ERROR_MEMORY;
    return err ? err : rfn_dropout_new(ctx, st);
}

void rfn_randomness_begin(rfn_state *st) {
    rb_stream stream = {.seed = (uint64_t)st->problem.fit->seed,
                        .purpose = RB_RANDOM_INPUT_NOISE,
                        .restart = (uint32_t)st->problem.restart};
    st->noise.key = rb_random_key(stream, (uint64_t)st->iteration);
    stream.purpose = RB_RANDOM_DROPOUT;
    st->dropout.key = rb_random_key(stream, (uint64_t)st->iteration);
}

uint32_t *rfn_worker_words(const rfn_state *st, int worker) {
    return st->words + worker * row_room(st);
}

uint32_t rfn_random_threshold(double share) {
    return (uint32_t)(share * 0x1p32);
}
