/* Feeds: blocks of preprocessed samples.
 *
 * The common case, dense numbers of the working type that are centred and scaled, is one kernel a
 * row, in that type, whatever their order in memory; where nothing is to be done the block is a
 * view of the source. Everything else (totals, log1p, filled or selected features, other types,
 * sparse rows) goes value by value in float64 and is rounded once. The two differ by rounding: in
 * float32 by 2^-22 of the larger of |x| and |centre|, over the scale.
 *
 * Of a source that reads ahead the next block is read while this one is preprocessed, on all
 * threads, and worked on. Which one that is follows from the blocks before: walks go through the
 * samples in order, and begin again.
 */
#include "data.h"
#include "match.h"
#include "statistics.h"

#include <math.h>
#include <string.h>

enum { TASK_ROWS = 256 };

struct rb_feed {
    const rb_preprocess *p;
    rb_source *source;
    rb_ahead ahead;
    int64_t walk_count, walk_end; /* samples of the first block of a walk; where it is */
    bool walked;                  /* a walk has come to its end: another one may follow */
    rb_type type;
    bool trusted;
    bool plain;        /* no totals, no log1p, nothing filled, no feature moved */
    bool moves;        /* centre or scale do something */
    int64_t *input_of; /* see rb_match_features */
    int32_t *used_as;  /* the reverse, for sparse rows: feature in use, or -1; NULL with input_of */
    void *shift, *factor; /* n_features of the type: (x - shift) * factor */
    double *sparse_shift; /* n_features: centre / scale, or NULL when all are 0 */
    double *scratch;      /* threads x source features */
    double *totals;       /* of the samples of the last block; NULL when not asked for */
    rb_block last;        /* what was read last: data of one block are prepared once */
    bool has_last;        /* it is still here, being no view */
    rb_dense rows;        /* of the last block, when it is no view */
    int64_t *starts;      /* likewise for sparse */
    int32_t *columns;
    void *values;
    int64_t capacity_rows, capacity_entries;
};

void rb_feed_free(rb_feed *feed) {
    if (feed) {
        rb_ahead_end(&feed->ahead);
        rb_free(feed->input_of);
        rb_free(feed->used_as);
        rb_free(feed->shift);
        rb_free(feed->factor);
        rb_free(feed->sparse_shift);
        rb_free(feed->scratch);
        rb_free(feed->totals);
        rb_dense_free(&feed->rows);
        rb_free(feed->starts);
        rb_free(feed->columns);
        rb_free(feed->values);
        rb_free(feed);
    }
}

int64_t rb_feed_samples(const rb_feed *feed) {
    return feed->source->n_samples;
}

bool rb_feed_sparse(const rb_feed *feed) {
    return feed->source->sparse;
}

void rb_feed_trust(rb_feed *feed) {
    feed->trusted = true;
}

void rb_feed_forget(rb_feed *feed) {
    feed->has_last = false;
}

/* Arrays over the features in use. A feature that the source lacks must come out as 0. */
static rb_error make_parameters(rb_context *ctx, rb_feed *feed) {
    const rb_preprocess *p = feed->p;
    bool shifted = false;
    feed->shift = rb_alloc(ctx, p->n_features, rb_type_size(feed->type));
    feed->factor = rb_alloc(ctx, p->n_features, rb_type_size(feed->type));
    feed->sparse_shift = rb_alloc(ctx, p->n_features, sizeof *feed->sparse_shift);
    if (!feed->shift || !feed->factor || !feed->sparse_shift) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < p->n_features; k++) {
        bool lacking = feed->input_of && feed->input_of[k] < 0;
        rb_put(feed->type, feed->shift, k, p->centre[k]);
        rb_put(feed->type, feed->factor, k, 1 / p->scale[k]);
        feed->sparse_shift[k] = lacking ? 0 : p->centre[k] / p->scale[k];
        feed->moves = feed->moves || p->centre[k] != 0 || p->scale[k] != 1;
        shifted = shifted || feed->sparse_shift[k] != 0;
    }
    if (!shifted) {
        rb_free(feed->sparse_shift);
        feed->sparse_shift = NULL;
    }
    return RB_OK;
}

