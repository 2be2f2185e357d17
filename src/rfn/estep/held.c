/* E-steps that go on from the codes of the iteration before: these stay in memory, and so does Q,
 * 2 n l values together.
 *
 * Two passes over the samples: the first collects Q = V Psi^-1 W + xi; then the codes are improved;
 * the second adds up the moments. The first iteration has no codes yet and takes mu = P(mu_p).
 */
#include "rfn/objective.h"
#include "rfn/state.h"

#include <math.h>
#include <string.h>

/* Sweeps of the last E-step, at most; and how long the best of them may lie back. */
enum { MOST_SWEEPS = 2000, PATIENCE = 50 };

rb_error rfn_held_new(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    int64_t n = st->problem.n_samples, l = st->options.units;
    rb_type type = st->problem.type;
    held->problem.normalized = st->options.normalize == RB_RFN_NORMALIZE_RMS;
    rb_error err = rb_dense_new(ctx, type, l, l, &held->problem.hessian);
    if (!err) {
        err = rb_dense_new(ctx, type, l, n, &held->problem.linear);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, l, n, &held->codes);
    }
    if (!err && st->options.estep == RB_RFN_ESTEP_GRADIENT) {
        err = rb_dense_new(ctx, type, l, n, &held->next);
    }
    if (!err) {
        err = rfn_work_new(ctx, type, l, n, &held->work);
    }
    if (err) {
        return err;
    }
    held->dead = rb_alloc_zero(ctx, l, sizeof *held->dead);
    held->multipliers = rb_alloc_zero(ctx, l, sizeof *held->multipliers);
    held->problem.dead = held->dead;
    return held->dead && held->multipliers ? RB_OK : RB_ERROR_MEMORY;
}

void rfn_held_free(rfn_held *held) {
    rb_dense_free(&held->problem.hessian);
    rb_dense_free(&held->problem.linear);
    rb_dense_free(&held->codes);
    rb_dense_free(&held->next);
    rfn_work_free(&held->work);
    rb_free(held->dead);
    rb_free(held->multipliers);
}

rb_error rfn_held_begin(rb_context *ctx, rfn_state *st) {
    if (st->held.adds_moments) {
        rfn_clear_moments(st);
        return RB_OK;
    }
    rb_error err = rfn_posterior_compute(ctx, &st->parameters, st->work, &st->posterior);
    if (!err) {
        rfn_hessian(ctx, &st->parameters, st->work, st->held.problem.hessian);
        rb_dense_mirror(st->held.problem.hessian);
        rfn_weigh(ctx, &st->parameters, st->work);
        st->has_offset = false;
    }
    return err;
}

/* ---- passes ---- */

struct pass {
    rb_context *ctx;
    rfn_state *st;
    const rb_block *block;
};

/* The samples of a task: rows of the block's codes, and the same columns of a matrix over all
 * samples. */
static rb_dense rows_of(const struct pass *pass, int64_t task) {
    return rfn_task_rows(rb_dense_rows(pass->st->codes, 0, pass->block->n_samples), task);
}

static rb_dense columns_of(const struct pass *pass, rb_dense all, int64_t task) {
    int64_t first = rfn_task_first(pass->block->n_samples, task);
    return rb_dense_part(all, 0, all.rows, pass->block->first + first, rows_of(pass, task).rows);
}

static void collect(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct pass *pass = arg;
    rb_dense rows = rows_of(pass, task);
    rfn_project(pass->ctx, pass->block, rfn_task_first(pass->block->n_samples, task),
                pass->st->work, rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        rb_axpy(pass->ctx, rows.type, rows.cols, 1, pass->st->offset, rb_dense_row(rows, i));
    }
    rb_dense_transpose(rows, columns_of(pass, pass->st->held.problem.linear, task));
}

static void hand_over(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct pass *pass = arg;
    rfn_state *st = pass->st;
    int64_t l = st->options.units;
    rb_dense_transpose(columns_of(pass, st->held.codes, task), rows_of(pass, task));
    rb_rectify(pass->ctx, rows_of(pass, task), NULL, st->task_sum + task * l,
               st->task_largest + task * l);
}

rb_error rfn_held_block(rb_context *ctx, rfn_state *st, const rb_block *block) {
    struct pass pass = {ctx, st, block};
    int64_t tasks = rfn_tasks(block->n_samples).count;
    st->shift = block->shift;
    if (!st->held.adds_moments) {
        if (!st->has_offset) {
            rfn_linear_offset(ctx, block, &st->parameters, st->work, st->offset);
            st->has_offset = true;
        }
        rb_parallel(ctx, tasks, collect, &pass);
        return RB_OK;
    }
    rb_parallel(ctx, tasks, hand_over, &pass);
    rfn_sum_tasks(st, tasks);
    return rfn_add_moments(ctx, st, block);
}

/* ---- improving the codes ---- */

