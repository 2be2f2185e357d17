/* Data in which nothing is sparse, of two kinds.
 *
 * Permuted: each feature keeps its values, in an order of samples of its own, so that no two
 * features go together. Rotated: X* = 1 m' + Q (X - 1 m') with m the means of the features and Q a
 * random orthogonal matrix that keeps the constant vector; features keep their means and
 * covariances exactly, and what is sparse becomes a sum over all samples (O. Langsrud, "Rotation
 * tests", Statistics and Computing 15 (2005)).
 *
 * Q itself is not made: with B'B = (X - 1 m')'(X - 1 m'), B of r rows, X* = 1 m' + U B where the r
 * columns of U are random, orthonormal, and orthogonal to the constant vector.
 */
#include "study.h"

#include <math.h>
#include <string.h>

/* ---- features permuted ---- */

/* Places 0 .. n - 1 in random order, of which the first `count` are drawn, feature by feature. */
typedef struct shuffling {
    rb_stream stream;
    int64_t n, period;
    int32_t *pool;    /* n: 0, 1, .. between features */
    int32_t *swapped; /* n */
    int32_t *places;  /* n: the result */
} shuffling;

/* Fisher and Yates; what was swapped is swapped back, so that few values cost little. */
static void draw_places(shuffling *s, int64_t feature, int64_t count) {
    feature %= s->period;
    for (int64_t e = 0; e < count; e++) {
        uint64_t index = (uint64_t)feature * (uint64_t)s->n + (uint64_t)e;
        int64_t left = s->n - e, at = (int64_t)(rb_random_uniform(s->stream, index) * (double)left);
        int64_t other = e + (at < left ? at : left - 1);
        int32_t place = s->pool[other];
        s->pool[other] = s->pool[e];
        s->pool[e] = s->places[e] = place;
        s->swapped[e] = (int32_t)other;
    }
    for (int64_t e = count - 1; e >= 0; e--) {
        int32_t place = s->pool[e];
        s->pool[e] = s->pool[s->swapped[e]];
        s->pool[s->swapped[e]] = place;
    }
}

static rb_error permute_dense(rb_context *ctx, const rb_matrix *from, shuffling *s,
                              rb_matrix **to) {
    int64_t n = from->n_samples, m = from->n_features;
    rb_error err = rb_matrix_new_dense(ctx, from->type, n, m, to);
    for (int64_t k = 0; !err && k < m; k++) {
        draw_places(s, k, n);
        for (int64_t i = 0; i < n; i++) {
            double value = rb_get(from->type, from->values, i * m + k);
            rb_put(from->type, (void *)(*to)->values, s->places[i] * m + k, value);
        }
    }
    return err;
}

/* Features as rows, and samples as rows again, once each feature's entries have other samples. */
static rb_error permute_sparse(rb_context *ctx, const rb_matrix *from, shuffling *s,
                               rb_matrix **to) {
    int64_t n = from->n_samples, m = from->n_features, entries = from->starts[n] - from->starts[0];
    size_t size = rb_type_size(from->type);
    rb_scratch scratch = {.ctx = ctx};
    int64_t *by_feature = rb_take(&scratch, m + 1, sizeof *by_feature);
    int32_t *samples = rb_take(&scratch, entries, sizeof *samples);
    void *turned = rb_take(&scratch, entries, size);
    int64_t *starts = scratch.err ? NULL : rb_alloc(ctx, n + 1, sizeof *starts);
    int32_t *columns = starts ? rb_alloc(ctx, entries, sizeof *columns) : NULL;
    void *values = columns ? rb_alloc(ctx, entries, size) : NULL;
    if (values) {
        rb_csr v = {n, m, from->starts, from->columns, from->values, from->type};
        rb_csr_transpose(v, by_feature, samples, turned);
        for (int64_t k = 0; k < m; k++) {
            int64_t count = by_feature[k + 1] - by_feature[k];
            draw_places(s, k, count);
            memcpy(samples + by_feature[k], s->places, (size_t)count * sizeof *samples);
        }
        rb_csr_transpose((rb_csr){m, n, by_feature, samples, turned, from->type}, starts, columns,
                         values);
    }
    rb_error err = rb_scratch_end(&scratch);
    if (!err && values)
        return rb_matrix_own_csr(ctx, from->type, n, m, starts, columns, values, to);
    rb_free(starts);
    rb_free(columns);
    return err ? err : RB_ERROR_MEMORY;
}

