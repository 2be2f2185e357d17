/* Symmetric positive definite matrices. Small ones are inverted at once by our own kernel, and
 * solving is a product; larger ones keep a Cholesky factor in blocks. Almost all of its work, and
 * of the solutions, is matrix products, which is where the BLAS is fast: its own triangular solver
 * ran at half the speed of its products. */
#include "linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* LAPACK, which stores by columns: its upper triangle is our lower one. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length, size_t diag_length);
void dposv_(const char *uplo, const int *n, const int *sides, double *a, const int *lda, double *b,
            const int *ldb, int *info, size_t length);

/* ---- the Cholesky factor ----
 *
 * A = L L', lower triangle, in blocks of BLOCK rows: in place of each block on the diagonal its
 * inverse, with zeros above the diagonal, so that solutions are products. */

enum { BLOCK = 128 };

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

/* Solutions on the calling thread, by halves, so that the products are as large as can be. */

/* X <- op(L)^-1 X */
static void cholesky_left(rb_dense l, rb_side op, rb_dense x) {
    if (l.rows <= BLOCK) {
        rb_trmm_left(l, op, x);
        return;
    }
    struct halves part = halve(l);
    rb_dense top = rb_dense_rows(x, 0, part.first.rows);
    rb_dense bottom = rb_dense_rows(x, top.rows, x.rows - top.rows);
    bool down = op == RB_PLAIN; /* from the first row to the last */
    rb_dense known = down ? top : bottom, next = down ? bottom : top;
    cholesky_left(down ? part.first : part.second, op, known);
    rb_gemm(-1, part.below, op, known, RB_PLAIN, 1, next);
    cholesky_left(down ? part.second : part.first, op, next);
}

/* X <- X op(L)^-1 */
static void cholesky_right(rb_dense x, rb_dense l, rb_side op) {
    if (l.rows <= BLOCK) {
        rb_trmm_right(x, l, op);
        return;
    }
    struct halves part = halve(l);
    rb_dense left = rb_dense_part(x, 0, x.rows, 0, part.first.rows);
    rb_dense right = rb_dense_part(x, 0, x.rows, left.cols, x.cols - left.cols);
    bool up = op == RB_TRANSPOSED; /* from the first column to the last */
    rb_dense known = up ? left : right, next = up ? right : left;
    cholesky_right(known, up ? part.first : part.second, op);
    rb_gemm(-1, known, RB_PLAIN, part.below, op, 1, next);
    cholesky_right(next, up ? part.second : part.first, op);
}

/* The diagonal block: factor, logarithms, inverse. Returns -1 or the row that failed. */
static int64_t factor_diagonal(rb_dense block, double *log_det) {
    double *a = block.data;
    int n = (int)block.rows, ld = (int)block.ld, info, entered = rb_blas_enter();
    dpotrf_("U", &n, a, &ld, &info, 1);
    rb_blas_leave(entered);
    if (info != 0) return info > 0 ? info - 1 : 0;
    for (int64_t i = 0; i < n; i++) {
        double pivot = a[i * ld + i];
        if (!(pivot > 0) || !isfinite(pivot)) return i;
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
    cholesky_right(
        rb_dense_rows(d->rows, rb_band_start(d->bands, index), rb_band_size(d->bands, index)), d->l,
        RB_TRANSPOSED);
}

/* A <- L, in parallel; rows `first` and on of the whole. Blocks are factorised in float64; for a
 * float32 matrix `block` has memory for one, else it is NULL. Returns -1, or the first row whose
 * pivot is not positive and finite. */
static int64_t factor(rb_context *ctx, rb_dense a, int64_t first, double *block, double *log_det) {
    if (a.rows <= BLOCK) {
        int64_t failed = block ? factor_rounded(a, block, log_det) : factor_diagonal(a, log_det);
        return failed < 0 ? failed : first + failed;
    }
    struct halves part = halve(a);
    int64_t failed = factor(ctx, part.first, first, block, log_det);
    if (failed >= 0) return failed;
    /* While a device waits for it, narrow bands keep more threads busy. */
    int64_t rows = part.below.rows;
    struct division division = {part.first, part.below,
                                ctx->work ? rb_cut(rows, 8) : rb_cut_wide(rows)};
    if (rb_parallel_or_stop(ctx, division.bands.count, divide, &division))
        return first + part.first.rows; /* as a row that failed: the caller looks why */
    rb_gemm_lower(ctx, -1, part.below, RB_PLAIN, part.below, RB_TRANSPOSED, 1, part.second);
    return factor(ctx, part.second, first + part.first.rows, block, log_det);
}

/* ---- either ---- */

/* Up to this size the inverse by sweeps and a product cost less than a factor and solutions with
 * it. */
enum { SMALL = 512 };

struct rb_spd {
    int64_t size;
    bool small;
    bool rounded; /* the factor was made in the type of the caller: it is in the solver alone */
    double log_det;
    rb_dense factor; /* float64, padded: minus the inverse if small, else the Cholesky factor */
    rb_dense work;   /* float64; small: of the sweeps; else memory for the inverse */
    rb_dense solver; /* in the type of the caller: the full inverse if small, else the factor */
};

rb_error rb_spd_new(rb_context *ctx, rb_type type, int64_t size, rb_spd **out) {
    int64_t padded = (size + RB_SWEEP_PAD - 1) / RB_SWEEP_PAD * RB_SWEEP_PAD;
    *out = NULL;
    rb_spd *f = rb_alloc_zero(ctx, 1, sizeof *f);
    if (!f) return RB_ERROR_MEMORY;
    f->size = size;
    f->small = size <= SMALL;
    int64_t rows = f->small ? RB_SWEEP_PAD : padded; /* of work */
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, padded, padded, &f->factor);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, rows, padded, &f->work);
    err = err ? err : rb_dense_new(ctx, type, size, size, &f->solver);
    if (err) {
        rb_spd_free(f);
        return err;
    }
    *out = f;
    return RB_OK;
}