/* mu = P(mu_p), mu_p' = Sigma Q'. */
static void first_codes(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    int64_t l = st->options.units, n = st->problem.n_samples, count;
    for (int64_t first = 0; first < l; first += count) {
        count = l - first < RFN_UNITS_AT_ONCE ? l - first : RFN_UNITS_AT_ONCE;
        rb_dense means = rb_dense_rows(held->work.residual, 0, count);
        rb_gemm_parallel(ctx, 1, rb_dense_rows(st->posterior.sigma, first, count), RB_PLAIN,
                         held->problem.linear, RB_PLAIN, 0, means);
        for (int64_t j = 0; j < count; j++) {
            const void *row = rb_dense_row(means, j);
            rfn_feasible(ctx, held->problem.normalized, means.type, n, 0, row, row,
                         rb_dense_row(held->codes, first + j));
        }
    }
    held->filled = true;
}

static double step(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    double change = 0;
    if (st->options.estep == RB_RFN_ESTEP_GRADIENT) {
        rfn_gradient(ctx, &held->problem, held->e_max, &held->codes, &held->next, &held->work,
                     &change);
    } else {
        rfn_cyclic(ctx, &held->problem, held->codes, &held->work, &change);
    }
    return change;
}

/* Units without a positive code die: their codes become and stay 0. */
static void bury(rfn_state *st) {
    rfn_held *held = &st->held;
    rb_dense codes = held->codes;
    for (int64_t j = 0; j < codes.rows; j++) {
        if (held->problem.normalized && !held->work.alive[j] && !held->dead[j]) {
            held->dead[j] = true;
            rb_dense_zero(rb_dense_rows(codes, j, 1));
        }
    }
}

static double largest_code(const rfn_state *st) {
    rb_dense codes = st->held.codes;
    double most = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++) {
            most = fmax(most, rfn_get(codes.type, row, i));
        }
    }
    return most;
}

static void converge(rb_context *ctx, rfn_state *st) {
    double best = INFINITY, scale = largest_code(st);
    for (int64_t sweep = 0, at = 0; sweep < MOST_SWEEPS && sweep - at < PATIENCE; sweep++) {
        double change = step(ctx, st);
        bury(st);
        if (change < best) {
            best = change;
            at = sweep;
        }
        if (change <= st->options.estep_tolerance * scale) {
            break;
        }
    }
}

/* P + diag tau of the living units, the others apart from them. */
static rb_error certify(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    rb_dense p;
    rb_error err = rb_dense_new(ctx, held->codes.type, held->codes.rows, held->codes.rows, &p);
    if (err) {
        return err;
    }
    rb_dense_copy(held->problem.hessian, p);
    rfn_add_multipliers(p, held->multipliers, held->dead, held->e_max);
    err = rb_smallest_eigenvalue(ctx, p, &held->certificate);
    rb_dense_free(&p);
    return err;
}

static rb_error finish(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    converge(ctx, st);
    rfn_optimality(ctx, &held->problem, held->e_max, held->codes, &held->work, held->multipliers,
                   &held->residual);
    rb_error err = certify(ctx, st);
    double least = 1e-3;
    if (!err && held->certificate < least) {
        rb_log(
            ctx, RB_LOG_WARNING,
            "the codes of the fit may not be the best for its parameters, and codes of new samples "
            "differ a little from them: the smallest eigenvalue of P + diag tau is %.3g",
            held->certificate);
        for (int64_t j = 0; j < held->codes.rows; j++) {
            held->multipliers[j] += held->dead[j] ? 0 : least - held->certificate;
        }
    }
    return err;
}

static rb_error improve(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    bool first = !held->filled;
    rb_error err = RB_OK;
    if (st->options.estep == RB_RFN_ESTEP_GRADIENT || held->last) {
        err = rb_largest_eigenvalue(ctx, held->problem.hessian, &held->e_max);
    }
    if (!err && first) {
        first_codes(ctx, st);
    }
    if (!err && held->last) {
        err = finish(ctx, st);
    } else if (!err && !first) {
        step(ctx, st);
    }
    return err;
}

/* The part of O that no code changes: <mu_p, Q> / n = <Sigma, Q'Q> / n. */
static double constant_part(rb_context *ctx, rfn_state *st) {
    rb_dense q = st->held.problem.linear;
    rb_gemm_lower(ctx, 1, q, RB_PLAIN, q, RB_TRANSPOSED, 0, st->raw);
    return rfn_product_of_lower(ctx, st->posterior.sigma, st->raw) / (double)st->problem.n_samples;
}

rb_error rfn_held_end(rb_context *ctx, rfn_state *st, bool *again) {
    *again = !st->held.adds_moments;
    st->held.adds_moments = *again;
    if (*again) {
        return improve(ctx, st);
    }
    rb_error err = rfn_normalize(ctx, st);
    if (!err && st->problem.fit->trace) {
        rfn_trace_estep(ctx, st, st->held.problem.hessian, constant_part(ctx, st));
    }
    return err;
}
