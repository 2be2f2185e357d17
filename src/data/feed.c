/* Feeds: blocks of preprocessed samples.
 *
 * The common case, dense numbers of the working type that are centred and scaled, is one kernel a
 * row, in that type, whatever their order in memory; where nothing is to be done, or no more than
 * a method does itself (rb_feed_leave), the block is a view of the source. Everything else (totals,
 * log1p, centred samples, filled or selected features, other types, sparse rows) is computed in
 * float64 and rounded once. The two differ by rounding: in float32 by 2^-22 of the larger of |x|
 * and |centre|, over the scale.
 *
 * Effects of covariates are taken out of samples as logarithms, so that blocks are dense then,
 * whatever the source is.
 *
 * Of a source that reads ahead the next block is read while this one is preprocessed, on all
 * threads, and worked on.
 */
#include "cache.h"
#include "rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TASK_ROWS = 256 };
/* Standard deviations. Of float32 two bits are lost there; docs/measurements/benchmarks.md. */
static const double NEAR = 4;

struct rb_feed {
    const rb_preprocess *p;
    rb_source *source;
    rb_ahead ahead;
    rb_type type;
    bool trusted;
    bool plain;        /* no sample is transformed, nothing filled, no feature moved */
    bool moves;        /* centre or scale do something */
    int64_t *input_of; /* see rb_match_features */
    rb_scratch arrays; /* those that follow, up to scratch */
    int32_t *used_as;  /* the reverse, for sparse rows: feature in use, or -1; NULL with input_of */
    bool reorders;     /* used_as does not ascend, and */
    rb_csr_memory turned;    /* memory for that */
    void *shift, *factor;    /* n_features of the type: (x - shift) * factor */
    double *block_shift;     /* n_features: centre / scale, of blocks that are not centred */
    rb_regress_rows effects; /* bound where there are any (p->regress) */
    double *coefficients;    /* of effects: columns x n_features */
    double *offsets;         /* of effects: n_features */
    /* Of a thread: a row of the source and 1; one of features in use; of a sparse source one more
     * of all its features. */
    int64_t scratch_size;
    double *scratch;           /* threads x scratch_size */
    bool shifts;               /* block_shift is not 0 throughout */
    bool leaves;               /* dense blocks are less it, too */
    bool fills;                /* blocks of a sparse source are dense */
    rb_block last;             /* what was read last: data of one block are prepared once */
    rb_matrix raw;             /* the same as it stands in the source */
    bool has_last;             /* it is still here, being no view */
    rb_buffer values;          /* of the last block, when it is no view: rows, or entries */
    rb_buffer starts, columns; /* of the entries */
    rb_buffer levels;          /* rb_row_level of the samples; no data when not asked for */
    rb_cache cache;
};

void rb_feed_free(rb_feed *feed) {
    if (feed) {
        rb_ahead_end(&feed->ahead);
        rb_regress_unbind(&feed->effects);
        rb_free(feed->input_of);
        (void)rb_scratch_end(&feed->arrays);
        rb_free(feed->values.data);
        rb_free(feed->starts.data);
        rb_free(feed->columns.data);
        rb_csr_memory_free(&feed->turned);
        rb_free(feed->levels.data);
        rb_cache_clear(&feed->cache);
        rb_free(feed);
    }
}

int64_t rb_feed_samples(const rb_feed *feed) {
    return feed->source->n_samples;
}

/* Are rows made by rb_shift_scale, in the type of the source? */
static bool is_fast(const rb_feed *feed) {
    return feed->plain && !feed->source->sparse && feed->source->type == feed->type;
}

/* Are blocks sparse? */
static bool is_sparse(const rb_feed *feed) {
    return feed->source->sparse && !feed->p->regress && !feed->fills;
}

void rb_feed_trust(rb_feed *feed) {
    feed->trusted = true;
}

/* The sum of squares of feature k in use; NAN: it is not known, or what float32 makes of values may
 * have another one: 0, nothing it can hold, or digits lost where sparse values far from 0 are
 * rounded before they are centred. */
