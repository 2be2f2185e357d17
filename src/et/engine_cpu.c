/* The engine of the processor: posteriors of a block, and what they add to the sums. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static void cpu_close(void *engine) {
    et_cpu *cpu = engine;
    if (cpu) {
        rb_dense *matrices[] = {&cpu->rows, &cpu->mask, &cpu->part, &cpu->powers, &cpu->roots};
        for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
            rb_dense_free(matrices[i]);
        }
        et_engine_free(cpu->engine);
        et_results_free(&cpu->results);
        rb_free(cpu->sets.choose);
        rb_free(cpu);
    }
}

static rb_error allocate(rb_context *ctx, et_cpu *cpu, const et_setup *setup) {
    int64_t h = setup->units, d = setup->n_features, capacity = cpu->problem.block_samples;
    const et_summing *summing = setup->model->summing;
    rb_error err = et_engine_new(ctx, setup, &cpu->engine);
    err = err ? err : et_results_new(ctx, cpu->engine, capacity, summing->keep, &cpu->results);
    if (!err && (cpu->problem.sparse || setup->missing)) {
        err = rb_dense_new(ctx, setup->type, capacity, d, &cpu->rows);
    }
    if (!err && setup->missing) {
        err = rb_dense_new(ctx, setup->type, capacity, d, &cpu->mask);
    }
    err = err ? err : rb_dense_new(ctx, setup->type, h, d, &cpu->part);
    if (!err && summing->prepare) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, d, &cpu->powers);
        err = err ? err : rb_dense_new(ctx, RB_FLOAT64, h, d, &cpu->roots);
    }
    if (!err && summing->sets && et_sets_count(setup, cpu->problem.n_samples) > 0) {
        err = et_sets_new(ctx, setup, &cpu->sets);
    }
    return err;
}

static rb_error cpu_open(rb_context *ctx, const rb_problem *problem, const void *options,
                         void **engine) {
    et_setup setup;
    et_cpu *cpu = rb_alloc_zero(ctx, 1, sizeof *cpu);
    *engine = NULL;
    if (!cpu) {
        return RB_ERROR_MEMORY;
    }
    cpu->problem = *problem;
    const et_model *model = et_model_of(problem->method, options, &cpu->own_model);
    rb_error err = et_setup_of(ctx, model, options, problem->n_features, problem->type, &setup);
    if (!err) {
        setup.missing = problem->missing;
        err = allocate(ctx, cpu, &setup);
    }
    if (err) {
        cpu_close(cpu);
        return err;
    }
    *engine = cpu;
    return RB_OK;
}

/* ---- a pass ---- */

static bool ranks(const et_pass *pass) {
    return pass->kind == ET_PASS_MEASURE || pass->kind == ET_PASS_RANK;
}

static rb_error cpu_set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    et_cpu *cpu = engine;
    const et_pass *pass = parameters;
    const et_summing *summing = cpu->engine->setup.model->summing;
    cpu->pass = pass;
    if (pass->kind == ET_PASS_CUT) {
        return RB_OK;
    }
    cpu->engine->widens = pass->widens;
    et_prepare(ctx, cpu->engine, pass->parameters, pass->beta, pass->beta_prior);
    if (pass->kind != ET_PASS_MEASURE && summing->prepare) {
        summing->prepare(cpu);
    }
    return RB_OK;
}

/* What the cut orders samples by: the log evidence, without the constant of each value where not
 * all samples have the same number of them. */
static double rank_of(const et_cpu *cpu, int64_t i) {
    double values = cpu->problem.missing ? (double)cpu->results.there[i] : 0;
    return cpu->results.evidence[i] - values * cpu->engine->per_value;
}

/* Notes evidence and most probable state of every sample. */
static rb_error note_samples(rb_context *ctx, const et_cpu *cpu, const rb_block *block,
                             et_sums *sums) {
    const et_results *r = &cpu->results;
    for (int64_t i = 0; i < block->n_samples; i++) {
        if (!isfinite(r->evidence[i])) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the log evidence of sample %lld is not finite; scale the data",
                           (long long)(block->first + i + 1));
        }
        cpu->pass->evidence[block->own + i] = rank_of(cpu, i);
        sums->all_evidence += r->evidence[i];
        int64_t causes[ET_MAX_ACTIVE], count = et_map_causes(cpu->engine, r, i, causes);
        for (int64_t k = 0; k < count; k++) {
            sums->in_map[causes[k]] = true;
        }
    }
    return RB_OK;
}

