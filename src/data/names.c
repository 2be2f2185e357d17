/* Names of samples and features: one allocation, pointers first, then the text. */
#include "data.h"

#include <stdlib.h>
#include <string.h>

rb_names *rb_names_copy(rb_context *ctx, const char *const *text, int64_t count) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        bytes += (int64_t)strlen(text[i]) + 1;
    }
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

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

rb_error rb_names_warn_repeated(rb_context *ctx, const rb_names *names, const char *what,
                                const char *then) {
    const char **sorted = rb_alloc(ctx, names->count, sizeof *sorted), *first = NULL;
    int64_t repeated = 0;
    if (!sorted) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < names->count; i++) {
        sorted[i] = names->text[i];
    }
    qsort(sorted, (size_t)names->count, sizeof *sorted, by_text);
    for (int64_t i = 0; i < names->count; i++) {
        bool before = i > 0 && strcmp(sorted[i - 1], sorted[i]) == 0;
        bool after = i + 1 < names->count && strcmp(sorted[i + 1], sorted[i]) == 0;
        repeated += before || after;
        first = (before || after) && !first ? sorted[i] : first;
    }
    rb_free(sorted);
    if (repeated > 0) {
        rb_log(ctx, RB_LOG_WARNING, "%lld of %lld %s stand more than once ('%s' for one): %s",
               (long long)repeated, (long long)names->count, what, first, then);
    }
    return RB_OK;
}

rb_error rb_name_list_add(rb_context *ctx, rb_name_list *list, const char *text, int64_t length) {
    int64_t needed = list->used + length + 1;
    if (needed > list->room) {
        int64_t room = needed < 4096 ? 4096 : 2 * needed;
        char *bytes = rb_grow(ctx, list->bytes, list->used, room, 1);
        if (!bytes) {
            return RB_ERROR_MEMORY;
        }
        list->bytes = bytes;
        list->room = room;
    }
    /* A name ends at its first 0 byte, or the walk in _finish would lose count. */
    length = (int64_t)strnlen(text, (size_t)length);
    memcpy(list->bytes + list->used, text, (size_t)length);
    list->bytes[list->used + length] = '\0';
    list->used += length + 1;
    list->count++;
    return RB_OK;
}

rb_error rb_name_list_end(rb_context *ctx, rb_error err, rb_name_list *list, rb_names **names) {
    const char **text = err ? NULL : rb_alloc(ctx, list->count, sizeof *text), *next = list->bytes;
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
    rb_free(list->bytes);
    *list = (rb_name_list){0};
}