rb_error rb_study_permute(rb_context *ctx, const rb_matrix *from, int64_t period, int64_t seed,
                          int64_t permutation, rb_matrix **to) {
    rb_scratch scratch = {.ctx = ctx};
    shuffling shuffle = {.stream = {(uint64_t)seed, RB_RANDOM_PERMUTE, (uint32_t)permutation},
                         .n = from->n_samples,
                         .period = period};
    shuffle.pool = rb_take(&scratch, shuffle.n, sizeof *shuffle.pool);
    shuffle.swapped = rb_take(&scratch, shuffle.n, sizeof *shuffle.swapped);
    shuffle.places = rb_take(&scratch, shuffle.n, sizeof *shuffle.places);
    if (!scratch.err) {
        for (int64_t i = 0; i < shuffle.n; i++)
            shuffle.pool[i] = (int32_t)i;
        scratch.err = (from->sparse ? permute_sparse : permute_dense)(ctx, from, &shuffle, to);
    }
    return rb_scratch_end(&scratch);
}

/* ---- samples rotated ---- */

enum { MOST_DIRECTIONS = 2000, MOST_VALUES = 100000000, MOST_MADE_DENSE = 20000000 };

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

bool rb_rotation_fits(bool sparse, int64_t n, int64_t m) {
    return least(n - 1, m) <= MOST_DIRECTIONS && n <= (sparse ? MOST_MADE_DENSE : MOST_VALUES) / m;
}

const char *rb_rotation_flaw(const rb_matrix *x) {
    if (x->sparse) {
        return rb_rotation_fits(true, x->n_samples, x->n_features)
                   ? "the data are sparse"
                   : "the data are sparse and large (a fit with `top-variance` makes them smaller)";
    }
    if (!rb_rotation_fits(false, x->n_samples, x->n_features)) return "the data are large";
    for (int64_t i = 0; i < x->n_samples * x->n_features; i++)
        if (isnan(rb_get(x->type, x->values, i)))
            return "values are missing (a fit with `missing=mean` fills them)";
    return x->n_samples < 3 ? "there are fewer than three samples" : NULL;
}

struct rb_rotation {
    const rb_matrix *from;
    double *means;
    rb_dense basis; /* B */
};

/* B of n - 1 rows: the differences of each sample from the mean of those before it, by Helmert. */
static void take_differences(const rb_rotation *r) {
    const rb_matrix *x = r->from;
    int64_t n = x->n_samples, m = x->n_features;
    for (int64_t k = 0; k < m; k++) {
        double sum = rb_get(x->type, x->values, k);
        for (int64_t i = 1; i < n; i++) {
            double value = rb_get(x->type, x->values, i * m + k), count = (double)i;
            rb_dense_set(r->basis, i - 1, k, (sum - count * value) / sqrt(count * (count + 1)));
            sum += value;
        }
    }
}

/* B of m rows: the eigenvectors of the sums of squares, each times the root of its eigenvalue. */
static rb_error take_root(rb_context *ctx, const rb_rotation *r) {
    const rb_matrix *x = r->from;
    int64_t n = x->n_samples, m = x->n_features;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense squares = {0}, centred = {0};
    double *values = rb_take(&scratch, m, sizeof *values);
    rb_dense_take(&scratch, RB_FLOAT64, m, m, &squares);
    rb_dense_take(&scratch, RB_FLOAT64, n, m, &centred);
    if (!scratch.err) {
        for (int64_t i = 0; i < n * m; i++)
            rb_dense_set(centred, i / m, i % m, rb_get(x->type, x->values, i) - r->means[i % m]);
        rb_gemm_lower(ctx, 1, centred, RB_TRANSPOSED, centred, RB_PLAIN, 0, squares);
        scratch.err = rb_largest_eigenvectors(ctx, squares, m, values, r->basis);
    }
    for (int64_t j = 0; !scratch.err && j < m; j++)
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(r->basis, j, k, sqrt(fmax(values[j], 0)) * rb_dense_get(r->basis, j, k));
    return rb_scratch_end(&scratch);
}

void rb_rotation_free(rb_rotation *r) {
    if (!r) return;
    rb_free(r->means);
    rb_dense_free(&r->basis);
    rb_free(r);
}

