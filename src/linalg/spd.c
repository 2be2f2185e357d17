/* Symmetric positive definite matrices. Small ones are inverted at once by our own kernel, and
 * solving is a product; larger ones keep a Cholesky factor. */
#include "cholesky.h"

/* LAPACK, which stores by columns: its upper triangle is our lower one, and a right side is one of
 * our rows. */
void dposv_(const char *uplo, const int *n, const int *sides, double *a, const int *lda, double *b,
            const int *ldb, int *info, size_t length);

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
    if (!f) {
        return RB_ERROR_MEMORY;
    }
    f->size = size;
    f->small = size <= SMALL;
    int64_t rows = f->small ? 2 * RB_SWEEP_PAD : padded; /* of work */
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
    for (int64_t i = 0; i < from.rows; i++) {
        rb_dense_copy(rb_dense_part(from, i, 1, 0, i + 1), rb_dense_part(to, i, 1, 0, i + 1));
    }
}

/* Both return -1 or the row that failed. */
static int64_t factor_small(const struct rb_kernels *kernels, rb_spd *f, rb_dense a) {
    rb_dense x = f->factor, to = f->solver;
    copy_lower(a, x);
    int64_t failed = kernels->sweep(f->size, x.data, x.ld, f->work.data, &f->log_det);
    for (int64_t i = 0; failed < 0 && i < f->size; i++) {
        kernels->of[to.type].narrow(i + 1, -1, rb_dense_row(x, i), rb_dense_row(to, i));
    }
    if (failed < 0) {
        rb_dense_mirror(f->solver);
    }
    return failed;
}

static int64_t factor_large(rb_context *ctx, rb_spd *f, rb_dense a) {
    rb_dense l = f->rounded ? f->solver : square_of(f, f->factor);
    copy_lower(a, l);
    int64_t failed = rb_cholesky_factor(ctx, l, f->rounded ? f->work.data : NULL, &f->log_det);
    if (failed < 0 && !f->rounded) {
        rb_dense_copy(l, f->solver);
    }
    return failed;
}

rb_error rb_spd_factor(rb_context *ctx, rb_spd *f, rb_dense a) {
    int64_t failed = f->small ? factor_small(rb_kernels_of(ctx), f, a) : factor_large(ctx, f, a);
    rb_error err = failed < 0 ? RB_OK : rb_check_stop(ctx);
    if (failed < 0 || err) {
        return err;
    }
    return rb_fail(ctx, RB_ERROR_NUMERIC,
                   "a matrix of %lld rows is not positive definite or not finite (at row %lld)",
                   (long long)f->size, (long long)failed);
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
    int64_t start = first / RB_CHOLESKY_BLOCK * RB_CHOLESKY_BLOCK, below = f->size - start;
    rb_dense columns = rb_dense_rows(strip_of(s, f->work, index), start, below);
    rb_dense l = rb_dense_part(f->factor, start, below, start, below);
    rb_dense_zero(columns);
    for (int64_t j = 0; j < columns.cols; j++) {
        rb_dense_set(columns, first - start + j, j, 1);
    }
    rb_cholesky_left(l, RB_PLAIN, columns);
    rb_cholesky_left(l, RB_TRANSPOSED, columns);
    rb_dense_copy(rb_dense_rows(columns, first - start, rest),
                  rb_dense_rows(strip_of(s, s->x, index), first, rest));
}

void rb_spd_inverse(rb_context *ctx, rb_spd *f, rb_dense x) {
    if (f->small) {
        rb_dense_copy(f->solver, x);
        return;
    }
    if (f->rounded) {
        rb_dense_copy(f->solver, square_of(f, f->factor));
    }
    run_strips(ctx, (struct strips){.f = f, .x = x}, invert_strip);
    rb_dense_mirror(x);
}

static void solve_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    rb_dense x = strip_of(s, s->x, index);
    if (s->forward) {
        rb_dense_copy(strip_of(s, s->b, index), x);
        rb_cholesky_left(s->f->solver, RB_PLAIN, x);
    }
    if (s->backward) {
        rb_cholesky_left(s->f->solver, RB_TRANSPOSED, x);
    }
}

void rb_spd_solve_left(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small) {
        rb_gemm_parallel(ctx, 1, f->solver, RB_PLAIN, b, RB_PLAIN, 0, x);
        return;
    }
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
    rb_cholesky_right(x, f->solver, RB_TRANSPOSED);
    rb_cholesky_right(x, f->solver, RB_PLAIN);
}

void rb_solve_small(int64_t size, double *a, int64_t count, double *b) {
    int n = (int)size, sides = (int)count, info;
    if (n > 0 && sides > 0) {
        int entered = rb_blas_enter();
        dposv_("U", &n, &sides, a, &n, b, &n, &info, 1);
        rb_blas_leave(entered);
    }
}
