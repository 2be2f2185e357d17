/* Where a fit of mca begins to cool: near the temperature at which fields break apart.
 *
 * Hot, all fields are alike, the mean of the data. A difference between them along a direction in
 * which the data have variance lambda grows once the temperature is below lambda / sigma^2, the
 * critical one of that direction; what breaks apart far below it does so at once, in whichever way
 * the start happened to lean. (Luecke and Eggert 2010, section 5.4, find the temperature by trial.)
 * The mean of the critical temperatures of all directions, each weighted by its variance, is
 *   tr(C^2) / (tr(C) sigma^2),   C the covariance of the features.
 * Both traces come from C G in one pass: exactly with G = I; of many features with columns of
 * random signs, E |C g|^2 = tr(C^2), E g'C g = tr(C), whose means have an sd of 18 % at
 * most (of 1024 features and fewer; 35 % of very many). */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Of many features fewer columns, so that G stays in a cache. */
enum { COLUMNS = 64, FEWEST = 16, CELLS = 1 << 16 };

int64_t et_critical_columns(const rb_problem *problem, const et_setup *setup,
                            const rb_et_options *o) {
    int64_t d = problem->n_features;
    bool wanted = setup->model.summing == &et_sum_max && et_gaussian(&setup->model) &&
                  !o->as_printed && !(o->temperature && *o->temperature);
    int64_t most = d < CELLS / COLUMNS ? COLUMNS : d > CELLS / FEWEST ? FEWEST : CELLS / d;
    return !wanted ? 0 : rb_smaller(d, most);
}

/* G, the same for all restarts. */
void et_critical_start(et_fit *f) {
    int64_t d = f->problem.n_features, columns = f->shape.dims[ET_SKETCH];
    rb_stream stream = {(uint64_t)f->problem.fit->seed, RB_RANDOM_CRITICAL, 0};
    for (int64_t i = 0; columns > 0 && i < d * columns; i++) {
        double sign = rb_random_uniform(stream, (uint64_t)i) < 0.5 ? -1 : 1;
        f->work.sketch[i] = columns < d ? sign : i / columns == i % columns;
    }
}

/* The means of what is there in a block, which stand in for what is missing. */
static void find_means(et_fit *f, const rb_block *block) {
    const double *values = f->work.row.data;
    double *means = f->work.means, *counts = f->work.counts;
    int64_t d = f->problem.n_features;
    memset(means, 0, (size_t)d * sizeof *means);
    memset(counts, 0, (size_t)d * sizeof *counts);
    for (int64_t i = 0; i < block->n_samples; i++) {
        rb_block_rows(block, i, f->work.row);
        for (int64_t j = 0; j < d; j++) {
            counts[j] += !isnan(values[j]);
            means[j] += isnan(values[j]) ? 0 : values[j];
        }
    }
    for (int64_t j = 0; j < d; j++)
        means[j] /= fmax(counts[j], 1);
}

/* sums += y, y (G'y)'. */
static void add_row(et_fit *f, const double *y) {
    int64_t d = f->problem.n_features, columns = f->shape.dims[ET_SKETCH];
    double along[COLUMNS] = {0};
    for (int64_t j = 0; j < d; j++) {
        f->survey.sums[j] += y[j];
        for (int64_t k = 0; k < columns; k++)
            along[k] += f->work.sketch[j * columns + k] * y[j];
    }
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < columns; k++)
            f->survey.sketch[j * columns + k] += along[k] * y[j];
}

void et_critical_add(et_fit *f, const rb_block *block) {
    double *y = f->work.row.data;
    if (f->shape.dims[ET_SKETCH] == 0) return;
    if (f->problem.missing) find_means(f, block);
    for (int64_t i = 0; i < block->n_samples; i++) {
        rb_block_rows(block, i, f->work.row);
        for (int64_t j = 0; f->problem.missing && j < f->problem.n_features; j++)
            y[j] = isnan(y[j]) ? f->work.means[j] : y[j];
        add_row(f, y);
    }
}

double et_critical_variance(const et_fit *f) {
    int64_t d = f->problem.n_features, columns = f->shape.dims[ET_SKETCH];
    double n = (double)f->problem.n_samples, trace = 0, squares = 0;
    const double *sums = f->survey.sums;
    for (int64_t k = 0; k < columns; k++) {
        double along = 0; /* the mean of g'y */
        for (int64_t j = 0; j < d; j++)
            along += f->work.sketch[j * columns + k] * sums[j] / n;
        for (int64_t j = 0; j < d; j++) {
            double cg = f->survey.sketch[j * columns + k] / n - along * sums[j] / n;
            trace += f->work.sketch[j * columns + k] * cg;
            squares += cg * cg;
        }
    }
    return trace > 0 ? squares / trace : 0;
}
