/* What the units of a model do in two cohorts.
 *
 * With X the preprocessed samples of a cohort, H their codes (samples x units), W the loadings
 * (features x units), U = X'H, S = H'H and G = W'W:
 *     without unit j the squared error |X - H W'|^2 grows by
 *         2 (u_j' w_j - sum_l S_jl G_jl) + S_jj G_jj;
 *     least squares of X on H and a constant gives the loadings U_c S_c^-1, U_c and S_c being
 *         centred (rb_resting_samples), of the units that are ever active.
 * Codes are projections onto W: in pure noise, too, least squares finds loadings that are like W.
 * The chance is therefore counted in data of the same values whose features are permuted each by
 * itself, and which are encoded again.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

enum { BLOCK_CELLS = 1 << 21 };

/* Sums over the samples of a cohort. */
typedef struct sums {
    double *u, *s;  /* features x units, units x units */
    double *codes;  /* units: sums of codes */
    double *active; /* units: samples in which they are active */
} sums;

/* A model at work. */
typedef struct work {
    rb_context *ctx;
    const rb_model *model;
    int64_t m, units, block_samples;
    bool probabilities;
    double halfway; /* above which a cause is active */
    void *coder;
    const double *loadings;
    rb_dense codes, u, s; /* of a block, in the model's type */
    double *products;     /* units x units: G */
    sums sums;
    rb_scratch arrays;
} work;

/* A cohort in memory. */
typedef struct cohort {
    int64_t n;
    rb_dense values, permuted; /* n x features in use, of the model's type */
    double squares;            /* of all values */
    double resting;            /* rb_resting_samples */
    double *means;             /* features, with those samples */
    bool *varies;              /* features */
    double *profile;           /* features x units; NaN: never active */
    double *observed;          /* units */
    double *explained;         /* permutations x units */
    int64_t *orders;           /* threads x n */
    rb_scratch arrays;
} cohort;

/* ---- sums ---- */

static void add_block(work *w, int64_t count) {
    rb_dense codes = rb_dense_rows(w->codes, 0, count);
    sums *to = &w->sums;
    for (int64_t j = 0; j < w->units; j++) {
        for (int64_t k = 0; k < w->m; k++)
            to->u[k * w->units + j] += rb_dense_get(w->u, k, j);
        for (int64_t l = 0; l < w->units; l++)
            to->s[j * w->units + l] += rb_dense_get(w->s, j > l ? j : l, j > l ? l : j);
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < w->units; j++) {
            double code = rb_dense_get(codes, i, j);
            to->codes[j] += code;
            to->active[j] += w->probabilities ? fabs(code) > w->halfway : code != 0;
        }
    }
}

/* Encodes all samples and adds them up. */
static rb_error add_all(work *w, rb_dense values) {
    size_t size = (size_t)w->units * sizeof(double);
    rb_error err = RB_OK;
    if (!w->sums.u || !w->sums.s || !w->sums.codes || !w->sums.active) return RB_ERROR_MEMORY;
    memset(w->sums.u, 0, (size_t)w->m * size);
    memset(w->sums.s, 0, (size_t)w->units * size);
    memset(w->sums.codes, 0, size);
    memset(w->sums.active, 0, size);
    for (int64_t first = 0; !err && first < values.rows; first += w->block_samples) {
        int64_t left = values.rows - first,
                count = left < w->block_samples ? left : w->block_samples;
        rb_block block = {.first = first,
                          .own = first,
                          .n_samples = count,
                          .n_features = w->m,
                          .dense = rb_dense_rows(values, first, count)};
        err = rb_check_stop(w->ctx);
        err = err ? err : w->model->method->encode(w->ctx, w->coder, &block, w->codes.data);
        if (err) break;
        rb_dense_zero(w->u);
        rb_dense_zero(w->s);
        rb_moments_parallel(w->ctx, 1, block.dense, rb_dense_rows(w->codes, 0, count), w->u, w->s);
        add_block(w, count);
    }
    return err;
}

