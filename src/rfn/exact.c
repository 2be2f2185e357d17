/* Exact codes of new samples, by multipliers.
 *
 * With the multipliers tau of the training data the codes of a sample minimise
 *     1/2 mu' (P + diag tau) mu - Q mu   over mu >= 0,   Q = v' Psi^-1 W + xi'
 * whatever the other samples are (estep/optimality.c says why). P + diag tau is positive definite,
 * so that the minimum is one. Sweeps over the units, from the minimum without bounds, rectified.
 */
#include "exact.h"

#include "rfn.h"
#include "state.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 5000, PATIENCE = 100 };

void rfn_exact_free(rfn_exact *exact) {
    if (exact) {
        rb_dense_free(&exact->problem.hessian);
        rb_dense_free(&exact->weighted);
        rb_dense_free(&exact->codes);
        rb_dense_free(&exact->linear);
        rfn_work_free(&exact->work);
        rb_free(exact->prior_mean);
        rb_free(exact->offset);
        rb_free(exact->dead);
        rb_free(exact);
    }
}

static rb_error allocate(rb_context *ctx, rb_type type, int64_t m, int64_t l, int64_t samples,
                         rfn_exact *exact) {
    rb_error err = rb_dense_new(ctx, type, l, l, &exact->problem.hessian);
    if (!err) {
        err = rb_dense_new(ctx, type, m, l, &exact->weighted);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, l, samples, &exact->codes);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, l, samples, &exact->linear);
    }
    if (!err) {
        err = rfn_work_new(ctx, type, l, samples, &exact->work);
    }
    if (err) {
        return err;
    }
    exact->prior_mean = rb_alloc(ctx, l, rb_type_size(type));
    exact->offset = rb_alloc(ctx, l, rb_type_size(type));
    exact->dead = rb_alloc_zero(ctx, l, sizeof *exact->dead);
    exact->problem.dead = exact->dead;
    return exact->prior_mean && exact->offset && exact->dead ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error read_tolerance(rb_context *ctx, const rb_model *model, double *tolerance) {
    rb_rfn_options options;
    rb_rfn_options_default(&options);
    const char *text = rb_model_attribute(model, "estep-tolerance");
    rb_error err = RB_OK;
    if (text) {
        err = rb_options_set(ctx, rfn_option_rows, &options, "estep-tolerance", text);
    }
    *tolerance = options.estep_tolerance;
    return err;
}

/* The Hessian with the multipliers, and the posterior that belongs to it. */
static rb_error set_problem(rb_context *ctx, const rb_model *model,
                            const rfn_parameters *parameters, rfn_posterior *start,
                            rfn_exact *exact) {
    const double *multipliers, *dead;
    int64_t l = exact->codes.rows;
    rb_error err = rb_model_need_array(ctx, model, "multipliers", l, 1, &multipliers);
    if (!err) {
        err = rb_model_need_array(ctx, model, "dead", l, 1, &dead);
    }
    if (err) {
        return err;
    }
    for (int64_t j = 0; j < l; j++) {
        exact->dead[j] = dead[j] != 0;
        rfn_put(exact->codes.type, exact->prior_mean, j, parameters->prior_mean[j]);
    }
    rb_dense p = exact->problem.hessian;
    rfn_hessian(ctx, parameters, exact->weighted, p);
    rb_dense_mirror(p);
    rfn_add_multipliers(p, multipliers, exact->dead, 1);
    rfn_weigh(ctx, parameters, exact->weighted);
    rb_spd *factor;
    err = rb_spd_new(ctx, p.type, l, &factor);
    if (!err) {
        err = rb_spd_factor(ctx, factor, p);
    }
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
    rb_error err = allocate(ctx, w.type, w.rows, w.cols, block_samples, exact);
    if (!err) {
        err = rfn_posterior_new(ctx, w.type, w.rows, w.cols, start);
    }
    if (!err) {
        err = read_tolerance(ctx, model, &exact->tolerance);
    }
    if (!err) {
        err = set_problem(ctx, model, parameters, start, exact);
    }
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
};

static rb_dense rows_of(const struct turn *turn, int64_t task) {
    int64_t first = task * RFN_TASK_SAMPLES, left = turn->codes.rows - first;
    return rb_dense_rows(turn->codes, first, left < RFN_TASK_SAMPLES ? left : RFN_TASK_SAMPLES);
}

static rb_dense columns_of(const struct turn *turn, rb_dense all, int64_t task) {
    return rb_dense_part(all, 0, all.rows, task * RFN_TASK_SAMPLES, rows_of(turn, task).rows);
}

static void bring(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct turn *turn = arg;
    rb_dense rows = rows_of(turn, task);
    rb_dense_transpose(rows, columns_of(turn, turn->exact->codes, task));
    rfn_project(turn->ctx, turn->block, task * RFN_TASK_SAMPLES, turn->exact->weighted, rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_axpy(turn->ctx, rows.type, rows.cols, 1, turn->exact->offset, rb_dense_row(rows, i));
    }
    rb_dense_transpose(rows, columns_of(turn, turn->exact->linear, task));
}

static void take(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct turn *turn = arg;
    rb_dense_transpose(columns_of(turn, turn->exact->codes, task), rows_of(turn, task));
}

static double largest_of(rb_dense codes) {
    double most = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++) {
            most = fmax(most, rfn_get(codes.type, row, i));
        }
    }
    return most;
}

void rfn_exact_solve(rb_context *ctx, rfn_exact *exact, const rb_block *block, rb_dense codes) {
    int64_t tasks = (codes.rows + RFN_TASK_SAMPLES - 1) / RFN_TASK_SAMPLES;
    struct turn turn = {ctx, exact, block, codes};
    rfn_offset(ctx, block, exact->weighted, exact->prior_mean, exact->offset);
    rb_parallel(ctx, tasks, bring, &turn);
    rb_dense own = exact->codes;
    own.cols = codes.rows;
    exact->problem.linear = exact->linear;
    exact->problem.linear.cols = codes.rows;
    double best = INFINITY;
    for (int sweep = 0, at = 0; sweep < MOST_SWEEPS && sweep - at < PATIENCE; sweep++) {
        double change;
        rfn_cyclic(ctx, &exact->problem, own, &exact->work, &change);
        if (change < best) {
            best = change;
            at = sweep;
        }
        if (change <= exact->tolerance * largest_of(own)) {
            break;
        }
    }
    rb_parallel(ctx, tasks, take, &turn);
}
