/* What others ask of a model of rfn. */
#include "coder.h"

#include <stdlib.h>
#include <string.h>

int64_t rfn_shrinks_from(const rb_model *model) {
    const char *text = rb_model_attribute(model, "shrinks_from");
    return text ? strtoll(text, NULL, 10) : 0;
}

bool rfn_has_sparse_loadings(const rb_model *model) {
    const char *text = rb_model_attribute(model, "sparse-loadings");
    double value = 0;
    return text && rb_number_scan(text, text + strlen(text), &value) && value > 0;
}

bool rfn_iterates(const rb_model *model) {
    const char *estep = rb_model_attribute(model, "estep");
    return estep && strcmp(estep, "newton") != 0;
}

static bool attribute_is(const rb_model *model, const char *name, const char *value) {
    const char *text = rb_model_attribute(model, name);
    return !text || strcmp(text, value) == 0;
}

/* v = W h + e, e ~ N(0, Psi), h ~ N(xi, I) gives max(0, mu_p) / scale (Clevert et al. 2015,
 * E-step). */
rb_error rfn_layer(rb_context *ctx, const rb_model *model, rb_method_layer *layer) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    if (!attribute_is(model, "activation", "rectify") ||
        !attribute_is(model, "activation-threshold", "0") ||
        rb_model_array(model, "noise_covariance", NULL, NULL) ||
        rb_model_array(model, "prior_covariance", NULL, NULL)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a layer is made of an rfn with diagonal noise, `prior-covariance` 1 and "
                       "activation rectify alone; fit one without these options");
    }
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, l, &layer->weights);
    err = err ? err : rb_model_need_array(ctx, model, "noise", m, 1, &layer->noise);
    err = err ? err : rb_model_need_array(ctx, model, "scale", l, 1, &layer->scale);
    err = err ? err : rb_model_need_array(ctx, model, "dead", l, 1, &layer->dead);
    if (!err && rb_model_array(model, "prior_mean", NULL, NULL))
        err = rb_model_need_array(ctx, model, "prior_mean", l, 1, &layer->prior_mean);
    layer->solved = rb_model_array(model, "multipliers", NULL, NULL) != NULL;
    return err;
}
