/* Which unit of a model found which true cause, and how sure a rate of successes is. */
#include "model/model.h"

#include <rarebit/fields.h>

#include <math.h>

/* The loadings on the scale of the data; free them. */
static double *scaled_loadings(rb_context *ctx, const rb_model *model) {
    int64_t features, units, cells;
    const double *loadings = rb_model_array(model, "loadings", &features, &units);
    if (!loadings || features != model->preprocess->n_features) {
        rb_fail(ctx, RB_ERROR_ARGUMENT, "a model of method '%s' has no fields to compare",
                model->method->name);
        return NULL;
    }
    double *fields =
        rb_multiply(features, units, &cells) ? rb_alloc(ctx, cells, sizeof *fields) : NULL;
    for (int64_t d = 0; fields && d < features; d++) {
        for (int64_t h = 0; h < units; h++) {
            fields[d * units + h] = loadings[d * units + h] * model->preprocess->scale[d];
        }
    }
    return fields;
}

/* All samples of a source as a matrix of their own. */
static rb_error read_all(rb_context *ctx, rb_source *source, rb_matrix **matrix) {
    rb_error err =
        rb_matrix_new_dense(ctx, RB_FLOAT64, source->n_samples, source->n_features, matrix);
    if (err) {
        return err;
    }
    rb_matrix view;
    err = rb_source_read(ctx, source, 0, source->n_samples, &view);
    double *values = (void *)(*matrix)->values;
    for (int64_t i = 0; !err && i < source->n_samples; i++) {
        for (int64_t d = 0; d < source->n_features; d++) {
            values[i * source->n_features + d] = rb_matrix_at(&view, i, d);
        }
    }
    return err;
}

rb_error rb_model_match_fields(rb_context *ctx, const rb_model *model, rb_source *truth,
                               rb_field_match *match) {
    rb_matrix *causes = NULL;
    *match = (rb_field_match){.mean_absolute_error = NAN};
    double *fields = scaled_loadings(ctx, model);
    if (!fields) {
        return rb_model_array(model, "loadings", NULL, NULL) ? RB_ERROR_MEMORY : RB_ERROR_ARGUMENT;
    }
    rb_error err = read_all(ctx, truth, &causes);
    err = err ? err
              : rb_fields_match(ctx, fields, model->preprocess->n_features, rb_model_units(model),
                                causes, match);
    rb_matrix_free(causes);
    rb_free(fields);
    return err;
}

/* E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927. */
void rb_success_interval(int64_t successes, int64_t trials, double *low, double *high) {
    const double z = 1.959963984540054;
    double n = (double)trials, p = n > 0 ? (double)successes / n : 0;
    if (!(n > 0)) {
        *low = 0;
        *high = 1;
        return;
    }
    double centre = p + z * z / (2 * n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *low = successes == 0 ? 0 : (centre - half) / (1 + z * z / n);
    *high = successes == trials ? 1 : (centre + half) / (1 + z * z / n);
}
