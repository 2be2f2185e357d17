/* Ordinary least squares of each feature on the columns of covariates and an intercept.
 *
 * With x_c the columns, means over the n_k samples in which feature k is there, and G = sum (x -
 * mean)(x - mean)', s_k = sum (x - mean)(y_k - mean): b_k = G^-1 s_k, and sum (y_k - mean)^2 - b_k'
 * s_k is what is left of the squares. Columns are scaled to unit length first. The factor of G is
 * that of all features without missing values; the others have one each, of G less the samples that
 * lack them. A column that is a combination of those before it, and one that the samples of a
 * feature do not determine, get the coefficient 0.
 *
 * Features are shared out among the threads, each of which walks the samples of a group in order,
 * and the sums of groups are added in a tree: the bits do not depend on how many threads there are.
 */
#include "rows.h"

#include <math.h>
#include <string.h>

/* Sums wait in a tree, several times as much. */
enum { TILE = 256, MISSING_BYTES = 1 << 24 };

/* A column whose square is less than that, given those before it, adds nothing but rounding. */
static const double dependent = 1e-10;
/* Squares that are left, as a share of all, below which there is nothing but rounding. */
static const double nothing = 1e-12;

/* ---- a factor that passes over dependent columns ---- */

/* L L' = A over the lower triangle, row and column of a dependent one 0; how many are not. */
static int64_t factorise(int64_t size, double *a) {
    int64_t rank = 0;
    for (int64_t j = 0; j < size; j++) {
        double pivot = a[j * size + j];
        for (int64_t k = 0; k < j; k++)
            pivot -= a[j * size + k] * a[j * size + k];
        bool kept = pivot > dependent;
        rank += kept;
        a[j * size + j] = kept ? sqrt(pivot) : 0;
        for (int64_t k = 0; !kept && k < j; k++)
            a[j * size + k] = 0;
        for (int64_t i = j + 1; i < size; i++) {
            double value = a[i * size + j];
            for (int64_t k = 0; k < j; k++)
                value -= a[i * size + k] * a[j * size + k];
            a[i * size + j] = kept ? value / a[j * size + j] : 0;
        }
    }
    return rank;
}

/* x becomes A^-1 x, 0 for dependent columns. */
static void solve(int64_t size, const double *l, double *x) {
    for (int64_t j = 0; j < size; j++) {
        for (int64_t k = 0; k < j; k++)
            x[j] -= l[j * size + k] * x[k];
        x[j] = l[j * size + j] > 0 ? x[j] / l[j * size + j] : 0;
    }
    for (int64_t j = size - 1; j >= 0; j--) {
        for (int64_t i = j + 1; i < size; i++)
            x[j] -= l[i * size + j] * x[i];
        x[j] = l[j * size + j] > 0 ? x[j] / l[j * size + j] : 0;
    }
}

/* ---- the columns ---- */

/* Adds a sample's columns and their products. */
static void add_sample(const rb_regress_fit *fit, int64_t sample, double *totals,
                       double *products) {
    rb_regress_entry x[RB_COVARIATES_MAX];
    int64_t q = fit->regress->n_columns;
    int count = rb_regress_row(&fit->rows, sample, x);
    for (int a = 0; a < count; a++) {
        totals[x[a].column] += x[a].value;
        for (int b = 0; b < count; b++)
            products[x[a].column * q + x[b].column] += x[a].value * x[b].value;
    }
}

/* Correlations from sums over n samples. */
static void correlate(const rb_regress_fit *fit, double n, const double *totals,
                      const double *products, double *correlations) {
    int64_t q = fit->regress->n_columns;
    for (int64_t a = 0; a < q; a++)
        for (int64_t b = 0; b < q; b++)
            correlations[a * q + b] =
                (products[a * q + b] - totals[a] * totals[b] / n) / (fit->spans[a] * fit->spans[b]);
}

