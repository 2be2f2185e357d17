/* A fit to samples that lack values: missing.c. Private to src/rfn. */
#ifndef RB_RFN_MISSING_H
#define RB_RFN_MISSING_H

#include "engine.h"
#include "objective.h"
#include "patterns.h"
#include "rfn/estep/estep.h"

typedef struct rfn_missing {
    bool on; /* some value is missing */
    const rfn_engine *engine;
    const rfn_setup *setup;
    /* Of the survey: patterns of a group of samples, counted in the order of their first ones. */
    int64_t count;           /* of patterns */
    int64_t *firsts, *sizes; /* of each pattern: its first sample, how many have it */
    rfn_keyed *keyed;        /* the samples, while the survey lasts */
    /* Of an E-step. */
    rfn_patterns patterns; /* but for `of`, which is of the survey */
    double constant;       /* of a traced fit: sum of mu_p' Q */
    double *scale;         /* l: newton: what codes were divided by, and was one above 0? */
    bool *positive;
    /* After it, for M-step and objective. */
    double *second;  /* m: diagonal of C, missing values as they are expected */
    double entropy;  /* of what is missing, given the codes, per sample */
    double expected; /* <Psi^-1, C> of what is missing, without its noise */
    /* Scratch. */
    rb_scratch scratch; /* frees the arrays */
    rfn_piece piece;
    rfn_pattern_work work;
    rb_dense masks, filled;  /* samples of a piece x m */
    rb_dense linear;         /* the same x l */
    rb_dense covariances;    /* some patterns x packed */
    double *log_dets;        /* of a piece */
    int64_t *order, *starts; /* of a piece: samples by their patterns, where these begin */
    double *squares;         /* l x (l + samples of a piece), of each worker */
    double *constants;       /* of each sample of a piece */
} rfn_missing;

rb_error rfn_missing_new(rb_context *ctx, const rfn_setup *setup, rfn_missing *missing);
void rfn_missing_free(rfn_missing *missing);
/* Bytes of it where every sample has a pattern of its own. */
double rfn_missing_bytes(const rb_problem *problem, int64_t units);

rb_error rfn_missing_survey(rb_context *ctx, rfn_missing *missing, const rb_block *block,
                            rfn_survey *survey);
rb_error rfn_missing_survey_end(rfn_missing *missing);

void rfn_missing_begin(rfn_missing *missing); /* an E-step */
/* A block in the first pass of an E-step: P of its patterns, Q' of its samples into `linear` (l x
 * all samples), and their posterior means where wanted (of no rows: not). */
rb_error rfn_missing_collect(rb_context *ctx, rfn_missing *missing,
                             const rfn_parameters *parameters, const rb_block *block,
                             rb_dense weighted, rb_dense linear, rb_dense means);
/* After that pass, in all processes. */
void rfn_missing_collected(rb_context *ctx, rfn_missing *missing, const rfn_sums *sums);
/* newton: codes from the means that are in their place, and the scales. */
rb_error rfn_missing_project(rb_context *ctx, rfn_missing *missing, const rfn_slices *slices,
                             rb_dense codes, bool last);
/* A block in the second pass, given its codes (samples x l): moments with what missing values are
 * expected to be. */
rb_error rfn_missing_add(rb_context *ctx, rfn_missing *missing, const rfn_parameters *parameters,
                         const rb_block *block, rb_dense codes, rfn_sums *sums);
/* After it: moments.u, which has what complete samples give, gets the rest; the posterior becomes
 * the mean one of the samples; second, entropy and expected are set. */
void rfn_missing_moments(rfn_missing *missing, const rfn_parameters *parameters,
                         const rfn_survey *survey, const rfn_sums *sums, rfn_moments *moments,
                         rfn_posterior *posterior);

#endif
