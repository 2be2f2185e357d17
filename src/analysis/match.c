/* How found modules agree with the truth.
 *
 * A module is the set of its cells (sample, feature). For two modules with samples S, T and
 * features F, G
 *     common = |S n T| |F n G|,   Jaccard index = common / (|S||F| + |T||G| - common).
 * Found and true modules are paired so that the sum of the indices is largest; the consensus score
 * is that sum divided by the larger number of modules.
 */
#include "analysis.h"

#include <stdlib.h>

/* Ascending indices of one side of every module. */
typedef struct sides {
    int64_t **samples, **features;
} sides;

static void sides_clear(sides *s, int64_t count) {
    for (int64_t r = 0; r < count; r++) {
        if (s->samples) {
            rb_free(s->samples[r]);
        }
        if (s->features) {
            rb_free(s->features[r]);
        }
    }
    rb_free(s->samples);
    rb_free(s->features);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* columns_of: the modules whose features the members are; NULL: they are samples. */
static int64_t *sorted_indices(rb_context *ctx, const rb_modules *columns_of,
                               const rb_member *members, int64_t count) {
    int64_t *indices = rb_alloc(ctx, count, sizeof *indices);
    if (!indices) {
        return NULL;
    }
    for (int64_t d = 0; d < count; d++) {
        int64_t index = members[d].index;
        indices[d] = columns_of ? rb_modules_column(columns_of, index) : index;
    }
    qsort(indices, (size_t)count, sizeof *indices, ascending);
    return indices;
}

static rb_error sort_sides(rb_context *ctx, const rb_modules *modules, sides *s) {
    s->samples = rb_alloc_zero(ctx, modules->count, sizeof *s->samples);
    s->features = rb_alloc_zero(ctx, modules->count, sizeof *s->features);
    bool fine = s->samples && s->features;
    for (int64_t r = 0; r < modules->count && fine; r++) {
        const rb_module *m = &modules->list[r];
        s->samples[r] = sorted_indices(ctx, NULL, m->samples, m->n_samples);
        s->features[r] = sorted_indices(ctx, modules, m->features, m->n_features);
        fine = s->samples[r] && s->features[r];
    }
    return fine ? RB_OK : RB_ERROR_MEMORY;
}

/* How many numbers two ascending lists share. */
static double count_common(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b) {
    int64_t common = 0;
    for (int64_t i = 0, j = 0; i < n_a && j < n_b;) {
        common += a[i] == b[j];
        int64_t low = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == low;
        j += b[j] == low;
    }
    return (double)common;
}

static double cells(const rb_module *m) {
    return (double)m->n_samples * (double)m->n_features;
}

/* jaccard[truth x found] */
static void compare_all(const rb_modules *found, const sides *f, const rb_modules *truth,
                        const sides *t, double *jaccard) {
    for (int64_t a = 0; a < truth->count; a++) {
        for (int64_t b = 0; b < found->count; b++) {
            const rb_module *x = &truth->list[a], *y = &found->list[b];
            double samples = count_common(t->samples[a], x->n_samples, f->samples[b], y->n_samples);
            double features =
                count_common(t->features[a], x->n_features, f->features[b], y->n_features);
            double common = samples * features;
            double all = cells(x) + cells(y) - common;
            jaccard[a * found->count + b] = all > 0 ? common / all : 0;
        }
    }
}

/* Pairs the modules by the table of indices; match has memory for its arrays. */
static rb_error pair(rb_context *ctx, const double *jaccard, int64_t n_found, rb_match *match) {
    rb_error err = rb_assign(ctx, match->n_truth, n_found, jaccard, match->partner);
    if (err) {
        return err;
    }
    double sum = 0;
    for (int64_t a = 0; a < match->n_truth; a++) {
        int64_t b = match->partner[a];
        match->overlap[a] = b < 0 ? 0 : jaccard[a * n_found + b];
        if (match->overlap[a] == 0) {
            match->partner[a] = -1;
        }
        sum += match->overlap[a];
    }
    int64_t larger = n_found > match->n_truth ? n_found : match->n_truth;
    match->consensus_score = larger > 0 ? sum / (double)larger : 1;
    return RB_OK;
}

static rb_error check_members(rb_context *ctx, int64_t rank, const rb_member *members,
                              int64_t count, int64_t size, const char *what) {
    for (int64_t d = 0; size > 0 && d < count; d++) {
        if (members[d].index >= size) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "module %lld of the truth holds %s %lld, but the data have %lld, "
                           "counted from 0: it is the truth of other data",
                           (long long)rank, what, (long long)members[d].index, (long long)size);
        }
    }
    return RB_OK;
}

/* A truth that speaks of what the data do not have is that of other data. */
static rb_error check_truth(rb_context *ctx, const rb_modules *found, const rb_modules *truth) {
    rb_error err = RB_OK;
    for (int64_t r = 0; r < truth->count && !err && !truth->column_of; r++) {
        const rb_module *m = &truth->list[r];
        err = check_members(ctx, r, m->samples, m->n_samples, found->n_samples, "sample");
        err = err ? err
                  : check_members(ctx, r, m->features, m->n_features, found->n_features, "feature");
    }
    return err;
}

rb_error rb_modules_match(rb_context *ctx, const rb_modules *found, const rb_modules *truth,
                          rb_match *match) {
    sides f = {0}, t = {0};
    double *jaccard = NULL;
    int64_t n_pairs;
    rb_error err = rb_size_check(ctx, "the match", match->size, sizeof *match);
    if (err) {
        return err;
    }
    *match = (rb_match){.size = sizeof *match};
    err = check_truth(ctx, found, truth);
    if (err) {
        return err;
    }
    match->n_truth = truth->count;
    match->overlap = rb_alloc(ctx, truth->count, sizeof *match->overlap);
    match->partner = rb_alloc(ctx, truth->count, sizeof *match->partner);
    err = match->overlap && match->partner ? RB_OK : RB_ERROR_MEMORY;
    if (!err && !rb_multiply(found->count, truth->count, &n_pairs)) {
        err = rb_fail(ctx, RB_ERROR_MEMORY,
                      "%lld found and %lld true modules are too many to compare",
                      (long long)found->count, (long long)truth->count);
    }
    if (!err) {
        jaccard = rb_alloc(ctx, n_pairs, sizeof *jaccard);
        err = jaccard ? sort_sides(ctx, found, &f) : RB_ERROR_MEMORY;
    }
    err = err ? err : sort_sides(ctx, truth, &t);
    if (!err) {
        compare_all(found, &f, truth, &t, jaccard);
        err = pair(ctx, jaccard, found->count, match);
    }
    sides_clear(&f, found->count);
    sides_clear(&t, truth->count);
    rb_free(jaccard);
    if (err) {
        rb_match_clear(match);
    }
    return err;
}

void rb_match_clear(rb_match *match) {
    rb_free(match->overlap);
    rb_free(match->partner);
    *match = (rb_match){.size = match->size};
}
