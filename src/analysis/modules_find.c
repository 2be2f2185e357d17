/* Modules of a model in the samples of a source. */
#include "analysis.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct encoding {
    const rb_model *model;
    rb_source *source;
};

static rb_error encode(void *state, rb_context *ctx, rb_rows_fn fn, void *user) {
    const struct encoding *e = state;
    return rb_encode(ctx, e->model, e->source, fn, user);
}

static rb_error encode_blocks(void *state, rb_context *ctx, rb_block_fn fn, void *user) {
    const struct encoding *e = state;
    return rb_encode_blocks(ctx, e->model, e->source, fn, user);
}

/* Notes what the indices of the members mean in the data. */
static rb_error note_data(rb_context *ctx, const rb_model *model, const rb_source *source,
                          rb_modules *modules) {
    const rb_preprocess *p = model->preprocess;
    modules->n_samples = rb_source_samples(source);
    modules->n_features = p->n_input;
    if (!p->selected) return RB_OK;
    modules->column_of = rb_alloc(ctx, p->n_features, sizeof *modules->column_of);
    for (int64_t k = 0; modules->column_of && k < p->n_features; k++)
        modules->column_of[k] = p->selected[k];
    return modules->column_of ? RB_OK : RB_ERROR_MEMORY;
}

/* ---- noise ---- */

bool rb_has_causes(const rb_model *model) {
    return rb_model_array(model, "sigma", NULL, NULL) &&
           rb_model_array(model, "prior", NULL, NULL) &&
           !rb_model_array(model, "slab_mean", NULL, NULL);
}

double rb_active_above(const rb_model *model) {
    int64_t count = 0;
    const double *values = rb_model_array(model, "values", &count, NULL);
    double least = values && rb_has_causes(model) ? HUGE_VAL : 1;
    for (int64_t a = 0; a < count && values; a++)
        least = fmin(least, fabs(values[a]));
    return least / 2;
}

bool rb_modules_possible(const rb_model *model) {
    int64_t features = 0, variances = -1;
    return rb_model_array(model, "loadings", &features, NULL) &&
           (rb_has_causes(model) ||
            (rb_model_array(model, "noise", &variances, NULL) && variances == features));
}

/* <s_h>: sum_v p(s_h = v) v, the prior of binary causes. */
static double mean_cause(const rb_model *model, const double *prior, int64_t priors, int64_t h) {
    int64_t count = 0, columns = 0, rows = 0;
    const double *values = rb_model_array(model, "values", &count, NULL);
    const double *chances = rb_model_array(model, "value_prior", &rows, &columns);
    double mean = 0;
    if (!values || !chances || rows != count || columns < 1) return prior[priors > 1 ? h : 0];
    for (int64_t a = 0; a < count; a++)
        mean += values[a] * chances[a * columns + (columns > h ? h : 0)];
    return mean;
}

/* The variance of a count is its expectation: sum_h <s_h> W_kh. */
static rb_error find_counts(rb_context *ctx, const rb_model *model, double *variances) {
    int64_t features = rb_model_features(model), units = rb_model_units(model), priors;
    const double *fields, *prior = NULL;
    rb_model_array(model, "prior", &priors, NULL);
    priors = priors == units ? units : 1;
    rb_error err = rb_model_need_array(ctx, model, "loadings", features, units, &fields);
    err = err ? err : rb_model_need_array(ctx, model, "prior", priors, 1, &prior);
    for (int64_t k = 0; !err && k < features; k++) {
        variances[k] = 0;
        for (int64_t h = 0; h < units; h++)
            variances[k] += mean_cause(model, prior, priors, h) * fields[k * units + h];
    }
    return err;
}

/* One sigma for all features, or a variance for each. */
static rb_error find_variances(rb_context *ctx, const rb_model *model, double *variances) {
    int64_t features = rb_model_features(model);
    const double *values;
    bool causes = rb_has_causes(model);
    rb_error err = causes ? rb_model_need_array(ctx, model, "sigma", 1, 1, &values)
                          : rb_model_need_array(ctx, model, "noise", features, 1, &values);
    for (int64_t k = 0; !err && k < features; k++)
        variances[k] = causes ? *values * *values : values[k];
    return err;
}

