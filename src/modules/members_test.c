/* Members of modules by a test.
 *
 * Symbols: V (n x m) preprocessed samples, mu (n x l) codes of the units that are active anywhere,
 * W (m x l) loadings, psi (m) noise variances; rms_j that of a unit's codes, z = mu / rms, root the
 * size of a typical entry of one unit's part of the data (modules_extract.c: find_root).
 *
 * Features. Each feature is fitted anew to the codes of all units, with a constant, by least
 * squares:
 *     b_k = G^-1 Z'v_k,  G = Z'Z,  s_kj^2 = (G^-1)_jj |v_k - Z b_k|^2 / (n - l - 1),
 * both centred as if samples that rest were there, too (rb_resting_samples). It is tested against a
 * smallest effect of c root, for however small an effect is, with enough samples it differs from 0:
 *     p_kj = P(T > (|b_kj| - c root) / s_kj) + P(T > (|b_kj| + c root) / s_kj)
 * with T of Student's t, n - l - 1 degrees of freedom (D. J. McCarthy, G. K. Smyth, "Testing
 * significance relative to a fold-change threshold is a TREAT", Bioinformatics 25 (2009)). Of each
 * unit the features belong that the step-up procedure of Y. Benjamini, Y. Hochberg, J. R. Stat.
 * Soc. B 57 (1995), finds at the level.
 *
 * In the codes of a model two units often hold a part of each other, and what they share then goes
 * to neither. So this is done twice (members_recode.c): with the codes of the model, and with codes
 * that are found anew from the features that belong by the first; a feature belongs by either.
 *
 * A false discovery rate asks that few of those found are wrong, whatever is left out. Where
 * features that belong and others stand apart, more can be had: the b_k of a unit are taken for
 * draws of two normal distributions with mean 0, of those outside and of those that belong,
 * whose variances and shares are estimated by EM,
 *     b_k ~ N(0, s_k^2 + tau^2) or N(0, s_k^2 + sigma^2),
 * and a feature with |b_k| > c root belongs, too, when the second has a probability of at least
 * 1 - level (two groups: B. Efron, "Microarrays, empirical Bayes and the two-groups model",
 * Statistical Science 23 (2008)).
 *
 * Samples. With the parameters known and codes of mean square 1, a code has the posterior variance
 * (A^-1)_jj, A = I + D W' Psi^-1 W D, D = diag(rms). A sample belongs when
 *     P(N > (|z_ij| - d a_j) / sqrt((A^-1)_jj)) <= level,  a_j = sum_i z_ij^2 / sum_i |z_ij|,
 * the mean of |z_ij| in which each is weighed by itself: the size of the codes of those that have
 * the unit, be they many or few.
 *
 * The codes were made from the same data: small p-values say that a feature goes with a unit, not
 * that the unit is there.
 *
 * Only sums over samples are kept, in float64: V'mu, mu'mu, and of V the sums and squares.
 */
#include "members.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* c and d; docs/measurements/modules.md has what they were chosen on. */
static const double FEATURE_EFFECT = 0.7, SAMPLE_EFFECT = 0.15;
/* Added to the diagonal of G, as a share: units may have equal codes. Less is lost in rounding. */
static const double RIDGE = 1e-6;

enum { TILE = 256 };

void rb_refit_free(rb_refit *r) {
    if (!r) return;
    if (r->recode) rb_recode_end(r->recode);
    rb_scratch_end(&r->memory);
    rb_free(r);
}

rb_error rb_refit_new(rb_context *ctx, int64_t n_features, int64_t n_units, double resting,
                      rb_refit **out) {
    rb_refit *r = *out = rb_alloc_zero(ctx, 1, sizeof *r);
    if (!r) return RB_ERROR_MEMORY;
    rb_scratch *m = &r->memory;
    m->ctx = ctx;
    r->resting = resting;
    r->sums = rb_take(m, n_features, sizeof *r->sums);
    r->squares = rb_take(m, n_features, sizeof *r->squares);
    r->code_sums = rb_take(m, n_units, sizeof *r->code_sums);
    rb_dense_take(m, RB_FLOAT64, n_features, n_units, &r->products);
    rb_dense_take(m, RB_FLOAT64, n_units, n_units, &r->moments);
    rb_dense_take(m, RB_FLOAT64, TILE, n_features, &r->values);
    rb_dense_take(m, RB_FLOAT64, TILE, n_units, &r->codes);
    rb_error err = m->err;
    if (err) {
        rb_refit_free(r);
        *out = NULL;
    }
    return err;
}