/* The map from features of the source to features in use. */
static rb_error reverse_map(rb_context *ctx, rb_feed *feed) {
    if (!feed->source->sparse || !feed->input_of) {
        return RB_OK;
    }
    int64_t inputs = feed->source->n_features;
    feed->used_as = rb_alloc(ctx, inputs, sizeof *feed->used_as);
    if (!feed->used_as) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < inputs; k++) {
        feed->used_as[k] = -1;
    }
    for (int64_t k = 0; k < feed->p->n_features; k++) {
        if (feed->input_of[k] >= 0) {
            feed->used_as[feed->input_of[k]] = (int32_t)k;
        }
    }
    return RB_OK;
}

rb_error rb_feed_new(rb_context *ctx, const rb_preprocess *p, rb_source *source, rb_type type,
                     rb_feed **out) {
    *out = NULL;
    rb_feed *feed = rb_alloc_zero(ctx, 1, sizeof *feed);
    if (!feed) {
        return RB_ERROR_MEMORY;
    }
    feed->p = p;
    feed->source = source;
    feed->type = type;
    rb_error err = rb_match_features(ctx, p, source, &feed->input_of);
    if (!err) {
        err = make_parameters(ctx, feed);
    }
    if (!err) {
        err = reverse_map(ctx, feed);
    }
    if (!err) {
        feed->scratch = rb_alloc(ctx, rb_context_threads(ctx) * (source->n_features + 1),
                                 sizeof *feed->scratch);
        err = feed->scratch ? RB_OK : RB_ERROR_MEMORY;
    }
    if (err) {
        rb_feed_free(feed);
        return err;
    }
    feed->plain = !p->fill && !p->options.log1p && p->options.totals == 0 && !feed->input_of;
    rb_ahead_begin(ctx, source, &feed->ahead);
    *out = feed;
    return RB_OK;
}

/* Values that are left out stay NaN; all others are finite, also where float32 ends. */
static bool usable(const rb_feed *feed, double value) {
    return isfinite(value) || (isnan(value) && feed->p->options.missing == RB_MISSING_OMIT);
}

/* ---- dense ---- */

struct dense_task {
    rb_context *ctx;
    rb_feed *feed;
    const rb_matrix *view;
    rb_dense rows;
    int64_t *bad; /* a task: row and feature in use of the first value that cannot be used, or -1 */
    bool fast;    /* the kernel fits */
};

/* Row i by the general way; returns the feature in use that cannot be used, or -1. */
static int64_t convert_row(struct dense_task *t, int64_t i, double *scratch) {
    const rb_feed *feed = t->feed;
    const rb_preprocess *p = feed->p;
    rb_row row = {.values = scratch};
    rb_row_get(t->view, i, &row);
    double total = rb_row_transform(&p->options, &row);
    if (feed->totals) {
        feed->totals[i] = total;
    }
    void *out = rb_dense_row(t->rows, i);
    for (int64_t k = 0; k < p->n_features; k++) {
        int64_t from = feed->input_of ? feed->input_of[k] : k;
        double x = from < 0 ? p->centre[k] : row.values[from];
        if (isnan(x) && p->fill) {
            x = p->fill[k];
        }
        rb_put(feed->type, out, k, (x - p->centre[k]) / p->scale[k]);
        if (!usable(feed, rb_get(feed->type, out, k))) {
            return k;
        }
    }
    return -1;
}

static int64_t first_unusable(const rb_feed *feed, const void *values, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        if (!usable(feed, rb_get(feed->type, values, k))) {
            return k;
        }
    }
    return -1;
}

