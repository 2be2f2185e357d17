/* The engine of the E-step: its memory, and what is computed once for all samples. */
#include "engine.h"

#include <rarebit/version.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- kernels: those of the context's instruction set ---- */

extern const et_kernels et_kernels_ref;
#if defined(__x86_64__)
extern const et_kernels et_kernels_avx2, et_kernels_avx512;
#endif

const et_kernels *et_kernels_of(const rb_context *ctx) {
    rb_build build;
    rb_build_info(ctx, &build);
#if defined(__x86_64__)
    if (strcmp(build.kernels, et_kernels_avx512.name) == 0) {
        return &et_kernels_avx512;
    }
    if (strcmp(build.kernels, et_kernels_avx2.name) == 0) {
        return &et_kernels_avx2;
    }
#endif
    return &et_kernels_ref;
}

/* ---- memory ---- */

enum {
    TASK = ET_FEATURES + 1, /* samples of a task, of a group of lanes */
    LANES,
    PADDED,  /* H in whole lanes */
    SCORES,  /* H and H' */
    STATES,  /* of the widest tree */
    INNER,   /* those with children */
    WIDE,    /* H' in lanes */
    GRAM,    /* H' where fields add up, else 1 */
    VECTORS, /* superpositions on the way to a state */
    /* Where values may be missing, else 0. */
    MISSING_TASK,
    MISSING_LANES,
    MISSING_UNITS,
    MISSING_FIELDS,
    /* Of results: samples, as many where pairs and states are kept, else 0; H'^2. */
    CAPACITY,
    CAPACITY_PAIRS,
    CAPACITY_STATES,
    SQUARE,
    DIMS
};

static const rb_field engine_fields[] = {
    {"logit", offsetof(et_engine, logit), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_UNITS, 0},
    {"square", offsetof(et_engine, square), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_UNITS, 0},
    {"gram", offsetof(et_engine, gram), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_UNITS, ET_UNITS},
    {"squares", offsetof(et_engine, squares), RB_FIELD_DENSE, RB_KEPT_FLOAT64, MISSING_UNITS,
     ET_FEATURES},
    {0},
};

static const rb_field scratch_fields[] = {
    {"y", offsetof(et_scratch, y), RB_FIELD_DENSE, RB_KEPT_FLOAT64, TASK, ET_FEATURES},
    {"b", offsetof(et_scratch, b), RB_FIELD_DENSE, RB_KEPT_FLOAT64, TASK, ET_UNITS},
    {"single", offsetof(et_scratch, single), RB_FIELD_DENSE, RB_KEPT_FLOAT64, LANES, PADDED},
    {"scores", offsetof(et_scratch, scores), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SCORES, 0},
    {"energy", offsetof(et_scratch, energy), RB_FIELD_POINTER, RB_KEPT_FLOAT64, STATES, LANES},
    {"work", offsetof(et_scratch, work), RB_FIELD_POINTER, RB_KEPT_FLOAT64, INNER, WIDE},
    {"gram", offsetof(et_scratch, gram), RB_FIELD_POINTER, RB_KEPT_FLOAT64, GRAM, WIDE},
    {"start", offsetof(et_scratch, start), RB_FIELD_POINTER, RB_KEPT_FLOAT64, WIDE, 0},
    {"mean", offsetof(et_scratch, mean), RB_FIELD_POINTER, RB_KEPT_FLOAT64, WIDE, 0},
    {"pairs", offsetof(et_scratch, pairs), RB_FIELD_POINTER, RB_KEPT_FLOAT64, GRAM, WIDE},
    {"vectors", offsetof(et_scratch, vectors), RB_FIELD_POINTER, RB_KEPT_FLOAT64, VECTORS,
     ET_FEATURES},
    {"mask", offsetof(et_scratch, mask), RB_FIELD_DENSE, RB_KEPT_FLOAT64, MISSING_TASK,
     ET_FEATURES},
    {"square", offsetof(et_scratch, square), RB_FIELD_DENSE, RB_KEPT_FLOAT64, MISSING_TASK,
     ET_UNITS},
    {"packed", offsetof(et_scratch, packed), RB_FIELD_DENSE, RB_KEPT_FLOAT64, MISSING_LANES,
     ET_FEATURES},
    {"fields", offsetof(et_scratch, fields), RB_FIELD_DENSE, RB_KEPT_FLOAT64, MISSING_FIELDS,
     ET_FEATURES},
    {0},
};

