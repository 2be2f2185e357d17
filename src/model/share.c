/* A walk of several processes over samples: each makes a run of codes, or of rebuilt samples, and
 * all get all runs in order. What is made of them then is what one process makes. */
#include "use.h"

enum { RUN_BYTES = 1 << 26 }; /* of rows that wait for their turn */

struct sharing {
    rb_context *ctx;
    rb_coder *coder;
    bool blocks; /* samples are asked for as well, which each process reads for itself */
    rb_rows_fn fn;
    void *user;
    rb_dense own, other; /* rows of a run of this process, and of a block of another */
};

/* A block of a walk, of `first` .. `end` - 1. */
static int64_t count_of(const struct sharing *s, int64_t first, int64_t end) {
    return rb_smaller(end - first, s->coder->block_samples);
}

static size_t bytes_of(rb_dense rows) {
    return (size_t)(rows.rows * rows.cols) * rb_type_size(rows.type);
}

/* Samples of a run where so many are left: whole blocks, for each process as many. */
static int64_t run_of(const struct sharing *s, int64_t left) {
    int64_t size = s->coder->block_samples, ranks = rb_ranks(s->ctx);
    int64_t blocks = (left + size - 1) / size, most = RUN_BYTES / (int64_t)(bytes_of(s->other) + 1);
    return size * rb_smaller((blocks + ranks - 1) / ranks, most < 1 ? 1 : most);
}

static rb_error begin(struct sharing *s, int64_t n) {
    rb_dense like = s->coder->rows.data ? s->coder->rows : s->coder->codes;
    s->other = like; /* for its size */
    int64_t run = run_of(s, n);
    s->other.data = NULL;
    rb_error err = rb_dense_new(s->ctx, like.type, run, like.cols, &s->own);
    return err ? err : rb_dense_new(s->ctx, like.type, like.rows, like.cols, &s->other);
}

static rb_error make_run(struct sharing *s, int64_t first, int64_t end) {
    const rb_target to = {s->own.type, s->own.data, s->own.ld, 1};
    rb_error err = RB_OK;
    for (int64_t at = first; !err && at < end; at += s->coder->block_samples) {
        rb_matrix view;
        err = rb_coder_block(s->ctx, s->coder, at, count_of(s, at, end), &view);
        if (!err) rb_matrix_copy(&view, at - first, &to);
    }
    return err;
}

/* The run of a process goes to all, also after an error, for which the others do not wait. */
static rb_error give_run(struct sharing *s, int rank, int64_t first, int64_t end, rb_error err) {
    bool mine = rank == rb_rank(s->ctx);
    for (int64_t at = first; at < end; at += s->coder->block_samples) {
        int64_t count = count_of(s, at, end);
        rb_dense rows = rb_dense_rows(mine ? s->own : s->other, mine ? at - first : 0, count);
        const rb_matrix view = rb_matrix_of(rows);
        rb_comm_broadcast(s->ctx, rank, rows.data, bytes_of(rows));
        if (!err && s->blocks)
            err = rb_feed_read(s->ctx, s->coder->feed, at, count, &s->coder->block);
        err = err ? err : rb_give_rows(s->ctx, s->fn, s->user, at, &view);
    }
    return err;
}

static rb_error walk(struct sharing *s, int64_t n) {
    int rank = rb_rank(s->ctx), ranks = rb_ranks(s->ctx);
    rb_error err = RB_OK;
    for (int64_t first = 0, run; !err && first < n; first += ranks * run) {
        run = run_of(s, n - first);
        int64_t own = first + rank * run;
        err = rb_comm_agree(s->ctx, make_run(s, own, rb_smaller(own + run, n)));
        if (err) return err;
        for (int64_t r = 0, at = first; r < ranks; r++, at += run)
            err = give_run(s, (int)r, at, rb_smaller(at + run, n), err);
        err = rb_comm_agree(s->ctx, err);
    }
    return err;
}

void rb_comm_sample(rb_context *ctx, const rb_problem *problem, int64_t sample, rb_dense row) {
    int64_t own = sample - problem->first;
    double owner = own >= 0 && own < problem->own ? rb_rank(ctx) : -1;
    rb_comm_max(ctx, 1, &owner);
    rb_comm_broadcast(ctx, (int)owner, row.data, bytes_of(row));
}

rb_error rb_coder_walk(rb_context *ctx, rb_coder *coder, rb_error err, int64_t n, bool blocks,
                       rb_rows_fn fn, void *user) {
    struct sharing s = {ctx, coder, blocks, fn, user, .own = {0}};
    if (rb_ranks(ctx) == 1) return err ? err : rb_coder_run(ctx, coder, 0, n, fn, user);
    ctx->agreed = RB_OK; /* of what came before */
    err = rb_comm_agree(ctx, err || n == 0 ? err : begin(&s, n));
    err = err ? err : rb_comm_same(ctx, 1, &(const double){(double)n}, NULL);
    err = err ? err : walk(&s, n);
    if (!err && coder->below) rb_below_join(ctx, coder->below);
    rb_dense_free(&s.own);
    rb_dense_free(&s.other);
    return err;
}
