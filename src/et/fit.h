/* What a fit by expectation truncation keeps while it runs. Private to src/et. */
#ifndef RB_ET_FIT_H
#define RB_ET_FIT_H

#include "engine.h"

/* ---- schedule.c: temperature and noise over the iterations t = 0 .. I - 1 ----------------------
 */

enum { ET_MOST_KNOTS = 16 };

/* Lines between values at shares of the iterations. */
typedef struct et_knots {
    int count;                                         /* 0: none, the usual course */
    double share[ET_MOST_KNOTS], value[ET_MOST_KNOTS]; /* shares ascend from 0 */
} et_knots;

/* Reads "0=13,0.1=13,0.8=1"; the sentence names the option. */
rb_error et_knots_parse(rb_context *ctx, const char *option, const char *text, double least,
                        double most, et_knots *knots);
double et_knots_at(const et_knots *knots, double share);

typedef struct et_schedule {
    int64_t iterations;
    double start, end; /* temperatures */
    et_knots temperature, noise, cut;
} et_schedule;

/* Reads "13:1.05" or "13", where what is not given keeps its value; or knots. */
rb_error et_schedule_parse(rb_context *ctx, const char *text, et_schedule *schedule);
double et_temperature(const et_schedule *schedule, int64_t iteration);
/* Has the end temperature been reached? */
bool et_schedule_ended(const et_schedule *schedule, int64_t iteration);
/* N_cut, samples in use: by knots; else n unless it is late enough to cut down to share * n. The
 * E-step after the last iteration uses all. */
int64_t et_cut_size_at(const et_knots *knots, int64_t iterations, int64_t iteration, int64_t n);
int64_t et_cut_size(int64_t iterations, int64_t iteration, int64_t n, double share);

/* ---- cut.c: the samples of largest log evidence ------------------------------------------------
 */

/* A sample is in use when its evidence is above the least, or equal and its index at most `last`.
 */
typedef struct et_cut {
    double least;
    int64_t last;
} et_cut;

/* work has n values. count is in 1 .. n. */
et_cut et_cut_find(const double *evidence, int64_t n, int64_t count, double *work);
static inline bool et_cut_uses(et_cut cut, double evidence, int64_t sample) {
    return evidence > cut.least || (evidence == cut.least && sample <= cut.last);
}

/* ---- survey.c: what the defaults need to know of the data --------------------------------------
 */

typedef struct et_survey {
    double count, sum, squares;
    double mean, sd; /* of all values; sd is above 0 */
    double large;    /* the 99th percentile of |y|, within 1 % */
    int64_t *bins;   /* of |y|, by the leading bits of its float32 */
} et_survey;

rb_error et_survey_new(rb_context *ctx, et_survey *survey);
void et_survey_free(et_survey *survey);
void et_survey_add(et_survey *survey, rb_dense rows);
void et_survey_finish(et_survey *survey);

/* ---- trace.c: what a traced fit keeps of its iterations ---- */

enum { ET_TRACE_SAMPLES = 40, ET_TRACE_FIGURES = 3, ET_TRACE_FIELDS = 10 };

typedef struct et_trace {
    double
        *figures; /* iterations x 3: temperature, samples in use, candidate hits; NULL: no trace */
    double *quality; /* iterations x count: Q of samples, at the temperature of the iteration */
    int64_t count;   /* 0 for more units than can be enumerated */
    double hits, marginals; /* sums of this iteration */
    double *fields;         /* kept x H x D: the fields before the M-step of iterations at[] */
    int64_t at[ET_TRACE_FIELDS], kept;
} et_trace;

/* ---- the fit -----------------------------------------------------------------------------------
 */

/* Sums over samples and states by sets of causes (moments_sets.c); empty unless they are few. */
typedef struct et_sets {
    int64_t most;               /* causes of a set: 2 to so many */
    int64_t *choose;            /* (H + 1) x (most + 1): C(h, k) */
    rb_dense weights, products; /* sets x D: sum q where y_d is there, sum q y */
} et_sets;