void rb_spd_free(rb_spd *f) {
    if (f) {
        rb_dense_free(&f->factor);
        rb_dense_free(&f->work);
        rb_dense_free(&f->solver);
    }
    rb_free(f);
}

/* The factor, or memory like it, without the padding. */
static rb_dense square_of(const rb_spd *f, rb_dense padded) {
    return rb_dense_part(padded, 0, f->size, 0, f->size);
}

static void copy_lower(rb_dense from, rb_dense to) {
    for (int64_t i = 0; i < from.rows; i++)
        rb_dense_copy(rb_dense_part(from, i, 1, 0, i + 1), rb_dense_part(to, i, 1, 0, i + 1));
}

/* Both return -1 or the row that failed. */
static int64_t factor_small(const struct rb_kernels *kernels, rb_spd *f, rb_dense a) {
    rb_dense x = f->factor, to = f->solver;
    rb_dense_copy(a, square_of(f, x)); /* at once: what is above the diagonal is overwritten */
    int64_t failed = kernels->sweep(f->size, x.data, x.ld, f->work.data, &f->log_det);
    for (int64_t i = 0; failed < 0 && i < f->size; i++)
        kernels->of[to.type].narrow(i + 1, -1, rb_dense_row(x, i), rb_dense_row(to, i));
    if (failed < 0) rb_dense_mirror(f->solver);
    return failed;
}

static int64_t factor_large(rb_context *ctx, rb_spd *f, rb_dense a) {
    rb_dense l = f->rounded ? f->solver : square_of(f, f->factor);
    copy_lower(a, l);
    f->log_det = 0;
    int64_t failed = factor(ctx, l, 0, f->rounded ? f->work.data : NULL, &f->log_det);
    if (failed < 0 && !f->rounded) rb_dense_copy(l, f->solver);
    return failed;
}

rb_error rb_spd_factor(rb_context *ctx, rb_spd *f, rb_dense a) {
    int64_t failed = f->small ? factor_small(rb_kernels_of(ctx), f, a) : factor_large(ctx, f, a);
    rb_error err = failed < 0 ? RB_OK : rb_check_stop(ctx);
    if (failed < 0 || err) return err;
    return rb_fail(ctx, RB_ERROR_NUMERIC,
                   "a matrix of %lld rows is not positive definite or not finite (at row %lld)",
                   (long long)f->size, (long long)failed);
}

/* An entry is off by a share of sqrt(a_ii a_jj): so a share of the diagonal makes up for all of
 * them, whatever the scale of each row. In float64 the sweeps, which invert eight pivots at a time,
 * may need more than that, up to the root of epsilon; so do moments of float32 whose covariances
 * were solved in float32 with little noise (an eigenvalue of -1e-3 of the diagonal was seen). */
rb_error rb_spd_factor_moments(rb_context *ctx, rb_spd *f, rb_dense a) {
    bool wide = a.type == RB_FLOAT64;
    double share = (double)a.rows * (wide ? DBL_EPSILON : FLT_EPSILON), most = wide ? 1e-6 : 1e-2;
    rb_error err = rb_spd_factor(ctx, f, a);
    if (err != RB_ERROR_NUMERIC || !rb_dense_is_finite(a)) return err;
    for (; err && share < most; share *= 4) {
        for (int64_t j = 0; j < a.rows; j++)
            rb_dense_set(a, j, j, (1 + share) * rb_dense_get(a, j, j));
        err = rb_spd_factor(ctx, f, a);
        if (err != RB_ERROR_NUMERIC) return err;
    }
    return err;
}

