/* SP, ER, CO (Clevert et al. 2015, section 4) and the objectives of a model on data, with codes as
 * `encode` gives them. */
#include "coder.h"
#include "lacking.h"
#include "objective.h"
#include "posterior.h"

#include <math.h>
#include <stdio.h>

struct metrics {
    rb_context *ctx;
    rfn_coder *coder;
    rb_feed *feed;
    int64_t n, m, l, block_samples;
    rb_scratch scratch;   /* frees the arrays */
    rb_dense codes, rows; /* of a block; rows: its samples, then V - mu W' */
    rfn_moments moments;
    rb_dense raw, work, p;              /* mu_p'mu_p; scratch; P */
    double *second, *cross, *quadratic; /* m: diagonals of C, U W', W S W' */
    rb_dense inverse, weighted; /* Psi^-1, m x m, and V Psi^-1 of a block: of full noise only */
    rb_dense group;             /* rows of C, of some features */
    rb_metrics *metrics;
    double *likelihoods; /* of all samples, but for what they have in common; may be NULL */
    int64_t zeros;
    double residual_squares, noise_squares; /* of the rows v of V: sum of v' Psi^-1 v */
};

static rb_error metrics_new(rb_context *ctx, const rb_model *model, struct metrics *f) {
    enum { GROUP_CELLS = 1 << 23 };
    void *coder;
    int64_t m = f->m, l = f->l, n = f->block_samples, group = GROUP_CELLS / m;
    rb_type type = model->type;
    rb_scratch *s = &f->scratch;
    s->err = rfn_coder_new(ctx, model, n, &coder);
    f->coder = coder;
    if (s->err) return s->err;
    rb_dense_take(s, type, n, l, &f->codes);
    rb_dense_take(s, type, n, m, &f->rows);
    rb_dense_take(s, type, m, l, &f->moments.u);
    rb_dense_take(s, type, l, l, &f->moments.s);
    f->moments.mean = rb_take(s, l, sizeof *f->moments.mean);
    rb_dense_take(s, type, l, l, &f->raw);
    rb_dense_take(s, type, m, l, &f->work);
    rb_dense_take(s, type, l, l, &f->p);
    f->second = rb_take(s, m, sizeof *f->second);
    f->cross = rb_take(s, m, sizeof *f->cross);
    f->quadratic = rb_take(s, m, sizeof *f->quadratic);
    rb_dense_take(s, type, rb_smaller(group < 64 ? 64 : group, m), m, &f->group);
    const rfn_psi *psi = &f->coder->parameters.full;
    if (rfn_psi_is_full(psi)) {
        rb_dense_take(s, type, m, m, &f->inverse);
        rb_dense_take(s, type, n, m, &f->weighted);
        if (!s->err) rb_spd_inverse(ctx, psi->factor, f->inverse);
    }
    return s->err;
}

/* Counts zeros, sums codes. */
static void count_codes(struct metrics *f, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rb_get(codes.type, rb_dense_row(codes, i), j);
            f->zeros += code == 0;
            f->moments.mean[j] += code;
        }
    }
}

/* ln p(v) = (mu_p' P mu_p - v' Psi^-1 v) / 2 + what all samples have in common; means: mu_p. */
static void add_likelihoods_of_means(struct metrics *f, int64_t first, rb_dense means) {
    for (int64_t i = 0; i < means.rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < f->l; j++) {
            double of = rb_dense_get(f->p, j, j) * rb_dense_get(means, i, j) / 2;
            for (int64_t c = 0; c < j; c++)
                of += rb_dense_get(f->p, j, c) * rb_dense_get(means, i, c);
            sum += of * rb_dense_get(means, i, j);
        }
        f->likelihoods[first + i] = sum;
    }
}

/* weighted: V Psi^-1, of full noise. */
static void add_likelihoods_of_rows(struct metrics *f, int64_t first, rb_dense v) {
    const double *noise = f->coder->parameters.noise;
    for (int64_t i = 0; i < v.rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < v.cols; k++) {
            double x = rb_dense_get(v, i, k);
            sum += x * (f->inverse.rows > 0 ? rb_dense_get(f->weighted, i, k) : x / noise[k]);
        }
        f->likelihoods[first + i] -= sum / 2;
    }
}

