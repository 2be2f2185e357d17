/* The engine of the E-step: its memory, and what is computed once for all samples. */
#include "engine.h"

#include <math.h>

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static rb_error scratch_new(rb_context *ctx, const et_engine *engine, et_scratch *scratch) {
    const et_setup *setup = &engine->setup;
    const et_tree *tree = engine->full.count ? &engine->full : &engine->tree;
    int64_t h = setup->units, candidates = tree->candidates, room, square = 1, vectors = 1;
    bool fits = rb_multiply(larger(tree->inner, engine->tree.inner), candidates, &room);
    if (tree->max_active > 1) {
        fits = fits && rb_multiply(candidates, candidates, &square);
    }
    if (setup->model->max) {
        fits = fits && rb_multiply(tree->max_active, setup->n_features, &vectors);
    }
    if (!fits) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "%lld candidates cannot be addressed",
                       (long long)candidates);
    }
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, setup->n_features, &scratch->y);
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, h, &scratch->b);
    }
    if (err) {
        return err;
    }
    scratch->single = rb_alloc(ctx, h, sizeof *scratch->single);
    scratch->mean = rb_alloc(ctx, h, sizeof *scratch->mean);
    scratch->scores = rb_alloc(ctx, 2 * h, sizeof *scratch->scores);
    scratch->every = rb_alloc(ctx, h, sizeof *scratch->every);
    scratch->energy =
        rb_alloc(ctx, larger(tree->count, engine->tree.count), sizeof *scratch->energy);
    scratch->work = rb_alloc(ctx, room, sizeof *scratch->work);
    scratch->gram = rb_alloc(ctx, square, sizeof *scratch->gram);
    scratch->vectors = rb_alloc(ctx, vectors, sizeof *scratch->vectors);
    bool all = scratch->single && scratch->mean && scratch->scores && scratch->every &&
               scratch->energy && scratch->work && scratch->gram && scratch->vectors;
    for (int64_t i = 0; all && i < h; i++) {
        scratch->every[i] = (int32_t)i;
    }
    return all ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error allocate(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    rb_error err = et_tree_new(ctx, setup->candidates, setup->max_active, &engine->tree);
    if (!err && setup->selection == RB_ET_SELECT_EXACT) {
        err = et_tree_new(ctx, setup->units, setup->units, &engine->full);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, setup->units, setup->n_features,
                           &engine->parameters.fields);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, setup->units, setup->units, &engine->gram);
    }
    engine->workers = rb_context_threads(ctx);
    if (!err) {
        engine->scratch = rb_alloc_zero(ctx, engine->workers, sizeof *engine->scratch);
        err = engine->scratch ? RB_OK : RB_ERROR_MEMORY;
    }
    for (int i = 0; !err && i < engine->workers; i++) {
        err = scratch_new(ctx, engine, &engine->scratch[i]);
    }
    return err;
}

rb_error et_engine_new(rb_context *ctx, const et_setup *setup, et_engine **out) {
    *out = NULL;
    et_engine *engine = rb_alloc_zero(ctx, 1, sizeof *engine);
    if (!engine) {
        return RB_ERROR_MEMORY;
    }
    engine->setup = *setup;
    rb_error err = allocate(ctx, engine);
    if (err) {
        et_engine_free(engine);
        return err;
    }
    *out = engine;
    return RB_OK;
}

void et_engine_free(et_engine *engine) {
    if (!engine) {
        return;
    }
    for (int i = 0; engine->scratch && i < engine->workers; i++) {
        et_scratch *scratch = &engine->scratch[i];
        rb_dense_free(&scratch->y);
        rb_dense_free(&scratch->b);
        rb_free(scratch->single);
        rb_free(scratch->mean);
        rb_free(scratch->scores);
        rb_free(scratch->every);
        rb_free(scratch->energy);
        rb_free(scratch->work);
        rb_free(scratch->gram);
        rb_free(scratch->vectors);
    }
    rb_free(engine->scratch);
    et_tree_free(&engine->tree);
    et_tree_free(&engine->full);
    rb_dense_free(&engine->parameters.fields);
    rb_dense_free(&engine->gram);
    rb_free(engine);
}

void et_prepare(rb_context *ctx, et_engine *engine, double beta, double beta_prior) {
    const et_parameters *p = &engine->parameters;
    double variance = p->sigma * p->sigma, h = (double)engine->setup.units;
    engine->beta = beta;
    engine->beta_prior = beta_prior;
    engine->scale = beta / variance;
    engine->logit = beta_prior * (log(p->prior) - log1p(-p->prior));
    engine->constant = -(double)engine->setup.n_features / 2 * log(2 * M_PI * variance / beta) +
                       beta_prior * h * log1p(-p->prior);
    rb_gemm_lower(ctx, 1, p->fields, RB_PLAIN, p->fields, RB_TRANSPOSED, 0, engine->gram);
    rb_dense_mirror(engine->gram);
}

double et_prior_mass(int64_t units, int64_t max_active, double prior) {
    double h = (double)units, sum = 0;
    for (int64_t k = 0; k <= max_active && k <= units; k++) {
        double size = (double)k;
        sum += exp(lgamma(h + 1) - lgamma(size + 1) - lgamma(h - size + 1) + size * log(prior) +
                   (h - size) * log1p(-prior));
    }
    return sum < 1 ? sum : 1;
}