/* Samples row .. row + count - 1 of a block, and their codes, as float64. */
static rb_error take_tile(rb_context *ctx, rb_refit *r, const rb_block *block,
                          const rb_matrix *codes, int64_t row, int64_t count) {
    rb_type type = block->sparse ? block->csr.type : block->dense.type;
    if (!r->rows.data) rb_dense_take(&r->memory, type, TILE, block->n_features, &r->rows);
    if (r->memory.err) return r->memory.err;
    rb_dense rows = rb_dense_rows(r->rows, 0, count);
    rb_block_rows(block, row, rows);
    rb_dense_copy(rows, rb_dense_rows(r->values, 0, count));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < r->codes.cols; j++)
            rb_put(RB_FLOAT64, rb_dense_row(r->codes, i), j, rb_matrix_at(codes, row + i, j));
    return r->recode ? rb_recode_tile(ctx, r->recode, rb_dense_rows(r->values, 0, count),
                                      rb_dense_rows(r->codes, 0, count))
                     : RB_OK;
}

static void add_sums(rb_dense rows, double *sums, double *squares) {
    for (int64_t i = 0; i < rows.rows; i++) {
        const double *row = rb_dense_row(rows, i);
        for (int64_t k = 0; k < rows.cols; k++) {
            sums[k] += row[k];
            if (squares) squares[k] += row[k] * row[k];
        }
    }
}

rb_error rb_refit_add(rb_context *ctx, rb_refit *r, const rb_block *block, const rb_matrix *codes) {
    rb_error err = RB_OK;
    for (int64_t row = 0; !err && row < block->n_samples; row += TILE) {
        int64_t left = block->n_samples - row, count = left < TILE ? left : TILE;
        err = take_tile(ctx, r, block, codes, row, count);
        if (err) return err;
        rb_dense v = rb_dense_rows(r->values, 0, count), m = rb_dense_rows(r->codes, 0, count);
        add_sums(v, r->sums, r->squares);
        add_sums(m, r->code_sums, NULL);
        rb_moments_parallel(ctx, 1, v, m, r->products, r->moments);
        r->n_samples += count;
    }
    return err;
}

bool rb_refit_complete(const rb_refit *r) {
    for (int64_t k = 0; k < r->products.rows; k++)
        if (!isfinite(r->squares[k])) return false;
    return true;
}

double rb_refit_rms(const rb_refit *r, int64_t unit) {
    return sqrt(rb_dense_get(r->moments, unit, unit) / (double)r->n_samples);
}

static double moment_of(const rb_refit *r, int64_t a, int64_t b, double samples) {
    double sum = rb_dense_get(r->moments, a > b ? a : b, a > b ? b : a);
    return sum - r->code_sums[a] * r->code_sums[b] / samples;
}

double rb_held_samples(const rb_refit *r) {
    return (double)r->n_samples + r->resting;
}

double rb_centred_moment(const rb_refit *r, int64_t a, int64_t b) {
    return moment_of(r, a, b, rb_held_samples(r));
}

double rb_refit_correlation(const rb_refit *r, int64_t a, int64_t b) {
    double n = (double)r->n_samples, squares = moment_of(r, a, a, n) * moment_of(r, b, b, n);
    return squares > 0 ? moment_of(r, a, b, n) / sqrt(squares) : 0;
}

int64_t rb_refit_freedom(const rb_refit *r, int64_t n_units) {
    return r->n_samples - n_units - 1;
}

/* ---- features ---- */

double rb_centred_product(const rb_refit *r, int64_t k, int64_t unit) {
    return rb_dense_get(r->products, k, unit) -
           r->sums[k] * r->code_sums[unit] / rb_held_samples(r);
}

double rb_refit_variance(const rb_refit *r, int64_t k) {
    double n = (double)r->n_samples, mean = r->sums[k] / n;
    return fmax(r->squares[k] / n - mean * mean, 0);
}

/* G, over units of codes of mean square 1. */
static void take_moments(const rb_refit *r, const rb_tested_units *units, double ridge,
                         rb_dense moments) {
    for (int64_t a = 0; a < units->count; a++) {
        for (int64_t b = 0; b < units->count; b++) {
            double sum = rb_centred_moment(r, units->index[a], units->index[b]);
            sum /= units->rms[a] * units->rms[b];
            rb_dense_set(moments, a, b, sum + (a == b ? ridge * (double)r->n_samples : 0));
        }
    }
}

/* Its inverse; with more on the diagonal where many units are nearly alike, for what is lost in
 * rounding grows with the square of the condition. */
