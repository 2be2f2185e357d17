/* The quadratic problem of an E-step: scratch, the residual (mu P - Q)', and the feasible sets: mu
 * not below 0, and for the normalised one mean square 1 in every unit. The nearest feasible point
 * is that of Theorems 11 and 12 of Clevert et al. 2015 (but for dead.c). */
#include "estep.h"

#include <math.h>
#include <stddef.h>

enum { ONE, AT_ONCE, SAMPLES, SLICES, GROUPS, UNITS };

static const rb_field fields[] = {
    {"residual", offsetof(rfn_work, residual), RB_FIELD_DENSE, RB_KEPT_WORKING, AT_ONCE, SAMPLES},
    {"rows", offsetof(rfn_work, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, AT_ONCE, UNITS},
    {"units", offsetof(rfn_work, units), RB_FIELD_POINTER, RB_KEPT_INTEGER, UNITS},
    {"order", offsetof(rfn_work, order), RB_FIELD_POINTER, RB_KEPT_INTEGER, UNITS},
    {"aimed", offsetof(rfn_work, aimed), RB_FIELD_DENSE, RB_KEPT_WORKING, ONE, SAMPLES},
    {"changes", offsetof(rfn_work, changes), RB_FIELD_DENSE, RB_KEPT_WORKING, ONE, SAMPLES},
    {"squares", offsetof(rfn_work, squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SLICES},
    {"pulls", offsetof(rfn_work, pulls), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {"slices", offsetof(rfn_work, slices.first), RB_FIELD_POINTER, RB_KEPT_INTEGER, SLICES},
    {"parts", offsetof(rfn_work, parts), RB_FIELD_POINTER, RB_KEPT_FLOAT64, AT_ONCE, GROUPS},
    {"sums", offsetof(rfn_work, sums), RB_FIELD_POINTER, RB_KEPT_FLOAT64, AT_ONCE},
    {"positive_units", offsetof(rfn_work, alive), RB_FIELD_POINTER, RB_KEPT_FLAG, UNITS},
    {0},
};
static const rb_part work_parts[] = {{RB_PART_SCRATCH, fields, 0}, {0}};

/* The product reads all codes for these units, and each of them reads the changes of those before
 * it: that is least at the root of 2 l. By whole steps of the product's rows. */
static int64_t units_at_once(int64_t units) {
    enum { STEP = 8 };
    int64_t count = rb_smaller((int64_t)sqrt(2 * (double)units), RFN_UNITS_AT_ONCE) / STEP * STEP;
    count = rb_smaller(units, count < STEP ? STEP : count);
    return count < 2 ? 2 : count;
}

static rb_shape shape_of(rb_type type, int64_t units, int64_t samples) {
    return (rb_shape){.type = type,
                      .dims = {[ONE] = 1,
                               [AT_ONCE] = units_at_once(units),
                               [SAMPLES] = samples,
                               [SLICES] = samples / RFN_SLICE + RFN_BOUNDS,
                               [GROUPS] = RFN_BOUNDS,
                               [UNITS] = units}};
}

/* The groups, whose bounds are there, into slices. */
static void cut_groups(rfn_slices *s) {
    s->count = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        s->of_group[g] = s->count;
        for (int64_t at = s->bounds[g]; at < s->bounds[g + 1]; at += RFN_SLICE)
            s->first[s->count++] = at;
    }
    s->of_group[s->groups] = s->count;
    s->first[s->count] = s->bounds[s->groups];
}

rb_error rfn_work_new(rb_context *ctx, rb_type type, int64_t units, int64_t samples,
                      const rb_problem *problem, rfn_work *work) {
    rb_shape shape = shape_of(type, units, samples);
    *work = (rfn_work){.at_once = shape.dims[AT_ONCE]};
    rb_error err = rb_parts_new(ctx, work_parts, &shape, work);
    if (err) return err;
    for (int64_t j = 0; j < units; j++)
        work->units[j] = j;
    rfn_slices *s = &work->slices;
    bool grouped = problem && problem->groups > 0; /* or all are one */
    s->all = grouped ? problem->n_samples : samples;
    s->place = grouped ? problem->first : 0;
    s->groups = grouped ? problem->own_groups : 1;
    s->bounds[1] = samples;
    for (int64_t g = 0; grouped && g <= s->groups; g++)
        s->bounds[g] = rb_group_first(problem, problem->first_group + g) - problem->first;
    cut_groups(s);
    return RB_OK;
}

double rfn_work_bytes(rb_type type, int64_t units, int64_t samples) {
    rb_shape shape = shape_of(type, units, samples);
    return rb_parts_bytes(work_parts, &shape, 0);
}

void rfn_work_free(rfn_work *work) {
    rb_csr_memory_free(&work->listed);
    rb_parts_free(work_parts, work);
    *work = (rfn_work){0};
}

void rfn_product_over_samples(rb_context *ctx, const rfn_slices *slices, rb_dense a, rb_dense b,
                              double beta, rb_dense c) {
    for (int64_t g = 0; g < slices->groups; g++) {
        int64_t first = slices->bounds[g], count = slices->bounds[g + 1] - first;
        rb_gemm_parallel(ctx, 1, a, RB_PLAIN, rb_dense_part(b, 0, b.rows, first, count), RB_PLAIN,
                         beta, rb_dense_part(c, 0, c.rows, first, count));
    }
}

struct products {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rb_dense codes, rows, out; /* rows of P, and of the product */
    const int64_t *units;
    const rfn_slices *slices;
};

static void copy_row(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct products *p = arg;
    rb_dense_copy(rb_dense_rows(p->problem->hessian, p->units[unit], 1),
                  rb_dense_rows(p->rows, unit, 1));
}

/* mu P - Q of samples that have a P of their own, which is rounded once. */
static void own_residual(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct products *p = arg;
    int64_t begin = slice * RFN_SLICE;
    int64_t end = begin + rb_smaller(p->codes.cols - begin, RFN_SLICE);
    for (int64_t i = begin; i < end; i++) {
        for (int64_t unit = 0; unit < p->out.rows; unit++) {
            double sum = -rb_dense_get(p->problem->linear, p->units[unit], i);
            for (int64_t c = 0; c < p->codes.rows; c++) {
                double code = rb_dense_get(p->codes, c, i);
                if (code != 0)
                    sum += code * rfn_curvature_of(p->problem->patterns, i, p->units[unit], c);
            }
            rb_dense_set(p->out, unit, i, sum);
        }
    }
}

/* Rows of P that follow each other at once, of samples whose codes stay in the cache. */
static void product_of_lists(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct products *p = arg;
    int64_t first = p->slices->first[slice], samples = p->slices->first[slice + 1] - first, run;
    rb_dense codes = rb_dense_part(p->codes, 0, p->codes.rows, first, samples);
    for (int64_t unit = 0; unit < p->out.rows; unit += run) {
        run = 1;
        while (unit + run < p->out.rows && p->units[unit + run] == p->units[unit] + run)
            run++;
        rb_kernels_of(p->ctx)->of[codes.type].csr(p->problem->listed, p->units[unit], codes, false,
                                                  rb_dense_part(p->out, unit, run, first, samples));
    }
}

static const double FEW = 0.3;

double rfn_list_bytes(rb_type type, int64_t units) {
    return FEW * (double)units * (double)units * (double)(rb_type_size(type) + sizeof(int32_t));
}

rb_error rfn_list_hessian(rb_context *ctx, rfn_quadratic *problem, rfn_work *work) {
    enum { LEAST_UNITS = 64, EVERY = 8 };
    rb_dense p = problem->hessian;
    problem->listed = (rb_csr){0};
    if (p.rows < LEAST_UNITS || rb_dense_share(p, EVERY) > FEW) return RB_OK;
    return rb_csr_compress(ctx, &work->listed, p, &problem->listed);
}

void rfn_product(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                 const int64_t *units, rfn_work *work, rb_dense out) {
    rb_dense rows = rb_dense_rows(work->rows, 0, out.rows);
    struct products p = {ctx, problem, codes, rows, out, units, &work->slices};
    if (problem->patterns) {
        rb_parallel(ctx, (codes.cols + RFN_SLICE - 1) / RFN_SLICE, own_residual, &p);
        return;
    }
    if (problem->listed.rows > 0) {
        const int64_t *starts = problem->listed.starts;
        int64_t entries = 0;
        for (int64_t unit = 0; unit < out.rows; unit++)
            entries += starts[units[unit] + 1] - starts[units[unit]];
        rb_phase before = rb_phase_sparse(ctx, entries, 1, codes.cols, rb_type_size(codes.type));
        rb_parallel(ctx, work->slices.count, product_of_lists, &p);
        rb_phase_end(ctx, before);
        return;
    }
    rb_parallel(ctx, out.rows, copy_row, &p);
    rfn_product_over_samples(ctx, &work->slices, p.rows, codes, 0, out);
}

static void subtract_linear(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct products *p = arg;
    rb_axpy(p->ctx, p->out.type, p->out.cols, -1, rb_dense_row(p->problem->linear, p->units[unit]),
            rb_dense_row(p->out, unit));
}

void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                  const int64_t *units, rfn_work *work, rb_dense residual) {
    struct products p = {.ctx = ctx, .problem = problem, .out = residual, .units = units};
    rfn_product(ctx, problem, codes, units, work, residual);
    if (!problem->patterns) rb_parallel(ctx, residual.rows, subtract_linear, &p);
}

/* ---- the nearest feasible point ---- */

/* A value and the sample that has it, of all. */
struct largest {
    double value;
    int64_t at;
};

static void join_largest(int64_t count, void *mine, const void *theirs) {
    struct largest *own = mine;
    for (int64_t i = 0; i < count; i++) {
        struct largest their = ((const struct largest *)theirs)[i];
        bool first = their.value == own[i].value && their.at < own[i].at;
        if (their.value > own[i].value || first) own[i] = their;
    }
}

int64_t rfn_largest(rb_context *ctx, const rfn_slices *slices, double factor, rb_dense row,
                    const void *step) {
    struct largest best = {-INFINITY, INT64_MAX};
    for (int64_t i = 0; i < row.cols; i++) {
        double value = rb_get(row.type, row.data, i) + factor * rb_get(row.type, step, i);
        if (value > best.value) best = (struct largest){value, slices->place + i};
    }
    rb_comm_combine(ctx, &best, 1, sizeof best, join_largest);
    int64_t here = (best.at < slices->all ? best.at : 0) - slices->place; /* all are NaN */
    return here >= 0 && here < row.cols ? here : -1;
}

/* out <- max(0, row + factor step); parts: the sum of its squares in each group. */
static void rectify(rb_context *ctx, const rfn_slices *slices, double factor, rb_dense row,
                    const void *step, void *out, double *parts) {
    const struct rb_type_kernels *kernels = &rb_kernels_of(ctx)->of[row.type];
    for (int64_t g = 0; g < slices->groups; g++) {
        parts[g] = 0;
        for (int64_t s = slices->of_group[g]; s < slices->of_group[g + 1]; s++) {
            int64_t first = slices->first[s], count = slices->first[s + 1] - first;
            size_t at = (size_t)first * rb_type_size(row.type);
            parts[g] += kernels->step_row(count, factor, (const char *)row.data + at,
                                          (const char *)step + at, (char *)out + at);
        }
    }
}

/* So that the mean square is 1. */
static void normalize(const rfn_slices *slices, double squares, rb_dense out) {
    double scale = sqrt((double)slices->all / squares);
    for (int64_t i = 0; squares != 0 && i < out.cols; i++)
        rb_put(out.type, out.data, i, scale * rb_get(out.type, out.data, i));
}

void rfn_take_largest(rb_context *ctx, const rfn_slices *slices, double factor, rb_dense row,
                      const void *step, rb_dense out) {
    int64_t here = rfn_largest(ctx, slices, factor, row, step);
    rb_dense_zero(out); /* squares may be 0 where values are not */
    if (here >= 0) rb_dense_set(out, 0, here, sqrt((double)slices->all));
}

bool rfn_feasible(rb_context *ctx, const rfn_slices *slices, bool normalized, double factor,
                  rb_dense row, const void *step, void *out) {
    double parts[RFN_BOUNDS], squares;
    rb_dense to = {out, 1, row.cols, row.cols, row.type};
    rectify(ctx, slices, factor, row, step, out, parts);
    rb_add_groups(ctx, 1, slices->groups, parts, &squares);
    if (squares == 0 && normalized) rfn_take_largest(ctx, slices, factor, row, step, to);
    if (normalized) normalize(slices, squares, to);
    return squares != 0;
}

struct feasible {
    rb_context *ctx;
    rb_dense rows, steps, outs;
    double factor;
    rfn_work *work;
};

static void rectify_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct feasible *f = arg;
    const rfn_slices *slices = &f->work->slices;
    rectify(f->ctx, slices, f->factor, rb_dense_rows(f->rows, unit, 1),
            rb_dense_row(f->steps, unit), rb_dense_row(f->outs, unit),
            f->work->parts + unit * slices->groups);
}

static void normalize_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct feasible *f = arg;
    normalize(&f->work->slices, f->work->sums[unit], rb_dense_rows(f->outs, unit, 1));
}

void rfn_feasible_units(rb_context *ctx, bool normalized, double factor, rb_dense rows,
                        rb_dense steps, rb_dense outs, const bool *dead, rfn_work *work) {
    const rfn_slices *slices = &work->slices;
    struct feasible f = {ctx, rows, steps, outs, factor, work};
    rb_parallel(ctx, rows.rows, rectify_unit, &f);
    if (!normalized) return;
    rb_add_groups(ctx, rows.rows, slices->groups, work->parts, work->sums);
    for (int64_t unit = 0; unit < rows.rows; unit++) {
        rb_dense row = rb_dense_rows(rows, unit, 1);
        if (work->sums[unit] == 0 && !(dead && dead[unit]))
            rfn_take_largest(ctx, slices, factor, row, rb_dense_row(steps, unit),
                             rb_dense_rows(outs, unit, 1));
    }
    rb_parallel(ctx, rows.rows, normalize_unit, &f);
}
