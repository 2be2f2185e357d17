/* Extreme eigenvalues of symmetric matrices (LAPACK; Lanczos for the largest, which is wanted
 * often), the largest ones with their vectors, and raising small ones. */
#include "linalg.h"

#include <math.h>
#include <string.h>

/* LAPACK, which stores by columns: its upper triangle is our lower one. */
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a,
             const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
             const double *abstol, int *m, double *w, double *z, const int *ldz, int *isuppz,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t l1,
             size_t l2, size_t l3);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t l1,
             size_t l2);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t l1);
void dsterf_(const int *n, double *d, double *e, int *info);

/* What LAPACK works in: a copy of the matrix in float64, eigenvalues, and its own memory. */
struct workspace {
    rb_dense copy;
    double *values, *work;
    int *integers;
};

static void workspace_free(struct workspace *w) {
    rb_dense_free(&w->copy);
    rb_free(w->values);
    rb_free(w->work);
    rb_free(w->integers);
}

static rb_error workspace_new(rb_context *ctx, rb_dense a, int64_t work, int64_t integers,
                              struct workspace *w) {
    *w = (struct workspace){0};
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, a.rows, a.rows, &w->copy);
    if (err) return err;
    rb_dense_copy(a, w->copy);
    w->values = rb_alloc(ctx, a.rows, sizeof *w->values);
    w->work = rb_alloc(ctx, work, sizeof *w->work);
    w->integers = rb_alloc(ctx, integers, sizeof *w->integers);
    return w->values && w->work && w->integers ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_smallest_eigenvalue(rb_context *ctx, rb_dense a, double *value) {
    enum { WORK = 26, INTEGERS = 10, BLOCK = 32 }; /* LAPACK's least without vectors; its blocks */
    struct workspace w;
    rb_error err = workspace_new(ctx, a, (WORK + BLOCK) * a.rows, INTEGERS * a.rows, &w);
    if (!err) {
        int n = (int)a.rows, found, info, one = 1, support[2];
        int lwork = (WORK + BLOCK) * n, liwork = INTEGERS * n;
        double zero = 0, nothing;
        int entered = rb_blas_enter();
        dsyevr_("N", "I", "U", &n, w.copy.data, &n, &zero, &zero, &one, &one, &zero, &found,
                w.values, &nothing, &one, support, w.work, &lwork, w.integers, &liwork, &info, 1, 1,
                1);
        rb_blas_leave(entered);
        *value = w.values[0];
        if (info != 0 || found != 1 || !isfinite(*value))
            err = rb_fail(ctx, RB_ERROR_NUMERIC, "the smallest eigenvalue was not found");
    }
    workspace_free(&w);
    return err;
}

/* ---- the largest ---- */

enum { STEPS = 32 };

/* Lanczos from x: diagonal and off-diagonal of the tridiagonal matrix; how many steps. */
static int lanczos(const rb_context *ctx, rb_dense a, rb_dense x, rb_dense y,
                   double diagonal[STEPS], double beside[STEPS]) {
    int64_t n = a.rows;
    rb_dense before = y; /* the vector of the step before; y is written over it */
    double norm = sqrt(rb_dot(ctx, a.type, n, x.data, x.data)), beta = 0;
    int max = n < STEPS ? (int)n : STEPS;
    for (int64_t i = 0; i < n; i++)
        rb_dense_set(x, 0, i, rb_dense_get(x, 0, i) / norm);
    for (int step = 0; step < max; step++) {
        for (int64_t i = 0; i < n; i++) {
            double next = rb_dot(ctx, a.type, n, rb_dense_row(a, i), x.data) -
                          beta * rb_dense_get(before, 0, i);
            rb_dense_set(before, 0, i, next);
        }
        diagonal[step] = rb_dot(ctx, a.type, n, before.data, x.data);
        rb_axpy(ctx, a.type, n, -diagonal[step], x.data, before.data);
        beta = sqrt(rb_dot(ctx, a.type, n, before.data, before.data));
        beside[step] = beta;
        if (!(beta > 1e-6 * fabs(diagonal[0]))) return step + 1;
        for (int64_t i = 0; i < n; i++)
            rb_dense_set(before, 0, i, rb_dense_get(before, 0, i) / beta);
        rb_dense swap = x;
        x = before;
        before = swap;
    }
    return max;
}

