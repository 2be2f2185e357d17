/* Exact codes of new samples, by multipliers.
 *
 * With the multipliers tau of the training data the codes of a sample minimise
 *     1/2 mu' (P + diag tau) mu - Q mu   over mu >= 0,   Q = v' Psi^-1 W + xi'
 * whatever the other samples are (estep/gradient.c says why). P + diag tau is positive definite,
 * so that the minimum is one. Sweeps over the units, from the minimum without bounds, rectified,
 * until what is left to go is less than the tolerance; for samples that need too many of them, the
 * linear system in the units that are positive (polish.c).
 *
 * Of many samples a sweep is a product of matrices. Of few it is cheaper to keep what is left of Q
 * for each, and to go on with the units whose codes change.
 */
#include "coder.h"
#include "device.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* After so many an active set method is cheaper. So few samples are swept one by one; what is left
 * of their Q is computed anew in every fourth sweep, for rounding. */
enum { MAX_SWEEPS = 200, FEW = 8, ANEW = 4 };
/* Changes of the codes shrink by more than this from one sweep to the next only by chance. */
static const double MIN_RATIO = 1.0 / 3;

void rfn_exact_free(rfn_exact *exact) {
    if (exact) {
        rfn_work_free(&exact->work);
        rb_scratch_end(&exact->scratch);
        rb_free(exact);
    }
}

static rb_error allocate(rb_context *ctx, rb_dense w, int64_t samples, rfn_exact *exact) {
    rb_scratch *scratch = &exact->scratch;
    scratch->ctx = ctx;
    rb_dense_take(scratch, w.type, w.cols, w.cols, &exact->problem.hessian);
    rb_dense_take(scratch, w.type, w.cols, w.cols, &exact->sigma);
    exact->prior = rb_take(scratch, w.cols, rb_type_size(w.type));
    rb_dense_take(scratch, w.type, w.rows, ctx->device ? w.cols : rb_spaced(w.type, w.cols),
                  &exact->weighted);
    exact->weighted = rb_dense_spare(exact->weighted, w.cols);
    rb_dense_take(scratch, w.type, w.cols, samples, &exact->codes);
    rb_dense_take(scratch, w.type, w.cols, samples, &exact->linear);
    exact->problem.dead = exact->dead = rb_take(scratch, w.cols, sizeof *exact->dead);
    exact->columns = rb_take(scratch, samples, sizeof *exact->columns);
    exact->largest = rb_take(scratch, samples, sizeof *exact->largest);
    exact->polish = rfn_polish_take(scratch, w.cols);
    rb_error err = scratch->err;
    return err ? err : rfn_work_new(ctx, w.type, w.cols, samples, NULL, &exact->work);
}

/* The Hessian with the multipliers, and its inverse. */
static rb_error set_problem(rb_context *ctx, const rb_model *model, rfn_exact *exact) {
    const rfn_parameters *parameters = &exact->coder->parameters;
    const double *multipliers, *dead;
    rb_dense p = exact->problem.hessian;
    rb_error err = rb_model_need_array(ctx, model, "multipliers", p.rows, 1, &multipliers);
    err = err ? err : rb_model_need_array(ctx, model, "dead", p.rows, 1, &dead);
    if (err) return err;
    for (int64_t j = 0; j < p.rows; j++) {
        exact->dead[j] = dead[j] != 0;
        rb_put(p.type, exact->prior, j, parameters->prior.linear[j]);
    }
    rfn_hessian(ctx, parameters, exact->weighted, p);
    rfn_add_multipliers(p, multipliers, exact->dead, 1);
    rfn_weigh(ctx, parameters, exact->weighted);
    rb_spd *factor;
    err = rb_spd_new(ctx, p.type, p.rows, &factor);
    err = err ? err : rb_spd_factor(ctx, factor, p);
    if (err)
        rb_fail_prefix(ctx, "the matrix P + diag tau of the model: ");
    else
        rb_spd_inverse(ctx, factor, exact->sigma);
    rb_spd_free(factor);
    return err;
}

rb_error rfn_exact_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       const rfn_coder *coder, rfn_exact **out) {
    *out = NULL;
    if (!rb_model_array(model, "multipliers", NULL, NULL)) return RB_OK;
    rfn_exact *exact = *out = rb_alloc_zero(ctx, 1, sizeof *exact);
    if (!exact) return RB_ERROR_MEMORY;
    exact->coder = coder;
    rb_error err = allocate(ctx, coder->parameters.loadings, block_samples, exact);
    return err ? err : set_problem(ctx, model, exact);
}

/* ---- a block ---- */

/* Codes of unit j. */
static void rectify(const rfn_exact *e, int64_t j, rb_dense row) {
    if (e->dead[j])
        rb_dense_zero(row);
    else
        rb_kernels_of(e->ctx)->of[row.type].step_row(row.cols, 0, row.data, row.data, row.data);
}

