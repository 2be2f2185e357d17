/* Parameters: their arrays, their way from a model, a full noise covariance. */
#include "parameters.h"

#include <math.h>
#include <stddef.h>

const rb_field rfn_parameter_fields[] = {
    {"loadings", offsetof(rfn_parameters, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES,
     RFN_UNITS, RB_KEPT_PARAMETER},
    {"noise", offsetof(rfn_parameters, noise), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES, 0,
     RB_KEPT_POSITIVE},
    {"noise_covariance", offsetof(rfn_parameters, full.covariance), RB_FIELD_DENSE, RB_KEPT_FLOAT64,
     RFN_FULL, RFN_FULL, RB_KEPT_PARAMETER},
    {"prior_mean", offsetof(rfn_parameters, prior.mean), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_UNITS},
    {"prior_linear", offsetof(rfn_parameters, prior.linear), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_UNITS},
    {0},
};

static const rb_part parts[] = {{RB_PART_PARAMETERS, rfn_parameter_fields, 0}, {0}};

rb_shape rfn_plain_shape(rb_type type, int64_t m, int64_t l) {
    return (rb_shape){
        .type = type,
        .dims = {
            [RB_DIM_ONE] = 1, [RFN_FEATURES] = m, [RFN_UNITS] = l, [RFN_SMALLER] = l < m ? l : m}};
}

rb_error rfn_parameters_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                            rfn_parameters *parameters) {
    rb_shape shape = rfn_plain_shape(type, m, l);
    *parameters = (rfn_parameters){0};
    return rb_parts_new(ctx, parts, &shape, parameters);
}

void rfn_parameters_free(rfn_parameters *parameters) {
    rb_parts_free(parts, parameters);
    rb_dense_free(&parameters->full.wide);
    rb_dense_free(&parameters->full.part);
    rb_spd_free(parameters->full.factor);
    rb_dense_free(&parameters->prior.covariance);
    rb_dense_free(&parameters->prior.precision);
    *parameters = (rfn_parameters){0};
}

double rfn_log_det_noise(const rfn_parameters *parameters) {
    if (rfn_psi_is_full(&parameters->full)) return rb_spd_log_det(parameters->full.factor);
    double sum = 0;
    for (int64_t k = 0; k < parameters->loadings.rows; k++)
        sum += log(parameters->noise[k]);
    return sum;
}

/* ---- full noise ---- */

rb_error rfn_psi_new(rb_context *ctx, int64_t m, int64_t l, rfn_psi *noise) {
    rb_error err = RB_OK;
    if (!rfn_psi_is_full(noise)) err = rb_dense_new(ctx, RB_FLOAT64, m, m, &noise->covariance);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, m, l, &noise->wide);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, m, l, &noise->part);
    return err ? err : rb_spd_new(ctx, RB_FLOAT64, m, &noise->factor);
}

rb_error rfn_psi_factor(rb_context *ctx, const rfn_psi *noise) {
    rb_error err =
        rfn_psi_is_full(noise) ? rb_spd_factor(ctx, noise->factor, noise->covariance) : RB_OK;
    if (err) rb_fail_prefix(ctx, "the noise covariance: ");
    return err;
}

void rfn_psi_divide(rb_context *ctx, const rfn_psi *noise, rb_dense w) {
    rb_dense_copy(w, noise->wide);
    rb_spd_solve_left(ctx, noise->factor, noise->wide, noise->part);
}

/* ---- models ---- */

static rb_error load_psi(rb_context *ctx, const rb_model *model, rfn_psi *noise) {
    int64_t m = model->preprocess->n_features;
    const double *values; /* looked for before memory is taken for as many */
    if (!rb_model_array(model, "noise_covariance", NULL, NULL)) return RB_OK;
    rb_error err = rb_model_need_array(ctx, model, "noise_covariance", m, m, &values);
    err = err ? err : rfn_psi_new(ctx, m, rb_model_units(model), noise);
    err = err ? err : rb_model_take_array(ctx, model, "noise_covariance", noise->covariance);
    err = err ? err : rfn_check_symmetric(ctx, "noise_covariance", noise->covariance);
    err = err ? err : rfn_psi_factor(ctx, noise);
    return err == RB_ERROR_NUMERIC || err == RB_ERROR_ARGUMENT ? RB_ERROR_FORMAT : err;
}

rb_error rfn_parameters_load(rb_context *ctx, rb_type type, const rb_model *model,
                             rfn_parameters *parameters) {
    int64_t m = model->preprocess->n_features, l = rb_model_units(model);
    rb_error err = rfn_parameters_new(ctx, type, m, l, parameters);
    err = err ? err : rb_model_take_array(ctx, model, "loadings", parameters->loadings);
    err = err ? err : rb_model_take_array(ctx, model, "noise", rb_column(parameters->noise, m));
    err = err ? err : rfn_prior_load(ctx, type, model, &parameters->prior);
    err = err ? err : load_psi(ctx, model, &parameters->full);
    for (int64_t k = 0; !err && k < m; k++) {
        if (!(parameters->noise[k] > 0)) {
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the noise variance of feature %lld is not above 0",
                          (long long)k);
        }
    }
    return err;
}