/* Row i of a view with its values side by side, in `room` where they are not. */
static const void *contiguous_row(const rb_matrix *view, int64_t i, void *capacity) {
    int64_t offset = i * view->row_stride, stride = view->column_stride;
    const char *first = (const char *)view->values + offset * (int64_t)rb_type_size(view->type);
    if (stride == 1) {
        return first;
    }
    for (int64_t k = 0; k < view->n_features; k++) {
        rb_put(view->type, capacity, k, rb_get(view->type, first, k * stride));
    }
    return capacity;
}

static int64_t fast_row(struct dense_task *t, int64_t i, double *scratch) {
    const rb_feed *feed = t->feed;
    const void *from = contiguous_row(t->view, i, scratch);
    void *out = rb_dense_row(t->rows, i);
    int64_t m = feed->p->n_features;
    rb_shift_scale(t->ctx, feed->type, m, from, feed->shift, feed->factor, out);
    return feed->trusted ? -1 : first_unusable(feed, out, m);
}

static void dense_rows(void *arg, int64_t index, int worker) {
    struct dense_task *t = arg;
    int64_t last = (index + 1) * TASK_ROWS;
    last = last < t->rows.rows ? last : t->rows.rows;
    double *scratch = t->feed->scratch + worker * (t->feed->source->n_features + 1);
    t->bad[2 * index] = -1;
    for (int64_t i = index * TASK_ROWS; i < last; i++) {
        int64_t feature = t->fast ? fast_row(t, i, scratch) : convert_row(t, i, scratch);
        if (feature >= 0) {
            t->bad[2 * index] = i;
            t->bad[2 * index + 1] = feature;
            return;
        }
    }
}

static rb_error fail_at(rb_context *ctx, rb_feed *feed, const rb_matrix *view, int64_t first,
                        int64_t i, int64_t feature) {
    int64_t from = feed->input_of ? feed->input_of[feature] : feature;
    return rb_fail_value(ctx, &feed->p->options, feed->source, first + i, from,
                         rb_matrix_at(view, i, from), true);
}

/* Memory for the rows of a block, and for what is kept beside them. */
static rb_error reserve(rb_context *ctx, rb_feed *feed, int64_t count) {
    if (count <= feed->capacity_rows) {
        return RB_OK;
    }
    rb_dense rows = {0};
    double *totals = NULL;
    int64_t *starts = NULL;
    rb_error err = RB_OK;
    if (feed->source->sparse) {
        starts = rb_alloc(ctx, count + 1, sizeof *starts);
        err = starts ? RB_OK : RB_ERROR_MEMORY;
    } else {
        err = rb_dense_new(ctx, feed->type, count, feed->p->n_features, &rows);
    }
    if (!err && feed->p->options.totals > 0) {
        totals = rb_alloc(ctx, count, sizeof *totals);
        err = totals ? RB_OK : RB_ERROR_MEMORY;
    }
    if (err) {
        rb_free(starts);
        rb_dense_free(&rows);
        return err;
    }
    rb_dense_free(&feed->rows);
    rb_free(feed->starts);
    rb_free(feed->totals);
    feed->rows = rows;
    feed->starts = starts;
    feed->totals = totals;
    feed->capacity_rows = count;
    return RB_OK;
}

static rb_error read_dense(rb_context *ctx, rb_feed *feed, const rb_matrix *view, rb_block *block) {
    bool same = feed->plain && view->type == feed->type;
    bool rows = view->column_stride == 1 && view->row_stride >= view->n_features;
    if (same && rows && !feed->moves && feed->trusted) {
        block->dense = (rb_dense){(void *)view->values, view->n_samples, view->n_features,
                                  view->row_stride, feed->type};
        return RB_OK;
    }
    rb_error err = reserve(ctx, feed, view->n_samples);
    int64_t tasks = (view->n_samples + TASK_ROWS - 1) / TASK_ROWS;
    int64_t *bad = err ? NULL : rb_alloc(ctx, 2 * tasks, sizeof *bad);
    if (!bad) {
        return RB_ERROR_MEMORY;
    }
    struct dense_task t = {ctx, feed, view, rb_dense_rows(feed->rows, 0, view->n_samples),
                           bad, same};
    rb_parallel(ctx, tasks, dense_rows, &t);
    for (int64_t task = 0; !err && task < tasks; task++) {
        if (bad[2 * task] >= 0) {
            err = fail_at(ctx, feed, view, block->first, bad[2 * task], bad[2 * task + 1]);
        }
    }
    rb_free(bad);
    block->dense = t.rows;
    return err;
}

