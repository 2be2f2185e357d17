/* What a fit of an RFN keeps while it runs. Private to src/rfn. */
#ifndef RB_RFN_STATE_H
#define RB_RFN_STATE_H

#include "activation.h"
#include "full_noise.h"
#include "rfn.h"
#include "rfn/estep/estep.h"
#include "tasks.h"

/* A sample that a dying unit would be left with: see degenerate.c. */
typedef struct rfn_candidate {
    int64_t sample; /* below 0: none yet */
    double largest; /* the unit's posterior mean there */
    void *row;      /* the sample, m of the type; NULL until needed */
    void *codes;    /* its rectified codes before scaling, l of the type */
} rfn_candidate;

/* What is known of each unit's codes over the samples of the pass, before scaling. */
typedef struct rfn_units {
    double *sum;
    bool *alive;               /* a posterior mean was positive */
    rfn_candidate *candidates; /* only of units that are not alive */
    double *scale;             /* what codes are divided by; set at the end of the pass */
} rfn_units;

/* Codes that stay in memory, for the E-steps that go on from them: estep/held.c, improve.c. */
typedef struct rfn_held {
    rfn_quadratic problem;
    rfn_search search; /* with the codes */
    rfn_work work;
    rfn_cascade cascade;
    rb_rfn_stage stage;  /* what moved the codes in this iteration */
    bool filled;         /* codes are there */
    bool adds_moments;   /* the pass at hand is the second */
    bool last;           /* the E-step is to converge */
    double residual;     /* KKT residual: of a traced iteration, and after the last E-step */
    double *multipliers; /* of the codes at hand */
    /* After the last E-step. */
    bool converged;
    bool *dead;
    bool *explains; /* scratch of sparse_loadings.c */
    double certificate;
} rfn_held;

/* The prior mean while it is steered: steer.c. */
typedef struct rfn_steering {
    double rho, target; /* 0 before the first turn */
    double sparseness;  /* of the codes of the last E-step, and of the one before */
    double before;
    double ceiling;    /* rho is to stay below */
    int64_t lonely;    /* units that had one sample at most in the beginning */
    int64_t *positive; /* l: scratch */
} rfn_steering;

/* Input noise: corrupt.c. */
typedef struct rfn_noise {
    uint64_t key;       /* of the pass */
    uint32_t threshold; /* a value whose random word is below is replaced */
    rb_dense rows;      /* of a block */
    void *values;       /* of a sparse block */
    int64_t room;
    void *least, *most; /* of each feature, m of the type; salt-and-pepper only */
} rfn_noise;

/* Dropout of codes: dropout.c. */
typedef struct rfn_dropout {
    uint64_t key;
    uint32_t threshold;
    double *task_sum, *task_squares; /* l a task: of all codes, before any is dropped */
    double *sum, *squares;           /* l: over the samples of the pass */
} rfn_dropout;

typedef struct rfn_state {
    rb_problem problem;
    rb_rfn_options options;
    rfn_parameters parameters;
    rfn_posterior posterior; /* its filter holds U S^-1 during the M-step */
    double *second;          /* m: diagonal of C = V'V / n */
    double noise_max;        /* largest of second; 0 before the first pass */
    double eta, eta_psi;     /* of the M-step at hand: schedule.c */
    bool noise_waits;        /* it leaves the noise variance to a later one */
    double noise_rest;       /* what the updates that wait would leave of the old one */
    int64_t iteration;       /* M-steps done or begun */
    bool warm;               /* started from a model */
    double prior_share;      /* of the prior mean that is there: sparse_loadings.c */
    bool prior_stays;        /* and does it grow no more? */
    double shrink_factor;    /* by which loadings are shrunk more than was asked for */
    rfn_activation activation;

    /* One pass of the E-step. */
    rb_dense work;                   /* m x l: Psi^-1 W, then (half of) W S */
    rb_dense codes;                  /* of a block: block_samples x l */
    rb_dense linear;                 /* V Psi^-1 W of a block, where the filter is factored */
    void *offset;                    /* l of the type: what is added to V B */
    bool has_offset;                 /* this pass has computed it */
    double *task_sum, *task_largest; /* l a task */
    const double *shift; /* of a sparse source: the value is stored - shift; NULL: dense or 0 */
    rfn_units units;
    rfn_held held; /* not of the newton E-step */
    rfn_steering steering;
    rfn_noise noise;
    rfn_dropout dropout;
    uint32_t *words; /* of each thread: room for a row of random words, or NULL */
    rfn_full_noise full_noise;
    int64_t *transposed_starts; /* sparse: the block by columns */
    int32_t *transposed_columns;
    void *transposed_values;
    int64_t transposed_room;

    /* Moments, ready after the pass. */
    rb_dense u;            /* U = V'mu / n, m x l */
    rb_dense s;            /* S = mu'mu / n + Sigma, l x l, full */
    rb_dense sum_u, sum_s; /* V'mu and mu'mu of rectified codes, decayed from batch to batch; the
                            * same memory as u and s when there are no batches */
    double weight;         /* samples in the sums, decayed likewise */
    double gain;           /* by which a sample of the pass at hand counts in sums and weight */
    rb_dense raw, hessian; /* mu_p'mu_p and P, l x l lower; only when traced */
    double *mean;          /* l: mean code */
    double product_a;      /* <M^-1, mu'mu / n> */
    double product_sigma;  /* <M^-1, Sigma> */
    double estep_objective;

    /* M-step. */
    rb_spd *factor;    /* of S */
    double *cross;     /* m: u_k . w_k with the new W */
    double *quadratic; /* m: w_k' S w_k with the new W */
    rb_dense velocity; /* m x l: what momentum goes on with; no data without */
    void *zeros;       /* max(m, l) zeros of the type */
    void *factors;     /* l of the type: scratch */
} rfn_state;

