/* How far two models of the same samples agree. */
#ifndef AGREEMENT_H
#define AGREEMENT_H

#include <rarebit/rarebit.h>

typedef struct bench_codes {
    double *values; /* living units x samples, each row of mean 0 and length 1 */
    int64_t units;
} bench_codes;

/* Free the values. */
bench_codes bench_codes_of(rb_context *ctx, const rb_model *model, rb_source *source);
/* Units paired so that the correlation of their codes over the n samples is largest: the sum over
 * the larger number of units. */
double bench_match(rb_context *ctx, const bench_codes *a, const bench_codes *b, int64_t n);

#endif
