/* Codes of samples: by the closed form with the stored scales; or exactly, for models with
 * multipliers. Private to src/rfn. */
#ifndef RB_RFN_CODER_H
#define RB_RFN_CODER_H

#include "engine.h"
#include "rfn/estep/estep.h"

typedef struct rfn_coder {
    rb_rfn_options options; /* of the model, as far as codes need them */
    rfn_parameters parameters;
    rfn_posterior posterior;
    rfn_block_work block;    /* offset and scratch */
    void *factors;           /* l: 1 / scale, 0 for a dead unit */
    void *zeros;             /* l */
    struct rfn_exact *exact; /* of a model with multipliers, else NULL */
} rfn_coder;

rb_error rfn_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void rfn_coder_free(void *coder);
rb_error rfn_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error rfn_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows);
/* mu_p of a block, bias and all, into codes (n_samples x l). */
void rfn_posterior_means(rb_context *ctx, rfn_coder *coder, const rb_block *block, rb_dense codes);

/* evaluate.c: metrics of a model on data. */
rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);

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
void rfn_polish_sample(const rfn_quadratic *problem, rb_dense codes, int64_t i, rfn_polish *polish);

/* ---- codes of a block ---- */

typedef struct rfn_exact {
    rfn_quadratic problem;  /* P + diag tau, Q' of the block, the rectified set */
    rfn_posterior start;    /* gives the codes to start from */
    rb_dense weighted;      /* Psi^-1 W, m x l: Q = V Psi^-1 W + xi */
    const rfn_coder *coder; /* whose parameters and tolerance these are */
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
