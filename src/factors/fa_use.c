/* Using factor models: codes of new samples, and the metrics.
 *
 * Codes of priors that are not normal come from variational variances that begin at 1 and go on
 * until they settle. A model may have its codes scaled: code = mu / scale, loadings = W scale. */
#include "fa.h"

#include <math.h>

static const double LN_2PI = 1.8378770664093454836, PI = 3.14159265358979323846;

enum { STEPS = 100 };

typedef struct coder {
    rb_scratch own;
    rb_dense loadings; /* W */
    const double *noise, *scale;
    double *variances; /* of a block */
    double value;      /* of the blocks so far: sum over samples, see fa_infer */
    fa_posterior posterior;
    fa_work work;
} coder;

void fa_coder_free(void *state) {
    if (state) rb_spd_free(((coder *)state)->posterior.factor);
    factors_coder_free(state);
}

static rb_error load(rb_context *ctx, const rb_model *model, coder *c) {
    int64_t m = c->loadings.rows, l = c->loadings.cols;
    const double *loadings;
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, l, &loadings);
    err = err ? err : rb_model_need_array(ctx, model, "noise", m, 1, &c->noise);
    err = err ? err : rb_model_need_array(ctx, model, "scale", l, 1, &c->scale);
    for (int64_t j = 0; !err && j < l; j++)
        if (!(c->scale[j] > 0))
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the scale of unit %lld is not above 0",
                          (long long)j);
    for (int64_t k = 0; !err && k < m; k++) {
        if (!(c->noise[k] > 0))
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the noise variance of feature %lld is not above 0",
                          (long long)k);
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(c->loadings, k, j, loadings[k * l + j] / c->scale[j]);
    }
    return err;
}

rb_error fa_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **out) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    fa_prior prior = *(const fa_prior *)model->method->own;
    coder *c = factors_coder_begin(ctx, sizeof *c, out);
    if (!c) return RB_ERROR_MEMORY;
    rb_dense_take(&c->own, model->type, m, l, &c->loadings);
    if (!c->own.err) c->own.err = load(ctx, model, c);
    fa_posterior_new(&c->own, model->type, m, l, prior, &c->posterior);
    if (!c->own.err) c->own.err = fa_posterior_set(ctx, c->loadings, c->noise, &c->posterior);
    if (prior != FACTORS_NORMAL) {
        c->variances = rb_take(&c->own, block_samples * l, sizeof *c->variances);
        fa_work_new(&c->own, l, false, &c->work);
    }
    if (c->own.err) rb_spd_free(c->posterior.factor);
    return factors_coder_end(out);
}

/* mu */
static rb_error infer(rb_context *ctx, coder *c, const rb_block *block, rb_dense codes) {
    bool normal = c->posterior.prior == FACTORS_NORMAL;
    rb_error err =
        factors_project(ctx, block, normal ? c->posterior.filter : c->posterior.weighted, codes);
    if (err || normal) return err;
    for (int64_t e = 0; e < codes.rows * codes.cols; e++)
        c->variances[e] = 1;
    fa_pass pass = {.posterior = &c->posterior,
                    .work = &c->work,
                    .codes = codes,
                    .variances = c->variances,
                    .steps = STEPS,
                    .value = &c->value};
    return fa_infer(ctx, &pass);
}

rb_error fa_encode(rb_context *ctx, void *state, const rb_block *block, void *codes) {
    coder *c = state;
    int64_t l = c->loadings.cols;
    rb_dense mu = {codes, block->n_samples, l, l, c->loadings.type};
    rb_error err = infer(ctx, c, block, mu);
    for (int64_t e = 0; !err && e < mu.rows * l; e++)
        rb_put(mu.type, codes, e, rb_get(mu.type, codes, e) / c->scale[e % l]);
    return err;
}

/* ---- drawing samples ---- */

/* A normal number beyond 1, by G. Marsaglia, "Generating a variable from the tail of the normal
 * distribution", Technometrics 6 (1964): x = sqrt(1 - 2 ln u) is kept with probability 1 / x. */
static double draw_tail(const rb_sampling *sampling, int64_t sample, int64_t place) {
    enum { TRIES = 60 }; /* of which one in three fails */
    double u[2] = {0, 0}, x = 1;
    for (int64_t t = 0; t < TRIES; t++) {
        rb_sampling_uniform(sampling, sample, place + 2 * t, 2, u);
        x = sqrt(1 - 2 * log1p(-u[0]));
        if (u[1] * x < 1) break;
    }
    return x;
}

/* |z| of FABIA's prior, exp(-z) / C up to 1 and exp(-(z^2 + 1) / 2) / C beyond. */
static double draw_fabia(const rb_sampling *sampling, int64_t sample, int64_t place) {
    const double within = 1 - exp(-1), beyond = sqrt(PI / 2) * exp(-0.5) * erfc(sqrt(0.5));
    double u;
    rb_sampling_uniform(sampling, sample, place, 1, &u);
    u *= within + beyond;
    return u < within ? -log1p(-u) : draw_tail(sampling, sample, place + 1);
}

