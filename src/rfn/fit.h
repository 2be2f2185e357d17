/* A fit of an RFN while it runs: its parts, each with a table of its arrays in fit.c. What an
 * iteration takes from the one before is parameters, codes, progress, and the sums of batches;
 * everything else may be thrown away between iterations. Private to src/rfn. */
#ifndef RB_RFN_FIT_H
#define RB_RFN_FIT_H

#include "engine.h"
#include "objective.h"
#include "rfn/estep/persistent.h"

/* The prior mean while it is adapted: adapt.c. */
typedef struct rfn_adaptation {
    double rho, target; /* 0 before the first turn */
    double before;      /* sparseness of the codes of the E-step before the last one */
    double ceiling;     /* rho is to stay below */
    int64_t singletons; /* units that had one sample at most in the beginning */
} rfn_adaptation;

/* Whatever else an iteration takes from the one before. */
typedef struct rfn_progress {
    int64_t iteration;    /* M-steps done or begun */
    double *scale;        /* l: what codes are divided by */
    bool *alive;          /* l: a posterior mean of the last pass was positive */
    double prior_share;   /* of the prior mean that is there: sparse_loadings.c */
    bool prior_stays;     /* and does it grow no more? */
    double shrink_factor; /* by which loadings are shrunk more than was asked for */
    rfn_cascade cascade;
    rfn_adaptation adaptation;
    rb_dense velocity; /* m x l: what momentum goes on with */
    bool last;         /* no M-step follows; in no checkpoint */
} rfn_progress;

/* Learning rates of the M-step at hand: mstep.c. */
typedef struct rfn_rates {
    double eta, eta_psi;
    bool noise_waits;  /* it leaves the noise variance to a later one */
    double noise_rest; /* what the updates that wait would leave of the old one */
} rfn_rates;

typedef struct rfn_scratch {
    rb_dense work;               /* m x l: Psi^-1 W, then (half of) W S */
    rb_dense hessian;            /* l x l lower: P; only when traced */
    rb_spd *factor;              /* of S */
    double *cross;               /* m: u_k . w_k with the new W */
    double *quadratic;           /* m: w_k' S w_k with the new W */
    void *row, *factors, *zeros; /* l of the type */
    int64_t *positive;           /* l: samples in which a unit is active */
    double *signals;             /* l: w_j' Psi^-1 w_j */
    uint8_t *marks;              /* l: sparse_loadings.c */
    rb_dense error, inverse;     /* full noise: E and Psi^-1, m x m in float64 */
    double noise_product;        /* full noise: <Psi^-1, E> after the M-step */
    rfn_rates rates;
} rfn_scratch;

typedef struct rfn_fit {
    rfn_setup setup;
    rfn_parameters parameters;
    rfn_survey survey;
    rfn_sums sums;
    rfn_codes codes;
    rfn_progress progress;
    rfn_posterior posterior; /* its filter holds U S^-1 during the M-step */
    rfn_moments moments;
    rfn_scratch scratch;
    rfn_persistent persistent;
    void *engine;       /* of setup.problem.engine; NULL: this fit has no newton E-step */
    rfn_device *device; /* does all that in their place; or NULL */
} rfn_fit;

/* Does the E-step at hand go on from the codes of the one before? */
static inline bool rfn_goes_on(const rfn_setup *setup, const rfn_progress *progress) {
    return setup->options.estep != RB_RFN_ESTEP_NEWTON &&
           (progress->iteration >= setup->options.newton_iterations || progress->last);
}

/* Does it keep codes? So does newton where values are missing. */
static inline bool rfn_persists(const rfn_setup *setup, const rfn_progress *progress) {
    return setup->problem.missing || rfn_goes_on(setup, progress);
}

/* The diagonal of C: what the data say, and what is missing is expected to say. */
static inline const double *rfn_second(const rfn_fit *fit) {
    return fit->setup.problem.missing ? fit->persistent.missing.second : fit->survey.second;
}

/* ---- fit.c: the life of a fit ---- */

extern const rb_part rfn_parts[];
void rfn_shape(const rb_problem *problem, const void *options, rb_shape *shape);
int64_t rfn_memory(const rb_problem *problem, const void *options);
rb_error rfn_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state);
void rfn_finish(void *state);
rb_error rfn_survey_block(rb_context *ctx, void *state, const rb_block *block);
rb_error rfn_survey_end(rb_context *ctx, void *state);
rb_error rfn_store(rb_context *ctx, void *state, rb_model *model);
/* Of acceleration: parameters and codes were moved; is the next iteration like the last one? */
void rfn_project_moved(rb_context *ctx, void *state);
bool rfn_is_steady(const void *state);
/* The smallest noise variance of a feature, once its variance is known. */
double rfn_noise_floor(const rfn_setup *setup, const rfn_survey *survey, int64_t k);

