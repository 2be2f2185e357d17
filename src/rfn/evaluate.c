/* SP, ER, CO (Clevert et al. 2015, section 4) and the objectives of a model on data, with codes as
 * `encode` gives them. */
#include "coder.h"
#include "objective.h"
#include "posterior.h"

#include <math.h>
#include <stddef.h>

struct metrics {
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

static const rb_field fields[] = {
    {"codes", offsetof(struct metrics, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_BLOCK,
     RFN_UNITS},
    {"residual", offsetof(struct metrics, residual), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_BLOCK,
     RFN_FEATURES},
    {"u", offsetof(struct metrics, u), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES, RFN_UNITS},
    {"s", offsetof(struct metrics, s), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_UNITS},
    {"raw", offsetof(struct metrics, raw), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_UNITS},
    {"work", offsetof(struct metrics, work), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES,
     RFN_UNITS},
    {"p", offsetof(struct metrics, p), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_UNITS},
    {"second", offsetof(struct metrics, second), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES},
    {"mean", offsetof(struct metrics, mean), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS},
    {"cross", offsetof(struct metrics, cross), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES},
    {"quadratic", offsetof(struct metrics, quadratic), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_FEATURES},
    {"inverse", offsetof(struct metrics, inverse), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FULL,
     RFN_FULL},
    {"weighted", offsetof(struct metrics, weighted), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_BLOCK,
     RFN_FULL},
    {0},
};
static const rb_part parts[] = {{RB_PART_SCRATCH, fields, 0}, {0}};

static void metrics_clear(struct metrics *f) {
    rb_parts_free(parts, f);
    rfn_coder_free(f->coder);
}

static rb_error metrics_new(rb_context *ctx, const rb_model *model, struct metrics *f) {
    void *coder;
    rb_error err = rfn_coder_new(ctx, model, f->block_samples, &coder);
    f->coder = coder;
    if (err) {
        return err;
    }
    const rfn_psi *psi = &f->coder->parameters.full;
    rb_shape shape = rfn_plain_shape(model->type, f->m, f->l);
    shape.dims[RFN_BLOCK] = f->block_samples;
    shape.dims[RFN_FULL] = psi->covariance.rows;
    err = rb_parts_new(ctx, parts, &shape, f);
    if (!err && rfn_psi_is_full(psi)) {
        rb_spd_inverse(ctx, psi->factor, f->inverse);
    }
    return err;
}

/* Counts zeros, sums codes. */
static void count_codes(struct metrics *f, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        const void *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rb_get(codes.type, row, j);
            f->zeros += code == 0;
            f->mean[j] += code;
        }
    }
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
        const void *row = rb_dense_row(v, i);
        for (int64_t k = 0; k < v.cols; k++) {
            double x = rb_get(v.type, row, k);
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

static rb_error add_block(struct metrics *f, const rb_block *block) {
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

static rb_error add_blocks(struct metrics *f, rb_feed *feed) {
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < f->n; first += f->block_samples) {
        int64_t left = f->n - first;
        rb_block block;
        err = rb_feed_read(f->ctx, feed, first, left < f->block_samples ? left : f->block_samples,
                           &block);
        err = err ? err : add_block(f, &block);
    }
    return err;
}

static void scale_row(rb_dense a, int64_t row, int64_t count, double factor) {
    for (int64_t j = 0; j < count; j++) {
        rb_dense_set(a, row, j, factor * rb_dense_get(a, row, j));
    }
}

/* Sums become means; S gets Sigma; the forms of W. Returns <M^-1, mu'mu / n>. */
static double finish_moments(struct metrics *f) {
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
static double noise_product(struct metrics *f) {
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

static double fill_objectives(struct metrics *f, rb_metrics *metrics) {
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

/* ---- the covariance error ---- */

enum { GROUP_CELLS = 1 << 24 };

struct group {
    rb_context *ctx;
    const rfn_parameters *parameters;
    rb_dense s;
    rb_feed *feed;
    int64_t block_samples;
    rb_dense rows; /* of a block */
    rb_dense c; /* features first .. first + c.rows - 1 against 0 .. last: C, then the difference */
    rb_dense weighted; /* those rows of W S */
    int64_t first;
};

/* C for the features of the group, lower part: columns up to the group's last. */
static rb_error add_products(struct group *g, rb_dense c) {
    int64_t n = rb_feed_samples(g->feed);
    rb_error err = RB_OK;
    rb_dense_zero(c);
    for (int64_t first = 0; !err && first < n; first += g->block_samples) {
        int64_t count = n - first < g->block_samples ? n - first : g->block_samples;
        rb_block block;
        err = rb_feed_read(g->ctx, g->feed, first, count, &block);
        if (!err) {
            rb_dense v = rb_dense_rows(g->rows, 0, count);
            rb_block_rows(&block, 0, v);
            rb_gemm_parallel(g->ctx, 1 / (double)n, rb_dense_part(v, 0, count, g->first, c.rows),
                             RB_TRANSPOSED, rb_dense_part(v, 0, count, 0, c.cols), RB_PLAIN, 1, c);
        }
    }
    return err;
}

/* Of row k of a full Psi, what is left of the diagonal. */
static void subtract_noise(const rfn_psi *noise, int64_t k, void *row, rb_type type) {
    for (int64_t c = 0; rfn_psi_is_full(noise) && c < k; c++) {
        rb_put(type, row, c, rb_get(type, row, c) - rb_dense_get(noise->covariance, k, c));
    }
}

/* Sum of squares of C - Psi - W S W' over the group's rows and their mirror images. */
static double sum_of_squares(struct group *g, rb_dense c) {
    rb_dense w = g->parameters->loadings;
    rb_dense weighted = rb_dense_rows(g->weighted, 0, c.rows);
    rb_gemm_parallel(g->ctx, 1, rb_dense_rows(w, g->first, c.rows), RB_PLAIN, g->s, RB_PLAIN, 0,
                     weighted);
    rb_gemm_parallel(g->ctx, -1, weighted, RB_PLAIN, rb_dense_rows(w, 0, c.cols), RB_TRANSPOSED, 1,
                     c);
    double sum = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        int64_t k = g->first + i;
        subtract_noise(&g->parameters->full, k, rb_dense_row(c, i), c.type);
        const void *row = rb_dense_row(c, i);
        double diagonal = rb_get(c.type, row, k) - g->parameters->noise[k];
        sum += 2 * rb_dot(g->ctx, c.type, k, row, row) + diagonal * diagonal;
    }
    return sum;
}

/* || C - Psi - W S W' ||_F with C = V'V / n (CO), by passes over the data for a group of features
 * each, so that no m x m matrix is needed when m is large. */
static rb_error covariance_error(rb_context *ctx, const rfn_parameters *parameters, rb_dense s,
                                 rb_feed *feed, int64_t block_samples, double *error) {
    int64_t m = parameters->loadings.rows;
    rb_type type = parameters->loadings.type;
    int64_t size = GROUP_CELLS / m < 64 ? 64 : GROUP_CELLS / m;
    size = size < m ? size : m;
    struct group g = {
        .ctx = ctx, .parameters = parameters, .s = s, .feed = feed, .block_samples = block_samples};
    rb_error err = rb_dense_new(ctx, type, block_samples, m, &g.rows);
    err = err ? err : rb_dense_new(ctx, type, size, m, &g.c);
    err = err ? err : rb_dense_new(ctx, type, size, parameters->loadings.cols, &g.weighted);
    double sum = 0;
    for (; !err && g.first < m; g.first += size) {
        int64_t rows = m - g.first < size ? m - g.first : size;
        rb_dense c = rb_dense_part(g.c, 0, rows, 0, g.first + rows);
        err = add_products(&g, c);
        if (!err) {
            sum += sum_of_squares(&g, c);
        }
    }
    rb_dense_free(&g.rows);
    rb_dense_free(&g.c);
    rb_dense_free(&g.weighted);
    *error = sqrt(sum);
    return err;
}

/* ---- all of them ---- */

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
    struct metrics f = {.ctx = ctx,
                        .n = rb_feed_samples(feed),
                        .m = model->preprocess->n_features,
                        .l = rb_model_units(model)};
    f.block_samples = choose_block(f.n, f.m, f.l);
    rb_error err = metrics_new(ctx, model, &f);
    err = err ? err : add_blocks(&f, feed);
    if (!err) {
        double objective = fill_objectives(&f, metrics), error = NAN;
        rb_metrics_set(metrics, "kkt_residual", only_value(model, "kkt_residual"));
        rb_metrics_set(metrics, "certificate", only_value(model, "certificate"));
        rb_metrics_set(metrics, "sparseness", (double)f.zeros / ((double)f.n * (double)f.l));
        rb_metrics_set(metrics, "reconstruction_error", sqrt(f.residual_squares));
        rb_metrics_set(metrics, "mean_squared_error",
                       f.residual_squares / ((double)f.n * (double)f.m));
        err = covariance_error(ctx, &f.coder->parameters, f.s, feed, f.block_samples, &error);
        rb_metrics_set(metrics, "covariance_error", error);
        if (!err && (!isfinite(error) || !isfinite(objective))) {
            rb_log(ctx, RB_LOG_WARNING,
                   "metrics are left out, since squares of the data, or of the model, are beyond "
                   "what %s can hold",
                   model->type == RB_FLOAT32 ? "float32" : "float64");
        }
    }
    metrics_clear(&f);
    return err;
}
