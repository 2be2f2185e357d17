/* SP, ER, CO and the objectives of a model on data, with codes as `encode` gives them. */
#include "evaluate.h"

#include "objective.h"
#include "state.h"

#include <math.h>

struct figures {
    rb_context *ctx;
    rfn_coder *coder;
    int64_t n, m, l, block_samples;
    rb_dense codes, residual;    /* of a block */
    rb_dense u, s, raw, work, p; /* moments */
    double *second, *mean;       /* m, l */
    double *cross, *quadratic;   /* m */
    rb_dense inverse, weighted;  /* Psi^-1, m x m, and V Psi^-1 of a block: of full noise only */
    int64_t zeros;
    double residual_squares, noise_squares; /* of the rows v of V: sum of v' Psi^-1 v */
};

static void figures_clear(struct figures *f) {
    rb_dense_free(&f->codes);
    rb_dense_free(&f->residual);
    rb_dense_free(&f->u);
    rb_dense_free(&f->s);
    rb_dense_free(&f->raw);
    rb_dense_free(&f->work);
    rb_dense_free(&f->p);
    rb_dense_free(&f->inverse);
    rb_dense_free(&f->weighted);
    rb_free(f->second);
    rb_free(f->mean);
    rb_free(f->cross);
    rb_free(f->quadratic);
    rfn_coder_free(f->coder);
}

static rb_error figures_new(rb_context *ctx, const rb_model *model, struct figures *f) {
    rb_type type = model->type;
    struct {
        rb_dense *dense;
        int64_t rows, cols;
    } wanted[] = {{&f->codes, f->block_samples, f->l},
                  {&f->residual, f->block_samples, f->m},
                  {&f->u, f->m, f->l},
                  {&f->s, f->l, f->l},
                  {&f->raw, f->l, f->l},
                  {&f->work, f->m, f->l},
                  {&f->p, f->l, f->l}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        rb_error err = rb_dense_new(ctx, type, wanted[i].rows, wanted[i].cols, wanted[i].dense);
        if (err) {
            return err;
        }
    }
    f->second = rb_alloc_zero(ctx, f->m, sizeof *f->second);
    f->mean = rb_alloc_zero(ctx, f->l, sizeof *f->mean);
    f->cross = rb_alloc_zero(ctx, f->m, sizeof *f->cross);
    f->quadratic = rb_alloc_zero(ctx, f->m, sizeof *f->quadratic);
    if (!f->second || !f->mean || !f->cross || !f->quadratic) {
        return RB_ERROR_MEMORY;
    }
    void *coder;
    rb_error err = rfn_coder_new(ctx, model, f->block_samples, &coder);
    f->coder = coder;
    if (!err && rfn_psi_is_full(&f->coder->parameters.full)) {
        err = rb_dense_new(ctx, type, f->m, f->m, &f->inverse);
        err = err ? err : rb_dense_new(ctx, type, f->block_samples, f->m, &f->weighted);
    }
    if (!err && f->inverse.rows > 0) {
        rb_spd_inverse(ctx, f->coder->parameters.full.factor, f->inverse);
    }
    return err;
}

/* Counts zeros, sums codes. */
static void count_codes(struct figures *f, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        const void *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rfn_get(codes.type, row, j);
            f->zeros += code == 0;
            f->mean[j] += code;
        }
    }
}

static void add_noise_squares(struct figures *f, rb_dense v) {
    rb_dense weighted = rb_dense_rows(f->weighted, 0, v.rows);
    rb_gemm_parallel(f->ctx, 1, v, RB_PLAIN, f->inverse, RB_PLAIN, 0, weighted);
    for (int64_t i = 0; i < v.rows; i++) {
        f->noise_squares +=
            rb_dot(f->ctx, v.type, v.cols, rb_dense_row(v, i), rb_dense_row(weighted, i));
    }
}