static rb_error invert_moments(rb_context *ctx, const rb_refit *r, const rb_tested_units *units,
                               rb_dense inverse) {
    const double most = 1e-2;
    rb_spd *factor = NULL;
    rb_dense moments = {0};
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, units->count, units->count, &moments);
    err = err ? err : rb_spd_new(ctx, RB_FLOAT64, units->count, &factor);
    rb_error tried = err ? err : RB_ERROR_NUMERIC;
    for (double ridge = RIDGE; tried == RB_ERROR_NUMERIC && ridge <= most; ridge *= 10) {
        take_moments(r, units, ridge, moments);
        tried = rb_spd_factor(ctx, factor, moments);
    }
    if (!tried) rb_spd_inverse(ctx, factor, inverse);
    rb_spd_free(factor);
    rb_dense_free(&moments);
    return tried;
}

/* What is computed for one unit after the other, by any thread. */
struct testing {
    rb_dense products, loadings; /* Z'V and b, both features x units */
    rb_dense inverse;            /* G^-1 */
    const double *variances;     /* of the residuals of each feature */
    double effect, freedom, level;
    double *log_p;   /* units x features */
    double *outside; /* units x features: the probability of belonging to none; NULL: not asked */
};

/* log(P(T > (b - c) / s) + P(T > (b + c) / s)), for b above c. */
static double log_chance(const struct testing *t, double b, double error) {
    double above = rb_log_student_tail((b - t->effect) / error, t->freedom);
    double below = rb_log_student_tail((b + t->effect) / error, t->freedom);
    return below > -INFINITY ? above + log1p(exp(below - above)) - M_LN2 : above - M_LN2;
}

/* Two groups of one unit's loadings: the share of those that belong, and the variances of both. */
struct groups {
    double share, outside, inside;
};

/* Sums over features for the next groups. */
struct group_sums {
    double share, outside, inside;
};

/* What is left of the square of a loading with this error when its noise is taken away. */
static double square_left(double b, double error, double variance) {
    double part = variance / (variance + error);
    return part * part * b * b + part * error;
}

/* The probability that a feature does not belong; its part of the sums. */
static double add_feature(const struct groups *g, double b, double error, struct group_sums *sums) {
    double out = error + g->outside, in = error + g->inside;
    double odds =
        log((1 - g->share) / g->share) + 0.5 * (log(in / out) + b * b * (1 / in - 1 / out));
    double outside = 1 / (1 + exp(-odds));
    sums->share += 1 - outside;
    sums->outside += outside * square_left(b, error, g->outside);
    sums->inside += (1 - outside) * square_left(b, error, g->inside);
    return outside;
}

/* EM, from a tenth that belong and have the mean square of the largest tenth of all. */
static void group_unit(const struct testing *t, int64_t unit) {
    enum { STEPS = 100 };
    int64_t m = t->loadings.rows;
    double share = rb_dense_get(t->inverse, unit, unit), total = 0, errors = 0;
    for (int64_t k = 0; k < m; k++) {
        total += pow(rb_dense_get(t->loadings, k, unit), 2) / (double)m;
        errors += share * t->variances[k] / (double)m;
    }
    double least = fmax(RIDGE * fmax(errors, total), DBL_MIN);
    struct groups g = {0.1, 0.1 * errors + least, 10 * fmax(total - errors, errors) + least};
    for (int step = 0; step < STEPS; step++) {
        struct group_sums sums = {0};
        double before = g.share;
        for (int64_t k = 0; k < m; k++)
            t->outside[unit * m + k] = add_feature(&g, rb_dense_get(t->loadings, k, unit),
                                                   fmax(share * t->variances[k], least), &sums);
        g.share = fmin(fmax(sums.share / (double)m, 1e-4), 0.9);
        g.outside = sums.outside / fmax((double)m - sums.share, DBL_MIN) + least;
        g.inside = fmax(sums.inside / fmax(sums.share, DBL_MIN), g.outside);
        if (fabs(g.share - before) < 1e-4 * before) break;
    }
}

static void test_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct testing *t = arg;
    int64_t features = t->loadings.rows;
    double *log_p = t->log_p + unit * features, share = rb_dense_get(t->inverse, unit, unit);
    for (int64_t k = 0; k < features; k++) {
        double error = fmax(sqrt(share * t->variances[k]), DBL_MIN);
        double b = fabs(rb_dense_get(t->loadings, k, unit));
        /* an effect below the smallest one has p of at least 1/2 */
        log_p[k] = b > t->effect ? log_chance(t, b, error) : 0;
    }
    if (t->outside) group_unit(t, unit);
}

/* The variance of what the units leave of each feature. RB_ERROR_DATA: values are missing. */
static rb_error residual_variances(rb_context *ctx, const rb_refit *r, const struct testing *t,
                                   double *variances) {
    for (int64_t k = 0; k < t->loadings.rows; k++) {
        double rest = r->squares[k] - r->sums[k] * r->sums[k] / rb_held_samples(r);
        for (int64_t j = 0; j < t->loadings.cols; j++)
            rest -= rb_dense_get(t->loadings, k, j) * rb_dense_get(t->products, k, j);
        if (!isfinite(rest)) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "the rule test needs every value, but feature %lld (counted from %d) "
                           "has missing ones; choose another `rule`",
                           (long long)rb_nth(ctx, k), ctx->first);
        }
        variances[k] = fmax(rest, 0) / t->freedom;
    }
    return RB_OK;
}

