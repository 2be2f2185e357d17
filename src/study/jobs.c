/* Many independent jobs side by side: one per thread, each with a context of its own.
 *
 * Results are handed over in the order of the jobs, or group by group, so that nothing depends on
 * which thread did what. With a journal each result is on disk once it is made. Each of several
 * processes does its share, with a journal of its own, and gets the results of all.
 */
#include "study.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    int64_t job;
    double cost;
} piece;

enum { TAKEN = -1 };

typedef struct board {
    rb_context *ctx;
    const rb_jobs *jobs;
    rb_context **contexts; /* one per thread */
    rb_bytes *results;     /* one per job; data NULL: not done, or of size TAKEN */
    piece *mine;           /* jobs that are left to do here, in the order in which they begin */
    int64_t n_mine;
    double cost; /* of all of mine */
    const rb_journal_store *store;
    rb_journal *journal; /* NULL: none */
    double began;
    pthread_mutex_t lock; /* of what follows */
    int64_t begun;
    int64_t done;
    double cost_done;
    int64_t failed; /* the first job that failed; none: count */
    rb_error err;
    char message[1024];
    pthread_mutex_t taking;
    int64_t told; /* jobs that the last line of progress counted; of the caller alone */
} board;

static bool is_done(const board *b, int64_t job) {
    return b->results[job].data || b->results[job].size == TAKEN;
}

/* ---- groups ---- */

/* Is the group of a job whole, once that one is done? */
static bool is_whole(const board *b, int64_t job) {
    int64_t size = b->jobs->group, first = size > 0 ? job / size * size : 0, i = first;
    while (size > 0 && i < first + size && b->results[i].data)
        i++;
    return size > 0 && i == first + size;
}

/* Results of others come last. */
static bool is_whole_here(const board *b, int64_t job) {
    return rb_ranks(b->ctx) == 1 && is_whole(b, job);
}

/* No other thread looks at the results of a group that is whole. */
static rb_error take_group(board *b, rb_context *ctx, int64_t job) {
    int64_t size = b->jobs->group, first = job / size * size;
    rb_error err = RB_OK;
    pthread_mutex_lock(&b->taking);
    for (int64_t i = first; !err && i < first + size; i++)
        err = b->jobs->take(ctx, i, b->results[i], b->jobs->user);
    pthread_mutex_unlock(&b->taking);
    for (int64_t i = first; !err && i < first + size; i++) {
        rb_free(b->results[i].data);
        b->results[i] = (rb_bytes){NULL, TAKEN};
    }
    return err;
}

/* ---- which jobs ---- */

static rb_error parse_part(rb_context *ctx, const rb_jobs *jobs, int64_t *part, int64_t *parts) {
    long long k = 1, n = 1;
    char end;
    *part = 0;
    *parts = 1;
    if (jobs->part &&
        (sscanf(jobs->part, "%lld/%lld%c", &k, &n, &end) != 2 || k < 1 || k > n || n > INT_MAX)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`part` is '%s', but must be like 3/100, the third of 100 parts",
                       jobs->part);
    }
    if (jobs->part && !jobs->journal) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`part` does nothing without `checkpoint`, which names the file for its results");
    }
    *part = k - 1 + n * rb_rank(ctx);
    *parts = n * rb_ranks(ctx);
    return RB_OK;
}

static double cost_of(const rb_jobs *jobs, int64_t job) {
    return jobs->cost ? jobs->cost(job, jobs->user) : 1;
}

static int dearest_first(const void *x, const void *y) {
    const piece *a = x, *b = y;
    return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost)
                              : (a->job > b->job) - (a->job < b->job);
}

/* Lists those that nobody has done yet: every parts-th one, so that parts take equally long. */
static void choose(board *b, int64_t part, int64_t parts) {
    for (int64_t i = part; i < b->jobs->count; i += parts) {
        if (is_done(b, i)) continue;
        b->mine[b->n_mine++] = (piece){i, cost_of(b->jobs, i)};
        b->cost += cost_of(b->jobs, i);
    }
    qsort(b->mine, (size_t)b->n_mine, sizeof *b->mine, dearest_first);
}

/* ---- the journal ---- */

static rb_error keep_result(rb_context *ctx, int64_t job, rb_bytes bytes, void *user) {
    board *b = user;
    if (is_done(b, job)) { /* merged journals may have one twice */
        rb_free(bytes.data);
        return RB_OK;
    }
    b->results[job] = bytes;
    return is_whole_here(b, job) ? take_group(b, ctx, job) : RB_OK;
}

