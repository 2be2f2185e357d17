/* The engine of the processor: posteriors of a block, and what they add to the sums. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static void cpu_close(void *engine) {
    et_cpu *cpu = engine;
    if (cpu) {
        et_engine_free(cpu->engine);
        rb_scratch_end(&cpu->results.memory);
        rb_scratch_end(&cpu->memory);
        rb_free(cpu);
    }
}

static rb_error allocate(rb_context *ctx, et_cpu *cpu, const et_setup *setup) {
    const et_summing *summing = setup->model.summing;
    int64_t d = setup->n_features, capacity = cpu->problem.block_samples;
    int64_t powers = summing->prepare ? setup->items : 0;
    bool copies = setup->missing || cpu->problem.sparse;
    rb_scratch *m = &cpu->memory;
    m->ctx = ctx;
    if (copies) rb_dense_take(m, setup->type, capacity, d, &cpu->rows);
    if (setup->missing) rb_dense_take(m, setup->type, capacity, d, &cpu->mask);
    rb_dense_take(m, setup->type, setup->items, d, &cpu->part);
    rb_dense_take(m, RB_FLOAT64, powers, d, &cpu->powers);
    rb_dense_take(m, RB_FLOAT64, powers, d, &cpu->roots);
    if (summing->sets && et_sets_count(setup, cpu->problem.n_samples) > 0)
        et_sets_new(setup, m, &cpu->sets);
    rb_error err = m->err ? m->err : et_engine_new(ctx, setup, &cpu->engine);
    return err ? err : et_results_new(ctx, cpu->engine, capacity, summing->keep, &cpu->results);
}

static rb_error cpu_open(rb_context *ctx, const rb_problem *problem, const void *options,
                         void **engine) {
    et_setup setup = et_setup_of(problem, options);
    et_cpu *cpu = rb_alloc_zero(ctx, 1, sizeof *cpu);
    rb_error err = RB_ERROR_MEMORY;
    if (cpu) {
        cpu->problem = *problem;
        err = allocate(ctx, cpu, &setup);
    }
    if (err) cpu_close(cpu);
    *engine = err ? NULL : cpu;
    return err;
}

/* ---- a pass ---- */

static bool ranks(const et_pass *pass) {
    return pass->kind == ET_PASS_MEASURE || pass->kind == ET_PASS_RANK;
}

static rb_error cpu_set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    et_cpu *cpu = engine;
    const et_pass *pass = parameters;
    const et_summing *summing = cpu->engine->setup.model.summing;
    cpu->pass = pass;
    if (pass->kind == ET_PASS_CUT) return RB_OK;
    cpu->engine->widens = pass->widens;
    et_prepare(ctx, cpu->engine, pass->parameters, pass->beta, pass->beta_prior);
    if (pass->kind != ET_PASS_MEASURE && summing->prepare) summing->prepare(cpu);
    return RB_OK;
}

rb_error et_check_evidence(rb_context *ctx, const rb_block *block, int64_t i, double evidence) {
    if (isfinite(evidence)) return RB_OK;
    return rb_fail(
        ctx, RB_ERROR_NUMERIC,
        "the log evidence of sample %lld (counted from %d) is not finite; scale the data",
        (long long)rb_nth(ctx, block->first + i), ctx->first);
}

/* Notes most probable state and log evidence of every sample; the cut orders them by that without
 * the constant of each value, where not all samples have the same number of them. */
static rb_error note_samples(rb_context *ctx, const et_cpu *cpu, const rb_block *block,
                             et_sums *sums) {
    const et_results *r = &cpu->results;
    for (int64_t i = 0; i < block->n_samples; i++) {
        rb_error err = et_check_evidence(ctx, block, i, r->evidence[i]);
        if (err) return err;
        double values = cpu->problem.missing ? (double)r->there[i] : 0;
        cpu->pass->evidence[block->own + i] = r->evidence[i] - values * cpu->engine->per_value;
        sums->all_evidence += r->evidence[i];
    }
    et_note_map(cpu->engine, r, block->n_samples, sums->in_map);
    return RB_OK;
}

static void add_scalars(const et_cpu *cpu, int64_t count, et_sums *sums) {
    const et_results *r = &cpu->results;
    for (int64_t i = 0; i < count; i++) {
        if (r->used[i]) {
            sums->used++;
            sums->values += (double)r->there[i];
            sums->squares += r->norm[i];
            sums->active += r->active[i];
            /* <|y - Wbar(s)|^2> from <e(s)> */
            sums->residual += r->norm[i] - 2 / cpu->engine->scale * r->energy[i];
            sums->evidence += r->evidence[i];
        }
    }
}

/* How good the truncation is for traced samples, which are evenly spread. */
static void trace_block(rb_context *ctx, const et_cpu *cpu, const rb_block *block, et_sums *sums) {
    int64_t all = cpu->pass->traced, first = 0, count = 0, index[ET_TRACE_SAMPLES] = {0};
    et_compared compared[ET_TRACE_SAMPLES];
    for (int64_t k = 0; k < all; k++) {
        int64_t i = k * cpu->problem.n_samples / all - block->first;
        first += i < 0;
        if (i >= 0 && i < block->n_samples) index[count++] = i;
    }
    et_compare(ctx, cpu->engine, block, &cpu->results, count, index, compared);
    for (int64_t k = 0; k < count; k++) {
        sums->quality[first + k] = compared[k].quality;
        sums->hits += compared[k].hits;
        sums->marginals += compared[k].all;
    }
}

/* ---- blocks ---- */

static rb_error cpu_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    et_cpu *cpu = engine;
    et_sums *sums = to;
    const et_pass *pass = cpu->pass;
    for (int64_t i = 0; i < block->n_samples; i++)
        cpu->results.used[i] = et_pass_uses(pass, block, i);
    et_posteriors(ctx, cpu->engine, block, ranks(pass), &cpu->results);
    if (pass->kind != ET_PASS_CUT) {
        rb_error err = note_samples(ctx, cpu, block, sums);
        if (err) return err;
        trace_block(ctx, cpu, block, sums);
    }
    if (!ranks(pass)) {
        rb_dense items = rb_dense_rows(cpu->results.items, 0, block->n_samples);
        add_scalars(cpu, block->n_samples, sums);
        et_add_rows(cpu->engine->kernels, items, sums->causes);
        rb_dense rows = et_block_rows(block, cpu->rows, cpu->mask);
        cpu->engine->setup.model.summing->add(ctx, cpu, rows, sums);
    }
    return RB_OK;
}

static rb_error cpu_finish(rb_context *ctx, void *engine, void *sums) {
    et_cpu *cpu = engine;
    const et_summing *summing = cpu->engine->setup.model.summing;
    if (!ranks(cpu->pass) && summing->finish) summing->finish(cpu, sums);
    return RB_OK;
}

const rb_engine et_engine_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .set_parameters = cpu_set_parameters,
    .block = cpu_block,
    .finish = cpu_finish,
};