/* Of a feature that the model leaves no noise: 0 would make information infinite. */
static const double NOISE_MIN = 1e-100;

/* The noise variance of each feature. */
static rb_error find_noise(rb_context *ctx, const rb_model *model, double *noise) {
    const char *kind = rb_model_attribute(model, "noise");
    bool counts = rb_has_causes(model) && kind && strcmp(kind, "poisson") == 0;
    rb_error err = counts ? find_counts(ctx, model, noise) : find_variances(ctx, model, noise);
    for (int64_t k = 0; !err && k < rb_model_features(model); k++)
        noise[k] = fmax(noise[k], NOISE_MIN);
    return err;
}

/* ---- stability ---- */

static void note_stability(const rb_model *model, rb_modules *modules) {
    int64_t rows = 0;
    const double *stability = rb_model_array(model, "stability", &rows, NULL);
    for (int64_t r = 0; r < modules->count && stability; r++) {
        rb_module *m = &modules->list[r];
        if (m->unit < rows && stability[m->unit] > 0 && stability[m->unit] <= 1)
            m->stability = stability[m->unit];
    }
}

/* ---- all of it ---- */

static bool has_sparse_loadings(const rb_model *model) {
    const char *text = rb_model_attribute(model, "sparse-loadings");
    double value = 0;
    return text && rb_number_scan(text, text + strlen(text), &value) && value > 0;
}

/* What the modules of a model are found in; state must outlive it. */
static rb_modules_input input_of(const rb_model *model, const double *noise,
                                 struct encoding *state) {
    rb_modules_input input = {
        .noise = noise,
        .probabilities = rb_has_causes(model),
        .halfway = rb_active_above(model),
        .valued = rb_model_array(model, "values", NULL, NULL),
        .chances = strcmp(rb_model_method(model), "rbm") == 0,
        .sparse_loadings = has_sparse_loadings(model),
        .sparse_codes = model->method->sparser,
        .walk = encode,
        .walk_blocks = encode_blocks,
        .state = state,
    };
    if (strcmp(rb_model_method(model), "fabia") == 0)
        input.scale = rb_model_array(model, "scale", NULL, NULL);
    input.loadings = rb_model_array(model, "loadings", &input.n_features, &input.n_units);
    return input;
}

/* Can modules be found? Then the noise of each feature, to be freed. */
static rb_error begin(rb_context *ctx, const rb_model *model, double **noise) {
    *noise = NULL;
    if (!rb_modules_possible(model)) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "modules need a model with loadings and a noise variance for each feature, which "
            "method '%s' does not give",
            rb_model_method(model));
    }
    *noise = rb_alloc(ctx, rb_model_features(model), sizeof **noise);
    return *noise ? find_noise(ctx, model, *noise) : RB_ERROR_MEMORY;
}

rb_error rb_unit_information(rb_context *ctx, const rb_model *model, rb_source *source,
                             double *information) {
    double *noise;
    struct encoding state = {model, source};
    rb_error err = begin(ctx, model, &noise);
    if (!err) {
        rb_modules_input input = input_of(model, noise, &state);
        err = rb_information_of(ctx, &input, information);
    }
    rb_free(noise);
    return err;
}

rb_error rb_modules_find(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_options *given, rb_modules **modules) {
    rb_modules_options options;
    struct encoding state = {model, source};
    double *noise;
    *modules = NULL;
    rb_error err = begin(ctx, model, &noise);
    err = err ? err : rb_options_take(ctx, given, rb_modules_group(), &options);
    if (!err) {
        rb_modules_input input = input_of(model, noise, &state);
        err = rb_modules_extract(ctx, &input, &options, modules);
    }
    if (!err) note_stability(model, *modules);
    err = err ? err : note_data(ctx, model, source, *modules);
    rb_free(noise);
    if (err) {
        rb_modules_free(*modules);
        *modules = NULL;
    }
    return err;
}