/* Adds that, by the mean over samples. */
static void complete_likelihoods(struct metrics *f, double mean) {
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++)
        sum += f->likelihoods[i];
    for (int64_t i = 0; i < f->n; i++)
        f->likelihoods[i] += mean - sum / (double)f->n;
}

static void add_noise_squares(struct metrics *f, rb_dense v) {
    rb_dense weighted = rb_dense_rows(f->weighted, 0, v.rows);
    rb_gemm_parallel(f->ctx, 1, v, RB_PLAIN, f->inverse, RB_PLAIN, 0, weighted);
    for (int64_t i = 0; i < v.rows; i++) {
        f->noise_squares +=
            rb_dot(f->ctx, v.type, v.cols, rb_dense_row(v, i), rb_dense_row(weighted, i));
    }
}

/* Adds the squares of the samples to `second`, those of V - mu W' to the residual. */
static void add_residual(struct metrics *f, rb_dense v, rb_dense codes) {
    for (int64_t i = 0; i < v.rows; i++) {
        for (int64_t k = 0; k < v.cols; k++) {
            double x = rb_get(v.type, rb_dense_row(v, i), k);
            f->second[k] += x * x;
        }
    }
    rb_gemm_parallel(f->ctx, -1, codes, RB_PLAIN, f->coder->parameters.loadings, RB_TRANSPOSED, 1,
                     v);
    for (int64_t i = 0; i < v.rows; i++) {
        const void *row = rb_dense_row(v, i);
        f->residual_squares += rb_dot(f->ctx, v.type, v.cols, row, row);
    }
}

static rb_error add_block(rb_context *ctx, void *user, const rb_block *block) {
    struct metrics *f = user;
    rb_dense codes = rb_dense_rows(f->codes, 0, block->n_samples);
    rb_dense v = rb_dense_rows(f->rows, 0, block->n_samples);
    rfn_posterior_means(ctx, f->coder, block, codes);
    if (f->likelihoods) add_likelihoods_of_means(f, block->first, codes);
    rb_gemm_lower(ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, f->raw);
    rb_error err = rb_metrics_encode(ctx, f->metrics, f->coder, block, codes.data);
    if (err) return err;
    count_codes(f, codes);
    rb_block_rows(block, 0, v);
    rb_moments_parallel(ctx, 1, v, codes, f->moments.u, f->moments.s);
    if (f->inverse.rows > 0) add_noise_squares(f, v);
    if (f->likelihoods) add_likelihoods_of_rows(f, block->first, v);
    add_residual(f, v, codes);
    return RB_OK;
}

static rb_error add_blocks(struct metrics *f) {
    rb_adding all = {.feed = f->feed,
                     .block_samples = f->block_samples,
                     .fn = add_block,
                     .user = f,
                     .totals = {rb_total_of(f->raw),
                                rb_total_of(f->moments.u),
                                rb_total_of(f->moments.s),
                                {f->moments.mean, f->l, RB_KEPT_FLOAT64},
                                {f->second, f->m, RB_KEPT_FLOAT64},
                                {&f->zeros, 1, RB_KEPT_INTEGER},
                                {&f->residual_squares, 1, RB_KEPT_FLOAT64},
                                {&f->noise_squares, 1, RB_KEPT_FLOAT64}}};
    return rb_metrics_add(f->ctx, f->metrics, &all, true);
}

static void scale(rb_dense a, double factor) {
    for (int64_t e = 0; e < a.rows * a.cols; e++) {
        int64_t i = e / a.cols, j = e % a.cols;
        rb_dense_set(a, i, j, factor * rb_dense_get(a, i, j));
    }
}

/* Sums become means; work becomes W S. */
static void finish_moments(struct metrics *f) {
    const rfn_parameters *parameters = &f->coder->parameters;
    for (int64_t k = 0; k < f->m; k++)
        f->second[k] /= (double)f->n;
    for (int64_t j = 0; j < f->l; j++)
        f->moments.mean[j] /= (double)f->n;
    scale(f->moments.u, 1 / (double)f->n);
    scale(f->moments.s, 1 / (double)f->n);
    rfn_complete_moments(f->ctx, &parameters->prior, f->coder->posterior.sigma, &f->moments);
    rfn_forms(f->ctx, parameters->loadings, &f->moments, f->work, f->cross, f->quadratic);
}

