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

/* L = [first 0; below second], the first part of whole blocks. */
struct halves {
    rb_dense first, below, second;
};

static struct halves halve(rb_dense l) {
    int64_t blocks = (l.rows + BLOCK - 1) / BLOCK;
    int64_t half = (blocks + 1) / 2 * BLOCK, rest = l.rows - half;
    return (struct halves){rb_dense_part(l, 0, half, 0, half),
                           rb_dense_part(l, half, rest, 0, half),
                           rb_dense_part(l, half, rest, half, rest)};
}

/* ---- solutions, by halves, so that the products are as large as can be ---- */

void rb_cholesky_left(rb_dense l, rb_side op, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_left(l, op, x);
        return;
    }
    struct halves part = halve(l);
    rb_dense top = rb_dense_rows(x, 0, part.first.rows);
    rb_dense bottom = rb_dense_rows(x, top.rows, x.rows - top.rows);
    bool down = op == RB_PLAIN; /* from the first row to the last */
    rb_dense known = down ? top : bottom, next = down ? bottom : top;
    rb_cholesky_left(down ? part.first : part.second, op, known);
    rb_gemm(-1, part.below, op, known, RB_PLAIN, 1, next);
    rb_cholesky_left(down ? part.second : part.first, op, next);
}

void rb_cholesky_right(rb_dense x, rb_dense l, rb_side op) {
    if (l.rows <= BLOCK) {
        rb_trmm_right(x, l, op);
        return;
    }
    struct halves part = halve(l);
    rb_dense left = rb_dense_part(x, 0, x.rows, 0, part.first.rows);
    rb_dense right = rb_dense_part(x, 0, x.rows, left.cols, x.cols - left.cols);
    bool up = op == RB_TRANSPOSED; /* from the first column to the last */
    rb_dense known = up ? left : right, next = up ? right : left;
    rb_cholesky_right(known, up ? part.first : part.second, op);
    rb_gemm(-1, known, RB_PLAIN, part.below, op, 1, next);
    rb_cholesky_right(next, up ? part.second : part.first, op);
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

/* The same for a block of float32, by way of float64 in `memory`. */
static int64_t factor_rounded(rb_dense block, double *memory, double *log_det) {
    rb_dense wide = {memory, block.rows, block.rows, block.rows, RB_FLOAT64};
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
    rb_cholesky_right(
        rb_dense_rows(d->rows, rb_band_start(d->bands, index), rb_band_size(d->bands, index)), d->l,
        RB_TRANSPOSED);
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
