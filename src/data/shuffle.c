/* A source that gives the samples of another one in an order of its own, for fits in batches.
 *
 * Samples are shuffled within pools of consecutive ones, and the pools among each other. Where any
 * sample can be had by itself (rb_source.at_random) a pool is as large as its order may be in
 * memory, nearly always all samples; of files that are read piece by piece a pool is a piece.
 */
#include "data.h"

#include <string.h>

enum {
    MAX_ORDERED = 1 << 22,        /* samples of a pool, where any can be had */
    POOL_CELLS = 1 << 22,         /* values of a pool that is read */
    POOL_SPARSE_SAMPLES = 1 << 14 /* samples of one that is sparse */
};

struct shuffle {
    rb_source *from;
    int64_t first, n; /* samples that change places among each other */
    int64_t pool_samples, pools;
    bool shuffled;
    rb_draws draws;      /* of the order at hand */
    int64_t *pool_order; /* pools */
    int64_t at;          /* which of them is the one at hand; -1: none */
    int64_t begins;      /* position of its first sample */
    int64_t size;        /* its samples */
    int64_t *order;      /* of its samples */
    rb_matrix pool;      /* its samples, unless they are read one by one */
    rb_appended rows;    /* what is given out */
    rb_buffer given;     /* and which samples these are */
};

static int64_t pool_samples(const rb_source *from) {
    int64_t wide = from->n_features > 1 ? from->n_features : 1;
    int64_t dense = wide < POOL_CELLS ? POOL_CELLS / wide : 1;
    return from->at_random ? MAX_ORDERED : from->sparse ? POOL_SPARSE_SAMPLES : dense;
}

/* Draws from `first` on. */
static void permute(struct shuffle *s, uint64_t first, int64_t count, int64_t *order) {
    s->draws.next = first;
    rb_draw_order(&s->draws, count, order);
}

static int64_t first_of_pool(const struct shuffle *s) {
    return s->first + s->pool_order[s->at] * s->pool_samples;
}

/* Goes to the pool that is the next one in the order. */
static rb_error load_next(rb_context *ctx, struct shuffle *s) {
    s->at++;
    s->begins += s->size;
    int64_t first = first_of_pool(s);
    s->size = rb_smaller(s->first + s->n - first, s->pool_samples);
    permute(s, (uint64_t)(s->pools + first), s->size, s->order);
    return s->from->at_random ? RB_OK : s->from->read(s->from, ctx, first, s->size, &s->pool);
}

/* Before the first pool of the order. */
static void rewind_order(struct shuffle *s) {
    s->at = -1;
    s->begins = s->first;
    s->size = 0;
}

/* Sample `sample` of the pool at hand becomes row `at`. */
static rb_error append(rb_context *ctx, struct shuffle *s, int64_t sample, int64_t at) {
    rb_source *from = s->from;
    rb_matrix row;
    rb_error err = RB_OK;
    ((int64_t *)s->given.data)[at] = first_of_pool(s) + sample;
    if (from->at_random)
        err = from->read(from, ctx, first_of_pool(s) + sample, 1, &row);
    else
        row = rb_matrix_part(&s->pool, sample, 1);
    return err ? err : rb_append(ctx, &s->rows, &row);
}

static rb_error read_shuffled(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    struct shuffle *s = source->state;
    source->order = NULL;
    if (!s->shuffled) return s->from->read(s->from, ctx, first, count, view);
    rb_error err = rb_buffer_hold(ctx, &s->given, count, sizeof(int64_t));
    err = err ? err : rb_append_begin(ctx, &s->rows, source, count);
    source->order = s->given.data;
    if (first < s->begins) rewind_order(s);
    for (int64_t at = 0; !err && at < count;) {
        if (first + at >= s->begins + s->size) {
            err = load_next(ctx, s);
        } else {
            err = append(ctx, s, s->order[first + at - s->begins], at);
            at++;
        }
    }
    *view = s->rows.rows;
    return err;
}

static void close_shuffled(rb_source *source) {
    struct shuffle *s = source->state;
    rb_free(s->pool_order);
    rb_free(s->order);
    rb_appended_free(&s->rows);
    rb_free(s->given.data);
    rb_free(s);
}

rb_error rb_source_shuffled(rb_context *ctx, rb_source *from, rb_source **out) {
    int64_t n = from->n_samples, size = pool_samples(from), max = rb_smaller(n, size);
    struct shuffle state = {
        .from = from, .n = n, .pool_samples = size, .pools = (n + size - 1) / size};
    rb_source like = *from;
    like.path = NULL;
    like.of = from;
    like.of_which = NULL;
    like.reads_ahead = false; /* the order may change between two blocks */
    like.read = read_shuffled;
    like.close = close_shuffled;
    rb_error err = rb_source_make(ctx, &like, &state, sizeof state, out);
    if (err) return err;
    struct shuffle *s = (*out)->state;
    s->pool_order = rb_alloc(ctx, s->pools, sizeof *s->pool_order);
    s->order = rb_alloc(ctx, max, sizeof *s->order);
    if (!s->pool_order || !s->order) {
        rb_source_free(*out);
        *out = NULL;
        return RB_ERROR_MEMORY;
    }
    return RB_OK;
}

void rb_source_shuffle_within(rb_source *source, int64_t first, int64_t n) {
    struct shuffle *s = source->state;
    s->first = first;
    s->n = n;
    s->pools = (n + s->pool_samples - 1) / s->pool_samples;
}

void rb_source_shuffle(rb_source *source, rb_stream stream) {
    struct shuffle *s = source->state;
    s->shuffled = true;
    s->draws = (rb_draws){stream, 0};
    rewind_order(s);
    permute(s, 0, s->pools, s->pool_order);
}

void rb_source_unshuffle(rb_source *source) {
    ((struct shuffle *)source->state)->shuffled = false;
}
