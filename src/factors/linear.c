/* Linear models with noise of one variance: codes, files and the likelihood of PCA and of what is
 * made by turning its units.
 *
 * A (m x k) loadings, D codes' variances, s2 noise variance. Codes of a sample v (preprocessed) are
 * the least squares ones, c = (A'A)^-1 A'v. The density is that of probabilistic PCA (M. Tipping,
 * C. Bishop, "Probabilistic principal component analysis", J. R. Stat. Soc. B 61, 1999, eq. 4,
 * 7 and 8): a normal one with covariance A D A' within the span of A and s2 outside of it, where
 * the paper's W W' + s2 I = A D A' + s2 (I - P),
 *
 *   log p(v) = -1/2 ( m log 2 pi + log det A'A + sum_j log D_j + (m - k) log s2
 *                     + sum_j c_j^2 / D_j + (|v|^2 - c'A'A c) / s2 )
 *
 * Units whose loadings are all 0 count for nothing, neither in k.
 */
#include "factors.h"

#include <math.h>

const rb_array_kind factors_linear_arrays[] = {
    {"variance", RB_ARRAY_ROW_EACH}, {"explained", RB_ARRAY_ROW_EACH}, {0}};

static const double PI = 3.14159265358979323846;

typedef struct linear {
    rb_scratch own;
    int64_t m, k, alive;
    rb_dense filter;                   /* A (A'A)^-1, m x k */
    rb_dense gram;                     /* A'A, k x k, float64 */
    double log_det;                    /* of the living units' part of it */
    double noise;                      /* s2 */
    const double *variance, *loadings; /* of the model */
} linear;

/* A'A, with 1 for units that have no loadings, so that it has an inverse. */
static void set_gram(rb_context *ctx, linear *c) {
    rb_dense a = {(void *)c->loadings, c->m, c->k, c->k, RB_FLOAT64};
    rb_gemm_parallel(ctx, 1, a, RB_TRANSPOSED, a, RB_PLAIN, 0, c->gram);
    for (int64_t j = 0; j < c->k; j++) {
        bool dead = rb_dense_get(c->gram, j, j) == 0;
        if (dead) rb_dense_set(c->gram, j, j, 1);
        c->alive += !dead;
    }
}

static rb_error set_filter(rb_context *ctx, linear *c) {
    rb_spd *factor = NULL;
    rb_dense inverse = {0}, wide = {0}, a = {(void *)c->loadings, c->m, c->k, c->k, RB_FLOAT64};
    rb_scratch scratch = {.ctx = ctx};
    rb_dense_take(&scratch, RB_FLOAT64, c->k, c->k, &inverse);
    rb_dense_take(&scratch, RB_FLOAT64, c->m, c->k, &wide);
    scratch.err = scratch.err ? scratch.err : rb_spd_new(ctx, RB_FLOAT64, c->k, &factor);
    scratch.err = scratch.err ? scratch.err : rb_spd_factor(ctx, factor, c->gram);
    if (!scratch.err) {
        c->log_det = rb_spd_log_det(factor);
        rb_spd_inverse(ctx, factor, inverse);
        rb_gemm_parallel(ctx, 1, a, RB_PLAIN, inverse, RB_PLAIN, 0, wide);
        rb_dense_copy(wide, c->filter);
    }
    rb_spd_free(factor);
    return rb_scratch_end(&scratch);
}

static rb_error load(rb_context *ctx, const rb_model *model, linear *c) {
    const double *noise = NULL;
    rb_error err = rb_model_need_array(ctx, model, "loadings", c->m, c->k, &c->loadings);
    err = err ? err : rb_model_need_array(ctx, model, "variance", c->k, 1, &c->variance);
    err = err ? err : rb_model_need_array(ctx, model, "noise", c->m, 1, &noise);
    c->noise = err ? 0 : noise[0];
    for (int64_t j = 0; !err && j < c->k; j++)
        if (!(c->variance[j] >= 0) || !(c->noise >= 0))
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the model has a variance below 0; it is damaged");
    return err;
}

