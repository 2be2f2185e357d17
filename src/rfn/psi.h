/* The noise covariance Psi where it is not diagonal. Private to src/rfn.
 *
 * All in float64 whatever the type of the fit: small eigenvalues beside large ones must survive. */
#ifndef RB_RFN_PSI_H
#define RB_RFN_PSI_H

#include "model/model.h"

typedef struct rfn_psi {
    rb_dense covariance; /* Psi, m x m, full; of no rows where Psi is diagonal */
    rb_spd *factor;      /* of Psi */
    rb_dense wide, part; /* scratch: m x l each */
} rfn_psi;

/* Room for a full Psi, of zeros. */
rb_error rfn_psi_new(rb_context *ctx, int64_t m, int64_t l, rfn_psi *noise);
void rfn_psi_free(rfn_psi *noise);

static inline bool rfn_psi_is_full(const rfn_psi *noise) {
    return noise->covariance.rows > 0;
}

/* To be called when the covariance has changed. RB_ERROR_NUMERIC when it is not positive
 * definite. */
rb_error rfn_psi_factor(rb_context *ctx, rfn_psi *noise);
/* part = Psi^-1 W */
void rfn_psi_divide(rb_context *ctx, const rfn_psi *noise, rb_dense w);

/* From and to the array noise_covariance of a model; without one there Psi stays diagonal. */
rb_error rfn_psi_load(rb_context *ctx, const rb_model *model, rfn_psi *noise);
rb_error rfn_psi_store(rb_context *ctx, const rfn_psi *noise, rb_model *model);

#endif
