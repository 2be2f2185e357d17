/* Medians and quartiles of features, and the median of the samples' totals: passes over groups of
 * features, as many as there is memory for. Of several processes each holds the values of its own
 * samples; a quantile of all is then found by halving the numbers of float64 until enough values
 * lie below, and is the same number. */
#include "rows.h"

#include <math.h>
#include <string.h>

enum { COLUMN_BYTES = 1 << 26, TILE = 16 };

/* Some features of the samples here, a row each, NaN where missing. */
struct gathering {
    rb_context *ctx;
    const rb_share *share;
    const rb_preprocess_options *options;
    const rb_regress_fit *effects;
    rb_quantiles *quantiles; /* of all features */
    const rb_matrix *rows;
    int64_t first_row, first, width;
    int64_t begin, n; /* samples here */
    rb_dense columns; /* width x n */
    double *sorting;  /* threads x n; NULL: the columns are float64 */
    /* Of several processes, of each of these features: */
    int64_t *there, *all; /* values here, and in all processes */
    int64_t *low, *high, *counts;
    double *values, *next;
};

/* The features of a tile, of all rows. */
static void gather_sparse(const struct gathering *g, int64_t first, int64_t end, rb_dense to) {
    for (int64_t i = 0; i < g->rows->n_samples; i++) {
        rb_row row = rb_row_of(g->rows, i);
        for (int64_t e = rb_row_from(&row, first); e < row.count && row.columns[e] < end; e++)
            rb_dense_set(to, row.columns[e] - first, i, row.values[e]);
    }
}

static void gather_some(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    int64_t from = index * TILE, count = rb_smaller(g->width - from, TILE);
    int64_t n = g->rows->n_samples, m = g->rows->n_features, first = g->first + from;
    rb_dense to = rb_dense_part(g->columns, from, count, g->first_row - g->begin, n);
    rb_dense rows = {(void *)g->rows->values, n, m, m, RB_FLOAT64};
    if (g->rows->sparse)
        gather_sparse(g, first, first + count, to);
    else
        rb_dense_transpose(rb_dense_part(rows, 0, n, first, count), to);
}

static void gather(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct gathering *g = user;
    g->rows = rows;
    g->first_row = first;
    rb_parallel(ctx, (g->width + TILE - 1) / TILE, gather_some, g);
}

static bool fills(const struct gathering *g) {
    return g->options->missing == RB_MISSING_MEAN || g->options->missing == RB_MISSING_MEDIAN;
}

/* The values of a column that are there, less the effects, come first; how many? */
static int64_t bring_there(const struct gathering *g, int64_t index, double *column) {
    int64_t there = 0, missing = 0;
    for (int64_t i = 0; i < g->n; i++)
        missing += column[i] != column[i];
    if (missing == 0 && !g->effects) return g->n;
    for (int64_t i = 0; i < g->n; i++) {
        double effect =
            g->effects ? rb_regress_fit_effect(g->effects, g->begin + i, g->first + index) : 0;
        if (!isnan(column[i])) column[there++] = column[i] - effect;
    }
    return there;
}

/* ---- of one process ---- */

static double quantile(double *column, int64_t count, double fraction) {
    return count > 0 ? rb_quantile_in(column, count, fraction) + 0.0 : 0; /* no -0 */
}

/* As float64, which may be changed. */
static double *column_of(const struct gathering *g, int64_t index, int worker) {
    if (g->columns.type == RB_FLOAT64) return rb_dense_row(g->columns, index);
    double *column = g->sorting + worker * g->n;
    rb_dense_copy(rb_dense_rows(g->columns, index, 1),
                  (rb_dense){column, 1, g->n, g->n, RB_FLOAT64});
    return column;
}

static void take_quantiles(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    rb_quantiles *to = &g->quantiles[g->first + index];
    double *column = column_of(g, index, worker);
    int64_t there = bring_there(g, index, column);
    if (g->options->missing == RB_MISSING_MEDIAN) to->fill = quantile(column, there, 0.5);
    for (; fills(g) && there < g->n; there++)
        column[there] = to->fill;
    to->median = quantile(column, there, 0.5);
    if (g->options->scale == RB_SCALE_IQR)
        to->quartile_range = quantile(column, there, 0.75) - quantile(column, there, 0.25);
}

/* ---- of several ---- */

static void settle(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    g->there[index] = bring_there(g, index, rb_dense_row(g->columns, index));
}

static void count_to(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    const double *column = rb_dense_row(g->columns, index), x = g->values[index];
    int64_t count = 0;
    for (int64_t i = 0; i < g->there[index]; i++)
        count += column[i] <= x;
    g->counts[index] = count;
}