/* A factor of the prior, which must not be Jeffreys' one. */
static double draw_factor(const rb_sampling *sampling, fa_prior prior, int64_t sample, int64_t j) {
    enum { PLACES = 128 };
    double z;
    if (prior == FACTORS_NORMAL) {
        rb_sampling_normal(sampling, sample, j, 1, &z);
        return z;
    }
    rb_sampling_uniform(sampling, sample, j * PLACES, 1, &z);
    double sign = z < 0.5 ? -1 : 1;
    if (prior == FACTORS_FABIA) return sign * draw_fabia(sampling, sample, j * PLACES + 1);
    rb_sampling_uniform(sampling, sample, j * PLACES + 1, 1, &z);
    return sign * -log1p(-z) / sqrt(2);
}

/* Of given samples by their posterior, N(mu_i, Sigma), where the prior is normal; with other priors
 * the codes are as they are. */
static rb_error draw_given(rb_context *ctx, coder *c, const rb_sampling *sampling,
                           const rb_block *block, rb_dense codes) {
    rb_dense scaled = {0}, sigma = c->posterior.sigma;
    rb_error err = fa_encode(ctx, c, block, codes.data);
    if (err || c->posterior.prior != FACTORS_NORMAL) return err;
    err = rb_dense_new(ctx, RB_FLOAT64, sigma.rows, sigma.cols, &scaled);
    for (int64_t i = 0; !err && i < sigma.rows; i++)
        for (int64_t j = 0; j <= i; j++)
            rb_dense_set(scaled, i, j, rb_dense_get(sigma, i, j) / c->scale[i] / c->scale[j]);
    err = err ? err : rb_add_correlated(ctx, sampling, 1, scaled, codes);
    rb_dense_free(&scaled);
    return err;
}

rb_error fa_draw(rb_context *ctx, void *state, const rb_sampling *sampling, int64_t n,
                 const rb_block *block, void *values) {
    coder *c = state;
    int64_t l = c->loadings.cols;
    rb_dense codes = {values, n, l, l, c->loadings.type};
    if (block) return draw_given(ctx, c, sampling, block, codes);
    if (c->posterior.prior == FACTORS_JEFFREYS) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "the prior of fa-jeffreys, 1/|z|, is improper; give data to draw from their codes");
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(codes, i, j,
                         draw_factor(sampling, c->posterior.prior, i, j) / c->scale[j]);
    return RB_OK;
}

/* ---- metrics ---- */

/* Codes this near 0 count as small ("Rectified factor networks", section 4). */
static const double SMALL = 0.01;

struct metrics {
    rb_context *ctx;
    coder *coder;
    int64_t n, block_samples;
    rb_dense codes, rows; /* of a block; rows: its samples, then V - mu W' */
    rb_dense raw, own;    /* mu'mu, of all samples and of one */
    rb_dense products;    /* V'V, or nothing where it would be large */
    double *second;       /* sum of squares of each feature */
    double zeros, small, errors;
    double *likelihoods; /* of all samples, where they are asked for and exact; or NULL */
    rb_csr_memory columns;
};

static void count_codes(struct metrics *f, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rb_dense_get(codes, i, j) / f->coder->scale[j];
            f->zeros += code == 0;
            f->small += fabs(code) < SMALL;
        }
    }
}

/* mu'(I + G) mu, of entries of mu mu' that `raw` has in its lower triangle. */
static double explained_by(const fa_posterior *p, rb_dense raw) {
    double explained = 0;
    for (int64_t i = 0; i < raw.rows; i++)
        for (int64_t j = 0; j <= i; j++)
            explained += (i == j ? 1 : 2) * rb_dense_get(raw, i, j) *
                         (rb_dense_get(p->gram, i, j) + (i == j));
    return explained;
}

/* ln p(v) of the samples of a block, whose values are `rows`: as log_likelihood has their mean. */
static void find_likelihoods(struct metrics *f, const rb_block *block, rb_dense codes,
                             rb_dense rows) {
    const coder *c = f->coder;
    const fa_posterior *p = &c->posterior;
    for (int64_t i = 0; i < rows.rows; i++) {
        double value = (double)rows.cols * LN_2PI + p->noise_log_det + p->log_det;
        for (int64_t k = 0; k < rows.cols; k++)
            value += rb_dense_get(rows, i, k) * rb_dense_get(rows, i, k) / c->noise[k];
        rb_gemm_lower(f->ctx, 1, rb_dense_rows(codes, i, 1), RB_TRANSPOSED,
                      rb_dense_rows(codes, i, 1), RB_PLAIN, 0, f->own);
        f->likelihoods[block->first + i] = -(value - explained_by(p, f->own)) / 2;
    }
}