/* Does the E-step at hand go on from codes that are kept? */
static inline bool rfn_holds_codes(const rfn_state *st) {
    return st->options.estep != RB_RFN_ESTEP_NEWTON &&
           (st->iteration >= st->options.newton_iterations || st->held.last);
}

/* Are there newton E-steps? */
static inline bool rfn_has_newton(const rb_rfn_options *options) {
    return options->estep == RB_RFN_ESTEP_NEWTON || options->newton_iterations > 0;
}

/* Samples that an M-step follows. */
static inline int64_t rfn_batch_samples(const rb_problem *problem) {
    bool batches = problem->batch_samples > 0 && problem->batch_samples < problem->n_samples;
    return batches ? problem->batch_samples : problem->n_samples;
}

/* Is the filter of the posterior kept as its factors? Where samples are fewer than features, and by
 * E-steps that have no use for the product. */
static inline bool rfn_is_factored(const rb_problem *problem, int64_t units, bool holds_codes) {
    return units <= problem->n_features &&
           (rfn_batch_samples(problem) < problem->n_features || holds_codes);
}

/* check.c: options that cannot be had together. */
/* The E-step that auto stands for (rb_method.resolve). */
void rfn_resolve(const rb_problem *problem, void *options);
rb_error rfn_check(rb_context *ctx, const rb_problem *problem, const rb_rfn_options *options);

/* Does the E-step try candidates, one stage after the other? */
static inline bool rfn_tries_candidates(const rfn_state *state) {
    return state->options.estep > RB_RFN_ESTEP_CYCLIC;
}

/* start.c */
rb_error rfn_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state);
void rfn_finish(void *state);
/* The smallest noise variance of a feature, once its variance is known. */
double rfn_noise_floor(const rfn_state *st, int64_t k);
rb_error rfn_survey(rb_context *ctx, void *state, const rb_block *block);
rb_error rfn_store(rb_context *ctx, void *state, rb_model *model);

/* keep.c */
rb_error rfn_keep(void *state, rb_kept_fn fn, void *user);

/* settle.c */
rb_error rfn_check_acceleration(rb_context *ctx, const rb_problem *problem,
                                const rb_rfn_options *options);
void rfn_settle(rb_context *ctx, void *state);
/* Are codes held, and is the prior mean no longer steered? */
bool rfn_steady(const void *state);

/* estep/newton.c: from the data alone; nothing is kept. */
rb_error rfn_newton_begin(rb_context *ctx, rfn_state *state);
rb_error rfn_newton_block(rb_context *ctx, rfn_state *state, const rb_block *block);
rb_error rfn_newton_end(rb_context *ctx, rfn_state *state);

/* estep/held.c: every other E-step. */
rb_error rfn_held_new(rb_context *ctx, rfn_state *state);
void rfn_held_free(rfn_held *held);
rb_error rfn_held_begin(rb_context *ctx, rfn_state *state);
rb_error rfn_held_block(rb_context *ctx, rfn_state *state, const rb_block *block);
rb_error rfn_held_end(rb_context *ctx, rfn_state *state, bool *again);
/* How many l x n matrices an E-step keeps. */
int64_t rfn_held_matrices(rb_rfn_estep estep);
/* estep/improve.c: from Q and the codes at hand to the codes of this iteration. */
rb_error rfn_held_improve(rb_context *ctx, rfn_state *state);
/* Of a fit that was stopped: makes the multipliers of the codes at hand such that exact codes of
 * new samples exist with the parameters as they are. */
rb_error rfn_held_settle(rb_context *ctx, rfn_state *state);

/* moments.c: sums to 0; what the tasks of a block summed; adds V'mu and mu'mu of the block whose
 * codes are in state->codes. */
void rfn_clear_moments(rb_context *ctx, rfn_state *state);
void rfn_sum_tasks(rfn_state *state, int64_t tasks);
rb_error rfn_add_moments(rb_context *ctx, rfn_state *state, const rb_block *block);

/* batches.c: room for running moments; by what they are decayed now. */
rb_error rfn_batches_new(rb_context *ctx, rfn_state *state);
void rfn_batches_free(rfn_state *state);
bool rfn_in_batches(const rfn_state *state);
void rfn_decay_moments(rb_context *ctx, rfn_state *state);

/* schedule.c: M-steps that make an iteration; iterations begun before the M-step at hand; its
 * rates. */
