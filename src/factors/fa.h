/* Factor analysis: samples are loadings times factors and noise of a variance for each feature,
 *
 *     v = W z + e,   e ~ N(0, Psi),   Psi diagonal,
 *
 * with factors that are normal, Laplacian, of Jeffreys' prior or of FABIA's. Private to
 * src/factors. */
#ifndef RB_COMPARE_FACTORS_H
#define RB_COMPARE_FACTORS_H

#include "factors.h"

typedef enum fa_prior {
    FACTORS_NORMAL = 0,
    FACTORS_LAPLACE,
    FACTORS_JEFFREYS,
    FACTORS_FABIA /* Laplacian up to 1, normal beyond */
} fa_prior;
typedef enum fa_solver { FACTORS_AUTO = 0, FACTORS_EM, FACTORS_FIXED_POINT } fa_solver;

typedef struct fa_options {
    int64_t units;
    int solver;          /* fa_solver */
    double noise_min;    /* share of a feature's variance */
    double weight_init;  /* in standard deviations of a feature, as the next one */
    double weight_decay; /* of each M-step; fabia: alpha */
    int normalize;       /* 1: codes of mean square 1 */
} fa_options;

/* ---- the posterior (fa_posterior.c) ---- */

/* What codes are computed by: functions of W and Psi. */
typedef struct fa_posterior {
    fa_prior prior;
    rb_dense weighted;    /* Psi^-1 W, m x l */
    rb_dense gram;        /* G = W' Psi^-1 W, l x l */
    rb_dense sigma;       /* normal: (I + G)^-1 */
    rb_dense filter;      /* normal: Psi^-1 W Sigma; V filter are the codes */
    double *wide;         /* G in float64, l x l, for the others */
    double log_det;       /* normal: ln |I + G| */
    double noise_log_det; /* ln |Psi| */
    rb_spd *factor;       /* of I + G, to be freed */
} fa_posterior;

/* With arrays of the scratch, as the next one. */
void fa_posterior_new(rb_scratch *scratch, rb_type type, int64_t m, int64_t l, fa_prior prior,
                      fa_posterior *posterior);
rb_error fa_posterior_set(rb_context *ctx, rb_dense loadings, const double *noise,
                          fa_posterior *posterior);

/* Where the samples of a block, in order, have so many parts that memory for each is little. A
 * function of their number alone. */
enum { FACTORS_PARTS = 16 };

/* Of priors that are not normal: what parts and threads of the context need. */
typedef struct fa_work {
    int64_t l, ld;
    int threads;
    double *squares; /* a thread: matrix and scratch of its inverse */
    double *spread;  /* FACTORS_PARTS x l x l, or NULL: sum of the posterior covariances */
    double *values;  /* FACTORS_PARTS: sums of `value` */
    double *linear;  /* a thread: four rows of l values */
} fa_work;

void fa_work_new(rb_scratch *scratch, int64_t l, bool spread, fa_work *work);

/* Codes of a block (samples x units) from q = V Psi^-1 W, which is in `codes` before. variances
 * (samples x units) are the variational ones, Xi_i, and become those of the next step; `steps` of
 * them, or fewer where they settle before. Adds posterior covariances of the last step to the
 * spread (lower triangle), and to *value
 *     fit:      ln |Sigma_i| / 2 + sum_j E ln p~(z_j), p~ the prior's bound with the new Xi
 *     else:     what the bound of ln p(v_i) has that depends on the sample's factors
 */
typedef struct fa_pass {
    const fa_posterior *posterior;
    fa_work *work;
    rb_dense codes;
    double *variances;
    int64_t steps;
    bool fit;
    double *spread; /* l x l, or NULL */
    double *value;
} fa_pass;
rb_error fa_infer(rb_context *ctx, const fa_pass *pass);

/* ---- a fit (factors.c) ---- */

typedef struct fa_sums {
    rb_dense u, s;  /* V'mu, mu'mu */
    double *spread; /* sum of posterior covariances, l x l; not of a normal prior */
    double value;   /* see fa_infer */
} fa_sums;

typedef struct factors {
    factors_fit base; /* done: the fixed point is reached */
    fa_options options;
    fa_prior prior;
    bool fixed; /* by the fixed point */
    bool warm;  /* from a model */
    rb_dense loadings;
    double *noise;
    double *variances; /* samples x units: Xi */
    double *scale;     /* of each unit: root mean square of its codes */
    double *second;    /* mean square of each feature */
    rb_dense products; /* V'V of the fixed point */
    rb_dense root;     /* R, where there are fewer samples than features: V'V / n = R'R */
    rb_dense wide;     /* V'V of the subspace, whose sums are finer than the changes that count */
    rb_dense subspace; /* of the iteration before: rows, of unit length and at right angles */
    bool nearby;       /* the next iteration starts from it */
    fa_sums sums;
    rb_dense codes;  /* of a block */
    rb_dense moment; /* W S, then scratch of the fixed point */
    fa_posterior posterior;
    fa_work work;
    rb_scratch own; /* of posterior and work */
    rb_csr_memory columns;
} factors;

enum {
    FACTORS_OWN = 3,
    FACTORS_BLOCK,
    FACTORS_COVARIANCE,
    FACTORS_RANK,
    FACTORS_SPARSE,
    FACTORS_SUBSPACE,
    FACTORS_WIDE
};

/* fixed_point.c: loadings and noise from the covariance; its root, once; how many directions the
 * next iteration starts from, 0: none, all are found anew. */
int64_t fa_subspace(const rb_problem *problem, int64_t units);
rb_error fa_root(rb_context *ctx, factors *fa);
rb_error fa_fixed_point(rb_context *ctx, factors *fa);

/* Noise variances may not be smaller. */
double fa_noise_min(const factors *fa, int64_t k);

/* ---- using a model (fa_use.c) ---- */

rb_error fa_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void fa_coder_free(void *coder);
rb_error fa_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error fa_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                 const rb_block *block, void *codes);
rb_error fa_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);

#endif
