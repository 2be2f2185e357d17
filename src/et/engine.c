/* The engine of the E-step: its memory, and what is computed once for all samples. */
#include "engine.h"

#include <rarebit/version.h>

#include <math.h>
#include <string.h>

/* ---- kernels: those of the context's instruction set ---- */

extern const et_kernels et_kernels_ref;
#if defined(__x86_64__)
extern const et_kernels et_kernels_avx2, et_kernels_avx512;
#endif

const et_kernels *et_kernels_of(const rb_context *ctx) {
    const char *name = rb_build_info(ctx, "kernels");
#if defined(__x86_64__)
    if (strcmp(name, et_kernels_avx512.name) == 0) return &et_kernels_avx512;
    if (strcmp(name, et_kernels_avx2.name) == 0) return &et_kernels_avx2;
#endif
    return &et_kernels_ref;
}

/* ---- memory ---- */

static void take_scratch(rb_context *ctx, et_engine *engine, et_scratch *s) {
    const et_setup *setup = &engine->setup;
    const et_tree *tree = &engine->trees[engine->widths];
    et_memory *m = &engine->memory;
    int64_t h = setup->units, d = setup->n_features, wide = tree->items * ET_LANES;
    int64_t items = setup->items, padded = (items + ET_LANES - 1) / ET_LANES * ET_LANES;
    int64_t rows = setup->model.summing == &et_sum_linear ? tree->items : 1;
    bool enumerable = et_enumerable(h, &setup->values);
    s->y = et_take_dense(ctx, m, RB_FLOAT64, ET_TASK_SAMPLES, d);
    s->b = et_take_dense(ctx, m, RB_FLOAT64, ET_TASK_SAMPLES, h);
    s->single = et_take_dense(ctx, m, RB_FLOAT64, ET_LANES, padded);
    s->scores = et_take(ctx, m, 1, h + items, sizeof *s->scores);
    s->few = et_take(ctx, m, h + ET_LANES, 1, sizeof *s->few);
    s->energy = et_take(ctx, m, tree->count, ET_LANES, sizeof *s->energy);
    if (setup->region >= 0) s->apart = et_take(ctx, m, tree->count, 1, sizeof *s->apart);
    s->work = et_take(ctx, m, tree->inner, wide, sizeof *s->work);
    s->gram = et_take(ctx, m, rows, wide, sizeof *s->gram);
    s->start = et_take(ctx, m, wide, 1, sizeof *s->start);
    s->mean = et_take(ctx, m, wide, 1, sizeof *s->mean);
    s->pairs = et_take(ctx, m, rows, wide, sizeof *s->pairs);
    s->vectors = et_take(ctx, m, (enumerable ? h : tree->max_active) + 1, d, sizeof *s->vectors);
    if (setup->missing) {
        s->mask = et_take_dense(ctx, m, RB_FLOAT64, ET_TASK_SAMPLES, d);
        s->square = et_take_dense(ctx, m, RB_FLOAT64, ET_TASK_SAMPLES, h);
        s->packed = et_take_dense(ctx, m, RB_FLOAT64, ET_LANES, d);
        s->places = et_take(ctx, m, ET_LANES, d, sizeof *s->places);
        s->fields = et_take_dense(ctx, m, RB_FLOAT64, enumerable ? items : tree->items, d);
    }
}

/* One for all samples; then those for samples with more active causes than usual, one more each, up
 * to the limits. */
static void take_trees(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    engine->widths = (int)(setup->widest_active - setup->max_active);
    engine->trees = et_take(ctx, &engine->memory, engine->widths + 1, 1, sizeof *engine->trees);
    for (int step = 0; !engine->memory.err && step <= engine->widths; step++) {
        int64_t candidates = setup->candidates + 2 * step, active = setup->max_active + step;
        candidates = candidates < setup->max_candidates ? candidates : setup->max_candidates;
        active = active < candidates ? active : candidates;
        et_tree_new(ctx, &engine->memory, candidates, active, setup->values.count,
                    &engine->trees[step]);
    }
}

static rb_error allocate(rb_context *ctx, const et_setup *setup, et_engine *engine) {
    engine->setup = *setup;
    engine->kernels = et_kernels_of(ctx);
    et_memory *m = &engine->memory;
    int64_t h = setup->units, workers = rb_context_threads(ctx);
    take_trees(ctx, engine);
    engine->logit = et_take(ctx, m, setup->items, 1, sizeof *engine->logit);
    engine->square = et_take(ctx, m, h, 1, sizeof *engine->square);
    engine->gram = et_take_dense(ctx, m, RB_FLOAT64, h, h);
    if (!et_binary(&setup->values))
        engine->fields = et_take_dense(ctx, m, RB_FLOAT64, setup->items, setup->n_features);
    engine->squares = et_take_dense(ctx, m, RB_FLOAT64, setup->missing ? h : 0, setup->n_features);
    engine->scratch = et_take(ctx, m, workers, 1, sizeof *engine->scratch);
    for (int64_t i = 0; !m->err && i < workers; i++)
        take_scratch(ctx, engine, &engine->scratch[i]);
    return m->err;
}