rb_error factors_linear_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                            void **coder) {
    linear *c = factors_coder_begin(ctx, sizeof *c, coder);
    (void)block_samples;
    if (!c) return RB_ERROR_MEMORY;
    c->m = rb_model_features(model);
    c->k = rb_model_units(model);
    c->own.err = load(ctx, model, c);
    rb_dense_take(&c->own, RB_FLOAT64, c->k, c->k, &c->gram);
    rb_dense_take(&c->own, model->type, c->m, c->k, &c->filter);
    if (!c->own.err) {
        set_gram(ctx, c);
        c->own.err = set_filter(ctx, c);
    }
    return factors_coder_end(coder);
}

rb_error factors_linear_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    const linear *c = coder;
    return factors_project(ctx, block, c->filter,
                           (rb_dense){codes, block->n_samples, c->k, c->k, c->filter.type});
}

/* ---- drawing samples ---- */

rb_error factors_linear_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                             const rb_block *block, void *codes) {
    const linear *c = coder;
    rb_dense to = {codes, n, c->k, c->k, c->filter.type};
    if (block) return factors_linear_encode(ctx, coder, block, codes);
    rb_dense_zero(to);
    return rb_add_normal(ctx, sampling, 1, c->variance, to);
}

/* Within the span codes have what noise there is: v = A c + s (z - P z) = A (c - s t) + s z with
 * P = A (A'A)^-1 A' and t = (A'A)^-1 A'z. */
rb_error factors_linear_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                             const void *codes, void *rows) {
    const linear *c = coder;
    rb_type type = c->filter.type;
    rb_dense a = {(void *)c->loadings, c->m, c->k, c->k, RB_FLOAT64};
    rb_dense to = {rows, n, c->m, c->m, type}, loadings = {0}, inside = {0};
    rb_scratch scratch = {.ctx = ctx};
    rb_dense_take(&scratch, type, c->m, c->k, &loadings);
    rb_dense_take(&scratch, type, n, c->k, &inside);
    rb_dense_zero(to);
    if (!scratch.err)
        scratch.err = rb_add_normal(ctx, sampling, sampling->noise * sqrt(c->noise), NULL, to);
    if (!scratch.err) {
        rb_dense_copy(a, loadings);
        rb_dense_copy((rb_dense){(void *)codes, n, c->k, c->k, type}, inside);
        rb_gemm_parallel(ctx, -1, to, RB_PLAIN, c->filter, RB_PLAIN, 1, inside);
        rb_gemm_parallel(ctx, 1, inside, RB_PLAIN, loadings, RB_TRANSPOSED, 1, to);
    }
    return rb_scratch_end(&scratch);
}

/* ---- from a fit ---- */

/* The loading of largest size of each unit is above 0. */
static void choose_signs(double *loadings, int64_t m, int64_t k) {
    for (int64_t j = 0; j < k; j++) {
        int64_t largest = 0;
        for (int64_t i = 1; i < m; i++)
            largest = fabs(loadings[i * k + j]) > fabs(loadings[largest * k + j]) ? i : largest;
        bool turn = loadings[largest * k + j] < 0;
        for (int64_t i = 0; turn && i < m; i++)
            loadings[i * k + j] = loadings[i * k + j] == 0 ? 0 : -loadings[i * k + j];
    }
}

rb_error factors_linear_store(rb_context *ctx, rb_model *model, rb_dense loadings,
                              const double *variance, double noise, double total) {
    int64_t m = loadings.rows, k = loadings.cols;
    double *a = rb_model_add_array(ctx, model, "loadings", m, k);
    double *d = rb_model_add_array(ctx, model, "variance", k, 1);
    double *share = rb_model_add_array(ctx, model, "explained", k, 1);
    double *psi = rb_model_add_array(ctx, model, "noise", m, 1);
    double *dead = rb_model_add_array(ctx, model, "dead", k, 1);
    if (!a || !d || !share || !psi || !dead) return RB_ERROR_MEMORY;
    rb_dense_copy(loadings, (rb_dense){a, m, k, k, RB_FLOAT64});
    choose_signs(a, m, k);
    for (int64_t j = 0; j < k; j++) {
        double squares = 0;
        for (int64_t i = 0; i < m; i++)
            squares += a[i * k + j] * a[i * k + j];
        d[j] = variance ? variance[j] : 1;
        share[j] = total > 0 ? d[j] * squares / total : 0;
        dead[j] = squares == 0;
    }
    for (int64_t i = 0; i < m; i++)
        psi[i] = noise;
    return RB_OK;
}

