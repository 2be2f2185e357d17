/* A full noise covariance: its factor, products with its inverse, the model file. */
#include "psi.h"

#include <math.h>
#include <string.h>

rb_error rfn_psi_new(rb_context *ctx, int64_t m, int64_t l, rfn_psi *noise) {
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, m, m, &noise->covariance);
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, m, l, &noise->wide);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, m, l, &noise->part);
    }
    return err ? err : rb_spd_new(ctx, RB_FLOAT64, m, &noise->factor);
}

void rfn_psi_free(rfn_psi *noise) {
    rb_dense_free(&noise->covariance);
    rb_dense_free(&noise->wide);
    rb_dense_free(&noise->part);
    rb_spd_free(noise->factor);
    *noise = (rfn_psi){0};
}

rb_error rfn_psi_factor(rb_context *ctx, rfn_psi *noise) {
    rb_error err = rb_spd_factor(ctx, noise->factor, noise->covariance);
    if (err) {
        rb_fail_prefix(ctx, "the noise covariance: ");
    }
    return err;
}

void rfn_psi_divide(rb_context *ctx, const rfn_psi *noise, rb_dense w) {
    rb_dense_copy(w, noise->wide);
    rb_spd_solve_left(ctx, noise->factor, noise->wide, noise->part);
}

static rb_error check_symmetric(rb_context *ctx, rb_dense a) {
    for (int64_t k = 0; k < a.rows; k++) {
        for (int64_t c = 0; c < k; c++) {
            if (rb_dense_get(a, k, c) != rb_dense_get(a, c, k)) {
                return rb_fail(ctx, RB_ERROR_FORMAT,
                               "the noise covariance of features %lld and %lld is not that of "
                               "%lld and %lld",
                               (long long)k, (long long)c, (long long)c, (long long)k);
            }
        }
    }
    return RB_OK;
}

rb_error rfn_psi_load(rb_context *ctx, const rb_model *model, rfn_psi *noise) {
    int64_t m = model->preprocess->n_features;
    const double *values;
    if (!rb_model_array(model, "noise_covariance", NULL, NULL)) {
        return RB_OK;
    }
    rb_error err = rb_model_need_array(ctx, model, "noise_covariance", m, m, &values);
    if (!err) {
        err = rfn_psi_new(ctx, m, rb_model_units(model), noise);
    }
    if (!err) {
        rb_dense_copy((rb_dense){(void *)values, m, m, m, RB_FLOAT64}, noise->covariance);
        err = check_symmetric(ctx, noise->covariance);
    }
    if (!err) {
        err = rfn_psi_factor(ctx, noise);
        err = err == RB_ERROR_NUMERIC ? RB_ERROR_FORMAT : err;
    }
    return err;
}

rb_error rfn_psi_store(rb_context *ctx, const rfn_psi *noise, rb_model *model) {
    int64_t m = noise->covariance.rows;
    if (!rfn_psi_is_full(noise)) {
        return RB_OK;
    }
    double *values = rb_model_add_array(ctx, model, "noise_covariance", m, m);
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    rb_dense_copy(noise->covariance, (rb_dense){values, m, m, m, RB_FLOAT64});
    return RB_OK;
}
