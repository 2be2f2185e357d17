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
    return rb_modules_extract(ctx, &input, options, modules);
}
