/* Chances of statistics, one a unit, against the same statistics of permuted data.
 *
 * p = (1 + number of permutations with as large a value) / (1 + permutations), which is valid for
 * any number of them (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Stat.
 * Appl. Genet. Mol. Biol. 9:39, 2010). Family-wise: the largest over the units, each on the scale
 * of its own mean and standard deviation over data and permutations, in place of the unit's own
 * (P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993, single step). False
 * discovery rate: discoveries.c.
 */
#include "modules.h"

#include <math.h>

/* Mean and sd of unit j over data and permutations. */
static void measure(const rb_chances *c, int64_t units, int64_t j, double *mean, double *sd) {
    double sum = c->observed[j], squares = 0, n = (double)c->permutations + 1;
    for (int64_t p = 0; p < c->permutations; p++)
        sum += c->permuted[p * units + j];
    *mean = sum / n;
    squares = (c->observed[j] - *mean) * (c->observed[j] - *mean);
    for (int64_t p = 0; p < c->permutations; p++) {
        double d = c->permuted[p * units + j] - *mean;
        squares += d * d;
    }
    *sd = sqrt(squares / n);
}

/* The largest standardised value of each permutation. */
static void find_largest(const rb_chances *c, int64_t units, const double *means, const double *sds,
                         double *largest) {
    for (int64_t p = 0; p < c->permutations; p++) {
        largest[p] = -INFINITY;
        for (int64_t j = 0; j < units; j++) {
            double z = sds[j] > 0 ? (c->permuted[p * units + j] - means[j]) / sds[j] : 0;
            if (!isnan(c->observed[j])) largest[p] = fmax(largest[p], z);
        }
    }
}

static double add_one(int64_t count, int64_t permutations) {
    return (double)(count + 1) / (double)(permutations + 1);
}

rb_error rb_chances_find(rb_context *ctx, const rb_chances *c, const rb_chance_rows *rows) {
    int64_t units = rows->count;
    rb_scratch scratch = {.ctx = ctx};
    double *means = rb_take(&scratch, units, sizeof *means);
    double *sds = rb_take(&scratch, units, sizeof *sds);
    double *largest = rb_take(&scratch, c->permutations, sizeof *largest);
    double *p_values = rb_take(&scratch, units, sizeof *p_values);
    double *rates = rb_take(&scratch, units, sizeof *rates);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t j = 0; j < units; j++)
        measure(c, units, j, &means[j], &sds[j]);
    find_largest(c, units, means, sds, largest);
    for (int64_t j = 0; j < units; j++) {
        double *row = rb_chance_row(rows, j);
        double z = sds[j] > 0 ? (c->observed[j] - means[j]) / sds[j] : 0;
        int64_t own = 0, any = 0;
        for (int64_t p = 0; p < c->permutations; p++) {
            own += c->permuted[p * units + j] >= c->observed[j];
            any += largest[p] >= z;
        }
        bool there = !isnan(c->observed[j]);
        p_values[j] = row[0] = there ? add_one(own, c->permutations) : NAN;
        row[1] = there ? fmax(add_one(any, c->permutations), row[0]) : NAN;
    }
    scratch.err = rb_false_discovery(ctx, p_values, false, units, 0, rates);
    for (int64_t j = 0; j < units && !scratch.err; j++)
        rb_chance_row(rows, j)[2] = rates[j];
    return rb_scratch_end(&scratch);
}
