/* Blocked Cholesky factorisation. Almost all of its work, and of the solutions, is matrix products,
 * which is where the BLAS is fast: its own triangular solver ran at half the speed of its products.
 */
#include "cholesky.h"

#include <math.h>
#include <string.h>

/* LAPACK, which stores by columns: its upper triangle is our lower one. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length, size_t diag_length);

enum { BLOCK = RB_CHOLESKY_BLOCK };

/* Where to halve so that the first part is whole blocks. */
static int64_t half_of(int64_t size) {
    int64_t blocks = (size + BLOCK - 1) / BLOCK;
    return (blocks + 1) / 2 * BLOCK;
}

/* L = [first 0; below second] */
struct halves {
    rb_dense first, below, second;
};

static struct halves halve(rb_dense l) {
    int64_t half = half_of(l.rows), rest = l.rows - half;
    return (struct halves){rb_dense_part(l, 0, half, 0, half),
                           rb_dense_part(l, half, rest, 0, half),
                           rb_dense_part(l, half, rest, half, rest)};
}

/* ---- solutions, by halves, so that the products are as large as can be ---- */

/* X <- L^-1 X */
static void solve_left(rb_dense l, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_left(l, RB_PLAIN, x);
        return;
    }
    struct halves part = halve(l);
    rb_dense top = rb_dense_rows(x, 0, part.first.rows);
    rb_dense bottom = rb_dense_rows(x, top.rows, x.rows - top.rows);
    solve_left(part.first, top);
    rb_gemm(-1, part.below, RB_PLAIN, top, RB_PLAIN, 1, bottom);
    solve_left(part.second, bottom);
}

/* X <- L^-T X */
static void solve_left_transposed(rb_dense l, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_left(l, RB_TRANSPOSED, x);
        return;
    }
    struct halves part = halve(l);
    rb_dense top = rb_dense_rows(x, 0, part.first.rows);
    rb_dense bottom = rb_dense_rows(x, top.rows, x.rows - top.rows);
    solve_left_transposed(part.second, bottom);
    rb_gemm(-1, part.below, RB_TRANSPOSED, bottom, RB_PLAIN, 1, top);
    solve_left_transposed(part.first, top);
}

static rb_dense columns(rb_dense x, int64_t first, int64_t size) {
    return rb_dense_part(x, 0, x.rows, first, size);
}

/* X <- X L^-T */
static void solve_right_transposed(rb_dense l, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_right(x, l, RB_TRANSPOSED);
        return;
    }
    struct halves part = halve(l);
    rb_dense left = columns(x, 0, part.first.rows);
    rb_dense right = columns(x, left.cols, x.cols - left.cols);
    solve_right_transposed(part.first, left);
    rb_gemm(-1, left, RB_PLAIN, part.below, RB_TRANSPOSED, 1, right);
    solve_right_transposed(part.second, right);
}

/* X <- X L^-1 */
static void solve_right(rb_dense l, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_right(x, l, RB_PLAIN);
        return;
    }
    struct halves part = halve(l);
    rb_dense left = columns(x, 0, part.first.rows);
    rb_dense right = columns(x, left.cols, x.cols - left.cols);
    solve_right(part.second, right);
    rb_gemm(-1, right, RB_PLAIN, part.below, RB_PLAIN, 1, left);
    solve_right(part.first, left);
}

void rb_cholesky_left(rb_dense factor, rb_dense x, int64_t first) {
    int64_t rest = factor.rows - first;
    rb_dense l = rb_dense_part(factor, first, rest, first, rest),
             wanted = rb_dense_rows(x, first, rest);
    solve_left(l, wanted);
    solve_left_transposed(l, wanted);
}

void rb_cholesky_forward(rb_dense factor, rb_dense x) {
    solve_left(factor, x);
}

void rb_cholesky_backward(rb_dense factor, rb_dense x) {
    solve_left_transposed(factor, x);
}

void rb_cholesky_right(rb_dense factor, rb_dense x) {
    solve_right_transposed(factor, x);
    solve_right(factor, x);
}

/* ---- factorisation ---- */

/* The diagonal block: factor, logarithms, inverse. Returns -1 or the row that failed. */
static int64_t factor_diagonal(rb_dense block, double *log_det) {
    double *a = block.data;
    int n = (int)block.rows, ld = (int)block.ld, info, entered = rb_blas_enter();
    dpotrf_("U", &n, a, &ld, &info, 1);
    rb_blas_leave(entered);
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
    entered = rb_blas_enter();
    dtrtri_("U", "N", &n, a, &ld, &info, 1, 1);
    rb_blas_leave(entered);
    return -1;
}

/* The same for a block of float32, by way of float64. */
static int64_t factor_rounded(rb_dense block, double *capacity, double *log_det) {
    rb_dense wide = {capacity, block.rows, block.rows, block.rows, RB_FLOAT64};
    rb_dense_copy(block, wide);
    int64_t failed = factor_diagonal(wide, log_det);
    rb_dense_copy(wide, block);
    return failed;
}

struct division {
    rb_dense l, rows;
    struct bands bands;
};

static void divide(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct division *d = arg;
    solve_right_transposed(d->l, rb_dense_rows(d->rows, rb_band_start(d->bands, index),
                                               rb_band_size(d->bands, index)));
}

/* Rows `first` and on of the whole: for the row that failed. */
static int64_t factor(rb_context *ctx, rb_dense a, int64_t first, double *block, double *log_det) {
    if (a.rows <= BLOCK) {
        int64_t failed = block ? factor_rounded(a, block, log_det) : factor_diagonal(a, log_det);
        return failed < 0 ? failed : first + failed;
    }
    struct halves part = halve(a);
    int64_t failed = factor(ctx, part.first, first, block, log_det);
    if (failed >= 0) {
        return failed;
    }
    struct division division = {part.first, part.below, rb_cut_wide(part.below.rows)};
    if (rb_parallel_or_stop(ctx, division.bands.count, divide, &division)) {
        return first + part.first.rows; /* as a row that failed: the caller looks why */
    }
    rb_gemm_lower(ctx, -1, part.below, RB_PLAIN, part.below, RB_TRANSPOSED, 1, part.second);
    return factor(ctx, part.second, first + part.first.rows, block, log_det);
}

int64_t rb_cholesky_factor(rb_context *ctx, rb_dense a, double *block, double *log_det) {
    *log_det = 0;
    return factor(ctx, a, 0, block, log_det);
}
