/* Samples, and features, that are the same throughout: by their hashes, of 64 bits. */
#include "check.h"

/* Counts those that are as one before; the first pair in the order of the data. Constant ones are
 * found elsewhere. */
static rb_error find_same(rb_context *ctx, const rb_tally *tallies, int64_t count, int64_t *same,
                          int64_t pair[2]) {
    rb_scratch scratch = {.ctx = ctx};
    uint64_t *hashes = rb_take(&scratch, count, sizeof *hashes);
    bool *skip = rb_take(&scratch, count, sizeof *skip);
    int64_t *first = rb_take(&scratch, count, sizeof *first);
    for (int64_t i = 0; !scratch.err && i < count; i++) {
        hashes[i] = tallies[i].hash;
        skip[i] = !(tallies[i].low < tallies[i].high);
    }
    if (!scratch.err) scratch.err = rb_find_same(ctx, hashes, skip, count, first);
    for (int64_t i = 0; !scratch.err && i < count; i++) {
        if (first[i] < 0) continue;
        if (*same == 0) {
            pair[0] = first[i];
            pair[1] = i;
        }
        ++*same;
    }
    return rb_scratch_end(&scratch);
}

rb_error rb_look_find_same(rb_look *look) {
    rb_error err =
        find_same(look->ctx, look->samples, look->looked, &look->same_samples, look->same);
    return err ? err
               : find_same(look->ctx, look->features, look->m, &look->same_features,
                           look->same_feature);
}
