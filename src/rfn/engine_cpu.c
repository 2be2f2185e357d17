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
#include "fit.h"

#include <stddef.h>

static const rb_field fields[] = {
    {"block_linear", offsetof(rfn_cpu, linear), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FACTORED,
     RFN_UNITS},
    {0},
};

/* Rows of random words, and of sparse blocks, are not in it. */
const rb_part rfn_cpu_parts[] = {
    {RB_PART_SCRATCH, fields, 0},
    {RB_PART_SCRATCH, rfn_block_fields, offsetof(rfn_cpu, block)},
    {RB_PART_SCRATCH, rfn_randomness_fields, offsetof(rfn_cpu, random)},
    {0},
};

static void close_engine(void *engine) {
    rfn_cpu *cpu = engine;
    if (cpu) {
        rb_parts_free(rfn_cpu_parts, cpu);
        rfn_randomness_clear(&cpu->random);
        rb_free(cpu);
    }
}

static rb_error open_engine(rb_context *ctx, const rb_problem *problem, const void *options,
                            void **engine) {
    rb_shape shape = rb_shape_of(problem, options);
    rfn_cpu *cpu = *engine = rb_alloc_zero(ctx, 1, sizeof *cpu);
    if (!cpu) return RB_ERROR_MEMORY;
    cpu->setup = (rfn_setup){.problem = *problem, .options = *(const rb_rfn_options *)options};
    rb_error err = rb_parts_new(ctx, rfn_cpu_parts, &shape, cpu);
    err = err ? err : rfn_randomness_new(ctx, &cpu->setup, &cpu->random);
    cpu->block.codes = rb_dense_spare(cpu->block.codes, shape.dims[RFN_UNITS]);
    if (err) {
        close_engine(cpu);
        *engine = NULL;
    }
    return err;
}

/* What is added to the product with the filter: bias - B' shift = Sigma (xi - W' Psi^-1 shift). */
static void set_offset(rb_context *ctx, rfn_cpu *cpu) {
    const rfn_posterior *posterior = cpu->given.posterior;
    const double *shift = cpu->setup.problem.shift;
    if (posterior->factored) {
        int64_t l = cpu->setup.options.units;
        rb_dense offset = {cpu->block.offset, 1, l, l, cpu->setup.problem.type};
        rb_dense linear = rb_dense_rows(cpu->linear, 0, 1);
        rfn_offset(ctx, shift, posterior->filter, posterior->linear, linear.data);
        rb_gemm(1, linear, RB_PLAIN, posterior->sigma, RB_PLAIN, 0, offset);
    } else {
        rfn_offset(ctx, shift, posterior->filter, posterior->bias, cpu->block.offset);
    }
}

static rb_error set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    rfn_cpu *cpu = engine;
    cpu->given = *(const rfn_given *)parameters;
    set_offset(ctx, cpu);
    rfn_randomness_begin(&cpu->random, &cpu->given);
    return RB_OK;
}

struct pass {
    rb_context *ctx;
    rfn_cpu *cpu;
    const rb_block *block;
    rb_block seen;          /* the block, or with noise */
    rb_dense codes, linear; /* of the block; linear: where the filter is factored */
    bool adds_noise;
};

static void project(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const rfn_posterior *posterior = pass->cpu->given.posterior;
    rb_dense codes = rfn_task_rows(pass->codes, task);
    int64_t first = rfn_task_first(pass->codes.rows, task);
    if (pass->adds_noise)
        rfn_noise_rows(pass->ctx, &pass->cpu->random, pass->block, first, codes.rows, worker);
    if (posterior->factored) {
        rb_dense linear = rfn_task_rows(pass->linear, task);
        rb_block_project(pass->ctx, &pass->seen, first, posterior->filter, linear);
        rb_phase before = rb_phase_product(pass->ctx, linear.rows, linear.cols, codes.cols,
                                           rb_type_size(codes.type));
        rb_gemm(1, linear, RB_PLAIN, posterior->sigma, RB_PLAIN, 0, codes);
        rb_phase_end(pass->ctx, before);
    } else {
        rb_block_project(pass->ctx, &pass->seen, first, posterior->filter, codes);
    }
}

static void activate(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const rfn_block_work *work = &pass->cpu->block;
    rb_dense codes = rfn_task_rows(pass->codes, task);
    int64_t at = task * codes.cols, first = rfn_task_first(pass->codes.rows, task);
    double *sum = work->task_sum + at;
    rfn_activate(pass->ctx, &pass->cpu->setup.options, codes, work->offset, sum,
                 work->task_largest + at);
    if (rfn_drops(&pass->cpu->random)) {
        rfn_drop(pass->ctx, &pass->cpu->random, codes, pass->block->first + first, task, worker,
                 sum);
    }
}