rb_error rb_largest_eigenvalue(rb_context *ctx, rb_dense a, double *value) {
    double diagonal[STEPS], beside[STEPS], squares = 0;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense x = {0}, y = {0};
    rb_dense_take(&scratch, a.type, 1, a.rows, &x);
    rb_dense_take(&scratch, a.type, 1, a.rows, &y);
    if (!scratch.err) {
        rb_stream stream = {.purpose = RB_RANDOM_LANCZOS};
        for (int64_t i = 0; i < a.rows; i++) {
            rb_dense_set(x, 0, i, rb_random_normal(stream, (uint64_t)i));
            squares += rb_dot(ctx, a.type, a.rows, rb_dense_row(a, i), rb_dense_row(a, i));
        }
        int steps = lanczos(ctx, a, x, y, diagonal, beside), info;
        dsterf_(&steps, diagonal, beside, &info);
        /* The largest Ritz value is a little too small; the Frobenius norm never is. */
        *value = info == 0 ? fmin(1.02 * diagonal[steps - 1], sqrt(squares)) : sqrt(squares);
        if (!isfinite(*value))
            scratch.err = rb_fail(ctx, RB_ERROR_NUMERIC, "the largest eigenvalue was not found");
    }
    return rb_scratch_end(&scratch);
}

/* ---- the largest ones with their vectors ---- */

/* Descending, where LAPACK has them ascending. */
static void turn_round(int64_t count, double *values, rb_dense vectors) {
    for (int64_t i = 0; i < count / 2; i++) {
        double value = values[i], *x = rb_dense_row(vectors, i);
        double *y = rb_dense_row(vectors, count - 1 - i);
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = value;
        for (int64_t k = 0; k < vectors.cols; k++) {
            double swap = x[k];
            x[k] = y[k];
            y[k] = swap;
        }
    }
}

rb_error rb_largest_eigenvectors(rb_context *ctx, rb_dense a, int64_t count, double *values,
                                 rb_dense vectors) {
    enum { WORK = 26, INTEGERS = 10, BLOCK = 64 };
    struct workspace w;
    if (count < 1) return RB_OK;
    rb_error err = rb_check_stop(ctx);
    if (err) return err;
    err = workspace_new(ctx, a, (WORK + BLOCK) * a.rows, INTEGERS * a.rows, &w);
    int *support = err ? NULL : rb_alloc(ctx, 2 * a.rows, sizeof *support);
    err = err || support ? err : RB_ERROR_MEMORY;
    if (!err && !rb_dense_is_finite(w.copy)) /* LAPACK may not end */
        err = rb_fail(ctx, RB_ERROR_NUMERIC,
                      "squares of the values are infinite or NaN; scale the data");
    if (!err) {
        int n = (int)a.rows, found, info, first = n - (int)count + 1, ld = (int)vectors.ld;
        int lwork = (WORK + BLOCK) * n, liwork = INTEGERS * n;
        double zero = 0;
        int entered = rb_blas_enter();
        dsyevr_("V", count == a.rows ? "A" : "I", "U", &n, w.copy.data, &n, &zero, &zero, &first,
                &n, &zero, &found, w.values, vectors.data, &ld, support, w.work, &lwork, w.integers,
                &liwork, &info, 1, 1, 1);
        rb_blas_leave(entered);
        if (info != 0 || found != count)
            err = rb_fail(ctx, RB_ERROR_NUMERIC, "the eigenvectors of a matrix were not found");
    }
    if (!err) {
        memcpy(values, w.values, (size_t)count * sizeof *values);
        turn_round(count, values, vectors);
    }
    rb_free(support);
    workspace_free(&w);
    return err;
}

