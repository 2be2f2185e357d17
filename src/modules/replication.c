/* Which units of a model another model has.
 *
 * With A (features x units of the first model) and B the loadings over the features that both have,
 * each column less its mean and of length 1, R = A'B are the correlations. A unit's partner is
 * that of the assignment with the largest sum of R, and their correlation its statistic, 0 where
 * none is left. In a permutation the rows of B are shuffled together, so that the units of the
 * second model stay as they are among each other, and partners are assigned anew. Of models whose
 * codes have signs |R| takes the place of R.
 */
#include "modules.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_FEATURES = 15 };

const rb_option_group *rb_replication_group(void) {
    static const rb_option table[] = {
        {"permutations", 0, RB_OPTION_INTEGER, offsetof(rb_replication_options, permutations),
         "1000", 1, 1e9, NULL, "N", "number of permutations; the smallest p-value is 1 / (N + 1)",
         RB_OPTION_COMMON},
        {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_replication_options, seed), "1", 0, 9e18, NULL,
         "N", "of the permutations"},
        {"signs", 0, RB_OPTION_CHOICE, offsetof(rb_replication_options, signs), "auto", 0, 0,
         "keep|ignore|auto", "HOW",
         "keep or ignore the signs of correlations; auto ignores them where codes have signs"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Replication", table,
                                          sizeof(rb_replication_options), NULL};
    return &group;
}

/* ---- features that both have ---- */

/* Pairs of features: `of[0][p]` of the first model is `of[1][p]` of the second. */
typedef struct shared {
    int64_t count;
    int64_t *of[2];
    bool by_name;
} shared;

/* Is it the only one of its name? */
static bool is_single(const rb_named *sorted, int64_t count, int64_t at) {
    return at + 1 == count || strcmp(sorted[at + 1].text, sorted[at].text) != 0;
}

static rb_error share_names(rb_context *ctx, const rb_names *a, const rb_names *b, shared *s) {
    rb_named *first = rb_names_sort(ctx, a), *second = rb_names_sort(ctx, b);
    for (int64_t k = 0; first && second && k < a->count; k++) {
        int64_t here = rb_names_find(first, a->count, a->text[k]),
                there = rb_names_find(second, b->count, a->text[k]);
        if (there < 0 || !is_single(first, a->count, here) || !is_single(second, b->count, there))
            continue;
        s->of[0][s->count] = k;
        s->of[1][s->count++] = second[there].index;
    }
    rb_error err = first && second ? RB_OK : RB_ERROR_MEMORY;
    rb_free(first);
    rb_free(second);
    return err;
}

/* Columns of the data ascend in both. */
static rb_error share_columns(rb_context *ctx, const rb_model *a, const rb_model *b, shared *s) {
    int64_t of_a = a->preprocess->n_input, of_b = b->preprocess->n_input;
    if (of_a != of_b) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the models are of data with %lld and %lld features, and not both have "
                       "names; fit data with feature names",
                       (long long)of_a, (long long)of_b);
    }
    rb_log(ctx, RB_LOG_INFO, "features are matched by column, since not both models have names");
    for (int64_t k = 0, l = 0; k < rb_model_features(a) && l < rb_model_features(b);) {
        int64_t here = rb_model_feature_index(a, k), there = rb_model_feature_index(b, l);
        if (here == there) {
            s->of[0][s->count] = k;
            s->of[1][s->count++] = l;
        }
        k += here <= there;
        l += there <= here;
    }
    return RB_OK;
}

static rb_error share(rb_context *ctx, const rb_model *a, const rb_model *b, shared *s) {
    enum { LEAST = 3 };
    const rb_names *names[] = {a->preprocess->names, b->preprocess->names};
    s->by_name = names[0] && names[1];
    rb_error err =
        s->by_name ? share_names(ctx, names[0], names[1], s) : share_columns(ctx, a, b, s);
    if (!err && s->count < LEAST) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the models share %lld features, but at least %d are needed: are they of the "
                      "same kind of data?",
                      (long long)s->count, LEAST);
    }
    int64_t most =
        rb_model_features(a) > rb_model_features(b) ? rb_model_features(a) : rb_model_features(b);
    if (!err && s->count < most) {
        rb_log(ctx, RB_LOG_INFO, "the models share %lld features, of %lld and %lld",
               (long long)s->count, (long long)rb_model_features(a),
               (long long)rb_model_features(b));
    }
    return err;
}

