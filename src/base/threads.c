/* Threads: a pool whose workers take task indices from one counter, and a job in the background.
 *
 * Workers spin for a moment before they sleep: a fit hands out thousands of short rounds.
 */
#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 2000 };

struct worker {
    struct rb_pool *pool;
    int index; /* from 1: the caller is worker 0 */
    pthread_t thread;
};

struct rb_pool {
    pid_t process; /* that the workers are of: a child that was forked has none of them */
    int threads;   /* workers that run, and the caller */
    struct worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint64_t round; /* grows by 1 with each rb_parallel */
    bool ending;
    rb_task task;
    void *arg;
    int64_t count;
    const rb_context *stops; /* tasks are left out once it was asked to stop; NULL: never */
    _Atomic int64_t next;
    _Atomic int busy; /* workers that have not finished the round */
};

static bool asked(const rb_context *stops) {
    return stops && rb_asked_to_stop(stops);
}

static void take_tasks(struct rb_pool *pool, int worker) {
    int64_t index;
    while (!asked(pool->stops) && (index = atomic_fetch_add(&pool->next, 1)) < pool->count)
        pool->task(pool->arg, index, worker);
}

/* Waits for a round other than `seen`; false when the pool ends. */
static bool wait_for_round(struct rb_pool *pool, uint64_t seen) {
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen) break;
        if (spin % 64 == 63) sched_yield();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->round) == seen && !pool->ending)
        pthread_cond_wait(&pool->wake, &pool->lock);
    bool go = !pool->ending;
    pthread_mutex_unlock(&pool->lock);
    return go;
}

static void *worker_main(void *arg) {
    const struct worker *worker = arg;
    struct rb_pool *pool = worker->pool;
    uint64_t seen = 0;
    while (wait_for_round(pool, seen)) {
        seen++;
        take_tasks(pool, worker->index);
        atomic_fetch_sub(&pool->busy, 1);
    }
    return NULL;
}

rb_error rb_pool_new(int threads, struct rb_pool **out) {
    *out = NULL;
    struct rb_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return RB_ERROR_MEMORY;
    }
    pool->process = getpid();
    pool->workers = workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        struct worker *worker = &workers[pool->threads - 1];
        *worker = (struct worker){.pool = pool, .index = pool->threads};
        if (pthread_create(&worker->thread, NULL, worker_main, worker)) {
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
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->threads - 1; i++)
            pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool->workers);
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
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->arg = arg;
    pool->count = count;
    pool->stops = stops;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->threads - 1);
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    take_tasks(pool, 0);
    while (atomic_load_explicit(&pool->busy, memory_order_acquire) > 0)
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
