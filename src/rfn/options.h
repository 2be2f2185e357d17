/* The options of rectified factor networks, as the code has them: rarebit/rfn.h says what they are,
 * options.c has their rows. */
#ifndef RFN_OPTIONS_H
#define RFN_OPTIONS_H

#include <rarebit/method.h>
#include <rarebit/rfn.h>

typedef enum rb_rfn_normalize {
    RB_RFN_NORMALIZE_RMS = 0, /* each unit's mean square over the samples is 1: the paper's text */
    RB_RFN_NORMALIZE_SD,      /* divide by sqrt(variance + 1.01e-6), as the authors' program does */
    RB_RFN_NORMALIZE_NONE     /* rectify only ("RFNn") */
} rb_rfn_normalize;

typedef enum rb_rfn_psi { RB_RFN_PSI_DIAGONAL = 0, RB_RFN_PSI_FULL } rb_rfn_psi;
typedef enum rb_rfn_mstep { RB_RFN_MSTEP_NEWTON = 0, RB_RFN_MSTEP_GRADIENT } rb_rfn_mstep;
typedef enum rb_rfn_psi_update { RB_RFN_PSI_OLD = 0, RB_RFN_PSI_NEW } rb_rfn_psi_update;

/* What the M-step moves: Psi (Clevert et al. 2015, eq. 132), or Psi^-1 (eq. 121). */
typedef enum rb_rfn_psi_step {
    RB_RFN_PSI_STEP_VARIANCE = 0,
    RB_RFN_PSI_STEP_PRECISION
} rb_rfn_psi_step;
/* Loadings at the start: N(0, sd^2), or between -sd and sd (Alg. S2). */
typedef enum rb_rfn_start { RB_RFN_START_NORMAL = 0, RB_RFN_START_UNIFORM } rb_rfn_start;
/* The length of a gradient step: 0.999 / e_max(P), or the first of beta^t that is good enough. */
typedef enum rb_rfn_length {
    RB_RFN_LENGTH_FIXED = 0,
    RB_RFN_LENGTH_HALF,
    RB_RFN_LENGTH_TENTH
} rb_rfn_length;

typedef enum rb_rfn_estep {
    RB_RFN_ESTEP_NEWTON = 0,
    RB_RFN_ESTEP_GRADIENT,   /* a projected gradient step */
    RB_RFN_ESTEP_CYCLIC,     /* exact minimisation over one unit after the other */
    RB_RFN_ESTEP_ANNEALED,   /* towards the projected posterior means, as far as O falls (S9.5.3) */
    RB_RFN_ESTEP_REDUCED,    /* Newton's step in the units of each sample that are free to move */
    RB_RFN_ESTEP_GRG,        /* generalized reduced gradient */
    RB_RFN_ESTEP_ROSEN,      /* Rosen's gradient projection */
    RB_RFN_ESTEP_HAUG_ARORA, /* the same with the restoration of Haug and Arora */
    RB_RFN_ESTEP_CASCADE,    /* all of these in turn (Alg. S3), until `accept` is met */
    RB_RFN_ESTEP_AUTO        /* until rfn_resolve */
} rb_rfn_estep;

typedef enum rb_rfn_schedule {
    RB_RFN_SCHEDULE_CONSTANT = 0,
    RB_RFN_SCHEDULE_STEP,
    RB_RFN_SCHEDULE_INVERSE
} rb_rfn_schedule;

/* Noise on the samples that codes are found from; moments with the samples have them clean. */
typedef enum rb_rfn_noise {
    RB_RFN_NOISE_NONE = 0,
    RB_RFN_NOISE_MASKING,         /* a value becomes 0, the mean of its feature after centring */
    RB_RFN_NOISE_SALT_AND_PEPPER, /* the least or the largest one of its feature */
    RB_RFN_NOISE_GAUSSIAN         /* N(0, level^2) is added */
} rb_rfn_noise;