/* Q' of a task, and the rectified minimum, unless a device has better. */
static void bring(void *arg, int64_t task, int worker) {
    const rfn_exact *e = arg;
    int64_t n = e->out.rows;
    rb_dense rows = rfn_task_rows(e->out, task);
    rb_dense codes = rfn_task_columns(rb_dense_part(e->codes, 0, rows.cols, 0, n), task);
    rb_dense linear = rfn_task_columns(rb_dense_part(e->linear, 0, rows.cols, 0, n), task);
    rfn_project_across(e->ctx, e->block, rfn_task_first(n, task), e->weighted, e->coder->offset,
                       rows, linear);
    if (e->coder->device) return;
    rb_gemm(1, e->sigma, RB_PLAIN, linear, RB_PLAIN, 0, codes);
    for (int64_t j = 0; j < codes.rows; j++)
        rectify(e, j, rb_dense_rows(codes, j, 1));
}

/* How far a sample's codes may be from the minimum, when a sweep has changed them by `change` and
 * the one before by `before`: the sum of the changes to come, if they go on to shrink alike. */
static double still_to_go(double change, double before) {
    double ratio = fmax(change / before, MIN_RATIO);
    return ratio < 1 ? change * ratio / (1 - ratio) : INFINITY;
}

static void find_largest(rb_dense codes, rfn_column_state *columns) {
    for (int64_t i = 0; i < codes.cols; i++)
        columns[i].largest = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++) {
            double code = rb_get(codes.type, row, i);
            columns[i].largest = code > columns[i].largest ? code : columns[i].largest;
        }
    }
}

/* Has a sample converged, or does not get nearer for rounding? */
static void mark(const rfn_exact *e, rfn_column_state *column, double change, bool first) {
    double rounding = 16 * (e->codes.type == RB_FLOAT64 ? DBL_EPSILON : FLT_EPSILON);
    double rest = first ? INFINITY : still_to_go(change, column->before);
    column->done = rest <= e->coder->options.estep_tolerance * column->largest ||
                   change <= rounding * column->largest;
    column->before = change;
}

/* How many samples have not. */
static int64_t mark_done(rfn_exact *e, rb_dense codes, bool first) {
    int64_t left = 0;
    find_largest(codes, e->columns);
    for (int64_t i = 0; i < codes.cols; i++) {
        mark(e, &e->columns[i], rb_get(codes.type, e->work.changes, i), first);
        left += !e->columns[i].done;
    }
    return left;
}

/* One unit: gives back the codes of samples that are done, and closes the gaps they leave. */
static void give_back(void *arg, int64_t j, int worker) {
    const rfn_exact *e = arg;
    rb_type type = e->codes.type;
    void *row = rb_dense_row(e->codes, j), *linear = rb_dense_row(e->linear, j);
    for (int64_t i = 0, left = 0; i < e->active; i++) {
        if (e->columns[i].done) {
            rb_dense_set(e->out, e->columns[i].sample, j, rb_get(type, row, i));
        } else {
            rb_put(type, row, left, rb_get(type, row, i));
            rb_put(type, linear, left++, rb_get(type, linear, i));
        }
    }
}

/* Samples that have converged leave, when they are enough to be worth the copying. */
static void let_go(rfn_exact *e, int64_t left) {
    if (left > 0 && left > e->active - e->active / 8) return;
    rb_parallel(e->ctx, e->codes.rows, give_back, e);
    for (int64_t i = 0, at = 0; i < e->active; i++)
        if (!e->columns[i].done) e->columns[at++] = e->columns[i];
    e->active = left;
}

static void polish_sample(void *arg, int64_t i, int worker) {
    const rfn_exact *e = arg;
    rfn_polish *polish = &e->polish[worker];
    rfn_polish_sample(&e->problem, e->codes, i, polish);
    for (int64_t j = 0; j < e->out.cols; j++)
        rb_dense_set(e->out, e->columns[i].sample, j, polish->at.x[j]);
}

/* ---- few samples ---- */

/* The rows of some samples in the memory of Q', or of the codes. */
static rb_dense rows_in(rb_dense across, int64_t n) {
    return (rb_dense){across.data, n, across.rows, across.rows, across.type};
}

/* rest = q - H x */
static void find_rest(const rfn_exact *e, const void *q, const void *x, void *rest) {
    rb_dense h = e->problem.hessian;
    memcpy(rest, q, (size_t)h.rows * rb_type_size(h.type));
    for (int64_t j = 0; j < h.rows; j++) {
        double code = rb_get(h.type, x, j);
        if (code != 0) rb_axpy(e->ctx, h.type, h.rows, -code, rb_dense_row(h, j), rest);
    }
}