static double feature_squares(const rb_feed *feed, bool fast, int64_t k) {
    const rb_preprocess *p = feed->p;
    int64_t from = feed->input_of ? feed->input_of[k] : k;
    if (from < 0) return 0;
    const rb_moments *m = &p->moments[from];
    if (m->missing > 0 && !p->fill) return NAN;
    double centre = fast && !feed->leaves ? rb_get(feed->type, feed->shift, k) : p->centre[k];
    double factor = fast ? rb_get(feed->type, feed->factor, k) : 1 / p->scale[k];
    double mean = m->mean - centre, fill = p->fill ? p->fill[k] - centre : 0;
    double sum = m->squares + (double)m->count * mean * mean + (double)m->missing * fill * fill;
    bool coarse = is_sparse(feed) && (double)m->count * centre * centre > 100 * sum;
    sum *= factor * factor;
    bool beyond = sum > (double)FLT_MAX * FLT_MAX || (sum != 0 && sum < 1e-60);
    return feed->type == RB_FLOAT32 && (coarse || beyond) ? NAN : sum;
}

bool rb_feed_squares(const rb_feed *feed, double *sums) {
    bool fast = is_fast(feed);
    bool known = feed->p->moments != NULL;
    for (int64_t k = 0; known && k < feed->p->n_features; k++) {
        sums[k] = feature_squares(feed, fast, k);
        known = isfinite(sums[k]);
    }
    return known;
}

void rb_feed_forget(rb_feed *feed) {
    feed->has_last = false;
}

/* Is feature k so near 0, by its own measure, that values as they are have the digits they need? */
static bool is_near(const rb_preprocess *p, int64_t k) {
    const rb_moments *m = &p->moments[k];
    double far = NEAR * sqrt(m->squares / (double)m->count);
    return m->missing == 0 && p->scale[k] == 1 && fabs(p->centre[k]) <= far && fabs(m->mean) <= far;
}

void rb_feed_leave(rb_feed *feed) {
    const rb_preprocess *p = feed->p;
    bool leaves = feed->shifts && p->moments && is_fast(feed);
    for (int64_t k = 0; leaves && k < p->n_features; k++)
        leaves = is_near(p, k);
    if (!leaves) return;
    memset(feed->shift, 0, (size_t)p->n_features * rb_type_size(feed->type));
    feed->moves = false;
    feed->leaves = true;
}

const double *rb_feed_shift(const rb_feed *feed) {
    return feed->shifts && (feed->leaves || is_sparse(feed)) ? feed->block_shift : NULL;
}

void rb_feed_cache(rb_context *ctx, rb_feed *feed, int64_t size, double bytes) {
    int64_t count = size > 0 ? (feed->source->n_samples + size - 1) / size : 0;
    rb_cache_clear(&feed->cache);
    if (bytes <= 0) return;
    rb_block *blocks = rb_alloc_zero(ctx, count, sizeof *blocks);
    if (blocks) feed->cache = (rb_cache){size, count, bytes, blocks};
}

/* Arrays over the features in use. A feature that the source lacks must come out as 0. */
static rb_error make_parameters(rb_context *ctx, rb_feed *feed) {
    const rb_preprocess *p = feed->p;
    rb_scratch *arrays = &feed->arrays;
    arrays->ctx = ctx;
    feed->shift = rb_take(arrays, p->n_features, rb_type_size(feed->type));
    feed->factor = rb_take(arrays, p->n_features, rb_type_size(feed->type));
    feed->block_shift = rb_take(arrays, p->n_features, sizeof *feed->block_shift);
    feed->scratch_size = feed->source->n_features + 1 + p->n_features;
    if (feed->source->sparse) feed->scratch_size += feed->source->n_features;
    feed->scratch =
        rb_take(arrays, rb_context_threads(ctx), (size_t)feed->scratch_size * sizeof(double));
    for (int64_t k = 0; !arrays->err && k < p->n_features; k++) {
        bool lacking = feed->input_of && feed->input_of[k] < 0;
        rb_put(feed->type, feed->shift, k, p->centre[k]);
        rb_put(feed->type, feed->factor, k, 1 / p->scale[k]);
        feed->block_shift[k] = lacking ? 0 : p->centre[k] / p->scale[k];
        feed->moves = feed->moves || p->centre[k] != 0 || p->scale[k] != 1;
        feed->shifts = feed->shifts || feed->block_shift[k] != 0;
    }
    return arrays->err;
}

/* The coefficients column by column. */
static rb_error bind_effects(rb_context *ctx, rb_feed *feed) {
    const rb_regress *regress = feed->p->regress;
    int64_t m = feed->p->n_features;
    if (!regress) return RB_OK;
    int64_t q = regress->n_columns;
    feed->coefficients = rb_take(&feed->arrays, q, (size_t)m * sizeof(double));
    feed->offsets = rb_take(&feed->arrays, m, sizeof(double));
    for (int64_t k = 0; !feed->arrays.err && k < m; k++) {
        const double *row = regress->coefficients + k * q;
        feed->offsets[k] = rb_regress_offset(regress, row);
        for (int64_t c = 0; c < q; c++)
            feed->coefficients[c * m + k] = row[c];
    }
    return feed->arrays.err ? feed->arrays.err
                            : rb_regress_bind(ctx, regress, feed->source, &feed->effects);
}