/* ---- sparse ---- */

static rb_error make_entry_capacity(rb_context *ctx, rb_feed *feed, int64_t entries) {
    if (entries <= feed->capacity_entries) {
        return RB_OK;
    }
    int32_t *columns = rb_alloc(ctx, entries, sizeof *columns);
    void *values = rb_alloc(ctx, entries, rb_type_size(feed->type));
    if (!columns || !values) {
        rb_free(columns);
        rb_free(values);
        return RB_ERROR_MEMORY;
    }
    rb_free(feed->columns);
    rb_free(feed->values);
    feed->columns = columns;
    feed->values = values;
    feed->capacity_entries = entries;
    return RB_OK;
}

struct sparse_task {
    rb_feed *feed;
    const rb_matrix *view;
    int64_t *bad; /* as that of dense_task, with the feature of the source */
};

/* Entries of row i that are of features in use. */
static int64_t count_used(const rb_feed *feed, const rb_matrix *view, int64_t i) {
    int64_t begin = view->starts[i] - view->starts[0], end = view->starts[i + 1] - view->starts[0];
    int64_t count = feed->used_as ? 0 : end - begin;
    for (int64_t e = begin; feed->used_as && e < end; e++) {
        count += feed->used_as[view->columns[e]] >= 0;
    }
    return count;
}

/* Row i into its place; returns the feature of the source that cannot be used, or -1. */
static int64_t convert_sparse_row(const struct sparse_task *t, int64_t i, double *scratch) {
    const rb_feed *feed = t->feed;
    const rb_preprocess *p = feed->p;
    rb_row row = {.values = scratch};
    rb_row_get(t->view, i, &row);
    double total = rb_row_transform(&p->options, &row);
    if (feed->totals) {
        feed->totals[i] = total;
    }
    int64_t to = feed->starts[i];
    for (int64_t e = 0; e < row.count; e++) {
        int32_t k = feed->used_as ? feed->used_as[row.columns[e]] : row.columns[e];
        if (k < 0) {
            continue;
        }
        double x = isnan(row.values[e]) && p->fill ? p->fill[k] : row.values[e];
        feed->columns[to] = k;
        rb_put(feed->type, feed->values, to, x / p->scale[k]);
        if (!usable(feed, rb_get(feed->type, feed->values, to++))) {
            return row.columns[e];
        }
    }
    return -1;
}

static void sparse_rows(void *arg, int64_t index, int worker) {
    const struct sparse_task *t = arg;
    int64_t last = (index + 1) * TASK_ROWS;
    last = last < t->view->n_samples ? last : t->view->n_samples;
    double *scratch = t->feed->scratch + worker * (t->feed->source->n_features + 1);
    t->bad[2 * index] = -1;
    for (int64_t i = index * TASK_ROWS; i < last; i++) {
        int64_t feature = convert_sparse_row(t, i, scratch);
        if (feature >= 0) {
            t->bad[2 * index] = i;
            t->bad[2 * index + 1] = feature;
            return;
        }
    }
}

