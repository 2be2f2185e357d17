/* Samples, and features, that are the same throughout: by their hashes, of 64 bits. */
#include "check.h"

#include <stdlib.h>

typedef struct hashed {
    uint64_t hash;
    int64_t place;
} hashed;

static int compare(const void *a, const void *b) {
    const hashed *x = a, *y = b;
    int by_hash = (x->hash > y->hash) - (x->hash < y->hash);
    return by_hash ? by_hash : (x->place > y->place) - (x->place < y->place);
}

/* Counts those that are as one before; the first pair in the order of the data. Constant ones are
 * found elsewhere. */
static rb_error find_same(rb_context *ctx, const rb_tally *tallies, int64_t count, int64_t *same,
                          int64_t pair[2]) {
    hashed *sorted = rb_alloc(ctx, count, sizeof *sorted);
    int64_t used = 0;
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        if (tallies[i].low < tallies[i].high) sorted[used++] = (hashed){tallies[i].hash, i};
    if (used > 1) qsort(sorted, (size_t)used, sizeof *sorted, compare);
    for (int64_t i = 1; i < used; i++) {
        if (sorted[i].hash != sorted[i - 1].hash) continue;
        if (*same == 0 || sorted[i].place < pair[1]) {
            pair[0] = sorted[i - 1].place;
            pair[1] = sorted[i].place;
        }
        ++*same;
    }
    rb_free(sorted);
    return RB_OK;
}

rb_error rb_look_find_same(rb_look *look) {
    rb_error err =
        find_same(look->ctx, look->samples, look->looked, &look->same_samples, look->same);
    return err ? err
               : find_same(look->ctx, look->features, look->m, &look->same_features,
                           look->same_feature);
}