static void note_feature(const struct testing *t, int64_t k, int64_t j, double log_fdr,
                         rb_membership *out) {
    int64_t features = t->loadings.rows, at = k * t->loadings.cols + j;
    out->sure[at] = log_fdr <= log(t->level);
    if (!out->belongs) return;
    bool large = fabs(rb_dense_get(t->loadings, k, j)) > t->effect;
    out->belongs[at] = out->sure[at] || (large && t->outside[j * features + k] <= t->level);
}

rb_error rb_refit_features(rb_context *ctx, const rb_refit *r, const rb_tested_units *units,
                           double level, rb_membership *out) {
    int64_t features = r->products.rows, count = units->count;
    struct testing t = {.level = level,
                        .effect = FEATURE_EFFECT * units->root,
                        .freedom = (double)rb_refit_freedom(r, count)};
    rb_scratch scratch = {.ctx = ctx};
    double *variances = rb_take(&scratch, features, sizeof *variances);
    t.variances = variances;
    t.log_p = rb_take(&scratch, features * count, sizeof *t.log_p);
    if (out->belongs) t.outside = rb_take(&scratch, features * count, sizeof *t.outside);
    double *log_fdr = rb_take(&scratch, features, sizeof *log_fdr);
    rb_dense_take(&scratch, RB_FLOAT64, features, count, &t.products);
    rb_dense_take(&scratch, RB_FLOAT64, features, count, &t.loadings);
    rb_dense_take(&scratch, RB_FLOAT64, count, count, &t.inverse);
    rb_error err = scratch.err;
    err = err ? err : invert_moments(ctx, r, units, t.inverse);
    for (int64_t k = 0; !err && k < features; k++)
        for (int64_t j = 0; j < count; j++)
            rb_dense_set(t.products, k, j,
                         rb_centred_product(r, k, units->index[j]) / units->rms[j]);
    if (!err) {
        rb_gemm_parallel(ctx, 1, t.products, RB_PLAIN, t.inverse, RB_PLAIN, 0, t.loadings);
        err = residual_variances(ctx, r, &t, variances);
    }
    err = err ? err : rb_parallel_or_stop(ctx, count, test_unit, &t);
    for (int64_t j = 0; !err && j < count; j++) {
        err = rb_false_discovery(ctx, t.log_p + j * features, true, features, features, log_fdr);
        for (int64_t k = 0; !err && k < features; k++)
            note_feature(&t, k, j, log_fdr[k], out);
    }
    (void)rb_scratch_end(&scratch);
    return err;
}

/* ---- samples ---- */

rb_error rb_posterior_deviations(rb_context *ctx, const rb_modules_input *input,
                                 const rb_tested_units *units, double *deviations) {
    int64_t count = units->count;
    rb_dense weighed = {0}, precision = {0}, variance = {0};
    rb_spd *factor = NULL;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense_take(&scratch, RB_FLOAT64, input->n_features, count, &weighed);
    rb_dense_take(&scratch, RB_FLOAT64, count, count, &precision);
    rb_dense_take(&scratch, RB_FLOAT64, count, count, &variance);
    rb_error err = scratch.err;
    err = err ? err : rb_spd_new(ctx, RB_FLOAT64, count, &factor);
    for (int64_t k = 0; !err && k < input->n_features; k++) {
        for (int64_t j = 0; j < count; j++) {
            double w = input->loadings[k * input->n_units + units->index[j]] * units->rms[j];
            rb_dense_set(weighed, k, j, w / sqrt(input->noise[k]));
        }
    }
    if (!err) {
        rb_gemm_parallel(ctx, 1, weighed, RB_TRANSPOSED, weighed, RB_PLAIN, 0, precision);
        for (int64_t j = 0; j < count; j++)
            rb_dense_set(precision, j, j, 1 + rb_dense_get(precision, j, j));
        err = rb_spd_factor(ctx, factor, precision);
    }
    if (!err) rb_spd_inverse(ctx, factor, variance);
    for (int64_t j = 0; !err && j < count; j++)
        deviations[j] = sqrt(rb_dense_get(variance, j, j));
    rb_spd_free(factor);
    (void)rb_scratch_end(&scratch);
    return err;
}

bool rb_sample_belongs(double z, double size, double deviation, double level) {
    double effect = SAMPLE_EFFECT * size;
    return rb_log_normal_tail((fabs(z) - effect) / deviation) <= log(level);
}