/* Dropout before codes are scaled (Alg. S9) or after (the authors' program). */
typedef enum rb_rfn_dropout_place {
    RB_RFN_DROPOUT_BEFORE = 0,
    RB_RFN_DROPOUT_AFTER
} rb_rfn_dropout_place;

/* What becomes of a posterior mean. Nothing is promised of any but max(0, x). */
typedef enum rb_rfn_activation {
    RB_RFN_ACTIVATION_RECTIFY = 0, /* max(activation_threshold, x) */
    RB_RFN_ACTIVATION_LEAKY,       /* x, or activation_slope x below 0 */
    RB_RFN_ACTIVATION_SIGMOID,     /* 1 / (1 + exp(-x)) */
    RB_RFN_ACTIVATION_TANH
} rb_rfn_activation;

/* Which candidate of the cascade is good enough. */
typedef enum rb_rfn_accept {
    RB_RFN_ACCEPT_GRADIENT = 0, /* lowers O at least as much as a gradient step; else that step */
    RB_RFN_ACCEPT_ANY           /* any decrease, as the paper has it */
} rb_rfn_accept;

typedef enum rb_rfn_preset {
    RB_RFN_PRESET_NONE = 0,
    RB_RFN_PRESET_PAPER,
    RB_RFN_PRESET_BICLUSTERING,
    RB_RFN_PRESET_SPARSE
} rb_rfn_preset;

/* The rows say what an option does, and what 0 stands for. */
typedef struct rb_rfn_options {
    int preset;                  /* rb_rfn_preset: rules in options.c */
    int64_t units;               /* l */
    double eta, eta_psi;         /* learning rates of the loadings, in (0, 1], and of the noise */
    int eta_schedule;            /* rb_rfn_schedule: mstep.c */
    int64_t eta_every;           /* iterations after which the rates fall */
    double eta_factor;           /* what they are multiplied by then */
    double moment_decay;         /* what moments of the batches before are multiplied by */
    int normalize;               /* rb_rfn_normalize */
    int estep;                   /* rb_rfn_estep */
    int accept;                  /* rb_rfn_accept */
    int gradient_search;         /* rb_rfn_length */
    int64_t newton_iterations;   /* the first so many iterations are with newton */
    int64_t steer_iterations;    /* after these the prior mean is adapted in so many: adapt.c */
    double target_sparseness;    /* share of codes that are to be 0 */
    double estep_tolerance;      /* of codes that come to rest, a share of the largest */
    int mstep;                   /* rb_rfn_mstep */
    int psi_update;              /* rb_rfn_psi_update: E from the old W, or the new one */
    int psi_step;                /* rb_rfn_psi_step */
    int noise;                   /* rb_rfn_psi */
    double noise_decay;          /* share that covariances lose in each M-step */
    double psi_min;              /* smallest noise variance, of full noise eigenvalue */
    double psi_init;             /* noise variance at the start */
    double weight_max;           /* loadings are kept within it; -1: a rule */
    double weight_init;          /* standard deviation of the loadings at the start */
    int weight_start;            /* rb_rfn_start */
    double sparse_loadings;      /* c: loadings shrink by eta c standard errors */
    double weight_decay;         /* g: W <- W - g W (Alg. S8, Gaussian) */
    double weight_decay_laplace; /* and the soft threshold by this much (Laplacian) */
    double dropout;              /* probability that a code is 0; not in the last E-step */
    int dropout_place;           /* rb_rfn_dropout_place */
    int input_noise;             /* rb_rfn_noise; not in the last E-step */
    double input_noise_level;    /* share of values replaced, or standard deviation */
    double momentum;             /* share of the step before that is added to a step */
    int activation;              /* rb_rfn_activation */
    double activation_threshold, activation_slope; /* of rectify; of leaky */
    rb_values prior_mean, prior_covariance;        /* xi; M */
} rb_rfn_options;

extern const rb_option rfn_option_rows[];
extern const rb_option_rule rfn_option_rules[]; /* presets */

#endif
