/* Symmetric positive definite matrices. Small ones are inverted at once by our own kernel, and
 * solving is a product; larger ones keep the Cholesky factor of LAPACK. */
#include "kernels.h"

#include <cblas.h>
#include <math.h>

/* LAPACK, which stores by columns: its upper triangle is our lower one. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);

/* Up to this size the inverse by sweeps is faster than LAPACK's factor. */
enum { SMALL = 256 };

struct rb_spd {
    rb_type type;
    int64_t size, ld;
    bool small;
    double log_det;
    double *factor;  /* ld x ld, float64: minus the inverse if small, else the Cholesky factor */
    double *work;    /* small: of the sweeps; else room for the inverse */
    rb_dense solver; /* in the type of the caller: the full inverse if small, else the factor */
};

rb_error rb_spd_new(rb_context *ctx, rb_type type, int64_t size, rb_spd **out) {
    *out = NULL;
    rb_spd *f = rb_alloc_zero(ctx, 1, sizeof *f);
    if (!f) {
        return RB_ERROR_MEMORY;
    }
    f->type = type;
    f->size = size;
    f->ld = (size + RB_SWEEP_PAD - 1) / RB_SWEEP_PAD * RB_SWEEP_PAD;
    f->small = size <= SMALL;
    int64_t count, work;
    if (!rb_multiply(f->ld, f->ld, &count)) {
        rb_spd_free(f);
        return rb_fail(ctx, RB_ERROR_MEMORY, "a matrix of %lld x %lld values cannot be addressed",
                       (long long)size, (long long)size);
    }
    work = f->small ? 2 * RB_SWEEP_PAD * f->ld : count;
    f->factor = rb_alloc_zero(ctx, count, sizeof *f->factor);
    f->work = f->factor ? rb_alloc_zero(ctx, work, sizeof *f->work) : NULL;
    if (!f->work || rb_dense_new(ctx, type, size, size, &f->solver)) {
        rb_spd_free(f);
        return RB_ERROR_MEMORY;
    }
    *out = f;
    return RB_OK;
}

void rb_spd_free(rb_spd *f) {
    if (!f) {
        return;
    }
    rb_free(f->factor);
    rb_free(f->work);
    rb_dense_free(&f->solver);
    rb_free(f);
}

static void copy_lower(const struct rb_kernels *kernels, rb_dense a, double *to, int64_t ld) {
    for (int64_t i = 0; i < a.rows; i++) {
        kernels->of[a.type].widen(i + 1, rb_dense_row(a, i), to + i * ld);
    }
}

/* solver <- factor * `from`, lower triangle, in the type of the caller. */
static void narrow_lower(const struct rb_kernels *kernels, double factor, const double *from,
                         int64_t ld, rb_dense to) {
    for (int64_t i = 0; i < to.rows; i++) {
        kernels->of[to.type].narrow(i + 1, factor, from + i * ld, rb_dense_row(to, i));
    }
}

/* Both return -1 or the row that failed. */
static int64_t factor_small(const struct rb_kernels *kernels, rb_spd *f) {
    int64_t failed = kernels->sweep(f->size, f->factor, f->ld, f->work, &f->log_det);
    if (failed < 0) {
        narrow_lower(kernels, -1, f->factor, f->ld, f->solver);
        rb_dense_mirror(f->solver);
    }
    return failed;
}

static int64_t factor_large(const struct rb_kernels *kernels, rb_spd *f) {
    int n = (int)f->size, ld = (int)f->ld, info;
    dpotrf_("U", &n, f->factor, &ld, &info, 1);
    if (info != 0) {
        return info > 0 ? info - 1 : 0;
    }
    double sum = 0;
    for (int64_t i = 0; i < f->size; i++) {
        double pivot = f->factor[i * f->ld + i];
        if (!isfinite(pivot)) {
            return i;
        }
        sum += log(pivot);
    }
    f->log_det = 2 * sum;
    narrow_lower(kernels, 1, f->factor, f->ld, f->solver);
    return -1;
}

rb_error rb_spd_factor(rb_context *ctx, rb_spd *f, rb_dense a) {
    const struct rb_kernels *kernels = rb_kernels_of(ctx);
    copy_lower(kernels, a, f->factor, f->ld);
    int64_t failed = f->small ? factor_small(kernels, f) : factor_large(kernels, f);
    if (failed >= 0) {
        return rb_fail(ctx, RB_ERROR_NUMERIC,
                       "a matrix of %lld rows is not positive definite or not finite (at row %lld)",
                       (long long)f->size, (long long)failed);
    }
    return RB_OK;
}

double rb_spd_log_det(const rb_spd *f) {
    return f->log_det;
}

void rb_spd_inverse(rb_context *ctx, rb_spd *f, rb_dense x) {
    if (f->small) {
        rb_dense_copy(f->solver, x);
        return;
    }
    int n = (int)f->size, ld = (int)f->ld, info;
    for (int64_t i = 0; i < f->size * f->ld; i++) {
        f->work[i] = f->factor[i];
    }
    dpotri_("U", &n, f->work, &ld, &info, 1);
    narrow_lower(rb_kernels_of(ctx), 1, f->work, f->ld, x);
    rb_dense_mirror(x);
}

/* ---- solving with the Cholesky factor: independent columns or rows, in strips ---- */

enum { STRIP = 128 };

struct solve {
    rb_dense factor, b, x;
    bool left;
};

static void triangular(enum CBLAS_SIDE side, enum CBLAS_TRANSPOSE op, rb_dense factor, rb_dense x) {
    int rows = (int)x.rows, cols = (int)x.cols, ld = (int)factor.ld, ldx = (int)x.ld;
    if (x.type == RB_FLOAT32) {
        cblas_strsm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, factor.data,
                    ld, x.data, ldx);
    } else {
        cblas_dtrsm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, factor.data,
                    ld, x.data, ldx);
    }
}

static void solve_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct solve *s = arg;
    int64_t length = s->left ? s->x.cols : s->x.rows, first = index * STRIP;
    int64_t size = length - first < STRIP ? length - first : STRIP;
    if (s->left) {
        rb_dense x = rb_dense_part(s->x, 0, s->x.rows, first, size);
        rb_dense_copy(rb_dense_part(s->b, 0, s->b.rows, first, size), x);
        triangular(CblasLeft, CblasNoTrans, s->factor, x);
        triangular(CblasLeft, CblasTrans, s->factor, x);
    } else {
        rb_dense x = rb_dense_rows(s->x, first, size);
        rb_dense_copy(rb_dense_rows(s->b, first, size), x);
        triangular(CblasRight, CblasTrans, s->factor, x);
        triangular(CblasRight, CblasNoTrans, s->factor, x);
    }
}

static void solve(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x, bool left) {
    if (f->small) {
        if (left) {
            rb_gemm_parallel(ctx, 1, f->solver, RB_PLAIN, b, RB_PLAIN, 0, x);
        } else {
            rb_gemm_parallel(ctx, 1, b, RB_PLAIN, f->solver, RB_PLAIN, 0, x);
        }
        return;
    }
    struct solve s = {f->solver, b, x, left};
    int64_t length = left ? x.cols : x.rows;
    rb_parallel(ctx, (length + STRIP - 1) / STRIP, solve_strip, &s);
}

void rb_spd_solve_left(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    solve(ctx, f, b, x, true);
}

void rb_spd_solve_right(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    solve(ctx, f, b, x, false);
}
