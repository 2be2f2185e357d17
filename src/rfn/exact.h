/* Codes of samples, each on its own, that a converged E-step would give. Private to src/rfn. */
#ifndef RB_RFN_EXACT_H
#define RB_RFN_EXACT_H

#include "coder.h"
#include "polish.h"
#include "rfn/estep/estep.h"

/* Of a block of samples at a time. */
typedef struct rfn_exact {
    rfn_quadratic problem;            /* P + diag tau, Q' of the block, the rectified set */
    rb_dense weighted;                /* Psi^-1 W, m x l: Q = V Psi^-1 W + xi */
    const rfn_parameters *parameters; /* of the coder */
    void *offset;                     /* of the block at hand */
    rb_dense codes;                   /* mu' of the block, l x block_samples */
    rb_dense linear;                  /* room for problem.linear */
    rfn_work work;
    bool *dead;
    int64_t *samples; /* of the block: which sample a column is, since some have left */
    double *largest;  /* code of each column */
    double *before;   /* by how much the sweep before the last one changed it */
    bool *done;       /* its codes have converged */
    double tolerance;
    rfn_polish *polish; /* one for each of so many workers */
    int workers;
} rfn_exact;

/* For a model with multipliers; NULL in *exact for one without. start, empty before, becomes the
 * posterior that gives the codes to start from. */
rb_error rfn_exact_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       const rfn_parameters *parameters, rfn_posterior *start, rfn_exact **exact);
void rfn_exact_free(rfn_exact *exact);
/* Improves codes (samples x l), which are any start, until they have converged. */
rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *exact, const rb_block *block, rb_dense codes);

#endif