static void solve_one(void *arg, int64_t i, int worker) {
    const rfn_exact *e = arg;
    rb_dense h = e->problem.hessian;
    void *q = rb_dense_row(rows_in(e->linear, FEW), i), *x = rb_dense_row(e->out, i);
    void *rest = rb_dense_row(rows_in(e->codes, FEW), i);
    rfn_column_state *column = &e->columns[i];
    column->done = false;
    for (int64_t j = 0; j < h.rows; j++)
        rectify(e, j, (rb_dense){(char *)x + j * (int64_t)rb_type_size(h.type), 1, 1, 1, h.type});
    for (int sweep = 0; sweep < MAX_SWEEPS && !column->done; sweep++) {
        if (sweep % ANEW == 0) find_rest(e, q, x, rest);
        double change = rb_kernels_of(e->ctx)->of[h.type].descend_one(h.rows, h.data, e->dead, rest,
                                                                      x, &column->largest);
        mark(e, column, change, sweep == 0);
    }
    if (column->done) return;
    rfn_quadratic problem = e->problem;
    problem.linear = (rb_dense){q, h.rows, 1, 1, h.type};
    rfn_polish_sample(&problem, (rb_dense){x, h.rows, 1, 1, h.type}, 0, &e->polish[worker]);
    for (int64_t j = 0; j < h.rows; j++)
        rb_put(h.type, x, j, e->polish[worker].at.x[j]);
}

static void solve_few(rfn_exact *e) {
    rb_dense linear = rows_in(e->linear, e->out.rows);
    rb_block_project(e->ctx, e->block, 0, e->weighted, linear);
    rfn_add_offset(e->ctx, 1, e->coder->offset, linear);
    rb_gemm(1, linear, RB_PLAIN, e->sigma, RB_PLAIN, 0, e->out);
    rb_parallel(e->ctx, e->out.rows, solve_one, e);
}

/* ---- on a device ---- */

/* All samples are swept until each has been seen to converge; those for which that takes too long
 * are polished here. */
static rb_error solve_there(rfn_exact *e) {
    rfn_device *device = e->coder->device;
    int64_t left = e->active;
    rfn_device_take(device, e->block);
    rfn_device_linear(device, e->weighted, e->prior);
    rfn_device_first(device, e->sigma, false);
    for (int sweep = 0; left > 0 && sweep < MAX_SWEEPS && !rb_asked_to_stop(e->ctx); sweep++) {
        rfn_device_descend(device, &e->problem, e->largest, e->work.changes);
        if (rfn_device_end(device)) break;
        left = 0;
        for (int64_t i = 0; i < e->active; i++) {
            rfn_column_state *column = &e->columns[i];
            bool done = sweep > 0 && column->done;
            column->largest = (double)e->largest[i];
            mark(e, column, rb_get(e->codes.type, e->work.changes, i), sweep == 0);
            column->done = column->done || done;
            left += !column->done;
        }
    }
    rfn_device_codes(device, RB_DEVICE_FETCH, e->codes);
    if (left > 0) rb_parallel(e->ctx, rfn_tasks(e->out.rows).count, bring, e);
    e->problem.linear = e->linear;
    let_go(e, left);
    return rfn_device_end(device);
}

/* ---- any number ---- */

static void solve_here(rfn_exact *e) {
    rb_parallel(e->ctx, rfn_tasks(e->out.rows).count, bring, e);
    for (int sweep = 0; e->active > 0 && sweep < MAX_SWEEPS && !rb_asked_to_stop(e->ctx); sweep++) {
        rb_dense active = rb_dense_part(e->codes, 0, e->codes.rows, 0, e->active);
        e->problem.linear = rb_dense_part(e->linear, 0, e->linear.rows, 0, e->active);
        rfn_work_cut(&e->work, e->active);
        rfn_cyclic(e->ctx, &e->problem, active, 0, true, &e->work);
        let_go(e, mark_done(e, active, sweep == 0));
    }
}

rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *e, const rb_block *block, rb_dense codes) {
    e->ctx = ctx;
    e->block = block;
    e->out = codes;
    e->active = codes.rows;
    rfn_offset(ctx, block, e->weighted, e->prior, e->coder->offset);
    for (int64_t i = 0; i < codes.rows; i++)
        e->columns[i].sample = i;
    if (codes.rows <= FEW && !e->coder->device) {
        solve_few(e);
        return rb_check_stop(ctx);
    }
    if (!e->coder->device) solve_here(e);
    rb_error err = e->coder->device ? solve_there(e) : RB_OK;
    err = err ? err : rb_check_stop(ctx); /* which leaves a sweep undone */
    if (!err) rb_parallel(ctx, e->active, polish_sample, e);
    return err;
}
