/* Methods of others to compare with: small, in memory, one number out. */
#ifndef RAREBIT_COMPARE_H
#define RAREBIT_COMPARE_H

#include <rarebit/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Non-negative matrix factorisation by the multiplicative updates of D. Lee and H. Seung
 * ("Algorithms for non-negative matrix factorization", NIPS 13, 2001, theorem 1): samples are about
 * codes x fields, both without negative entries. mean_squared_error is that of the samples, over
 * samples and features, after the iterations; it never rises from one to the next. The start is
 * random. Samples are kept in memory as float64. The same seed gives the same bits for any number
 * of threads. RB_ERROR_ARGUMENT: units or iterations below 1; RB_ERROR_DATA: a value is below 0,
 * missing or infinite, or there are no samples; RB_ERROR_FILE, RB_ERROR_FORMAT: the source cannot
 * be read. */
RB_API rb_error rb_compare_nmf(rb_context *context, rb_source *source, int64_t units,
                               int64_t iterations, int64_t seed, double *mean_squared_error);

#ifdef __cplusplus
}
#endif
#endif
