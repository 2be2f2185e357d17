/* The parameters of an RFN, v = W h + e: the loadings W (m features x l units), the noise e ~ N(0,
 * Psi), the prior h ~ N(xi, M). Private to src/rfn. */
#ifndef RB_RFN_PARAMETERS_H
#define RB_RFN_PARAMETERS_H

#include "model/model.h"

/* The sizes that arrays have (rb_shape.dims). Those that come with a condition are 0 without it. */
enum {
    RFN_FEATURES = 1, /* m */
    RFN_UNITS,        /* l */
    RFN_SMALLER,      /* of the two */
    RFN_FULL,         /* m: full noise */
    RFN_REPLACED,     /* m: input noise that needs the range of each feature */
    RFN_MOMENTUM,     /* m */
    RFN_TRACED,       /* l: the E-step objective is wanted */
    RFN_DROPS,        /* l: dropout */
    RFN_BATCHES,      /* l: M-steps follow parts of the samples */
    RFN_PERSISTENT,   /* l: codes persist from one iteration to the next */
    RFN_PERSISTS,     /* 1: so they do */
    RFN_SAMPLES,      /* n: so they do; samples of this process */
    RFN_COLLECTED,    /* n: the same, and no device has them */
    RFN_STEPPED,      /* n: E-steps by steps that need a copy of the codes */
    RFN_TRIED,        /* n: those that try candidates */
    RFN_STAGES,       /* of these */
    RFN_SHRINKS,      /* 1: sparse loadings */
    RFN_ADAPTS,       /* 1: the prior mean is adapted */
    RFN_BLOCK,        /* samples of a block */
    RFN_PADDED,       /* l, or without a device rb_spaced */
    RFN_SUMMED,       /* the same, but l where checkpoints keep sums */
    RFN_TASKS,        /* of a block */
    RFN_FACTORED,     /* samples of a block: the filter is kept as its factors */
    RFN_NOISY,        /* samples of a dense block: input noise */
    RFN_LACKS,        /* l: values are missing */
    RFN_OBSERVED,     /* m: the same */
};

/* Of type, m and l alone. */
rb_shape rfn_plain_shape(rb_type type, int64_t m, int64_t l);

/* The prior N(xi, M): prior.c. */
typedef struct rfn_prior {
    double *mean;   /* xi, l */
    double *linear; /* M^-1 xi, l */
    /* M and M^-1, l x l, full; of no rows where M is the identity. */
    rb_dense covariance, precision;
    double log_det; /* ln |M| */
} rfn_prior;

/* A noise covariance Psi that is not diagonal. All in float64 whatever the type of the fit: small
 * eigenvalues beside large ones must survive. */
typedef struct rfn_psi {
    rb_dense covariance; /* Psi, m x m, full; of no rows where Psi is diagonal */
    rb_spd *factor;      /* of Psi */
    rb_dense wide, part; /* scratch: m x l each */
} rfn_psi;

typedef struct rfn_parameters {
    rb_dense loadings; /* W, m x l */
    double *noise;     /* diagonal of Psi, m */
    rfn_psi full;      /* Psi whole, where it is not diagonal */
    rfn_prior prior;
} rfn_parameters;

extern const rb_field rfn_parameter_fields[];

/* With diagonal noise and the prior N(0, I). */
rb_error rfn_parameters_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                            rfn_parameters *parameters);
void rfn_parameters_free(rfn_parameters *parameters);
/* From the arrays of a model. */
rb_error rfn_parameters_load(rb_context *ctx, rb_type type, const rb_model *model,
                             rfn_parameters *parameters);
/* ln |Psi| */
double rfn_log_det_noise(const rfn_parameters *parameters);

/* A matrix that was given: RB_ERROR_ARGUMENT names the value that has another one across the
 * diagonal, beyond rounding. */
rb_error rfn_check_symmetric(rb_context *ctx, const char *name, rb_dense a);

/* ---- full noise ---- */

/* Memory for a full Psi, of zeros where there was none. */
rb_error rfn_psi_new(rb_context *ctx, int64_t m, int64_t l, rfn_psi *noise);

static inline bool rfn_psi_is_full(const rfn_psi *noise) {
    return noise->covariance.rows > 0;
}

/* To be called when the covariance has changed, if there is one. RB_ERROR_NUMERIC when it is not
 * positive definite. */
rb_error rfn_psi_factor(rb_context *ctx, const rfn_psi *noise);
/* part = Psi^-1 W */
void rfn_psi_divide(rb_context *ctx, const rfn_psi *noise, rb_dense w);

/* ---- the prior ---- */

/* What the options ask for, into a prior N(0, I). RB_ERROR_ARGUMENT: of the wrong shape, or M is no
 * covariance. */
rb_error rfn_prior_choose(rb_context *ctx, rb_type type, int64_t l, const rb_values *mean,
                          const rb_values *covariance, rfn_prior *prior);
/* xi = factor times what was asked for, of a shape that rfn_prior_choose has checked. */
void rfn_prior_take_mean(rfn_prior *prior, int64_t l, const rb_values *mean, double factor);
/* From the arrays of a model, into a prior N(0, I); and to them. */
rb_error rfn_prior_load(rb_context *ctx, rb_type type, const rb_model *model, rfn_prior *prior);
rb_error rfn_prior_store(rb_context *ctx, const rfn_prior *prior, int64_t l, rb_model *model);

static inline bool rfn_prior_is_plain(const rfn_prior *prior) {
    return prior->covariance.rows == 0; /* M = I */
}

#endif
