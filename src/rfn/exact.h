/* Codes of samples, each on its own, that a converged E-step would give. Private to src/rfn. */
#ifndef RB_RFN_EXACT_H
#define RB_RFN_EXACT_H

#include "coder.h"
#include "rfn/estep/estep.h"

/* ---- codes of one sample by an active set: polish.c ---- */

/* Scratch of one worker. */
typedef struct rfn_polish {
    int64_t max;        /* units that may be positive at once */
    double *x, *linear; /* l */
    double *factor;     /* max x max */
    double *target;     /* max */
    int64_t *support;   /* max: the positive units */
    bool *positive;     /* l */
} rfn_polish;

rb_error rfn_polish_new(rb_context *ctx, int64_t l, rfn_polish *polish);
void rfn_polish_free(rfn_polish *polish);
/* Improves column i of codes (l x n) of the problem, on the rectified set, into polish->x. */
void rfn_polish_sample(const rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                       int64_t i, rfn_polish *polish);

/* ---- codes of a block ---- */

typedef struct rfn_exact {
    rfn_quadratic problem;  /* P + diag tau, Q' of the block, the rectified set */
    rfn_posterior start;    /* gives the codes to start from */
    rb_dense weighted;      /* Psi^-1 W, m x l: Q = V Psi^-1 W + xi */
    const rfn_coder *coder; /* whose parameters and tolerance these are */
    void *offset;           /* of the block at hand */
    rb_dense codes, linear; /* mu' and Q' of the block, l x block_samples */
    rfn_work work;
    bool *dead;
    int64_t *samples;   /* of the block: which sample a column is, since some have left */
    double *largest;    /* code of each column */
    double *before;     /* by how much the sweep before the last one changed it */
    bool *done;         /* its codes have converged */
    rfn_polish *polish; /* one for each of so many workers */
    int workers;
    /* Of the call at hand. */
    rb_context *ctx;
    const rb_block *block;
    rb_dense out;
    int64_t active; /* samples that have not left: the first columns */
} rfn_exact;

/* For a coder of a model with multipliers, that has its parameters; NULL in *exact for one without.
 */
rb_error rfn_exact_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       const rfn_coder *coder, rfn_exact **exact);
void rfn_exact_free(rfn_exact *exact);
/* Improves codes (samples x l), which are any start, until they have converged. */
rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *exact, const rb_block *block, rb_dense codes);

#endif