static rb_error open_journal(board *b) {
    if (!b->jobs->journal) return RB_OK;
    if (!b->ctx->checkpoints) {
        return rb_fail(b->ctx, RB_ERROR_UNSUPPORTED,
                       "checkpoint needs librarebit-io; call rb_io_use");
    }
    b->store = b->ctx->checkpoints->journals;
    const rb_journal_head head = {b->jobs->key, b->jobs->count, keep_result, b};
    int rank = rb_rank(b->ctx);
    int64_t size = (int64_t)strlen(b->jobs->journal) + 16;
    char *path = rb_alloc(b->ctx, size, 1);
    if (!path) return RB_ERROR_MEMORY;
    snprintf(path, (size_t)size, rank > 0 ? "%s-%d" : "%s", b->jobs->journal, rank);
    rb_error err = b->store->open(b->ctx, path, &head, &b->journal);
    rb_free(path);
    return err;
}

/* ---- several processes ---- */

/* What processes know of a job, as the most that any of them knows. */
typedef struct known {
    double process; /* that has its result, from 1 */
    double lacking; /* 1: there is one that has not */
    double size;    /* of the result */
} known;

/* The result of a job comes to all. err: of this process so far; that of all. */
static rb_error share_result(board *b, int64_t job, known of, rb_error err) {
    rb_bytes *result = &b->results[job];
    if (!err && !result->data) *result = (rb_bytes){rb_alloc(b->ctx, of.size, 1), of.size};
    err = rb_comm_agree(b->ctx, err || result->data ? err : RB_ERROR_MEMORY);
    if (!err) rb_comm_broadcast(b->ctx, (int)of.process - 1, result->data, (size_t)result->size);
    return err;
}

/* The key tells of the data, too. */
static rb_error check_alike(const board *b) {
    const char *key = b->jobs->key ? b->jobs->key : "";
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    const double own[] = {(double)b->jobs->count, rb_crc32_add(&crc, 0, key, strlen(key))};
    return rb_comm_same(b->ctx, 2, own, NULL);
}

static rb_error share_all(board *b, known *all) {
    rb_context *ctx = b->ctx;
    int64_t count = b->jobs->count;
    rb_error err = RB_OK;
    for (int64_t i = 0; i < count; i++) {
        bool done = is_done(b, i);
        all[i] = (known){done ? rb_rank(ctx) + 1 : 0, !done, (double)b->results[i].size};
    }
    rb_comm_max(ctx, 3 * count, (double *)all);
    for (int64_t i = 0; i < count && !ctx->agreed; i++) {
        if (all[i].process > 0 && all[i].lacking > 0) err = share_result(b, i, all[i], err);
        bool last = b->jobs->group > 0 && (i + 1) % b->jobs->group == 0;
        if (!err && last && is_whole(b, i)) err = take_group(b, ctx, i);
    }
    return rb_comm_agree(ctx, err);
}

/* All get the results that any of them has. err: of this process so far; that of all. */
static rb_error share_results(board *b, rb_error err) {
    if (rb_ranks(b->ctx) == 1) return err;
    known *all = rb_alloc(b->ctx, b->jobs->count, sizeof *all);
    b->ctx->agreed = RB_OK; /* of what came before */
    err = rb_comm_agree(b->ctx, err || all ? err : RB_ERROR_MEMORY);
    err = err ? err : check_alike(b);
    rb_error shared = RB_OK;
    if (!err || err == RB_ERROR_STOPPED) {
        b->ctx->agreed = RB_OK; /* what was done before the stop counts */
        shared = share_all(b, all);
    }
    rb_free(all);
    return shared ? shared : err;
}

/* ---- a job ---- */

/* Jobs after one that failed are not begun; those before it are, for one of them may be the first
 * that fails. */
static bool wanted(board *b, int64_t job) {
    pthread_mutex_lock(&b->lock);
    bool is = job < b->failed;
    pthread_mutex_unlock(&b->lock);
    return is;
}

static void fail_at(board *b, const rb_context *own, int64_t job, rb_error err) {
    if (job >= b->failed) return;
    b->failed = job;
    b->err = err;
    memcpy(b->message, own->message, sizeof b->message);
}

static void settle(board *b, rb_context *own, piece at, rb_error err, rb_bytes result) {
    int64_t job = at.job;
    bool whole = false;
    pthread_mutex_lock(&b->lock);
    if (!err && b->journal) err = b->store->add(own, b->journal, job, result);
    if (!err) {
        b->results[job] = result;
        b->done++;
        b->cost_done += at.cost;
        whole = is_whole_here(b, job);
    } else {
        rb_free(result.data);
        fail_at(b, own, job, err);
    }
    pthread_mutex_unlock(&b->lock);
    err = whole ? take_group(b, own, job) : RB_OK;
    if (!err) return;
    pthread_mutex_lock(&b->lock);
    fail_at(b, own, job, err);
    pthread_mutex_unlock(&b->lock);
}

