/* Exact codes of new samples, by multipliers.
 *
 * With the multipliers tau of the training data the codes of a sample minimise
 *     1/2 mu' (P + diag tau) mu - Q mu   over mu >= 0,   Q = v' Psi^-1 W + xi'
 * whatever the other samples are (estep/gradient.c says why). P + diag tau is positive definite,
 * so that the minimum is one. It is looked for from the minimum without bounds, rectified.
 */
#include "coder.h"
#include "device.h"

/* On a device; after so many an active set method is cheaper. */
enum { MAX_SWEEPS = 200 };

void rfn_exact_free(rfn_exact *exact) {
    if (exact) {
        rb_scratch_end(&exact->scratch);
        rb_free(exact);
    }
}

static rb_error allocate(rb_context *ctx, rb_dense w, int64_t samples, rfn_exact *exact) {
    rb_scratch *scratch = &exact->scratch;
    scratch->ctx = ctx;
    rb_nnls_new(scratch, w.type, w.cols, true, &exact->by);
    rb_dense_take(scratch, w.type, w.cols, w.cols, &exact->sigma);
    exact->prior = rb_take(scratch, w.cols, rb_type_size(w.type));
    rb_dense_take(scratch, w.type, w.rows, ctx->device ? w.cols : rb_spaced(w.type, w.cols),
                  &exact->weighted);
    exact->weighted = rb_dense_spare(exact->weighted, w.cols);
    rb_dense_take(scratch, w.type, samples, w.cols, &exact->linear);
    exact->dead = rb_take(scratch, w.cols, sizeof *exact->dead);
    if (!ctx->device) return scratch->err;
    rb_dense_take(scratch, w.type, w.cols, samples, &exact->codes);
    exact->left = rb_take(scratch, samples, sizeof *exact->left);
    exact->courses = rb_take(scratch, samples, sizeof *exact->courses);
    exact->changes = rb_take(scratch, samples, rb_type_size(w.type));
    exact->largest = rb_take(scratch, samples, sizeof *exact->largest);
    return scratch->err;
}

/* The Hessian with the multipliers, and its inverse. */
static rb_error set_problem(rb_context *ctx, const rb_model *model, rfn_exact *exact) {
    const rfn_parameters *parameters = &exact->coder->parameters;
    const double *multipliers, *dead;
    rb_dense p = exact->by.gram;
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
    for (int64_t j = 0; j < p.rows; j++) {
        if (!exact->dead[j]) continue; /* their Q is 0 */
        rb_put(p.type, exact->prior, j, 0);
        for (int64_t k = 0; k < exact->weighted.rows; k++)
            rb_dense_set(exact->weighted, k, j, 0);
    }
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

/* Q of a task, samples x l. */
static rb_dense collect(const rfn_exact *e, int64_t task) {
    int64_t n = e->out.rows;
    rb_dense q = rfn_task_rows(rb_dense_rows(e->linear, 0, n), task);
    rb_block_project(e->ctx, e->block, rfn_task_first(n, task), e->weighted, q);
    rfn_add_offset(e->ctx, 1, e->coder->offset, q);
    return q;
}

static void solve_task(void *arg, int64_t task, int worker) {
    const rfn_exact *e = arg;
    rb_dense codes = rfn_task_rows(e->out, task), q = collect(e, task);
    rb_gemm(1, q, RB_PLAIN, e->sigma, RB_PLAIN, 0, codes);
    for (int64_t i = 0; i < codes.rows; i++) {
        void *row = rb_dense_row(codes, i);
        rb_kernels_of(e->ctx)->of[codes.type].step_row(codes.cols, 0, row, row, row);
    }
    rb_nnls_solve(&e->by, e->coder->options.estep_tolerance,
                  &(rb_nnls_samples){.linear = q, .codes = codes, .count = codes.rows}, worker);
}

/* ---- on a device ---- */

static void collect_task(void *arg, int64_t task, int worker) {
    (void)worker;
    collect(arg, task);
}

static void solve_left(void *arg, int64_t i, int worker) {
    const rfn_exact *e = arg;
    rb_nnls_samples sample = {
        .linear = e->linear, .codes = e->out, .which = &e->left[i], .count = 1};
    rb_nnls_solve(&e->by, e->coder->options.estep_tolerance, &sample, worker);
}

/* All samples are swept until each has been seen to converge; those for which that takes too long
 * are solved here. */
static rb_error solve_there(rfn_exact *e) {
    rfn_device *device = e->coder->device;
    rfn_quadratic problem = {.hessian = e->by.gram, .dead = e->dead};
    int64_t left = e->out.rows;
    rfn_device_take(device, e->block);
    rfn_device_linear(device, e->weighted, e->prior);
    rfn_device_first(device, e->sigma, false);
    for (int64_t i = 0; i < left; i++) {
        e->left[i] = i;
        e->courses[i] = (rb_course){0};
    }
    for (int sweep = 0; left > 0 && sweep < MAX_SWEEPS && !rb_asked_to_stop(e->ctx); sweep++) {
        int64_t of = left;
        rfn_device_descend(device, &problem, e->largest, e->changes);
        if (rfn_device_end(device)) break;
        left = 0;
        for (int64_t k = 0; k < of; k++) {
            int64_t i = e->left[k];
            double change = rb_get(e->linear.type, e->changes, i);
            if (!rb_at_rest(e->out.type, e->out.cols, e->coder->options.estep_tolerance,
                            &e->courses[i], change, (double)e->largest[i]))
                e->left[left++] = i;
        }
    }
    rb_dense codes = rb_dense_part(e->codes, 0, e->codes.rows, 0, e->out.rows);
    rfn_device_codes(device, RB_DEVICE_FETCH, e->codes);
    rb_dense_transpose(codes, e->out);
    rb_error err = rfn_device_end(device);
    if (err || left == 0) return err;
    err = rb_parallel_or_stop(e->ctx, rfn_tasks(e->out.rows).count, collect_task, e);
    return err ? err : rb_parallel_or_stop(e->ctx, left, solve_left, e);
}

rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *e, const rb_block *block, rb_dense codes) {
    e->ctx = ctx;
    e->block = block;
    e->out = codes;
    rfn_offset(ctx, block->shift, e->weighted, e->prior, e->coder->offset);
    rb_error err = e->coder->device
                       ? solve_there(e)
                       : rb_parallel_or_stop(ctx, rfn_tasks(codes.rows).count, solve_task, e);
    return err ? err : rb_check_stop(ctx);
}
