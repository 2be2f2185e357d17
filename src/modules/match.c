/* How found modules agree with the truth.
 *
 * A module is the set of its cells (sample, feature). For two modules with samples S, T and
 * features F, G
 *     common = |S n T| |F n G|,   Jaccard index = common / (|S||F| + |T||G| - common).
 * Found and true modules are paired so that the sum of the indices is largest; the consensus score
 * is that sum divided by the larger number of modules. Background is no module.
 *
 * Recovery and relevance: A. Prelic et al., "A systematic comparison and evaluation of biclustering
 * methods for gene expression data", Bioinformatics 22, 2006, section 3.3, with the index of cells.
 */
#include "modules.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const rb_member *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* columns_of: the modules whose features the members are; NULL: they are samples. */
static rb_member *sorted(rb_context *ctx, const rb_modules *columns_of, const rb_member *members,
                         int64_t count) {
    rb_member *copy = rb_alloc(ctx, count, sizeof *copy);
    for (int64_t d = 0; copy && d < count; d++) {
        copy[d] = members[d];
        if (columns_of) copy[d].index = rb_modules_column(columns_of, members[d].index);
    }
    if (copy) qsort(copy, (size_t)count, sizeof *copy, ascending);
    return copy;
}

/* A copy in which members ascend, features by their column in the data. */
static rb_error sort_all(rb_context *ctx, const rb_modules *modules, rb_modules **copy) {
    rb_error err = rb_modules_new(ctx, modules->count, copy);
    for (int64_t r = 0; r < modules->count && !err; r++) {
        const rb_module *from = &modules->list[r];
        rb_module *to = &(*copy)->list[r];
        to->n_samples = from->n_samples;
        to->n_features = from->n_features;
        to->samples = sorted(ctx, NULL, from->samples, from->n_samples);
        to->features = sorted(ctx, modules, from->features, from->n_features);
        err = to->samples && to->features ? RB_OK : RB_ERROR_MEMORY;
    }
    return err;
}

/* How many indices two ascending lists share. */
static double count_common(const rb_member *a, int64_t n_a, const rb_member *b, int64_t n_b) {
    int64_t common = 0;
    for (int64_t i = 0, j = 0; i < n_a && j < n_b;) {
        int64_t x = a[i].index, y = b[j].index;
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return (double)common;
}

static double cells(const rb_module *m) {
    return (double)m->n_samples * (double)m->n_features;
}

/* jaccard[truth x found], of sorted modules */
static void compare_all(const rb_modules *found, const rb_modules *truth, double *jaccard) {
    for (int64_t e = 0; e < truth->count * found->count; e++) {
        const rb_module *x = &truth->list[e / found->count], *y = &found->list[e % found->count];
        double common = count_common(x->samples, x->n_samples, y->samples, y->n_samples) *
                        count_common(x->features, x->n_features, y->features, y->n_features);
        double all = cells(x) + cells(y) - common;
        jaccard[e] = all > 0 ? common / all : 0;
    }
}

/* Pairs the modules by the table of indices; match has memory for its arrays. */
static rb_error pair(rb_context *ctx, const double *jaccard, int64_t n_found, rb_match *match) {
    rb_error err = rb_assign(ctx, match->n_truth, n_found, jaccard, match->partner);
    if (err) return err;
    double sum = 0;
    for (int64_t a = 0; a < match->n_truth; a++) {
        int64_t b = match->partner[a];
        match->overlap[a] = b < 0 ? 0 : jaccard[a * n_found + b];
        if (match->overlap[a] == 0) match->partner[a] = -1;
        sum += match->overlap[a];
    }
    int64_t larger = n_found > match->n_truth ? n_found : match->n_truth;
    match->consensus_score = larger > 0 ? sum / (double)larger : 1;
    return RB_OK;
}

/* The mean over the modules of one list of the largest index with one of the other, which is `step`
 * apart in the table; 1 where neither list has any. */
static double mean_largest(const double *jaccard, int64_t count, int64_t stride, int64_t others,
                           int64_t step) {
    double sum = 0;
    for (int64_t a = 0; a < count; a++) {
        double largest = 0;
        for (int64_t b = 0; b < others; b++)
            largest = fmax(largest, jaccard[a * stride + b * step]);
        sum += largest;
    }
    return count > 0 ? sum / (double)count : others == 0;
}

static rb_error check_members(rb_context *ctx, int64_t rank, const rb_member *members,
                              int64_t count, int64_t size, const char *what) {
    for (int64_t d = 0; size > 0 && d < count; d++) {
        if (members[d].index >= size) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "module %lld of the truth holds %s %lld, but the data have %lld, "
                           "counted from 0; give the truth of these data",
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
    rb_modules *f = NULL, *t = NULL;
    int64_t n_pairs, n_found = 0;
    rb_error err = rb_size_check(ctx, "the match", match->size, sizeof *match);
    if (err) return err;
    *match = (rb_match){.size = sizeof *match};
    err = check_truth(ctx, found, truth);
    if (err) return err;
    n_found = rb_modules_called(found);
    if (!rb_multiply(n_found, truth->count, &n_pairs)) {
        return rb_fail(ctx, RB_ERROR_MEMORY,
                       "%lld found and %lld true modules are too many to compare",
                       (long long)n_found, (long long)truth->count);
    }
    match->n_truth = truth->count;
    match->overlap = rb_alloc(ctx, truth->count, sizeof *match->overlap);
    match->partner = rb_alloc(ctx, truth->count, sizeof *match->partner);
    double *jaccard = rb_alloc(ctx, n_pairs, sizeof *jaccard);
    err = match->overlap && match->partner && jaccard ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : sort_all(ctx, found, &f);
    err = err ? err : sort_all(ctx, truth, &t);
    if (!err) {
        f->count = n_found;
        compare_all(f, t, jaccard);
        match->recovery = mean_largest(jaccard, truth->count, n_found, n_found, 1);
        match->relevance = mean_largest(jaccard, n_found, 1, truth->count, n_found);
        err = pair(ctx, jaccard, n_found, match);
    }
    rb_modules_free(f);
    rb_modules_free(t);
    rb_free(jaccard);
    if (err) rb_match_clear(match);
    return err;
}

void rb_match_clear(rb_match *match) {
    rb_free(match->overlap);
    rb_free(match->partner);
    *match = (rb_match){.size = match->size};
}
