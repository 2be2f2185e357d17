/* The prior N(xi, M): what is asked for, what a model has, and what formulas need of it. */
#include "objective.h"

#include <math.h>
#include <string.h>

/* linear = M^-1 xi */
static void weigh_mean(rfn_prior *prior, int64_t l) {
    rb_dense precision = prior->precision;
    memcpy(prior->linear, prior->mean, (size_t)l * sizeof *prior->linear);
    for (int64_t j = 0; j < precision.rows; j++) {
        prior->linear[j] = 0;
        for (int64_t c = 0; c < l; c++) {
            prior->linear[j] += rb_dense_get(precision, j, c) * prior->mean[c];
        }
    }
}

static rb_error check_symmetric(rb_context *ctx, rb_dense m) {
    for (int64_t j = 0; j < m.rows; j++) {
        for (int64_t c = 0; c < j; c++) {
            double below = rb_dense_get(m, j, c), above = rb_dense_get(m, c, j);
            if (!(fabs(below - above) <= 1e-6 * fmax(fabs(below), fabs(above)))) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "prior-covariance is not symmetric: %.6g at row %lld, column %lld "
                               "(counted from 0), and %.6g across the diagonal",
                               below, (long long)j, (long long)c, above);
            }
        }
    }
    return RB_OK;
}

static bool is_identity(rb_dense m) {
    for (int64_t j = 0; j < m.rows; j++) {
        for (int64_t c = 0; c < m.cols; c++) {
            if (rb_dense_get(m, j, c) != (j == c)) {
                return false;
            }
        }
    }
    return true;
}

/* M and its inverse, computed in float64 and kept in the type. */
static rb_error set_covariance(rb_context *ctx, rb_type type, rb_dense m, rfn_prior *prior) {
    rb_spd *factor = NULL;
    rb_dense inverse = {0};
    rb_error err = check_symmetric(ctx, m);
    if (err || is_identity(m)) {
        return err;
    }
    err = rb_spd_new(ctx, RB_FLOAT64, m.rows, &factor);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, m.rows, m.rows, &inverse);
    err = err ? err : rb_dense_new(ctx, type, m.rows, m.rows, &prior->covariance);
    err = err ? err : rb_dense_new(ctx, type, m.rows, m.rows, &prior->precision);
    if (!err && (err = rb_spd_factor(ctx, factor, m)) != RB_OK) {
        rb_fail_prefix(ctx, "prior-covariance: ");
        err = err == RB_ERROR_NUMERIC ? RB_ERROR_ARGUMENT : err; /* it was given, not computed */
    }
    if (!err) {
        prior->log_det = rb_spd_log_det(factor);
        rb_spd_inverse(ctx, factor, inverse);
        rb_dense_copy(inverse, prior->precision);
        rb_dense_copy(m, prior->covariance);
    }
    rb_dense_free(&inverse);
    rb_spd_free(factor);
    return err;
}

/* ---- from options ---- */

/* Number j of a vector that lies either way. */
static double entry(const rb_matrix *matrix, int64_t j) {
    return rb_matrix_samples(matrix) == 1 ? rb_matrix_at(matrix, 0, j) : rb_matrix_at(matrix, j, 0);
}

static bool has_shape(const rb_matrix *matrix, int64_t rows, int64_t columns) {
    return rb_matrix_samples(matrix) == rows && rb_matrix_features(matrix) == columns;
}

static bool is_vector(const rb_matrix *matrix, int64_t l) {
    return has_shape(matrix, l, 1) || has_shape(matrix, 1, l);
}

static rb_error check_finite(rb_context *ctx, const char *name, const rb_matrix *matrix) {
    for (int64_t i = 0; i < rb_matrix_samples(matrix); i++) {
        for (int64_t k = 0; k < rb_matrix_features(matrix); k++) {
            if (!isfinite(rb_matrix_at(matrix, i, k))) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "%s has a value that is missing or infinite, at row %lld, column "
                               "%lld (counted from 0)",
                               name, (long long)i, (long long)k);
            }
        }
    }
    return RB_OK;
}

static rb_error wrong_shape(rb_context *ctx, const char *name, const rb_matrix *matrix, int64_t l,
                            const char *also) {
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%s is %lld x %lld, but must be one number, or one for each of the %lld units%s",
                   name, (long long)rb_matrix_samples(matrix),
                   (long long)rb_matrix_features(matrix), (long long)l, also);
}