/* <Psi^-1, C - U W' - W U' + W S W'> */
static double noise_product(struct metrics *f) {
    const rfn_parameters *parameters = &f->coder->parameters;
    if (f->inverse.rows == 0)
        return rfn_noise_product(f->m, parameters->noise, f->second, f->cross, f->quadratic);
    double sum = f->noise_squares / (double)f->n;
    rfn_psi_divide(f->ctx, &parameters->full, parameters->loadings);
    for (int64_t k = 0; k < f->m; k++) {
        for (int64_t j = 0; j < f->l; j++) {
            sum += rb_dense_get(parameters->full.part, k, j) *
                   (rb_dense_get(f->work, k, j) - 2 * rb_dense_get(f->moments.u, k, j));
        }
    }
    return sum;
}

static double fill_objectives(struct metrics *f, rb_metrics *metrics) {
    const rfn_parameters *parameters = &f->coder->parameters;
    double energy, divergence;
    finish_moments(f);
    rfn_energies(parameters, &f->coder->posterior, &f->moments, noise_product(f), &energy,
                 &divergence);
    double objective = -energy - divergence;
    double product = rfn_product_of_lower(f->ctx, f->p, f->raw) / (double)f->n;
    double estep_objective = rfn_estep_objective(f->ctx, parameters, f->p, &f->moments, product);
    rb_metrics_set(metrics, "objective", objective);
    rb_metrics_set(metrics, "log_likelihood", objective + estep_objective / 2);
    if (f->likelihoods) complete_likelihoods(f, objective + estep_objective / 2);
    rb_metrics_set(metrics, "estep_objective", estep_objective);
    rb_metrics_set(metrics, "energy", energy);
    rb_metrics_set(metrics, "divergence", divergence);
    return objective;
}

/* ---- the covariance error ---- */

struct products {
    struct metrics *f;
    int64_t first;
    rb_dense c;
};

static rb_error add_products(rb_context *ctx, void *user, const rb_block *block) {
    const struct products *p = user;
    int64_t count = block->n_samples;
    rb_dense v = rb_dense_rows(p->f->rows, 0, count);
    rb_block_rows(block, 0, v);
    rb_gemm_parallel(ctx, 1 / (double)p->f->n, rb_dense_part(v, 0, count, p->first, p->c.rows),
                     RB_TRANSPOSED, rb_dense_part(v, 0, count, 0, p->c.cols), RB_PLAIN, 1, p->c);
    return RB_OK;
}

/* C for features first .. first + c.rows - 1, lower part: columns up to the last of them. */
static rb_error find_products(struct metrics *f, int64_t first, rb_dense c) {
    struct products products = {f, first, c};
    rb_adding all = {f->feed, f->block_samples, add_products, &products, {rb_total_of(c)}};
    rb_dense_zero(c);
    return rb_metrics_add(f->ctx, f->metrics, &all, false);
}

/* Sum of squares of C - Psi - W S W', work W S, over these rows and their mirror images. */
static double sum_of_squares(struct metrics *f, int64_t first, rb_dense c) {
    const rfn_parameters *parameters = &f->coder->parameters;
    rb_gemm_parallel(f->ctx, -1, rb_dense_rows(f->work, first, c.rows), RB_PLAIN,
                     rb_dense_rows(parameters->loadings, 0, c.cols), RB_TRANSPOSED, 1, c);
    double sum = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        int64_t k = first + i;
        for (int64_t b = 0; rfn_psi_is_full(&parameters->full) && b < k; b++) {
            double noise = rb_dense_get(parameters->full.covariance, k, b);
            rb_dense_set(c, i, b, rb_dense_get(c, i, b) - noise);
        }
        const void *row = rb_dense_row(c, i);
        double diagonal = rb_get(c.type, row, k) - parameters->noise[k];
        sum += 2 * rb_dot(f->ctx, c.type, k, row, row) + diagonal * diagonal;
    }
    return sum;
}

/* || C - Psi - W S W' ||_F with C = V'V / n (CO), by passes over the data for a group of features
 * each, so that no m x m matrix is needed when m is large. */
