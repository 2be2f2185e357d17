/* The prior N(xi, M): what is asked for, what a model has, and what formulas need of it. */
#include "parameters.h"

#include <math.h>
#include <string.h>

/* linear = M^-1 xi */
static void weigh_mean(rfn_prior *prior, int64_t l) {
    rb_dense precision = prior->precision;
    memcpy(prior->linear, prior->mean, (size_t)l * sizeof *prior->linear);
    for (int64_t j = 0; j < precision.rows; j++) {
        prior->linear[j] = 0;
        for (int64_t c = 0; c < l; c++)
            prior->linear[j] += rb_dense_get(precision, j, c) * prior->mean[c];
    }
}

rb_error rfn_check_symmetric(rb_context *ctx, const char *name, rb_dense m) {
    for (int64_t j = 0; j < m.rows; j++) {
        for (int64_t c = 0; c < j; c++) {
            double below = rb_dense_get(m, j, c), above = rb_dense_get(m, c, j);
            if (!(fabs(below - above) <= 1e-6 * fmax(fabs(below), fabs(above)))) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "%s is not symmetric: %.6g at row %lld, column %lld (counted from "
                               "%d), and %.6g across the diagonal",
                               name, below, (long long)rb_nth(ctx, j), (long long)rb_nth(ctx, c),
                               ctx->first, above);
            }
        }
    }
    return RB_OK;
}

static bool is_identity(rb_dense m) {
    for (int64_t j = 0; j < m.rows; j++) {
        for (int64_t c = 0; c < m.cols; c++)
            if (rb_dense_get(m, j, c) != (j == c)) return false;
    }
    return true;
}

/* M and its inverse, computed in float64 and kept in the type. */
static rb_error set_covariance(rb_context *ctx, rb_type type, rb_dense m, rfn_prior *prior) {
    rb_spd *factor = NULL;
    rb_dense inverse = {0};
    rb_error err = rfn_check_symmetric(ctx, "`prior-covariance`", m);
    if (err || is_identity(m)) return err;
    err = rb_spd_new(ctx, RB_FLOAT64, m.rows, &factor);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, m.rows, m.rows, &inverse);
    err = err ? err : rb_dense_new(ctx, type, m.rows, m.rows, &prior->covariance);
    err = err ? err : rb_dense_new(ctx, type, m.rows, m.rows, &prior->precision);
    if (!err && (err = rb_spd_factor(ctx, factor, m)) != RB_OK) {
        rb_fail_prefix(ctx, "`prior-covariance`: ");
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

/* Number j of one number for all, or of a vector that lies either way. */
static double entry(const rb_values *values, int64_t j) {
    const rb_matrix *matrix = values->matrix;
    bool lies = matrix && rb_matrix_samples(matrix) == 1;
    return !matrix ? values->value : rb_matrix_at(matrix, lies ? 0 : j, lies ? j : 0);
}

static bool has_shape(const rb_matrix *matrix, int64_t rows, int64_t columns) {
    return rb_matrix_samples(matrix) == rows && rb_matrix_features(matrix) == columns;
}

/* One number for each unit, finite; or also numbers for each pair of them. */
static rb_error check_matrix(rb_context *ctx, const char *name, const rb_matrix *matrix, int64_t l,
                             bool or_pairs) {
    int64_t rows = matrix ? rb_matrix_samples(matrix) : 0;
    int64_t columns = matrix ? rb_matrix_features(matrix) : 0;
    if (matrix && !has_shape(matrix, l, 1) && !has_shape(matrix, 1, l) &&
        !(or_pairs && has_shape(matrix, l, l))) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`%s` is %lld x %lld, but must be one number, or one for each of the %lld units%s",
            name, (long long)rows, (long long)columns, (long long)l,
            or_pairs ? ", or units x units" : "");
    }
    for (int64_t e = 0; e < rows * columns; e++) {
        if (!isfinite(rb_matrix_at(matrix, e / columns, e % columns))) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`%s` has a value that is missing or infinite, at row %lld, column %lld "
                           "(counted from %d)",
                           name, (long long)rb_nth(ctx, e / columns),
                           (long long)rb_nth(ctx, e % columns), ctx->first);
        }
    }
    return RB_OK;
}

static rb_error choose_covariance(rb_context *ctx, rb_type type, int64_t l, const rb_values *values,
                                  rfn_prior *prior) {
    const rb_matrix *matrix = values->matrix;
    rb_dense m = {0};
    if (!matrix && values->value == 1) return RB_OK;
    rb_error err = check_matrix(ctx, "prior-covariance", matrix, l, true);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, l, l, &m);
    if (err) return err;
    bool full = matrix && has_shape(matrix, l, l);
    for (int64_t e = 0; e < l * l; e++) {
        int64_t j = e / l, c = e % l;
        rb_dense_set(m, j, c, full ? rb_matrix_at(matrix, j, c) : j == c ? entry(values, j) : 0);
    }
    err = set_covariance(ctx, type, m, prior);
    rb_dense_free(&m);
    return err;
}

rb_error rfn_prior_choose(rb_context *ctx, rb_type type, int64_t l, const rb_values *mean,
                          const rb_values *covariance, rfn_prior *prior) {
    rb_error err = check_matrix(ctx, "prior-mean", mean->matrix, l, false);
    err = err ? err : choose_covariance(ctx, type, l, covariance, prior);
    if (!err) rfn_prior_take_mean(prior, l, mean, 1);
    return err;
}

void rfn_prior_take_mean(rfn_prior *prior, int64_t l, const rb_values *mean, double factor) {
    for (int64_t j = 0; j < l; j++)
        prior->mean[j] = factor * entry(mean, j);
    weigh_mean(prior, l);
}

/* ---- models ---- */

rb_error rfn_prior_load(rb_context *ctx, rb_type type, const rb_model *model, rfn_prior *prior) {
    int64_t l = rb_model_units(model);
    const double *covariance;
    rb_error err = rb_model_take_array(ctx, model, "prior_mean", rb_column(prior->mean, l));
    if (!err && rb_model_array(model, "prior_covariance", NULL, NULL)) {
        err = rb_model_need_array(ctx, model, "prior_covariance", l, l, &covariance);
        rb_dense m = {(void *)covariance, l, l, l, RB_FLOAT64};
        err = err ? err : set_covariance(ctx, type, m, prior);
        err = err == RB_ERROR_ARGUMENT || err == RB_ERROR_NUMERIC ? RB_ERROR_FORMAT : err;
    }
    if (!err) weigh_mean(prior, l);
    return err;
}

rb_error rfn_prior_store(rb_context *ctx, const rfn_prior *prior, int64_t l, rb_model *model) {
    rb_error err = rb_model_put_array(ctx, model, "prior_mean", rb_column(prior->mean, l));
    return err || rfn_prior_is_plain(prior)
               ? err
               : rb_model_put_array(ctx, model, "prior_covariance", prior->covariance);
}
