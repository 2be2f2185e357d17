/* What `modules` asks of a model: above which code a cause is active, and the variance of the noise
 * of each feature. */
#include "fit.h"

#include <math.h>
#include <string.h>

double et_active_above(const rb_model *model) {
    int64_t count = 0;
    const double *values = rb_model_array(model, "values", &count, NULL);
    double least = values ? HUGE_VAL : 1;
    for (int64_t a = 0; a < count; a++)
        least = fmin(least, fabs(values[a]));
    return least / 2;
}

bool et_has_values(const rb_model *model) {
    return rb_model_array(model, "values", NULL, NULL) != NULL;
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

rb_error et_noise(rb_context *ctx, const rb_model *model, double *variances) {
    const char *kind = rb_model_attribute(model, "noise");
    const double *sigma;
    if (kind && strcmp(kind, "poisson") == 0) return find_counts(ctx, model, variances);
    rb_error err = rb_model_need_array(ctx, model, "sigma", 1, 1, &sigma);
    for (int64_t k = 0; !err && k < rb_model_features(model); k++)
        variances[k] = *sigma * *sigma;
    return err;
}
