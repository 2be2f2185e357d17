/* Memory: checked products, 64-byte alignment (a cache line, an AVX-512 register). */
#include "base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { ALIGNMENT = 64 };

bool rb_multiply(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Large pages for what is large, where the system gives them to those who ask: the first touch of
 * each small one costs more than to read a number into it. */
static void ask_for_large_pages(char *memory, size_t bytes) {
    enum { PAGE = 1 << 12, LARGE = 1 << 22 };
    size_t skipped = (size_t)(-(uintptr_t)memory % PAGE);
#ifdef MADV_HUGEPAGE /* of Linux */
    if (bytes >= LARGE) madvise(memory + skipped, bytes - skipped, MADV_HUGEPAGE);
#endif
}

void *rb_alloc(rb_context *ctx, int64_t count, size_t size) {
    int64_t bytes;
    if (count < 0 || !rb_multiply(count, (int64_t)size, &bytes) || bytes > INT64_MAX / 2) {
        rb_fail(ctx, RB_ERROR_MEMORY, "%lld values of %zu bytes do not fit into memory",
                (long long)count, size);
        return NULL;
    }
    void *memory = NULL;
    if (!rb_reading_take(ctx, bytes)) return NULL;
    if (ctx->allocations_left != 0) {
        bytes = bytes < ALIGNMENT ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        memory = aligned_alloc(ALIGNMENT, (size_t)bytes);
        if (memory) ask_for_large_pages(memory, (size_t)bytes);
        ctx->allocations_left -= ctx->allocations_left > 0;
    }
    if (!memory) {
        rb_fail(ctx, RB_ERROR_MEMORY, "out of memory: %lld bytes more were needed",
                (long long)bytes);
    }
    return memory;
}

/* Gigabytes take seconds, for the system hands them out as they are written to: between pieces
 * there is a look at whether anybody still wants them. */
void *rb_alloc_zero(rb_context *ctx, int64_t count, size_t size) {
    const size_t piece = (size_t)1 << 26;
    char *memory = rb_alloc(ctx, count, size);
    size_t bytes = memory ? (size_t)count * size : 0;
    for (size_t at = 0; at < bytes; at += piece) {
        if (at > 0 && rb_check_stop(ctx)) {
            rb_free(memory);
            return NULL;
        }
        memset(memory + at, 0, bytes - at < piece ? bytes - at : piece);
    }
    return memory;
}

void *rb_grow(rb_context *ctx, void *old, int64_t old_count, int64_t count, size_t size) {
    void *memory = rb_alloc(ctx, count, size);
    if (memory && old) memcpy(memory, old, (size_t)(old_count < count ? old_count : count) * size);
    if (memory) {
        rb_free(old);
        if (ctx->reading) /* only the growth stays taken */
            ctx->reading->taken -= (double)old_count * (double)size;
    }
    return memory;
}

void *rb_reserve(rb_context *ctx, void *old, int64_t used, int64_t more, int64_t *capacity,
                 size_t size) {
    if (old && more <= *capacity - used) return old;
    int64_t larger = 2 * *capacity > used + more ? 2 * *capacity : used + more;
    void *memory = rb_grow(ctx, old, used, larger, size);
    *capacity = memory ? larger : *capacity;
    return memory;
}

void rb_free(void *memory) {
    free(memory);
}

rb_error rb_buffer_hold(rb_context *ctx, rb_buffer *buffer, int64_t count, size_t size) {
    if (!buffer->data || count > buffer->capacity) {
        void *data = rb_grow(ctx, buffer->data, buffer->capacity, count, size);
        if (!data) return RB_ERROR_MEMORY;
        *buffer = (rb_buffer){data, count};
    }
    return RB_OK;
}

void *rb_copy(rb_context *ctx, const void *from, int64_t count, size_t size) {
    void *copy = rb_alloc(ctx, count, size);
    if (copy && count > 0) memcpy(copy, from, (size_t)count * size);
    return copy;
}

char *rb_copy_text(rb_context *ctx, const char *text) {
    return rb_copy(ctx, text, (int64_t)strlen(text) + 1, 1);
}

/* What stands before an array; as large as its alignment. */
union rb_piece {
    union rb_piece *before;
    char space[ALIGNMENT];
};

void *rb_take(rb_scratch *s, int64_t count, size_t size) {
    int64_t bytes;
    if (s->err) return NULL;
    bool fits = count >= 0 && rb_multiply(count, (int64_t)size, &bytes) && bytes <= INT64_MAX / 2;
    union rb_piece *piece = fits ? rb_alloc_zero(s->ctx, bytes + ALIGNMENT, 1)
                                 : rb_alloc(s->ctx, count, size); /* which says so */
    if (!piece) {
        rb_error stopped = rb_check_stop(s->ctx);
        s->err = stopped ? stopped : RB_ERROR_MEMORY;
        return NULL;
    }
    piece->before = s->last;
    s->last = piece;
    return piece + 1;
}

rb_error rb_scratch_end(rb_scratch *s) {
    while (s->last) {
        union rb_piece *piece = s->last;
        s->last = piece->before;
        rb_free(piece);
    }
    return s->err;
}

/* ---- how much is free ---- */

/* The number behind `key` at the beginning of a line of a file, whatever it counts; -1: none. */
static double number_in(const char *path, const char *key) {
    char line[256];
    double value = -1;
    FILE *file = fopen(path, "r");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] != 'm') /* "max" */
            value = (double)strtoll(line + strlen(key), NULL, 10);
    if (file) fclose(file);
    return value;
}

/* What the control group of the process leaves (version 2); INFINITY: it has no limit. */
static double left_of_group(void) {
    char line[512], path[640];
    double most = -1, taken = -1;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) != 0) continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        most = number_in(path, "");
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", line + 3);
        taken = number_in(path, "");
    }
    if (file) fclose(file);
    return most < 0 || taken < 0 ? INFINITY : fmax(most - taken, 0);
}

double rb_memory_free(void) {
    static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    for (int k = 0; k < 2; k++) {
        struct rlimit limit;
        if (getrlimit(kinds[k], &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return 0;
    }
    double available = number_in("/proc/meminfo", "MemAvailable:") * 1024;
    return available < 0 ? 0 : fmin(available, left_of_group());
}