static void project_and_activate(void *arg, int64_t task, int worker) {
    project(arg, task, worker);
    activate(arg, task, worker);
}

/* mu_p'mu_p of the block, for the E-step objective; codes hold V B and are left as mu_p - offset.
 */
static void add_raw(const struct pass *pass, rb_dense raw) {
    const void *offset = pass->cpu->block.offset;
    rfn_add_offset(pass->ctx, 1, offset, pass->codes);
    rb_gemm_lower(pass->ctx, 1, pass->codes, RB_TRANSPOSED, pass->codes, RB_PLAIN, 1, raw);
    rfn_add_offset(pass->ctx, -1, offset, pass->codes);
}

/* ---- dead units ---- */

/* The task of the block in which unit j has its largest posterior mean. */
static int64_t best_task(const rfn_cpu *cpu, int64_t tasks, int64_t j) {
    const double *largest = cpu->block.task_largest;
    int64_t l = cpu->setup.options.units, best = 0;
    for (int64_t t = 1; t < tasks; t++)
        best = largest[t * l + j] > largest[best * l + j] ? t : best;
    return best;
}

/* The sample of that task, counted in the block; means are computed again, rectifying lost them. */
static int64_t best_sample(const struct pass *pass, int64_t task, int64_t j, rb_dense column) {
    const rfn_posterior *posterior = pass->cpu->given.posterior;
    int64_t first = rfn_task_first(pass->codes.rows, task), best = 0;
    column.rows = rfn_task_rows(pass->codes, task).rows;
    if (posterior->factored) {
        rb_dense sigma = rb_dense_part(posterior->sigma, 0, pass->codes.cols, j, 1);
        rb_gemm(1, rfn_task_rows(pass->linear, task), RB_PLAIN, sigma, RB_PLAIN, 0, column);
    } else {
        rb_dense filter = rb_dense_part(posterior->filter, 0, posterior->filter.rows, j, 1);
        rb_block_project(pass->ctx, &pass->seen, first, filter, column);
    }
    for (int64_t i = 1; i < column.rows; i++)
        best = rb_dense_get(column, i, 0) > rb_dense_get(column, best, 0) ? i : best;
    return first + best;
}

static rb_error note_dead(const struct pass *pass, rfn_sums *sums) {
    const rfn_setup *setup = &pass->cpu->setup;
    int64_t l = setup->options.units;
    struct bands tasks = rfn_tasks(pass->codes.rows);
    rb_dense column = {0};
    rb_error err = RB_OK;
    for (int64_t j = 0; setup->options.normalize == RB_RFN_NORMALIZE_RMS && !err && j < l; j++) {
        int64_t task = best_task(pass->cpu, tasks.count, j);
        double largest = pass->cpu->block.task_largest[task * l + j];
        if (sums->active[j] || (sums->place[j] >= 0 && !(largest > sums->largest[j]))) continue;
        if (!column.data)
            err = rb_dense_new(pass->ctx, setup->problem.type, tasks.size, 1, &column);
        if (!err) {
            int64_t i = best_sample(pass, task, j, column);
            err = rfn_take_candidate(pass->ctx, sums, j, largest, pass->block, i,
                                     rb_dense_row(pass->codes, i));
        }
    }
    rb_dense_free(&column);
    return err;
}

/* ---- a block ---- */

static rb_error add_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    rfn_cpu *cpu = engine;
    rfn_sums *sums = to;
    bool traced = cpu->setup.problem.fit->trace, factored = cpu->given.posterior->factored;
    int64_t n = block->n_samples, tasks = rfn_tasks(n).count;
    struct pass pass = {.ctx = ctx,
                        .cpu = cpu,
                        .block = block,
                        .seen = *block,
                        .codes = rb_dense_rows(cpu->block.codes, 0, n),
                        .linear = factored ? rb_dense_rows(cpu->linear, 0, n) : cpu->linear};
    rb_error err = RB_OK;
    if (traced) {
        rb_parallel(ctx, tasks, project, &pass);
        add_raw(&pass, sums->raw);
    }
    pass.adds_noise = rfn_has_noise(&cpu->random);
    if (pass.adds_noise && (err = rfn_noise_block(ctx, &cpu->random, block, &pass.seen)) != RB_OK)
        return err;
    rb_parallel(ctx, tasks, traced && !pass.adds_noise ? activate : project_and_activate, &pass);
    rfn_add_tasks(&cpu->block, tasks, sums);
    rfn_add_dropped(&cpu->random, tasks, sums);
    err = note_dead(&pass, sums);
    return err ? err : rfn_add_moments(ctx, &cpu->block, block, sums);
}

const rfn_engine rfn_engine_cpu = {
    .engine = {"cpu", open_engine, close_engine, set_parameters, add_block}};
