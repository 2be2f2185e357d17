/* The false discovery rate: of the tests that are called, the share of those by chance.
 *
 * Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57 (1995).
 * Of m tests with p-values p_(1) <= p_(2) <= ..., the adjusted one of the i-th is the smallest of
 * m p_(j) / j over j >= i.
 */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>

typedef struct ordered {
    double log_p;
    int64_t index;
} ordered;

static int by_p(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    if (x->log_p != y->log_p) return x->log_p < y->log_p ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

rb_error rb_false_discovery(rb_context *ctx, const double *log_p, int64_t count, int64_t tests,
                            double *log_fdr) {
    ordered *order = rb_alloc(ctx, count, sizeof *order);
    if (!order) return RB_ERROR_MEMORY;
    int64_t there = 0;
    for (int64_t i = 0; i < count; i++) {
        log_fdr[i] = NAN;
        if (!isnan(log_p[i])) order[there++] = (ordered){log_p[i], i};
    }
    qsort(order, (size_t)there, sizeof *order, by_p);
    double least = 0;
    for (int64_t i = there - 1; i >= 0; i--) {
        double adjusted =
            order[i].log_p + log((double)(tests > there ? tests : there)) - log((double)(i + 1));
        least = fmin(least, adjusted);
        log_fdr[order[i].index] = least;
    }
    rb_free(order);
    return RB_OK;
}
