/* How far from normal samples are along the loadings of a unit: a sum of many features is normal
 * where the samples have nothing that is sparse, nor groups.
 *
 * The loadings are those that the other samples give: with the codes Z and samples x_i
 *     y_iu = sum_(j != i) a_ju x_j' x_i / |x_i|,    A = Z (Z'Z + D / 10)^-1,    D = diag(Z'Z)
 * A are the weights of samples in a regression on the codes, drawn towards each code's own so that
 * units with nearly the same codes share what they explain. With its own part a sample stands out
 * along the unit that was fitted to it: of few samples and many features so far that no module
 * does better. Samples of a block may be alike, so that all of a block are left out. Samples have
 * unit length, so that one of large values throughout is not taken for a module.
 *
 * Of the y of n samples the larger one counts, both as logarithms of a likelihood ratio:
 *     few samples stand out   n g^2 / 12 with the skewness g, where it is above 0; for codes of
 *                             both signs n (g^2 / 6 + k^2 / 24) / 2 with the excess kurtosis k
 *                             (C. M. Jarque, A. K. Bera, Economics Letters 6 (1980))
 *     groups                  the best cut of the sorted y in two normal groups of equal variance,
 *                             three samples or more each; for codes that are 0 or above the upper
 *                             one is at most half of the samples, else the rest stands out. Or in
 *                             three: the same cut and one below it, which parts samples that
 *                             mirror the upper ones; less log n for its place and one more mean
 */
#include "study.h"

#include <math.h>

enum { SMALLEST_GROUP = 3 };

/* Sums of the sorted y, of mean 0 and the sum of squares n: of the first i. */
typedef struct sorted {
    int64_t n;
    const double *sums;
} sorted;

/* What a group of the samples from..to - 1 takes from the sum of squares, and costs to choose. */
static double taken(const sorted *y, int64_t from, int64_t to, double *choice) {
    double count = (double)(to - from), sum = y->sums[to] - y->sums[from];
    *choice -= count > 0 ? count * log(count / (double)y->n) : 0;
    return count > 0 ? sum * sum / count : 0;
}

/* The groups below `low`, from there to `high`, and above. */
static double groups(const sorted *y, int64_t low, int64_t high) {
    double choice = 0, all = (double)y->n;
    double between =
        taken(y, 0, low, &choice) + taken(y, low, high, &choice) + taken(y, high, y->n, &choice);
    return -all / 2 * log(fmax(1 - between / all, 1e-12)) - choice;
}

/* The best cut in two; then in three, with one more below it. */
static double best_groups(const sorted *y, bool signs) {
    int64_t first = signs ? SMALLEST_GROUP : (y->n + 1) / 2, cut = y->n;
    double best = -INFINITY;
    for (int64_t high = first < SMALLEST_GROUP ? SMALLEST_GROUP : first;
         high <= y->n - SMALLEST_GROUP; high++) {
        double value = groups(y, 0, high);
        if (value > best) cut = high;
        best = fmax(best, value);
    }
    for (int64_t low = SMALLEST_GROUP; best > -INFINITY && low <= cut - SMALLEST_GROUP; low++)
        best = fmax(best, groups(y, low, cut) - log((double)y->n));
    return best;
}

/* Sorts and scales y. sums: n + 1. */
static double shape_of(int64_t n, double *y, bool signs, double *sums) {
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
    sums[0] = 0;
    for (int64_t i = 0; i < n; i++)
        sums[i + 1] = sums[i] + y[i];
    double skewness = signs ? third : fmax(third, 0), kurtosis = signs ? fourth - 3 : 0;
    return fmax(all * (skewness * skewness / 12 + kurtosis * kurtosis / 48),
                best_groups(&(sorted){n, sums}, signs));
}

/* ---- along the loadings of the other samples ---- */

typedef struct view {
    const rb_preprocess *preprocess;
    const rb_matrix *x;
    const rb_blocks *blocks; /* no order: each sample alone */
    rb_dense weights;        /* A: samples x units */
    rb_dense loadings;       /* A'X: units x features */
    double *sample, *other;
} view;