static const rb_field results_fields[] = {
    {"mean", offsetof(et_results, mean), RB_FIELD_DENSE, RB_KEPT_WORKING, CAPACITY, ET_UNITS},
    {"single", offsetof(et_results, single), RB_FIELD_DENSE, RB_KEPT_WORKING, CAPACITY_STATES,
     ET_UNITS},
    {"evidence", offsetof(et_results, evidence), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY, 0},
    {"norm", offsetof(et_results, norm), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY, 0},
    {"there", offsetof(et_results, there), RB_FIELD_POINTER, RB_KEPT_INTEGER, CAPACITY, 0},
    {"active", offsetof(et_results, active), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY, 0},
    {"energy", offsetof(et_results, energy), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY, 0},
    {"used", offsetof(et_results, used), RB_FIELD_POINTER, RB_KEPT_FLAG, CAPACITY, 0},
    {"pairs", offsetof(et_results, pairs), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY_PAIRS,
     SQUARE},
    {"states", offsetof(et_results, states), RB_FIELD_POINTER, RB_KEPT_FLOAT64, CAPACITY_STATES,
     STATES},
    {0},
};

static const rb_part engine_part[] = {{RB_PART_SCRATCH, engine_fields, 0}, {0}};
static const rb_part scratch_part[] = {{RB_PART_SCRATCH, scratch_fields, 0}, {0}};
static const rb_part results_part[] = {{RB_PART_SCRATCH, results_fields, 0}, {0}};

/* Once the trees are there. */
static rb_shape shape_of(const et_engine *engine) {
    const et_setup *setup = &engine->setup;
    const et_tree *tree = et_tree_of(engine, engine->widths);
    int64_t h = setup->units, candidates = tree->candidates;
    bool enumerable = h <= RB_ET_MAX_EXACT, missing = setup->missing;
    bool linear = setup->model->energies == et_linear_energies;
    rb_shape shape = {.type = setup->type};
    const int64_t dims[DIMS] = {
        [RB_DIM_ONE] = 1,
        [ET_UNITS] = h,
        [ET_FEATURES] = setup->n_features,
        [TASK] = ET_TASK_SAMPLES,
        [LANES] = ET_LANES,
        [PADDED] = (h + ET_LANES - 1) / ET_LANES * ET_LANES,
        [SCORES] = 2 * h,
        [STATES] = tree->count,
        [INNER] = tree->inner,
        [WIDE] = candidates * ET_LANES,
        [GRAM] = linear ? candidates : 1,
        [VECTORS] = (enumerable ? h : tree->max_active) + 1,
        [MISSING_TASK] = missing ? ET_TASK_SAMPLES : 0,
        [MISSING_LANES] = missing ? ET_LANES : 0,
        [MISSING_UNITS] = missing ? h : 0,
        [MISSING_FIELDS] = missing ? (enumerable ? h : candidates) : 0,
        [SQUARE] = candidates * candidates,
    };
    for (int i = 0; i < DIMS; i++) {
        shape.dims[i] = dims[i];
    }
    return shape;
}

static rb_error scratch_new(rb_context *ctx, const et_engine *engine, et_scratch *scratch) {
    const et_setup *setup = &engine->setup;
    rb_error err = rb_parts_new(ctx, scratch_part, &engine->shape, scratch);
    if (err) {
        return err;
    }
    scratch->few = rb_alloc(ctx, setup->units + ET_LANES, sizeof *scratch->few);
    if (scratch->few && setup->missing) {
        scratch->places = rb_alloc(ctx, ET_LANES * setup->n_features, sizeof *scratch->places);
    }
    return scratch->few && (scratch->places || !setup->missing) ? RB_OK : RB_ERROR_MEMORY;
}