static rb_error read_sparse(rb_context *ctx, rb_feed *feed, const rb_matrix *view,
                            rb_block *block) {
    block->shift = feed->sparse_shift;
    bool scales = feed->p->options.scale != RB_SCALE_NONE;
    if (feed->plain && feed->trusted && !scales && view->type == feed->type) {
        block->csr = (rb_csr){view->n_samples, view->n_features, view->starts,
                              view->columns,   view->values,     feed->type};
        return RB_OK;
    }
    rb_error err = reserve(ctx, feed, view->n_samples);
    err = err ? err : make_entry_capacity(ctx, feed, rb_matrix_stored(view));
    int64_t tasks = (view->n_samples + TASK_ROWS - 1) / TASK_ROWS;
    int64_t *bad = err ? NULL : rb_alloc(ctx, 2 * tasks, sizeof *bad);
    if (!bad) {
        return RB_ERROR_MEMORY;
    }
    feed->starts[0] = 0;
    for (int64_t i = 0; i < view->n_samples; i++) {
        feed->starts[i + 1] = feed->starts[i] + count_used(feed, view, i);
    }
    rb_parallel(ctx, tasks, sparse_rows, &(struct sparse_task){feed, view, bad});
    for (int64_t task = 0; !err && task < tasks; task++) {
        int64_t i = bad[2 * task], feature = bad[2 * task + 1];
        if (i >= 0) {
            err = rb_fail_value(ctx, &feed->p->options, feed->source, block->first + i, feature,
                                rb_matrix_at(view, i, feature), true);
        }
    }
    rb_free(bad);
    block->csr = (rb_csr){view->n_samples, feed->p->n_features, feed->starts,
                          feed->columns,   feed->values,        feed->type};
    return err;
}

/* Begins to read the block after this one, if this one is part of a walk from the first sample. */
static void read_next(rb_feed *feed, int64_t first, int64_t count) {
    int64_t n = feed->source->n_samples, next = first + count;
    bool begins = first == 0, goes_on = first == feed->walk_end && first > 0;
    bool again = feed->walked, ends = next == n;
    feed->walk_end = next;
    feed->walk_count = begins ? count : feed->walk_count;
    if (!begins && (!goes_on || (count < feed->walk_count && !ends))) {
        return;
    }
    feed->walked = again || ends;
    next = ends ? 0 : next;
    count = n - next < feed->walk_count ? n - next : feed->walk_count;
    if (!ends || (again && !begins)) {
        rb_ahead_start(&feed->ahead, next, count);
    }
}

rb_error rb_feed_read(rb_context *ctx, rb_feed *feed, int64_t first, int64_t count,
                      rb_block *block) {
    rb_error err = rb_check_stop(ctx); /* also where the block is still here */
    if (err) {
        return err;
    }
    if (feed->has_last && feed->last.first == first && feed->last.n_samples == count) {
        *block = feed->last;
        return RB_OK;
    }
    feed->has_last = false;
    rb_matrix view;
    err = rb_ahead_read(ctx, &feed->ahead, first, count, &view);
    if (err) {
        return err;
    }
    if (feed->ahead.active) {
        read_next(feed, first, count);
    }
    *block = (rb_block){.first = first,
                        .own = first,
                        .n_samples = count,
                        .n_features = feed->p->n_features,
                        .sparse = feed->source->sparse};
    err =
        block->sparse ? read_sparse(ctx, feed, &view, block) : read_dense(ctx, feed, &view, block);
    feed->has_last = !err && (block->sparse ? block->csr.values == feed->values
                                            : block->dense.data == feed->rows.data);
    feed->last = *block;
    return err;
}

void rb_feed_inverse(const rb_feed *feed, rb_dense rows) {
    const rb_preprocess *p = feed->p;
    for (int64_t i = 0; i < rows.rows; i++) {
        void *row = rb_dense_row(rows, i);
        double factor = 1;
        if (feed->totals && feed->totals[i] != 0) {
            factor = feed->totals[i] / p->options.totals;
        }
        for (int64_t k = 0; k < rows.cols; k++) {
            double x = rb_get(rows.type, row, k) * p->scale[k] + p->centre[k];
            if (p->options.log1p) {
                x = expm1(x);
            }
            rb_put(rows.type, row, k, x * factor);
        }
    }
}