static rb_error choose_covariance(rb_context *ctx, rb_type type, int64_t l, const rb_values *values,
                                  rfn_prior *prior) {
    const rb_matrix *matrix = values->matrix;
    rb_dense m;
    bool full = matrix && has_shape(matrix, l, l);
    if (!matrix && values->value == 1) {
        return RB_OK;
    }
    if (matrix && !full && !is_vector(matrix, l)) {
        return wrong_shape(ctx, "prior-covariance", matrix, l, ", or units x units");
    }
    rb_error err = matrix ? check_finite(ctx, "prior-covariance", matrix) : RB_OK;
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, l, l, &m);
    if (err) {
        return err;
    }
    for (int64_t j = 0; j < l; j++) {
        rb_dense_set(m, j, j, matrix ? (full ? 0 : entry(matrix, j)) : values->value);
        for (int64_t c = 0; full && c < l; c++) {
            rb_dense_set(m, j, c, rb_matrix_at(matrix, j, c));
        }
    }
    err = set_covariance(ctx, type, m, prior);
    rb_dense_free(&m);
    return err;
}

rb_error rfn_prior_choose(rb_context *ctx, rb_type type, int64_t l, const rb_values *mean,
                          const rb_values *covariance, rfn_prior *prior) {
    rb_error err = RB_OK;
    if (mean->matrix) {
        err = is_vector(mean->matrix, l) ? check_finite(ctx, "prior-mean", mean->matrix)
                                         : wrong_shape(ctx, "prior-mean", mean->matrix, l, "");
    }
    err = err ? err : choose_covariance(ctx, type, l, covariance, prior);
    if (!err) {
        rfn_prior_take_mean(prior, l, mean, 1);
    }
    return err;
}

void rfn_prior_take_mean(rfn_prior *prior, int64_t l, const rb_values *mean, double factor) {
    for (int64_t j = 0; j < l; j++) {
        prior->mean[j] = factor * (mean->matrix ? entry(mean->matrix, j) : mean->value);
    }
    weigh_mean(prior, l);
}

/* ---- models ---- */

rb_error rfn_prior_load(rb_context *ctx, rb_type type, const rb_model *model, rfn_prior *prior) {
    int64_t l = rb_model_units(model);
    const double *mean, *covariance;
    rb_error err = rb_model_need_array(ctx, model, "prior_mean", l, 1, &mean);
    if (!err && rb_model_array(model, "prior_covariance", NULL, NULL)) {
        err = rb_model_need_array(ctx, model, "prior_covariance", l, l, &covariance);
        rb_dense m = {(void *)covariance, l, l, l, RB_FLOAT64};
        err = err ? err : set_covariance(ctx, type, m, prior);
        err = err == RB_ERROR_ARGUMENT || err == RB_ERROR_NUMERIC ? RB_ERROR_FORMAT : err;
    }
    if (!err) {
        memcpy(prior->mean, mean, (size_t)l * sizeof *mean);
        weigh_mean(prior, l);
    }
    return err;
}

rb_error rfn_prior_store(rb_context *ctx, const rfn_prior *prior, int64_t l, rb_model *model) {
    double *mean = rb_model_add_array(ctx, model, "prior_mean", l, 1);
    if (!mean) {
        return RB_ERROR_MEMORY;
    }
    memcpy(mean, prior->mean, (size_t)l * sizeof *mean);
    if (!rfn_prior_is_plain(prior)) {
        double *m = rb_model_add_array(ctx, model, "prior_covariance", l, l);
        if (!m) {
            return RB_ERROR_MEMORY;
        }
        rb_dense_copy(prior->covariance, (rb_dense){m, l, l, l, RB_FLOAT64});
    }
    return RB_OK;
}

/* ---- in formulas ---- */

void rfn_prior_add_precision(rb_context *ctx, const rfn_prior *prior, rb_dense a) {
    for (int64_t j = 0; j < a.rows; j++) {
        if (rfn_prior_is_plain(prior)) {
            rb_dense_set(a, j, j, rb_dense_get(a, j, j) + 1);
        } else {
            rb_axpy(ctx, a.type, j + 1, 1, rb_dense_row(prior->precision, j), rb_dense_row(a, j));
        }
    }
}

double rfn_prior_product(rb_context *ctx, const rfn_prior *prior, rb_dense a) {
    double trace = 0;
    if (!rfn_prior_is_plain(prior)) {
        return rfn_product_of_lower(ctx, prior->precision, a);
    }
    for (int64_t j = 0; j < a.rows; j++) {
        trace += rb_dense_get(a, j, j);
    }
    return trace;
}