/* The map from features of the source to features in use. */
static rb_error reverse_map(rb_feed *feed) {
    if (!feed->source->sparse || !feed->input_of) return RB_OK;
    feed->used_as = rb_take(&feed->arrays, feed->source->n_features, sizeof *feed->used_as);
    for (int64_t k = 0; feed->used_as && k < feed->source->n_features; k++)
        feed->used_as[k] = -1;
    for (int64_t k = 0; feed->used_as && k < feed->p->n_features; k++)
        if (feed->input_of[k] >= 0) feed->used_as[feed->input_of[k]] = (int32_t)k;
    int32_t last = -1;
    for (int64_t k = 0; feed->used_as && k < feed->source->n_features; k++) {
        if (feed->used_as[k] < 0) continue;
        feed->reorders = feed->reorders || feed->used_as[k] < last;
        last = feed->used_as[k];
    }
    return feed->arrays.err;
}

rb_error rb_feed_new(rb_context *ctx, const rb_preprocess *p, rb_source *source, rb_type type,
                     rb_feed **out) {
    *out = NULL;
    rb_feed *feed = rb_alloc(ctx, 1, sizeof *feed);
    if (!feed) return RB_ERROR_MEMORY;
    *feed = (rb_feed){.p = p, .source = source, .type = type};
    rb_error err = rb_check_levels(ctx, &p->options, source);
    err = err ? err : rb_match_features(ctx, p, source, &feed->input_of);
    err = err ? err : make_parameters(ctx, feed);
    err = err ? err : reverse_map(feed);
    err = err ? err : bind_effects(ctx, feed);
    if (err) {
        rb_feed_free(feed);
        return err;
    }
    feed->plain = !p->fill && !p->options.log1p && !rb_levels_samples(&p->options) &&
                  !feed->input_of && !p->regress;
    rb_ahead_begin(ctx, source, &feed->ahead);
    *out = feed;
    return RB_OK;
}

/* ---- rows ---- */

/* A block that is made: its dense rows, or the feed's arrays of entries. */
struct making {
    rb_context *ctx;
    rb_feed *feed;
    const rb_matrix *view;
    int64_t first; /* its first sample */
    rb_dense rows;
    bool fast;         /* in the working type */
    atomic_bool found; /* a value that cannot be used */
};

/* Values that are left out stay NaN; all others are finite, also where float32 ends. */
static bool usable(const rb_feed *feed, const void *values, int64_t at) {
    double value = rb_get(feed->type, values, at);
    return isfinite(value) || (isnan(value) && rb_missing_stays(&feed->p->options));
}

/* What is stored of feature k in use becomes values[at]; can it be used? */
static bool put_value(const rb_feed *feed, double x, int64_t k, void *values, int64_t at) {
    x = isnan(x) && feed->p->fill ? feed->p->fill[k] : x;
    rb_put(feed->type, values, at, x / feed->p->scale[k]);
    return usable(feed, values, at);
}

/* The effects on the features of a sample of the source. */
static void make_effects(const rb_context *ctx, const rb_feed *feed, int64_t sample,
                         double *effects) {
    rb_regress_entry x[RB_COVARIATES_MAX];
    int64_t m = feed->p->n_features;
    int count = rb_regress_row(&feed->effects, sample, x);
    memcpy(effects, feed->offsets, (size_t)m * sizeof *effects);
    for (int e = 0; e < count; e++)
        rb_axpy(ctx, RB_FLOAT64, m, x[e].value, feed->coefficients + x[e].column * m, effects);
}

/* Row i of what was read last, from sample `first` on: which sample of the source it is. */
static int64_t sample_of(const rb_feed *feed, int64_t first, int64_t i) {
    const int64_t *order = feed->source->order;
    return order ? order[i] : first + i;
}

/* A sparse row with its zeros. */
static void widen(const rb_row *row, int64_t count, double *wide) {
    memset(wide, 0, (size_t)count * sizeof *wide);
    for (int64_t e = 0; e < row->count; e++)
        wide[row->columns[e]] = row->values[e];
}

