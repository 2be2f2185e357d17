/* A source without the samples that a fit should not see: constant ones, and those with the values
 * of an earlier one, by hashes of 64 bits. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---- */

/* What is known of each sample. */
typedef struct survey {
    rb_context *ctx;
    rb_share share;
    uint64_t *hashes;
    bool *constant;
    int64_t *first; /* of equal ones; -1: none */
} survey;

static survey survey_of(rb_scratch *scratch, const rb_source *source, bool together) {
    int64_t n = source->n_samples;
    return (survey){scratch->ctx, rb_share_of(scratch->ctx, source, together),
                    rb_take(scratch, n, sizeof(uint64_t)), rb_take(scratch, n, sizeof(bool)),
                    rb_take(scratch, n, sizeof(int64_t))};
}

/* At most so many values of a sample tell whether it may equal another one. */
enum { ALL = INT32_MAX, SOME = 64 };

static void look_at(survey *s, const rb_matrix *view, int64_t i, int64_t sample, int64_t most) {
    int64_t first = view->sparse ? view->starts[i] - view->starts[0] : i * view->row_stride;
    int64_t count = view->sparse ? view->starts[i + 1] - view->starts[i] : view->n_features;
    int64_t stride = view->sparse ? 1 : view->column_stride, step = count / most + 1;
    bool zeros = count < view->n_features;
    double low = zeros ? 0 : INFINITY, high = zeros ? 0 : -INFINITY;
    uint64_t hash = 0;
    for (int64_t e = 0; e < count; e += step) {
        double value = rb_get(view->type, view->values, first + e * stride);
        low = value < low ? value : low;
        high = value > high ? value : high;
        if (value != 0) hash += rb_hash_value(view->sparse ? view->columns[first + e] : e, value);
    }
    s->hashes[sample] = hash;
    s->constant[sample] = step == 1 && !(low < high);
}

static rb_error look_at_share(survey *s, rb_source *source, int64_t most) {
    enum { VALUES_AT_ONCE = 1 << 20 };
    int64_t wide = source->n_features > 0 ? source->n_features : 1;
    int64_t size = wide < VALUES_AT_ONCE ? VALUES_AT_ONCE / wide : 1;
    int64_t end = rb_share_sample(&s->share, s->share.end);
    rb_error err = RB_OK;
    for (int64_t first = rb_share_sample(&s->share, s->share.first); !err && first < end;
         first += size) {
        rb_matrix view;
        err = rb_source_read(s->ctx, source, first, rb_smaller(end - first, size), &view);
        for (int64_t i = 0; !err && i < view.n_samples; i++)
            look_at(s, &view, i, first + i, most);
    }
    return err;
}

static void join_flags(int64_t count, void *mine, const void *theirs) {
    bool *flags = mine;
    const bool *others = theirs;
    for (int64_t i = 0; i < count; i++)
        flags[i] |= others[i];
}

/* All samples. err: of this process so far; where there are others, that of all. */
static rb_error look(survey *s, rb_source *source, int64_t most, rb_error err) {
    int64_t n = source->n_samples;
    if (!err) {
        memset(s->hashes, 0, (size_t)n * sizeof *s->hashes);
        memset(s->constant, 0, (size_t)n * sizeof *s->constant);
        err = look_at_share(s, source, most);
    }
    err = rb_share_agree(s->ctx, &s->share, err);
    if (!err && s->share.together) {
        rb_comm_combine(s->ctx, s->hashes, n, sizeof *s->hashes, rb_join_hashes);
        rb_comm_combine(s->ctx, s->constant, n, sizeof *s->constant, join_flags);
    }
    err = err ? err : rb_find_same(s->ctx, s->hashes, s->constant, n, s->first);
    return rb_share_agree(s->ctx, &s->share, err);
}

/* So many different values another sample hardly has by chance. */
static bool tells_apart(const rb_matrix *view) {
    enum { DIFFERENT = 10 };
    double seen[DIFFERENT];
    int count = 0;
    for (int64_t k = 0; k < view->n_features && count < DIFFERENT; k++) {
        double value = rb_matrix_at(view, 0, k);
        bool again = false;
        for (int e = 0; e < count; e++)
            again |= seen[e] == value;
        if (!again) seen[count++] = value;
    }
    return count == DIFFERENT;
}

/* How many samples have the hash of an earlier one, and the last of them. */
static int64_t count_same(const survey *s, int64_t n, int64_t *last) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        count += s->first[i] >= 0;
        *last = s->first[i] >= 0 ? i : *last;
    }
    return count;
}

static rb_error tell_same(survey *s, rb_source *source, rb_error err) {
    int64_t n = source->n_samples, last = 0;
    err = look(s, source, SOME, err);
    if (!err && count_same(s, n, &last) > 0) err = look(s, source, ALL, err);
    int64_t count = err ? 0 : count_same(s, n, &last);
    if (count == 0) return err;
    rb_matrix view;
    err = rb_source_read(s->ctx, source, last, 1, &view);
    if (!err && tells_apart(&view)) {
        rb_log(s->ctx, RB_LOG_WARNING,
               "%lld of %lld samples %s the values of an earlier one: `rarebit check` names them, "
               "and a fit with `drop-samples=duplicates` leaves them out",
               (long long)count, (long long)n, count == 1 ? "has" : "have");
    }
    return err;
}

