/* Several processes: sums and other combinations over all of them, and what they agree upon.
 *
 * Values are combined by a butterfly: with each of its partners, at distances 1, 2, 4 ..., a
 * process exchanges what it has so far. With a power of two processes sums are thereby added in the
 * binary tree that one process has (tree.c), and come out the same everywhere. Processes beyond a
 * power of two hand theirs to one of the others first. Once a partner cannot be reached nothing is
 * exchanged any more, and rb_comm_agree says so. */
#include "base.h"

#include <math.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, BROADCAST_BYTES = 1 << 30 };

rb_error rb_context_set_comm(rb_context *ctx, const rb_comm *comm) {
    rb_error err =
        comm ? rb_size_check(ctx, "the table of processes", comm->size, sizeof *comm) : RB_OK;
    if (!err && comm && (comm->rank < 0 || comm->rank >= comm->ranks))
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no process %d of %d", comm->rank,
                      comm->ranks);
    if (!err && comm && comm->ranks > 1 && !(comm->exchange && comm->broadcast))
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "the table of processes lacks a function");
    void *chunk = !err && comm ? rb_alloc_zero(ctx, CHUNK_BYTES, 1) : NULL;
    if (err || (comm && !chunk)) return err ? err : RB_ERROR_MEMORY;
    rb_free(ctx->chunk);
    ctx->chunk = chunk;
    ctx->comm = comm ? *comm : (rb_comm){0};
    ctx->lost = false;
    ctx->agreed = RB_OK;
    return RB_OK;
}

int rb_ranks(const rb_context *ctx) {
    return ctx->comm.ranks > 1 ? ctx->comm.ranks : 1;
}

int rb_ranks_here(const rb_context *ctx) {
    return ctx->comm.on_machine > 0 ? ctx->comm.on_machine : rb_ranks(ctx);
}

int rb_rank(const rb_context *ctx) {
    return ctx->comm.rank;
}

/* All waiting for others is here. send NULL: data go to all from one of them. */
static void meet(rb_context *ctx, int other, size_t bytes, const void *send, void *data) {
    const rb_comm *comm = &ctx->comm;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_WAITING);
    double began = rb_seconds();
    if (!ctx->lost) {
        ctx->lost = !(send ? comm->exchange(comm->user, other, bytes, send, data)
                           : comm->broadcast(comm->user, other, bytes, data));
    }
    ctx->waited += rb_seconds() - began;
    rb_phase_end(ctx, before);
}

/* What a partner has, on top of what is here. */
struct combining {
    int64_t count;
    size_t bytes;
    void *values;
    rb_combine_fn fn;
};

static void combine_with(rb_context *ctx, const struct combining *c, int partner) {
    meet(ctx, partner, c->bytes, c->values, ctx->chunk);
    if (!ctx->lost) c->fn(c->count, c->values, ctx->chunk);
}

static void combine_chunk(rb_context *ctx, const struct combining *c) {
    int rank = ctx->comm.rank, ranks = ctx->comm.ranks, branches = 1;
    while (2 * branches <= ranks)
        branches *= 2;
    if (rank >= branches) {
        meet(ctx, rank - branches, c->bytes, c->values, ctx->chunk);
        meet(ctx, rank - branches, c->bytes, ctx->chunk, c->values);
        return;
    }
    bool folds = rank + branches < ranks;
    if (folds) combine_with(ctx, c, rank + branches);
    for (int distance = 1; distance < branches; distance *= 2)
        combine_with(ctx, c, rank ^ distance);
    if (folds) meet(ctx, rank + branches, c->bytes, c->values, ctx->chunk);
}

void rb_comm_combine(rb_context *ctx, void *values, int64_t count, size_t size, rb_combine_fn fn) {
    int64_t most = CHUNK_BYTES / (int64_t)size;
    for (int64_t first = 0; rb_ranks(ctx) > 1 && first < count; first += most) {
        int64_t some = rb_smaller(count - first, most);
        combine_chunk(ctx, &(struct combining){some, (size_t)some * size,
                                               (char *)values + first * (int64_t)size, fn});
    }
}

void rb_comm_bring(rb_context *ctx, int from, void *data, size_t bytes) {
    int rank = rb_rank(ctx);
    for (size_t at = 0; (rank == 0 || rank == from) && at < bytes; at += CHUNK_BYTES) {
        size_t some = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        char *part = (char *)data + at;
        meet(ctx, rank == 0 ? from : 0, some, rank == 0 ? ctx->chunk : part,
             rank == 0 ? part : ctx->chunk);
    }
}

