/* What an RFN does with a block of samples: sums of the newton E-step. Private to src/rfn.
 *
 * The engines (rb_engine) of the newton E-step see parameters, and sums that they add to; who
 * normalises the sums and makes the M-step does not know them. */
#ifndef RB_RFN_ENGINE_H
#define RB_RFN_ENGINE_H

#include "posterior.h"
#include "tasks.h"

/* What is fixed for a fit. */
typedef struct rfn_setup {
    rb_problem problem;
    rb_rfn_options options;
    bool warm; /* started from a model */
} rfn_setup;

/* What the data are, before the first iteration. */
typedef struct rfn_survey {
    double *second;       /* m: diagonal of C = V'V / n, once it has ended; of what is there */
    double *observed;     /* m: values that are there, where some are missing */
    rb_dense full_second; /* C, m x m in float64: full noise */
    double full_max;      /* the largest eigenvalue of C: full noise */
    void *min, *max;      /* m of the type: the range of each feature, for input noise */
    double noise_max;     /* largest of second; 0 before the end */
    double weight_max;    /* of the loadings; 0: no bound */
    const double *shift;  /* the value is stored - shift; NULL: stored */
} rfn_survey;

/* Sums over samples of rectified codes before scaling. */
typedef struct rfn_sums {
    rb_dense u;    /* V'mu, m x l, with samples as they are stored */
    rb_dense s;    /* mu'mu, l x l, lower */
    double *codes; /* l */
    double weight; /* samples */
    double gain;   /* what every addition is multiplied by (RB_SUM_GAIN) */
    bool *active;  /* l: a posterior mean was positive */
    /* Of units that are not active, where one is looked for: the largest posterior mean, at which
     * sample (-1: none yet), and what is there. */
    double *largest;
    int64_t *place;
    void **candidates;               /* NULL until needed */
    double *all_codes, *all_squares; /* l: dropout: of all codes, before any is dropped */
    rb_dense raw;                    /* mu_p'mu_p, l x l, lower; only when traced */
    /* Where values are missing, missing.c: */
    rb_dense lacking; /* l x m: sum of Sigma_i w_k over the samples that lack feature k */
    rb_dense sigma;   /* l x l, lower: sum of Sigma_i */
    double log_det;   /* sum of ln |Sigma_i| */
    double constant;  /* sum of mu_p' Q, in a pass that collects */
    double *imputed;  /* m: squares of what missing values are taken for */
} rfn_sums;

/* What an engine is told before a pass (rb_engine.set_parameters). */
typedef struct rfn_given {
    const rfn_parameters *parameters;
    const rfn_posterior *posterior; /* of the parameters */
    const rfn_survey *survey;
    int64_t iteration; /* what random numbers depend on */
    bool last;         /* no M-step follows: nothing is random */
} rfn_given;

/* An engine, and what it does in place of rfn_missing_collect and rfn_missing_add; or NULL. */
struct rfn_missing;
typedef struct rfn_engine {
    rb_engine engine;
    rb_error (*collect)(rb_context *ctx, struct rfn_missing *missing,
                        const rfn_parameters *parameters, const rb_block *block, rb_dense linear,
                        rb_dense means);
    rb_error (*add)(rb_context *ctx, const rfn_parameters *parameters, const rb_block *block,
                    rb_dense codes, rfn_sums *sums);
} rfn_engine;

extern const rfn_engine rfn_engine_cpu;

/* Samples that an M-step follows. */
static inline int64_t rfn_batch_samples(const rb_problem *problem) {
    bool batches = problem->batch_samples > 0 && problem->batch_samples < problem->n_samples;
    return batches ? problem->batch_samples : problem->n_samples;
}

static inline bool rfn_in_batches(const rb_problem *problem) {
    return rfn_batch_samples(problem) < problem->n_samples;
}

/* Are there newton E-steps that an engine does? */
static inline bool rfn_has_newton(const rb_problem *problem, const rb_rfn_options *options) {
    return !problem->missing &&
           (options->estep == RB_RFN_ESTEP_NEWTON || options->newton_iterations > 0);
}

/* Are there codes of all samples: of an E-step that goes on from them, or where values are missing?
 */
