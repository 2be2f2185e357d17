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

static const et_kernels *const known[] = {
#if defined(__x86_64__)
    &et_kernels_avx512, &et_kernels_avx2,
#endif
    &et_kernels_ref};

const et_kernels *et_kernels_of(const rb_context *ctx) {
    const char *name = rb_build_info(ctx, "kernels");
    int i = 0;
    while (known[i] != &et_kernels_ref && strcmp(name, known[i]->name) != 0)
        i++;
    return known[i];
}

/* ---- memory ---- */

static void take_scratch(et_engine *engine, et_scratch *s) {
    const et_setup *setup = &engine->setup;
    const et_tree *tree = &engine->trees[engine->widths];
    rb_scratch *m = &engine->memory;
    int64_t h = setup->units, d = setup->n_features, wide = tree->items * ET_LANES;
    int64_t items = setup->items, padded = (items + ET_LANES - 1) / ET_LANES * ET_LANES;
    int64_t rows = setup->model.summing == &et_sum_linear ? tree->items : 1;
    bool enumerable = et_enumerable(h, &setup->values);
    rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, d, &s->y);
    rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, h, &s->b);
    rb_dense_take(m, RB_FLOAT64, ET_LANES, padded, &s->single);
    s->scores = rb_take(m, h + items, sizeof *s->scores);
    s->few = rb_take(m, h + ET_LANES, sizeof *s->few);
    s->energy = rb_take(m, tree->count, (size_t)ET_LANES * sizeof *s->energy);
    if (setup->region >= 0) s->apart = rb_take(m, tree->count, sizeof *s->apart);
    s->work = rb_take(m, tree->inner, (size_t)wide * sizeof *s->work);
    s->gram = rb_take(m, rows, (size_t)wide * sizeof *s->gram);
    s->start = rb_take(m, wide, sizeof *s->start);
    s->mean = rb_take(m, wide, sizeof *s->mean);
    s->pairs = rb_take(m, rows, (size_t)wide * sizeof *s->pairs);
    s->vectors =
        rb_take(m, (enumerable ? h : tree->max_active) + 1, (size_t)d * sizeof *s->vectors);
    if (setup->missing) {
        rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, d, &s->mask);
        rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, h, &s->square);
        rb_dense_take(m, RB_FLOAT64, ET_LANES, d, &s->packed);
        s->places = rb_take(m, ET_LANES, (size_t)d * sizeof *s->places);
        rb_dense_take(m, RB_FLOAT64, enumerable ? items : tree->items, d, &s->fields);
    }
}

/* One for all samples; then those for samples with more active causes than usual, one more each, up
 * to the limits. */
static void take_trees(et_engine *engine) {
    const et_setup *setup = &engine->setup;
    engine->widths = (int)(setup->widest_active - setup->max_active);
    engine->trees = rb_take(&engine->memory, engine->widths + 1, sizeof *engine->trees);
    for (int step = 0; !engine->memory.err && step <= engine->widths; step++) {
        int64_t candidates = setup->candidates + 2 * step, active = setup->max_active + step;
        candidates = rb_smaller(candidates, setup->max_candidates);
        active = rb_smaller(active, candidates);
        et_tree_new(&engine->memory, candidates, active, setup->values.count, &engine->trees[step]);
    }
}

static rb_error allocate(rb_context *ctx, const et_setup *setup, et_engine *engine) {
    engine->setup = *setup;
    engine->kernels = et_kernels_of(ctx);
    rb_scratch *m = &engine->memory;
    m->ctx = ctx;
    int64_t h = setup->units, workers = rb_context_threads(ctx);
    take_trees(engine);
    engine->logit = rb_take(m, setup->items, sizeof *engine->logit);
    engine->square = rb_take(m, h, sizeof *engine->square);
    rb_dense_take(m, RB_FLOAT64, h, h, &engine->gram);
    if (!et_binary(&setup->values))
        rb_dense_take(m, RB_FLOAT64, setup->items, setup->n_features, &engine->fields);
    if (setup->missing) rb_dense_take(m, RB_FLOAT64, h, setup->n_features, &engine->squares);
    engine->scratch = rb_take(m, workers, sizeof *engine->scratch);
    for (int64_t i = 0; !m->err && i < workers; i++)
        take_scratch(engine, &engine->scratch[i]);
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
        rb_scratch_end(&engine->memory);
        rb_free(engine);
    }
}

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t capacity, et_keep keep,
                        et_results *r) {
    const et_tree *widest = &engine->trees[engine->widths];
    int64_t h = widest->candidates, items = engine->setup.items;
    rb_type type = engine->setup.type;
    *r = (et_results){.memory = {.ctx = ctx},
                      .capacity = capacity,
                      .max_candidates = h,
                      .max_items = widest->items,
                      .max_states = widest->count};
    rb_scratch *m = &r->memory;
    rb_dense_take(m, type, capacity, engine->setup.units, &r->mean);
    r->items = r->mean;
    if (!et_binary(&engine->setup.values)) rb_dense_take(m, type, capacity, items, &r->items);
    r->evidence = rb_take(m, capacity, sizeof *r->evidence);
    r->norm = rb_take(m, capacity, sizeof *r->norm);
    r->there = rb_take(m, capacity, sizeof *r->there);
    r->active = rb_take(m, capacity, sizeof *r->active);
    r->energy = rb_take(m, capacity, sizeof *r->energy);
    r->used = rb_take(m, capacity, sizeof *r->used);
    r->width = rb_take(m, capacity, sizeof *r->width);
    r->map = rb_take(m, capacity, sizeof *r->map);
    r->candidates = rb_take(m, capacity, (size_t)r->max_items * sizeof *r->candidates);
    if (keep == ET_KEEP_PAIRS && widest->max_active > 1) {
        r->pairs = rb_take(m, capacity, (size_t)(h * h) * sizeof *r->pairs);
    } else if (keep == ET_KEEP_STATES) {
        r->states = rb_take(m, capacity, (size_t)r->max_states * sizeof *r->states);
        rb_dense_take(m, type, capacity, items, &r->single);
    }
    return m->err ? rb_scratch_end(m) : RB_OK;
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
