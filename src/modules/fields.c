/* Which unit found which true cause, and how sure a rate of successes is.
 *
 * J. Luecke, J. Eggert, "Expectation truncation and the benefits of preselection in training
 * generative models", JMLR 11 (2010), appendix E: the unit h that represents cause c is the one
 * whose state with h alone active is most probable for the noiseless cause y_c. With the same prior
 * for every unit and Gaussian noise that probability grows as exp(-|y_c - W_h|^2 / 2 sigma^2), so h
 * is the nearest field, whatever sigma. Each cause needs a unit of its own, with a mean |y_c - W_h|
 * below 1 where bars have 10.
 */
#include "model/model.h"

#include <rarebit/fields.h>

#include <math.h>
#include <string.h>

static const double tolerance = 0.1; /* of the largest |value| in the truth */

/* Nearest field of every cause. */
typedef struct nearest {
    int64_t unit;
    double distance; /* sum of squares */
} nearest;

static rb_error check_shapes(rb_context *ctx, int64_t n_features, int64_t n_units,
                             const rb_matrix *truth) {
    if (truth->n_features != n_features) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the truth has %lld features, but the fields of the units have %lld; give "
                       "causes x features",
                       (long long)truth->n_features, (long long)n_features);
    }
    if (truth->n_samples < 1 || n_units < 1 || n_features < 1) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%lld causes and %lld units of %lld features cannot be compared",
                       (long long)truth->n_samples, (long long)n_units, (long long)n_features);
    }
    return RB_OK;
}

static rb_error check_fields(rb_context *ctx, const double *fields, int64_t n_features,
                             int64_t n_units) {
    for (int64_t e = 0; e < n_features * n_units; e++) {
        if (!isfinite(fields[e])) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "the field of unit %lld is not finite at feature %lld (counted from %d)",
                           (long long)rb_nth(ctx, e % n_units), (long long)rb_nth(ctx, e / n_units),
                           ctx->first);
        }
    }
    return RB_OK;
}

static rb_error find_largest(rb_context *ctx, const rb_matrix *truth, double *largest) {
    *largest = 0;
    for (int64_t c = 0; c < truth->n_samples; c++) {
        for (int64_t d = 0; d < truth->n_features; d++) {
            double value = rb_matrix_at(truth, c, d);
            if (!isfinite(value)) {
                return rb_fail(
                    ctx, RB_ERROR_DATA,
                    "cause %lld of the truth is not finite at feature %lld (counted from %d)",
                    (long long)rb_nth(ctx, c), (long long)rb_nth(ctx, d), ctx->first);
            }
            *largest = fmax(*largest, fabs(value));
        }
    }
    if (*largest == 0)
        return rb_fail(ctx, RB_ERROR_DATA, "the truth is 0 throughout: it has no causes to find");
    return RB_OK;
}

/* Sets the nearest unit of each cause and its error. distance: scratch, n_units. */
static void find_nearest(const double *fields, int64_t n_units, const rb_matrix *truth,
                         double *distance, nearest *near, double *error) {
    for (int64_t c = 0; c < truth->n_samples; c++) {
        memset(distance, 0, (size_t)n_units * sizeof *distance);
        for (int64_t d = 0; d < truth->n_features; d++) {
            double value = rb_matrix_at(truth, c, d);
            for (int64_t h = 0; h < n_units; h++) {
                double difference = fields[d * n_units + h] - value;
                distance[h] += difference * difference;
            }
        }
        near[c] = (nearest){0, distance[0]};
        for (int64_t h = 1; h < n_units; h++)
            if (distance[h] < near[c].distance) near[c] = (nearest){h, distance[h]};
        error[c] = 0;
        for (int64_t d = 0; d < truth->n_features; d++) {
            double difference = fields[d * n_units + near[c].unit] - rb_matrix_at(truth, c, d);
            error[c] += fabs(difference) / (double)truth->n_features;
        }
    }
}