/* The share of the squares that each unit accounts for, from the sums. */
static void explain(const work *w, double squares, double *explained) {
    for (int64_t j = 0; j < w->units; j++) {
        const double *s = w->sums.s + j * w->units, *g = w->products + j * w->units;
        double gain = 0;
        for (int64_t k = 0; k < w->m; k++)
            gain += w->sums.u[k * w->units + j] * w->loadings[k * w->units + j];
        for (int64_t l = 0; l < w->units; l++)
            gain -= s[l] * g[l];
        explained[j] = squares > 0 ? (2 * gain + s[j] * g[j]) / squares : 0;
    }
}

/* ---- the model ---- */

static rb_error open_work(rb_context *ctx, const rb_model *model, int64_t n, work *w) {
    int64_t m = rb_model_features(model), units = rb_model_units(model);
    *w = (work){.ctx = ctx, .model = model, .m = m, .units = units, .arrays.ctx = ctx};
    w->block_samples = rb_block_size(BLOCK_CELLS, m > units ? m : units, n);
    w->probabilities = rb_has_causes(model);
    w->halfway = rb_active_above(model);
    if (units == 0) return rb_fail(ctx, RB_ERROR_DATA, "the model has no units to compare");
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, units, &w->loadings);
    err = err ? err : rb_blas_need_memory(ctx, 0);
    err = err ? err : rb_method_coder_new(ctx, model, w->block_samples, &w->coder);
    if (err) return err;
    rb_scratch *arrays = &w->arrays;
    size_t wide = (size_t)units * sizeof(double);
    rb_dense_take(arrays, model->type, w->block_samples, units, &w->codes);
    rb_dense_take(arrays, model->type, m, units, &w->u);
    rb_dense_take(arrays, model->type, units, units, &w->s);
    w->products = rb_take(arrays, units, wide);
    w->sums = (sums){.u = rb_take(arrays, m, wide),
                     .s = rb_take(arrays, units, wide),
                     .codes = rb_take(arrays, 1, wide),
                     .active = rb_take(arrays, 1, wide)};
    if (!arrays->err) {
        rb_dense loadings = {(void *)w->loadings, m, units, units, RB_FLOAT64};
        rb_dense products = {w->products, units, units, units, RB_FLOAT64};
        rb_gemm_parallel(ctx, 1, loadings, RB_TRANSPOSED, loadings, RB_PLAIN, 0, products);
    }
    return arrays->err;
}

static void close_work(work *w) {
    if (w->coder) rb_method_coder_free(w->model->method, w->coder);
    (void)rb_scratch_end(&w->arrays);
}

/* ---- a cohort ---- */

/* Means, squares, and which features vary. */
static rb_error look_at(rb_context *ctx, cohort *c) {
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t k = 0; k < c->values.cols; k++) {
            double value = rb_dense_get(c->values, i, k);
            if (isnan(value)) {
                return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                               "values of sample %lld (counted from %d) are missing; cohorts are "
                               "compared by all values: fill them first",
                               (long long)rb_nth(ctx, i), ctx->first);
            }
            c->squares += value * value;
            c->means[k] += value / ((double)c->n + c->resting);
            c->varies[k] = c->varies[k] || value != rb_dense_get(c->values, 0, k);
        }
    }
    return RB_OK;
}

/* Samples that rest have the median. */
static rb_error add_resting(rb_context *ctx, cohort *c) {
    rb_scratch scratch = {.ctx = ctx};
    double *values = rb_take(&scratch, c->n, sizeof *values);
    for (int64_t k = 0; values && k < c->values.cols; k++) {
        for (int64_t i = 0; i < c->n; i++)
            values[i] = rb_dense_get(c->values, i, k);
        c->means[k] += c->resting / ((double)c->n + c->resting) * rb_quantile_in(values, c->n, 0.5);
    }
    return rb_scratch_end(&scratch);
}

