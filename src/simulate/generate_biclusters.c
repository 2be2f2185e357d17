/* Data with planted biclusters: V = sum_b z_b x_b' + noise.
 *
 * Each bicluster b has a vector z_b over the samples and x_b over the features. Both are small
 * random numbers, overwritten by large ones on the members of the bicluster. Biclusters may
 * overlap.
 *
 * Two plans are those of papers:
 *   rfn    D.-A. Clevert, A. Mayr, T. Unterthiner, S. Hochreiter, "Rectified factor networks",
 *          NIPS 2015: D1-D9, 100 x 100.
 *   fabia  S. Hochreiter et al., "FABIA: factor analysis for bicluster acquisition",
 *          Bioinformatics 26 (2010), doi:10.1093/bioinformatics/btq227: 100 samples x 1000
 *          features.
 *
 * Four more are the models that comparisons of biclustering methods have in common (A. Prelic et
 * al., Bioinformatics 22, 2006, section 3.2; K. Eren et al., Briefings in Bioinformatics 14, 2013,
 * "Synthetic data"; V. Padilha, R. Campello, BMC Bioinformatics 18, 2017): noise N(0, 1) outside,
 * and within a bicluster of samples i and features k
 *   constant  2                      what is up-regulated (Prelic's, made for Bimax)
 *   shift     2 + a_i + b_k          additive, a, b from N(0, 1)
 *   scale     a_i b_k                multiplicative, a and b from N(1.5, 0.5^2)
 *   plaid     2 + a_i + b_k          biclusters overlap, and add up (L. Lazzeroni, A. Owen, 2002)
 * In the first three no sample and no feature has two biclusters.
 *
 * All random numbers are drawn in one row, so the same plan gives the same data.
 */
#include "simulate.h"

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

rb_bicluster_plan rb_plan_pattern(rb_pattern pattern, int64_t n_samples, int64_t n_features) {
    static const rb_vector_law laws[] = {
        [RB_PATTERN_CONSTANT] = {.mean = 1.4142135623730951},
        [RB_PATTERN_SHIFT] = {.mean = 1, .sd = 1},
        [RB_PATTERN_SCALE] = {.mean = 1.5, .sd = 0.5},
        [RB_PATTERN_PLAID] = {.mean = 1, .sd = 1},
    };
    bool plaid = pattern == RB_PATTERN_PLAID;
    int least = plaid ? 10 : 5, most = plaid ? 20 : 10;
    return (rb_bicluster_plan){
        .n_samples = n_samples,
        .n_features = n_features,
        .groups = {{10, share(n_samples, least), share(n_samples, most), share(n_features, least),
                    share(n_features, most)}},
        .sample_law = laws[pattern],
        .feature_law = laws[pattern],
        .additive = plaid || pattern == RB_PATTERN_SHIFT,
        .disjoint = !plaid,
        .noise_sd = 1,
    };
}

/* ---- members ---- */

/* Those of 0 .. n - 1 that may be drawn: all, or where biclusters are disjoint, those in none. */
struct pool {
    int64_t n;
    bool *used; /* NULL: all may */
};

static int64_t free_in(const struct pool *pool) {
    int64_t count = pool->n;
    for (int64_t i = 0; pool->used && i < pool->n; i++)
        count -= pool->used[i];
    return count;
}

/* `count` of those that are free, every set equally likely: one is taken with the probability that
 * one of the remaining places falls on it. */
static int64_t draw_distinct(rb_draws *draws, struct pool *pool, int64_t count,
                             rb_member *members) {
    int64_t taken = 0, left = free_in(pool);
    for (int64_t i = 0; taken < count; i++) {
        if (pool->used && pool->used[i]) continue;
        if (rb_draw_uniform(draws) * (double)left-- >= (double)(count - taken)) continue;
        members[taken++] = (rb_member){i, 1};
        if (pool->used) pool->used[i] = true;
    }
    return taken;
}

/* `count` times one of 0 .. n - 1; returns how many different ones. */
static int64_t draw_repeated(rb_draws *draws, int64_t n, int64_t count, rb_member *members) {
    for (int64_t d = 0; d < count; d++)
        members[d] = (rb_member){rb_draw_integer(draws, 0, n - 1), 1};
    rb_members_sort(members, count); /* all weigh the same: by index */
    int64_t different = 0;
    for (int64_t d = 0; d < count; d++)
        if (different == 0 || members[different - 1].index != members[d].index)
            members[different++] = members[d];
    return different;
}

