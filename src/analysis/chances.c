/* Chances of statistics, one a unit, against the same statistics of permuted data.
 *
 * p = (1 + number of permutations with as large a value) / (1 + permutations), which is valid for
 * any number of them (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Stat.
 * Appl. Genet. Mol. Biol. 9:39, 2010). Family-wise: the largest over the units, each on the scale
 * of its own mean and standard deviation over data and permutations, in place of the unit's own
 * (P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993, single step). False
 * discovery rate: Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57:289 (1995).
 */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>

/* Mean and sd of unit j over data and permutations. */
static void measure(const rb_chances *c, int64_t j, double *mean, double *sd) {
    double sum = c->observed[j], squares = 0, n = (double)c->permutations + 1;
    for (int64_t p = 0; p < c->permutations; p++)
        sum += c->permuted[p * c->units + j];
    *mean = sum / n;
    squares = (c->observed[j] - *mean) * (c->observed[j] - *mean);
    for (int64_t p = 0; p < c->permutations; p++) {
        double d = c->permuted[p * c->units + j] - *mean;
        squares += d * d;
    }
    *sd = sqrt(squares / n);
}

/* The largest standardised value of each permutation. */
static void find_largest(const rb_chances *c, const double *means, const double *sds,
                         double *largest) {
    for (int64_t p = 0; p < c->permutations; p++) {
        largest[p] = -INFINITY;
        for (int64_t j = 0; j < c->units; j++) {
            double z = sds[j] > 0 ? (c->permuted[p * c->units + j] - means[j]) / sds[j] : 0;
            if (!isnan(c->observed[j])) largest[p] = fmax(largest[p], z);
        }
    }
}

static double add_one(int64_t count, int64_t permutations) {
    return (double)(count + 1) / (double)(permutations + 1);
}

typedef struct ranked {
    double p;
    int64_t unit;
} ranked;

static int by_p(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->unit > y->unit) - (x->unit < y->unit);
}

/* Of the units that have a p-value. */
static void find_rates(const rb_chances *c, ranked *order) {
    int64_t count = 0;
    for (int64_t j = 0; j < c->units; j++)
        if (!isnan(c->p[j])) order[count++] = (ranked){c->p[j], j};
    qsort(order, (size_t)count, sizeof *order, by_p);
    double rate = 1;
    for (int64_t r = count - 1; r >= 0; r--) {
        rate = fmin(rate, order[r].p * (double)count / (double)(r + 1));
        c->q[order[r].unit] = rate;
    }
}

rb_error rb_chances_find(rb_context *ctx, const rb_chances *c) {
    rb_scratch scratch = {.ctx = ctx};
    double *means = rb_take(&scratch, c->units, sizeof *means);
    double *sds = rb_take(&scratch, c->units, sizeof *sds);
    double *largest = rb_take(&scratch, c->permutations, sizeof *largest);
    ranked *order = rb_take(&scratch, c->units, sizeof *order);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t j = 0; j < c->units; j++)
        measure(c, j, &means[j], &sds[j]);
    find_largest(c, means, sds, largest);
    for (int64_t j = 0; j < c->units; j++) {
        double z = sds[j] > 0 ? (c->observed[j] - means[j]) / sds[j] : 0;
        int64_t own = 0, any = 0;
        for (int64_t p = 0; p < c->permutations; p++) {
            own += c->permuted[p * c->units + j] >= c->observed[j];
            any += largest[p] >= z;
        }
        bool there = !isnan(c->observed[j]);
        c->p[j] = there ? add_one(own, c->permutations) : NAN;
        c->family[j] = there ? fmax(add_one(any, c->permutations), c->p[j]) : NAN;
        c->q[j] = NAN;
    }
    find_rates(c, order);
    return rb_scratch_end(&scratch);
}