/* Adds the squares of the samples to `second`, those of V - mu W' to the residual. */
static void add_residual(struct figures *f, rb_dense v, rb_dense codes) {
    for (int64_t i = 0; i < v.rows; i++) {
        const void *row = rb_dense_row(v, i);
        for (int64_t k = 0; k < v.cols; k++) {
            double x = rfn_get(v.type, row, k);
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

static rb_error add_block(struct figures *f, const rb_block *block) {
    rb_dense codes = rb_dense_rows(f->codes, 0, block->n_samples);
    rb_dense v = rb_dense_rows(f->residual, 0, block->n_samples);
    rfn_posterior_means(f->ctx, f->coder, block, codes);
    rb_gemm_lower(f->ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, f->raw);
    rb_error err = rfn_encode(f->ctx, f->coder, block, codes.data);
    if (err) {
        return err;
    }
    count_codes(f, codes);
    rb_block_rows(block, 0, v);
    rb_moments_parallel(f->ctx, 1, v, codes, f->u, f->s);
    if (f->inverse.rows > 0) {
        add_noise_squares(f, v);
    }
    add_residual(f, v, codes);
    return RB_OK;
}

static rb_error add_blocks(struct figures *f, rb_feed *feed) {
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < f->n; first += f->block_samples) {
        int64_t left = f->n - first;
        rb_block block;
        err = rb_feed_read(f->ctx, feed, first, left < f->block_samples ? left : f->block_samples,
                           &block);
        if (!err) {
            err = add_block(f, &block);
        }
    }
    return err;
}

static void scale_row(rb_dense a, int64_t row, int64_t count, double factor) {
    for (int64_t j = 0; j < count; j++) {
        rb_dense_set(a, row, j, factor * rb_dense_get(a, row, j));
    }
}

/* Sums become means; S gets Sigma; the forms of W. Returns <M^-1, mu'mu / n>. */
static double finish_moments(struct figures *f) {
    rb_context *ctx = f->ctx;
    const rfn_posterior *posterior = &f->coder->posterior;
    rb_dense w = f->coder->parameters.loadings;
    double n = (double)f->n, product;
    for (int64_t k = 0; k < f->m; k++) {
        f->second[k] /= n;
        scale_row(f->u, k, f->l, 1 / n);
    }
    for (int64_t j = 0; j < f->l; j++) {
        f->mean[j] /= n;
        scale_row(f->s, j, j + 1, 1 / n);
    }
    product = rfn_prior_product(ctx, &f->coder->parameters.prior, f->s);
    for (int64_t j = 0; j < f->l; j++) {
        rb_axpy(ctx, w.type, j + 1, 1, rb_dense_row(posterior->sigma, j), rb_dense_row(f->s, j));
    }
    rb_dense_mirror(f->s);
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, f->s, RB_PLAIN, 0, f->work);
    for (int64_t k = 0; k < f->m; k++) {
        const void *row = rb_dense_row(w, k);
        f->cross[k] = rb_dot(ctx, w.type, f->l, rb_dense_row(f->u, k), row);
        f->quadratic[k] = rb_dot(ctx, w.type, f->l, rb_dense_row(f->work, k), row);
    }
    return product;
}

/* <Psi^-1, C - U W' - W U' + W S W'>; work holds W S. */
static double noise_product(struct figures *f) {
    const rfn_parameters *parameters = &f->coder->parameters;
    if (f->inverse.rows == 0) {
        return rfn_noise_product(f->m, parameters->noise, f->second, f->cross, f->quadratic);
    }
    double sum = f->noise_squares / (double)f->n;
    rfn_psi_divide(f->ctx, &parameters->full, parameters->loadings);
    for (int64_t k = 0; k < f->m; k++) {
        for (int64_t j = 0; j < f->l; j++) {
            sum += rb_dense_get(parameters->full.part, k, j) *
                   (rb_dense_get(f->work, k, j) - 2 * rb_dense_get(f->u, k, j));
        }
    }
    return sum;
}

static double fill_objectives(struct figures *f, rb_metrics *metrics) {
    const rfn_parameters *parameters = &f->coder->parameters;
    const rfn_posterior *posterior = &f->coder->posterior;
    rfn_terms terms = {.m = f->m,
                       .l = f->l,
                       .log_det_noise = rfn_log_det_noise(parameters),
                       .prior = &parameters->prior,
                       .mean = f->mean,
                       .log_det = posterior->log_det};
    terms.product_a = finish_moments(f);
    terms.noise_product = noise_product(f);
    terms.product_sigma = rfn_prior_product(f->ctx, &parameters->prior, posterior->sigma);
    double energy, divergence;
    rfn_energies(&terms, &energy, &divergence);
    double objective = -energy - divergence;
    rfn_hessian(f->ctx, parameters, f->work, f->p);
    double estep_objective =
        rfn_estep_objective(f->ctx, parameters, f->p, f->s, f->u, f->mean,
                            rfn_product_of_lower(f->ctx, f->p, f->raw) / (double)f->n);
    rb_metrics_set(metrics, "objective", objective);
    rb_metrics_set(metrics, "log_likelihood", objective + estep_objective / 2);
    rb_metrics_set(metrics, "estep_objective", estep_objective);
    rb_metrics_set(metrics, "energy", energy);
    rb_metrics_set(metrics, "divergence", divergence);
    return objective;
}

static double only_value(const rb_model *model, const char *name) {
    const double *value = rb_model_array(model, name, NULL, NULL);
    return value ? *value : NAN;
}

/* Blocks in which nothing, dense rows of a sparse source included, is large. */
static int64_t choose_block(int64_t n, int64_t m, int64_t l) {
    enum { CELLS = 1 << 22 };
    int64_t samples = CELLS / (m > l ? m : l);
    samples = samples < 64 ? 64 : samples;
    return samples < n ? samples : n;
}

rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics) {
    struct figures f = {.ctx = ctx,
                        .n = rb_feed_samples(feed),
                        .m = model->preprocess->n_features,
                        .l = rb_model_units(model)};
    f.block_samples = choose_block(f.n, f.m, f.l);
    rb_error err = figures_new(ctx, model, &f);
    if (!err) {
        err = add_blocks(&f, feed);
    }
    if (!err) {
        double objective = fill_objectives(&f, metrics), covariance_error = NAN;
        rb_metrics_set(metrics, "kkt_residual", only_value(model, "kkt_residual"));
        rb_metrics_set(metrics, "certificate", only_value(model, "certificate"));
        rb_metrics_set(metrics, "sparseness", (double)f.zeros / ((double)f.n * (double)f.l));
        rb_metrics_set(metrics, "reconstruction_error", sqrt(f.residual_squares));
        rb_metrics_set(metrics, "mean_squared_error",
                       f.residual_squares / ((double)f.n * (double)f.m));
        err = rfn_covariance_error(ctx, &f.coder->parameters, f.s, feed, f.block_samples,
                                   &covariance_error);
        rb_metrics_set(metrics, "covariance_error", covariance_error);
        if (!err && (!isfinite(covariance_error) || !isfinite(objective))) {
            rb_log(ctx, RB_LOG_WARNING,
                   "figures are left out, since squares of the data, or of the model, are beyond "
                   "what %s can hold",
                   model->type == RB_FLOAT32 ? "float32" : "float64");
        }
    }
    figures_clear(&f);
    return err;
}