rb_error et_engine_new(rb_context *ctx, const et_setup *setup, et_engine **out) {
    et_engine *engine = NULL;
    rb_error err =
        et_tree_check(ctx, setup->max_candidates, setup->widest_active, setup->values.count);
    if (!err) {
        engine = rb_alloc_zero(ctx, 1, sizeof *engine);
        err = engine ? allocate(ctx, setup, engine) : RB_ERROR_MEMORY;
    }
    if (err) et_engine_free(engine);
    *out = err ? NULL : engine;
    return err;
}

void et_engine_free(et_engine *engine) {
    if (engine) {
        et_memory_free(&engine->memory);
        rb_free(engine);
    }
}

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t capacity, et_keep keep,
                        et_results *r) {
    const et_tree *widest = &engine->trees[engine->widths];
    int64_t h = widest->candidates, items = engine->setup.items;
    rb_type type = engine->setup.type;
    *r = (et_results){.capacity = capacity,
                      .max_candidates = h,
                      .max_items = widest->items,
                      .max_states = widest->count};
    et_memory *m = &r->memory;
    r->mean = et_take_dense(ctx, m, type, capacity, engine->setup.units);
    r->items =
        et_binary(&engine->setup.values) ? r->mean : et_take_dense(ctx, m, type, capacity, items);
    r->evidence = et_take(ctx, m, capacity, 1, sizeof *r->evidence);
    r->norm = et_take(ctx, m, capacity, 1, sizeof *r->norm);
    r->there = et_take(ctx, m, capacity, 1, sizeof *r->there);
    r->active = et_take(ctx, m, capacity, 1, sizeof *r->active);
    r->energy = et_take(ctx, m, capacity, 1, sizeof *r->energy);
    r->used = et_take(ctx, m, capacity, 1, sizeof *r->used);
    r->width = et_take(ctx, m, capacity, 1, sizeof *r->width);
    r->map = et_take(ctx, m, capacity, 1, sizeof *r->map);
    r->candidates = et_take(ctx, m, capacity, r->max_items, sizeof *r->candidates);
    if (keep == ET_KEEP_PAIRS && widest->max_active > 1) {
        r->pairs = et_take(ctx, m, capacity, h * h, sizeof *r->pairs);
    } else if (keep == ET_KEEP_STATES) {
        r->states = et_take(ctx, m, capacity, r->max_states, sizeof *r->states);
        r->single = et_take_dense(ctx, m, type, capacity, items);
    }
    rb_error err = m->err;
    if (err) et_memory_free(m);
    return err;
}

/* ---- parameters ---- */

/* The prior's terms; a fixed number of causes makes all its states equally likely. */
static double prepare_prior(et_engine *engine) {
    const et_setup *setup = &engine->setup;
    const et_parameters *p = engine->parameters;
    const double *prior = p->prior;
    double constant = 0;
    engine->equal_prior = true;
    for (int64_t i = 0; i < setup->items; i++) {
        int64_t h = i % setup->units;
        double share = et_share(p, i);
        engine->equal_prior =
            engine->equal_prior && prior[h] == prior[0] && share == et_share(p, 0);
        engine->logit[i] = setup->fixed_count ? 0 : log(prior[h]) - log1p(-prior[h]);
        engine->logit[i] = engine->beta_prior * (engine->logit[i] + log(share));
    }
    for (int64_t h = 0; h < setup->units; h++)
        constant += log1p(-prior[h]);
    return engine->beta_prior *
           (setup->fixed_count ? -et_log_choose(setup->units, setup->max_active) : constant);
}

/* v_a W_h, cause after cause for each value. */
static void prepare_fields(et_engine *engine) {
    const et_values *values = &engine->setup.values;
    rb_dense fields = engine->parameters->fields;
    int64_t cells = fields.rows * fields.cols;
    const double *field = fields.data;
    if (et_binary(values)) {
        engine->fields = fields;
        return;
    }
    double *out = engine->fields.data;
    for (int a = 0; a < values->count; a++)
        for (int64_t i = 0; i < cells; i++)
            out[a * cells + i] = values->value[a] * field[i];
}

void et_prepare(rb_context *ctx, et_engine *engine, const et_parameters *p, double beta,
                double beta_prior) {
    engine->parameters = p;
    engine->beta = beta;
    engine->beta_prior = beta_prior;
    engine->constant = prepare_prior(engine);
    engine->by_energy = !et_gaussian(&engine->setup.model) || !engine->equal_prior;
    et_prepare_noise(engine);
    rb_gemm_lower(ctx, 1, p->fields, RB_PLAIN, p->fields, RB_TRANSPOSED, 0, engine->gram);
    rb_dense_mirror(engine->gram);
    engine->zero_field = false;
    for (int64_t h = 0; h < engine->setup.units; h++) {
        engine->square[h] = rb_dense_get(engine->gram, h, h);
        engine->zero_field = engine->zero_field || engine->square[h] == 0;
    }
    const double *field = p->fields.data;
    double *squares = engine->squares.data;
    for (int64_t i = 0; squares && i < p->fields.rows * p->fields.cols; i++)
        squares[i] = field[i] * field[i];
    prepare_fields(engine);
}