rb_error rb_rotation_new(rb_context *ctx, const rb_matrix *x, rb_rotation **out) {
    int64_t n = x->n_samples, m = x->n_features;
    rb_rotation *r = *out = rb_alloc_zero(ctx, 1, sizeof *r);
    if (!r) return RB_ERROR_MEMORY;
    r->from = x;
    r->means = rb_alloc_zero(ctx, m, sizeof *r->means);
    rb_error err =
        r->means ? rb_dense_new(ctx, RB_FLOAT64, least(n - 1, m), m, &r->basis) : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < n * m; i++)
        r->means[i % m] += rb_get(x->type, x->values, i) / (double)n;
    if (!err && n - 1 <= m) take_differences(r);
    if (!err && n - 1 > m) err = take_root(ctx, r);
    if (err) {
        rb_rotation_free(r);
        *out = NULL;
    }
    return err;
}

enum { PANEL = 64 };

/* Normal numbers, orthogonal to the constant vector. */
static void draw_normal(rb_stream stream, int64_t first, rb_dense rows) {
    int64_t n = rows.cols;
    for (int64_t j = 0; j < rows.rows; j++) {
        double *row = rb_dense_row(rows, j), sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += row[i] = rb_random_normal(stream, (uint64_t)((first + j) * n + i));
        for (int64_t i = 0; i < n; i++)
            row[i] -= sum / (double)n;
    }
}

/* By Gram and Schmidt, of unit length. */
static void make_orthonormal(const rb_context *ctx, rb_dense rows) {
    int64_t n = rows.cols;
    for (int64_t j = 0; j < rows.rows; j++) {
        double *row = rb_dense_row(rows, j);
        for (int64_t l = 0; l < j; l++) {
            const double *other = rb_dense_row(rows, l);
            rb_axpy(ctx, RB_FLOAT64, n, -rb_dot(ctx, RB_FLOAT64, n, other, row), other, row);
        }
        double length = sqrt(rb_dot(ctx, RB_FLOAT64, n, row, row));
        for (int64_t i = 0; i < n; i++)
            row[i] /= length;
    }
}

/* Rows of unit length, orthogonal to each other and to the constant vector. Those before a panel
 * are taken out of it twice, since rounding leaves something of them where few directions are left.
 * products: PANEL x rows. */
static void draw_directions(const rb_context *ctx, rb_stream stream, rb_dense products,
                            rb_dense u) {
    for (int64_t first = 0; first < u.rows; first += PANEL) {
        rb_dense panel = rb_dense_rows(u, first, least(u.rows - first, PANEL));
        rb_dense before = rb_dense_rows(u, 0, first);
        rb_dense both = rb_dense_part(products, 0, panel.rows, 0, first);
        draw_normal(stream, first, panel);
        for (int turn = 0; first > 0 && turn < 2; turn++) {
            rb_gemm(1, panel, RB_PLAIN, before, RB_TRANSPOSED, 0, both);
            rb_gemm(-1, both, RB_PLAIN, before, RB_PLAIN, 1, panel);
        }
        make_orthonormal(ctx, panel);
    }
}

rb_error rb_study_rotate(rb_context *ctx, const rb_rotation *r, int64_t seed, int64_t permutation,
                         rb_matrix **to) {
    int64_t n = r->from->n_samples, m = r->from->n_features;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense products = {0}, u = {0}, x = {0};
    rb_dense_take(&scratch, RB_FLOAT64, PANEL, r->basis.rows, &products);
    rb_dense_take(&scratch, RB_FLOAT64, r->basis.rows, n, &u);
    rb_dense_take(&scratch, RB_FLOAT64, n, m, &x);
    if (!scratch.err) scratch.err = rb_matrix_new_dense(ctx, r->from->type, n, m, to);
    if (!scratch.err) {
        const rb_stream stream = {(uint64_t)seed, RB_RANDOM_ROTATE, (uint32_t)permutation};
        draw_directions(ctx, stream, products, u);
        rb_gemm(1, u, RB_TRANSPOSED, r->basis, RB_PLAIN, 0, x);
        for (int64_t i = 0; i < n * m; i++)
            rb_put(r->from->type, (void *)(*to)->values, i,
                   r->means[i % m] + rb_dense_get(x, i / m, i % m));
    }
    return rb_scratch_end(&scratch);
}
