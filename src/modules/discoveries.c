/* The false discovery rate: of the tests that are called, the share of those by chance.
 *
 * Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57 (1995).
 * Of m tests with p-values p_(1) <= p_(2) <= ..., the adjusted one of the i-th is the smallest of
 * m p_(j) / j over j >= i.
 */
#include "modules.h"

#include <math.h>
#include <stdlib.h>

typedef struct ordered {
    double p; /* or its logarithm */
    int64_t index;
} ordered;

static int by_p(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Those that are there, smallest first; NULL: out of memory. */
static ordered *sort(rb_context *ctx, const double *p, int64_t count, int64_t *there) {
    ordered *order = rb_alloc(ctx, count, sizeof *order);
    *there = 0;
    for (int64_t i = 0; order && i < count; i++)
        if (!isnan(p[i])) order[(*there)++] = (ordered){p[i], i};
    if (order) qsort(order, (size_t)*there, sizeof *order, by_p);
    return order;
}

rb_error rb_false_discovery(rb_context *ctx, const double *p, bool logarithms, int64_t count,
                            int64_t tests, double *fdr) {
    int64_t there;
    ordered *order = sort(ctx, p, count, &there);
    if (!order) return RB_ERROR_MEMORY;
    double least = logarithms ? 0 : 1, all = (double)(tests > there ? tests : there);
    for (int64_t i = 0; i < count; i++)
        fdr[i] = NAN;
    for (int64_t i = there - 1; i >= 0; i--) {
        double place = (double)(i + 1);
        least =
            fmin(least, logarithms ? order[i].p + log(all) - log(place) : order[i].p * all / place);
        fdr[order[i].index] = least;
    }
    rb_free(order);
    return RB_OK;
}

double *rb_chance_row(const rb_chance_rows *rows, int64_t row) {
    return (double *)(void *)((char *)rows->first + (size_t)row * rows->size);
}

rb_error rb_chances_adjust(rb_context *ctx, const rb_chance_rows *rows, int64_t tests) {
    rb_scratch scratch = {.ctx = ctx};
    double *log_p = rb_take(&scratch, rows->count, sizeof *log_p);
    double *log_fdr = rb_take(&scratch, rows->count, sizeof *log_fdr);
    for (int64_t i = 0; i < rows->count && !scratch.err; i++)
        log_p[i] = rb_chance_row(rows, i)[1];
    if (!scratch.err)
        scratch.err = rb_false_discovery(ctx, log_p, true, rows->count, tests, log_fdr);
    for (int64_t i = 0; i < rows->count && !scratch.err; i++) {
        double *row = rb_chance_row(rows, i);
        row[0] = exp(log_p[i]);
        row[1] = log_p[i] / log(10);
        row[2] = exp(log_fdr[i]);
        row[3] = log_fdr[i] / log(10);
    }
    return rb_scratch_end(&scratch);
}