/* counts: of all processes, how many values are at most those that are looked at. */
static void count_all(struct gathering *g) {
    rb_parallel(g->ctx, g->width, count_to, g);
    rb_comm_count(g->ctx, g->width, g->counts);
}

/* Where the quantile stands among the values in their order, and how far behind that place. */
static int64_t place_of(const struct gathering *g, int64_t k, double fraction, double *part) {
    double at = fraction * (double)(g->all[k] > 0 ? g->all[k] - 1 : 0);
    *part = at - (double)(int64_t)at;
    return (int64_t)at;
}

static int64_t middle_of(const struct gathering *g, int64_t k) {
    return g->low[k] + (int64_t)(((uint64_t)g->high[k] - (uint64_t)g->low[k]) / 2);
}

/* values: of each feature the one at its place. */
static void halve(struct gathering *g, double fraction) {
    enum { ROUNDS = 64 };
    const int64_t infinity = 0x7FF0000000000000;
    double part;
    for (int64_t k = 0; k < g->width; k++) {
        g->low[k] = -infinity;
        g->high[k] = infinity;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t k = 0; k < g->width; k++)
            g->values[k] = rb_numbered(middle_of(g, k));
        count_all(g);
        for (int64_t k = 0; k < g->width; k++) {
            int64_t middle = middle_of(g, k);
            bool enough = g->counts[k] > place_of(g, k, fraction, &part) || middle == g->high[k];
            g->low[k] = enough ? g->low[k] : middle + 1;
            g->high[k] = enough ? middle : g->high[k];
        }
    }
    for (int64_t k = 0; k < g->width; k++)
        g->values[k] = rb_numbered(g->low[k]);
}

/* next: the smallest value here that is larger than the one that was found, below 0. */
static void find_next(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    const double *column = rb_dense_row(g->columns, index), x = g->values[index];
    double next = INFINITY;
    for (int64_t i = 0; i < g->there[index]; i++)
        next = column[i] > x ? fmin(next, column[i]) : next;
    g->next[index] = -next;
}

/* values become the quantiles of all processes, 0 of features without a value. */
static void find_all(struct gathering *g, double fraction) {
    double part;
    halve(g, fraction);
    rb_parallel(g->ctx, g->width, find_next, g);
    rb_comm_max(g->ctx, g->width, g->next);
    count_all(g);
    for (int64_t k = 0; k < g->width; k++) {
        int64_t below = place_of(g, k, fraction, &part);
        double next = g->counts[k] > below + 1 ? g->values[k] : -g->next[k];
        if (part > 0) g->values[k] += part * (next - g->values[k]);
        if (g->all[k] == 0) g->values[k] = 0;
    }
}

static void fill_columns(struct gathering *g) {
    for (int64_t k = 0; k < g->width; k++) {
        for (; g->there[k] < g->n; g->there[k]++)
            rb_dense_set(g->columns, k, g->there[k], g->quantiles[g->first + k].fill);
        g->all[k] = g->share->n_samples;
    }
}

static void take_quantiles_of_all(struct gathering *g) {
    rb_quantiles *to = g->quantiles + g->first;
    for (int64_t k = 0; k < g->width; k++)
        g->all[k] = g->there[k];
    rb_comm_count(g->ctx, g->width, g->all);
    if (g->options->missing == RB_MISSING_MEDIAN) find_all(g, 0.5);
    for (int64_t k = 0; g->options->missing == RB_MISSING_MEDIAN && k < g->width; k++)
        to[k].fill = g->values[k];
    if (fills(g)) fill_columns(g);
    find_all(g, 0.5);
    for (int64_t k = 0; k < g->width; k++)
        to[k].median = g->values[k];
    if (g->options->scale != RB_SCALE_IQR) return;
    find_all(g, 0.75);
    for (int64_t k = 0; k < g->width; k++)
        to[k].quartile_range = g->values[k];
    find_all(g, 0.25);
    for (int64_t k = 0; k < g->width; k++)
        to[k].quartile_range -= g->values[k];
}

/* ---- passes ---- */

static rb_error find_some(struct gathering *g, const rb_pass *pass) {
    rb_context *ctx = g->ctx;
    bool together = g->share->together;
    if (pass->source->sparse) rb_dense_zero(g->columns);
    rb_error err = rb_pass_run(ctx, pass);
    /* Medians of all samples take their time. */
    err = err ? err : rb_parallel_or_stop(ctx, g->width, together ? settle : take_quantiles, g);
    err = rb_share_agree(ctx, g->share, err);
    if (!err && together) take_quantiles_of_all(g);
    return err;
}