/* ---- loadings ---- */

typedef struct comparison {
    rb_replication_options options;
    const rb_model *models[2];
    shared features;
    bool no_signs, to_data; /* to_data: loadings are brought to the scale of the data */
    rb_dense loadings[2];   /* shared features x units, float64, centred, of length 1 or 0 */
    double *gains;          /* units x others */
    double *permuted;       /* permutations x units */
    int64_t *orders;        /* threads x shared features */
    int64_t *partners;      /* threads x units */
    double *memory;         /* threads x (shared features + units) x others */
    char *assigning;        /* threads x rb_assign_size */
    rb_scratch arrays;
} comparison;

/* Dead units have none: they are in no sample, and are not compared. */
static rb_error take_loadings(rb_context *ctx, comparison *c, int which) {
    const rb_model *model = c->models[which];
    const double *values, *scale = model->preprocess->scale;
    int64_t m = rb_model_features(model), units = rb_model_units(model), told = 0;
    const double *dead = rb_model_array(model, "dead", &told, NULL);
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, -1, &values);
    if (err) return err;
    rb_dense *to = &c->loadings[which];
    rb_dense_take(&c->arrays, RB_FLOAT64, c->features.count, units, to);
    if (c->arrays.err) return c->arrays.err;
    for (int64_t p = 0; p < to->rows; p++) {
        int64_t k = c->features.of[which][p];
        for (int64_t j = 0; j < units; j++)
            if (j >= told || dead[j] == 0)
                rb_dense_set(*to, p, j, values[k * units + j] * (c->to_data ? scale[k] : 1));
    }
    for (int64_t j = 0; j < units; j++)
        rb_normalise(to->rows, (double *)to->data + j, to->ld, true);
    return RB_OK;
}

static void settle(rb_context *ctx, comparison *c) {
    const rb_model *const *m = c->models;
    int signs = c->options.signs;
    c->no_signs = signs == RB_SIGNS_IGNORE ||
                  (signs == RB_SIGNS_AUTO && (rb_has_signs(m[0]) || rb_has_signs(m[1])));
    c->to_data = m[0]->preprocess->options.scale != m[1]->preprocess->options.scale;
    if (c->to_data) {
        rb_log(ctx, RB_LOG_INFO,
               "the models scale features differently: loadings are compared on the scale of the "
               "data");
    }
}

/* ---- statistics ---- */

static double worth(const comparison *c, double correlation) {
    return c->no_signs ? fabs(correlation) : correlation;
}

static bool is_zero(rb_dense a, int64_t j) {
    for (int64_t k = 0; k < a.rows; k++)
        if (rb_dense_get(a, k, j) != 0) return false;
    return true;
}

/* The living unit of the second model that is most like unit j; -1: there is none. */
static int64_t find_best(const comparison *c, const double *correlations, int64_t j) {
    int64_t others = c->loadings[1].cols, best = -1;
    const double *row = correlations + j * others;
    for (int64_t o = 0; o < others; o++) {
        bool better = best < 0 || worth(c, row[o]) > worth(c, row[best]);
        if (better && !is_zero(c->loadings[1], o)) best = o;
    }
    return best;
}