/* Sums over the samples in use. */
typedef struct et_moments {
    int64_t used;
    double values;     /* that are there in these samples */
    double squares;    /* sum |y|^2 */
    double active;     /* sum <|s|> */
    double *sums;      /* H: sum <s_h> */
    double residual;   /* sum <|y - Wbar(s)|^2> with the fields of the E-step */
    double evidence;   /* sum of log evidence */
    rb_dense products; /* H x D: sum <s_h> y_d; max: sum <A_hd> y_d */
    rb_dense second;   /* H x H: sum <s s'>; linear */
    rb_dense weights;  /* H x D: sum <A_hd>, or of shares (down); linear only where values are
                        * missing: sum <s_h> over the samples in which feature d is there */
    rb_dense pairs;    /* H (H - 1) / 2 x D: sum <s_j s_k>, j < k, likewise; or empty
                        * (missing_moments.c) */
    et_sets sets;      /* max: of states of two causes and more */
    rb_dense part;     /* H x D of the type: the products of a block */
} et_moments;

typedef struct et_state {
    rb_problem problem;
    rb_et_options options; /* as they are used: nothing is left to be chosen but what data decide */
    const et_model *model;
    et_model own_model; /* room for one that is made from a general table */
    bool anneal_prior, learn_sigma, warm;
    et_survey survey;
    et_schedule schedule;
    double noise; /* sd of the noise on fields */
    double least_sigma;
    et_engine *engine;
    et_results results;
    et_moments moments;
    rb_dense rows;     /* block_samples x D of the type: a sparse block, or one whose missing values
                        * are 0; else empty */
    rb_dense mask;     /* the same shape: 1 where a value is there; empty unless some are missing */
    int64_t iteration; /* M-steps done */

    /* The E-step: its passes and the cut. */
    bool cutting, ranking;
    bool measuring, measured; /* a pass for the log-likelihood alone; it was made */
    bool last;                /* no M-step follows */
    double log_likelihood;    /* at temperature 1; NaN where no pass gave it */
    double free_energy;       /* of the samples in use */
    int64_t n_cut, last_used; /* samples in use; of the last M-step */
    et_cut cut;
    double *evidence; /* N: what the cut orders samples by */
    double *work;     /* N */
    double all_evidence;
    bool *in_map; /* H: a cause in the most probable state of a sample */

    et_trace trace;

    /* M-step. */
    rb_spd *factor;           /* linear: of the causes that were active */
    rb_dense system, inverse; /* H x H */
    rb_dense target;          /* H x D */
    rb_dense powers, roots;   /* H x D, max: R = W^rho, normalised, and R^a */
    double exponent;          /* a = 1 - 1 / rho */
} et_state;

/* start.c */
rb_error et_start(rb_context *ctx, const rb_problem *problem, const rb_et_options *options,
                  const rb_model *start, void **state);
void et_finish(void *state);
rb_error et_survey_block(rb_context *ctx, void *state, const rb_block *block);
rb_error et_store(rb_context *ctx, void *state, rb_model *model);
/* Candidates and active causes as they are used, within their bounds. */
void et_limits(const rb_et_options *options, int64_t *candidates, int64_t *max_active);
/* How far samples may be widened, once candidates and active causes are known. */
void et_widths(const rb_et_options *options, et_setup *setup);
/* What the engine needs to know; RB_ERROR_ARGUMENT for a selection that the model cannot have. */
rb_error et_setup_of(rb_context *ctx, const et_model *model, const rb_et_options *options,
                     int64_t n_features, rb_type type, et_setup *setup);
/* Fields, sigma and prior of a model into an engine of its shape. */
rb_error et_load_parameters(rb_context *ctx, const rb_model *model, et_engine *engine);

/* keep.c */
rb_error et_kept_arrays(void *state, rb_kept_fn fn, void *user);

/* trace.c */
rb_error et_trace_new(rb_context *ctx, et_state *st);
void et_trace_free(et_trace *trace);
/* Once the evidences of a block are known; before the M-step of an iteration; at the end. */
void et_trace_block(rb_context *ctx, et_state *st, const rb_block *block);
void et_trace_iteration(et_state *st);
rb_error et_trace_store(rb_context *ctx, const et_state *st, rb_model *model);

