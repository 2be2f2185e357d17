/* Codes of samples: by the closed form with the stored scales; or exactly, for models with
 * multipliers. Private to src/rfn. */
#ifndef RB_RFN_CODER_H
#define RB_RFN_CODER_H

#include "options.h"
#include "rfn/estep/estep.h"
#include "tasks.h"

typedef struct rfn_coder {
    rb_rfn_options options; /* of the model, as far as codes need them */
    rfn_parameters parameters;
    rfn_posterior posterior;
    rb_scratch scratch;              /* frees the arrays */
    void *factors, *zeros;           /* l: 1 / scale, 0 for a dead unit */
    void *offset;                    /* l: what is added to V B */
    double *task_sum, *task_largest; /* l a task */
    struct rfn_exact *exact;         /* of a model with multipliers, else NULL */
    struct rfn_lacking *lacking;     /* where samples may lack values, else NULL: lacking.h */
    struct rfn_device *device;       /* makes the codes; or NULL */
    rb_dense across;                 /* by the closed form there: l x block_samples */
} rfn_coder;

rb_error rfn_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void rfn_coder_free(void *coder);
rb_error rfn_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error rfn_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows);
/* By the prior N(xi, M), or of the samples of a block by N(mu, Sigma) (sample.c). */
rb_error rfn_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                  const rb_block *block, void *codes);
rb_error rfn_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                  const void *codes, void *rows);
/* Codes, divided by the scales of their units. */
void rfn_scale_codes(const rb_context *ctx, const rfn_coder *coder, rb_dense codes);
/* mu_p of a block, bias and all, into codes (n_samples x l). */
void rfn_posterior_means(rb_context *ctx, rfn_coder *coder, const rb_block *block, rb_dense codes);

/* answers.c: what others ask of a model. */
bool rfn_has_sparse_loadings(const rb_model *model);
int64_t rfn_shrinks_from(const rb_model *model);
bool rfn_iterates(const rb_model *model);
rb_error rfn_layer(rb_context *ctx, const rb_model *model, rb_method_layer *layer);

/* evaluate.c: metrics of a model on data. */
rb_error rfn_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);
void rfn_summary(const rb_model *model, bool details, char *line, size_t size);

/* ---- codes of a block ---- */

typedef struct rfn_exact {
    rb_nnls by;             /* P + diag tau */
    rb_dense sigma;         /* (P + diag tau)^-1: times Q, rectified, the codes to start from */
    void *prior;            /* l: xi'; 0 of a dead unit, as Psi^-1 W is */
    rb_dense weighted;      /* Psi^-1 W, m x l: Q = V Psi^-1 W + xi */
    rb_dense linear;        /* Q of the block, block_samples x l */
    const rfn_coder *coder; /* whose parameters and tolerance these are */
    rb_scratch scratch;     /* frees the arrays */
    bool *dead;
    /* Of a device: codes as they lie there, l x block_samples; of each sample the largest change in
     * the last sweep, how changes go, and the largest code; and those that have not come. */
    rb_dense codes;
    void *changes;
    rb_course *courses;
    float *largest;
    int64_t *left;
    /* Of the call at hand. */
    rb_context *ctx;
    const rb_block *block;
    rb_dense out;
} rfn_exact;

/* For a coder that has its parameters; NULL in *exact for a model without multipliers. To be freed
 * whatever comes back. */
rb_error rfn_exact_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                       const rfn_coder *coder, rfn_exact **exact);
void rfn_exact_free(rfn_exact *exact);
/* Codes of a block (samples x l). */
rb_error rfn_exact_solve(rb_context *ctx, rfn_exact *exact, const rb_block *block, rb_dense codes);

#endif
