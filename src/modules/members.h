/* Sums for the test of members, and codes found anew: private to members_*.c. */
#pragma once

#include "modules.h"

typedef struct rb_recode rb_recode;

struct rb_refit {
    rb_scratch memory; /* of all arrays, those of the recoding too */
    int64_t n_samples;
    double resting;
    rb_dense products;     /* V'mu, features x units */
    rb_dense moments;      /* mu'mu, lower triangle */
    double *sums;          /* of each feature */
    double *squares;       /* likewise */
    double *code_sums;     /* of each unit */
    rb_dense rows, values; /* a tile of samples, as the block has them and as float64 */
    rb_dense codes;
    rb_recode *recode; /* NULL: codes are those of the model */
};

/* Codes have means, and values too; here are the sums without them, of so many samples. */
double rb_held_samples(const rb_refit *r);
double rb_centred_moment(const rb_refit *r, int64_t a, int64_t b);
double rb_centred_product(const rb_refit *r, int64_t k, int64_t unit);

/* The codes of a tile of samples become new ones. */
rb_error rb_recode_tile(rb_context *ctx, rb_recode *recode, rb_dense values, rb_dense codes);
void rb_recode_end(rb_recode *recode); /* of what is not in the memory of the refit */
