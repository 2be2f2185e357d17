/* Exact codes of new samples, by multipliers.
 *
 * With the multipliers tau of the training data the codes of a sample minimise
 *     1/2 mu' (P + diag tau) mu - Q mu   over mu >= 0,   Q = v' Psi^-1 W + xi'
 * whatever the other samples are (estep/optimality.c says why). P + diag tau is positive definite,
 * so that the minimum is one. Sweeps over the units, from the minimum without bounds, rectified,
 * until what is left to go is less than the tolerance; for samples that need too many of them, the
 * linear system in the units that are positive (polish.c).
 */
#include "exact.h"

#include "rfn.h"
#include "tasks.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* After so many an active set method is cheaper. */
enum { MAX_SWEEPS = 200 };
/* Changes of the codes shrink by more than this from one sweep to the next only by chance. */
static const double MIN_RATIO = 1.0 / 3;

static const rb_field fields[] = {
    {"hessian", offsetof(rfn_exact, problem.hessian), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS,
     RFN_UNITS},
    {"weighted", offsetof(rfn_exact, weighted), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES,
     RFN_UNITS},
    {"codes", offsetof(rfn_exact, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_BLOCK},
    {"linear", offsetof(rfn_exact, linear), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_BLOCK},
    {"offset", offsetof(rfn_exact, offset), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"dead", offsetof(rfn_exact, dead), RB_FIELD_POINTER, RB_KEPT_FLAG, RFN_UNITS},
    {"samples", offsetof(rfn_exact, samples), RB_FIELD_POINTER, RB_KEPT_INTEGER, RFN_BLOCK},
    {"largest", offsetof(rfn_exact, largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_BLOCK},
    {"before", offsetof(rfn_exact, before), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_BLOCK},
    {"done", offsetof(rfn_exact, done), RB_FIELD_POINTER, RB_KEPT_FLAG, RFN_BLOCK},
    {0},
};
static const rb_part parts[] = {{RB_PART_SCRATCH, fields, 0}, {0}};

void rfn_exact_free(rfn_exact *exact) {
    if (exact) {
        rb_parts_free(parts, exact);
        rfn_work_free(&exact->work);
        for (int w = 0; exact->polish && w < exact->workers; w++) {
            rfn_polish_free(&exact->polish[w]);
        }
        rb_free(exact->polish);
        rb_free(exact);
    }
}

static rb_error allocate(rb_context *ctx, rb_dense w, int64_t samples, rfn_exact *exact) {
    rb_shape shape = rfn_plain_shape(w.type, w.rows, w.cols);
    shape.dims[RFN_BLOCK] = samples;
    rb_error err = rb_parts_new(ctx, parts, &shape, exact);
    exact->problem.dead = exact->dead;
    return err ? err : rfn_work_new(ctx, w.type, w.cols, samples, &exact->work);
}

static rb_error allocate_polish(rb_context *ctx, int64_t l, rfn_exact *exact) {
    rb_error err = RB_OK;
    exact->workers = rb_context_threads(ctx);
    exact->polish = rb_alloc_zero(ctx, exact->workers, sizeof *exact->polish);
    for (int w = 0; !err && exact->polish && w < exact->workers; w++) {
        err = rfn_polish_new(ctx, l, &exact->polish[w]);
    }
    return exact->polish ? err : RB_ERROR_MEMORY;
}

static rb_error read_tolerance(rb_context *ctx, const rb_model *model, double *tolerance) {
    rb_rfn_options options;
    rb_rows_default(rfn_option_rows, &options);
    const char *text = rb_model_attribute(model, "estep-tolerance");
    rb_error err = RB_OK;
    if (text && rb_rows_set(ctx, rfn_option_rows, &options, "estep-tolerance", text)) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "the estep-tolerance that the model names is none; the model is damaged");
    }
    *tolerance = options.estep_tolerance;
    return err;
}