void rb_spd_round(rb_spd *f) {
    f->rounded = f->solver.type == RB_FLOAT32 && !f->small;
}

double rb_spd_log_det(const rb_spd *f) {
    return f->log_det;
}

/* ---- with the Cholesky factor: columns are independent and go in strips ---- */

struct strips {
    rb_spd *f;
    rb_dense b, x;
    bool forward, backward; /* by L^-1; by L^-T */
    struct bands bands;
};

/* The columns of a strip. */
static rb_dense strip_of(const struct strips *s, rb_dense a, int64_t index) {
    return rb_dense_part(a, 0, a.rows, rb_band_start(s->bands, index),
                         rb_band_size(s->bands, index));
}

static void run_strips(rb_context *ctx, struct strips strips, rb_task task) {
    strips.bands = rb_cut_wide(strips.x.cols);
    rb_parallel(ctx, strips.bands.count, task, &strips);
}

/* The lower triangle of the inverse, in float64: columns of the identity are zero down to the
 * diagonal. */
static void invert_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    rb_spd *f = s->f;
    int64_t first = rb_band_start(s->bands, index), rest = f->size - first;
    int64_t start = first / BLOCK * BLOCK, below = f->size - start;
    rb_dense columns = rb_dense_rows(strip_of(s, f->work, index), start, below);
    rb_dense l = rb_dense_part(f->factor, start, below, start, below);
    rb_dense_zero(columns);
    for (int64_t j = 0; j < columns.cols; j++)
        rb_dense_set(columns, first - start + j, j, 1);
    cholesky_left(l, RB_PLAIN, columns);
    cholesky_left(l, RB_TRANSPOSED, columns);
    rb_dense_copy(rb_dense_rows(columns, first - start, rest),
                  rb_dense_rows(strip_of(s, s->x, index), first, rest));
}

void rb_spd_inverse(rb_context *ctx, rb_spd *f, rb_dense x) {
    if (f->small) {
        rb_dense_copy(f->solver, x);
        return;
    }
    if (f->rounded) rb_dense_copy(f->solver, square_of(f, f->factor));
    run_strips(ctx, (struct strips){.f = f, .x = x}, invert_strip);
    rb_dense_mirror(x);
}

static void solve_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    rb_dense x = strip_of(s, s->x, index);
    if (s->forward) {
        rb_dense_copy(strip_of(s, s->b, index), x);
        cholesky_left(s->f->solver, RB_PLAIN, x);
    }
    if (s->backward) cholesky_left(s->f->solver, RB_TRANSPOSED, x);
}

void rb_spd_solve_left(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small) {
        rb_gemm_parallel(ctx, 1, f->solver, RB_PLAIN, b, RB_PLAIN, 0, x);
        return;
    }
    if (!rb_device_solves(ctx, f->solver, BLOCK, true, b, x))
        run_strips(ctx, (struct strips){f, b, x, true, true, {0}}, solve_strip);
}

bool rb_spd_has_halves(const rb_spd *f) {
    return !f->small;
}

void rb_spd_solve_half(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    run_strips(ctx, (struct strips){f, b, x, true, false, {0}}, solve_strip);
}

void rb_spd_solve_other_half(rb_context *ctx, rb_spd *f, rb_dense x) {
    run_strips(ctx, (struct strips){f, x, x, false, true, {0}}, solve_strip);
}

void rb_spd_solve_right(const rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small) {
        rb_gemm(1, b, RB_PLAIN, f->solver, RB_PLAIN, 0, x);
        return;
    }
    rb_dense_copy(b, x);
    cholesky_right(x, f->solver, RB_TRANSPOSED);
    cholesky_right(x, f->solver, RB_PLAIN);
}

bool rb_spd_solves_whole(rb_context *ctx, const rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small || !ctx->work) return false;
    return rb_device_solves(ctx, f->solver, BLOCK, false, b, x);
}

bool rb_solve_small(int64_t size, double *a, int64_t count, double *b) {
    int n = (int)size, sides = (int)count, info = 0;
    if (n > 0 && sides > 0) {
        int entered = rb_blas_enter();
        dposv_("U", &n, &sides, a, &n, b, &n, &info, 1);
        rb_blas_leave(entered);
    }
    return info == 0;
}
