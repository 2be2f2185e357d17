/* Principal component analysis as a method: units are directions of largest variance.
 *
 * Codes are projections, c = W'v with orthonormal loadings W; with `whiten` loadings are W
 * Lambda^1/2 and codes have mean square 1. The noise is that of probabilistic PCA (linear.c).
 */
#include "pca.h"

#include <math.h>
#include <stddef.h>

typedef struct rb_pca_options {
    pca_options base;
    bool whiten;
} rb_pca_options;

static const rb_option rows[] = {
    {"units", 'k', RB_OPTION_INTEGER, offsetof(rb_pca_options, base.units), "10", 1, 1e9, NULL, "N",
     "number of directions", RB_OPTION_COMMON},
    {"solver", 0, RB_OPTION_CHOICE, offsetof(rb_pca_options, base.solver), "auto", 0, 0,
     "auto|exact|randomized", "HOW",
     "exact takes one pass (two where features outnumber samples) and a square matrix of the "
     "smaller number; randomized takes a pass per iteration; auto is exact up to 1000 features or "
     "samples"},
    {"whiten", 0, RB_OPTION_FLAG, offsetof(rb_pca_options, whiten), "false", 0, 0, NULL, NULL,
     "scale loadings so that the codes of each unit have mean square 1"},
    {0},
};

static const rb_option_rule rules[] = {
    {"solver=auto", "iterations=12"},
    {"solver=auto", "tolerance=1e-3"},
    {"solver=randomized", "iterations=12"},
    {"solver=randomized", "tolerance=1e-3"},
    {"solver=exact", "-iterations -tolerance -patience"},
    {0},
};

typedef struct state {
    pca_fit pca;
    bool whiten;
} state;

static const rb_part parts[] = {
    {RB_PART_PARAMETERS, pca_parameter_fields, 0},
    {RB_PART_SURVEY, factors_survey_fields, 0},
    {RB_PART_SUMS, pca_sum_fields, 0},
    {RB_PART_PROGRESS, pca_progress_fields, 0},
    {RB_PART_SCRATCH, pca_scratch_fields, 0},
    {0},
};

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *from, void **made) {
    (void)from; /* refused */
    state *s = *made;
    s->whiten = ((const rb_pca_options *)options)->whiten;
    rb_error err = pca_start(ctx, problem, options, &s->pca);
    if (!err && s->pca.plan.exact && problem->fit->restarts > 1 && problem->restart == 0)
        rb_log(ctx, RB_LOG_INFO, "an exact solution is the same from every start");
    return err;
}

static void objective(void *made, double *value, double *estep) {
    *value = pca_explained(made);
    *estep = NAN;
}

static bool done(const void *made) {
    return ((const pca_fit *)made)->found;
}

/* The last E-step has nothing to find: directions are those of the last M-step. */
static bool reads(const void *made) {
    return !((const factors_fit *)made)->last;
}

static rb_error store(rb_context *ctx, void *made, rb_model *model) {
    state *s = made;
    rb_dense w = s->pca.directions;
    for (int64_t k = 0; s->whiten && k < w.rows; k++)
        for (int64_t j = 0; j < w.cols; j++)
            rb_dense_set(w, k, j, rb_dense_get(w, k, j) * sqrt(s->pca.values[j]));
    return factors_linear_store(ctx, model, w, s->whiten ? NULL : s->pca.values, pca_noise(&s->pca),
                                pca_total(&s->pca));
}

/* Codes are W' x. */
static rb_error layer(rb_context *ctx, const rb_model *model, rb_method_layer *layer) {
    return rb_model_need_array(ctx, model, "loadings", rb_model_features(model),
                               rb_model_units(model), &layer->weights);
}

const rb_method rb_method_pca = {
    .size = sizeof(rb_method),
    .name = "pca",
    .title = "principal component analysis",
    .purpose = "directions of largest variance; a fast baseline",
    .options_size = sizeof(rb_pca_options),
    .code_name = "X_pca",
    .options = rows,
    .rules = rules,
    .resolve = pca_resolve,
    .units = factors_units,
    .block_samples = pca_block_samples,
    .parts = parts,
    .shape = pca_shape,
    .state_size = sizeof(state),
    .start = start,
    .finish = pca_finish,
    .survey = factors_survey,
    .begin = pca_begin,
    .block = pca_block,
    .end = pca_end,
    .mstep = pca_mstep,
    .objective = objective,
    .last = factors_last,
    .done = done,
    .reads = reads,
    .no_start = true,
    .store = store,
    .coder_new = factors_linear_new,
    .coder_free = factors_coder_free,
    .encode = factors_linear_encode,
    .evaluate = factors_linear_evaluate,
    .arrays = factors_linear_arrays,
    .draw = factors_linear_draw,
    .layer = layer,
    .emit = factors_linear_emit,
    .spreads = factors_spread,
};
