/* The engine of the E-step: its memory, and what is computed once for all samples. */
#include "engine.h"

#include <math.h>

/* a * b * c values, or NULL with the sentence said. */
static double *room_for(rb_context *ctx, int64_t a, int64_t b, int64_t c) {
    int64_t count;
    if (!rb_multiply(a, b, &count) || !rb_multiply(count, c, &count)) {
        rb_fail(ctx, RB_ERROR_MEMORY, "%lld candidates cannot be addressed", (long long)b);
        return NULL;
    }
    return rb_alloc_zero(ctx, count, sizeof(double));
}

static rb_error missing_scratch_new(rb_context *ctx, const et_setup *setup, int64_t candidates,
                                    et_scratch *scratch) {
    int64_t d = setup->n_features, h = setup->units;
    int64_t packed = h <= RB_ET_MOST_EXACT ? h : candidates;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, d, &scratch->mask);
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, h, &scratch->square);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, ET_LANES, d, &scratch->packed);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, packed, d, &scratch->fields);
    }
    if (!err) {
        scratch->places = rb_alloc(ctx, ET_LANES * d, sizeof *scratch->places);
        err = scratch->places ? RB_OK : RB_ERROR_MEMORY;
    }
    return err;
}

static rb_error scratch_new(rb_context *ctx, const et_engine *engine, et_scratch *scratch) {
    const et_setup *setup = &engine->setup;
    const et_tree *tree = et_tree_of(engine, engine->widths);
    int64_t h = setup->units, candidates = tree->candidates, depth = tree->max_active;
    bool linear = setup->model->energies == et_linear_energies;
    if (h <= RB_ET_MOST_EXACT) {
        depth = h;
    }
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, setup->n_features, &scratch->y);
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, ET_TASK_SAMPLES, h, &scratch->b);
    }
    if (!err) {
        int64_t whole = (h + ET_LANES - 1) / ET_LANES * ET_LANES;
        err = rb_dense_new(ctx, RB_FLOAT64, ET_LANES, whole, &scratch->single);
        scratch->single.cols = h;
    }
    if (err) {
        return err;
    }
    scratch->scores = room_for(ctx, 2, h, 1);
    scratch->energy = room_for(ctx, tree->count, 1, ET_LANES);
    scratch->work = room_for(ctx, tree->inner, candidates, ET_LANES);
    scratch->gram = room_for(ctx, linear ? candidates : 1, candidates, ET_LANES);
    scratch->start = room_for(ctx, 1, candidates, ET_LANES);
    scratch->mean = room_for(ctx, 1, candidates, ET_LANES);
    scratch->pairs = room_for(ctx, linear ? candidates : 1, candidates, ET_LANES);
    scratch->vectors = room_for(ctx, depth + 1, setup->n_features, 1);
    scratch->few = rb_alloc(ctx, h + ET_LANES, sizeof *scratch->few);
    bool all = scratch->scores && scratch->few && scratch->energy && scratch->work &&
               scratch->gram && scratch->start && scratch->mean && scratch->pairs &&
               scratch->vectors;
    if (!all || !setup->missing) {
        return all ? RB_OK : RB_ERROR_MEMORY;
    }
    return missing_scratch_new(ctx, setup, candidates, scratch);
}

/* Trees for samples with more active causes than usual, one more each, up to the limits. */
static rb_error widen(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    int64_t more = setup->most_active - setup->max_active;
    if (more <= 0) {
        return RB_OK;
    }
    rb_error err = et_tree_check(ctx, setup->most_candidates, setup->most_active);
    if (err) {
        return err;
    }
    engine->wider = rb_alloc_zero(ctx, more, sizeof *engine->wider);
    if (!engine->wider) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t step = 1; !err && step <= more; step++) {
        int64_t candidates = setup->candidates + 2 * step, active = setup->max_active + step;
        candidates = candidates < setup->most_candidates ? candidates : setup->most_candidates;
        active = active < candidates ? active : candidates;
        err = et_tree_new(ctx, candidates, active, &engine->wider[engine->widths]);
        engine->widths += !err;
    }
    return err;
}

static rb_error allocate(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    et_parameters *p = &engine->parameters;
    rb_error err = et_tree_new(ctx, setup->candidates, setup->max_active, &engine->tree);
    if (!err) {
        err = widen(ctx, engine);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, setup->units, setup->n_features, &p->fields);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, setup->units, setup->units, &engine->gram);
    }
    if (!err && setup->missing) {
        err = rb_dense_new(ctx, RB_FLOAT64, setup->units, setup->n_features, &engine->squares);
    }
    engine->workers = rb_context_threads(ctx);
    if (!err) {
        p->prior = rb_alloc_zero(ctx, setup->units, sizeof *p->prior);
        engine->logit = rb_alloc_zero(ctx, setup->units, sizeof *engine->logit);
        engine->square = rb_alloc_zero(ctx, setup->units, sizeof *engine->square);
        engine->scratch = rb_alloc_zero(ctx, engine->workers, sizeof *engine->scratch);
        err = p->prior && engine->logit && engine->square && engine->scratch ? RB_OK
                                                                             : RB_ERROR_MEMORY;
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
    engine->kernels = et_kernels_of(ctx);
    rb_error err = allocate(ctx, engine);
    if (err) {
        et_engine_free(engine);
        return err;
    }
    *out = engine;
    return RB_OK;
}

