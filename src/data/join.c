/* Several sources as one: the samples of each behind those of the one before. */
#include "data.h"

#include <stdio.h>
#include <string.h>

struct joined {
    rb_source **parts;
    int64_t *firsts; /* count + 1: of each its first sample, then how many there are */
    int64_t count;
    rb_names names;            /* of the samples, within those of the parts */
    rb_appended rows, earlier; /* of samples of two parts; those before, where a block is ahead */
};

/* The part of a sample. */
static int64_t part_of(const struct joined *j, int64_t sample) {
    int64_t low = 0, high = j->count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        bool before = j->firsts[middle] > sample;
        high = before ? middle : high;
        low = before ? low : middle;
    }
    return low;
}

static rb_error read_part(const rb_source *source, rb_context *ctx, int64_t p, int64_t first,
                          int64_t count, rb_matrix *view) {
    const struct joined *j = source->state;
    j->parts[p]->ahead = source->ahead;
    return j->parts[p]->read(j->parts[p], ctx, first - j->firsts[p], count, view);
}

static rb_error read_joined(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                            rb_matrix *view) {
    struct joined *j = source->state;
    int64_t p = part_of(j, first), end = first + count;
    if (end <= j->firsts[p + 1]) return read_part(source, ctx, p, first, count, view);
    rb_appended before = j->earlier;
    j->earlier = j->rows;
    j->rows = before;
    rb_error err = rb_append_begin(ctx, &j->rows, source, count);
    for (int64_t at = first; !err && at < end; at = j->firsts[++p]) {
        int64_t some = rb_smaller(end, j->firsts[p + 1]) - at;
        err = some > 0 ? read_part(source, ctx, p, at, some, view) : RB_OK;
        if (!err && some > 0) err = rb_append(ctx, &j->rows, view);
    }
    *view = j->rows.rows;
    return err;
}

static void clear(struct joined *j) {
    for (int64_t p = 0; p < j->count; p++)
        rb_source_free(j->parts[p]);
    rb_free(j->parts);
    rb_free(j->firsts);
    rb_free(j->names.text);
    rb_appended_free(&j->rows);
    rb_appended_free(&j->earlier);
}

static void close_joined(rb_source *source) {
    clear(source->state);
    rb_free(source->state);
}

const char *rb_source_place(const rb_source *source, int64_t *sample) {
    for (; source->of; source = source->of)
        *sample = source->of_which ? source->of_which[*sample] : *sample;
    const struct joined *j = source->state;
    if (source->read != read_joined) return source->path;
    int64_t p = part_of(j, *sample);
    *sample -= j->firsts[p];
    return j->parts[p]->path;
}

/* ---- what differs ---- */

static rb_error other(rb_context *ctx, const rb_source *a, const rb_source *b, const char *what,
                      const char *of_a, const char *of_b) {
    return rb_fail(ctx, RB_ERROR_DATA,
                   "%s is '%s' in %s, but '%s' in %s; several files are one only where they have "
                   "the same features in the same order, and values of one kind",
                   what, of_a, a->path, of_b, b->path);
}

static rb_error check_alike(rb_context *ctx, const rb_source *a, const rb_source *b) {
    char what[64], counts[2][32];
    const rb_names *names = a->feature_names, *others = b->feature_names;
    static const char *const types[] = {"float32", "float64"}, *const kinds[] = {"dense", "sparse"};
    if (a->n_features != b->n_features) {
        snprintf(counts[0], sizeof *counts, "%lld", (long long)a->n_features);
        snprintf(counts[1], sizeof *counts, "%lld", (long long)b->n_features);
        return other(ctx, a, b, "the number of features", counts[0], counts[1]);
    }
    for (int64_t k = 0; names && others && k < a->n_features; k++) {
        if (strcmp(names->text[k], others->text[k]) == 0) continue;
        snprintf(what, sizeof what, "feature %lld%s", (long long)rb_nth(ctx, k),
                 rb_counted(ctx, false));
        return other(ctx, a, b, what, names->text[k], others->text[k]);
    }
    if (a->type != b->type)
        return other(ctx, a, b, "the type of the values", types[a->type], types[b->type]);
    return a->sparse == b->sparse
               ? RB_OK
               : other(ctx, a, b, "the kind of the values", kinds[a->sparse], kinds[b->sparse]);
}

/* ---- making one ---- */

/* Names of all samples, where each source has them. */
static rb_error take_names(rb_context *ctx, struct joined *j) {
    int64_t n = j->firsts[j->count];
    for (int64_t p = 0; p < j->count; p++)
        if (!j->parts[p]->sample_names) return RB_OK;
    j->names = (rb_names){n, rb_alloc(ctx, n, sizeof *j->names.text)};
    for (int64_t p = 0; j->names.text && p < j->count; p++)
        memcpy(j->names.text + j->firsts[p], j->parts[p]->sample_names->text,
               (size_t)j->parts[p]->n_samples * sizeof *j->names.text);
    return j->names.text ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_source_join(rb_context *ctx, rb_source **parts, int64_t count, rb_source **out) {
    struct joined j = {parts, rb_alloc_zero(ctx, count + 1, sizeof *j.firsts), count};
    rb_source like = *parts[0];
    rb_error err = j.firsts ? RB_OK : RB_ERROR_MEMORY;
    *out = NULL;
    like.n_samples = like.unpacked = 0;
    like.of = NULL;
    for (int64_t p = 0; !err && p < count; p++) {
        err = check_alike(ctx, parts[0], parts[p]);
        like.unpacked += parts[p]->unpacked;
        like.at_random = like.at_random && parts[p]->at_random;
        like.reads_ahead = like.reads_ahead && parts[p]->reads_ahead;
        like.n_samples = j.firsts[p + 1] = like.n_samples + parts[p]->n_samples;
    }
    like.sample_names = NULL;
    like.path = NULL;
    like.read = read_joined;
    like.close = close_joined;
    err = err ? err : take_names(ctx, &j);
    err = err ? err : rb_source_make(ctx, &like, &j, sizeof j, out);
    if (err)
        clear(&j);
    else if (j.names.text)
        (*out)->sample_names = &((struct joined *)(*out)->state)->names;
    return err;
}