static rb_error add_block(rb_context *ctx, void *user, const rb_block *block) {
    struct metrics *f = user;
    rb_dense codes = rb_dense_rows(f->codes, 0, block->n_samples);
    rb_dense rows = rb_dense_rows(f->rows, 0, block->n_samples);
    rb_error err = infer(ctx, f->coder, block, codes);
    if (err) return err;
    rb_gemm_lower(ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, f->raw);
    count_codes(f, codes);
    rb_block_feature_squares(ctx, block, f->second);
    if (f->products.rows > 0) err = factors_add_second(ctx, &f->columns, block, f->products);
    rb_block_rows(block, 0, rows);
    if (f->likelihoods) find_likelihoods(f, block, codes, rows);
    rb_gemm_parallel(ctx, -1, codes, RB_PLAIN, f->coder->loadings, RB_TRANSPOSED, 1, rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        const void *row = rb_dense_row(rows, i);
        f->errors += rb_dot(ctx, rows.type, rows.cols, row, row);
    }
    return err;
}

/* The mean of ln p(v): of normal factors, with mu'(I + G) mu = mu' W' Psi^-1 v; else a bound. */
static double log_likelihood(struct metrics *f) {
    const coder *c = f->coder;
    const fa_posterior *p = &c->posterior;
    int64_t m = c->loadings.rows;
    double n = (double)f->n, value = (double)m * LN_2PI + p->noise_log_det;
    for (int64_t k = 0; k < m; k++)
        value += f->second[k] / n / c->noise[k];
    if (p->prior != FACTORS_NORMAL) return c->value / n - value / 2;
    return -(value + p->log_det - explained_by(p, f->raw) / n) / 2;
}

/* || C - L L' - Psi ||, L the loadings that belong to the codes of the model. */
static double covariance_error(struct metrics *f) {
    const coder *c = f->coder;
    rb_dense s = f->products, w = c->loadings;
    double sum = 0;
    for (int64_t j = 0; j < w.cols; j++)
        for (int64_t k = 0; k < w.rows; k++)
            rb_dense_set(w, k, j, rb_dense_get(w, k, j) * c->scale[j]);
    rb_gemm_lower(f->ctx, -1, w, RB_PLAIN, w, RB_TRANSPOSED, 1 / (double)f->n, s);
    for (int64_t i = 0; i < s.rows; i++) {
        const void *row = rb_dense_row(s, i);
        double diagonal = rb_get(s.type, row, i) - c->noise[i];
        sum += 2 * rb_dot(f->ctx, s.type, i, row, row) + diagonal * diagonal;
    }
    return sqrt(sum);
}

static rb_error measure(struct metrics *f, rb_feed *feed, rb_metrics *metrics) {
    rb_adding all = {.feed = feed,
                     .block_samples = f->block_samples,
                     .fn = add_block,
                     .user = f,
                     .totals = {rb_total_of(f->raw),
                                {f->second, f->rows.cols, RB_KEPT_FLOAT64},
                                {&f->zeros, 1, RB_KEPT_FLOAT64},
                                {&f->small, 1, RB_KEPT_FLOAT64},
                                {&f->errors, 1, RB_KEPT_FLOAT64},
                                {&f->coder->value, 1, RB_KEPT_FLOAT64},
                                rb_total_of(f->products)}};
    return rb_metrics_add(f->ctx, metrics, &all, false);
}

static void report(struct metrics *f, rb_metrics *metrics) {
    double n = (double)f->n, l = (double)f->codes.cols, m = (double)f->rows.cols;
    bool normal = f->coder->posterior.prior == FACTORS_NORMAL;
    rb_metrics_set(metrics, normal ? "log_likelihood" : "log_likelihood_bound", log_likelihood(f));
    rb_metrics_rebuilt(metrics, f->zeros / (n * l), f->errors, n * m);
    rb_metrics_set(metrics, "small_codes", f->small / (n * l));
    if (f->products.rows > 0) rb_metrics_set(metrics, "covariance_error", covariance_error(f));
}

rb_error fa_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics) {
    enum { MAX_FEATURES = 8192, CELLS = 1 << 21 };
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    struct metrics f = {.ctx = ctx, .n = rb_feed_samples(feed)};
    rb_scratch scratch = {.ctx = ctx};
    void *made = NULL;
    f.block_samples = rb_block_size(CELLS, m > l ? m : l, f.n);
    scratch.err = fa_coder_new(ctx, model, f.block_samples, &made);
    f.coder = made;
    f.second = rb_take(&scratch, m, sizeof *f.second);
    rb_dense_take(&scratch, model->type, f.block_samples, l, &f.codes);
    rb_dense_take(&scratch, model->type, f.block_samples, m, &f.rows);
    rb_dense_take(&scratch, model->type, l, l, &f.raw);
    rb_dense_take(&scratch, model->type, l, l, &f.own);
    if (m <= MAX_FEATURES) rb_dense_take(&scratch, model->type, m, m, &f.products);
    if (!scratch.err && f.coder->posterior.prior == FACTORS_NORMAL)
        f.likelihoods = metrics->likelihoods;
    scratch.err = scratch.err ? scratch.err : measure(&f, feed, metrics);
    if (!scratch.err) report(&f, metrics);
    fa_coder_free(made);
    rb_csr_memory_free(&f.columns);
    return rb_scratch_end(&scratch);
}