static void scratch_free(et_scratch *scratch) {
    rb_dense_free(&scratch->y);
    rb_dense_free(&scratch->b);
    rb_dense_free(&scratch->single);
    rb_dense_free(&scratch->mask);
    rb_dense_free(&scratch->square);
    rb_dense_free(&scratch->packed);
    rb_dense_free(&scratch->fields);
    rb_free(scratch->places);
    rb_free(scratch->few);
    double *arrays[] = {scratch->scores, scratch->energy, scratch->work,  scratch->gram,
                        scratch->start,  scratch->mean,   scratch->pairs, scratch->vectors};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        rb_free(arrays[i]);
    }
}

void et_engine_free(et_engine *engine) {
    if (!engine) {
        return;
    }
    for (int i = 0; engine->scratch && i < engine->workers; i++) {
        scratch_free(&engine->scratch[i]);
    }
    rb_free(engine->scratch);
    et_tree_free(&engine->tree);
    for (int i = 0; i < engine->widths; i++) {
        et_tree_free(&engine->wider[i]);
    }
    rb_free(engine->wider);
    rb_dense_free(&engine->parameters.fields);
    rb_free(engine->parameters.prior);
    rb_free(engine->logit);
    rb_free(engine->square);
    rb_dense_free(&engine->gram);
    rb_dense_free(&engine->squares);
    rb_free(engine);
}

double et_log_choose(int64_t units, int64_t count) {
    double h = (double)units, k = (double)count;
    int sign; /* lgamma would write it to a global variable */
    return lgamma_r(h + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(h - k + 1, &sign);
}

/* The prior's terms; a fixed number of causes makes all its states equally likely. */
static double prepare_prior(et_engine *engine) {
    const et_setup *setup = &engine->setup;
    const double *prior = engine->parameters.prior;
    double constant = 0;
    engine->equal_prior = true;
    for (int64_t h = 0; h < setup->units; h++) {
        engine->equal_prior = engine->equal_prior && prior[h] == prior[0];
        engine->logit[h] =
            setup->fixed_count ? 0 : engine->beta_prior * (log(prior[h]) - log1p(-prior[h]));
        constant += log1p(-prior[h]);
    }
    return engine->beta_prior *
           (setup->fixed_count ? -et_log_choose(setup->units, setup->max_active) : constant);
}

void et_prepare(rb_context *ctx, et_engine *engine, double beta, double beta_prior) {
    const et_parameters *p = &engine->parameters;
    double variance = p->sigma * p->sigma;
    engine->beta = beta;
    engine->beta_prior = beta_prior;
    engine->scale = beta;
    engine->constant = prepare_prior(engine);
    engine->per_value = 0;
    if (!engine->setup.model->general) {
        engine->scale = beta / variance;
        engine->per_value = -log(2 * M_PI * variance / beta) / 2;
        engine->constant += (double)engine->setup.n_features * engine->per_value;
    }
    rb_gemm_lower(ctx, 1, p->fields, RB_PLAIN, p->fields, RB_TRANSPOSED, 0, engine->gram);
    rb_dense_mirror(engine->gram);
    engine->zero_field = false;
    for (int64_t h = 0; h < engine->setup.units; h++) {
        engine->square[h] = rb_dense_get(engine->gram, h, h);
        engine->zero_field = engine->zero_field || engine->square[h] == 0;
    }
    for (int64_t h = 0; h < engine->squares.rows; h++) {
        const double *field = rb_dense_row(p->fields, h);
        double *square = rb_dense_row(engine->squares, h);
        for (int64_t d = 0; d < engine->squares.cols; d++) {
            square[d] = field[d] * field[d];
        }
    }
}

/* Of causes with priors of their own: how many are active, cause after cause. */
static double unequal_mass(const et_engine *engine) {
    enum { MOST = 64 };
    double chance[MOST + 1] = {1}, sum = 0;
    int64_t most = et_most_active(engine) < MOST ? et_most_active(engine) : MOST;
    for (int64_t h = 0; h < engine->setup.units; h++) {
        double prior = engine->parameters.prior[h];
        for (int64_t k = most; k > 0; k--) {
            chance[k] = chance[k] * (1 - prior) + chance[k - 1] * prior;
        }
        chance[0] *= 1 - prior;
    }
    for (int64_t k = 0; k <= most; k++) {
        sum += chance[k];
    }
    return fmin(sum, 1);
}

int64_t et_most_active(const et_engine *engine) {
    return et_tree_of(engine, engine->widens ? engine->widths : 0)->max_active;
}

double et_prior_mass(const et_engine *engine) {
    const et_setup *setup = &engine->setup;
    double prior = engine->parameters.prior[0], sum = 0;
    if (setup->fixed_count) {
        return 1;
    }
    if (!engine->equal_prior) {
        return unequal_mass(engine);
    }
    for (int64_t k = 0; k <= et_most_active(engine); k++) {
        double size = (double)k, rest = (double)(setup->units - k);
        sum += exp(et_log_choose(setup->units, k) + size * log(prior) + rest * log1p(-prior));
    }
    return fmin(sum, 1);
}