rb_error rb_inverse_root(rb_context *ctx, rb_dense a, double least, rb_dense root) {
    rb_scratch scratch = {.ctx = ctx};
    rb_dense z = {0}, scaled = {0};
    int64_t n = a.rows;
    double *values = rb_take(&scratch, n, sizeof *values);
    rb_dense_take(&scratch, RB_FLOAT64, n, n, &z);
    rb_dense_take(&scratch, RB_FLOAT64, n, n, &scaled);
    if (!scratch.err) scratch.err = rb_largest_eigenvectors(ctx, a, n, values, z);
    if (!scratch.err) {
        for (int64_t i = 0; i < n; i++) {
            bool counts = values[i] > 0 && values[i] >= least * values[0];
            rb_axpy(ctx, RB_FLOAT64, n, counts ? 1 / sqrt(values[i]) : 0, rb_dense_row(z, i),
                    rb_dense_row(scaled, i));
        }
        rb_gemm(1, z, RB_TRANSPOSED, scaled, RB_PLAIN, 0, root);
    }
    return rb_scratch_end(&scratch);
}

/* ---- within bounds ---- */

/* Is sign (A - bound I) positive definite? */
static bool all_beyond(rb_dense a, double sign, double bound, rb_dense copy) {
    int n = (int)a.rows, info;
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t k = 0; k <= i; k++)
            rb_dense_set(copy, i, k, sign * rb_dense_get(a, i, k));
        rb_dense_set(copy, i, i, sign * (rb_dense_get(a, i, i) - bound));
    }
    int entered = rb_blas_enter();
    dpotrf_("U", &n, copy.data, &n, &info, 1);
    rb_blas_leave(entered);
    return info == 0;
}

/* A += sum of (bound - lambda) z z' over the eigenvalues beyond a bound; rows of z are the
 * vectors. */
static void add_vectors(const rb_context *ctx, rb_dense a, double min, double max,
                        const struct workspace *w) {
    for (int64_t i = 0; i < a.rows && !rb_asked_to_stop(ctx); i++) {
        const double *vector = rb_dense_row(w->copy, i);
        double missing = fmin(fmax(w->values[i], min), max) - w->values[i];
        for (int64_t k = 0; missing != 0 && k < a.rows; k++)
            rb_axpy(ctx, RB_FLOAT64, a.cols, missing * vector[k], vector, rb_dense_row(a, k));
    }
    rb_dense_mirror(a);
}

static rb_error move_within(rb_context *ctx, rb_dense a, double min, double max, int64_t capacity,
                            const struct workspace *w) {
    int n = (int)a.rows, info, liwork = 3 + 5 * n;
    int lwork = capacity > INT32_MAX ? INT32_MAX : (int)capacity;
    rb_error err = rb_check_stop(ctx);
    if (err) return err;
    rb_dense_copy(a, w->copy);
    int entered = rb_blas_enter();
    dsyevd_("V", "U", &n, w->copy.data, &n, w->values, w->work, &lwork, w->integers, &liwork, &info,
            1, 1);
    rb_blas_leave(entered);
    if (info != 0)
        return rb_fail(ctx, RB_ERROR_NUMERIC, "the eigenvalues of a matrix were not found");
    add_vectors(ctx, a, min, max, w);
    return rb_check_stop(ctx); /* which leaves vectors out */
}

rb_error rb_clamp_eigenvalues(rb_context *ctx, rb_dense a, double min, double max) {
    struct workspace w;
    int64_t capacity = 1 + 6 * a.rows + 2 * a.rows * a.rows;
    if (!rb_dense_is_finite(a))
        return rb_fail(ctx, RB_ERROR_NUMERIC, "a matrix became infinite or NaN");
    rb_error err = workspace_new(ctx, a, capacity, 3 + 5 * a.rows, &w);
    if (!err && !(all_beyond(a, 1, min, w.copy) && all_beyond(a, -1, max, w.copy)))
        err = move_within(ctx, a, min, max, capacity, &w);
    workspace_free(&w);
    return err;
}
