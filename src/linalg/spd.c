/* Symmetric positive definite matrices. Small ones are inverted at once by our own kernel, and
 * solving is a product; larger ones keep a Cholesky factor. */
#include "cholesky.h"
#include "kernels.h"

#include <string.h>

/* Up to this size the inverse by sweeps and a product cost less than a factor and solutions with
 * it. */
enum { SMALL = 512 };

struct rb_spd {
    rb_type type;
    int64_t size, ld;
    bool small;
    bool rounded; /* the factor was made in the type of the caller: it is in the solver alone */
    double log_det;
    double *factor;  /* ld x ld, float64: minus the inverse if small, else the Cholesky factor */
    double *work;    /* small: of the sweeps; else memory for the inverse */
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
static int64_t factor_small(const struct rb_kernels *kernels, rb_spd *f, rb_dense a) {
    copy_lower(kernels, a, f->factor, f->ld);
    int64_t failed = kernels->sweep(f->size, f->factor, f->ld, f->work, &f->log_det);
    if (failed < 0) {
        narrow_lower(kernels, -1, f->factor, f->ld, f->solver);
        rb_dense_mirror(f->solver);
    }
    return failed;
}

static rb_dense factor_view(const rb_spd *f) {
    return (rb_dense){f->factor, f->size, f->size, f->ld, RB_FLOAT64};
}

static int64_t factor_rounded(rb_context *ctx, rb_spd *f, rb_dense a) {
    for (int64_t i = 0; i < f->size; i++) {
        memcpy(rb_dense_row(f->solver, i), rb_dense_row(a, i),
               (size_t)(i + 1) * rb_type_size(a.type));
    }
    return rb_cholesky_factor(ctx, f->solver, f->work, &f->log_det);
}

static int64_t factor_large(rb_context *ctx, rb_spd *f, rb_dense a) {
    if (f->rounded) {
        return factor_rounded(ctx, f, a);
    }
    copy_lower(rb_kernels_of(ctx), a, f->factor, f->ld);
    int64_t failed = rb_cholesky_factor(ctx, factor_view(f), NULL, &f->log_det);
    if (failed < 0) {
        rb_dense_copy(factor_view(f), f->solver);
    }
    return failed;
}

rb_error rb_spd_factor(rb_context *ctx, rb_spd *f, rb_dense a) {
    int64_t failed = f->small ? factor_small(rb_kernels_of(ctx), f, a) : factor_large(ctx, f, a);
    if (failed >= 0) {
        rb_error err = rb_check_stop(ctx);
        return err ? err
                   : rb_fail(ctx, RB_ERROR_NUMERIC,
                             "a matrix of %lld rows is not positive definite or not finite (at row "
                             "%lld)",
                             (long long)f->size, (long long)failed);
    }
    return RB_OK;
}

void rb_spd_round(rb_spd *f) {
    f->rounded = f->type == RB_FLOAT32 && !f->small;
}

double rb_spd_log_det(const rb_spd *f) {
    return f->log_det;
}

/* ---- with the Cholesky factor: columns or rows are independent and go in strips ---- */

struct strips {
    rb_spd *f;
    rb_dense b, x;
    struct bands bands;
};

static void run_strips(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x, int64_t length,
                       rb_task task) {
    struct strips strips = {f, b, x, rb_cut_wide(length)};
    rb_parallel(ctx, strips.bands.count, task, &strips);
}

/* The lower triangle of the inverse, in float64: columns of the identity are zero down to the
 * diagonal. */
static void invert_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    rb_spd *f = s->f;
    int64_t first = rb_band_start(s->bands, index), size = rb_band_size(s->bands, index);
    rb_dense work = {f->work, f->size, f->size, f->ld, RB_FLOAT64};
    rb_dense columns = rb_dense_part(work, 0, f->size, first, size);
    int64_t start = first / RB_CHOLESKY_BLOCK * RB_CHOLESKY_BLOCK;
    rb_dense_zero(rb_dense_rows(columns, start, f->size - start));
    for (int64_t j = 0; j < size; j++) {
        rb_dense_set(columns, first + j, j, 1);
    }
    rb_cholesky_left(factor_view(f), columns, start);
    rb_dense_copy(rb_dense_rows(columns, first, f->size - first),
                  rb_dense_part(s->x, first, f->size - first, first, size));
}

void rb_spd_inverse(rb_context *ctx, rb_spd *f, rb_dense x) {
    if (f->small) {
        rb_dense_copy(f->solver, x);
        return;
    }
    if (f->rounded) {
        rb_dense_copy(f->solver, factor_view(f));
    }
    run_strips(ctx, f, x, x, f->size, invert_strip);
    rb_dense_mirror(x);
}

static void left_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    int64_t first = rb_band_start(s->bands, index), size = rb_band_size(s->bands, index);
    rb_dense x = rb_dense_part(s->x, 0, s->x.rows, first, size);
    rb_dense_copy(rb_dense_part(s->b, 0, s->b.rows, first, size), x);
    rb_cholesky_left(s->f->solver, x, 0);
}

void rb_spd_solve_left(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small) {
        rb_gemm_parallel(ctx, 1, f->solver, RB_PLAIN, b, RB_PLAIN, 0, x);
        return;
    }
    run_strips(ctx, f, b, x, x.cols, left_strip);
}

bool rb_spd_has_halves(const rb_spd *f) {
    return !f->small;
}

static void half_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    int64_t first = rb_band_start(s->bands, index), size = rb_band_size(s->bands, index);
    rb_dense x = rb_dense_part(s->x, 0, s->x.rows, first, size);
    rb_dense_copy(rb_dense_part(s->b, 0, s->b.rows, first, size), x);
    rb_cholesky_forward(s->f->solver, x);
}

void rb_spd_solve_half(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x) {
    run_strips(ctx, f, b, x, x.cols, half_strip);
}

static void other_half_strip(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct strips *s = arg;
    int64_t first = rb_band_start(s->bands, index), size = rb_band_size(s->bands, index);
    rb_cholesky_backward(s->f->solver, rb_dense_part(s->x, 0, s->x.rows, first, size));
}

void rb_spd_solve_other_half(rb_context *ctx, rb_spd *f, rb_dense x) {
    run_strips(ctx, f, x, x, x.cols, other_half_strip);
}

void rb_spd_solve_right(const rb_spd *f, rb_dense b, rb_dense x) {
    if (f->small) {
        rb_gemm(1, b, RB_PLAIN, f->solver, RB_PLAIN, 0, x);
        return;
    }
    rb_dense_copy(b, x);
    rb_cholesky_right(f->solver, x);
}