/* <|y - Wbar(s)|^2> from <e(s)>. */
static double residual(const et_cpu *cpu, int64_t i) {
    const et_results *r = &cpu->results;
    return r->norm[i] - 2 / cpu->engine->scale * r->energy[i];
}

static void add_scalars(const et_cpu *cpu, int64_t count, et_sums *sums) {
    const et_results *r = &cpu->results;
    for (int64_t i = 0; i < count; i++) {
        if (r->used[i]) {
            sums->used++;
            sums->values += (double)r->there[i];
            sums->squares += r->norm[i];
            sums->active += r->active[i];
            sums->residual += residual(cpu, i);
            sums->evidence += r->evidence[i];
        }
    }
}

/* ---- traced samples: how good the truncation is ---- */

struct tracing {
    const et_cpu *cpu;
    const rb_block *block;
    et_sums *sums;
    int64_t first; /* of the traced samples: the first in the block */
    double hits[ET_TRACE_SAMPLES], marginals[ET_TRACE_SAMPLES];
};

static int64_t traced_sample(const et_cpu *cpu, int64_t k) {
    return et_traced_sample(cpu->pass, cpu->problem.n_samples, k);
}

static void trace_task(void *arg, int64_t index, int worker) {
    struct tracing *t = arg;
    const et_engine *engine = t->cpu->engine;
    et_scratch *scratch = &engine->scratch[worker];
    int64_t k = t->first + index, i = traced_sample(t->cpu, k) - t->block->first;
    et_look look = et_look_at(engine, &t->cpu->results, i);
    et_sample sample = et_observe_block(engine, scratch, t->block, i);
    double exact = et_exact(engine, scratch, &sample, scratch->scores);
    t->sums->quality[k] = exp(fmin(0, t->cpu->results.evidence[i] - exact));
    t->hits[k] = 0;
    for (int c = 0; c < look.tree->candidates; c++) {
        t->hits[k] += scratch->scores[look.candidates[c]];
    }
    t->marginals[k] = engine->kernels->sum(engine->setup.units, scratch->scores);
}

static void trace_block(rb_context *ctx, const et_cpu *cpu, const rb_block *block, et_sums *sums) {
    struct tracing task = {.cpu = cpu, .block = block, .sums = sums};
    int64_t all = cpu->pass->traced, end = block->first + block->n_samples;
    while (task.first < all && traced_sample(cpu, task.first) < block->first) {
        task.first++;
    }
    int64_t last = task.first;
    while (last < all && traced_sample(cpu, last) < end) {
        last++;
    }
    rb_parallel(ctx, last - task.first, trace_task, &task);
    for (int64_t k = task.first; k < last; k++) {
        sums->hits += task.hits[k];
        sums->marginals += task.marginals[k];
    }
}

/* ---- blocks ---- */

static rb_error cpu_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    et_cpu *cpu = engine;
    et_sums *sums = to;
    const et_pass *pass = cpu->pass;
    for (int64_t i = 0; i < block->n_samples; i++) {
        cpu->results.used[i] = et_pass_uses(pass, block, i);
    }
    et_posteriors(ctx, cpu->engine, block, ranks(pass), &cpu->results);
    if (pass->kind != ET_PASS_CUT) {
        rb_error err = note_samples(ctx, cpu, block, sums);
        if (err) {
            return err;
        }
        trace_block(ctx, cpu, block, sums);
    }
    if (!ranks(pass)) {
        rb_dense mean = rb_dense_rows(cpu->results.mean, 0, block->n_samples);
        add_scalars(cpu, block->n_samples, sums);
        et_add_rows(cpu->engine->kernels, mean, sums->causes);
        cpu->engine->setup.model->summing->add(ctx, cpu, block, sums);
    }
    return RB_OK;
}

/* All is added as it comes. */
static rb_error cpu_sums(rb_context *ctx, void *engine, void *sums) {
    (void)ctx, (void)engine, (void)sums;
    return RB_OK;
}

static rb_error cpu_finish(rb_context *ctx, void *engine, void *sums) {
    (void)ctx;
    et_cpu *cpu = engine;
    const et_summing *summing = cpu->engine->setup.model->summing;
    if (!ranks(cpu->pass) && summing->finish) {
        summing->finish(cpu, sums);
    }
    return RB_OK;
}

const rb_engine et_engine_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .set_parameters = cpu_set_parameters,
    .block = cpu_block,
    .sums = cpu_sums,
    .finish = cpu_finish,
};