/* The Hessian with the multipliers, and the posterior that belongs to it. */
static rb_error set_problem(rb_context *ctx, const rb_model *model,
                            const rfn_parameters *parameters, rfn_posterior *start,
                            rfn_exact *exact) {
    const double *multipliers, *dead;
    int64_t l = parameters->loadings.cols;
    rb_error err = rb_model_need_array(ctx, model, "multipliers", l, 1, &multipliers);
    err = err ? err : rb_model_need_array(ctx, model, "dead", l, 1, &dead);
    if (err) {
        return err;
    }
    for (int64_t j = 0; j < l; j++) {
        exact->dead[j] = dead[j] != 0;
    }
    exact->parameters = parameters;
    rb_dense p = exact->problem.hessian;
    rfn_hessian(ctx, parameters, exact->weighted, p);
    rb_dense_mirror(p);
    rfn_add_multipliers(p, multipliers, exact->dead, 1);
    rfn_weigh(ctx, parameters, exact->weighted);
    rb_spd *factor;
    err = rb_spd_new(ctx, p.type, l, &factor);
    err = err ? err : rb_spd_factor(ctx, factor, p);
    if (err) {
        rb_fail_prefix(ctx, "the matrix P + diag tau of the model: ");
    } else {
        rb_spd_inverse(ctx, factor, start->sigma);
        rb_gemm_parallel(ctx, 1, exact->weighted, RB_PLAIN, start->sigma, RB_PLAIN, 0,
                         start->filter);
        rfn_set_bias(parameters, start);
    }
    rb_spd_free(factor);
    return err;
}

rb_error rfn_exact_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       const rfn_parameters *parameters, rfn_posterior *start, rfn_exact **out) {
    *out = NULL;
    if (!rb_model_array(model, "multipliers", NULL, NULL)) {
        return RB_OK;
    }
    rb_dense w = parameters->loadings;
    rfn_exact *exact = rb_alloc_zero(ctx, 1, sizeof *exact);
    if (!exact) {
        return RB_ERROR_MEMORY;
    }
    rb_error err = allocate(ctx, w, block_samples, exact);
    err = err ? err : rfn_posterior_new(ctx, w.type, w.rows, w.cols, start);
    err = err ? err : read_tolerance(ctx, model, &exact->tolerance);
    err = err ? err : allocate_polish(ctx, w.cols, exact);
    err = err ? err : set_problem(ctx, model, parameters, start, exact);
    if (err) {
        rfn_exact_free(exact);
        return err;
    }
    *out = exact;
    return RB_OK;
}

/* ---- a block ---- */

struct turn {
    rb_context *ctx;
    rfn_exact *exact;
    const rb_block *block;
    rb_dense codes;
    int64_t active; /* samples that have not left: the first columns */
};

static rb_dense rows_of(const struct turn *turn, int64_t task) {
    return rfn_task_rows(turn->codes, task);
}

static rb_dense columns_of(const struct turn *turn, rb_dense all, int64_t task) {
    return rb_dense_part(all, 0, all.rows, rfn_task_first(turn->codes.rows, task),
                         rows_of(turn, task).rows);
}

static void bring(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct turn *turn = arg;
    rb_dense rows = rows_of(turn, task);
    rb_dense_transpose(rows, columns_of(turn, turn->exact->codes, task));
    rfn_project(turn->ctx, turn->block, rfn_task_first(turn->codes.rows, task),
                turn->exact->weighted, rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_axpy(turn->ctx, rows.type, rows.cols, 1, turn->exact->offset, rb_dense_row(rows, i));
    }
    rb_dense_transpose(rows, columns_of(turn, turn->exact->linear, task));
}

/* How far a sample's codes may be from the minimum, when a sweep has changed them by `change` and
 * the one before by `before`: the sum of the changes to come, if they go on to shrink alike. */
static double still_to_go(double change, double before) {
    double ratio = fmax(change / before, MIN_RATIO);
    return ratio < 1 ? change * ratio / (1 - ratio) : INFINITY;
}

