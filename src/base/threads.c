/* Threads: a pool of workers, and a job in the background.
 *
 * Each worker has a part of the tasks, the same in every round of as many, so that it finds in its
 * cache what it left there; then it helps with the parts of others.
 *
 * A round ends when its tasks are done: a worker that the system has not run by then is not waited
 * for, and finds the round closed. Workers spin for a moment before they sleep: a fit hands out
 * thousands of short rounds.
 */
#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 100000, UNTIL_YIELD = 4096 };

/* The state of a pool in one word, so that nobody joins a round that is over: how many workers are
 * at the round, whether it is open, and above these its number. */
enum { AT_WORK = (1 << 16) - 1, OPEN = 1 << 16, ROUND = 1 << 17 };

struct worker {
    struct rb_pool *pool;
    int index; /* from 1: the caller is worker 0 */
    pthread_t thread;
    uint64_t seen; /* the last round that it joined */
    /* Each sleeps on its own: who wakes those of one condition may have to wait for one that was
     * woken before and has not run since. */
    pthread_cond_t wake;
    bool asleep;
};

/* Tasks of a worker that nobody has taken, apart from those of others in the cache. */
struct part {
    _Atomic int64_t next;
    int64_t end;
    char apart[48];
};

struct rb_pool {
    pid_t process; /* that the workers are of: a child that was forked has none of them */
    int threads;   /* workers that run, and the caller */
    struct worker *workers;
    struct part *parts;
    pthread_mutex_t lock; /* of sleeping and ending */
    bool ending;
    _Atomic uint64_t state;
    rb_task task;
    void *arg;
    const rb_context *stops; /* tasks are left out once it was asked to stop; NULL: never */
};

static bool asked(const rb_context *stops) {
    return stops && rb_asked_to_stop(stops);
}

static void take_tasks(struct rb_pool *pool, int worker) {
    for (int k = 0; k < pool->threads; k++) {
        struct part *part = &pool->parts[(worker + k) % pool->threads];
        while (!asked(pool->stops) && atomic_load(&part->next) < part->end) {
            int64_t index = atomic_fetch_add(&part->next, 1);
            if (index < part->end) pool->task(pool->arg, index, worker);
        }
    }
}

static bool may_join(const struct worker *worker, uint64_t state) {
    return state & OPEN && state / ROUND != worker->seen;
}

/* Waits for a round to join; false when the pool ends. */
static bool wait_for_round(struct worker *worker) {
    struct rb_pool *pool = worker->pool;
    for (int spin = 0; spin < SPINS; spin++) {
        if (may_join(worker, atomic_load(&pool->state))) return true;
        if (spin % UNTIL_YIELD == UNTIL_YIELD - 1) sched_yield();
    }
    pthread_mutex_lock(&pool->lock);
    worker->asleep = true;
    while (!may_join(worker, atomic_load(&pool->state)) && !pool->ending)
        pthread_cond_wait(&worker->wake, &pool->lock);
    worker->asleep = false;
    bool go = !pool->ending;
    pthread_mutex_unlock(&pool->lock);
    return go;
}

/* False: the round was closed meanwhile. */
static bool join_round(struct worker *worker) {
    uint64_t state = atomic_load(&worker->pool->state);
    while (may_join(worker, state)) {
        if (!atomic_compare_exchange_weak(&worker->pool->state, &state, state + 1)) continue;
        worker->seen = state / ROUND;
        return true;
    }
    return false;
}

static void *worker_main(void *arg) {
    struct worker *worker = arg;
    while (wait_for_round(worker)) {
        if (!join_round(worker)) continue;
        take_tasks(worker->pool, worker->index);
        atomic_fetch_sub(&worker->pool->state, 1);
    }
    return NULL;
}

/* At most so many of those that sleep. */
static void wake(struct rb_pool *pool, int64_t most) {
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->threads - 1 && most > 0; i++) {
        if (!pool->workers[i].asleep) continue;
        pthread_cond_signal(&pool->workers[i].wake);
        most--;
    }
    pthread_mutex_unlock(&pool->lock);
}

