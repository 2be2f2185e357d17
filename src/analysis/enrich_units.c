/* Which unit marks each class of samples best.
 *
 * For a class of K among N labelled samples and a unit, AUC is the probability that a sample of the
 * class has the larger code of two samples, one in the class and one not; equal codes count half.
 * With midranks r (from 1, equal codes share the mean of their ranks)
 *     AUC = (sum of r over the class - K (K + 1) / 2) / (K (N - K)),
 * the statistic of Mann and Whitney. It does not depend on the scale of the codes. Where codes
 * have signs, a unit may mark a class by either end: the distance of AUC from 1/2 decides.
 */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The code of a labelled sample. */
typedef struct scored {
    float code;
    int64_t class_index;
} scored;

/* What is computed for one unit after the other. */
typedef struct ranking {
    const rb_labels *labels;
    const float *codes;  /* units x labelled samples */
    bool signs;          /* is any of them below 0? */
    int64_t *class_of;   /* of the labelled samples, in order */
    int64_t *class_size; /* of each class */
    double *rank_sum;    /* likewise */
    scored *order;       /* the samples, smallest code first */
} ranking;

static int by_code(const void *a, const void *b) {
    const scored *x = a, *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

static void sort_unit(ranking *r, int64_t unit) {
    int64_t n = r->labels->n_labelled;
    for (int64_t i = 0; i < n; i++)
        r->order[i] = (scored){r->codes[unit * n + i], r->class_of[i]};
    qsort(r->order, (size_t)n, sizeof *r->order, by_code);
}

/* Of equal codes each has the mean of their ranks. */
static void sum_ranks(ranking *r) {
    int64_t n = r->labels->n_labelled;
    memset(r->rank_sum, 0, (size_t)r->labels->classes->count * sizeof *r->rank_sum);
    for (int64_t start = 0, end; start < n; start = end) {
        end = start + 1;
        while (end < n && r->order[end].code == r->order[start].code)
            end++;
        for (int64_t i = start; i < end; i++)
            r->rank_sum[r->order[i].class_index] += 0.5 * (double)(start + 1 + end);
    }
}

static double auc_of(const ranking *r, int64_t class_index) {
    double n = (double)r->labels->n_labelled, size = (double)r->class_size[class_index];
    return (r->rank_sum[class_index] - 0.5 * size * (size + 1)) / (size * (n - size));
}

/* How well an AUC marks a class; largest is best. */
static double merit(const ranking *r, double auc) {
    return r->signs ? fabs(auc - 0.5) : auc - 0.5;
}

/* Of as many samples at the marking end as the class has, those of the class; among equal codes
 * those of other classes come first. The unit is sorted. */
static int64_t count_overlap(const ranking *r, int64_t class_index, bool lowest) {
    int64_t n = r->labels->n_labelled, size = r->class_size[class_index];
    float sign = lowest ? -1 : 1, last = sign * r->order[lowest ? size - 1 : n - size].code;
    int64_t beyond = 0, members_beyond = 0, tied = 0, members_tied = 0;
    for (int64_t i = 0; i < n; i++) {
        float code = sign * r->order[i].code;
        bool member = r->order[i].class_index == class_index;
        beyond += code > last;
        members_beyond += member && code > last;
        tied += code == last;
        members_tied += member && code == last;
    }
    int64_t left = size - beyond - (tied - members_tied);
    return members_beyond + (left > 0 ? left : 0);
}

/* Lets a unit take the classes that it marks better than those before it. */
static void offer_unit(ranking *r, int64_t unit, rb_class_unit *best) {
    sort_unit(r, unit);
    sum_ranks(r);
    for (int64_t c = 0; c < r->labels->classes->count; c++) {
        double auc = r->class_size[c] < r->labels->n_labelled ? auc_of(r, c) : NAN;
        if (isfinite(auc) && (best[c].unit < 0 || merit(r, auc) > merit(r, best[c].auc))) {
            best[c].unit = unit;
            best[c].auc = auc;
            best[c].overlap = count_overlap(r, c, auc < 0.5);
        }
    }
}

/* Classes by number in the order of labelled samples, and how many samples each has. */
static void count_classes(ranking *r) {
    const rb_labels *labels = r->labels;
    for (int64_t i = 0, at = 0; i < labels->n_samples; i++) {
        if (labels->class_of[i] >= 0) {
            r->class_of[at++] = labels->class_of[i];
            r->class_size[labels->class_of[i]]++;
        }
    }
}

rb_error rb_class_units(rb_context *ctx, const rb_labels *labels, int64_t n_units,
                        const float *codes, rb_class_unit *best) {
    int64_t n = labels->n_labelled, n_classes = labels->classes->count;
    rb_scratch scratch = {.ctx = ctx};
    ranking r = {.labels = labels, .codes = codes};
    r.class_of = rb_take(&scratch, n, sizeof *r.class_of);
    r.class_size = rb_take(&scratch, n_classes, sizeof *r.class_size);
    r.rank_sum = rb_take(&scratch, n_classes, sizeof *r.rank_sum);
    r.order = rb_take(&scratch, n, sizeof *r.order);
    if (!scratch.err) {
        for (int64_t e = 0; e < n_units * n && !r.signs; e++)
            r.signs = codes[e] < 0;
        count_classes(&r);
        for (int64_t c = 0; c < n_classes; c++)
            best[c] = (rb_class_unit){labels->classes->text[c], r.class_size[c], -1, NAN, 0};
        for (int64_t u = 0; u < n_units; u++)
            offer_unit(&r, u, best);
    }
    return rb_scratch_end(&scratch);
}

/* ---- the codes of a model ---- */

typedef struct collection {
    const rb_labels *labels;
    int64_t n_units, at; /* the next of the labelled samples */
    float *codes;
} collection;

static rb_error collect_rows(void *user, int64_t first, const rb_matrix *rows) {
    collection *c = user;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        if (c->labels->class_of[first + i] < 0) continue;
        for (int64_t u = 0; u < c->n_units; u++)
            c->codes[u * c->labels->n_labelled + c->at] = (float)rb_matrix_at(rows, i, u);
        c->at++;
    }
    return RB_OK;
}

rb_error rb_labelled_codes(rb_context *ctx, const rb_model *model, rb_source *source,
                           const rb_labels *labels, float **codes) {
    int64_t cells;
    collection c = {.labels = labels, .n_units = rb_model_units(model)};
    *codes = NULL;
    if (!rb_multiply(labels->n_labelled, c.n_units, &cells)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "the codes of %lld samples do not fit into memory",
                       (long long)labels->n_labelled);
    }
    c.codes = rb_alloc(ctx, cells, sizeof *c.codes);
    rb_error err = c.codes ? rb_encode(ctx, model, source, collect_rows, &c) : RB_ERROR_MEMORY;
    if (err)
        rb_free(c.codes);
    else
        *codes = c.codes;
    return err;
}
