/* The quadratic problem of an E-step: scratch, the residual (mu P - Q)', and the feasible sets: mu
 * not below 0, and for the normalised one mean square 1 in every unit. The nearest feasible point
 * is that of Theorems 11 and 12 of Clevert et al. 2015 (but for dead.c). */
#include "estep.h"

#include <math.h>
#include <stddef.h>

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

struct own_residuals {
    const rfn_quadratic *problem;
    rb_dense codes, residual;
    int64_t first;
};

/* Of samples that have a P of their own. */
static void own_residual(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct own_residuals *r = arg;
    int64_t l = r->codes.rows, begin = slice * RFN_SLICE;
    int64_t end = begin + rb_smaller(r->codes.cols - begin, RFN_SLICE);
    for (int64_t i = begin; i < end; i++) {
        for (int64_t unit = 0; unit < r->residual.rows; unit++) {
            double sum = -rb_dense_get(r->problem->linear, r->first + unit, i);
            for (int64_t c = 0; c < l; c++) {
                double code = rb_dense_get(r->codes, c, i);
                if (code != 0)
                    sum += code * rfn_curvature_of(r->problem->patterns, i, r->first + unit, c);
            }
            rb_dense_set(r->residual, unit, i, sum);
        }
    }
}

void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t first,
                  int64_t count, rfn_work *work) {
    rb_dense residual = rb_dense_part(work->residual, 0, count, 0, codes.cols);
    if (problem->patterns) {
        struct own_residuals own = {problem, codes, residual, first};
        rb_parallel(ctx, (codes.cols + RFN_SLICE - 1) / RFN_SLICE, own_residual, &own);
        return;
    }
    rb_dense_copy(rb_dense_rows(problem->linear, first, count), residual);
    rb_gemm_parallel(ctx, 1, rb_dense_rows(problem->hessian, first, count), RB_PLAIN, codes,
                     RB_PLAIN, -1, residual);
}

int64_t rfn_largest(rb_dense row, double factor, const void *step) {
    int64_t best = 0;
    double max = -INFINITY;
    for (int64_t i = 0; i < row.cols; i++) {
        double value = rb_get(row.type, row.data, i) + factor * rb_get(row.type, step, i);
        if (value > max) {
            max = value;
            best = i;
        }
    }
    return best;
}

/* Sums of squares slice by slice, as the cyclic E-step has them. */
bool rfn_feasible(rb_context *ctx, bool normalized, double factor, rb_dense row, const void *step,
                  void *out) {
    const struct rb_type_kernels *kernels = &rb_kernels_of(ctx)->of[row.type];
    int64_t n = row.cols;
    double squares = 0;
    for (int64_t first = 0; first < n; first += RFN_SLICE) {
        int64_t count = rb_smaller(n - first, RFN_SLICE);
        size_t at = (size_t)first * rb_type_size(row.type);
        squares += kernels->step_row(count, factor, (const char *)row.data + at,
                                     (const char *)step + at, (char *)out + at);
    }
    if (squares == 0 && normalized)
        rb_put(row.type, out, rfn_largest(row, factor, step), sqrt((double)n));
    double scale = sqrt((double)n / squares);
    for (int64_t i = 0; squares != 0 && normalized && i < n; i++)
        rb_put(row.type, out, i, scale * rb_get(row.type, out, i));
    return squares != 0;
}
