/* Context: the message of the last error, callbacks, number of threads. */
#include "base.h"
#include <rarebit/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, DEFAULT_EXPANSION = 1000 };

static const double DEFAULT_SHARED = 0.1;

rb_error rb_context_create(rb_context **context) {
    *context = calloc(1, sizeof **context);
    if (!*context) return RB_ERROR_MEMORY;
    (*context)->threads = 1;
    (*context)->max_expansion = DEFAULT_EXPANSION;
    (*context)->min_shared = DEFAULT_SHARED;
    (*context)->allocations_left = -1;
    return RB_OK;
}

rb_error rb_context_child(rb_context *parent, rb_context **child) {
    rb_error err = rb_context_create(child);
    if (err) return rb_fail(parent, err, "out of memory");
    (*child)->kernels = parent->kernels;
    (*child)->methods = parent->methods;
    (*child)->made_methods = parent->made_methods;
    (*child)->added_methods = parent->added_methods;
    (*child)->max_expansion = parent->max_expansion;
    (*child)->min_shared = parent->min_shared;
    (*child)->first = parent->first;
    (*child)->engine = parent->engine;
    (*child)->device = parent->device;
    (*child)->parent = parent;
    return RB_OK;
}

void rb_context_free(rb_context *ctx) {
    if (!ctx) return;
    rb_pool_free(ctx->pool);
    if (!ctx->parent) free(ctx->added_methods);
    free(ctx->command);
    free(ctx->provenance);
    free(ctx->profile);
    rb_free(ctx->chunk);
    free(ctx);
}

rb_error rb_context_set_min_shared(rb_context *ctx, double share) {
    if (!(share >= 0 && share <= 1))
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`min-shared` is %g, but must be 0 to 1", share);
    ctx->min_shared = share;
    return RB_OK;
}

rb_error rb_context_count_from(rb_context *ctx, int first) {
    if (first != 0 && first != 1)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "messages count from 0 or 1, not from %d", first);
    ctx->first = first;
    return RB_OK;
}

int64_t rb_nth(const rb_context *ctx, int64_t index) {
    return index + ctx->first;
}

const char *rb_counted(const rb_context *ctx, bool named) {
    return named ? "" : ctx->first ? " (counted from 1)" : " (counted from 0)";
}

rb_error rb_context_set_device(rb_context *ctx, const rb_device *device) {
    rb_error err = device ? rb_size_check(ctx, "the device", device->size, sizeof *device) : RB_OK;
    if (!err) ctx->device = device;
    return err;
}

double rb_context_min_shared(const rb_context *ctx) {
    return ctx->min_shared;
}

static rb_error keep_text(rb_context *ctx, char **kept, const char *text) {
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) return rb_fail(ctx, RB_ERROR_MEMORY, "out of memory");
    free(*kept);
    *kept = copy;
    return RB_OK;
}

rb_error rb_context_set_command(rb_context *ctx, const char *line) {
    return keep_text(ctx, &ctx->command, line);
}

rb_error rb_context_set_provenance(rb_context *ctx, const char *json) {
    return keep_text(ctx, &ctx->provenance, json);
}

const char *rb_context_provenance(const rb_context *ctx) {
    return ctx->provenance;
}

const char *rb_context_command(const rb_context *ctx) {
    return ctx->command;
}

const char *rb_context_error(const rb_context *ctx) {
    return ctx->message;
}

rb_error rb_fail(rb_context *ctx, rb_error code, const char *format, ...) {
    /* The arguments may point into the old message: write beside it first. */
    char text[sizeof ctx->message];
    va_list list;
    va_start(list, format);
    rb_print_list(text, sizeof text, format, list);
    va_end(list);
    memcpy(ctx->message, text, sizeof text);
    ctx->failures++;
    return code;
}

rb_error rb_size_check(rb_context *ctx, const char *what, size_t size, size_t expected) {
    return size == expected ? RB_OK
                            : rb_fail(ctx, RB_ERROR_ARGUMENT,
                                      "%s has %zu bytes instead of %zu: it was built for another "
                                      "version of the library, or does not set its size",
                                      what, size, expected);
}

rb_error rb_context_fail(rb_context *ctx, rb_error code, const char *message) {
    return rb_fail(ctx, code, "%s", message);
}