/* The features in use of a sample, from those of the source; `made` has the effects on them. */
static void gather(const rb_feed *feed, const double *values, double *made) {
    for (int64_t k = 0; k < feed->p->n_features; k++) {
        int64_t from = feed->input_of ? feed->input_of[k] : k;
        double value = from < 0 ? feed->p->centre[k] : values[from];
        if (feed->p->regress && from >= 0) value -= made[k];
        made[k] = isnan(value) && feed->p->fill ? feed->p->fill[k] : value;
    }
}

/* Row i of the block, of the features in use. */
static int64_t put_row(const struct making *t, int64_t i, const double *values) {
    const rb_feed *feed = t->feed;
    const rb_preprocess *p = feed->p;
    void *out = rb_dense_row(t->rows, i);
    if (rb_kernels_of(t->ctx)->of[feed->type].standardize(p->n_features, values, p->centre,
                                                          p->scale, out))
        return -1;
    for (int64_t k = 0; k < p->n_features; k++)
        if (!usable(feed, out, k)) return feed->input_of ? feed->input_of[k] : k;
    return -1;
}

/* `more`: memory behind that of the row. */
static int64_t dense_row(const struct making *t, int64_t i, const rb_row *row, double *more) {
    const rb_feed *feed = t->feed;
    const rb_preprocess *p = feed->p;
    const double *values = row->values;
    if (p->regress) make_effects(t->ctx, feed, sample_of(feed, t->first, i), more);
    if (row->columns) {
        widen(row, t->view->n_features, more + p->n_features);
        values = more + p->n_features;
    }
    if (feed->input_of || p->regress || p->fill) {
        gather(feed, values, more);
        values = more;
    }
    return put_row(t, i, values);
}

static int64_t sparse_row(const struct making *t, int64_t i, const rb_row *row) {
    const rb_feed *feed = t->feed;
    int64_t to = ((int64_t *)feed->starts.data)[i];
    for (int64_t e = 0; e < row->count; e++) {
        int32_t k = feed->used_as ? feed->used_as[row->columns[e]] : row->columns[e];
        if (k < 0) continue;
        ((int32_t *)feed->columns.data)[to] = k;
        if (!put_value(feed, row->values[e], k, feed->values.data, to++)) return row->columns[e];
    }
    return -1;
}

/* Row i of a view with its values side by side, in `buffer` where they are not. */
static const void *contiguous_row(const rb_matrix *view, int64_t i, void *buffer) {
    int64_t offset = i * view->row_stride, stride = view->column_stride;
    const char *first = (const char *)view->values + offset * (int64_t)rb_type_size(view->type);
    for (int64_t k = 0; stride != 1 && k < view->n_features; k++)
        rb_put(view->type, buffer, k, rb_get(view->type, first, k * stride));
    return stride == 1 ? first : buffer;
}

static int64_t fast_row(const struct making *t, int64_t i, double *scratch) {
    const rb_feed *feed = t->feed;
    void *out = rb_dense_row(t->rows, i);
    rb_shift_scale(t->ctx, feed->type, t->rows.cols, contiguous_row(t->view, i, scratch),
                   feed->shift, feed->factor, out);
    for (int64_t k = 0; !feed->trusted && k < t->rows.cols; k++)
        if (!usable(feed, out, k)) return k;
    return -1;
}

/* Makes row i; returns the feature of the source that cannot be used, or -1. */
static int64_t make_row(const struct making *t, int64_t i, double *scratch) {
    if (t->fast) return fast_row(t, i, scratch);
    if (t->feed->plain && !t->view->sparse && t->view->type == RB_FLOAT64)
        return put_row(t, i, contiguous_row(t->view, i, scratch));
    rb_row row = {.values = scratch};
    rb_row_get(t->view, i, &row);
    rb_row_level lost = rb_row_transform(&t->feed->p->options, &row);
    if (t->feed->levels.data) ((rb_row_level *)t->feed->levels.data)[i] = lost;
    return is_sparse(t->feed) ? sparse_row(t, i, &row)
                              : dense_row(t, i, &row, scratch + t->view->n_features + 1);
}

static void make_some(void *arg, int64_t index, int worker) {
    struct making *t = arg;
    double *scratch = t->feed->scratch + worker * t->feed->scratch_size;
    int64_t end = (index + 1) * TASK_ROWS, n = t->view->n_samples;
    for (int64_t i = index * TASK_ROWS; i < end && i < n; i++) {
        if (make_row(t, i, scratch) >= 0) {
            t->found = true;
            return;
        }
    }
}

