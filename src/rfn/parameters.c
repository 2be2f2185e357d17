/* Parameters: loadings, noise variance, prior. */
#include "posterior.h"

#include <math.h>

rb_error rfn_parameters_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                            rfn_parameters *parameters) {
    *parameters = (rfn_parameters){0};
    rb_error err = rb_dense_new(ctx, type, m, l, &parameters->loadings);
    if (err) {
        return err;
    }
    parameters->noise = rb_alloc_zero(ctx, m, sizeof *parameters->noise);
    return parameters->noise ? rfn_prior_new(ctx, l, &parameters->prior) : RB_ERROR_MEMORY;
}

void rfn_parameters_free(rfn_parameters *parameters) {
    rb_dense_free(&parameters->loadings);
    rb_free(parameters->noise);
    rfn_psi_free(&parameters->full);
    rfn_prior_free(&parameters->prior);
    *parameters = (rfn_parameters){0};
}

rb_error rfn_parameters_load(rb_context *ctx, rb_type type, const rb_model *model,
                             rfn_parameters *parameters) {
    int64_t m = model->preprocess->n_features, l = rb_model_units(model);
    const double *loadings, *noise;
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, l, &loadings);
    if (!err) {
        err = rb_model_need_array(ctx, model, "noise", m, 1, &noise);
    }
    if (!err) {
        err = rfn_parameters_new(ctx, type, m, l, parameters);
    }
    if (!err) {
        err = rfn_prior_load(ctx, type, model, &parameters->prior);
    }
    if (!err) {
        err = rfn_psi_load(ctx, model, &parameters->full);
    }
    if (err) {
        return err;
    }
    rb_dense all = {(void *)loadings, m, l, l, RB_FLOAT64};
    rb_dense_copy(all, parameters->loadings);
    for (int64_t k = 0; k < m; k++) {
        if (!(noise[k] > 0)) {
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           "the noise variance of feature %lld is not above 0", (long long)k);
        }
        parameters->noise[k] = noise[k];
    }
    return RB_OK;
}

double rfn_log_det_noise(const rfn_parameters *parameters) {
    if (rfn_psi_is_full(&parameters->full)) {
        return rb_spd_log_det(parameters->full.factor);
    }
    double sum = 0;
    for (int64_t k = 0; k < parameters->loadings.rows; k++) {
        sum += log(parameters->noise[k]);
    }
    return sum;
}