/* A unit represents one cause: of those it is nearest to, the nearest. cause_of: scratch, n_units.
 */
static void represent(const nearest *near, int64_t n_units, double limit, int64_t *cause_of,
                      rb_field_match *match) {
    for (int64_t h = 0; h < n_units; h++)
        cause_of[h] = -1;
    for (int64_t c = 0; c < match->causes; c++) {
        int64_t *owner = &cause_of[near[c].unit];
        if (*owner < 0 || near[c].distance < near[*owner].distance) *owner = c;
    }
    double sum = 0;
    for (int64_t c = 0; c < match->causes; c++) {
        bool found = cause_of[near[c].unit] == c && match->error[c] < limit;
        match->unit[c] = found ? near[c].unit : -1;
        match->causes_found += found;
        sum += found ? match->error[c] : 0;
    }
    match->mean_absolute_error = match->causes_found ? sum / (double)match->causes_found : NAN;
}

rb_error rb_fields_match(rb_context *ctx, const double *fields, int64_t n_features, int64_t n_units,
                         const rb_matrix *truth, rb_field_match *match) {
    double largest;
    *match = (rb_field_match){.mean_absolute_error = NAN};
    rb_error err = check_shapes(ctx, n_features, n_units, truth);
    err = err ? err : check_fields(ctx, fields, n_features, n_units);
    err = err ? err : find_largest(ctx, truth, &largest);
    if (err) return err;
    rb_scratch scratch = {.ctx = ctx};
    nearest *near = rb_take(&scratch, truth->n_samples, sizeof *near);
    double *distance = rb_take(&scratch, n_units, sizeof *distance);
    int64_t *cause_of = rb_take(&scratch, n_units, sizeof *cause_of);
    match->causes = truth->n_samples;
    match->error = rb_alloc(ctx, match->causes, sizeof *match->error);
    match->unit = rb_alloc(ctx, match->causes, sizeof *match->unit);
    if (!scratch.err && match->error && match->unit) {
        find_nearest(fields, n_units, truth, distance, near, match->error);
        represent(near, n_units, tolerance * largest, cause_of, match);
        return rb_scratch_end(&scratch);
    }
    rb_field_match_clear(match);
    err = rb_scratch_end(&scratch);
    return err ? err : RB_ERROR_MEMORY;
}

void rb_field_match_clear(rb_field_match *match) {
    rb_free(match->error);
    rb_free(match->unit);
    *match = (rb_field_match){.mean_absolute_error = NAN};
}

/* The loadings on the scale of the data; free them, also after an error. */
static rb_error scaled_loadings(rb_context *ctx, const rb_model *model, double **fields) {
    int64_t features, units;
    const double *loadings = rb_model_array(model, "loadings", &features, &units);
    *fields = NULL;
    if (!loadings || features != model->preprocess->n_features) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "a model of method '%s' has no fields to compare",
                       model->method->name);
    }
    int64_t cells = features * units; /* of an array that is in memory */
    *fields = rb_alloc(ctx, cells, sizeof **fields);
    for (int64_t e = 0; *fields && e < cells; e++)
        (*fields)[e] = loadings[e] * model->preprocess->scale[e / units];
    return *fields ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_model_match_fields(rb_context *ctx, const rb_model *model, rb_source *truth,
                               rb_field_match *match) {
    int64_t n = rb_source_samples(truth), features = rb_source_features(truth);
    rb_matrix *causes = NULL;
    *match = (rb_field_match){.mean_absolute_error = NAN};
    double *fields;
    rb_error err = scaled_loadings(ctx, model, &fields);
    err = err ? err : rb_matrix_new_dense(ctx, RB_FLOAT64, n, features, &causes);
    err = err ? err
              : rb_source_read_into(ctx, truth, RB_FLOAT64, (void *)causes->values, features, 1);
    err = err ? err
              : rb_fields_match(ctx, fields, rb_model_features(model), rb_model_units(model),
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