static rb_error factorise_columns(rb_context *ctx, rb_regress_fit *fit) {
    int64_t q = fit->regress->n_columns, n = fit->source->n_samples;
    for (int64_t i = 0; i < n; i++)
        add_sample(fit, i, fit->totals, fit->products);
    for (int64_t c = 0; c < q; c++) {
        double centred = fit->products[c * q + c] - fit->totals[c] * fit->totals[c] / (double)n;
        fit->spans[c] = centred > 0 ? sqrt(centred) : 1;
    }
    correlate(fit, (double)n, fit->totals, fit->products, fit->factor);
    int64_t rank = factorise(q, fit->factor);
    if (n < rank + 2) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the covariates of `regress` explain all %lld samples completely; name "
                       "fewer, or those with fewer groups",
                       (long long)n);
    }
    if (rank < q) {
        rb_log(
            ctx, RB_LOG_INFO,
            "%lld of the %lld columns of the covariates are combinations of the others and have no "
            "effect",
            (long long)(q - rank), (long long)q);
    }
    return RB_OK;
}

/* The first sample. What a sparse matrix does not store is 0, and so is the pivot. */
static rb_error set_pivots(rb_context *ctx, rb_regress_fit *fit) {
    rb_matrix view;
    rb_row row = {.count = fit->source->n_features, .values = fit->pivots};
    rb_error err = fit->source->sparse ? RB_OK : rb_source_read(ctx, fit->source, 0, 1, &view);
    if (err || fit->source->sparse) return err;
    rb_row_get(&view, 0, &row);
    rb_row_transform(fit->options, &row);
    for (int64_t k = 0; k < row.count; k++)
        fit->pivots[k] = isnan(row.values[k]) ? 0 : row.values[k];
    return RB_OK;
}

rb_error rb_regress_fit_begin(rb_context *ctx, rb_regress *regress, rb_source *source,
                              const rb_share *share, const rb_preprocess_options *options,
                              rb_regress_fit *fit) {
    int64_t q = regress->n_columns, m = source->n_features;
    *fit =
        (rb_regress_fit){.regress = regress, .options = options, .source = source, .share = share};
    rb_scratch *arrays = &fit->arrays;
    arrays->ctx = ctx;
    rb_tree_begin(&fit->tree, ctx, q * m);
    fit->pivots = rb_take(arrays, m, sizeof(double));
    fit->products = rb_take(arrays, q, (size_t)q * sizeof(double));
    fit->totals = rb_take(arrays, q, sizeof(double));
    fit->spans = rb_take(arrays, q, sizeof(double));
    fit->factor = rb_take(arrays, q, (size_t)q * sizeof(double));
    fit->offsets = rb_take(arrays, m, sizeof(double));
    fit->coefficients = rb_take(arrays, q, (size_t)m * sizeof(double));
    if (!arrays->err) arrays->err = rb_regress_bind(ctx, regress, source, &fit->rows);
    if (!arrays->err) arrays->err = set_pivots(ctx, fit);
    return arrays->err ? arrays->err : factorise_columns(ctx, fit);
}

void rb_regress_fit_end(rb_regress_fit *fit) {
    rb_regress_unbind(&fit->rows);
    rb_tree_free(&fit->tree);
    (void)rb_scratch_end(&fit->arrays);
}

/* ---- sums with the features ---- */

struct adding {
    rb_regress_fit *fit;
    const rb_matrix *rows;
    int64_t first, features; /* sample of the first row; features of a task */
};

/* Adds x times (y - pivot) of the features begin .. end - 1 of a row. */
static void add_entry(const rb_regress_fit *fit, rb_regress_entry x, const rb_row *row,
                      int64_t begin, int64_t end) {
    double *sums = fit->sums + x.column * fit->source->n_features;
    if (row->columns) {
        for (int64_t e = rb_row_from(row, begin); e < row->count && row->columns[e] < end; e++)
            sums[row->columns[e]] += isnan(row->values[e]) ? 0 : x.value * row->values[e];
        return;
    }
    for (int64_t k = begin; k < end; k++) {
        double difference = row->values[k] - fit->pivots[k];
        sums[k] += isnan(difference) ? 0 : x.value * difference;
    }
}

