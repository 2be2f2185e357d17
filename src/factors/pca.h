/* Principal directions of the samples, for PCA itself and for what begins with it. Private to
 * src/factors. */
#ifndef RB_COMPARE_PCA_H
#define RB_COMPARE_PCA_H

#include "factors.h"

typedef enum pca_solver { PCA_AUTO = 0, PCA_EXACT, PCA_RANDOMIZED } pca_solver;

/* What the options of methods that begin with principal directions begin with. */
typedef struct pca_options {
    int64_t units;
    int solver; /* pca_solver */
} pca_options;

/* "auto" becomes what it is here. */
void pca_resolve(rb_problem *problem, void *options);
int64_t pca_block_samples(const rb_problem *problem, const void *options);

/* What is known before a sample is read: a function of shape and options. */
typedef struct pca_plan {
    bool exact, by_samples; /* by_samples: from V V', of which all samples are one block */
    int64_t units;
    int64_t width;    /* of a block of directions; 0: exact and not by samples */
    int64_t capacity; /* of the basis; 0: exact */
} pca_plan;

/* The sizes of its arrays; PCA_NEXT: the first that is free for who embeds it. */
enum { PCA_SIDE = 3, PCA_WIDTH, PCA_BASIS, PCA_BLOCK, PCA_NEXT };
void pca_shape(const rb_problem *problem, const void *options, rb_shape *shape);

typedef struct pca_fit {
    factors_fit base;
    pca_plan plan;
    /* Results: directions as columns of unit length, m x k, with the mean square of the samples
     * along each, descending; both 0 beyond the rank. */
    rb_dense directions;
    double *values;
    rb_dense second; /* V'V, or V V' */
    rb_dense cross;  /* V'(V Q) */
    /* Of the randomized solver: an orthonormal basis, C times it, the block Q that is to be added,
     * and basis' C basis. */
    rb_dense basis, image, next;
    double *small;
    int64_t used, next_width; /* columns of basis and next */
    bool turns;               /* by samples: the pass at hand is the second one */
    bool found;               /* no further pass changes the directions */
    rb_dense rows, turned;    /* V Q of a block; scratch of m x width */
    rb_csr_memory columns;
} pca_fit;

extern const rb_field pca_parameter_fields[], pca_sum_fields[], pca_progress_fields[],
    pca_scratch_fields[];

/* As the functions of a method (rarebit/method.h), of a pca_fit or what begins with one. */
rb_error pca_start(rb_context *ctx, const rb_problem *problem, const pca_options *options,
                   pca_fit *pca);
void pca_finish(void *pca);
rb_error pca_begin(rb_context *ctx, void *pca);
rb_error pca_block(rb_context *ctx, void *pca, const rb_block *block);
rb_error pca_end(rb_context *ctx, void *pca, bool *again);
rb_error pca_mstep(rb_context *ctx, void *pca);

double pca_total(const pca_fit *pca);     /* the mean of |v|^2 */
double pca_explained(const pca_fit *pca); /* the share of it along the directions */
double pca_noise(const pca_fit *pca);     /* variance that is left for each feature */

#endif
