/* The quadratic problem of an E-step: scratch, the residual (mu P - Q)', and the feasible sets: mu
 * not below 0, and for the normalised one mean square 1 in every unit. The nearest feasible point
 * is that of Theorems 11 and 12 of Clevert et al. 2015 (but for dead.c). */
#include "estep.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { ONE, AT_ONCE, SAMPLES, SLICES, UNITS };

static const rb_field fields[] = {
    {"residual", offsetof(rfn_work, residual), RB_FIELD_DENSE, RB_KEPT_WORKING, AT_ONCE, SAMPLES},
    {"moved", offsetof(rfn_work, moved), RB_FIELD_DENSE, RB_KEPT_WORKING, AT_ONCE, SAMPLES},
    {"target", offsetof(rfn_work, target), RB_FIELD_POINTER, RB_KEPT_WORKING, SAMPLES},
    {"changes", offsetof(rfn_work, changes), RB_FIELD_POINTER, RB_KEPT_WORKING, SAMPLES},
    {"squares", offsetof(rfn_work, squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SLICES},
    {"positive_units", offsetof(rfn_work, alive), RB_FIELD_POINTER, RB_KEPT_FLAG, UNITS},
    {0},
};
static const rb_part parts[] = {{RB_PART_SCRATCH, fields, 0}, {0}};

static rb_shape shape_of(rb_type type, int64_t units, int64_t samples) {
    return (rb_shape){.type = type,
                      .dims = {[ONE] = 1,
                               [AT_ONCE] = RFN_UNITS_AT_ONCE,
                               [SAMPLES] = samples,
                               [SLICES] = samples / RFN_SLICE + 1,
                               [UNITS] = units}};
}

rb_error rfn_work_new(rb_context *ctx, rb_type type, int64_t units, int64_t samples,
                      rfn_work *work) {
    rb_shape shape = shape_of(type, units, samples);
    *work = (rfn_work){0};
    return rb_parts_new(ctx, parts, &shape, work);
}

double rfn_work_bytes(rb_type type, int64_t units, int64_t samples) {
    rb_shape shape = shape_of(type, units, samples);
    return rb_parts_bytes(parts, &shape, 0);
}

void rfn_work_free(rfn_work *work) {
    rb_parts_free(parts, work);
    *work = (rfn_work){0};
}

void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t first,
                  int64_t count, rfn_work *work) {
    rb_dense residual = work->residual;
    residual.rows = count;
    residual.cols = codes.cols;
    rb_dense_copy(rb_dense_rows(problem->linear, first, count), residual);
    rb_gemm_parallel(ctx, 1, rb_dense_rows(problem->hessian, first, count), RB_PLAIN, codes,
                     RB_PLAIN, -1, residual);
}

int64_t rfn_largest(rb_type type, int64_t n, double factor, const void *x, const void *y) {
    int64_t best = 0;
    double max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double value = rb_get(type, x, i) + factor * rb_get(type, y, i);
        if (value > max) {
            max = value;
            best = i;
        }
    }
    return best;
}

/* Sums of squares slice by slice, as the cyclic E-step has them. */
static double step(rb_context *ctx, rb_type type, int64_t n, double factor, const void *x,
                   const void *y, void *row) {
    size_t size = rb_type_size(type);
    const struct rb_type_kernels *kernels = &rb_kernels_of(ctx)->of[type];
    double squares = 0;
    for (int64_t first = 0; first < n; first += RFN_SLICE) {
        int64_t count = n - first < RFN_SLICE ? n - first : RFN_SLICE;
        size_t at = (size_t)first * size;
        squares += kernels->step_row(count, factor, (const char *)x + at, (const char *)y + at,
                                     (char *)row + at);
    }
    return squares;
}

bool rfn_feasible(rb_context *ctx, bool normalized, rb_type type, int64_t n, double factor,
                  const void *x, const void *y, void *row) {
    double squares = step(ctx, type, n, factor, x, y, row);
    if (squares == 0) {
        if (normalized) {
            rb_put(type, row, rfn_largest(type, n, factor, x, y), sqrt((double)n));
        }
        return false;
    }
    double scale = sqrt((double)n / squares);
    for (int64_t i = 0; normalized && i < n; i++) {
        rb_put(type, row, i, scale * rb_get(type, row, i));
    }
    return true;
}