static void add_task(void *arg, int64_t index, int worker) {
    const struct adding *t = arg;
    int64_t begin = index * t->features, m = t->rows->n_features;
    int64_t end = rb_smaller(begin + t->features, m);
    for (int64_t i = 0; i < t->rows->n_samples; i++) {
        rb_regress_entry x[RB_COVARIATES_MAX];
        rb_row row = rb_row_of(t->rows, i);
        int count = rb_regress_row(&t->fit->rows, t->first + i, x);
        for (int e = 0; e < count; e++)
            add_entry(t->fit, x[e], &row, begin, end);
    }
}

void rb_regress_fit_add(rb_context *ctx, rb_regress_fit *fit, const rb_matrix *rows,
                        int64_t first) {
    int64_t m = rows->n_features, threads = rb_context_threads(ctx);
    int64_t share = rows->sparse ? (m + threads - 1) / threads : TILE;
    struct adding t = {fit, rows, first, share};
    fit->sums = rb_tree_next(&fit->tree);
    rb_parallel(ctx, (m + share - 1) / share, add_task, &t);
}

/* ---- features with missing values ---- */

/* Sums over the samples in which some features are missing. */
struct lacking {
    rb_regress_fit *fit;
    const rb_matrix *rows;
    int64_t first;
    const int64_t *features; /* `count` of them */
    int64_t count;
    rb_tree tree;
    double *sums; /* of each feature: totals, then products */
};

static void add_lacking(void *arg, int64_t index, int worker) {
    const struct lacking *t = arg;
    int64_t k = t->features[index], q = t->fit->regress->n_columns;
    double *totals = t->sums + index * (q + q * q), *products = totals + q;
    for (int64_t i = 0; i < t->rows->n_samples; i++) {
        rb_row row = rb_row_of(t->rows, i);
        int64_t at = rb_row_from(&row, k);
        bool there = at < row.count && (!row.columns || row.columns[at] == k);
        if (there && isnan(row.values[at])) add_sample(t->fit, t->first + i, totals, products);
    }
}

static void collect_lacking(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct lacking *t = user;
    t->rows = rows;
    t->first = first;
    t->sums = rb_tree_next(&t->tree);
    rb_parallel(ctx, t->count, add_lacking, t);
}

/* ---- solving ---- */

struct solving {
    rb_regress_fit *fit;
    rb_moments *moments;           /* of each feature */
    const struct lacking *lacking; /* NULL: features without missing values */
    double *memory;                /* threads x n_columns (n_columns + 2) */
};

/* Coefficients from the factor, and the moments of what is left; totals are those of the samples
 * that have the feature. */
static void solve_feature(const struct solving *t, int64_t k, const double *factor,
                          const double *totals, double *x) {
    rb_regress_fit *fit = t->fit;
    int64_t q = fit->regress->n_columns, m = fit->source->n_features;
    double *coefficients = fit->coefficients + k * q, explained = 0, shift = 0;
    rb_moments *moments = &t->moments[k];
    double n = (double)moments->count, mean = moments->mean - fit->pivots[k];
    if (moments->count == 0) return;
    for (int64_t c = 0; c < q; c++) {
        x[c] = (fit->sums[c * m + k] - totals[c] * mean) / fit->spans[c];
        coefficients[c] = x[c];
    }
    solve(q, factor, x);
    for (int64_t c = 0; c < q; c++) {
        explained += coefficients[c] * x[c];
        coefficients[c] = x[c] / fit->spans[c];
        shift += coefficients[c] * totals[c] / n;
    }
    fit->offsets[k] = rb_regress_offset(fit->regress, coefficients);
    double left = moments->squares - explained;
    moments->squares = left > nothing * moments->squares ? left : 0;
    moments->mean -= shift + fit->offsets[k];
}

