/* Blocked Cholesky factorisation. Almost all of its work, and of the solutions, is matrix products,
 * which is where the BLAS is fast: its own triangular solver ran at half the speed of its products.
 */
#include "cholesky.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* LAPACK, which stores by columns: its upper triangle is our lower one. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length, size_t diag_length);

enum { BLOCK = RB_CHOLESKY_BLOCK };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* X <- op(T) X or X op(T), T lower triangular. */
static void multiply_triangle(enum CBLAS_SIDE side, enum CBLAS_TRANSPOSE op, rb_dense t,
                              rb_dense x) {
    int rows = (int)x.rows, cols = (int)x.cols, ldt = (int)t.ld, ldx = (int)x.ld;
    if (x.type == RB_FLOAT32) {
        cblas_strmm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, t.data, ldt,
                    x.data, ldx);
    } else {
        cblas_dtrmm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, t.data, ldt,
                    x.data, ldx);
    }
}

/* ---- factorisation, block column by block column ---- */

struct column {
    rb_dense a;
    int64_t first, size; /* of the block */
};

/* The rows of task `index`: blocks from the diagonal one down. */
static rb_dense task_rows(const struct column *c, int64_t index, int64_t *first) {
    *first = c->first + index * BLOCK;
    return rb_dense_rows(c->a, *first, smaller(BLOCK, c->a.rows - *first));
}

/* A_ik <- A_ik - L_i L_k', over the columns that are done. */
static void subtract_done(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct column *c = arg;
    int64_t first;
    rb_dense rows = task_rows(c, index, &first);
    rb_gemm(-1, rb_dense_part(rows, 0, rows.rows, 0, c->first), RB_PLAIN,
            rb_dense_part(c->a, c->first, c->size, 0, c->first), RB_TRANSPOSED, 1,
            rb_dense_part(rows, 0, rows.rows, c->first, c->size));
}

/* L_ik <- A_ik L_kk^-T, for the blocks below the diagonal one. */
static void divide(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct column *c = arg;
    int64_t first;
    rb_dense rows = task_rows(c, index + 1, &first);
    multiply_triangle(CblasRight, CblasTrans,
                      rb_dense_part(c->a, c->first, c->size, c->first, c->size),
                      rb_dense_part(rows, 0, rows.rows, c->first, c->size));
}

/* The diagonal block: factor, logarithms, inverse. Returns -1 or the row that failed. */
static int64_t factor_diagonal(rb_dense block, double *log_det) {
    double *a = block.data;
    int n = (int)block.rows, ld = (int)block.ld, info;
    dpotrf_("U", &n, a, &ld, &info, 1);
    if (info != 0) {
        return info > 0 ? info - 1 : 0;
    }
    for (int64_t i = 0; i < n; i++) {
        double pivot = a[i * ld + i];
        if (!(pivot > 0) || !isfinite(pivot)) {
            return i;
        }
        *log_det += 2 * log(pivot);
        memset(a + i * ld + i + 1, 0, (size_t)(n - i - 1) * sizeof *a);
    }
    dtrtri_("U", "N", &n, a, &ld, &info, 1, 1);
    return -1;
}

int64_t rb_cholesky_factor(rb_context *ctx, rb_dense a, double *log_det) {
    *log_det = 0;
    for (int64_t first = 0; first < a.rows; first += BLOCK) {
        int64_t size = smaller(BLOCK, a.rows - first);
        int64_t tasks = (a.rows - first + BLOCK - 1) / BLOCK;
        struct column column = {a, first, size};
        if (first > 0) {
            rb_parallel(ctx, tasks, subtract_done, &column);
        }
        int64_t failed = factor_diagonal(rb_dense_part(a, first, size, first, size), log_det);
        if (failed >= 0) {
            return first + failed;
        }
        rb_parallel(ctx, tasks - 1, divide, &column);
    }
    return -1;
}

/* ---- solutions ---- */

static rb_dense diagonal(rb_dense factor, int64_t first, int64_t size) {
    return rb_dense_part(factor, first, size, first, size);
}

void rb_cholesky_left(rb_dense factor, rb_dense x, int64_t start) {
    int64_t n = factor.rows;
    for (int64_t i = start; i < n; i += BLOCK) {
        int64_t size = smaller(BLOCK, n - i);
        rb_dense here = rb_dense_rows(x, i, size);
        rb_gemm(-1, rb_dense_part(factor, i, size, start, i - start), RB_PLAIN,
                rb_dense_rows(x, start, i - start), RB_PLAIN, 1, here);
        multiply_triangle(CblasLeft, CblasNoTrans, diagonal(factor, i, size), here);
    }
    for (int64_t i = (n - 1) / BLOCK * BLOCK; i >= start; i -= BLOCK) {
        int64_t size = smaller(BLOCK, n - i), next = i + size;
        rb_dense here = rb_dense_rows(x, i, size);
        rb_gemm(-1, rb_dense_part(factor, next, n - next, i, size), RB_TRANSPOSED,
                rb_dense_rows(x, next, n - next), RB_PLAIN, 1, here);
        multiply_triangle(CblasLeft, CblasTrans, diagonal(factor, i, size), here);
    }
}

void rb_cholesky_right(rb_dense factor, rb_dense x) {
    int64_t n = factor.rows;
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t size = smaller(BLOCK, n - i);
        rb_dense here = rb_dense_part(x, 0, x.rows, i, size);
        rb_gemm(-1, rb_dense_part(x, 0, x.rows, 0, i), RB_PLAIN,
                rb_dense_part(factor, i, size, 0, i), RB_TRANSPOSED, 1, here);
        multiply_triangle(CblasRight, CblasTrans, diagonal(factor, i, size), here);
    }
    for (int64_t i = (n - 1) / BLOCK * BLOCK; i >= 0; i -= BLOCK) {
        int64_t size = smaller(BLOCK, n - i), next = i + size;
        rb_dense here = rb_dense_part(x, 0, x.rows, i, size);
        rb_gemm(-1, rb_dense_part(x, 0, x.rows, next, n - next), RB_PLAIN,
                rb_dense_part(factor, next, n - next, i, size), RB_PLAIN, 1, here);
        multiply_triangle(CblasRight, CblasNoTrans, diagonal(factor, i, size), here);
    }
}
