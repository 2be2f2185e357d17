/* Data with planted biclusters: V = sum_b z_b x_b' + noise.
 *
 * Each bicluster b has a vector z_b over the samples and x_b over the features. Both are small
 * random numbers, overwritten by large ones on the members of the bicluster. Biclusters may
 * overlap.
 *
 * Two plans are known:
 *   rfn    D.-A. Clevert, A. Mayr, T. Unterthiner, S. Hochreiter, "Rectified factor networks",
 *          NIPS 2015: D1-D9, 100 x 100.
 *   fabia  S. Hochreiter et al., "FABIA: factor analysis for bicluster acquisition",
 *          Bioinformatics 26 (2010), doi:10.1093/bioinformatics/btq227: 100 samples x 1000
 *          features.
 *
 * All random numbers are drawn in one row, so the same plan gives the same data.
 */
#include "data.h"

#include <stdlib.h>

/* ---- plans ---- */

/* `percent` of n, at least 1. */
static int64_t share(int64_t n, int64_t percent) {
    /* Not n * percent / 100, which may overflow. */
    int64_t part = n / 100 * percent + n % 100 * percent / 100;
    return part < 1 ? 1 : part;
}

rb_bicluster_plan rb_plan_rfn(int dataset, double rest_sd, int64_t n_samples, int64_t n_features) {
    static const int64_t large[] = {10, 15, 5};
    static const int64_t small[] = {10, 5, 15};
    static const double noise[] = {1, 5, 10};
    int mix = (dataset - 1) / 3;
    rb_vector_law law = {.rest_sd = rest_sd, .mean = 1, .sd = 1};
    return (rb_bicluster_plan){
        .n_samples = n_samples,
        .n_features = n_features,
        .groups = {{large[mix], share(n_samples, 20), share(n_samples, 30), share(n_features, 20),
                    share(n_features, 30)},
                   {small[mix], share(n_samples, 3), share(n_samples, 8), share(n_features, 3),
                    share(n_features, 8)}},
        .sample_law = law,
        .feature_law = law,
        .noise_sd = noise[(dataset - 1) % 3],
    };
}

rb_bicluster_plan rb_plan_fabia(int64_t n_samples, int64_t n_features) {
    return (rb_bicluster_plan){
        .n_samples = n_samples,
        .n_features = n_features,
        .groups = {{10, 5, 4 + share(n_samples, 20), 10, 9 + share(n_features, 20)}},
        .sample_law = {.rest_sd = 0.2, .mean = 2, .sd = 1},
        .feature_law = {.rest_sd = 0.2, .mean = 3, .sd = 1, .random_sign = true},
        .replacement = true,
        .noise_sd = 3,
    };
}

/* ---- members ---- */

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* `count` of 0 .. n - 1, every set equally likely: number i is taken with the probability that one
 * of the remaining places falls on it. */
static int64_t draw_distinct(rb_draws *draws, int64_t n, int64_t count, int64_t *members) {
    int64_t taken = 0;
    for (int64_t i = 0; taken < count; i++) {
        if (rb_draw_uniform(draws) * (double)(n - i) < (double)(count - taken)) {
            members[taken++] = i;
        }
    }
    return taken;
}

/* `count` times one of 0 .. n - 1; returns how many different ones. */
static int64_t draw_repeated(rb_draws *draws, int64_t n, int64_t count, int64_t *members) {
    for (int64_t d = 0; d < count; d++) {
        members[d] = rb_draw_integer(draws, 0, n - 1);
    }
    qsort(members, (size_t)count, sizeof *members, ascending);
    int64_t different = 0;
    for (int64_t d = 0; d < count; d++) {
        if (different == 0 || members[different - 1] != members[d]) {
            members[different++] = members[d];
        }
    }
    return different;
}

static rb_error draw_members(rb_context *ctx, rb_draws *draws, int64_t n, int64_t min, int64_t max,
                             bool replacement, int64_t **members, int64_t *count) {
    int64_t size = rb_draw_integer(draws, min, max);
    *members = rb_alloc(ctx, size, sizeof **members);
    if (!*members) {
        return RB_ERROR_MEMORY;
    }
    *count = replacement ? draw_repeated(draws, n, size, *members)
                         : draw_distinct(draws, n, size, *members);
    return RB_OK;
}