int64_t rfn_msteps_an_iteration(const rfn_state *state);
void rfn_set_rates(rfn_state *state);

/* degenerate.c; seen: the block that posterior means came from. */
rb_error rfn_note_dying(rb_context *ctx, rfn_state *state, const rb_block *block,
                        const rb_block *seen);
void rfn_place_dying(rfn_state *state);

/* normalize.c: from raw sums to U, S, mean and scales. */
rb_error rfn_normalize(rb_context *ctx, rfn_state *state);

/* sparse_loadings.c: is the fit still to leave its start, without shrinking and prior mean; the
 * prior mean of the iteration; does this M-step shrink loadings, and how a row is shrunk. */
bool rfn_is_free(const rfn_state *state);
/* Is it, or does the prior mean still grow? */
bool rfn_still_begins(const rfn_state *state);
void rfn_hold_prior_back(rfn_state *state);
bool rfn_shrinks(const rfn_state *state);
void rfn_shrink_row(const rfn_state *state, int64_t k);

/* full_noise.c, where the noise is full: memory; C, block by block; what Psi begins with, once C is
 * there; its part of the M-step before and after that of W. */
rb_error rfn_full_noise_new(rb_context *ctx, rfn_state *state);
void rfn_full_noise_free(rfn_full_noise *full);
rb_error rfn_full_noise_survey(rb_context *ctx, rfn_state *state, const rb_block *block);
rb_error rfn_full_noise_begin(rb_context *ctx, rfn_state *state);
rb_error rfn_full_noise_before(rb_context *ctx, rfn_state *state);
rb_error rfn_full_noise_after(rb_context *ctx, rfn_state *state);

/* steer.c: whether the prior mean is steered; before an E-step; whether it has been for long
 * enough; what became of it. */
bool rfn_steers(const rb_rfn_options *options);
rb_error rfn_check_steering(rb_context *ctx, int64_t iterations, const rb_rfn_options *options);
rb_error rfn_steering_new(rb_context *ctx, rfn_state *state);
void rfn_steer(rb_context *ctx, rfn_state *state);
/* Is the certificate of the codes at hand wanted? Then it bounds how far the prior mean goes. */
bool rfn_looks_at_certificate(const rfn_state *state);
void rfn_bound_steering(rfn_state *state);
bool rfn_may_stop(const void *state);
void rfn_report_steering(rb_context *ctx, const rfn_state *state);

/* randomness.c: room for it; the keys of the pass; the row of a worker; a share of all words. */
rb_error rfn_randomness_new(rb_context *ctx, rfn_state *state);
void rfn_randomness_begin(rfn_state *state);
uint32_t *rfn_worker_words(const rfn_state *state, int worker);
uint32_t rfn_random_threshold(double share);

/* corrupt.c: does this pass add noise, and where are the samples with it; then it is added to some
 * rows of the block. */
rb_error rfn_noise_new(rb_context *ctx, rfn_state *state);
void rfn_noise_free(rfn_noise *noise);
void rfn_noise_survey(rfn_state *state, const rb_block *block);
bool rfn_has_noise(const rfn_state *state);
rb_error rfn_noise_block(rb_context *ctx, rfn_state *state, const rb_block *block, rb_block *seen);
void rfn_noise_rows(rb_context *ctx, const rfn_state *state, const rb_block *block, int64_t first,
                    int64_t count, int worker);

/* dropout.c: does this pass drop codes; the codes of a task, the first of them of that sample; what
 * the tasks of a block summed. */
rb_error rfn_dropout_new(rb_context *ctx, rfn_state *state);
void rfn_dropout_free(rfn_dropout *dropout);
bool rfn_drops(const rfn_state *state);
void rfn_drop(rb_context *ctx, rfn_state *state, rb_dense codes, int64_t sample, int64_t task,
              int worker);
void rfn_dropout_sum(rfn_state *state, int64_t tasks);

/* decay.c: does this fit decay its loadings, and how a row does; the soft threshold of a row. */
bool rfn_decays(const rfn_state *state);
void rfn_decay_row(const rb_context *ctx, const rfn_state *state, int64_t k);
void rfn_soft_threshold(rb_dense w, int64_t k, double threshold);

/* momentum.c: the target of row k gets what is left of the steps before. */
rb_error rfn_momentum_new(rb_context *ctx, rfn_state *state);
void rfn_add_momentum(const rb_context *ctx, rfn_state *state, int64_t k, void *target);

/* mstep.c, objective.c */
rb_error rfn_mstep(rb_context *ctx, void *state);
void rfn_objective(void *state, double *objective, double *estep_objective);
/* O from the moments of the pass and the part of it that codes do not change. */
void rfn_trace_estep(rb_context *ctx, rfn_state *state, rb_dense p, double constant);

/* Is unit j dead: no posterior mean of the pass was positive? */
static inline bool rfn_is_dead(const rfn_state *state, int64_t j) {
    return !state->units.alive[j];
}

/* Is this the E-step after the last M-step? It has no noise and drops nothing. */
static inline bool rfn_is_last(const rfn_state *state) {
    return state->held.last;
}

#endif