/* Draws how many members there are, and which; NULL: out of memory. */
static rb_member *draw_members(rb_context *ctx, rb_draws *draws, struct pool *pool, int64_t min,
                               int64_t max, bool replacement, int64_t *count) {
    int64_t size = rb_draw_integer(draws, min, max), most = free_in(pool);
    size = size < most ? size : most;
    rb_member *members = rb_alloc(ctx, size, sizeof *members);
    if (members) {
        *count = replacement ? draw_repeated(draws, pool->n, size, members)
                             : draw_distinct(draws, pool, size, members);
    }
    return members;
}

/* ---- the matrix ---- */

static void draw_vector(rb_draws *draws, const rb_vector_law *law, const rb_member *members,
                        int64_t n_members, double *vector, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        vector[i] = law->rest_sd * rb_draw_normal(draws);
    for (int64_t d = 0; d < n_members; d++) {
        double value = law->mean + law->sd * rb_draw_normal(draws);
        bool flip = law->random_sign && rb_draw_uniform(draws) < 0.5;
        vector[members[d].index] = flip ? -value : value;
    }
}

/* A matrix while biclusters are added to it; z and x are scratch. */
struct planting {
    const rb_bicluster_plan *plan;
    rb_draws draws;
    struct pool samples, features;
    double *z, *x, *values;
};

/* V += z x' */
static void add_product(struct planting *p) {
    int64_t n = p->samples.n, m = p->features.n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++)
            p->values[i * m + k] += p->z[i] * p->x[k];
}

/* V += z 1' + 1 x', on the members */
static void add_sum(struct planting *p, const rb_module *b) {
    for (int64_t i = 0; i < b->n_samples; i++)
        for (int64_t k = 0; k < b->n_features; k++) {
            int64_t sample = b->samples[i].index, feature = b->features[k].index;
            p->values[sample * p->features.n + feature] += p->z[sample] + p->x[feature];
        }
}

/* Draws one bicluster and adds it. */
static rb_error plant(rb_context *ctx, struct planting *p, const rb_bicluster_group *group,
                      rb_module *b) {
    const rb_bicluster_plan *plan = p->plan;
    b->samples = draw_members(ctx, &p->draws, &p->samples, group->min_samples, group->max_samples,
                              plan->replacement, &b->n_samples);
    b->features = b->samples ? draw_members(ctx, &p->draws, &p->features, group->min_features,
                                            group->max_features, plan->replacement, &b->n_features)
                             : NULL;
    if (!b->features) return RB_ERROR_MEMORY;
    draw_vector(&p->draws, &plan->sample_law, b->samples, b->n_samples, p->z, p->samples.n);
    draw_vector(&p->draws, &plan->feature_law, b->features, b->n_features, p->x, p->features.n);
    if (plan->additive)
        add_sum(p, b);
    else
        add_product(p);
    return RB_OK;
}

static rb_error plant_all(rb_context *ctx, struct planting *p, rb_modules **planted) {
    const rb_bicluster_plan *plan = p->plan;
    int64_t first = plan->groups[0].count, count = first + plan->groups[1].count;
    rb_scratch scratch = {.ctx = ctx};
    p->z = rb_take(&scratch, plan->n_samples, sizeof *p->z);
    p->x = rb_take(&scratch, plan->n_features, sizeof *p->x);
    p->samples = (struct pool){plan->n_samples, NULL};
    p->features = (struct pool){plan->n_features, NULL};
    if (plan->disjoint) {
        p->samples.used = rb_take(&scratch, plan->n_samples, sizeof *p->samples.used);
        p->features.used = rb_take(&scratch, plan->n_features, sizeof *p->features.used);
    }
    scratch.err = scratch.err ? scratch.err : rb_modules_new(ctx, count, planted);
    for (int64_t b = 0; b < count && !scratch.err; b++) {
        (*planted)->list[b].unit = b;
        scratch.err = plant(ctx, p, &plan->groups[b >= first], &(*planted)->list[b]);
    }
    return rb_scratch_end(&scratch);
}

rb_error rb_generate_biclusters(rb_context *ctx, const rb_bicluster_plan *plan, rb_matrix **matrix,
                                rb_modules **planted) {
    *planted = NULL;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, plan->n_samples, plan->n_features, matrix);
    if (err) return err;
    struct planting p = {.plan = plan,
                         .draws.stream = {.seed = plan->seed, .purpose = RB_RANDOM_SIMULATE},
                         .values = (double *)(*matrix)->values};
    err = plant_all(ctx, &p, planted);
    if (err) {
        rb_modules_free(*planted);
        rb_matrix_free(*matrix);
        *planted = NULL;
        *matrix = NULL;
        return err;
    }
    for (int64_t c = 0; c < plan->n_samples * plan->n_features; c++)
        p.values[c] += plan->noise_sd * rb_draw_normal(&p.draws);
    return RB_OK;
}