static void tell(board *b) {
    pthread_mutex_lock(&b->lock);
    int64_t done = b->done;
    double cost = b->cost_done;
    pthread_mutex_unlock(&b->lock);
    if (!b->ctx->on_progress || done == b->told) return;
    double elapsed = rb_seconds() - b->began;
    rb_progress progress = {.iteration = done,
                            .iterations = b->n_mine,
                            .objective = NAN,
                            .estep_objective = NAN,
                            .seconds = elapsed / (double)done,
                            .elapsed = elapsed,
                            .remaining = elapsed / cost * (b->cost - cost),
                            .what = b->jobs->what};
    b->told = done;
    rb_error err = b->ctx->on_progress(&progress, b->ctx->progress_user);
    if (err) rb_context_stop(b->ctx);
}

static piece next_piece(board *b) {
    pthread_mutex_lock(&b->lock);
    piece next = b->mine[b->begun++];
    pthread_mutex_unlock(&b->lock);
    return next;
}

/* A worker takes indices of its own first, jobs begin in the order of the board. */
static void do_job(void *arg, int64_t index, int worker) {
    (void)index;
    board *b = arg;
    piece next = next_piece(b);
    int64_t job = next.job;
    rb_context *own = b->contexts[worker];
    rb_bytes result = {0};
    if (!wanted(b, job)) return;
    rb_error err = b->jobs->run(own, job, b->jobs->user, &result);
    settle(b, own, next, err, result);
    if (worker == 0) tell(b); /* the caller: callbacks are called on its thread */
}

/* ---- all of them ---- */

static rb_error work(board *b) {
    rb_error err = rb_parallel_or_stop(b->ctx, b->n_mine, do_job, b);
    if (b->err && b->err != RB_ERROR_STOPPED) return rb_fail(b->ctx, b->err, "%s", b->message);
    if (!err && !b->err) {
        tell(b);
        return RB_OK;
    }
    return rb_fail(b->ctx, RB_ERROR_STOPPED, "stopped after %lld of %lld %ss", (long long)b->done,
                   (long long)b->n_mine, b->jobs->what);
}

static int64_t count_results(const board *b) {
    int64_t count = 0;
    for (int64_t i = 0; i < b->jobs->count; i++)
        count += is_done(b, i);
    return count;
}

static rb_error hand_over(board *b) {
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < b->jobs->count; i++)
        if (b->results[i].data) err = b->jobs->take(b->ctx, i, b->results[i], b->jobs->user);
    return err;
}

/* The error of the work, where it leaves nothing to hand over. */
static rb_error settle_all(board *b, rb_error err, bool *complete) {
    int64_t done = count_results(b), enough = b->jobs->enough;
    *complete = !err && done == b->jobs->count;
    if (*complete || (err == RB_ERROR_STOPPED && enough > 0 && done >= enough)) return hand_over(b);
    return err;
}

static rb_error make_contexts(board *b) {
    rb_error err = RB_OK;
    for (int t = 0; !err && t < b->ctx->threads; t++)
        err = rb_context_child(b->ctx, &b->contexts[t]);
    return err;
}

rb_error rb_jobs_run(rb_context *ctx, const rb_jobs *jobs, bool *complete) {
    int64_t part, parts;
    *complete = false;
    rb_error err = parse_part(ctx, jobs, &part, &parts);
    if (err) return err;
    rb_scratch scratch = {.ctx = ctx};
    board b = {.ctx = ctx, .jobs = jobs, .failed = jobs->count, .began = rb_seconds()};
    b.contexts = rb_take(&scratch, ctx->threads, sizeof *b.contexts);
    b.results = rb_take(&scratch, jobs->count, sizeof *b.results);
    b.mine = rb_take(&scratch, jobs->count, sizeof *b.mine);
    pthread_mutex_init(&b.lock, NULL);
    pthread_mutex_init(&b.taking, NULL);
    if (!scratch.err) scratch.err = make_contexts(&b);
    if (!scratch.err) scratch.err = open_journal(&b);
    scratch.err = share_results(&b, scratch.err);
    if (!scratch.err) {
        choose(&b, part, parts);
        scratch.err = settle_all(&b, share_results(&b, work(&b)), complete);
    }
    if (b.journal) b.store->close(b.journal);
    for (int64_t i = 0; b.results && i < jobs->count; i++)
        rb_free(b.results[i].data);
    for (int t = 0; b.contexts && t < ctx->threads; t++)
        rb_context_free(b.contexts[t]);
    pthread_mutex_destroy(&b.lock);
    pthread_mutex_destroy(&b.taking);
    return rb_scratch_end(&scratch);
}