static rb_error load_cohort(rb_context *ctx, const rb_model *model, rb_source *source,
                            int64_t permutations, cohort *c) {
    int64_t n = source->n_samples, m = rb_model_features(model), units = rb_model_units(model);
    rb_feed *feed = NULL;
    *c = (cohort){.n = n, .resting = rb_resting_samples(model, n), .arrays.ctx = ctx};
    if (n < 2)
        return rb_fail(ctx, RB_ERROR_DATA, "a cohort needs at least 2 samples, but one has %lld",
                       (long long)n);
    rb_scratch *arrays = &c->arrays;
    rb_dense_take(arrays, model->type, n, m, &c->values);
    rb_dense_take(arrays, model->type, n, m, &c->permuted);
    c->means = rb_take(arrays, m, sizeof(double));
    c->varies = rb_take(arrays, m, sizeof(bool));
    c->profile = rb_take(arrays, m * units, sizeof(double));
    c->observed = rb_take(arrays, units, sizeof(double));
    c->explained = rb_take(arrays, permutations * units, sizeof(double));
    c->orders = rb_take(arrays, n * rb_context_threads(ctx), sizeof(int64_t));
    rb_error err =
        arrays->err ? arrays->err : rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    rb_block block = {0};
    while (rb_feed_next(ctx, feed, rb_block_size(BLOCK_CELLS, m, n), &block, &err))
        rb_block_rows(&block, 0, rb_dense_rows(c->values, block.first, block.n_samples));
    rb_feed_free(feed);
    err = err ? err : look_at(ctx, c);
    return err ? err : add_resting(ctx, c);
}

static void check_apart(rb_context *ctx, const cohort *a, const cohort *b) {
    size_t row = (size_t)a->values.cols * rb_type_size(a->values.type);
    bool same = a->n == b->n;
    for (int64_t i = 0; same && i < a->n; i++)
        same = memcmp(rb_dense_row(a->values, i), rb_dense_row(b->values, i), row) == 0;
    if (same)
        rb_log(ctx, RB_LOG_WARNING,
               "both cohorts are the same samples, so that this is no replication; give two that "
               "were measured apart");
}

/* ---- permutations ---- */

struct permuting {
    cohort *c;
    rb_stream stream;
};

/* Feature k in an order of its own. */
static void permute_feature(void *arg, int64_t k, int worker) {
    const struct permuting *t = arg;
    const cohort *c = t->c;
    int64_t *order = c->orders + worker * c->n;
    rb_draws draws = {t->stream, (uint64_t)k << 32};
    rb_draw_order(&draws, c->n, order);
    for (int64_t i = 0; i < c->n; i++)
        rb_dense_set(c->permuted, i, k, rb_dense_get(c->values, order[i], k));
}

static rb_error permute(work *w, cohort *c, int which, const rb_replication_options *options) {
    rb_error err = RB_OK;
    for (int64_t p = 0; !err && p < options->permutations; p++) {
        struct permuting t = {
            c, {(uint64_t)options->seed, RB_RANDOM_REPLICATE, (uint32_t)(2 * p + which)}};
        rb_parallel(w->ctx, w->m, permute_feature, &t);
        err = add_all(w, c->permuted);
        if (!err) explain(w, c->squares, c->explained + p * w->units);
    }
    return err;
}

/* ---- loadings by least squares ---- */

/* Of the active units, whose indices are `used`; the others get NaN. */
static rb_error find_profile(work *w, const cohort *c) {
    int64_t q = w->units, count = 0;
    double n = (double)c->n + c->resting;
    rb_scratch scratch = {.ctx = w->ctx};
    int64_t *used = rb_take(&scratch, q, sizeof *used);
    double *a = rb_take(&scratch, q * q, sizeof *a), *b = rb_take(&scratch, w->m * q, sizeof *b);
    if (scratch.err) return rb_scratch_end(&scratch);
    const double *h = w->sums.codes, *s = w->sums.s;
    for (int64_t j = 0; j < q; j++)
        if (s[j * q + j] - h[j] * h[j] / (double)c->n > 1e-9 * s[j * q + j]) used[count++] = j;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t l = 0; l < count; l++)
            a[i * count + l] = s[used[i] * q + used[l]] - h[used[i]] * h[used[l]] / n;
        a[i * count + i] *= 1 + 1e-9; /* units that are the same share what they explain */
        for (int64_t k = 0; k < w->m; k++)
            b[k * count + i] = w->sums.u[k * q + used[i]] - c->means[k] * h[used[i]];
    }
    bool solved = rb_solve_small(count, a, w->m, b);
    for (int64_t e = 0; e < w->m * q; e++)
        c->profile[e] = NAN;
    for (int64_t i = 0; solved && i < count; i++)
        for (int64_t k = 0; k < w->m; k++)
            c->profile[k * q + used[i]] = b[k * count + i];
    return rb_scratch_end(&scratch);
}