static rb_error make_rows(struct making *t) {
    rb_parallel(t->ctx, (t->view->n_samples + TASK_ROWS - 1) / TASK_ROWS, make_some, t);
    for (int64_t i = 0; t->found && i < t->view->n_samples; i++) {
        int64_t feature = make_row(t, i, t->feed->scratch);
        if (feature >= 0) {
            return rb_fail_value(t->ctx, &t->feed->p->options, t->feed->source,
                                 sample_of(t->feed, t->first, i), feature,
                                 rb_matrix_at(t->view, i, feature), true);
        }
    }
    return RB_OK;
}

void rb_feed_fill(rb_feed *feed) {
    feed->fills = true;
}

/* ---- blocks ---- */

static rb_error hold_levels(rb_context *ctx, rb_feed *feed, int64_t count) {
    return rb_levels_samples(&feed->p->options)
               ? rb_buffer_hold(ctx, &feed->levels, count, sizeof(rb_row_level))
               : RB_OK;
}

static rb_error read_dense(rb_context *ctx, rb_feed *feed, const rb_matrix *view, rb_block *block) {
    int64_t n = view->n_samples, m = feed->p->n_features;
    bool same = is_fast(feed);
    bool rows = view->column_stride == 1 && view->row_stride >= view->n_features &&
                view->row_stride <= INT32_MAX; /* what a BLAS takes */
    /* What a file gave is copied, so that a pass over one block reads it once. */
    bool stays = !feed->leaves || rb_source_memory(feed->source);
    if (same && rows && !feed->moves && feed->trusted && stays) {
        block->dense = (rb_dense){(void *)view->values, n, m, view->row_stride, feed->type};
        return RB_OK;
    }
    rb_error err = rb_buffer_hold(ctx, &feed->values, n, (size_t)m * rb_type_size(feed->type));
    err = err ? err : hold_levels(ctx, feed, n);
    block->dense = (rb_dense){feed->values.data, n, m, m, feed->type};
    return err ? err
               : make_rows(
                     &(struct making){ctx, feed, view, block->first, block->dense, same, false});
}

/* Where the entries of each row begin: those of features in use. */
static void count_used(rb_feed *feed, const rb_matrix *view) {
    int64_t *starts = feed->starts.data, used = 0;
    for (int64_t i = 0; i < view->n_samples; i++) {
        starts[i] = used;
        used += view->starts[i + 1] - view->starts[i];
        for (int64_t e = view->starts[i]; feed->used_as && e < view->starts[i + 1]; e++)
            used -= feed->used_as[view->columns[e - view->starts[0]]] < 0;
    }
    starts[view->n_samples] = used;
}

/* So that the columns of each row ascend: turned twice. */
static rb_error sort_entries(rb_context *ctx, rb_feed *feed, rb_csr v) {
    rb_csr turned;
    rb_error err = rb_csr_turn(ctx, &feed->turned, v, &turned);
    if (!err) rb_csr_transpose(turned, feed->starts.data, feed->columns.data, feed->values.data);
    return err;
}

static rb_error read_sparse(rb_context *ctx, rb_feed *feed, const rb_matrix *view,
                            rb_block *block) {
    int64_t n = view->n_samples, stored = rb_matrix_stored(view);
    if (feed->plain && feed->trusted && feed->p->options.scale == RB_SCALE_NONE &&
        view->type == feed->type) {
        block->csr =
            (rb_csr){n, view->n_features, view->starts, view->columns, view->values, feed->type};
        return RB_OK;
    }
    rb_error err = rb_buffer_hold(ctx, &feed->starts, n + 1, sizeof(int64_t));
    err = err ? err : rb_buffer_hold(ctx, &feed->columns, stored, sizeof(int32_t));
    err = err ? err : rb_buffer_hold(ctx, &feed->values, stored, rb_type_size(feed->type));
    err = err ? err : hold_levels(ctx, feed, n);
    if (err) return err;
    count_used(feed, view);
    block->csr = (rb_csr){
        n,         feed->p->n_features, feed->starts.data, feed->columns.data, feed->values.data,
        feed->type};
    err =
        make_rows(&(struct making){.ctx = ctx, .feed = feed, .view = view, .first = block->first});
    return err || !feed->reorders ? err : sort_entries(ctx, feed, block->csr);
}