static void solve_complete(void *arg, int64_t k, int worker) {
    const struct solving *t = arg;
    int64_t q = t->fit->regress->n_columns;
    double *x = t->memory + worker * q * (q + 2);
    if (t->moments[k].missing == 0) solve_feature(t, k, t->fit->factor, t->fit->totals, x);
}

static void solve_lacking(void *arg, int64_t index, int worker) {
    const struct solving *t = arg;
    int64_t q = t->fit->regress->n_columns, k = t->lacking->features[index];
    double *x = t->memory + worker * q * (q + 2), *totals = x + q, *factor = totals + q;
    double *lack = t->lacking->sums + index * (q + q * q);
    for (int64_t c = 0; c < q; c++)
        totals[c] = t->fit->totals[c] - lack[c];
    for (int64_t e = 0; e < q * q; e++)
        lack[q + e] = t->fit->products[e] - lack[q + e];
    double n = fmax((double)t->moments[k].count, 1);
    correlate(t->fit, n, totals, lack + q, factor);
    factorise(q, factor);
    solve_feature(t, k, factor, totals, x);
}

/* As many features at a time as there is memory for. */
static rb_error solve_all_lacking(rb_context *ctx, const struct solving *t, const int64_t *features,
                                  int64_t count) {
    int64_t q = t->fit->regress->n_columns, cells = q + q * q;
    int64_t size = MISSING_BYTES / (int64_t)sizeof(double) / cells;
    size = size < 1 ? 1 : size > count ? count : size;
    struct lacking lack = {.fit = t->fit};
    rb_pass pass = {.source = t->fit->source,
                    .share = t->fit->share,
                    .trees = {&lack.tree},
                    .options = t->fit->options,
                    .collect = collect_lacking,
                    .user = &lack};
    rb_error err = RB_OK;
    struct solving own = *t;
    own.lacking = &lack;
    for (int64_t first = 0; !err && first < count; first += size) {
        lack.features = features + first;
        lack.count = rb_smaller(count - first, size);
        rb_tree_begin(&lack.tree, ctx, lack.count * cells);
        err = rb_pass_run(ctx, &pass);
        lack.sums = lack.tree.stack[0];
        if (!err) rb_parallel(ctx, lack.count, solve_lacking, &own);
    }
    rb_tree_free(&lack.tree);
    return err;
}

rb_error rb_regress_fit_solve(rb_context *ctx, rb_regress_fit *fit, rb_moments *moments) {
    int64_t q = fit->regress->n_columns, m = fit->source->n_features, count = 0;
    rb_scratch scratch = {.ctx = ctx};
    struct solving t = {.fit = fit, .moments = moments};
    t.memory = rb_take(&scratch, rb_context_threads(ctx) * q, (size_t)(q + 2) * sizeof(double));
    int64_t *features = rb_take(&scratch, m, sizeof *features);
    fit->sums = fit->tree.stack[0];
    scratch.err = rb_share_agree(ctx, fit->share, scratch.err);
    if (!scratch.err) {
        rb_parallel(ctx, m, solve_complete, &t);
        for (int64_t k = 0; k < m; k++)
            if (moments[k].missing > 0) features[count++] = k;
        if (count > 0) scratch.err = solve_all_lacking(ctx, &t, features, count);
    }
    return rb_scratch_end(&scratch);
}

double rb_regress_fit_effect(const rb_regress_fit *fit, int64_t sample, int64_t k) {
    rb_regress_entry x[RB_COVARIATES_MAX];
    double effect = fit->offsets[k];
    int count = rb_regress_row(&fit->rows, sample, x);
    for (int e = 0; e < count; e++)
        effect += x[e].value * fit->coefficients[k * fit->regress->n_columns + x[e].column];
    return effect;
}
