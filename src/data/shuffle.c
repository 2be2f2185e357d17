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
    int64_t pool_samples, pools;
    bool shuffled;
    rb_draws draws;      /* of the order at hand */
    int64_t *pool_order; /* pools */
    int64_t at;          /* which of them is the one at hand; -1: none */
    int64_t begins;      /* position of its first sample */
    int64_t size;        /* its samples */
    int64_t *order;      /* of its samples */
    rb_matrix pool;      /* its samples; at random: the sample at hand */
    rb_matrix rows;      /* what is given out, in arrays of our own */
    void *values;
    int64_t *starts;
    int32_t *columns;
    int64_t capacity_values, capacity_starts;
};

static int64_t pool_samples(const rb_source *from) {
    if (from->at_random) {
        return MAX_ORDERED;
    }
    if (from->sparse) {
        return POOL_SPARSE_SAMPLES;
    }
    int64_t samples = from->n_features > 0 ? POOL_CELLS / from->n_features : POOL_CELLS;
    return samples > 0 ? samples : 1;
}

static int64_t size_of_pool(const struct shuffle *s, int64_t pool) {
    int64_t left = s->from->n_samples - pool * s->pool_samples;
    return left < s->pool_samples ? left : s->pool_samples;
}

/* Fisher and Yates; draws from `first` on. */
static void permute(struct shuffle *s, uint64_t first, int64_t count, int64_t *order) {
    s->draws.next = first;
    for (int64_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t other = rb_draw_integer(&s->draws, 0, i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static int64_t first_of_pool(const struct shuffle *s) {
    return s->pool_order[s->at] * s->pool_samples;
}

/* Goes to the pool that is the next one in the order. */
static rb_error load_next(rb_context *ctx, struct shuffle *s) {
    int64_t before = s->at >= 0 ? s->size : 0;
    s->at++;
    s->begins += before;
    int64_t first = first_of_pool(s);
    s->size = size_of_pool(s, s->pool_order[s->at]);
    permute(s, (uint64_t)(s->pools + first), s->size, s->order);
    return s->from->at_random ? RB_OK : s->from->read(s->from, ctx, first, s->size, &s->pool);
}

/* Which row of the pool a sample of it is. */
static rb_error find_row(rb_context *ctx, struct shuffle *s, int64_t sample, int64_t *row) {
    *row = s->from->at_random ? 0 : sample;
    return s->from->at_random ? s->from->read(s->from, ctx, first_of_pool(s) + sample, 1, &s->pool)
                              : RB_OK;
}

static rb_error reserve(rb_context *ctx, struct shuffle *s, int64_t values, int64_t samples) {
    if (values > s->capacity_values) {
        s->capacity_values = 0;
        rb_free(s->values);
        rb_free(s->columns);
        s->columns = NULL;
        s->values = rb_alloc(ctx, values, rb_type_size(s->from->type));
        if (s->from->sparse) {
            s->columns = rb_alloc(ctx, values, sizeof *s->columns);
        }
        if (!s->values || (s->from->sparse && !s->columns)) {
            return RB_ERROR_MEMORY;
        }
        s->capacity_values = values;
    }
    if (s->from->sparse && samples + 1 > s->capacity_starts) {
        s->capacity_starts = 0;
        rb_free(s->starts);
        s->starts = rb_alloc(ctx, samples + 1, sizeof *s->starts);
        if (!s->starts) {
            return RB_ERROR_MEMORY;
        }
        s->capacity_starts = samples + 1;
    }
    return RB_OK;
}

/* Appends a row of the pool to the rows, which have `filled` values. */
static void copy_dense(struct shuffle *s, int64_t row, int64_t filled) {
    const rb_matrix *pool = &s->pool;
    size_t size = rb_type_size(pool->type);
    const char *from = (const char *)pool->values + row * pool->row_stride * (int64_t)size;
    char *to = (char *)s->values + filled * (int64_t)size;
    if (pool->column_stride == 1) {
        memcpy(to, from, (size_t)pool->n_features * size);
        return;
    }
    for (int64_t k = 0; k < pool->n_features; k++) {
        memcpy(to + k * (int64_t)size, from + k * pool->column_stride * (int64_t)size, size);
    }
}

static void copy_sparse(struct shuffle *s, int64_t row, int64_t filled) {
    const rb_matrix *pool = &s->pool;
    size_t size = rb_type_size(pool->type);
    size_t count = (size_t)(pool->starts[row + 1] - pool->starts[row]);
    int64_t first = pool->starts[row] - pool->starts[0];
    memcpy(s->columns + filled, pool->columns + first, count * sizeof *s->columns);
    memcpy((char *)s->values + filled * (int64_t)size,
           (const char *)pool->values + first * (int64_t)size, count * size);
}

/* Of sparse rows the room grows pool by pool: what is there stays. */
static rb_error grow_sparse(rb_context *ctx, struct shuffle *s, int64_t filled, int64_t needed) {
    if (needed <= s->capacity_values) {
        return RB_OK;
    }
    size_t size = rb_type_size(s->from->type);
    void *values = rb_grow(ctx, s->values, filled, needed, size);
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    s->values = values;
    int32_t *columns = rb_grow(ctx, s->columns, filled, needed, sizeof *columns);
    if (!columns) {
        return RB_ERROR_MEMORY;
    }
    s->columns = columns;
    s->capacity_values = needed;
    return RB_OK;
}

static rb_error make_capacity_sparse(rb_context *ctx, struct shuffle *s, const int64_t *order,
                                     int64_t count, int64_t filled) {
    int64_t needed = filled, row;
    rb_error err = RB_OK;
    for (int64_t i = 0; i < count && !err; i++) {
        err = find_row(ctx, s, order[i], &row);
        needed += err ? 0 : s->pool.starts[row + 1] - s->pool.starts[row];
    }
    return err ? err : grow_sparse(ctx, s, filled, needed);
}

/* The samples at positions first .. first + count - 1 that the pool at hand has. */
static rb_error copy_from_pool(rb_context *ctx, struct shuffle *s, int64_t first, int64_t count,
                               int64_t done, int64_t *filled) {
    const int64_t *order = s->order + (first - s->begins);
    rb_error err = s->from->sparse ? make_capacity_sparse(ctx, s, order, count, *filled) : RB_OK;
    for (int64_t i = 0; i < count && !err; i++) {
        int64_t row;
        err = find_row(ctx, s, order[i], &row);
        if (!err && s->from->sparse) {
            copy_sparse(s, row, *filled);
            *filled += s->pool.starts[row + 1] - s->pool.starts[row];
            s->starts[done + i + 1] = *filled;
        } else if (!err) {
            copy_dense(s, row, *filled);
            *filled += s->from->n_features;
        }
    }
    return err;
}

static rb_error read_shuffled(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    struct shuffle *s = source->state;
    int64_t m = source->n_features, filled = 0, cells;
    if (!s->shuffled) {
        return s->from->read(s->from, ctx, first, count, view);
    }
    if (!rb_multiply(count, m, &cells)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a batch of %lld samples x %lld features is too large",
                       (long long)count, (long long)m);
    }
    rb_error err = reserve(ctx, s, source->sparse ? 1 : cells, count);
    if (!err && first < s->begins) {
        s->at = -1;
        s->begins = s->size = 0;
    }
    if (source->sparse && !err) {
        s->starts[0] = 0;
    }
    for (int64_t done = 0; !err && done < count;) {
        if (s->at < 0 || first + done >= s->begins + s->size) {
            err = load_next(ctx, s);
            continue;
        }
        int64_t left = s->begins + s->size - first - done;
        int64_t some = count - done < left ? count - done : left;
        err = copy_from_pool(ctx, s, first + done, some, done, &filled);
        done += some;
    }
    *view = (rb_matrix){.n_samples = count,
                        .n_features = m,
                        .type = source->type,
                        .sparse = source->sparse,
                        .values = s->values,
                        .row_stride = m,
                        .column_stride = 1,
                        .starts = s->starts,
                        .columns = s->columns};
    return err;
}

static void close_shuffled(rb_source *source) {
    struct shuffle *s = source->state;
    rb_free(s->pool_order);
    rb_free(s->order);
    rb_free(s->values);
    rb_free(s->starts);
    rb_free(s->columns);
    rb_free(s);
}

rb_error rb_source_shuffled(rb_context *ctx, rb_source *from, rb_source **out) {
    *out = NULL;
    rb_source *source = rb_source_new(ctx);
    struct shuffle *s = rb_alloc_zero(ctx, 1, sizeof *s);
    if (!source || !s) {
        rb_free(source);
        rb_free(s);
        return RB_ERROR_MEMORY;
    }
    *source = *from;
    source->path = from->path ? rb_copy_text(ctx, from->path) : NULL;
    source->reads_ahead = false; /* the order may change between two blocks */
    source->read = read_shuffled;
    source->close = close_shuffled;
    source->state = s;
    s->from = from;
    s->pool_samples = pool_samples(from);
    s->pools = (from->n_samples + s->pool_samples - 1) / s->pool_samples;
    int64_t max = from->n_samples < s->pool_samples ? from->n_samples : s->pool_samples;
    s->pool_order = rb_alloc(ctx, s->pools, sizeof *s->pool_order);
    s->order = rb_alloc(ctx, max, sizeof *s->order);
    if (!s->pool_order || !s->order || (from->path && !source->path)) {
        rb_source_free(source);
        return RB_ERROR_MEMORY;
    }
    *out = source;
    return RB_OK;
}

void rb_source_shuffle(rb_source *source, rb_stream stream) {
    struct shuffle *s = source->state;
    s->shuffled = true;
    s->draws = (rb_draws){stream, 0};
    s->at = -1;
    s->begins = s->size = 0;
    permute(s, 0, s->pools, s->pool_order);
}

void rb_source_unshuffle(rb_source *source) {
    ((struct shuffle *)source->state)->shuffled = false;
}
