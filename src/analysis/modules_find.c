/* Modules of a model in the samples of a source. */
#include "modules.h"

struct encoding {
    const rb_model *model;
    rb_source *source;
};

static rb_error encode(void *state, rb_context *ctx, rb_rows_fn fn, void *user) {
    const struct encoding *e = state;
    return rb_encode(ctx, e->model, e->source, fn, user);
}

/* Notes what the indices of the members mean in the data. */
static rb_error note_data(rb_context *ctx, const rb_model *model, const rb_source *source,
                          rb_modules *modules) {
    const rb_preprocess *p = model->preprocess;
    modules->n_samples = rb_source_samples(source);
    modules->n_features = p->n_input;
    if (!p->selected) {
        return RB_OK;
    }
    modules->column_of = rb_alloc(ctx, p->n_features, sizeof *modules->column_of);
    for (int64_t k = 0; modules->column_of && k < p->n_features; k++) {
        modules->column_of[k] = p->selected[k];
    }
    return modules->column_of ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_modules_find(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_modules_options *options, rb_modules **modules) {
    *modules = NULL;
    int64_t rows, columns, noises;
    const double *loadings = rb_model_array(model, "loadings", &rows, &columns);
    const double *noise = rb_model_array(model, "noise", &noises, NULL);
    if (!loadings || !noise || rows != noises) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "modules need a model with loadings and a noise variance for each feature, which "
            "method '%s' does not give",
            rb_model_method(model));
    }
    struct encoding state = {model, source};
    rb_modules_input input = {
        .n_features = rows,
        .n_units = columns,
        .loadings = loadings,
        .noise = noise,
        .walk = encode,
        .state = &state,
    };
    rb_error err = rb_modules_extract(ctx, &input, options, modules);
    if (!err) {
        err = note_data(ctx, model, source, *modules);
    }
    if (err) {
        rb_modules_free(*modules);
        *modules = NULL;
    }
    return err;
}
