/* Moments of each feature, by a pass over raw rows.
 *
 * Features are shared out among the threads; each walks the samples in order, so that the sums do
 * not depend on how. Of dense samples they are joined stretch by stretch (Chan, Golub, LeVeque
 * 1983), of sparse ones value by value (Welford 1962); groups of samples in a tree, by Chan's
 * formula. */
#include "rows.h"

#include <math.h>

enum { TILE = 256 };

struct adding {
    const rb_context *ctx;
    rb_moments *moments; /* of all features */
    const rb_matrix *rows;
    int64_t features; /* of a task */
};

/* Adds `count` values with this mean and sum of squared differences from it (Chan et al.). */
void rb_moments_join(rb_moments *m, int64_t count, double mean, double squares) {
    if (count <= 0) return;
    double share = (double)count / (double)(m->count + count), difference = mean - m->mean;
    m->squares += squares + difference * difference * (double)m->count * share;
    m->mean += difference * share;
    m->count += count;
}

static void add_value(rb_moments *m, double value) {
    if (isnan(value)) {
        m->missing++;
        return;
    }
    m->count++;
    double difference = value - m->mean;
    m->mean += difference / (double)m->count;
    m->squares += difference * (value - m->mean);
}

/* Sums over a stretch of samples: of what differs from one value of the feature, which is among
 * those that are summed, so that nothing is lost by it. */
static void add_sums(rb_moments *m, int64_t n, double pivot, double sum, double squares) {
    double mean = n > 0 ? sum / (double)n : 0;
    rb_moments_join(m, n, pivot + mean, fmax(squares - sum * mean, 0));
}

/* The values of feature k that are there. */
static void add_column(rb_moments *m, const rb_matrix *rows, int64_t k) {
    double pivot = 0, sum = 0, squares = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        double value = rb_row_of(rows, i).values[k];
        if (!isnan(value)) {
            pivot = n++ == 0 ? value : pivot;
            sum += value - pivot;
            squares += (value - pivot) * (value - pivot);
        }
    }
    m->missing += rows->n_samples - n;
    add_sums(m, n, pivot, sum, squares);
}

/* The features of a tile side by side. A sum becomes NaN where there is one. */
static void add_dense(void *arg, int64_t index, int worker) {
    const struct adding *t = arg;
    const rb_matrix *rows = t->rows;
    int64_t first = index * TILE, count = rb_smaller(rows->n_features - first, TILE);
    double sum[TILE] = {0}, squares[TILE] = {0};
    const double *pivot = rb_row_of(rows, 0).values + first;
    for (int64_t i = 1; i < rows->n_samples; i++)
        rb_kernels_of(t->ctx)->of[RB_FLOAT64].add_squares(count, rb_row_of(rows, i).values + first,
                                                          pivot, sum, squares);
    for (int64_t k = 0; k < count; k++) {
        rb_moments *moments = &t->moments[first + k];
        if (isnan(sum[k]) || isnan(pivot[k]))
            add_column(moments, rows, first + k);
        else
            add_sums(moments, rows->n_samples, pivot[k], sum[k], squares[k]);
    }
}

static void add_sparse(void *arg, int64_t index, int worker) {
    const struct adding *t = arg;
    int64_t first = index * t->features;
    for (int64_t i = 0; i < t->rows->n_samples; i++) {
        rb_row row = rb_row_of(t->rows, i);
        for (int64_t e = rb_row_from(&row, first);
             e < row.count && row.columns[e] < first + t->features; e++)
            add_value(&t->moments[row.columns[e]], row.values[e]);
    }
}

void rb_moments_add(rb_context *ctx, rb_moments *moments, const rb_matrix *rows) {
    int64_t m = rows->n_features, threads = rb_context_threads(ctx);
    struct adding t = {ctx, moments, rows, (m + threads - 1) / threads};
    if (rows->sparse)
        rb_parallel(ctx, threads, add_sparse, &t);
    else
        rb_parallel(ctx, (m + TILE - 1) / TILE, add_dense, &t);
}

/* Of two groups of samples, in either order the same: on top of the larger one, else of that with
 * the smaller mean. Where all values are equal nothing is lost. */
static void join_groups(int64_t count, void *mine, const void *theirs) {
    rb_moments *all = mine;
    const rb_moments *others = theirs;
    for (int64_t k = 0; k < count; k++) {
        rb_moments a = all[k], b = others[k];
        bool turned = b.count > a.count || (b.count == a.count && b.mean < a.mean);
        rb_moments base = turned ? b : a, more = turned ? a : b;
        rb_moments_join(&base, more.count, more.mean, more.squares);
        base.missing += more.missing;
        all[k] = base;
    }
}

void rb_moments_begin(rb_context *ctx, rb_tree *tree, int64_t n_features) {
    rb_tree_begin_of(tree, ctx, n_features, sizeof(rb_moments), join_groups);
}

rb_moments *rb_moments_take(rb_tree *tree) {
    rb_moments *moments = tree->stack[0];
    tree->stack[0] = NULL;
    return moments;
}

int64_t rb_moments_end(rb_moments *moments, int64_t count, int64_t n_samples) {
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++) {
        rb_moments *m = &moments[k];
        rb_moments_join(m, n_samples - m->count - m->missing, 0, 0);
        missing += m->missing;
    }
    return missing;
}