/* A of Z. */
static rb_error find_weights(rb_context *ctx, rb_dense codes, rb_dense weights) {
    static const double PULL = 0.1;
    rb_scratch scratch = {.ctx = ctx};
    rb_spd *factor = NULL;
    rb_dense squares = {0};
    rb_dense_take(&scratch, RB_FLOAT64, codes.cols, codes.cols, &squares);
    if (scratch.err) return rb_scratch_end(&scratch);
    rb_gemm_lower(ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 0, squares);
    for (int64_t u = 0; u < codes.cols; u++) {
        double square = rb_dense_get(squares, u, u);
        rb_dense_set(squares, u, u, square > 0 ? (1 + PULL) * square : 1);
    }
    scratch.err = rb_spd_new(ctx, RB_FLOAT64, codes.cols, &factor);
    if (!scratch.err) scratch.err = rb_spd_factor(ctx, factor, squares);
    if (!scratch.err) rb_spd_solve_right(factor, codes, weights);
    rb_spd_free(factor);
    return rb_scratch_end(&scratch);
}

static void read_sample(const view *v, int64_t i, double *sample) {
    const rb_matrix *x = v->x;
    for (int64_t k = 0; k < x->n_features; k++) {
        double raw = rb_get(x->type, x->values, i * x->n_features + k);
        sample[k] = (raw - v->preprocess->centre[k]) / v->preprocess->scale[k];
    }
}

static void add_loadings(const rb_context *ctx, const view *v) {
    for (int64_t i = 0; i < v->x->n_samples; i++) {
        read_sample(v, i, v->sample);
        for (int64_t u = 0; u < v->loadings.rows; u++)
            rb_axpy(ctx, RB_FLOAT64, v->x->n_features, rb_dense_get(v->weights, i, u), v->sample,
                    rb_dense_row(v->loadings, u));
    }
}

/* Takes what sample j has of the loadings from the projections of the sample at hand. */
static void leave_out(const view *v, int64_t j, double product, int64_t i, rb_dense y) {
    for (int64_t u = 0; u < y.rows; u++)
        rb_dense_set(y, u, i, rb_dense_get(y, u, i) - rb_dense_get(v->weights, j, u) * product);
}

/* The samples first .. first + count - 1 of those in the order of blocks: a block. */
static void project_block(const rb_context *ctx, const view *v, int64_t first, int64_t count,
                          rb_dense y) {
    const int64_t m = v->x->n_features, *order = v->blocks->order;
    for (int64_t e = first; e < first + count; e++) {
        int64_t i = order ? order[e] : e;
        double length = 0;
        read_sample(v, i, v->sample);
        for (int64_t u = 0; u < y.rows; u++)
            rb_dense_set(y, u, i,
                         rb_dot(ctx, RB_FLOAT64, m, rb_dense_row(v->loadings, u), v->sample));
        for (int64_t f = first; f < first + count; f++) {
            int64_t j = order ? order[f] : f;
            if (j != i) read_sample(v, j, v->other);
            double product = rb_dot(ctx, RB_FLOAT64, m, j != i ? v->other : v->sample, v->sample);
            leave_out(v, j, product, i, y);
            if (j == i) length = sqrt(product);
        }
        for (int64_t u = 0; u < y.rows; u++)
            rb_dense_set(y, u, i, length > 0 ? rb_dense_get(y, u, i) / length : 0);
    }
}

rb_error rb_unit_shapes(rb_context *ctx, const rb_model *model, const rb_matrix *x,
                        const rb_blocks *blocks, double *shapes) {
    int64_t n = x->n_samples, m = x->n_features, units = rb_model_units(model);
    int64_t size = blocks->order ? blocks->size : 1;
    rb_scratch scratch = {.ctx = ctx};
    rb_source source;
    rb_dense codes = {0}, y = {0};
    double *sums = rb_take(&scratch, n + 1, sizeof *sums);
    view v = {model->preprocess, x, blocks, .sample = rb_take(&scratch, m, sizeof(double)),
              .other = rb_take(&scratch, m, sizeof(double))};
    rb_dense_take(&scratch, RB_FLOAT64, n, units, &codes);
    rb_dense_take(&scratch, RB_FLOAT64, n, units, &v.weights);
    rb_dense_take(&scratch, RB_FLOAT64, units, m, &v.loadings);
    rb_dense_take(&scratch, RB_FLOAT64, units, n, &y);
    rb_source_of_matrix(x, &source);
    if (!scratch.err)
        scratch.err = rb_encode_into(ctx, model, &source, RB_FLOAT64, codes.data, codes.ld, 1);
    if (!scratch.err) scratch.err = find_weights(ctx, codes, v.weights);
    if (!scratch.err) add_loadings(ctx, &v);
    for (int64_t first = 0; !scratch.err && first < n; first += size)
        project_block(ctx, &v, first, size, y);
    for (int64_t u = 0; !scratch.err && u < units; u++)
        shapes[u] = shape_of(n, rb_dense_row(y, u), rb_has_signs(model), sums);
    return rb_scratch_end(&scratch);
}
