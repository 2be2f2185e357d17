/* Codes that persist from one iteration to the next, for the E-steps that go on from them: all but
 * newton. Private to src/rfn. */
#ifndef RB_RFN_PERSISTENT_H
#define RB_RFN_PERSISTENT_H

#include "rfn/device.h"
#include "rfn/missing.h"
#include "rfn/objective.h"
#include "rfn/paper/paper.h"

struct rfn_progress;

typedef struct rfn_codes {
    rb_dense values;     /* mu', l x n: samples of this process */
    double *multipliers; /* l: of the codes at hand */
    bool filled;         /* codes are there */
} rfn_codes;

/* How much of a fit goes into waiting for other processes: iterations so far, below 0: it has been
 * looked at; and seconds when they began. */
typedef struct rfn_watch {
    int64_t iterations;
    double began, waited;
} rfn_watch;

/* Psi^-1 W, and what is added to Q as one more feature, by lists of what is not 0: linear.c. */
typedef struct rfn_listed {
    bool on;              /* they take less time than a dense product */
    rb_csr units;         /* l x (m + 1) */
    rb_csr_memory memory; /* of that */
    rb_buffer turned;     /* the same, dense */
    rb_buffer pieces;     /* of each thread: some samples, turned, and ones */
} rfn_listed;

/* Everything else that these E-steps need. */
typedef struct rfn_persistent {
    const rfn_setup *setup;
    const rfn_parameters *parameters; /* since the begin of the pass, as the next two */
    const rfn_posterior *posterior;
    rb_dense weighted; /* Psi^-1 W */
    rfn_listed listed;
    rfn_quadratic problem; /* P and Q' */
    rfn_search search;     /* `codes` is the rfn_codes' while a step is made */
    rfn_work work;
    rfn_block_work block;
    rfn_missing missing; /* where values are missing */
    rfn_watch watch;
    rfn_device *device; /* has Q and the codes; or NULL */
    bool *dead;
    bool adds_moments; /* the pass at hand is the second */
    bool wants_means;  /* where values are missing: the first has posterior means for codes */
    /* What is told of the codes at hand. */
    rb_rfn_stage stage; /* what moved them in this iteration */
    double residual;    /* KKT residual: of a traced iteration, and after the last E-step */
    double certificate;
    double whole_certificate; /* the same of samples that lack nothing */
    bool converged;           /* after the last E-step */
} rfn_persistent;

/* Does the E-step try candidates, one stage after the other? */
static inline bool rfn_tries_candidates(const rb_rfn_options *options) {
    return options->estep > RB_RFN_ESTEP_CYCLIC;
}

extern const rb_field rfn_persistent_fields[];

/* What these fields do not have, and its bytes. */
rb_error rfn_persistent_new(rb_context *ctx, const rfn_setup *setup, const rb_shape *shape,
                            rfn_codes *codes, rfn_persistent *persistent);
void rfn_persistent_free(rfn_persistent *persistent);
double rfn_persistent_bytes(const rb_problem *problem, const rb_shape *shape);

/* Before the pass that collects Q; weighted: m x l, holds Psi^-1 W as long as the E-step lasts. */
rb_error rfn_persistent_begin(rb_context *ctx, rfn_persistent *persistent,
                              const rfn_parameters *parameters, const rfn_posterior *posterior,
                              rb_dense weighted);
rb_error rfn_persistent_block(rb_context *ctx, rfn_persistent *persistent, const rb_block *block,
                              const rfn_codes *codes, rfn_sums *sums);
/* linear.c: the lists of this E-step, once its offset is known, or none; and Q' of the samples of a
 * task, of which the first is that of the block; rows: scratch. */
rb_error rfn_list_weights(rb_context *ctx, rfn_persistent *persistent);
void rfn_collect_linear(const rb_context *ctx, const rfn_persistent *persistent,
                        const rb_block *block, int64_t first, int worker, rb_dense rows,
                        rb_dense linear);
void rfn_listed_free(rfn_listed *listed);
double rfn_listed_bytes(rb_type type, int64_t features, int64_t units);
/* converge.c: one sweep over the units; change: the largest one of a code, or NULL. And as many as
 * the codes need to come to rest. */
void rfn_sweep(rb_context *ctx, rfn_persistent *persistent, rb_dense codes, int64_t turn,
               double *change);
rb_error rfn_converge(rb_context *ctx, rfn_persistent *persistent, rb_dense codes);
/* improve.c: after that pass, from Q and the codes at hand to those of this iteration. */
rb_error rfn_improve(rb_context *ctx, rfn_persistent *persistent, rfn_codes *codes,
                     struct rfn_progress *progress);
/* After the pass that adds up moments: the multipliers of the codes, from their moments. */
void rfn_find_multipliers(rb_context *ctx, const rfn_persistent *persistent,
                          const rfn_moments *moments, rfn_codes *codes);
/* The part of O that no code changes; scratch: l x l. */
double rfn_constant_part(rb_context *ctx, const rfn_persistent *persistent, rb_dense scratch);
/* Of a fit that was stopped: makes the multipliers such that exact codes of new samples exist with
 * the parameters as they are. alive: units. */
rb_error rfn_complete_multipliers(rb_context *ctx, rfn_persistent *persistent,
                                  const rfn_parameters *parameters, const bool *alive,
                                  rb_dense scratch, rfn_codes *codes);
/* Codes that were moved: the nearest feasible ones; of all units, or of some. */
void rfn_project_codes(rb_context *ctx, rfn_persistent *persistent, rfn_codes *codes);
void rfn_feasible_again(rb_context *ctx, rfn_persistent *persistent, rb_dense codes);

#endif
