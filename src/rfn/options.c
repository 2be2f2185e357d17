/* The option table of rectified factor networks. */
#include "options.h"

#include <float.h>
#include <stddef.h>

const rb_option rfn_option_rows[] = {
    {"preset", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, preset), "none", 0, 0,
     "none|paper|biclustering|sparse", "NAME",
     "take the options that suit a purpose, where not given: paper is the method as its paper has "
     "it (--estep newton, --sparse-loadings 0, --prior-mean 0, --eta 0.1, --iterations 1000, and "
     "numbers for --psi-init, --psi-min, --weight-init); biclustering is that with modules that "
     "stand out of noise (--sparse-loadings 1.5, --psi-init 1e9, --iterations 400, --restarts 3); "
     "sparse is that with codes as sparse at lower errors (--estep cyclic, --newton-iterations "
     "500, --steer-iterations 250, --iterations 850)",
     RB_OPTION_COMMON},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(rb_rfn_options, units), "10", 1, 1e9, NULL, "N",
     "number of hidden units", RB_OPTION_COMMON},
    {"eta", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, eta), "0.5", DBL_MIN, 1, NULL, "RATE",
     "learning rate of the loadings"},
    {"eta-psi", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, eta_psi), "0", 0, 1, NULL, "RATE",
     "learning rate of the noise variance (0: the same as --eta)"},
    {"eta-schedule", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, eta_schedule), "constant", 0, 0,
     "constant|step|inverse", "HOW",
     "how both rates fall: not at all, times --eta-factor after every --eta-every iterations, or "
     "as 1 / (1 + t / --eta-every)",
     RB_OPTION_RESEARCH},
    {"eta-every", 0, RB_OPTION_INTEGER, offsetof(rb_rfn_options, eta_every), "50", 1, 1e15, NULL,
     "N", "iterations after which rates fall", RB_OPTION_RESEARCH, .needs = "eta-schedule"},
    {"eta-factor", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, eta_factor), "0.5", DBL_MIN, 1,
     NULL, "F", "what rates are multiplied by (--eta-schedule step)", RB_OPTION_RESEARCH,
     .needs = "eta-schedule=step"},
    {"moment-decay", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, moment_decay), "0.9", 0, 1, NULL,
     "D", "what the moments of the batches before are multiplied by (--batch-size)",
     RB_OPTION_RESEARCH, .needs = "batch-size"},
    {"normalize", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, normalize), "rms", 0, 0,
     "rms|sd|none", "HOW",
     "scale of each unit's codes: mean square 1 (the paper's text), variance 1 (the authors' "
     "program), or none",
     RB_OPTION_RESEARCH},
    {"estep", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, estep), "auto", 0, 0,
     "newton|gradient|cyclic|annealed|reduced|grg|rosen|haug-arora|cascade|auto", "STEP",
     "how codes are found: newton gives the paper's codes in one pass; the others keep all codes "
     "in memory and never raise the E-step objective; cyclic gets furthest for its cost; auto is "
     "cyclic, or newton beside options that only newton can have, such as --batch-size"},
    {"accept", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, accept), "gradient", 0, 0,
     "gradient|any", "WHAT",
     "which step of --estep cascade is good enough: one that lowers its objective as much as a "
     "gradient step does, or any decrease (the paper's)",
     RB_OPTION_RESEARCH, .needs = "estep=cascade"},
    {"gradient-search", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, gradient_search), "none", 0,
     0, "none|half|tenth", "HOW",
     "step length of --estep gradient: one that always lowers its objective, or the first of 1, "
     "1/2, 1/4, ... or 1, 1/10, ... that lowers it enough",
     RB_OPTION_RESEARCH, .needs = "estep=gradient"},
    {"newton-iterations", 0, RB_OPTION_INTEGER, offsetof(rb_rfn_options, newton_iterations), "0", 0,
     1e15, NULL, "N", "begin with so many iterations of newton, then comes --estep",
     RB_OPTION_RESEARCH},
    {"steer-iterations", 0, RB_OPTION_INTEGER, offsetof(rb_rfn_options, steer_iterations), "0", 0,
     1e15, NULL, "N",
     "for so many iterations after these steer the prior mean to --target-sparseness (0: never)",
     RB_OPTION_RESEARCH},
    {"target-sparseness", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, target_sparseness), "0", 0,
     0.9999, NULL, "SHARE",
     "share of the codes that are to be 0, such as 0.75; takes --preset sparse (0: the share that "
     "the newton iterations reach)"},
    {"estep-tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, estep_tolerance), "1e-6", 0,
     1, NULL, "T", "how far the last E-step goes on (not for newton)", RB_OPTION_RESEARCH},
    {"mstep", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, mstep), "newton", 0, 0,
     "newton|gradient", "STEP", "form of the M-step", RB_OPTION_RESEARCH},
    {"psi-update", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, psi_update), "old", 0, 0,
     "old|new", "W", "noise variance from the loadings before the M-step (the paper's) or after",
     RB_OPTION_RESEARCH},
    {"psi-step", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, psi_step), "variance", 0, 0,
     "variance|precision", "OF",
     "what an M-step moves towards its best value by --eta-psi: the noise variance, or its inverse",
     RB_OPTION_RESEARCH, .needs = "mstep=newton"},
    {"noise", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, noise), "diagonal", 0, 0,
     "diagonal|full", "KIND",
     "noise of each feature on its own, or with covariances between features (features x features "
     "numbers)"},
    {"noise-decay", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, noise_decay), "0", 0, 1, NULL,
     "SHARE", "full noise: take this share off its covariances after each M-step",
     RB_OPTION_RESEARCH},
    {"psi-min", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, psi_min), "0", 0, DBL_MAX, NULL,
     "VARIANCE",
     "smallest noise variance (of full noise: eigenvalue; 0: a thousandth of the feature's "
     "variance)"},
    {"psi-init", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, psi_init), "0", 0, DBL_MAX, NULL,
     "VARIANCE",
     "noise variance at the start, up to the largest variance of a feature (0: the "
     "feature's own)",
     RB_OPTION_RESEARCH},
    {"weight-max", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, weight_max), "0", -1, DBL_MAX,
     NULL, "BOUND",
     "keep loadings within this bound (0: no bound; -1: ten times the largest standard deviation "
     "of "
     "a feature)",
     RB_OPTION_RESEARCH},
    {"weight-init", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, weight_init), "0", 0, DBL_MAX,
     NULL, "SD",
     "standard deviation of the loadings at the start (0: a hundredth of the feature's)",
     RB_OPTION_RESEARCH},
    {"weight-start", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, weight_start), "normal", 0, 0,
     "normal|uniform", "HOW",
     "loadings at the start: normal with the standard deviation --weight-init, or uniform between "
     "minus and plus that",
     RB_OPTION_RESEARCH},
    {"sparse-loadings", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, sparse_loadings), "1.5", 0,
     DBL_MAX, NULL, "C",
     "from iteration 51 shrink loadings by C standard errors, so that most become 0 (0: never)"},
    {"weight-decay", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, weight_decay), "0", 0, 1, NULL,
     "G", "after each M-step take this share off every loading (Gaussian decay)",
     RB_OPTION_RESEARCH},
    {"weight-decay-laplace", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, weight_decay_laplace),
     "0", 0, DBL_MAX, NULL, "G",
     "after each M-step move every loading towards 0 by this much (Laplacian decay)",
     RB_OPTION_RESEARCH},
    {"dropout", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, dropout), "0", 0, 0.999, NULL, "P",
     "let each code of each sample be 0 with this probability in every E-step but the last",
     RB_OPTION_RESEARCH},
    {"dropout-place", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, dropout_place), "before", 0, 0,
     "before|after", "WHEN",
     "drop codes before they are scaled (the paper) or after (the authors' program)",
     RB_OPTION_RESEARCH, .needs = "dropout"},
    {"input-noise", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, input_noise), "none", 0, 0,
     "none|masking|salt-and-pepper|gaussian", "KIND",
     "find codes from samples with noise that they learn to undo: values become 0, become the "
     "least or largest one of their feature, or get a normal number added",
     RB_OPTION_RESEARCH},
    {"input-noise-level", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, input_noise_level), "0", 0,
     DBL_MAX, NULL, "LEVEL",
     "share of the values that become others, or standard deviation of gaussian noise",
     RB_OPTION_RESEARCH},
    {"momentum", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, momentum), "0", 0, 0.999, NULL, "P",
     "share of the loadings' step before that is added to a step", RB_OPTION_RESEARCH},
    {"activation", 0, RB_OPTION_CHOICE, offsetof(rb_rfn_options, activation), "rectify", 0, 0,
     "rectify|leaky|sigmoid|tanh", "NAME",
     "what becomes of a posterior mean; only rectify has the paper's theory", RB_OPTION_RESEARCH},
    {"activation-threshold", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, activation_threshold),
     "0", -DBL_MAX, DBL_MAX, NULL, "T", "rectify: means below this become this",
     RB_OPTION_RESEARCH},
    {"activation-slope", 0, RB_OPTION_NUMBER, offsetof(rb_rfn_options, activation_slope), "0.01", 0,
     1, NULL, "S", "leaky: what means below 0 are multiplied by", RB_OPTION_RESEARCH,
     .needs = "activation=leaky"},
    {"prior-mean", 0, RB_OPTION_VALUES, offsetof(rb_rfn_options, prior_mean), "-0.5", -DBL_MAX,
     DBL_MAX, NULL, "MEAN",
     "prior mean of every unit; below 0 codes are sparser, and units that explain too little die"},
    {"prior-covariance", 0, RB_OPTION_VALUES, offsetof(rb_rfn_options, prior_covariance), "1",
     DBL_MIN, DBL_MAX, NULL, "VARIANCE",
     "prior variance of every unit; or a file of units x units covariances", RB_OPTION_RESEARCH},
    {0},
};

/* paper: Clevert et al. 2015, Alg. 1, with the numbers of its experiments (supplement S11).
 *
 * A standard error of loadings off the true noise lets too little through, or too much: for
 * biclustering the noise begins as large as the data allow (start.c bounds it) and comes down. */
const rb_option_rule rfn_option_rules[] = {
    {"target-sparseness", "preset=sparse"},
    {"preset=paper", "estep=newton eta=0.1 psi-init=0.1 psi-min=0.01 weight-init=0.01 prior-mean=0 "
                     "sparse-loadings=0 iterations=1000"},
    {"preset=biclustering",
     "estep=newton eta=0.1 psi-init=1e9 psi-min=0.01 weight-init=0.01 prior-mean=0 "
     "sparse-loadings=1.5 iterations=400 restarts=3"},
    {"preset=sparse",
     "estep=cyclic eta=0.1 psi-init=0.1 psi-min=0.01 weight-init=0.01 prior-mean=0 "
     "sparse-loadings=0 newton-iterations=500 steer-iterations=250 iterations=850"},
    {0},
};