static void find_largest(rb_dense codes, double *largest) {
    memset(largest, 0, (size_t)codes.cols * sizeof *largest);
    for (int64_t j = 0; j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++) {
            double code = rb_get(codes.type, row, i);
            largest[i] = code > largest[i] ? code : largest[i];
        }
    }
}

/* Which samples have converged, or do not get nearer for rounding; how many have not. */
static int64_t mark_done(rfn_exact *exact, rb_dense codes, bool first) {
    double rounding = 16 * (codes.type == RB_FLOAT64 ? DBL_EPSILON : FLT_EPSILON);
    int64_t left = 0;
    find_largest(codes, exact->largest);
    for (int64_t i = 0; i < codes.cols; i++) {
        double change = rb_get(codes.type, exact->work.changes, i), largest = exact->largest[i];
        double rest = first ? INFINITY : still_to_go(change, exact->before[i]);
        exact->done[i] = rest <= exact->tolerance * largest || change <= rounding * largest;
        exact->before[i] = change;
        left += !exact->done[i];
    }
    return left;
}

/* One unit: gives back the codes of samples that are done, and closes the gaps they leave. */
static void give_back(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct turn *turn = arg;
    const rfn_exact *exact = turn->exact;
    rb_type type = turn->codes.type;
    void *row = rb_dense_row(exact->codes, j), *linear = rb_dense_row(exact->linear, j);
    for (int64_t i = 0, left = 0; i < turn->active; i++) {
        if (exact->done[i]) {
            rb_dense_set(turn->codes, exact->samples[i], j, rb_get(type, row, i));
        } else {
            rb_put(type, row, left, rb_get(type, row, i));
            rb_put(type, linear, left++, rb_get(type, linear, i));
        }
    }
}

/* Samples that have converged leave, when they are enough to be worth the copying. */
static void let_go(struct turn *turn, int64_t left) {
    rfn_exact *exact = turn->exact;
    if (left > 0 && left > turn->active - turn->active / 8) {
        return;
    }
    rb_parallel(turn->ctx, exact->codes.rows, give_back, turn);
    for (int64_t i = 0, at = 0; i < turn->active; i++) {
        if (!exact->done[i]) {
            exact->before[at] = exact->before[i];
            exact->samples[at++] = exact->samples[i];
        }
    }
    turn->active = left;
}

static void polish_sample(void *arg, int64_t i, int worker) {
    const struct turn *turn = arg;
    rfn_polish *polish = &turn->exact->polish[worker];
    rfn_polish_sample(turn->ctx, &turn->exact->problem, turn->exact->codes, i, polish);
    for (int64_t j = 0; j < turn->codes.cols; j++) {
        rb_dense_set(turn->codes, turn->exact->samples[i], j, polish->x[j]);
    }
}

rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *exact, const rb_block *block, rb_dense codes) {
    struct turn turn = {ctx, exact, block, codes, codes.rows};
    rfn_linear_offset(ctx, block, exact->parameters, exact->weighted, exact->offset);
    rb_parallel(ctx, rfn_tasks(codes.rows).count, bring, &turn);
    for (int64_t i = 0; i < codes.rows; i++) {
        exact->samples[i] = i;
    }
    for (int sweep = 0; turn.active > 0 && sweep < MAX_SWEEPS && !rb_asked_to_stop(ctx); sweep++) {
        rb_dense active = exact->codes;
        double change;
        active.cols = turn.active;
        exact->problem.linear = exact->linear;
        exact->problem.linear.cols = turn.active;
        rfn_cyclic(ctx, &exact->problem, active, &exact->work, &change);
        let_go(&turn, mark_done(exact, active, sweep == 0));
    }
    rb_error err = rb_check_stop(ctx); /* which leaves a sweep undone */
    if (!err) {
        rb_parallel(ctx, turn.active, polish_sample, &turn);
    }
    return err;
}
