/* E-steps that go on from the codes of the iteration before: these stay in memory, and so does Q,
 * 2 n l values together; gradient has another n l, and E-steps that try candidates 3 more, 4 the
 * cascade.
 *
 * Two passes over the samples: the first collects Q = V Psi^-1 W + xi; then the codes are improved;
 * the second adds up the moments. The first iteration has no codes yet and takes mu = P(mu_p).
 */
#include "rfn/objective.h"
#include "rfn/state.h"

int64_t rfn_held_matrices(rb_rfn_estep estep) {
    switch (estep) {
    case RB_RFN_ESTEP_NEWTON:
        return 0;
    case RB_RFN_ESTEP_CYCLIC:
        return 2;
    case RB_RFN_ESTEP_GRADIENT:
        return 3;
    case RB_RFN_ESTEP_CASCADE:
        return 6;
    default:
        return 5;
    }
}

/* The first ones of these matrices are what the E-step has; Q is one more. */
static rb_error search_new(rb_context *ctx, rfn_state *st) {
    rfn_search *search = &st->held.search;
    int64_t n = st->problem.n_samples, l = st->options.units;
    rb_rfn_estep estep = (rb_rfn_estep)st->options.estep;
    rb_dense *const matrices[] = {&search->codes, &search->next, &search->gradient,
                                  &search->direction, &search->gradient_step};
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < rfn_held_matrices(estep) - 1; i++) {
        err = rb_dense_new(ctx, st->problem.type, l, n, matrices[i]);
    }
    if (!err && (estep == RB_RFN_ESTEP_REDUCED || estep == RB_RFN_ESTEP_CASCADE)) {
        err = rfn_reduced_new(ctx, l, n, &search->reduced);
    }
    search->problem = &st->held.problem;
    search->work = &st->held.work;
    return err;
}

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
        err = search_new(ctx, st);
    }
    if (!err) {
        err = rfn_work_new(ctx, type, l, n, &held->work);
    }
    if (err) {
        return err;
    }
    held->dead = rb_alloc_zero(ctx, l, sizeof *held->dead);
    held->explains = rb_alloc_zero(ctx, l, sizeof *held->explains);
    held->multipliers = rb_alloc_zero(ctx, l, sizeof *held->multipliers);
    held->problem.dead = held->dead;
    return held->dead && held->explains && held->multipliers ? RB_OK : RB_ERROR_MEMORY;
}

void rfn_held_free(rfn_held *held) {
    rb_dense_free(&held->problem.hessian);
    rb_dense_free(&held->problem.linear);
    rb_dense_free(&held->search.codes);
    rb_dense_free(&held->search.next);
    rb_dense_free(&held->search.gradient);
    rb_dense_free(&held->search.direction);
    rb_dense_free(&held->search.gradient_step);
    rfn_reduced_free(held->search.reduced);
    rfn_work_free(&held->work);
    rb_free(held->dead);
    rb_free(held->explains);
    rb_free(held->multipliers);
}

rb_error rfn_held_begin(rb_context *ctx, rfn_state *st) {
    if (st->held.adds_moments) {
        rfn_clear_moments(ctx, st);
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
    rb_dense_transpose(columns_of(pass, st->held.search.codes, task), rows_of(pass, task));
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

/* ---- the end of a pass ---- */

/* The part of O that no code changes: <mu_p, Q> / n = <Sigma, Q'Q> / n. */
static double constant_part(rb_context *ctx, rfn_state *st) {
    rb_dense q = st->held.problem.linear;
    rb_gemm_lower(ctx, 1, q, RB_PLAIN, q, RB_TRANSPOSED, 0, st->raw);
    return rfn_product_of_lower(ctx, st->posterior.sigma, st->raw) / (double)st->problem.n_samples;
}

/* The multipliers of the codes at hand, from their moments: with U = V'mu / n, S = mu'mu / n +
 * Sigma and Q = V Psi^-1 W + M^-1 xi
 *     tau_j = mean_i mu_ij (Q - mu P)_ij = (W' Psi^-1 U)_jj + (M^-1 xi)_j mean_j - (P S)_jj + 1
 * since P Sigma is the identity. work still holds Psi^-1 W. */
enum { MULTIPLIERS_AT_ONCE = 64 };

static void multipliers_of(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct pass *pass = arg;
    const rfn_state *st = pass->st;
    rb_dense weighted = st->work, u = st->u, s = st->s, p = st->held.problem.hessian;
    int64_t first = task * MULTIPLIERS_AT_ONCE, last = first + MULTIPLIERS_AT_ONCE;
    double *tau = st->held.multipliers;
    last = last < s.rows ? last : s.rows;
    for (int64_t j = first; j < last; j++) {
        tau[j] = 1 + st->parameters.prior.linear[j] * st->mean[j] -
                 rb_dot(pass->ctx, s.type, s.cols, rb_dense_row(p, j), rb_dense_row(s, j));
    }
    for (int64_t k = 0; k < u.rows; k++) {
        const void *x = rb_dense_row(weighted, k), *y = rb_dense_row(u, k);
        for (int64_t j = first; j < last; j++) {
            tau[j] += rfn_get(u.type, x, j) * rfn_get(u.type, y, j);
        }
    }
}

/* Without normalisation there are none: they stay 0. */
static void find_multipliers(rb_context *ctx, rfn_state *st) {
    if (st->held.problem.normalized) {
        struct pass pass = {ctx, st, NULL};
        int64_t l = st->options.units;
        rb_parallel(ctx, (l + MULTIPLIERS_AT_ONCE - 1) / MULTIPLIERS_AT_ONCE, multipliers_of,
                    &pass);
    }
}

rb_error rfn_held_end(rb_context *ctx, rfn_state *st, bool *again) {
    *again = !st->held.adds_moments;
    st->held.adds_moments = *again;
    if (*again) {
        return rfn_held_improve(ctx, st);
    }
    rb_error err = rfn_normalize(ctx, st);
    st->held.converged = !err && st->held.last;
    if (!err && !st->held.last) {
        find_multipliers(ctx, st);
    }
    if (!err && st->problem.fit->trace) {
        rfn_trace_estep(ctx, st, st->held.problem.hessian, constant_part(ctx, st));
    }
    return err;
}
