/* k-means: private to src/compare. kmeans.c has the equations. */
#ifndef RB_COMPARE_KMEANS_H
#define RB_COMPARE_KMEANS_H

#include "blocks.h"
#include "compare.h"

typedef struct kmeans_options {
    int64_t units;
} kmeans_options;

typedef struct kmeans_fit {
    rb_problem problem;
    kmeans_options options;
    bool warm;
    double objective;
    /* parameters */
    rb_dense centres; /* units x features */
    double *noise;    /* of each feature: the mean squared distance from the centre */
    double *sizes;    /* samples of each unit */
    /* progress */
    int64_t iteration, chosen; /* centres of the start */
    bool settled;              /* centres stayed as they were: so they will */
    /* survey: of each feature the sum of its squares */
    double *squares;
    /* sums */
    rb_dense totals; /* of the samples of each unit, units x features */
    double *counts;
    double *farthest; /* of each unit: the squared distance of its farthest sample, */
    int64_t *place;   /* which that is */
    double winner;    /* of the start: the best of the draws so far, */
    int64_t won;      /* by this sample */
    /* scratch */
    rb_dense turned;   /* centres, features x units */
    rb_dense products; /* of a block: with each centre */
    rb_dense rows;     /* of each unit its farthest sample; the first one is the start's winner */
    double *distances; /* of all samples: from the nearest centre so far, while centres are drawn */
    double *found;     /* of a block: the squared distance from the nearest centre */
    int64_t *nearest;  /* of a block: which that is */
    int64_t *order;    /* of a block: samples by their unit */
    int64_t *first;    /* of each unit, in that order; and the end */
    double *halves;    /* |c|^2 / 2 of each centre, with what a shift adds */
} kmeans_fit;

/* Of samples first .. of a block: the nearest centre of each, and the squared distance. products:
 * memory for samples x units; halves: kmeans_halves. */
struct kmeans_search {
    const rb_context *ctx;
    const rb_block *block;
    rb_dense turned, products;
    const double *halves;
    int64_t *nearest;
    double *found; /* NULL: not asked for */
};
void kmeans_search_all(rb_context *ctx, const struct kmeans_search *search);
/* |c|^2 / 2 + <shift, c> of each centre. */
void kmeans_halves(rb_dense turned, const double *shift, double *halves);
/* The squared length of a sample. */
double kmeans_length(const rb_context *ctx, const rb_block *block, int64_t i);

/* ---- the start (kmeans_start.c) ---- */

rb_error kmeans_start_block(rb_context *ctx, kmeans_fit *fit, const rb_block *block);
void kmeans_start_end(kmeans_fit *fit);

#endif