void rb_comm_broadcast(rb_context *ctx, int root, void *data, size_t bytes) {
    for (size_t at = 0; rb_ranks(ctx) > 1 && at < bytes; at += BROADCAST_BYTES) {
        size_t some = bytes - at < BROADCAST_BYTES ? bytes - at : BROADCAST_BYTES;
        meet(ctx, root, some, NULL, (char *)data + at);
    }
}

void rb_add_all(int64_t count, void *mine, const void *theirs) {
    double *sum = mine;
    const double *other = theirs;
    for (int64_t i = 0; i < count; i++)
        sum[i] += other[i];
}

static void max_all(int64_t count, void *mine, const void *theirs) {
    double *max = mine;
    const double *other = theirs;
    for (int64_t i = 0; i < count; i++)
        max[i] = fmax(max[i], other[i]);
}

static void add_counts(int64_t count, void *mine, const void *theirs) {
    int64_t *sum = mine;
    const int64_t *other = theirs;
    for (int64_t i = 0; i < count; i++)
        sum[i] += other[i];
}

void rb_comm_add(rb_context *ctx, int64_t count, double *values) {
    rb_comm_combine(ctx, values, count, sizeof *values, rb_add_all);
}

void rb_comm_max(rb_context *ctx, int64_t count, double *values) {
    rb_comm_combine(ctx, values, count, sizeof *values, max_all);
}

void rb_comm_count(rb_context *ctx, int64_t count, int64_t *values) {
    rb_comm_combine(ctx, values, count, sizeof *values, add_counts);
}

/* ---- what all agree upon ---- */

bool rb_stops(rb_context *ctx) {
    int64_t asked = rb_asked_to_stop(ctx);
    rb_comm_count(ctx, 1, &asked);
    return asked > 0;
}

bool rb_stops_alone(const rb_context *ctx) {
    return rb_ranks(ctx) == 1 && rb_asked_to_stop(ctx);
}

rb_error rb_comm_same(rb_context *ctx, int count, const double *values, const char *message) {
    double most[12]; /* and the least, turned over */
    message = message ? message
                      : "the processes do not have the same data; give all of them the same file";
    for (int i = 0; i < count; i++) {
        most[i] = values[i];
        most[count + i] = -values[i];
    }
    rb_comm_max(ctx, 2 * count, most);
    for (int i = 0; i < count; i++)
        if (most[i] != -most[count + i]) return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s", message);
    return RB_OK;
}

/* How many failed, and the first of them counted from the last. */
struct failures {
    int64_t count, first;
};

static void join_failures(int64_t count, void *mine, const void *theirs) {
    struct failures *all = mine;
    const struct failures *other = theirs;
    for (int64_t i = 0; i < count; i++) {
        all[i].count += other[i].count;
        all[i].first = all[i].first > other[i].first ? all[i].first : other[i].first;
    }
}

struct verdict {
    int64_t error;
    char message[sizeof((rb_context *)NULL)->message];
};

static bool is_failure(rb_error err) {
    return err && err != RB_ERROR_STOPPED && err != RB_ERROR_INTERRUPTED;
}

rb_error rb_comm_agree(rb_context *ctx, rb_error err) {
    int ranks = rb_ranks(ctx);
    if (ranks == 1 || (err && err == ctx->agreed)) return err; /* all have it already */
    if (err == RB_ERROR_MEMORY && rb_asked_to_stop(ctx)) err = rb_check_stop(ctx);
    struct failures failed = {err != RB_OK, err ? ranks - rb_rank(ctx) : 0};
    bool tells = ctx->comm.failing && is_failure(err);
    if (tells) ctx->comm.failing(ctx->comm.user, ctx->message);
    rb_comm_combine(ctx, &failed, 1, sizeof failed, join_failures);
    if (tells) ctx->comm.failing(ctx->comm.user, NULL);
    if (failed.count > 0) {
        int first = ranks - (int)failed.first;
        struct verdict verdict = {.error = err};
        memcpy(verdict.message, ctx->message, sizeof verdict.message);
        rb_comm_broadcast(ctx, first, &verdict, sizeof verdict);
        err = rb_fail(ctx, (rb_error)verdict.error, "%s", verdict.message);
        bool alone = failed.count < ranks && *verdict.message && is_failure(err);
        if (alone) rb_fail_prefix(ctx, "process %d: ", first);
    }
    ctx->agreed = err;
    return ctx->lost ? rb_fail(ctx, RB_ERROR_FILE,
                               "a process of the fit cannot be reached any more; start it again")
                     : err;
}