rb_error rb_feed_read(rb_context *ctx, rb_feed *feed, int64_t first, int64_t count,
                      rb_block *block) {
    rb_error err = rb_check_stop(ctx); /* also where the block is still here */
    if (err) return err;
    if (feed->has_last && feed->last.first == first && feed->last.n_samples == count) {
        *block = feed->last;
        return RB_OK;
    }
    const rb_block *kept = rb_cache_find(&feed->cache, first, count);
    if (kept) {
        *block = *kept;
        return RB_OK;
    }
    feed->has_last = false;
    rb_matrix view;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_READING);
    err = rb_ahead_read(ctx, &feed->ahead, first, count, &view);
    if (!err) rb_phase_add(ctx, 0, rb_matrix_bytes(&view));
    rb_phase_end(ctx, before);
    if (err) return err;
    rb_phase_begin(ctx, RB_PHASE_PREPROCESSING);
    *block = (rb_block){.first = first,
                        .own = first,
                        .n_samples = count,
                        .n_features = feed->p->n_features,
                        .sparse = is_sparse(feed),
                        .shift = rb_feed_shift(feed)};
    err =
        block->sparse ? read_sparse(ctx, feed, &view, block) : read_dense(ctx, feed, &view, block);
    bool made = feed->values.data == (block->sparse ? block->csr.values : block->dense.data);
    if (made) block->lost = feed->levels.data;
    feed->raw = view;
    feed->has_last = !err && made;
    feed->last = *block;
    if (!err && (made || !rb_source_memory(feed->source))) rb_cache_add(ctx, &feed->cache, block);
    rb_phase_add(ctx, 0, err ? 0 : rb_block_bytes(block));
    rb_phase_end(ctx, before);
    return err;
}

bool rb_feed_next(rb_context *ctx, rb_feed *feed, int64_t size, rb_block *block, rb_error *err) {
    int64_t first = block->first + block->n_samples,
            left = *err ? 0 : feed->source->n_samples - first;
    if (left <= 0) return false;
    *err = rb_feed_read(ctx, feed, first, rb_smaller(left, size), block);
    return !*err;
}

int64_t rb_block_size(int64_t cells, int64_t wide, int64_t n) {
    enum { FEWEST = 64 };
    int64_t size = cells / (wide > 0 ? wide : 1);
    return rb_smaller(size < FEWEST ? FEWEST : size, n);
}

/* The columns of a sample of the last block, where there are effects. */
static int last_entries(const rb_feed *feed, int64_t i,
                        rb_regress_entry entries[RB_COVARIATES_MAX]) {
    if (!feed->offsets) return 0;
    return rb_regress_row(&feed->effects, sample_of(feed, feed->last.first, i), entries);
}

void rb_feed_inverse(const rb_feed *feed, rb_dense rows) {
    const rb_preprocess *p = feed->p;
    const rb_row_level *levels = feed->levels.data;
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_regress_entry entries[RB_COVARIATES_MAX];
        int count = last_entries(feed, i, entries);
        void *row = rb_dense_row(rows, i);
        rb_row_level lost = levels ? levels[i] : (rb_row_level){0};
        double factor = lost.total != 0 ? lost.total / p->options.totals : 1;
        for (int64_t k = 0; k < rows.cols; k++) {
            double x = rb_get(rows.type, row, k) * p->scale[k] + p->centre[k] + lost.level;
            x += feed->offsets ? feed->offsets[k] : 0;
            for (int e = 0; e < count; e++)
                x += entries[e].value * feed->coefficients[entries[e].column * rows.cols + k];
            rb_put(rows.type, row, k, (p->options.log1p ? expm1(x) : x) * factor);
        }
    }
}

void rb_preprocess_inverse(const rb_preprocess *p, rb_dense rows) {
    rb_feed_inverse(&(rb_feed){.p = p}, rows);
}

void rb_feed_keep(const rb_feed *feed, rb_dense rows) {
    int64_t inputs = feed->source->n_features;
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_row row = {.values = feed->scratch};
        rb_row_get(&feed->raw, i, &row);
        for (int64_t k = 0, e = 0; k < rows.cols; k++) {
            int64_t from = feed->input_of ? feed->input_of[k] : k;
            if (from < 0 || from >= inputs) continue;
            if (row.columns && e > 0 && row.columns[e - 1] >= from) e = 0; /* of another order */
            while (row.columns && e < row.count && row.columns[e] < from)
                e++;
            bool stored = !row.columns || (e < row.count && row.columns[e] == from);
            double value = stored ? row.values[row.columns ? e : from] : 0;
            if (!isnan(value)) rb_dense_set(rows, i, k, value);
        }
    }
}