rb_error rb_source_tell_same(rb_context *ctx, rb_source *source, bool together) {
    enum { MOST_VALUES = 1 << 24 };
    int64_t cells;
    double heard = ctx->on_log != NULL;
    bool few = rb_multiply(source->n_samples, source->n_features, &cells) && cells <= MOST_VALUES;
    if (together) rb_comm_max(ctx, 1, &heard);
    if (heard == 0 || !few) return RB_OK;
    rb_scratch scratch = {.ctx = ctx};
    survey s = survey_of(&scratch, source, together);
    rb_error err = tell_same(&s, source, scratch.err);
    (void)rb_scratch_end(&scratch);
    return err;
}

/* Lists those that stay, and says how many do not. */
static rb_error choose(survey *s, const char *which, int64_t n, int64_t *kept, int64_t *count) {
    bool constant = strstr(which, "constant"), equal = strstr(which, "duplicates");
    int64_t dropped[2] = {0};
    for (int64_t i = 0; i < n; i++) {
        bool empty = constant && s->constant[i], again = equal && s->first[i] >= 0;
        dropped[again] += empty || again;
        if (!empty && !again) kept[(*count)++] = i;
    }
    if (*count == 0)
        return rb_fail(s->ctx, RB_ERROR_DATA, "`drop-samples=%s` leaves none of the %lld samples",
                       which, (long long)n);
    if (*count < n)
        rb_log(s->ctx, RB_LOG_INFO,
               "the fit leaves out %lld of %lld samples: %lld constant, %lld with the values of an "
               "earlier one",
               (long long)(n - *count), (long long)n, (long long)dropped[0], (long long)dropped[1]);
    return RB_OK;
}

/* ---- the source ---- */

struct thin {
    rb_source *source;
    int64_t *kept;  /* its samples, ascending */
    rb_names names; /* within those of the source */
    rb_appended rows;
};

/* Samples that lie side by side in the source are read at once. */
static rb_error read_runs(rb_context *ctx, struct thin *t, int64_t first, int64_t count) {
    rb_error err = RB_OK;
    for (int64_t i = 0, run = 0; !err && i < count; i += run) {
        const int64_t *kept = t->kept + first + i;
        rb_matrix view;
        for (run = 1; i + run < count && kept[run] == kept[0] + run;)
            run++;
        err = t->source->read(t->source, ctx, kept[0], run, &view);
        err = err ? err : rb_append(ctx, &t->rows, &view);
    }
    return err;
}

static rb_error read_thin(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                          rb_matrix *view) {
    struct thin *t = source->state;
    if (count > 0 && t->kept[first + count - 1] - t->kept[first] == count - 1)
        return t->source->read(t->source, ctx, t->kept[first], count, view);
    rb_error err = rb_append_begin(ctx, &t->rows, source, count);
    err = err ? err : read_runs(ctx, t, first, count);
    *view = t->rows.rows;
    return err;
}

static void clear(struct thin *t) {
    rb_free(t->kept);
    rb_free(t->names.text);
    rb_appended_free(&t->rows);
}

static void close_thin(rb_source *source) {
    clear(source->state);
    rb_free(source->state);
}

/* Takes over the list. */
static rb_error make(rb_context *ctx, rb_source *source, int64_t *kept, int64_t count,
                     rb_source **out) {
    struct thin t = {.source = source, .kept = kept};
    const rb_names *names = source->sample_names;
    t.names = (rb_names){count, names ? rb_alloc(ctx, count, sizeof *names->text) : NULL};
    for (int64_t i = 0; t.names.text && i < count; i++)
        t.names.text[i] = names->text[kept[i]];
    rb_source like = *source;
    double share = (double)count / (double)source->n_samples;
    like.n_samples = count;
    like.covariates = NULL;
    like.path = NULL;
    like.of = source;
    like.of_which = kept;
    like.unpacked = (int64_t)((double)source->unpacked * share);
    like.reads_ahead = false; /* one block is kept */
    like.read = read_thin;
    like.close = close_thin;
    rb_error err =
        names && !t.names.text ? RB_ERROR_MEMORY : rb_source_make(ctx, &like, &t, sizeof t, out);
    if (err) {
        clear(&t);
        return err;
    }
    if (names) (*out)->sample_names = &((struct thin *)(*out)->state)->names;
    return rb_source_take_covariates(ctx, source, kept, *out);
}

rb_error rb_source_thin(rb_context *ctx, const char *which, bool together, rb_source **source,
                        rb_source **owned) {
    rb_source *from = *source;
    int64_t n = from->n_samples, count = 0;
    *owned = NULL;
    if (!which || strcmp(which, "none") == 0 || n == 0) return RB_OK;
    rb_scratch scratch = {.ctx = ctx};
    survey s = survey_of(&scratch, from, together);
    int64_t *kept = rb_alloc(ctx, n, sizeof *kept);
    rb_error err = scratch.err ? scratch.err : kept ? RB_OK : RB_ERROR_MEMORY;
    err = look(&s, from, ALL, err);
    err = err ? err : choose(&s, which, n, kept, &count);
    if (!err && count < n) {
        err = make(ctx, from, kept, count, owned);
        kept = NULL;
    }
    rb_free(kept);
    (void)rb_scratch_end(&scratch);
    if (err) {
        rb_source_free(*owned);
        *owned = NULL;
    }
    *source = *owned ? *owned : from;
    return err;
}
