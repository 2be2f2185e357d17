/* Spike and slab sparse coding. Private to src/et.
 *
 *   y = sum_h s_h z_h W_h + e,
 *   s_h ~ Bernoulli(pi_h),   z_h ~ N(mu_h, psi_h^2),   e ~ N(0, sigma^2 I)
 *
 * Symbols beyond those of engine.h: mu, psi (H) the slab's mean and standard deviation. The scale
 * of a field is fixed by mu_h^2 + psi_h^2 = 1, its sign by mu_h >= 0. */
#ifndef RB_ET_SSC_H
#define RB_ET_SSC_H

#include "fit.h"

typedef struct ssc_options {
    int64_t units, candidates, max_active;
    double prior, sigma;
    bool exact;
    int slab_mean; /* ssc_slab_mean */
    const char *temperature;
    double weight_noise;
} ssc_options;

typedef enum ssc_slab_mean { SSC_LEARNED = 0, SSC_ZERO } ssc_slab_mean;

typedef struct ssc_parameters {
    et_parameters base;
    double *mean, *sd; /* mu, psi */
} ssc_parameters;

/* ---- posteriors (ssc_posterior.c) ---- */

struct ssc_scratch;

typedef struct ssc_engine {
    int64_t units, n_features;
    rb_type type;
    et_tree tree;
    rb_scratch memory;
    const et_kernels *kernels;
    struct ssc_scratch *scratch; /* of each worker */
    /* Set by ssc_prepare. */
    const ssc_parameters *parameters;
    double variance; /* of the noise: sigma^2 / beta */
    double constant; /* of the log evidence, without |y|^2 */
    double *logit;
    rb_dense gram; /* W W', H x H */
} ssc_engine;

/* Of a block: rows of H values for each sample. */
typedef struct ssc_results {
    rb_scratch memory;
    int64_t capacity;
    rb_dense mean;            /* <s z>, of the type */
    rb_dense spikes, squares; /* <s>, <s z^2>, float64 */
    rb_dense pairs;           /* <s_j z_j s_k z_k> of candidates j < k: H'^2 */
    int32_t *candidates;      /* H' */
    double *evidence, *norm;
} ssc_results;

rb_error ssc_engine_new(rb_context *ctx, int64_t features, rb_type type, const ssc_options *options,
                        ssc_engine **engine);
void ssc_engine_free(ssc_engine *engine);
rb_error ssc_results_new(rb_context *ctx, const ssc_engine *engine, int64_t capacity,
                         ssc_results *results);
double ssc_results_bytes(const ssc_options *options);
void ssc_prepare(rb_context *ctx, ssc_engine *engine, const ssc_parameters *p, double beta);
rb_error ssc_posteriors(rb_context *ctx, const ssc_engine *engine, const rb_block *block,
                        ssc_results *results);

/* ---- a fit (ssc_fit.c) ---- */

typedef struct ssc_survey {
    double count, squares;
} ssc_survey;

typedef struct ssc_sums {
    et_sums base;     /* products, second, squares, values, used, evidence, causes: <s> */
    double *first;    /* H: sum <s z> */
    double *diagonal; /* H: sum <s z^2> */
    double *largest;  /* H: the largest <s> of a sample */
} ssc_sums;

typedef struct ssc_progress {
    int64_t iteration;
    double log_likelihood; /* of the last pass at temperature 1; else NaN */
    double *largest;       /* H: as in the sums of the last pass */
} ssc_progress;

typedef struct ssc_fit {
    rb_problem problem;
    ssc_options options;
    ssc_parameters parameters;
    ssc_survey survey;
    ssc_progress progress;
    ssc_sums sums;
    et_work work;
    rb_dense rows, part; /* samples of a sparse block; products of a block */
    et_schedule schedule;
    double noise, min_sigma;
    bool warm, last;
    ssc_engine *engine;
    ssc_results results;
} ssc_fit;

extern const rb_part ssc_parts[];
extern const rb_option ssc_option_rows[];
extern const char *const ssc_metric_names[];
void ssc_shape(const rb_problem *problem, const void *options, rb_shape *shape);
rb_error ssc_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state);
void ssc_finish(void *state);
rb_error ssc_survey_block(rb_context *ctx, void *state, const rb_block *block);
rb_error ssc_survey_end(rb_context *ctx, void *state);
rb_error ssc_begin(rb_context *ctx, void *state);
rb_error ssc_block(rb_context *ctx, void *state, const rb_block *block);
rb_error ssc_end(rb_context *ctx, void *state, bool *again);
void ssc_last(void *state);
rb_error ssc_mstep(rb_context *ctx, void *state);
void ssc_objective(void *state, double *objective, double *estep_objective);
void ssc_metrics(const void *state, double *values);
bool ssc_may_stop(const void *state);
rb_error ssc_store(rb_context *ctx, void *state, rb_model *model);
/* Slab and the rest from a model into parameters of its shape. */
rb_error ssc_load_parameters(rb_context *ctx, const rb_model *model, ssc_parameters *p);

#endif