static rb_error covariance_error(struct metrics *f, double *error) {
    rb_error err = RB_OK;
    double sum = 0;
    for (int64_t first = 0; !err && first < f->m; first += f->group.rows) {
        int64_t rows = rb_smaller(f->m - first, f->group.rows);
        rb_dense c = {f->group.data, rows, first + rows, first + rows, f->group.type};
        err = find_products(f, first, c);
        sum += err ? 0 : sum_of_squares(f, first, c);
    }
    *error = sqrt(sum);
    return err;
}

/* ---- all of them ---- */

static double stored(const rb_model *model, const char *name) {
    const double *value = rb_model_array(model, name, NULL, NULL);
    return value ? *value : NAN;
}

static void set_stored(const rb_model *model, rb_metrics *metrics) {
    rb_metrics_set(metrics, "kkt_residual", stored(model, "kkt_residual"));
    rb_metrics_set(metrics, "certificate", stored(model, "certificate"));
}

void rfn_summary(const rb_model *model, bool details, char *line, size_t size) {
    double residual = stored(model, "kkt_residual"), certificate = stored(model, "certificate");
    const char *traffic = rb_model_attribute(model, "device_traffic");
    char texts[3][96] = {"", "", ""};
    *line = '\0';
    if (isfinite(residual)) snprintf(texts[0], sizeof *texts, "KKT residual %.3g", residual);
    if (isfinite(certificate)) snprintf(texts[1], sizeof *texts, "certificate %.3g", certificate);
    if (traffic) snprintf(texts[2], sizeof *texts, "moved to and from the device: %s", traffic);
    for (int i = 0; details && i < 3; i++) {
        size_t used = strlen(line);
        if (*texts[i]) snprintf(line + used, size - used, "%s%s", used ? ", " : "", texts[i]);
    }
}

/* Is a value missing? */
static rb_error find_lacking(struct metrics *f, bool *found) {
    rb_block block = {0};
    rb_error err = RB_OK;
    *found = false;
    while (f->coder->lacking && !*found &&
           rb_feed_next(f->ctx, f->feed, f->block_samples, &block, &err)) {
        int64_t values;
        rb_block_squares(&block, &values);
        *found = values < block.n_samples * f->m;
    }
    return err;
}

static rb_error measure(const rb_model *model, struct metrics *f, rb_metrics *metrics) {
    rfn_hessian(f->ctx, &f->coder->parameters, f->work, f->p);
    rb_error err = add_blocks(f);
    if (err) return err;
    double objective = fill_objectives(f, metrics), error = NAN;
    set_stored(model, metrics);
    rb_metrics_rebuilt(metrics, (double)f->zeros / ((double)f->n * (double)f->l),
                       f->residual_squares, (double)f->n * (double)f->m);
    err = covariance_error(f, &error);
    rb_metrics_set(metrics, "covariance_error", error);
    if (!err && (!isfinite(error) || !isfinite(objective))) {
        rb_log(f->ctx, RB_LOG_WARNING,
               "metrics are left out: squares of the data, or of the model, exceed the range of %s",
               model->type == RB_FLOAT32 ? "float32" : "float64");
    }
    return err;
}

rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics) {
    enum { CELLS = 1 << 22 }; /* dense rows of a sparse source included */
    struct metrics f = {.ctx = ctx,
                        .scratch = {.ctx = ctx},
                        .feed = feed,
                        .n = rb_feed_samples(feed),
                        .m = model->preprocess->n_features,
                        .l = rb_model_units(model),
                        .metrics = metrics,
                        .likelihoods = metrics->likelihoods};
    f.block_samples = rb_block_size(CELLS, f.m > f.l ? f.m : f.l, f.n);
    rb_error err = metrics_new(ctx, model, &f);
    bool lacking = false;
    err = err ? err : find_lacking(&f, &lacking);
    if (!err && lacking) {
        set_stored(model, metrics);
        err = rfn_evaluate_lacking(ctx, f.coder, feed, f.block_samples, metrics);
    } else if (!err) {
        err = measure(model, &f, metrics);
    }
    rfn_coder_free(f.coder);
    (void)rb_scratch_end(&f.scratch);
    return err;
}