/* ---- check.c: options that cannot be had together ---- */

/* What options leave to the problem (rb_method.resolve). */
void rfn_resolve(rb_problem *problem, void *options);
rb_error rfn_check(rb_context *ctx, const rb_problem *problem, const rb_rfn_options *options);
/* May several processes fit with these options (rb_method.spreads)? */
rb_error rfn_spreads(rb_context *ctx, const rb_problem *problem, const void *options);

/* ---- moments.c ---- */

/* From sums over samples to U, S, mean and scales. */
rb_error rfn_normalize(rb_context *ctx, rfn_fit *fit);
/* dead.c: overwrites what U, S (Sigma not yet added) and mean have for dead units. */
rb_error rfn_share_candidates(rb_context *ctx, const rb_problem *problem,
                              const rfn_progress *progress, rfn_sums *sums);
void rfn_place_dead(const rfn_sums *sums, const rfn_progress *progress, rfn_moments *moments);

/* ---- mstep.c, and its other parts ---- */

rb_error rfn_mstep(rb_context *ctx, void *state);
/* M-steps that make an iteration. */
int64_t rfn_msteps_an_iteration(const rfn_setup *setup);
/* Row k within [-bound, bound]; 0: no bound. */
void rfn_clamp_row(rb_dense w, int64_t k, double bound);

/* full_noise.c, where the noise is full: C, block by block; what Psi begins with, once C is there;
 * its part of the M-step before and after that of W. */
rb_error rfn_full_noise_survey(rb_context *ctx, const rfn_setup *setup, const rb_block *block,
                               rfn_survey *survey);
rb_error rfn_full_noise_begin(rb_context *ctx, const rfn_setup *setup, rfn_survey *survey,
                              rfn_parameters *parameters);
rb_error rfn_full_noise_before(rb_context *ctx, rfn_fit *fit);
rb_error rfn_full_noise_after(rb_context *ctx, rfn_fit *fit);

/* merge.c: is it time, before an E-step, to look for units that have become the same; then one of
 * them gets the loadings of both. */
bool rfn_merges_units(const rfn_fit *fit);
rb_error rfn_merge_units(rb_context *ctx, rfn_fit *fit);

/* sparse_loadings.c: is the fit still to leave its start, without shrinking and prior mean, or are
 * loadings only beginning to be shrunk, the prior mean to grow; the prior mean of the iteration;
 * does the M-step at hand shrink loadings, and those of a row by how much. */
bool rfn_still_begins(const rfn_fit *fit);
/* Says so of a fit that has ended. */
void rfn_report_shrinking(rb_context *ctx, const rfn_fit *fit, int64_t iterations);
void rfn_hold_prior_back(rb_context *ctx, rfn_fit *fit);
bool rfn_shrinks(const rfn_fit *fit);
/* Puts the iteration from which loadings were shrunk, from 1, into the model; none: nothing. */
rb_error rfn_store_shrinking(rb_context *ctx, const rfn_setup *setup, rb_model *model);
double rfn_shrink_threshold(const rfn_fit *fit, int64_t k);

/* ---- adapt.c: the prior mean by the sparseness of codes ---- */

static inline bool rfn_adapts(const rb_rfn_options *options) {
    return options->steer_iterations > 0;
}
/* Before an E-step. */
void rfn_adapt_prior(rb_context *ctx, rfn_fit *fit);
/* Is the certificate of the codes at hand wanted? Then it bounds how far the prior mean goes. */
bool rfn_looks_at_certificate(const rfn_setup *setup, const rfn_progress *progress);
void rfn_bound_adaptation(double certificate, rfn_adaptation *adaptation);
/* Has it been adapted for long enough? */
bool rfn_may_stop(const void *state);
/* Says what became of it. */
void rfn_report_adaptation(rb_context *ctx, const rfn_fit *fit);
/* In how many samples, of all processes, each unit (a row of the codes) is active. */
void rfn_count_positive(rb_context *ctx, rb_dense codes, int64_t *positive);

/* ---- objective.c ---- */

void rfn_objective(void *state, double *objective, double *estep_objective);

#endif
