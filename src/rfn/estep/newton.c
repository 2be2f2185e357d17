/* The E-step by one projected Newton step: mu = P(mu_p).
 *
 * The unconstrained minimum mu_p of the E-step objective is rectified and normalised (Clevert et
 * al. 2015, Alg. S3 with the first step taken; eq. 3 and Theorem 1). It gives the sparse codes of
 * the paper's tables, but need not lower the objective.
 *
 * One pass: codes of a block are rectified but not yet scaled, their moments added up; the scale of
 * a unit is known at the end and then applied to rows and columns of the sums. Cost: 4 n m l + n
 * l^2.
 */
#include "rfn/objective.h"
#include "rfn/state.h"

rb_error rfn_newton_begin(rb_context *ctx, rfn_state *st) {
    rb_error err = rfn_posterior_compute(ctx, &st->parameters, st->work, &st->posterior);
    if (err) {
        return err;
    }
    rfn_clear_moments(ctx, st);
    if (st->problem.fit->trace) {
        rb_dense_zero(st->raw);
    }
    st->has_offset = false;
    rfn_randomness_begin(st);
    return RB_OK;
}

struct pass {
    rb_context *ctx;
    rfn_state *st;
    const rb_block *block;
    rb_block seen; /* the block, or with noise */
    bool adds_noise;
};

static rb_dense task_codes(const struct pass *pass, int64_t task) {
    return rfn_task_rows(rb_dense_rows(pass->st->codes, 0, pass->block->n_samples), task);
}

static void project(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const rfn_posterior *posterior = &pass->st->posterior;
    rb_dense codes = task_codes(pass, task);
    int64_t n = pass->block->n_samples, first = rfn_task_first(n, task);
    if (pass->adds_noise) {
        rfn_noise_rows(pass->ctx, pass->st, pass->block, first, codes.rows, worker);
    }
    if (posterior->factored) {
        rb_dense linear = rfn_task_rows(rb_dense_rows(pass->st->linear, 0, n), task);
        rfn_project(pass->ctx, &pass->seen, first, posterior->filter, linear);
        rb_gemm(1, linear, RB_PLAIN, posterior->sigma, RB_PLAIN, 0, codes);
    } else {
        rfn_project(pass->ctx, &pass->seen, first, posterior->filter, codes);
    }
}

static void activate(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    rfn_state *st = pass->st;
    int64_t l = st->options.units, first = rfn_task_first(pass->block->n_samples, task);
    rb_dense codes = task_codes(pass, task);
    rfn_activate(pass->ctx, &st->activation, codes, st->offset, st->task_sum + task * l,
                 st->task_largest + task * l);
    if (rfn_drops(st)) {
        rfn_drop(pass->ctx, st, codes, pass->block->first + first, task, worker);
    }
}

static void project_and_activate(void *arg, int64_t task, int worker) {
    project(arg, task, worker);
    activate(arg, task, worker);
}

/* mu_p'mu_p of the block, for the E-step objective; codes hold V B and are left as mu_p - offset.
 */
static void add_raw(struct pass *pass) {
    rfn_state *st = pass->st;
    rb_dense codes = rb_dense_rows(st->codes, 0, pass->block->n_samples);
    for (int64_t i = 0; i < codes.rows; i++) {
        rb_axpy(pass->ctx, codes.type, codes.cols, 1, st->offset, rb_dense_row(codes, i));
    }
    rb_gemm_lower(pass->ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, st->raw);
    for (int64_t i = 0; i < codes.rows; i++) {
        rb_axpy(pass->ctx, codes.type, codes.cols, -1, st->offset, rb_dense_row(codes, i));
    }
}

/* What is added to the product with the filter: bias - B' shift = Sigma (xi - W' Psi^-1 shift). */
static void set_offset(rb_context *ctx, rfn_state *st, const rb_block *block) {
    const rfn_posterior *posterior = &st->posterior;
    if (posterior->factored) {
        int64_t l = st->options.units;
        rb_dense offset = {st->offset, 1, l, l, st->problem.type};
        rb_dense linear = rb_dense_rows(st->linear, 0, 1);
        rfn_linear_offset(ctx, block, &st->parameters, posterior->filter, linear.data);
        rb_gemm(1, linear, RB_PLAIN, posterior->sigma, RB_PLAIN, 0, offset);
    } else {
        rfn_offset(ctx, block, posterior->filter, posterior->bias, st->offset);
    }
    st->has_offset = true;
}

rb_error rfn_newton_block(rb_context *ctx, rfn_state *st, const rb_block *block) {
    int64_t tasks = rfn_tasks(block->n_samples).count;
    struct pass pass = {ctx, st, block, *block, false};
    rb_error err = RB_OK;
    st->shift = block->shift;
    if (!st->has_offset) {
        set_offset(ctx, st, block);
    }
    if (st->problem.fit->trace) {
        rb_parallel(ctx, tasks, project, &pass);
        add_raw(&pass);
    }
    if (rfn_has_noise(st)) {
        err = rfn_noise_block(ctx, st, block, &pass.seen);
        pass.adds_noise = true;
    }
    if (err) {
        return err;
    }
    bool projected = st->problem.fit->trace && !pass.adds_noise;
    rb_parallel(ctx, tasks, projected ? activate : project_and_activate, &pass);
    rfn_sum_tasks(st, tasks);
    err = rfn_note_dying(ctx, st, block, &pass.seen);
    return err ? err : rfn_add_moments(ctx, st, block);
}

rb_error rfn_newton_end(rb_context *ctx, rfn_state *st) {
    rb_error err = rfn_normalize(ctx, st);
    if (!err && st->problem.fit->trace) {
        rfn_hessian(ctx, &st->parameters, st->work, st->hessian);
        rfn_trace_estep(ctx, st, st->hessian,
                        rfn_product_of_lower(ctx, st->hessian, st->raw) /
                            (double)st->problem.n_samples);
    }
    return err;
}