rb_error rb_check_type(rb_context *ctx, rb_type type) {
    if (type == RB_FLOAT32 || type == RB_FLOAT64) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "the type is %d, but must be RB_FLOAT32 or RB_FLOAT64",
                   (int)type);
}

void rb_fail_prefix(rb_context *ctx, const char *format, ...) {
    char text[sizeof ctx->message];
    va_list list;
    va_start(list, format);
    rb_print_list(text, sizeof text, format, list);
    va_end(list);
    rb_fail(ctx, RB_OK, "%s%s", text, ctx->message);
}

void rb_log(rb_context *ctx, rb_log_level level, const char *format, ...) {
    if (!ctx->on_log) return;
    char text[sizeof ctx->message];
    va_list list;
    va_start(list, format);
    rb_print_list(text, sizeof text, format, list);
    va_end(list);
    ctx->on_log(level, text, ctx->log_user);
}

rb_error rb_context_set_threads(rb_context *ctx, int threads) {
    if (threads < 0 || threads > MAX_THREADS) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`threads` is %d, but must be 0 to %d", threads,
                       MAX_THREADS);
    }
    if (threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : (int)processors;
    }
    if (threads == ctx->threads) return RB_OK;
    struct rb_pool *pool = NULL;
    if (threads > 1 && rb_pool_new(threads, &pool))
        return rb_fail(ctx, RB_ERROR_MEMORY, "%d threads could not be started; use fewer", threads);
    rb_pool_free(ctx->pool);
    ctx->pool = pool;
    ctx->threads = threads;
    return RB_OK;
}

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "rb_context_stop is called by signal handlers");

void rb_context_stop(rb_context *ctx) {
    atomic_store(&ctx->stop, true);
}

void rb_context_clear_stop(rb_context *ctx) {
    atomic_store(&ctx->stop, false);
}

bool rb_asked_to_stop(const rb_context *ctx) {
    return atomic_load_explicit(&ctx->stop, memory_order_relaxed) ||
           (ctx->parent && rb_asked_to_stop(ctx->parent));
}

rb_error rb_check_stop(rb_context *ctx) {
    return rb_asked_to_stop(ctx) ? rb_fail(ctx, RB_ERROR_STOPPED, "stopped by the program") : RB_OK;
}

int rb_context_threads(const rb_context *ctx) {
    return ctx->threads;
}

void rb_context_on_progress(rb_context *ctx, rb_progress_fn fn, void *user) {
    ctx->on_progress = fn;
    ctx->progress_user = user;
}

void rb_context_on_log(rb_context *ctx, rb_log_fn fn, void *user) {
    ctx->on_log = fn;
    ctx->log_user = user;
}

void rb_context_on_temporary(rb_context *ctx, rb_temporary_fn fn, void *user) {
    ctx->on_temporary = fn;
    ctx->temporary_user = user;
}

const char *rb_error_name(rb_error error) {
    static const char *const names[] = {
        [RB_OK] = "RB_OK",
        [RB_ERROR_MEMORY] = "RB_ERROR_MEMORY",
        [RB_ERROR_ARGUMENT] = "RB_ERROR_ARGUMENT",
        [RB_ERROR_FILE] = "RB_ERROR_FILE",
        [RB_ERROR_FORMAT] = "RB_ERROR_FORMAT",
        [RB_ERROR_DATA] = "RB_ERROR_DATA",
        [RB_ERROR_NUMERIC] = "RB_ERROR_NUMERIC",
        [RB_ERROR_UNSUPPORTED] = "RB_ERROR_UNSUPPORTED",
        [RB_ERROR_INTERRUPTED] = "RB_ERROR_INTERRUPTED",
        [RB_ERROR_STOPPED] = "RB_ERROR_STOPPED",
    };
    return (unsigned)error < sizeof names / sizeof *names ? names[error] : "unknown error";
}

const char *rb_status_name(rb_status status) {
    static const char *const names[] = {
        [RB_STATUS_ITERATIONS] = "iterations done",
        [RB_STATUS_CONVERGED] = "converged: nothing changes any more",
        [RB_STATUS_STOPPED] = "stopped",
        [RB_STATUS_PARAMETERS] = "converged: the parameters have converged",
        [RB_STATUS_PATIENCE] = "out of patience",
        [RB_STATUS_TIME] = "out of time",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

double rb_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