static inline bool rfn_keeps_codes(const rb_problem *problem, const rb_rfn_options *options) {
    return problem->missing || options->estep != RB_RFN_ESTEP_NEWTON;
}

/* Is the filter of the posterior kept as its factors? Where samples are fewer than features, and by
 * E-steps that have no use for the product. */
static inline bool rfn_is_factored(const rb_problem *problem, int64_t units, bool persists) {
    return units <= problem->n_features &&
           (rfn_batch_samples(problem) < problem->n_features || persists);
}

/* ---- the codes of a block, and what they add: moments.c ---- */

typedef struct rfn_block_work {
    rb_dense codes;                  /* block_samples x l */
    void *offset;                    /* l of the type: what is added to V B */
    double *task_sum, *task_largest; /* l a task */
} rfn_block_work;

extern const rb_field rfn_block_fields[];

/* Adds what the tasks of a block summed: codes, and which units are active. */
void rfn_add_tasks(const rfn_block_work *work, int64_t tasks, rfn_sums *sums);
/* Adds V'mu and mu'mu of the block whose codes are in work->codes. */
rb_error rfn_add_moments(rb_context *ctx, const rfn_block_work *work, const rb_block *block,
                         rfn_sums *sums);

/* What the codes of a unit are divided by, from their mean and mean square over all samples. */
double rfn_unit_scale(const rb_rfn_options *options, double mean, double mean_square);

/* ---- units that die: dead.c ---- */

/* Unit j has its largest posterior mean so far at sample i of the block: keeps the sample and its
 * codes (a row of l, of the type). */
rb_error rfn_take_candidate(rb_context *ctx, rfn_sums *sums, int64_t j, double largest,
                            const rb_block *block, int64_t i, const void *codes);
void rfn_candidates_free(rfn_sums *sums);

/* ---- what is random in a pass: randomness.c ---- */

typedef struct rfn_randomness {
    const rfn_setup *setup;
    bool last;                           /* this pass has none */
    uint64_t noise_key, dropout_key;     /* of the pass */
    uint32_t noise_share, dropout_share; /* a value whose random word is below is replaced */
    const void *min, *max;               /* of each feature: salt-and-pepper only */
    rb_dense rows;                       /* a dense block with noise */
    rb_buffer values;                    /* those of a sparse one */
    uint32_t *words;                     /* of each thread: a row of random words */
    double *task_codes, *task_squares;   /* l a task: of all codes, before any is dropped */
} rfn_randomness;

extern const rb_field rfn_randomness_fields[];

/* What these fields do not have. */
rb_error rfn_randomness_new(rb_context *ctx, const rfn_setup *setup, rfn_randomness *random);
void rfn_randomness_clear(rfn_randomness *random);
void rfn_randomness_begin(rfn_randomness *random, const rfn_given *given);
/* Does this pass add noise to samples, and where are those with it; then it is added to some rows
 * of the block. */
bool rfn_has_noise(const rfn_randomness *random);
rb_error rfn_noise_block(rb_context *ctx, rfn_randomness *random, const rb_block *block,
                         rb_block *seen);
void rfn_noise_rows(rb_context *ctx, const rfn_randomness *random, const rb_block *block,
                    int64_t first, int64_t count, int worker);
/* Does this pass drop codes; those of a task, the first of them of that sample; what the tasks of a
 * block summed. sum: of the codes of the task, before and after. */
bool rfn_drops(const rfn_randomness *random);
void rfn_drop(rb_context *ctx, const rfn_randomness *random, rb_dense codes, int64_t sample,
              int64_t task, int worker, double *sum);
void rfn_add_dropped(const rfn_randomness *random, int64_t tasks, rfn_sums *sums);
/* The same numbers for a device. */
rb_device_chance rfn_mask_chance(const rfn_setup *setup, int64_t iteration);
rb_device_chance rfn_drop_chance(const rfn_setup *setup, int64_t iteration);

/* ---- engine_cpu.c: the fast one ---- */

typedef struct rfn_cpu {
    rfn_setup setup;
    rfn_given given;
    rfn_block_work block;
    rb_dense linear; /* V Psi^-1 W of a block, where the filter is factored */
    rfn_randomness random;
} rfn_cpu;

extern const rb_part rfn_cpu_parts[];

#endif