static void permute_task(void *arg, int64_t permutation, int worker) {
    const comparison *c = arg;
    rb_dense a = c->loadings[0], b = c->loadings[1];
    int64_t *order = c->orders + worker * b.rows;
    rb_draws draws = {{(uint64_t)c->options.seed, RB_RANDOM_REPLICATE, (uint32_t)permutation}, 0};
    double *memory = c->memory + worker * (b.rows + a.cols) * b.cols;
    rb_dense permuted = {memory, b.rows, b.cols, b.cols, RB_FLOAT64};
    rb_dense products = {memory + b.rows * b.cols, a.cols, b.cols, b.cols, RB_FLOAT64};
    rb_draw_order(&draws, b.rows, order);
    for (int64_t k = 0; k < b.rows; k++)
        memcpy(rb_dense_row(permuted, k), rb_dense_row(b, order[k]),
               (size_t)b.cols * sizeof(double));
    rb_gemm(1, a, RB_TRANSPOSED, permuted, RB_PLAIN, 0, products);
    double *gains = products.data;
    int64_t *partner = c->partners + worker * a.cols;
    for (int64_t e = 0; e < a.cols * b.cols; e++)
        gains[e] = worth(c, gains[e]);
    rb_assign_in(c->assigning + worker * rb_assign_size(a.cols, b.cols), a.cols, b.cols, gains,
                 partner);
    for (int64_t j = 0; j < a.cols; j++)
        c->permuted[permutation * a.cols + j] = partner[j] < 0 ? 0 : gains[j * b.cols + partner[j]];
}

/* Partners, the best, and the observed statistics. */
static rb_error find_partners(rb_context *ctx, comparison *c, double *observed,
                              rb_replicated_unit *units) {
    rb_dense a = c->loadings[0], b = c->loadings[1];
    rb_dense products = {c->memory, a.cols, b.cols, b.cols, RB_FLOAT64};
    int64_t *partner = rb_take(&c->arrays, a.cols, sizeof *partner);
    if (c->arrays.err) return c->arrays.err;
    rb_gemm(1, a, RB_TRANSPOSED, b, RB_PLAIN, 0, products);
    const double *correlations = products.data;
    for (int64_t e = 0; e < a.cols * b.cols; e++)
        c->gains[e] = worth(c, correlations[e]);
    rb_error err = rb_assign(ctx, a.cols, b.cols, c->gains, partner);
    for (int64_t j = 0; !err && j < a.cols; j++) {
        bool there = !is_zero(a, j);
        int64_t best = there ? find_best(c, correlations, j) : -1, other = there ? partner[j] : -1;
        bool paired = other >= 0 && !is_zero(b, other);
        units[j].partner = paired ? other : -1;
        units[j].partner_correlation = paired ? correlations[j * b.cols + other] : NAN;
        units[j].best = best;
        units[j].best_correlation = best >= 0 ? correlations[j * b.cols + best] : NAN;
        observed[j] = paired ? worth(c, units[j].partner_correlation) : NAN;
    }
    return err;
}

/* ---- are they of the same samples? ---- */

static double fitted_samples(const rb_model *model) {
    const char *text = rb_model_attribute(model, "data_samples");
    return text ? strtod(text, NULL) : 0;
}

/* Of a feature: the centre of the first model, the noise variance, and how far the other centre is
 * in units of it, squared. NaN: there is no noise. */
typedef struct centres {
    double centre, noise, apart;
} centres;

static centres compare_centres(const comparison *c, int64_t pair) {
    double centre[2], noise = 0;
    for (int i = 0; i < 2; i++) {
        int64_t k = c->features.of[i][pair], rows = 0;
        const rb_preprocess *p = c->models[i]->preprocess;
        const double *variances = rb_model_array(c->models[i], "noise", &rows, NULL);
        centre[i] = p->centre[k];
        noise += variances && rows > k ? variances[k] * p->scale[k] * p->scale[k] / 2 : NAN;
    }
    return (centres){centre[0], noise, pow(centre[0] - centre[1], 2) / noise};
}

/* The centre of a feature varies by the noise variance over the number of samples, or more: those
 * of other samples are as far apart, those of mostly the same ones are nearer. Where all features
 * have one centre, as after centring or division before, nothing is known. */