rb_error rb_pool_new(int threads, struct rb_pool **out) {
    *out = NULL;
    struct rb_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    struct part *parts = calloc((size_t)threads, sizeof *parts);
    if (!pool || !workers || !parts) {
        free(pool);
        free(workers);
        free(parts);
        return RB_ERROR_MEMORY;
    }
    pool->process = getpid();
    pool->workers = workers;
    pool->parts = parts;
    pthread_mutex_init(&pool->lock, NULL);
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        struct worker *worker = &workers[pool->threads - 1];
        *worker = (struct worker){.pool = pool, .index = pool->threads};
        pthread_cond_init(&worker->wake, NULL);
        if (pthread_create(&worker->thread, NULL, worker_main, worker)) {
            pthread_cond_destroy(&worker->wake);
            rb_pool_free(pool);
            return RB_ERROR_MEMORY;
        }
    }
    *out = pool;
    return RB_OK;
}

void rb_pool_free(struct rb_pool *pool) {
    if (!pool) return;
    if (pool->process == getpid()) { /* else nobody is there, and a lock may be held for ever */
        pthread_mutex_lock(&pool->lock);
        pool->ending = true;
        pthread_mutex_unlock(&pool->lock);
        wake(pool, pool->threads);
        for (int i = 0; i < pool->threads - 1; i++) {
            pthread_join(pool->workers[i].thread, NULL);
            pthread_cond_destroy(&pool->workers[i].wake);
        }
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool->workers);
    free(pool->parts);
    free(pool);
}

/* The pool, made anew in a child that was forked. Where there is no memory for it the caller does
 * all tasks: the results are the same. */
static struct rb_pool *own_pool(rb_context *ctx) {
    if (ctx->pool && ctx->pool->process != getpid()) {
        rb_pool_free(ctx->pool);
        rb_pool_new(ctx->threads, &ctx->pool);
    }
    return ctx->pool;
}

static void run(rb_context *ctx, int64_t count, rb_task task, void *arg, const rb_context *stops) {
    struct rb_pool *pool = count > 1 ? own_pool(ctx) : NULL;
    if (!pool) {
        for (int64_t i = 0; i < count && !asked(stops); i++)
            task(arg, i, 0);
        return;
    }
    pool->task = task;
    pool->arg = arg;
    pool->stops = stops;
    int64_t used = rb_smaller(count, pool->threads); /* parts, of the first workers */
    for (int64_t w = 0; w < pool->threads; w++) {
        int64_t first = count * rb_smaller(w, used) / used;
        pool->parts[w].end = count * rb_smaller(w + 1, used) / used;
        atomic_store_explicit(&pool->parts[w].next, first, memory_order_relaxed);
    }
    atomic_fetch_add(&pool->state, ROUND + OPEN);
    wake(pool, count - 1);
    take_tasks(pool, 0);
    atomic_fetch_sub(&pool->state, OPEN);
    while (atomic_load(&pool->state) & AT_WORK)
        sched_yield();
}

void rb_parallel(rb_context *ctx, int64_t count, rb_task task, void *arg) {
    run(ctx, count, task, arg, NULL);
}

rb_error rb_parallel_or_stop(rb_context *ctx, int64_t count, rb_task task, void *arg) {
    run(ctx, count, task, arg, ctx);
    return rb_check_stop(ctx);
}

/* ---- in the background ---- */

static void *background_main(void *arg) {
    const rb_background *b = arg;
    b->job(b->arg);
    return NULL;
}

void rb_background_start(rb_background *b, void (*job)(void *arg), void *arg) {
    b->job = job;
    b->arg = arg;
    b->running = pthread_create(&b->thread, NULL, background_main, b) == 0;
    if (!b->running) job(arg);
}

void rb_background_wait(rb_background *b) {
    if (b->running) {
        pthread_join(b->thread, NULL);
        b->running = false;
    }
}