/* ---- metrics ---- */

struct sums {
    double squares, values, within, distance, zeros, n;
};

/* Of one sample, but for its squares. */
static struct sums sums_of(const linear *c, rb_dense codes, int64_t i) {
    struct sums sums = {.n = 1};
    for (int64_t j = 0; j < c->k; j++) {
        double code = rb_dense_get(codes, i, j), product = 0;
        for (int64_t l = 0; l < c->k; l++)
            product += rb_dense_get(c->gram, j, l) * rb_dense_get(codes, i, l);
        sums.within += code * product;
        sums.distance += c->variance[j] > 0 ? code * code / c->variance[j] : 0;
        sums.zeros += code == 0;
    }
    return sums;
}

/* The mean over the samples of the sums. */
static double log_likelihood(const linear *c, const struct sums *sums) {
    double rest = (double)(c->m - c->alive), value = (double)c->m * log(2 * PI) + c->log_det;
    for (int64_t j = 0; j < c->k; j++)
        value += c->variance[j] > 0 ? log(c->variance[j]) : 0;
    if (rest > 0)
        value += rest * log(c->noise) + fmax(sums->squares - sums->within, 0) / sums->n / c->noise;
    return -(value + sums->distance / sums->n) / 2;
}

struct measuring {
    const linear *coder;
    rb_metrics *metrics;
    rb_dense codes, row; /* of a block; of a sample */
    struct sums sums;
};

static rb_error add_block(rb_context *ctx, void *user, const rb_block *block) {
    struct measuring *to = user;
    const linear *c = to->coder;
    struct sums *sums = &to->sums;
    int64_t values = 0;
    double *likelihoods = to->metrics->likelihoods;
    rb_error err = rb_metrics_encode(ctx, to->metrics, (void *)c, block, to->codes.data);
    sums->squares += rb_block_squares(block, &values);
    sums->values += (double)values;
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        struct sums one = sums_of(c, to->codes, i);
        sums->within += one.within;
        sums->distance += one.distance;
        sums->zeros += one.zeros;
        sums->n++;
        if (!likelihoods) continue;
        rb_block_rows(block, i, to->row);
        for (int64_t k = 0; k < to->row.cols; k++)
            one.squares += rb_dense_get(to->row, 0, k) * rb_dense_get(to->row, 0, k);
        likelihoods[block->first + i] = log_likelihood(c, &one);
    }
    return err;
}

rb_error factors_linear_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed,
                                 rb_metrics *metrics) {
    enum { CELLS = 1 << 21 };
    int64_t size = rb_block_size(CELLS, rb_model_features(model) + 1, rb_feed_samples(feed));
    void *coder = NULL;
    rb_error err = factors_linear_new(ctx, model, size, &coder);
    if (err) return err;
    struct measuring to = {.coder = coder, .metrics = metrics};
    rb_scratch *own = &((linear *)coder)->own;
    rb_dense_take(own, model->type, size, rb_model_units(model), &to.codes);
    rb_dense_take(own, model->type, 1, rb_model_features(model), &to.row);
    enum { SUMS = sizeof to.sums / sizeof(double) };
    rb_adding all = {feed, size, add_block, &to, {{&to.sums, SUMS, RB_KEPT_FLOAT64}}};
    err = own->err ? own->err : rb_metrics_add(ctx, metrics, &all, true);
    if (!err) {
        double errors = fmax(to.sums.squares - to.sums.within, 0);
        rb_metrics_set(metrics, "log_likelihood", log_likelihood(coder, &to.sums));
        rb_metrics_rebuilt(metrics, to.sums.zeros / (to.sums.n * (double)to.codes.cols), errors,
                           to.sums.values);
    }
    factors_coder_free(coder);
    return err;
}
