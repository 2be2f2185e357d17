/* Names of samples and features: one allocation, pointers first, then the text. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rb_names *rb_names_copy(rb_context *ctx, const char *const *text, int64_t count) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        bytes += (int64_t)strlen(text[i]) + 1;
    rb_names *names = rb_alloc(ctx, 1, sizeof *names);
    /* count pointers, rounded into bytes: 2^60 names would fail in rb_alloc long before overflow */
    char **pointers = rb_alloc(ctx, count * (int64_t)sizeof(char *) + bytes, 1);
    if (!names || !pointers) {
        rb_free(names);
        rb_free(pointers);
        return NULL;
    }
    char *next = (char *)(pointers + count);
    for (int64_t i = 0; i < count; i++) {
        size_t length = strlen(text[i]) + 1;
        memcpy(next, text[i], length);
        pointers[i] = next;
        next += length;
    }
    *names = (rb_names){count, pointers};
    return names;
}

void rb_names_free(rb_names *names) {
    if (names) {
        rb_free(names->text);
        rb_free(names);
    }
}

rb_error rb_names_set(rb_context *ctx, rb_names **names, const char *const *text, int64_t count,
                      int64_t expected, const char *what) {
    rb_names *copy = NULL;
    if (text) {
        if (count != expected) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "there are %lld names for %lld %s",
                           (long long)count, (long long)expected, what);
        }
        copy = rb_names_copy(ctx, text, count);
        if (!copy) return RB_ERROR_MEMORY;
    }
    rb_names_free(*names);
    *names = copy;
    return RB_OK;
}

static int by_text(const void *a, const void *b) {
    const rb_named *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

rb_named *rb_names_sort(rb_context *ctx, const rb_names *names) {
    rb_named *sorted = rb_alloc(ctx, names->count, sizeof *sorted);
    for (int64_t i = 0; sorted && i < names->count; i++)
        sorted[i] = (rb_named){names->text[i], i};
    if (sorted) qsort(sorted, (size_t)names->count, sizeof *sorted, by_text);
    return sorted;
}

int64_t rb_names_find(const rb_named *sorted, int64_t count, const char *text) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool before = strcmp(sorted[middle].text, text) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < count && strcmp(sorted[low].text, text) == 0 ? low : -1;
}

static bool alike(const rb_named *sorted, int64_t count, int64_t i) {
    return i >= 0 && i + 1 < count && strcmp(sorted[i].text, sorted[i + 1].text) == 0;
}

rb_error rb_names_warn_repeated(rb_context *ctx, const rb_names *names, const char *what,
                                const char *then) {
    rb_named *sorted = names ? rb_names_sort(ctx, names) : NULL;
    const char *first = NULL;
    int64_t repeated = 0, n = names ? names->count : 0;
    if (!sorted) return names ? RB_ERROR_MEMORY : RB_OK;
    for (int64_t i = 0; i < n; i++) {
        if (alike(sorted, n, i - 1) || alike(sorted, n, i)) {
            repeated++;
            first = first ? first : sorted[i].text;
        }
    }
    rb_free(sorted);
    if (repeated > 0) {
        rb_log(ctx, RB_LOG_WARNING, "%lld of %lld %s are not unique ('%s' for one): %s",
               (long long)repeated, (long long)n, what, first, then);
    }
    return RB_OK;
}

/* New names of different texts cannot be equal, since a number holds no "-". */
rb_error rb_names_make_unique(rb_context *ctx, rb_names **names) {
    enum { NUMBER = 24 };
    int64_t count = (*names)->count, bytes = 0, next = 1;
    for (int64_t i = 0; i < count; i++)
        bytes += (int64_t)strlen((*names)->text[i]) + NUMBER;
    rb_named *sorted = rb_names_sort(ctx, *names);
    rb_scratch scratch = {.ctx = ctx, .err = sorted ? RB_OK : RB_ERROR_MEMORY};
    const char **text = rb_take(&scratch, count, sizeof *text);
    char *to = rb_take(&scratch, bytes, 1);
    for (int64_t e = 0; !scratch.err && e < count; e++) {
        const char **chosen = &text[sorted[e].index];
        *chosen = sorted[e].text;
        next = alike(sorted, count, e - 1) ? next : 1;
        while (alike(sorted, count, e - 1) && rb_names_find(sorted, count, *chosen) >= 0) {
            snprintf(to, strlen(sorted[e].text) + NUMBER, "%s-%lld", sorted[e].text,
                     (long long)next++);
            *chosen = to;
        }
        to += *chosen == to ? strlen(to) + 1 : 0;
    }
    rb_names *unique = scratch.err ? NULL : rb_names_copy(ctx, text, count);
    rb_free(sorted);
    (void)rb_scratch_end(&scratch);
    if (unique) {
        rb_names_free(*names);
        *names = unique;
    }
    return unique ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_name_list_add(rb_context *ctx, rb_name_list *list, const char *text, int64_t length) {
    /* A name ends at its first 0 byte, or the walk in _end would lose count. */
    length = (int64_t)strnlen(text, (size_t)length);
    int64_t needed = list->used + length + 1;
    bool fits = needed <= list->bytes.capacity;
    if (rb_buffer_hold(ctx, &list->bytes, fits || needed < 4096 ? 4096 : 2 * needed, 1))
        return RB_ERROR_MEMORY;
    char *to = (char *)list->bytes.data + list->used;
    memcpy(to, text, (size_t)length);
    to[length] = '\0';
    list->used = needed;
    list->count++;
    return RB_OK;
}

rb_error rb_name_list_end(rb_context *ctx, rb_error err, rb_name_list *list, rb_names **names) {
    const char **text = err ? NULL : rb_alloc(ctx, list->count, sizeof *text),
               *next = list->bytes.data;
    for (int64_t i = 0; text && i < list->count; i++) {
        text[i] = next;
        next += strlen(next) + 1;
    }
    *names = text ? rb_names_copy(ctx, text, list->count) : NULL;
    rb_free(text);
    rb_name_list_clear(list);
    return err || *names ? err : RB_ERROR_MEMORY;
}

void rb_name_list_clear(rb_name_list *list) {
    rb_free(list->bytes.data);
    *list = (rb_name_list){0};
}
