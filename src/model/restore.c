/* A model from a file or from bytes: what both readers have in common. */
#include "model.h"

#include <math.h>

rb_error rb_model_begin(rb_context *ctx, const char *name, int type, int status, rb_model **model) {
    const rb_method *method = rb_find_method(ctx, name);
    if (!method) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the model is of method '%s', which this program does not have", name);
    }
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    rb_error err = p ? rb_model_new(ctx, method, (rb_type)type, p, model) : RB_ERROR_MEMORY;
    if (!err) {
        (*model)->status = (rb_status)status;
    }
    return err;
}

rb_error rb_model_empty_history(rb_context *ctx, rb_model *model, int64_t count) {
    rb_error err = RB_OK;
    rb_history none = {NAN, NAN, NAN, {0}};
    for (int f = 0; f < RB_METRICS_MAX; f++) {
        none.metrics[f] = NAN;
    }
    for (int64_t t = 0; !err && t < count; t++) {
        err = rb_model_add_history(ctx, model, none);
    }
    return err;
}

const char *rb_model_preprocess_flaw(const rb_model *model) {
    const rb_preprocess *p = model->preprocess;
    int missing = p->options.missing;
    if (!p->selected && p->n_features != p->n_input) {
        return "the selection of features is missing";
    }
    if (p->fill ? missing == RB_MISSING_OMIT
                : missing == RB_MISSING_MEAN || missing == RB_MISSING_MEDIAN) {
        return p->fill ? "there are fillings of missing values, which are left out"
                       : "the fillings of missing values are missing";
    }
    for (int64_t k = 0; k < p->n_features; k++) {
        if (p->selected && (p->selected[k] < (k == 0 ? 0 : p->selected[k - 1] + 1) ||
                            p->selected[k] >= p->n_input)) {
            return "the selected features do not ascend within the input";
        }
        if (p->scale[k] <= 0) {
            return "a scale of the preprocessing is not above 0";
        }
    }
    return rb_method_takes(model->method, &p->options)
               ? NULL
               : "missing values are left out, but its method needs all values";
}
