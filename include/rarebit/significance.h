/* Is a module real, or could noise have made it? docs/howto/significance.md. */
#pragma once

#include <rarebit/covariates.h>

/* The options of permutations, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_significance_group(void);

/* Of one module: chances that data with permuted features give as large an information, or data
 * with rotated samples as far a departure from normal samples along the loadings that the other
 * samples give it, whichever is larger. All are at least 1 / (1 + permutations). */
typedef struct rb_significance {
    double p;        /* of one living unit of the null, taken at random */
    double p_family; /* of the largest of all its units */
    double fdr;      /* p, adjusted over all living units of the model (Benjamini, Hochberg) */
    /* p_family of permuted features alone: small where features of the module go together, be it by
     * few samples or all along */
    double p_permuted;
} rb_significance;

/* Permutes features, rotates samples, and gives each module its significance; then keeps only those
 * that are asked for by `significant`. The data are held in memory, and a copy by each thread.
 * Samples are not rotated where data are sparse or large, values are missing, or the method takes
 * none below 0: rb_modules_tested says so, and a warning.
 *
 * blocks    of samples that depend on each other, as groups of one covariate: whole blocks, all of
 *           one size, are permuted and rotated. NULL: each sample is one
 * modules   as rb_modules_find gave them, with the same model and source; changed in place
 * complete  false: `part` was given, and other parts are missing; modules are as before. May be
 *           NULL
 *
 * Where the program asks to stop (rb_context_stop), the permutations that are done count, and the
 * request stays. With `checkpoint`, or with too few of them for `significant`, it is
 * RB_ERROR_STOPPED instead.
 *
 * Without permutations nothing is done. The same seed gives the same bits for any number of
 * threads. A progress callback is told of permutations.
 *
 * RB_ERROR_ARGUMENT (an option; too few permutations for `significant`; null=refit with data that
 * the model was not fitted to), RB_ERROR_UNSUPPORTED (null=refit with a model that options alone do
 * not make again), RB_ERROR_STOPPED, RB_ERROR_MEMORY, and the errors of rb_fit, rb_encode and of
 * checkpoints. */
RB_API rb_error rb_modules_permute(rb_context *context, const rb_model *model, rb_source *source,
                                   const rb_options *options, const rb_covariates *blocks,
                                   rb_modules *modules, bool *complete);

/* The significance of a module; false, and *significance is not touched: there is no such rank, or
 * nothing was permuted. */
RB_API bool rb_modules_significance(const rb_modules *modules, int64_t rank,
                                    rb_significance *significance);

/* How many permutations the significances are of; 0: nothing was permuted. */
RB_API int64_t rb_modules_permutations(const rb_modules *modules);
