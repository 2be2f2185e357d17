/* A model from a file or from bytes: what both readers have in common. */
#include "model.h"

#include <math.h>

rb_error rb_model_begin(rb_context *ctx, const char *name, int type, int status, rb_model **model) {
    const rb_method *method = rb_find_made(ctx, name);
    if (!method) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the model is of method '%s', which this program lacks", name);
    }
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    rb_error err = p ? rb_model_new(ctx, method, (rb_type)type, p, model) : RB_ERROR_MEMORY;
    if (!err) (*model)->status = (rb_status)status;
    return err;
}

rb_error rb_model_empty_history(rb_context *ctx, rb_model *model, int64_t count) {
    rb_error err = RB_OK;
    rb_history none = {NAN, NAN, NAN, {0}};
    for (int f = 0; f < RB_METRICS_MAX; f++)
        none.metrics[f] = NAN;
    for (int64_t t = 0; !err && t < count; t++)
        err = rb_model_add_history(ctx, model, none);
    return err;
}

static bool ascends(const int64_t *selected, int64_t count, int64_t end) {
    for (int64_t k = 0; selected && k < count; k++)
        if (selected[k] < (k == 0 ? 0 : selected[k - 1] + 1) || selected[k] >= end) return false;
    return true;
}

/* Are all numbers of a vector, which may be missing, finite and above min? */
static bool are_above(const double *values, int64_t count, double min) {
    int64_t k = 0;
    while (values && k < count && isfinite(values[k]) && values[k] > min)
        k++;
    return !values || k >= count;
}

/* Names, two levels or more in order, finite numbers. */
static bool regress_sound(const rb_regress *r, int64_t n_features) {
    for (int64_t t = 0; r && t < r->n_terms; t++) {
        const rb_names *levels = r->terms[t].levels;
        if (!*r->terms[t].name || (levels && levels->count < 2)) return false;
        for (int64_t l = 1; levels && l < levels->count; l++)
            if (strcmp(levels->text[l - 1], levels->text[l]) >= 0) return false;
    }
    return !r || (r->n_terms > 0 && are_above(r->means, r->n_columns, -INFINITY) &&
                  are_above(r->coefficients, n_features * r->n_columns, -INFINITY));
}

const char *rb_model_flaw(const rb_model *model) {
    const rb_preprocess *p = model->preprocess;
    int64_t m = p->n_features, rows;
    bool loads = rb_model_array(model, "loadings", &rows, NULL) != NULL;
    bool omits = rb_missing_stays(&p->options);
    const struct {
        bool sound;
        const char *otherwise;
    } parts[] = {
        {m >= 0 && m <= p->n_input && p->n_filled >= 0,
         "a count of the preprocessing is impossible"},
        {p->selected || m == p->n_input, "the selection of features is missing"},
        {ascends(p->selected, m, p->n_input),
         "the selected features do not ascend within the input"},
        {isfinite(p->options.totals), "the total of the preprocessing is no number"},
        {are_above(p->centre, m, -INFINITY), "a centre of the preprocessing is not finite"},
        {are_above(p->scale, m, 0), "a scale of the preprocessing is not above 0, or not finite"},
        {are_above(p->fill, m, -INFINITY), "a filling of missing values is not finite"},
        {p->fill || omits || p->options.missing == RB_MISSING_REFUSE,
         "the fillings of missing values are missing"},
        {!p->fill || !omits, "missing values are both filled and left out"},
        {rb_method_takes(model->method, &p->options),
         "missing values are left out, but its method needs all values"},
        {regress_sound(p->regress, m), "the effects of covariates are damaged"},
        {!p->names || p->names->count == m, "the numbers of names and features differ"},
        {!loads || rows == m, "the loadings do not have one row per feature"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i].sound) return parts[i].otherwise;
    return NULL;
}

void rb_model_no_checksum(rb_context *ctx, const char *from) {
    rb_log(ctx, RB_LOG_INFO,
           "%sthe model has no checksum, so damage would not be noticed; save it again to add one",
           from);
}
