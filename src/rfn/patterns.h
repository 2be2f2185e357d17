/* Samples that lack values: their posterior is that of the features that they have. Private to
 * src/rfn. */
#ifndef RB_RFN_PATTERNS_H
#define RB_RFN_PATTERNS_H

#include "parameters.h"

/* Lower triangles of l x l matrices are kept row by row: so many values. */
static inline int64_t rfn_packed(int64_t l) {
    return l * (l + 1) / 2;
}

/* Consecutive samples of a block, dense. */
typedef struct rfn_piece {
    rb_dense rows;       /* values, 0 where one is missing */
    rb_dense there;      /* of the same shape: 1, or 0 where a value is missing */
    uint64_t (*keys)[2]; /* of each sample: equal for those that lack the same features */
    int64_t *lacking;    /* of each sample: how many values are missing */
} rfn_piece;

/* A sample and its key. */
typedef struct rfn_keyed {
    uint64_t key[2];
    int64_t sample;
} rfn_keyed;
/* By key, then by sample: those that lack the same features stand side by side. */
void rfn_sort_keyed(rfn_keyed *list, int64_t count);
/* Does another key begin there? */
static inline bool rfn_key_begins(const rfn_keyed *list, int64_t at) {
    return at == 0 || list[at].key[0] != list[at - 1].key[0] ||
           list[at].key[1] != list[at - 1].key[1];
}

/* Samples that a piece should have at most. */
int64_t rfn_piece_samples(int64_t features);
void rfn_piece_take(rb_scratch *scratch, rb_type type, int64_t samples, int64_t features,
                    rfn_piece *piece);
/* Samples first .. first + count - 1 of a block; *piece has room for them. Gives a piece of them,
 * with keys and what is lacking where these are wanted. */
rfn_piece rfn_piece_load(rb_context *ctx, const rb_block *block, int64_t first, int64_t count,
                         bool keys, const rfn_piece *piece);

/* Q = V Psi^-1 W + M^-1 xi of such rows V; weighted: Psi^-1 W. */
void rfn_linear_part(rb_context *ctx, const rfn_prior *prior, rb_dense rows, rb_dense weighted,
                     rb_dense q);

/* What matrices of patterns are made with. */
typedef struct rfn_pattern_work {
    int64_t l;
    rb_dense outer;  /* features of a tile x packed: w w' / psi of each */
    double *squares; /* of each worker: l x l, padded for sweeps, and their work */
    rb_dense sums;   /* of each worker: sums of covariances, of TILE features */
} rfn_pattern_work;

void rfn_pattern_work_take(rb_scratch *scratch, rb_type type, int64_t features, int64_t l,
                           rfn_pattern_work *work);

/* P = M^-1 + W_o' Psi_o^-1 W_o of each row of `masks` (1: the feature is there), packed, into the
 * rows of `precisions`. */
void rfn_precisions(rb_context *ctx, const rfn_parameters *parameters, rb_dense masks,
                    const rfn_pattern_work *work, rb_dense precisions);
/* Their inverses, packed, and ln of the determinants of these. RB_ERROR_NUMERIC: one is not
 * positive definite. */
rb_error rfn_covariances(rb_context *ctx, rb_dense precisions, const rfn_pattern_work *work,
                         rb_dense covariances, double *log_dets);
rb_error rfn_fail_indefinite(rb_context *ctx); /* the same */
/* products (l x features, float64) += sum of weight Sigma w_k over the rows of `masks` that say
 * how much feature k counts. */
void rfn_add_lacking(rb_context *ctx, rb_dense loadings, rb_dense masks, rb_dense covariances,
                     const rfn_pattern_work *work, rb_dense products);
/* A packed matrix as a square in float64, lower triangle or both, of rows of `ld` values. */
void rfn_unpack(rb_dense packed, int64_t row, int64_t l, bool both, double *square, int64_t ld);

#endif
