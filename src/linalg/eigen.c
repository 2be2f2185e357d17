/* Extreme eigenvalues of symmetric matrices (LAPACK; Lanczos for the largest, which is wanted
 * often), and raising small ones. */
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

/* LAPACK's least workspace for eigenvalues alone, and its blocks. */
enum { WORK = 26, INTEGERS = 10, BLOCK = 32 };

static rb_error smallest_of(rb_context *ctx, rb_dense a, double *values, double *work,
                            int *integers, double *value) {
    int n = (int)a.rows, found, info, one = 1, ld = n;
    int lwork = (WORK + BLOCK) * n, liwork = INTEGERS * n, support[2];
    double zero = 0, nothing;
    int entered = rb_blas_enter();
    dsyevr_("N", "I", "U", &n, a.data, &ld, &zero, &zero, &one, &one, &zero, &found, values,
            &nothing, &one, support, work, &lwork, integers, &liwork, &info, 1, 1, 1);
    rb_blas_leave(entered);
    if (info != 0 || found != 1 || !isfinite(values[0])) {
        return rb_fail(ctx, RB_ERROR_NUMERIC, "the smallest eigenvalue was not found");
    }
    *value = values[0];
    return RB_OK;
}

rb_error rb_smallest_eigenvalue(rb_context *ctx, rb_dense a, double *value) {
    rb_dense copy;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, a.rows, a.rows, &copy);
    if (err) {
        return err;
    }
    rb_dense_copy(a, copy);
    double *values = rb_alloc(ctx, a.rows, sizeof *values);
    double *work = rb_alloc(ctx, (WORK + BLOCK) * a.rows, sizeof *work);
    int *integers = rb_alloc(ctx, INTEGERS * a.rows, sizeof *integers);
    err = values && work && integers ? smallest_of(ctx, copy, values, work, integers, value)
                                     : RB_ERROR_MEMORY;
    rb_free(values);
    rb_free(work);
    rb_free(integers);
    rb_dense_free(&copy);
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
    for (int64_t i = 0; i < n; i++) {
        rb_dense_set(x, 0, i, rb_dense_get(x, 0, i) / norm);
    }
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
        if (!(beta > 1e-6 * fabs(diagonal[0]))) {
            return step + 1;
        }
        for (int64_t i = 0; i < n; i++) {
            rb_dense_set(before, 0, i, rb_dense_get(before, 0, i) / beta);
        }
        rb_dense swap = x;
        x = before;
        before = swap;
    }
    return max;
}

rb_error rb_largest_eigenvalue(rb_context *ctx, rb_dense a, double *value) {
    double diagonal[STEPS], beside[STEPS], squares = 0;
    rb_dense x, y = {0};
    rb_error err = rb_dense_new(ctx, a.type, 1, a.rows, &x);
    if (!err) {
        err = rb_dense_new(ctx, a.type, 1, a.rows, &y);
    }
    if (!err) {
        rb_stream stream = {.purpose = RB_RANDOM_LANCZOS};
        for (int64_t i = 0; i < a.rows; i++) {
            rb_dense_set(x, 0, i, rb_random_normal(stream, (uint64_t)i));
            squares += rb_dot(ctx, a.type, a.rows, rb_dense_row(a, i), rb_dense_row(a, i));
        }
        int steps = lanczos(ctx, a, x, y, diagonal, beside), info;
        dsterf_(&steps, diagonal, beside, &info);
        /* The largest Ritz value is a little too small; the Frobenius norm never is. */
        *value = info == 0 ? fmin(1.02 * diagonal[steps - 1], sqrt(squares)) : sqrt(squares);
        if (!isfinite(*value)) {
            err = rb_fail(ctx, RB_ERROR_NUMERIC, "the largest eigenvalue was not found");
        }
    }
    rb_dense_free(&x);
    rb_dense_free(&y);
    return err;
}

/* ---- raising small ones ---- */

static bool is_finite(rb_dense a) {
    double sum = 0; /* of zeros, or NaN */
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t j = 0; j < a.cols; j++) {
            sum += 0 * rb_dense_get(a, i, j);
        }
    }
    return sum == 0;
}

/* Is A - least I positive definite? copy is overwritten. */
static bool all_above(rb_dense a, double min, rb_dense copy) {
    int n = (int)a.rows, ld = (int)copy.ld, info;
    rb_dense_copy(a, copy);
    for (int64_t i = 0; i < a.rows; i++) {
        rb_dense_set(copy, i, i, rb_dense_get(copy, i, i) - min);
    }
    int entered = rb_blas_enter();
    dpotrf_("U", &n, copy.data, &ld, &info, 1);
    rb_blas_leave(entered);
    return info == 0;
}

/* A += sum of (least - lambda) z z' over the eigenvalues below least; rows of z are the vectors. */
static void add_vectors(const rb_context *ctx, rb_dense a, double min, const double *values,
                        rb_dense z) {
    for (int64_t i = 0; i < a.rows && !rb_asked_to_stop(ctx); i++) {
        const double *vector = rb_dense_row(z, i);
        for (int64_t k = 0; values[i] < min && k < a.rows; k++) {
            rb_axpy(ctx, RB_FLOAT64, a.cols, (min - values[i]) * vector[k], vector,
                    rb_dense_row(a, k));
        }
    }
    rb_dense_mirror(a);
}

rb_error rb_raise_eigenvalues(rb_context *ctx, rb_dense a, double min) {
    rb_dense copy;
    int n = (int)a.rows, info, lwork, liwork = 3 + 5 * n;
    int64_t capacity = 1 + 6 * a.rows + 2 * a.rows * a.rows;
    if (!is_finite(a)) {
        return rb_fail(ctx, RB_ERROR_NUMERIC, "a matrix became infinite or NaN");
    }
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, a.rows, a.rows, &copy);
    if (err || all_above(a, min, copy) || (err = rb_check_stop(ctx)) != RB_OK) {
        rb_dense_free(&copy);
        return err;
    }
    lwork = capacity > INT32_MAX ? INT32_MAX : (int)capacity;
    double *values = rb_alloc(ctx, a.rows, sizeof *values);
    double *work = rb_alloc(ctx, capacity, sizeof *work);
    int *integers = rb_alloc(ctx, liwork, sizeof *integers);
    if (values && work && integers) {
        rb_dense_copy(a, copy);
        int entered = rb_blas_enter();
        dsyevd_("V", "U", &n, copy.data, &n, values, work, &lwork, integers, &liwork, &info, 1, 1);
        rb_blas_leave(entered);
        if (info != 0) {
            err = rb_fail(ctx, RB_ERROR_NUMERIC, "the eigenvalues of a matrix were not found");
        } else {
            add_vectors(ctx, a, min, values, copy);
            err = rb_check_stop(ctx); /* which leaves vectors out */
        }
    } else {
        err = RB_ERROR_MEMORY;
    }
    rb_free(values);
    rb_free(work);
    rb_free(integers);
    rb_dense_free(&copy);
    return err;
}