/* Half the memory, which costs more to get than to sort, where values stay as they are. Not where a
 * copy for each thread takes the other half. */
static bool fits_float32(const struct gathering *g, const rb_source *source) {
    const rb_preprocess_options *o = g->options;
    return source->type == RB_FLOAT32 && !rb_levels_samples(o) && !o->log1p &&
           !g->share->together && 2 * rb_context_threads(g->ctx) <= g->width;
}

static void take_memory(struct gathering *g, const rb_source *source, rb_scratch *memory) {
    size_t integers = sizeof(int64_t);
    rb_type type = fits_float32(g, source) ? RB_FLOAT32 : RB_FLOAT64;
    void *data = rb_alloc(g->ctx, g->width * g->n, rb_type_size(type));
    g->columns = (rb_dense){data, g->width, g->n, g->n, type};
    if (!data) memory->err = RB_ERROR_MEMORY;
    if (type == RB_FLOAT32)
        g->sorting = rb_take(memory, rb_context_threads(g->ctx) * g->n, sizeof *g->sorting);
    if (!g->share->together) return;
    g->there = rb_take(memory, g->width, integers);
    g->all = rb_take(memory, g->width, integers);
    g->low = rb_take(memory, g->width, integers);
    g->high = rb_take(memory, g->width, integers);
    g->counts = rb_take(memory, g->width, integers);
    g->values = rb_take(memory, g->width, sizeof *g->values);
    g->next = rb_take(memory, g->width, sizeof *g->next);
}

/* Of so many columns. */
static rb_error find(struct gathering *g, rb_source *source, rb_collect_fn collect, int64_t count) {
    int64_t width = g->width;
    rb_scratch memory = {.ctx = g->ctx};
    rb_pass pass = {
        .source = source, .share = g->share, .options = g->options, .collect = collect, .user = g};
    g->begin = rb_share_sample(g->share, g->share->first);
    g->n = rb_share_sample(g->share, g->share->end) - g->begin;
    take_memory(g, source, &memory);
    rb_error err = rb_share_agree(g->ctx, g->share, memory.err);
    for (; !err && g->first < count; g->first += g->width) {
        g->width = rb_smaller(count - g->first, width);
        err = find_some(g, &pass);
    }
    rb_dense_free(&g->columns);
    rb_error end_err = rb_scratch_end(&memory);
    return err ? err : end_err;
}

rb_error rb_quantiles_find(rb_context *ctx, rb_source *source, const rb_share *share,
                           const rb_preprocess_options *options, const rb_regress_fit *effects,
                           rb_quantiles *quantiles) {
    int64_t m = source->n_features, width = COLUMN_BYTES / (int64_t)sizeof(double) / share->most;
    struct gathering g = {.ctx = ctx,
                          .share = share,
                          .options = options,
                          .effects = effects,
                          .quantiles = quantiles,
                          .width = width < 1 ? 1 : rb_smaller(width, m)};
    return find(&g, source, gather, m);
}

/* ---- totals of samples ---- */

/* A sample without a total is as one whose value is missing. */
static void add_some(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    int64_t end = rb_smaller((index + 1) * TILE, g->rows->n_samples);
    for (int64_t i = index * TILE; i < end; i++) {
        const rb_row row = rb_row_of(g->rows, i);
        double total = rb_row_total(&row);
        bool there = total > 0 && isfinite(total);
        rb_dense_set(g->columns, 0, g->first_row - g->begin + i, there ? total : NAN);
    }
}

static void add_rows(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct gathering *g = user;
    g->rows = rows;
    g->first_row = first;
    rb_parallel(ctx, (rows->n_samples + TILE - 1) / TILE, add_some, g);
}

rb_error rb_median_total(rb_context *ctx, rb_source *source, const rb_share *share,
                         double *median) {
    const rb_preprocess_options as_is = {.missing = RB_MISSING_OMIT};
    rb_quantiles found = {0};
    struct gathering g = {
        .ctx = ctx, .share = share, .options = &as_is, .quantiles = &found, .width = 1};
    rb_error err = find(&g, source, add_rows, 1);
    *median = found.median;
    return err;
}

int64_t rb_preprocess_memory(const rb_preprocess_options *options, int64_t n_samples,
                             int64_t n_features) {
    bool medians = options->centre == RB_CENTRE_MEDIAN || options->centre == RB_CENTRE_AUTO;
    double columns = (double)n_samples * (double)n_features * sizeof(double);
    int64_t totals = isinf(options->totals) ? n_samples * (int64_t)sizeof(double) : 0;
    int64_t features = medians ? (int64_t)fmin(columns, COLUMN_BYTES) : 0;
    return totals > features ? totals : features;
}
