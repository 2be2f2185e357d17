/* Sets of features by name, as they are collected. */
#include "modules.h"

#include <string.h>

/* `count` more entries of a buffer; where the first of them is, or NULL. */
static void *extend(rb_context *ctx, rb_buffer *buffer, int64_t used, int64_t count, size_t size) {
    int64_t needed = used + count;
    bool fits = needed <= buffer->capacity;
    int64_t wanted = fits || needed < 1024 ? 1024 : 2 * needed;
    if (!fits && rb_buffer_hold(ctx, buffer, wanted, size)) return NULL;
    return (char *)buffer->data + (size_t)used * size;
}

rb_error rb_feature_sets_new(rb_context *ctx, rb_feature_sets **out) {
    *out = rb_alloc_zero(ctx, 1, sizeof **out);
    return *out ? RB_OK : RB_ERROR_MEMORY;
}

void rb_feature_sets_free(rb_feature_sets *sets) {
    if (!sets) return;
    rb_free(sets->text.data);
    rb_free(sets->words.data);
    rb_free(sets->starts.data);
    rb_free(sets);
}

/* Where the text is kept from now on. */
static rb_error add_word(rb_context *ctx, rb_feature_sets *sets, const char *word) {
    int64_t length = (int64_t)strlen(word) + 1;
    int64_t *at = extend(ctx, &sets->words, sets->n_words, 1, sizeof *at);
    char *text = at ? extend(ctx, &sets->text, sets->n_text, length, 1) : NULL;
    if (!text) return RB_ERROR_MEMORY;
    memcpy(text, word, (size_t)length);
    *at = sets->n_text;
    sets->n_text += length;
    sets->n_words++;
    return RB_OK;
}

rb_error rb_feature_sets_add(rb_context *ctx, rb_feature_sets *sets, const char *name,
                             const char *const *features, int64_t count) {
    int64_t words = sets->n_words, text = sets->n_text;
    int64_t *start = extend(ctx, &sets->starts, sets->count, 1, sizeof *start);
    if (!start) return RB_ERROR_MEMORY;
    *start = sets->n_words;
    rb_error err = add_word(ctx, sets, name);
    for (int64_t i = 0; !err && i < count; i++)
        err = add_word(ctx, sets, features[i]);
    sets->count += !err;
    sets->n_words = err ? words : sets->n_words;
    sets->n_text = err ? text : sets->n_text;
    return err;
}

int64_t rb_feature_sets_count(const rb_feature_sets *sets) {
    return sets->count;
}

/* The words of a set are its name, and then its features. */
static const char *word_of(const rb_feature_sets *sets, int64_t word) {
    return (const char *)sets->text.data + ((const int64_t *)sets->words.data)[word];
}

const char *rb_feature_sets_name(const rb_feature_sets *sets, int64_t set) {
    bool there = set >= 0 && set < sets->count;
    return there ? word_of(sets, ((const int64_t *)sets->starts.data)[set]) : NULL;
}

int64_t rb_feature_sets_size(const rb_feature_sets *sets, int64_t set) {
    const int64_t *starts = sets->starts.data;
    return (set + 1 < sets->count ? starts[set + 1] : sets->n_words) - starts[set] - 1;
}

const char *rb_feature_sets_member(const rb_feature_sets *sets, int64_t set, int64_t member) {
    return word_of(sets, ((const int64_t *)sets->starts.data)[set] + 1 + member);
}
