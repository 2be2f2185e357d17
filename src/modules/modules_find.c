/* Modules of a model in the samples of a source. */
#include "modules.h"

#include <math.h>

static rb_error give_rows(void *state, rb_context *ctx, rb_rows_fn fn, void *user) {
    return rb_encoded_rows(ctx, state, fn, user);
}

static rb_error give_blocks(void *state, rb_context *ctx, rb_block_fn fn, void *user) {
    return rb_encoded_blocks(ctx, state, fn, user);
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

bool rb_modules_possible(const rb_model *model) {
    int64_t features = 0, variances = -1;
    return rb_model_array(model, "loadings", &features, NULL) &&
           (rb_tells_noise(model) ||
            (rb_model_array(model, "noise", &variances, NULL) && variances == features));
}

/* Of a feature that the model leaves no noise: 0 would make information infinite. */
static const double NOISE_MIN = 1e-100;

/* The noise variance of each feature. */
static rb_error find_noise(rb_context *ctx, const rb_model *model, double *noise) {
    int64_t features = rb_model_features(model);
    const double *values = NULL;
    rb_error err = rb_tells_noise(model)
                       ? model->method->noise(ctx, model, noise)
                       : rb_model_need_array(ctx, model, "noise", features, 1, &values);
    for (int64_t k = 0; !err && k < features; k++)
        noise[k] = fmax(values ? values[k] : noise[k], NOISE_MIN);
    return err;
}

static void note_stability(const rb_model *model, rb_modules *modules) {
    int64_t rows = 0;
    const double *stability = rb_model_array(model, "stability", &rows, NULL);
    for (int64_t r = 0; r < modules->count && stability; r++) {
        rb_module *m = &modules->list[r];
        if (m->unit < rows && stability[m->unit] > 0 && stability[m->unit] <= 1)
            m->stability = stability[m->unit];
    }
}

/* A fit that left out equal samples has no module of them. */
static rb_error tell_same(rb_context *ctx, const rb_encoded *kept) {
    const char *dropped = rb_model_attribute(kept->model, "drop-samples");
    bool apart = dropped && strstr(dropped, "duplicates");
    return apart ? RB_OK : rb_source_tell_same(ctx, kept->source, false);
}

double rb_resting_samples(const rb_model *model, int64_t n_samples) {
    bool medians = model->preprocess->options.centre == RB_CENTRE_MEDIAN;
    return medians ? fmin(20, 0.2 * (double)n_samples) : 0;
}

/* What the modules of a model are found in. */
static rb_modules_input input_of(rb_encoded *kept, const double *noise) {
    const rb_model *model = kept->model;
    rb_modules_input input = {
        .noise = noise,
        .probabilities = rb_has_causes(model),
        .halfway = rb_active_above(model),
        .valued = rb_has_valued_causes(model),
        .chances = rb_has_chances(model),
        .sparse_loadings = rb_has_sparse_loadings(model),
        .sparse_codes = model->method->sparser,
        .recurring = rb_model_array(model, "stability", NULL, NULL),
        .resting = rb_resting_samples(model, kept->source->n_samples),
        .scale = rb_code_scale(model),
        .walk = give_rows,
        .walk_blocks = give_blocks,
        .state = kept,
    };
    input.loadings = rb_model_array(model, "loadings", &input.n_features, &input.n_units);
    return input;
}

/* Can modules be found? Then the noise of each feature, to be freed. */
static rb_error begin(rb_context *ctx, const rb_model *model, double **noise) {
    *noise = NULL;
    if (!rb_modules_possible(model)) {
        rb_coder *coder; /* what is wrong with a damaged model */
        rb_error err = rb_coder_open(ctx, model, &coder);
        rb_coder_free(coder);
        return err ? err
                   : rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                             "modules need a model with loadings and a noise variance for each "
                             "feature, which method '%s' does not give",
                             rb_model_method(model));
    }
    *noise = rb_alloc(ctx, rb_model_features(model), sizeof **noise);
    return *noise ? find_noise(ctx, model, *noise) : RB_ERROR_MEMORY;
}

rb_error rb_encoded_information(rb_context *ctx, rb_encoded *kept, double *information) {
    double *noise;
    rb_error err = begin(ctx, kept->model, &noise);
    if (!err) {
        rb_modules_input input = input_of(kept, noise);
        err = rb_information_of(ctx, &input, information);
    }
    rb_free(noise);
    return err;
}

rb_error rb_unit_information(rb_context *ctx, const rb_model *model, rb_source *source,
                             double *information) {
    rb_encoded kept = {.model = model, .source = source, .most = 1};
    rb_error err = rb_encoded_information(ctx, &kept, information);
    rb_encoded_clear(&kept);
    return err;
}

rb_error rb_encoded_modules(rb_context *ctx, rb_encoded *kept, const rb_options *given,
                            rb_modules **modules) {
    rb_modules_options options;
    double *noise;
    *modules = NULL;
    rb_error err = begin(ctx, kept->model, &noise);
    err = err ? err : rb_options_take(ctx, given, rb_modules_group(), &options);
    if (!err) {
        rb_modules_input input = input_of(kept, noise);
        err = rb_modules_extract(ctx, &input, &options, modules);
    }
    if (!err) note_stability(kept->model, *modules);
    err = err ? err : note_data(ctx, kept->model, kept->source, *modules);
    err = err ? err : tell_same(ctx, kept);
    rb_free(noise);
    if (err) {
        rb_modules_free(*modules);
        *modules = NULL;
    }
    return err;
}

rb_error rb_modules_find(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_options *given, rb_modules **modules) {
    rb_encoded kept = {.model = model, .source = source, .most = RB_KEPT_BYTES};
    rb_error err = rb_encoded_modules(ctx, &kept, given, modules);
    rb_encoded_clear(&kept);
    return err;
}
