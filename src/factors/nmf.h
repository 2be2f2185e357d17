/* Non-negative matrix factorisation: private to src/factors. nmf.c has the equations. */
#ifndef RB_COMPARE_NMF_H
#define RB_COMPARE_NMF_H

#include "factors.h"
#include "pca.h"

enum nmf_solver { NMF_HALS = 0, NMF_MULTIPLICATIVE };
enum nmf_start { NMF_AUTO = 0, NMF_NNDSVDA, NMF_NNDSVD, NMF_RANDOM };
enum nmf_loss { NMF_FROBENIUS = 0, NMF_KULLBACK_LEIBLER };

typedef struct nmf_options {
    int64_t units;
    int solver; /* nmf_solver */
    int loss;   /* nmf_loss */
    int start;  /* nmf_start */
    int64_t sweeps;
} nmf_options;

extern const rb_option nmf_option_rows[];
extern const rb_option_rule nmf_option_rules[];

/* Passes before the first iteration, and the iterations. */
enum nmf_stage { NMF_ITERATE = 0, NMF_FIND_DIRECTIONS, NMF_FIND_SIDES };

typedef struct nmf_fit {
    factors_fit base;
    nmf_options options;
    bool warm, checked; /* checked: no value is below 0 */
    /* parameters */
    rb_dense loadings;    /* W, features x units */
    double *noise;        /* of each feature: the variance of what is left of it */
    double *mean_squares; /* of the codes of each unit */
    /* codes, progress */
    rb_dense codes; /* H, samples x units */
    int64_t iteration;
    /* sums */
    rb_dense products; /* V'H, or (V / HW')'H, features x units */
    rb_dense second;   /* H'H, lower triangle */
    double *totals;    /* of the codes of each unit */
    double divergence;
    /* scratch */
    rb_dense linear;               /* of a block: VW, or (V / HW') W */
    rb_dense work;                 /* of a block or of all features, by units */
    rb_dense ratios;               /* of a block: V / HW' */
    rb_buffer ratio_values;        /* the same of a sparse one */
    double *task_divergences;      /* of the tasks of a block */
    double *column_sums;           /* of W */
    rb_nnls codes_by, loadings_by; /* W'W and H'H */
    /* of a start by singular vectors */
    rb_scratch own; /* of codes_by and loadings_by */
    pca_fit pca;
    int stage;             /* nmf_stage */
    int passes;            /* for directions */
    double *above, *below; /* of V v of each unit: the squares of what is above and below 0 */
    double sum;            /* of all values */
} nmf_fit;

/* RB_ERROR_DATA names the first value of a block that is below 0. */
rb_error nmf_check_values(rb_context *ctx, const rb_block *block);

/* ---- singular vectors (nmf_start.c) ---- */

/* Are there so many? */
bool nmf_start_fits(const rb_problem *problem, int64_t units);
rb_error nmf_start_new(rb_context *ctx, const rb_problem *problem, nmf_fit *fit);
/* While the stage is not NMF_ITERATE; the loadings are random before. */
rb_error nmf_start_block(rb_context *ctx, nmf_fit *fit, const rb_block *block);
rb_error nmf_start_end(rb_context *ctx, nmf_fit *fit);

/* ---- Kullback and Leibler (nmf_divergence.c) ---- */

void nmf_divergence_begin(nmf_fit *fit);
rb_error nmf_divergence_block(rb_context *ctx, nmf_fit *fit, const rb_block *block);
void nmf_divergence_mstep(nmf_fit *fit);
/* The codes of a sample with `count` values above 0 at these features: w is units x features in
 * float64, sums its row sums; work: 2 count values. */
struct nmf_counts {
    int64_t count;
    const int32_t *features;
    const double *values;
};
void nmf_divergence_solve(const struct nmf_counts *sample, rb_dense w, const double *sums,
                          double *work, double *codes);

/* ---- models (nmf_coder.c) ---- */

rb_error nmf_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
rb_error nmf_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error nmf_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                  const void *codes, void *rows);

#endif