/* Trees for samples with more active causes than usual, one more each, up to the limits. */
static rb_error widen(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    int64_t more = setup->widest_active - setup->max_active;
    if (more <= 0) {
        return RB_OK;
    }
    rb_error err = et_tree_check(ctx, setup->max_candidates, setup->widest_active);
    if (err) {
        return err;
    }
    engine->wider = rb_alloc_zero(ctx, more, sizeof *engine->wider);
    if (!engine->wider) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t step = 1; !err && step <= more; step++) {
        int64_t candidates = setup->candidates + 2 * step, active = setup->max_active + step;
        candidates = candidates < setup->max_candidates ? candidates : setup->max_candidates;
        active = active < candidates ? active : candidates;
        err = et_tree_new(ctx, candidates, active, &engine->wider[engine->widths]);
        engine->widths += !err;
    }
    return err;
}

static rb_error allocate(rb_context *ctx, et_engine *engine) {
    const et_setup *setup = &engine->setup;
    rb_error err = et_tree_new(ctx, setup->candidates, setup->max_active, &engine->tree);
    err = err ? err : widen(ctx, engine);
    if (!err) {
        engine->shape = shape_of(engine);
        err = rb_parts_new(ctx, engine_part, &engine->shape, engine);
    }
    if (!err) {
        engine->workers = rb_context_threads(ctx);
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
    engine->kernels = et_kernels_of(ctx);
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
        rb_parts_free(scratch_part, &engine->scratch[i]);
        rb_free(engine->scratch[i].few);
        rb_free(engine->scratch[i].places);
    }
    rb_free(engine->scratch);
    et_tree_free(&engine->tree);
    for (int i = 0; i < engine->widths; i++) {
        et_tree_free(&engine->wider[i]);
    }
    rb_free(engine->wider);
    rb_parts_free(engine_part, engine);
    rb_free(engine);
}

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t capacity, et_keep keep,
                        et_results *r) {
    rb_shape shape = engine->shape;
    const et_tree *widest = et_tree_of(engine, engine->widths);
    *r = (et_results){
        .capacity = capacity, .max_candidates = widest->candidates, .max_states = widest->count};
    shape.dims[CAPACITY] = capacity;
    shape.dims[CAPACITY_PAIRS] = keep == ET_KEEP_PAIRS && widest->max_active > 1 ? capacity : 0;
    shape.dims[CAPACITY_STATES] = keep == ET_KEEP_STATES ? capacity : 0;
    rb_error err = rb_parts_new(ctx, results_part, &shape, r);
    if (!err) {
        r->width = rb_alloc_zero(ctx, capacity, sizeof *r->width);
        r->candidates = rb_alloc_zero(ctx, capacity * r->max_candidates, sizeof *r->candidates);
        r->map = rb_alloc_zero(ctx, capacity, sizeof *r->map);
        err = r->width && r->candidates && r->map ? RB_OK : RB_ERROR_MEMORY;
    }
    if (err) {
        et_results_free(r);
    }
    return err;
}

void et_results_free(et_results *r) {
    rb_parts_free(results_part, r);
    rb_free(r->width);
    rb_free(r->candidates);
    rb_free(r->map);
    *r = (et_results){0};
}

/* ---- parameters ---- */

/* The prior's terms; a fixed number of causes makes all its states equally likely. */
static double prepare_prior(et_engine *engine) {
    const et_setup *setup = &engine->setup;
    const double *prior = engine->parameters->prior;
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

void et_prepare(rb_context *ctx, et_engine *engine, const et_parameters *p, double beta,
                double beta_prior) {
    engine->parameters = p;
    engine->beta = beta;
    engine->beta_prior = beta_prior;
    engine->constant = prepare_prior(engine);
    engine->by_energy = !engine->equal_prior;
    engine->setup.model->noise->prepare(engine);
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
