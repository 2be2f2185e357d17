/* Counts with Poisson noise, by the library's random numbers. */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#include <rarebit/rarebit.h>

/* The samples, dense means of at most some hundreds, become a view of counts with these means; free
 * both, in any case. */
rb_error counts_draw(rb_context *ctx, int64_t seed, rb_matrix **samples, float **counts);

#endif
