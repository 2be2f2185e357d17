/* What the parameters that made the data give, which no public function takes. */
#ifndef BENCH_TRUTH_H
#define BENCH_TRUTH_H

#include <rarebit/rarebit.h>

/* Log-likelihood of the samples under the fields (causes x features), in a model by expectation
 * truncation with the other parameters as the options give them: units must be the causes, and
 * iterations and restarts 1. The sum of the truncated log evidence, as rb_evaluate gives it. */
rb_error truth_log_likelihood(rb_context *ctx, const rb_options *options, rb_source *source,
                              const rb_matrix *fields, double *log_likelihood);

#endif