/* estep.c */
rb_error et_begin(rb_context *ctx, void *state);
rb_error et_block(rb_context *ctx, void *state, const rb_block *block);
rb_error et_end(rb_context *ctx, void *state, bool *again);
/* From now on an E-step is one for the log-likelihood alone. */
void et_last(void *state);

/* moments.c: what models add for a block, and room for it. */
rb_error et_moments_new(rb_context *ctx, const et_state *st, et_moments *moments);
void et_moments_free(et_moments *moments);
void et_moments_clear(et_moments *moments);
rb_error et_linear_add(rb_context *ctx, et_state *st, const rb_block *block);
rb_error et_max_add(rb_context *ctx, et_state *st, const rb_block *block);
rb_error et_general_add(rb_context *ctx, et_state *st, const rb_block *block);
/* Samples of the block as dense rows of the type; what is missing as NaN. */
rb_dense et_given_rows(et_state *st, const rb_block *block);
/* The same; what is missing as 0, and st->mask filled. */
rb_dense et_block_rows(et_state *st, const rb_block *block);
/* sums += the rows. */
void et_add_rows(const et_kernels *kernels, rb_dense rows, double *sums);
/* moments->sums += <s>. */
void et_add_sums(et_state *st, int64_t count);
/* sums += mean' rows, H x D; through moments->part. */
void et_add_products(rb_context *ctx, et_state *st, rb_dense mean, rb_dense rows, rb_dense sums);

/* moments_sets.c */
rb_error et_sets_new(rb_context *ctx, const et_state *st, et_sets *sets);
void et_sets_free(et_sets *sets);
/* Which set some causes are, given from the highest down. */
int64_t et_set_of(const et_sets *sets, int64_t units, const int64_t *causes, int size);
/* After the last block: what its causes have of each set, into weights and products. */
void et_sets_finish(et_state *st);

/* missing_moments.c: what linear models need besides where values are missing. */
rb_error et_missing_moments_new(rb_context *ctx, const et_state *st, et_moments *moments);
void et_missing_add(rb_context *ctx, et_state *st, const rb_block *block);
/* After the last block. */
void et_missing_finish(et_state *st);
/* Q of feature d into moments->second; only with moments->pairs. */
void et_missing_second(et_state *st, int64_t d);
/* st->target = Q W, each feature with its own Q if it has one. */
void et_apply_second(rb_context *ctx, et_state *st);

/* mstep.c: fields by the model, then noise, bounds, sigma, prior. */
rb_error et_mstep(rb_context *ctx, void *state);
/* mstep_solve.c, mstep_multiplicative.c, mstep_shares.c: new fields from the moments. */
rb_error et_mstep_solve(rb_context *ctx, et_state *st);
rb_error et_mstep_multiplicative(rb_context *ctx, et_state *st);
rb_error et_mstep_shares(rb_context *ctx, et_state *st);
/* Powers of the fields for the A sums, once for each E-step. */
void et_max_powers(et_state *st);
/* (sum |y|^2 - 2 <W, P> + <W, Q W>) / (D |M|), or / values that are there, with the fields as they
 * are. */
double et_linear_variance(rb_context *ctx, et_state *st);
/* The prior for which states of at most max_active causes have `active` of them on average. */
double et_learn_prior(int64_t units, int64_t max_active, double active);
/* The priors for which each cause has active[h] on average in such states; begins from those given.
 */
void et_learn_priors(int64_t units, int64_t max_active, const double *active, double *prior);

void et_objective(void *state, double *objective, double *estep_objective);
/* figures.c: temperature, samples and causes in use, sigma, prior, log-likelihood, free energy;
 * traced also candidate hits, Q and -log Q. */
extern const char *const et_figure_names[];
void et_figures(const void *state, double *values);
/* Only at the end temperature does a settled objective mean anything. */
bool et_may_stop(const void *state);

/* coder.c, rebuild.c, evaluate.c */
rb_error et_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void et_coder_free(void *coder);
rb_error et_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error et_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows);
rb_error et_rebuild(rb_context *ctx, void *coder, const rb_block *block, void *rows);
rb_error et_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);

#endif
