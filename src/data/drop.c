/* Features that a fit can do without: those of one value throughout, and those with the values of
 * an earlier one, by hashes of 64 bits. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 256 };

/* splitmix64 (Steele et al. 2014). */
uint64_t rb_hash_value(int64_t place, double value) {
    uint64_t bits;
    value = isnan(value) ? NAN : value;
    memcpy(&bits, &value, sizeof bits);
    uint64_t z = bits + 0x9E3779B97F4A7C15u * ((uint64_t)place + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void rb_join_hashes(int64_t count, void *mine, const void *theirs) {
    uint64_t *sum = mine;
    const uint64_t *other = theirs;
    for (int64_t k = 0; k < count; k++)
        sum[k] += other[k];
}

/* ---- the same values ---- */

typedef struct hashed {
    uint64_t hash;
    int64_t place;
} hashed;

static int compare(const void *a, const void *b) {
    const hashed *x = a, *y = b;
    int by_hash = (x->hash > y->hash) - (x->hash < y->hash);
    return by_hash ? by_hash : (x->place > y->place) - (x->place < y->place);
}

rb_error rb_find_same(rb_context *ctx, const uint64_t *hashes, const bool *skip, int64_t count,
                      int64_t *first) {
    hashed *sorted = rb_alloc(ctx, count, sizeof *sorted);
    int64_t used = 0;
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        first[i] = -1;
        if (!skip[i]) sorted[used++] = (hashed){hashes[i], i};
    }
    if (used > 1) qsort(sorted, (size_t)used, sizeof *sorted, compare);
    for (int64_t i = 1, leader = 0; i < used; i++)
        if (sorted[i].hash == sorted[leader].hash)
            first[sorted[i].place] = sorted[leader].place;
        else
            leader = i;
    rb_free(sorted);
    return RB_OK;
}

/* ---- features ---- */

typedef struct hashing {
    const rb_matrix *rows;
    int64_t first; /* sample */
    uint64_t *hashes;
} hashing;

static void hash_tile(void *arg, int64_t index, int worker) {
    const hashing *h = arg;
    int64_t from = index * TILE;
    for (int64_t i = 0; i < h->rows->n_samples; i++) {
        rb_row row = rb_row_of(h->rows, i);
        for (int64_t e = rb_row_from(&row, from); e < row.count; e++) {
            int64_t k = row.columns ? row.columns[e] : e;
            if (k >= from + TILE) break;
            if (row.values[e] != 0) h->hashes[k] += rb_hash_value(h->first + i, row.values[e]);
        }
    }
}

void rb_hash_features(rb_context *ctx, const rb_matrix *rows, int64_t first, uint64_t *hashes) {
    hashing h = {rows, first, hashes};
    rb_parallel(ctx, (rows->n_features + TILE - 1) / TILE, hash_tile, &h);
}

static void tell(rb_context *ctx, int64_t constant, int64_t repeated) {
    if (constant > 0)
        rb_log(ctx, RB_LOG_INFO, "%lld constant feature%s dropped", (long long)constant,
               constant == 1 ? " is" : "s are");
    if (repeated > 0)
        rb_log(ctx, RB_LOG_INFO, "%lld feature%s the values of an earlier one, dropped",
               (long long)repeated, repeated == 1 ? " has" : "s have");
}

/* Those without a value are as constant as the others. */
rb_error rb_drop_choose(rb_context *ctx, int drop, const rb_moments *moments,
                        const uint64_t *hashes, int64_t count, bool *dropped) {
    int64_t *first = rb_alloc(ctx, count, sizeof *first), constant = 0, repeated = 0;
    if (!first) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < count; k++)
        dropped[k] = !(moments[k].squares > 0);
    rb_error err = hashes ? rb_find_same(ctx, hashes, dropped, count, first) : RB_OK;
    for (int64_t k = 0; !err && k < count; k++) {
        bool is_constant = dropped[k], is_repeated = hashes && first[k] >= 0;
        dropped[k] = (is_constant && drop != RB_DROP_DUPLICATES) || is_repeated;
        constant += dropped[k] && is_constant;
        repeated += is_repeated;
    }
    rb_free(first);
    if (!err) tell(ctx, constant, repeated);
    if (!err && constant + repeated == count)
        err = rb_fail(ctx, RB_ERROR_DATA, "`drop=constant` leaves none of the %lld features",
                      (long long)count);
    return err;
}
