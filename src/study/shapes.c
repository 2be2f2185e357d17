/* How far from normal samples are along the loadings of a unit: a sum of many features is normal
 * where the samples have nothing that is sparse, nor groups.
 *
 * Samples have unit length, so that one of large values throughout is not taken for a module. Of
 * the projections y of n samples the larger one counts, both as logarithms of a likelihood ratio:
 *     few samples stand out   n g^2 / 12 with the skewness g, where it is above 0; for codes of
 *                             both signs n (g^2 / 6 + k^2 / 24) / 2 with the excess kurtosis k
 *                             (C. M. Jarque, A. K. Bera, Economics Letters 6 (1980))
 *     two groups              the best cut of the sorted y in two normal groups of equal variance,
 *                             three samples or more each; for codes that are 0 or above the upper
 *                             one is at most half of the samples, else the rest stands out
 */
#include "study.h"

#include <math.h>

enum { SMALLEST_GROUP = 3 };

/* Of the sorted y, of mean 0 and the sum of squares n. */
static double two_groups(int64_t n, const double *y, bool signs) {
    double sum = 0, best = -INFINITY, all = (double)n;
    for (int64_t i = 1; i <= n - SMALLEST_GROUP; i++) {
        double low = (double)i, high = all - low;
        sum += y[i - 1];
        if (i < SMALLEST_GROUP || (!signs && 2 * i < n)) continue;
        double within = 1 - sum * sum / (low * high);
        double choice = -low * log(low / all) - high * log(high / all);
        best = fmax(best, -all / 2 * log(fmax(within, 1e-12)) - choice);
    }
    return best;
}

/* Sorts and scales y. */
static double shape_of(int64_t n, double *y, bool signs) {
    double mean = 0, variance = 0, third = 0, fourth = 0, all = (double)n;
    for (int64_t i = 0; i < n; i++)
        mean += y[i] / all;
    for (int64_t i = 0; i < n; i++)
        variance += (y[i] - mean) * (y[i] - mean) / all;
    if (!(variance > 0)) return -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (y[i] - mean) / sqrt(variance);
        third += y[i] * y[i] * y[i] / all;
        fourth += y[i] * y[i] * y[i] * y[i] / all;
    }
    rb_sort_numbers(y, n);
    double skewness = signs ? third : fmax(third, 0), kurtosis = signs ? fourth - 3 : 0;
    return fmax(all * (skewness * skewness / 12 + kurtosis * kurtosis / 48),
                two_groups(n, y, signs));
}

/* The samples, of unit length, along each unit: y is units x samples. */
static void project(const rb_context *ctx, const rb_preprocess *p, const rb_matrix *x,
                    rb_dense loadings, double *sample, rb_dense y) {
    for (int64_t i = 0; i < x->n_samples; i++) {
        double length = 0;
        for (int64_t u = 0; u < loadings.cols; u++)
            sample[u] = 0;
        for (int64_t k = 0; k < loadings.rows; k++) {
            double raw = rb_get(x->type, x->values, i * x->n_features + k);
            double value = (raw - p->centre[k]) / p->scale[k];
            length += value * value;
            rb_axpy(ctx, RB_FLOAT64, loadings.cols, value, rb_dense_row(loadings, k), sample);
        }
        for (int64_t u = 0; u < loadings.cols; u++)
            rb_dense_set(y, u, i, length > 0 ? sample[u] / sqrt(length) : 0);
    }
}

rb_error rb_unit_shapes(rb_context *ctx, const rb_model *model, const rb_matrix *x,
                        double *shapes) {
    int64_t features = 0, units = 0;
    const double *values = rb_model_array(model, "loadings", &features, &units);
    const rb_dense loadings = {(void *)values, features, units, units, RB_FLOAT64};
    rb_scratch scratch = {.ctx = ctx};
    rb_dense y = {0};
    double *sample = rb_take(&scratch, units, sizeof *sample);
    rb_dense_take(&scratch, RB_FLOAT64, units, x->n_samples, &y);
    if (!scratch.err) project(ctx, model->preprocess, x, loadings, sample, y);
    for (int64_t u = 0; !scratch.err && u < units; u++)
        shapes[u] = shape_of(x->n_samples, rb_dense_row(y, u), rb_has_signs(model));
    return rb_scratch_end(&scratch);
}
