/* The options of rectified factor networks, as the code has them; options.c has their rows. */
#ifndef RFN_OPTIONS_H
#define RFN_OPTIONS_H

#include <rarebit/method.h>
#include <rarebit/rfn.h>

typedef enum rb_rfn_normalize {
    RB_RFN_NORMALIZE_RMS = 0, /* each unit's mean square over the samples is 1: the paper's text */
    RB_RFN_NORMALIZE_SD,      /* divide by sqrt(variance + 1.01e-6), as the authors' program does */
    RB_RFN_NORMALIZE_NONE     /* rectify only ("RFNn") */
} rb_rfn_normalize;

/* diagonal: each feature has noise of its own. full: the noise of features is correlated, which
 * leaves less of the covariance for the units to explain; m^2 numbers, m^3 work an iteration. */
typedef enum rb_rfn_psi { RB_RFN_PSI_DIAGONAL = 0, RB_RFN_PSI_FULL } rb_rfn_psi;

typedef enum rb_rfn_mstep { RB_RFN_MSTEP_NEWTON = 0, RB_RFN_MSTEP_GRADIENT } rb_rfn_mstep;
typedef enum rb_rfn_psi_update { RB_RFN_PSI_OLD = 0, RB_RFN_PSI_NEW } rb_rfn_psi_update;

/* How codes are found. newton: rectify and normalise the posterior means, in one pass; the codes of
 * the paper's tables, but the objective may fall. The others go on from the codes of the iteration
 * before, which they keep in memory with what else they need (n_samples x units values, twice for
 * cyclic, three times for gradient, six times for cascade and five times for the others, and once
 * more for what a stopped fit goes back to), and never raise the E-step objective; they need
 * normalize rms or none. After the last iteration the codes are converged by cyclic sweeps.
 * docs/estep.md compares them. */
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
    RB_RFN_ESTEP_AUTO        /* cyclic, or newton where another option allows no other one; the
                              * model says which (attribute estep) */
} rb_rfn_estep;

/* How the rates eta and eta_psi fall with t, the iterations done. */
typedef enum rb_rfn_schedule {
    RB_RFN_SCHEDULE_CONSTANT = 0,
    RB_RFN_SCHEDULE_STEP,   /* times eta_factor after every eta_every iterations */
    RB_RFN_SCHEDULE_INVERSE /* over 1 + t / eta_every; t goes on from batch to batch */
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

/* What becomes of a posterior mean x before it is scaled. All but rectify at 0 are there because
 * the authors' program has them, and go with the E-step newton alone, which auto then takes. */
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

/* Options that belong together. */
typedef enum rb_rfn_preset {
    RB_RFN_PRESET_NONE = 0,
    RB_RFN_PRESET_PAPER,        /* the method as its paper has it */
    RB_RFN_PRESET_BICLUSTERING, /* sparse loadings, so that modules are found in noise */
    RB_RFN_PRESET_SPARSE        /* codes as sparse as those of newton, at lower errors */
} rb_rfn_preset;

typedef struct rb_rfn_options {
    int preset;                /* rb_rfn_preset: rules in options.c */
    int64_t units;             /* l, the number of hidden units */
    double eta;                /* learning rate of the loadings, in (0, 1] */
    double eta_psi;            /* learning rate of the noise variance; 0: the same as eta */
    int eta_schedule;          /* rb_rfn_schedule */
    int64_t eta_every;         /* iterations after which the rates fall */
    double eta_factor;         /* what they are multiplied by then; step only */
    double moment_decay;       /* what moments of the batches before are multiplied by */
    int normalize;             /* rb_rfn_normalize */
    int estep;                 /* rb_rfn_estep */
    int accept;                /* rb_rfn_accept, of the cascade */
    int64_t newton_iterations; /* the first so many iterations are with newton, then comes estep */
    /* While it is adapted, the figure prior_mean of rb_model_metric says what the prior mean was in
     * an iteration: where it differs from the one before, the objective may fall. */
    int64_t steer_iterations; /* for so many iterations after these the prior mean of all units is
                                  adapted to the target sparseness; 0: it stays */
    double target_sparseness; /* share of codes that are to be 0; 0: that of the newton iterations
                                  when estep takes over */
    double estep_tolerance; /* the last E-step goes on until no code changes by more than this times
                               the largest code; not for newton */
    int mstep;              /* rb_rfn_mstep: newton (Alg. 1) or gradient (S8.1) */
    int psi_update;         /* rb_rfn_psi_update: E from the old W (the paper's) or the new one */
    int noise;              /* rb_rfn_psi */
    double noise_decay;     /* full noise: share that its covariances lose in each M-step */
    double psi_min;         /* smallest noise variance, of full noise the smallest eigenvalue; 0:
                               a thousandth of the feature's variance, of full noise of the
                               smallest one of a feature */
    double psi_init;        /* noise variance at the start, at most the largest variance of a
                               feature; 0: each feature's own */
    double weight_max;      /* loadings are kept within [-weight_max, weight_max]; 0: no bound */
    double weight_init;     /* standard deviation of the loadings at the start; 0: a hundredth of
                               the feature's standard deviation */
    double sparse_loadings; /* c: from iteration 51 on, shrink loadings by eta c standard errors;
                               0: no */
    double weight_decay;    /* g: after each M-step W <- W - g W (Alg. S8, Gaussian) */
    double weight_decay_laplace; /* and the soft threshold by this much (Laplacian) */
    double dropout;           /* probability that a code is 0 in an E-step; not in the last one */
    int dropout_place;        /* rb_rfn_dropout_place */
    int input_noise;          /* rb_rfn_noise; not in the last E-step. Of sparse samples only
                                   masking, which hides stored values */
    double input_noise_level; /* share of values replaced, or standard deviation */
    double momentum;          /* share of the step before that is added to a step */
    int activation;           /* rb_rfn_activation */
    double activation_threshold; /* of rectify */
    double activation_slope;     /* of leaky, below 0 */
    rb_values prior_mean; /* xi, the mean of the hidden units before data, one number or one for
                               each unit; negative makes codes sparser. With sparse_loadings it is 0
                               for 50 iterations and grows over the next 20, as long as at most 1 %
                               of the samples are without an active unit (E-steps but newton) */
    rb_values prior_covariance; /* M, their covariance: one variance, or one for each unit, or units
                                   x units */
} rb_rfn_options;

extern const rb_option rfn_option_rows[];
extern const rb_option_rule rfn_option_rules[]; /* presets */

#endif
