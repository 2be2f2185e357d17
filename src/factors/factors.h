/* The face of src/factors: factor models and partitions of others; and what they share, blocks and
 * products with blocks that never fill the zeros of sparse ones. */
#ifndef RB_FACTORS_INTERNAL_H
#define RB_FACTORS_INTERNAL_H

#include "data/data.h"
#include "model/model.h"

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

extern const rb_method rb_method_pca, rb_method_ica, rb_method_fa, rb_method_sfa,
    rb_method_fa_laplace, rb_method_fa_jeffreys, rb_method_fabia, rb_method_nmf, rb_method_kmeans;

/* ---- fits and coders (fit.c) ---- */

/* What the state of each fit begins with. */
typedef struct factors_fit {
    rb_problem problem;
    double *squares;  /* of each feature, over all samples: a survey, of kmeans, nmf and pca */
    double objective; /* after the last M-step */
    bool done;        /* no further iteration changes anything */
    bool last;        /* the E-step at hand is the last one */
} factors_fit;

/* For the tables of methods, whose options begin with the number of units. */
int64_t factors_units(const void *options);
int64_t factors_block_samples(const rb_problem *problem, const void *options);
void factors_objective(void *state, double *objective, double *estep_objective);
bool factors_done(const void *state);
void factors_last(void *state);
/* All that is added up over samples is in sums (rb_method.spreads). */
rb_error factors_spread(rb_context *ctx, const rb_problem *problem, const void *options);
extern const rb_field factors_survey_fields[];
rb_error factors_survey(rb_context *ctx, void *state, const rb_block *block);

/* Even blocks: large products, and little beside the parameters. `widest`: the most values that
 * anything has which is kept for each sample of a block, the dense sample itself apart. */
int64_t factors_block_of(const rb_problem *problem, int64_t widest);

/* A coder begins with a scratch that owns its arrays: new, of so many bytes, or NULL; and once it
 * is filled, or something failed, of which the scratch knows, and then it is freed. */
void *factors_coder_begin(rb_context *ctx, size_t size, void **coder);
rb_error factors_coder_end(void **coder);
void factors_coder_free(void *coder);

/* ---- products (products.c): V samples x features is the block, less its shift ---- */

/* OUT = V B, B features x any, OUT samples x any. */
rb_error factors_project(rb_context *ctx, const rb_block *block, rb_dense b, rb_dense out);
/* U += V'M, M samples x any, U features x any. */
rb_error factors_add_cross(rb_context *ctx, const rb_block *block, rb_dense m, rb_dense u);
/* U += V'M, and S += M'M, lower triangle. */
rb_error factors_add_moments(rb_context *ctx, const rb_block *block, rb_dense m, rb_dense u,
                             rb_dense s);
/* S += V'V, features x features, lower triangle. */
rb_error factors_add_second(rb_context *ctx, rb_csr_memory *columns, const rb_block *block,
                            rb_dense s);
/* K = V V', samples x samples, lower triangle. */
rb_error factors_gram(rb_context *ctx, rb_csr_memory *columns, const rb_block *block, rb_dense k);

/* Rows in tasks of `size`: how many, and those of one. */
int64_t factors_tasks(int64_t rows, int64_t size);
rb_dense factors_task_rows(rb_dense rows, int64_t task, int64_t size);

/* Even parts of the samples of a block, a function of their number alone. */
static inline struct bands block_tasks(int64_t n_samples) {
    enum { SAMPLES = 512 };
    int64_t count = (n_samples + SAMPLES - 1) / SAMPLES;
    return rb_cut(n_samples, count < 1 ? 1 : count);
}

/* Those rows of a task, and which is the first. */
static inline rb_dense block_task_rows(rb_dense rows, int64_t task, int64_t *first) {
    struct bands tasks = block_tasks(rows.rows);
    *first = rb_band_start(tasks, task);
    return rb_dense_rows(rows, *first, rb_band_size(tasks, task));
}

/* The columns of X become the nearest orthonormal ones, by (X'X)^-1/2. */
rb_error factors_orthonormalize(rb_context *ctx, rb_dense x);

/* ---- linear models (linear.c): samples are loadings times codes and noise of one variance ----
 *
 * A model has the arrays "loadings" (features x units), "variance" (of the codes of each unit in
 * training) and "noise" (a variance for each feature, all the same). Codes are the least squares
 * ones. */

rb_error factors_linear_store(rb_context *ctx, rb_model *model, rb_dense loadings,
                              const double *variance, double noise, double total);
rb_error factors_linear_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                            void **coder);
rb_error factors_linear_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
/* Codes of those variances, or as they are of given samples; noise outside of the span. */
rb_error factors_linear_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                             const rb_block *block, void *codes);
rb_error factors_linear_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                             const void *codes, void *rows);
/* log_likelihood, mean_squared_error, reconstruction_error, sparseness. */
extern const rb_array_kind factors_linear_arrays[];
rb_error factors_linear_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed,
                                 rb_metrics *metrics);

#pragma GCC visibility pop

#endif