/* The correlation of column j of two tables over features that vary in both cohorts. */
static double correlate(const work *w, const double *x, const double *y, const cohort *a,
                        const cohort *b, int64_t j, double *memory) {
    int64_t count = 0;
    for (int64_t k = 0; k < w->m; k++) {
        if (!a->varies[k] || !b->varies[k]) continue;
        memory[2 * count] = x[k * w->units + j];
        memory[2 * count++ + 1] = y[k * w->units + j];
    }
    return rb_correlation(count, memory, 2, memory + 1, 2);
}

/* ---- the whole ---- */

static rb_error examine(work *w, cohort *c, int which, const rb_replication_options *options,
                        rb_cohort_pair *units) {
    double *memory = rb_alloc(w->ctx, 2 * w->m, sizeof *memory);
    rb_error err = memory ? add_all(w, c->values) : RB_ERROR_MEMORY;
    err = err ? err : find_profile(w, c);
    if (!err) explain(w, c->squares, c->observed);
    for (int64_t j = 0; !err && j < w->units; j++) {
        rb_cohort_unit *unit = &units[j].in[which];
        unit->active = w->sums.active[j] / (double)c->n;
        unit->explained = c->observed[j];
        unit->correlation = correlate(w, c->profile, w->loadings, c, c, j, memory);
        if (w->sums.s[j * w->units + j] == 0) c->observed[j] = NAN;
    }
    rb_free(memory);
    err = err ? err : permute(w, c, which, options);
    const rb_chances chances = {options->permutations, c->observed, c->explained};
    const rb_chance_rows rows = {&units->in[which].p_value, sizeof *units, w->units};
    return err ? err : rb_chances_find(w->ctx, &chances, &rows);
}

static rb_error compare(work *w, cohort cohorts[2], const rb_replication_options *options,
                        rb_cohorts *to) {
    int64_t units = w->units;
    double *memory = rb_alloc(w->ctx, 2 * w->m, sizeof *memory);
    to->units = rb_alloc_zero(w->ctx, units, sizeof *to->units);
    rb_error err = memory && to->units ? RB_OK : RB_ERROR_MEMORY;
    to->n_units = units;
    to->permutations = options->permutations;
    for (int i = 0; !err && i < 2; i++) {
        to->n_samples[i] = cohorts[i].n;
        err = examine(w, &cohorts[i], i, options, to->units);
    }
    for (int64_t j = 0; !err && j < units; j++)
        to->units[j].correlation = correlate(w, cohorts[0].profile, cohorts[1].profile, &cohorts[0],
                                             &cohorts[1], j, memory);
    rb_free(memory);
    return err;
}

rb_error rb_compare_cohorts(rb_context *ctx, const rb_model *model, rb_source *first,
                            rb_source *second, const rb_options *options, rb_cohorts *to) {
    rb_replication_options chosen;
    rb_source *sources[] = {first, second};
    cohort cohorts[2] = {0};
    work w = {0};
    rb_error err = rb_size_check(ctx, "the comparison of cohorts", to->size, sizeof *to);
    if (err) return err;
    *to = (rb_cohorts){.size = sizeof *to};
    err = rb_options_take(ctx, options, rb_replication_group(), &chosen);
    if (!err && chosen.signs != RB_SIGNS_AUTO) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "`signs` does nothing with two cohorts; leave it out");
    }
    for (int i = 0; !err && i < 2; i++)
        err = load_cohort(ctx, model, sources[i], chosen.permutations, &cohorts[i]);
    if (!err) check_apart(ctx, &cohorts[0], &cohorts[1]);
    int64_t n = cohorts[0].n > cohorts[1].n ? cohorts[0].n : cohorts[1].n;
    err = err ? err : open_work(ctx, model, n, &w);
    err = err ? err : compare(&w, cohorts, &chosen, to);
    close_work(&w);
    for (int i = 0; i < 2; i++)
        (void)rb_scratch_end(&cohorts[i].arrays);
    if (err) rb_cohorts_clear(to);
    return err;
}

void rb_cohorts_clear(rb_cohorts *cohorts) {
    rb_free(cohorts->units);
    *cohorts = (rb_cohorts){.size = cohorts->size};
}
