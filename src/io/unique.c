/* Names made unique: every name after the first of its kind gets "-1", "-2", ..., passing by names
 * that are there already. Several genes share a symbol in most genomes. */
#include "hdf5_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name with its place; sorted by name, then by place. */
struct entry {
    const char *text;
    int64_t index;
};

static int compare(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_text(const void *key, const void *entry) {
    return strcmp(key, ((const struct entry *)entry)->text);
}

static struct entry *sorted(rb_context *ctx, const rb_names *names) {
    struct entry *entries = rb_alloc(ctx, names->count, sizeof *entries);
    for (int64_t i = 0; entries && i < names->count; i++) {
        entries[i] = (struct entry){names->text[i], i};
    }
    if (entries) {
        qsort(entries, (size_t)names->count, sizeof *entries, compare);
    }
    return entries;
}

/* The first number from *next on for which "text-number" is no name yet. New names of different
 * texts cannot be equal, since a number holds no "-". */
static char *numbered(rb_context *ctx, const struct entry *entries, int64_t count, const char *text,
                      int64_t *next) {
    size_t size = strlen(text) + 24;
    char *name = rb_alloc(ctx, (int64_t)size, 1);
    do {
        if (name) {
            snprintf(name, size, "%s-%lld", text, (long long)(*next)++);
        }
    } while (name && bsearch(name, entries, (size_t)count, sizeof *entries, compare_text));
    return name;
}

/* Fills text[i] with the new name of every double. New names are owned by `made`. */
static rb_error name_doubles(rb_context *ctx, const struct entry *entries, int64_t count,
                             const char **text, char **made) {
    int64_t next = 1;
    for (int64_t e = 1; e < count; e++) {
        if (strcmp(entries[e].text, entries[e - 1].text) != 0) {
            next = 1;
            continue;
        }
        int64_t i = entries[e].index;
        made[i] = numbered(ctx, entries, count, entries[e].text, &next);
        if (!made[i]) {
            return RB_ERROR_MEMORY;
        }
        text[i] = made[i];
    }
    return RB_OK;
}

rb_error rb_names_make_unique(rb_context *ctx, rb_names **names) {
    int64_t count = (*names)->count;
    struct entry *entries = sorted(ctx, *names);
    const char **text = rb_alloc(ctx, count, sizeof *text);
    char **made = rb_alloc_zero(ctx, count, sizeof *made);
    rb_error err = entries && text && made ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        memcpy(text, (*names)->text, (size_t)count * sizeof *text);
        err = name_doubles(ctx, entries, count, text, made);
    }
    if (!err) {
        rb_names *unique = rb_names_copy(ctx, text, count);
        err = unique ? RB_OK : RB_ERROR_MEMORY;
        if (unique) {
            rb_names_free(*names);
            *names = unique;
        }
    }
    for (int64_t i = 0; made && i < count; i++) {
        rb_free(made[i]);
    }
    rb_free(entries);
    rb_free(text);
    rb_free(made);
    return err;
}