static bool has_same_samples(const comparison *c) {
    double n = fitted_samples(c->models[0]), others = fitted_samples(c->models[1]);
    double weights = 0, sum = 0, squares = 0, apart = 0, count = 0;
    const rb_preprocess_options *a = &c->models[0]->preprocess->options;
    if (a->centre != c->models[1]->preprocess->options.centre || n < 1 || others < 1) return false;
    for (int64_t p = 0; p < c->features.count; p++) {
        centres of = compare_centres(c, p);
        if (!(of.apart < INFINITY)) continue;
        weights += 1 / of.noise;
        sum += of.centre / of.noise;
        squares += of.centre * of.centre / of.noise;
        apart += of.apart;
        count++;
    }
    bool differ = squares - sum * sum / weights > count / n / 4;
    return count >= MIN_FEATURES && differ && apart < count * (1 / n + 1 / others) / 4;
}

static rb_error compare(rb_context *ctx, comparison *c, rb_replication *to) {
    rb_scratch *arrays = &c->arrays;
    for (int i = 0; i < 2; i++)
        c->features.of[i] = rb_take(arrays, rb_model_features(c->models[0]), sizeof(int64_t));
    rb_error err = arrays->err ? arrays->err : share(ctx, c->models[0], c->models[1], &c->features);
    if (err) return err;
    settle(ctx, c);
    for (int i = 0; !err && i < 2; i++)
        err = take_loadings(ctx, c, i);
    if (err) return err;
    int64_t m = c->features.count, units = c->loadings[0].cols, others = c->loadings[1].cols;
    if (units == 0 || others == 0)
        return rb_fail(ctx, RB_ERROR_DATA, "the model has no units to compare");
    size_t wide = (size_t)others * sizeof(double);
    int64_t threads = rb_context_threads(ctx);
    c->gains = rb_take(arrays, units, wide);
    c->permuted = rb_take(arrays, c->options.permutations, (size_t)units * sizeof(double));
    c->orders = rb_take(arrays, threads * m, sizeof *c->orders);
    c->partners = rb_take(arrays, threads * units, sizeof *c->partners);
    c->assigning = rb_take(arrays, threads, (size_t)rb_assign_size(units, others));
    c->memory = rb_take(arrays, threads * (m + units), wide);
    double *observed = rb_take(arrays, units, sizeof *observed);
    to->units = arrays->err ? NULL : rb_alloc_zero(ctx, units, sizeof *to->units);
    if (!to->units) return arrays->err ? arrays->err : RB_ERROR_MEMORY;
    to->n_units = units;
    to->n_others = others;
    to->n_features = m;
    to->permutations = c->options.permutations;
    to->by_name = c->features.by_name;
    to->no_signs = c->no_signs;
    const rb_preprocess *p = c->models[0]->preprocess, *q = c->models[1]->preprocess;
    to->same_data = (p->n_input == q->n_input && p->checksum == q->checksum) || has_same_samples(c);
    err = rb_blas_need_memory(ctx, 0);
    err = err ? err : find_partners(ctx, c, observed, to->units);
    err = err ? err : rb_parallel_or_stop(ctx, c->options.permutations, permute_task, c);
    const rb_chances chances = {c->options.permutations, observed, c->permuted};
    const rb_chance_rows rows = {&to->units->p_value, sizeof *to->units, units};
    return err ? err : rb_chances_find(ctx, &chances, &rows);
}

rb_error rb_compare_models(rb_context *ctx, const rb_model *first, const rb_model *second,
                           const rb_options *options, rb_replication *replication) {
    comparison c = {.models = {first, second}, .arrays.ctx = ctx};
    rb_error err = rb_size_check(ctx, "the replication", replication->size, sizeof *replication);
    if (err) return err;
    *replication = (rb_replication){.size = sizeof *replication};
    err = rb_options_take(ctx, options, rb_replication_group(), &c.options);
    err = err ? err : compare(ctx, &c, replication);
    (void)rb_scratch_end(&c.arrays);
    if (err) rb_replication_clear(replication);
    return err;
}

void rb_replication_clear(rb_replication *replication) {
    rb_free(replication->units);
    *replication = (rb_replication){.size = replication->size};
}