/* ---- the matrix ---- */

static void draw_vector(rb_draws *draws, const rb_vector_law *law, const int64_t *members,
                        int64_t n_members, double *vector, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        vector[i] = law->rest_sd * rb_draw_normal(draws);
    }
    for (int64_t d = 0; d < n_members; d++) {
        double value = law->mean + law->sd * rb_draw_normal(draws);
        bool flip = law->random_sign && rb_draw_uniform(draws) < 0.5;
        vector[members[d]] = flip ? -value : value;
    }
}

/* V += z x' */
static void add_outer_product(double *values, const double *z, int64_t n_samples, const double *x,
                              int64_t n_features) {
    for (int64_t i = 0; i < n_samples; i++) {
        for (int64_t k = 0; k < n_features; k++) {
            values[i * n_features + k] += z[i] * x[k];
        }
    }
}

/* Draws one bicluster and adds it; z and x are scratch. */
static rb_error plant(rb_context *ctx, const rb_bicluster_plan *plan,
                      const rb_bicluster_group *group, rb_draws *draws, double *z, double *x,
                      double *values, rb_bicluster *b) {
    rb_error err = draw_members(ctx, draws, plan->n_samples, group->min_samples, group->max_samples,
                                plan->replacement, &b->samples, &b->n_samples);
    if (!err) {
        err = draw_members(ctx, draws, plan->n_features, group->min_features, group->max_features,
                           plan->replacement, &b->features, &b->n_features);
    }
    if (err) {
        return err;
    }
    draw_vector(draws, &plan->sample_law, b->samples, b->n_samples, z, plan->n_samples);
    draw_vector(draws, &plan->feature_law, b->features, b->n_features, x, plan->n_features);
    add_outer_product(values, z, plan->n_samples, x, plan->n_features);
    return RB_OK;
}

static rb_error plant_all(rb_context *ctx, const rb_bicluster_plan *plan, rb_draws *draws,
                          double *values, rb_planted *planted) {
    double *z = rb_alloc(ctx, plan->n_samples, sizeof *z);
    double *x = rb_alloc(ctx, plan->n_features, sizeof *x);
    rb_error err = z && x ? RB_OK : RB_ERROR_MEMORY;
    int64_t next = 0;
    for (int g = 0; g < 2; g++) {
        for (int64_t b = 0; b < plan->groups[g].count && !err; b++) {
            err = plant(ctx, plan, &plan->groups[g], draws, z, x, values,
                        &planted->biclusters[next++]);
        }
    }
    rb_free(z);
    rb_free(x);
    return err;
}

rb_error rb_generate_biclusters(rb_context *ctx, const rb_bicluster_plan *plan, rb_matrix **matrix,
                                rb_planted *planted) {
    *planted = (rb_planted){0};
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, plan->n_samples, plan->n_features, matrix);
    if (err) {
        return err;
    }
    rb_draws draws = {.stream = {.seed = plan->seed, .purpose = RB_RANDOM_SIMULATE}};
    double *values = (double *)(*matrix)->values;
    int64_t count = plan->groups[0].count + plan->groups[1].count;
    planted->biclusters = rb_alloc_zero(ctx, count, sizeof *planted->biclusters);
    planted->count = planted->biclusters ? count : 0;
    err = planted->biclusters ? plant_all(ctx, plan, &draws, values, planted) : RB_ERROR_MEMORY;
    if (err) {
        rb_planted_clear(planted);
        rb_matrix_free(*matrix);
        *matrix = NULL;
        return err;
    }
    for (int64_t c = 0; c < plan->n_samples * plan->n_features; c++) {
        values[c] += plan->noise_sd * rb_draw_normal(&draws);
    }
    return RB_OK;
}

void rb_planted_clear(rb_planted *planted) {
    for (int64_t b = 0; b < planted->count; b++) {
        rb_free(planted->biclusters[b].samples);
        rb_free(planted->biclusters[b].features);
    }
    rb_free(planted->biclusters);
    *planted = (rb_planted){0};
}
