/* k-means: private to src/factors. kmeans.c has the equations. */
#ifndef RB_COMPARE_KMEANS_H
#define RB_COMPARE_KMEANS_H

#include "factors.h"

typedef struct kmeans_options {
    int64_t units;
} kmeans_options;

typedef struct kmeans_fit {
    factors_fit base; /* done: centres stayed as they were, so they will */
    kmeans_options options;
    bool warm, measured;
    int64_t tried_count; /* candidates of the start at hand */
    /* parameters */
    rb_dense centres; /* units x features */
    double *noise;    /* of each feature: the mean squared distance from the centre */
    double *sizes;    /* samples of each unit */
    /* progress */
    int64_t iteration, chosen; /* centres of the start */
    rb_dense members;          /* the sums of the samples of each unit, units x features */
    int64_t *unit_of;          /* of all samples: 1 + the unit whose sums have it; 0: none */
    /* sums */
    rb_dense totals; /* what is to be added to `members`; after the pass, all of it */
    double *counts;
    double *farthest;   /* of each unit: the squared distance of its farthest sample, */
    int64_t *place;     /* which that is */
    double *potentials; /* of the start: of each candidate, the distances that it would leave */
    double *winners;    /* of each pair of candidate and draw, the best of the samples so far, */
    int64_t *won;       /* and which that is */
    /* scratch */
    rb_dense turned;     /* centres, features x units */
    rb_dense products;   /* of a block: with each centre */
    rb_dense rows;       /* of each unit its farthest sample; the first one is the start's winner */
    rb_dense candidates; /* of the start, and below, in the order of `winners`, the next ones */
    rb_dense tried;      /* the last centre and the candidates, features x them */
    double *lengths;     /* of all samples: squared, once `measured` */
    double *distances;   /* of all samples: squared, from the nearest centre so far */
    double *found;       /* of a block: the squared distance from the nearest centre */
    int64_t *nearest;    /* of a block: which that is */
    int64_t *order;      /* of a block: samples that come to a unit, and ~ those that leave it */
    int64_t *first;      /* of each unit, in that order; and the end */
    double *halves;      /* |c|^2 / 2 of each centre, with what a shift adds */
} kmeans_fit;

/* Of samples first .. of a block: the nearest centre of each, and the squared distance. products:
 * memory for samples x units; halves: kmeans_halves. */
struct kmeans_search {
    const rb_context *ctx;
    const rb_block *block;
    rb_dense turned, products;
    const double *halves;
    int64_t *nearest;
    const double *lengths; /* of the samples of the block, squared */
    double *found;         /* NULL: distances are not asked for */
};
/* |c|^2 / 2 + <shift, c> of each centre. */
void kmeans_halves(rb_dense turned, const double *shift, double *halves);
/* Candidates for each centre of the start. */
static inline int64_t kmeans_trials(int64_t units) {
    int64_t trials = 2;
    for (int64_t u = units; u > 2; u /= 3)
        trials++;
    return trials;
}

/* ---- the start (kmeans_start.c) ---- */

rb_error kmeans_start_block(rb_context *ctx, kmeans_fit *fit, const rb_block *block);
void kmeans_start_end(rb_context *ctx, kmeans_fit *fit);

#endif
