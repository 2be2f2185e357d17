/* Data of both signs for methods that need values of one: each feature twice, what lies above its
 * median and what lies below. */
#include "base/base.h"
#include "finders.h"
#include "modules/modules.h"

#include <math.h>
#include <string.h>

/* values: n_samples x 2 n_features, of which the first half is there. */
static rb_error part(rb_context *ctx, double *values, int64_t n_samples, int64_t n_features) {
    double *column = rb_alloc(ctx, n_samples, sizeof *column);
    if (!column) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < n_features; k++) {
        for (int64_t i = 0; i < n_samples; i++)
            column[i] = values[i * 2 * n_features + k];
        double median = rb_quantile_in(column, n_samples, 0.5);
        for (int64_t i = 0; i < n_samples; i++) {
            double *above = values + i * 2 * n_features + k, *below = above + n_features;
            *below = fmax(median - *above, 0);
            *above = fmax(*above - median, 0);
        }
    }
    rb_free(column);
    return RB_OK;
}

static bool below_zero(const double *values, int64_t n_samples, int64_t n_features) {
    for (int64_t e = 0; e < n_samples * n_features; e++)
        if (values[e / n_features * 2 * n_features + e % n_features] < 0) return true;
    return false;
}

rb_error set_split(rb_context *ctx, struct sample_set *set) {
    int64_t n = rb_source_samples(set->source), m = rb_source_features(set->source);
    set->parts = rb_alloc(ctx, n * 2 * m, sizeof *set->parts);
    if (!set->parts) return RB_ERROR_MEMORY;
    rb_error err = rb_source_read_into(ctx, set->source, RB_FLOAT64, set->parts, 2 * m, 1);
    if (err || !below_zero(set->parts, n, m)) return err;
    set->n_features = m;
    rb_source_free(set->source);
    rb_matrix_free(set->matrix);
    set->source = NULL;
    set->matrix = NULL;
    err = part(ctx, set->parts, n, m);
    err =
        err ? err : rb_matrix_dense(ctx, RB_FLOAT64, n, 2 * m, set->parts, 2 * m, 1, &set->matrix);
    return err ? err : rb_source_from_matrix(ctx, set->matrix, &set->source);
}

/* A feature that is in a module by both of its parts counts once. */
static void join(rb_module *module, int64_t n_features) {
    int64_t count = 0;
    for (int64_t e = 0; e < module->n_features; e++) {
        int64_t feature = module->features[e].index % n_features;
        bool there = false;
        for (int64_t f = 0; f < count && !there; f++)
            there = module->features[f].index == feature;
        if (!there) module->features[count++] = (rb_member){feature, module->features[e].weight};
    }
    module->n_features = count;
}

void set_join(const struct sample_set *set, rb_modules *modules) {
    for (int64_t r = 0; set->n_features && r < modules->count; r++)
        join(&modules->list[r], set->n_features);
}
