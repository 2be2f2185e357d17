/* What a fit by expectation truncation keeps while it runs. Private to src/et.
 *
 * Its parts are described by the tables of parts.c: parameters and progress are what checkpoints
 * keep, the survey and the sums are added up over samples by the loop, scratch may be thrown away.
 * An engine works on blocks and sees pass, parameters and sums only. */
#ifndef RB_ET_FIT_H
#define RB_ET_FIT_H

#include "engine.h"

/* ---- schedule.c: temperature, noise and cut over the iterations t = 0 .. I - 1 ---- */

enum { ET_MAX_KNOTS = 16 };

/* Lines between values at shares of the iterations, which ascend from 0; or none. */
typedef struct et_knots {
    int count;
    double share[ET_MAX_KNOTS], value[ET_MAX_KNOTS];
} et_knots;

typedef struct et_schedule {
    int64_t iterations;
    double start, end; /* temperatures */
    et_knots temperature, noise, cut;
    bool late_cut; /* samples are cut only once it is cold */
} et_schedule;

/* The courses that options give; what they do not give keeps its value. */
rb_error et_schedule_of(rb_context *ctx, const rb_et_options *options, et_schedule *schedule);
/* Reads "0=13,0.1=13,0.8=1"; the message names the option. */
rb_error et_knots_parse(rb_context *ctx, const char *option, const char *text, double min,
                        double max, et_knots *knots);
/* Reads "13:1.05" or "13", where what is not given keeps its value; or knots. */
rb_error et_schedule_parse(rb_context *ctx, const char *text, et_schedule *schedule);
double et_temperature(const et_schedule *schedule, int64_t iteration);
/* Does the temperature stay at its end from here on? Then sigma and prior are learned. */
bool et_schedule_ended(const et_schedule *schedule, int64_t iteration);
/* Do fields get no noise any more? */
bool et_noise_ended(const et_schedule *schedule, int64_t iteration);
/* The sd of the noise on fields after an iteration: by knots, else `usual`. */
double et_noise_at(const et_schedule *schedule, int64_t iteration, double usual);
/* N_cut, samples in use: by knots; else n unless it is late enough to cut down to share * n. The
 * E-step after the last iteration uses all. */
int64_t et_cut_size(const et_schedule *schedule, int64_t iteration, int64_t n, double share);

/* ---- setup.c: what options come to ---- */

typedef struct et_plan {
    rb_et_options options;
    et_setup setup;
    bool anneal_prior, learn_sigma, reflect;
    et_schedule schedule;
    double noise; /* sd of the noise on fields; as the next, the data may decide it: survey.c */
    double min_sigma;
} et_plan;

/* RB_ERROR_ARGUMENT for options that cannot be had or would do nothing. */
rb_error et_plan_of(rb_context *ctx, const rb_problem *problem, const rb_et_options *options,
                    et_plan *plan);

/* ---- the parts ---- */

typedef struct et_survey {
    double count, sum, squares; /* of all values that are there */
    int64_t *bins;              /* of |y|, by the leading bits of its float32 */
    double *sums, *sketch;      /* D: sum y; D x columns: sum y (G'y)'; critical.c */
} et_survey;

/* Sums of a pass. */
typedef struct et_sums {
    /* Over all samples; only in a pass that ranks, or uses all. */
    double all_evidence;
    bool *in_map; /* H: a cause in the most probable state of a sample */
    /* Of traced samples: p(s_h not 0 | y) of the candidates, of all causes. */
    double hits, marginals;
    double *quality; /* Q of each traced sample */

    /* Over the samples in use. */
    int64_t used;
    double values;     /* that are there in these samples */
    double squares;    /* sum |y|^2 */
    double active;     /* sum <|s|> */
    double *causes;    /* V H: sum of the probability of each item */
    double residual;   /* sum <|y - Wbar(s)|^2> with the fields of the E-step */
    double evidence;   /* sum of log evidence */
    rb_dense products; /* H x D: sum <s_h> y_d; of items, max: sum <A> y_d; shares: up */
    rb_dense second;   /* H x H: sum <s s'>; linear */
    rb_dense weights;  /* V H x D: sum <A>, or of shares (down); linear only where values are
                        * missing: causes over the samples in which feature d is there, at last
                        * sum <s_h^2> in the first H rows */
    rb_dense pairs;    /* H (H - 1) / 2 x D: sum <s_j s_k>, j < k, likewise; or empty: missing.c */
    /* max: of states of two causes and more by their sets of items, until the pass is over; empty
     * unless sets are few (moments_states.c). sets x D: sum q where y_d is there, sum q y */
    rb_dense set_weights, set_products;
} et_sums;

/* What an iteration takes from the one before, besides parameters. */
typedef struct et_progress {
    int64_t iteration;     /* M-steps done */
    int64_t last_used;     /* samples in use in the last one */
    bool *in_map;          /* H: in the last E-step */
    double log_likelihood; /* at temperature 1; NaN where no pass gave it */
} et_progress;

/* What a traced fit reports of its iterations (trace.c). */
enum { ET_TRACE_SAMPLES = 40, ET_TRACE_METRICS = 3, ET_TRACE_FIELDS = 10 };
typedef struct et_trace {
    double *metrics; /* iterations x 3: temperature, samples in use, candidate hits; or NULL */
    double *quality; /* iterations x samples: Q, at the temperature of the iteration */
    double *fields;  /* kept x H x D: the fields before the M-step of iterations at[] */
    int64_t at[ET_TRACE_FIELDS], kept;
} et_trace;

/* Scratch of the E-step and the M-step. */
typedef struct et_work {
    double *evidence, *sorted; /* of our samples: what the cut orders them by */
    double *active;            /* H */
    rb_dense target;           /* H x D */
    rb_dense row;              /* 1 x D: a sample, in the survey */
    double *sketch;            /* D x columns: G of critical.c */
    double *means, *counts;    /* D: of a block, likewise; only where values are missing */
    rb_dense system, inverse;  /* H x H; linear */
    rb_spd *factor;            /* of the causes that were active; linear */
} et_work;

enum {
    ET_UNITS = 1,
    ET_FEATURES,
    ET_TRACED, /* 1, or 0 */
    ET_TRACED_ITERATIONS,
    ET_TRACED_SAMPLES,
    ET_TRACED_FIELDS,
    ET_TRACED_CELLS, /* of the fields */
    ET_TRACED_METRICS,
    ET_OWN, /* samples */
    ET_BINS,
    ET_SKETCH,   /* columns of G, or 0 */
    ET_SKETCHED, /* features where there is a G, else 0 */
    ET_MEANS,    /* and where values are missing besides */
    ET_SECOND,   /* H in linear models, else 0 */
    ET_WEIGHTS,  /* V H where there are weights, else 0 */
    ET_PAIRS,
    ET_SETS,
    ET_ITEMS,
    ET_VALUED,  /* ET_ITEMS where there are shares of values, else 0 */
    ET_PRODUCTS /* H, or V H where sums are of items */
};
extern const rb_part et_parts_any[], et_parts_not_negative[], et_parts_positive[];
void et_shape(const rb_problem *problem, const void *options, rb_shape *shape);

/* ---- passes and engines ---- */

typedef enum et_pass_kind {
    ET_PASS_NONE,
    ET_PASS_MEASURE, /* evidence of all samples alone */
    ET_PASS_RANK,    /* the same, before a cut */
    ET_PASS_CUT,     /* sums of the samples that the cut leaves; parameters as in the pass before */
    ET_PASS_ALL      /* sums of all samples */
} et_pass_kind;

/* What engines are told as their parameters: it stays where it is during the pass. */
typedef struct et_pass {
    et_pass_kind kind;
    const et_parameters *parameters;
    double beta, beta_prior;
    bool widens;      /* full samples are done again */
    int64_t traced;   /* samples, evenly spread; 0: none */
    et_cut cut;       /* what kind CUT uses */
    double *evidence; /* of our samples: what they are ranked by; read in kind CUT, else written */
} et_pass;

static inline bool et_pass_uses(const et_pass *pass, const rb_block *block, int64_t i) {
    return pass->kind != ET_PASS_CUT ||
           et_cut_uses(pass->cut, pass->evidence[block->own + i], block->first + i);
}

/* C(h, k) for the numbers of sets of items of 2 to `max` causes (moments_states.c). */
typedef struct et_sets {
    int64_t max, units;
    int values;
    int64_t *choose; /* (H + 1) x (max + 1); NULL: sums by sets are not kept */
} et_sets;

/* The engine of the processor (engine_cpu.c). */
typedef struct et_cpu {
    rb_problem problem;
    et_engine *engine;
    et_results results;
    const et_pass *pass;
    rb_scratch memory; /* of what follows */
    rb_dense rows;     /* block_samples x D of the type: a sparse block, or one whose missing values
                       * are 0; else empty */
    rb_dense mask;     /* the same shape: 1 where a value is there; empty unless some are missing */
    rb_dense part;     /* H x D of the type: the products of a block */
    rb_dense powers, roots; /* V H x D, max: R = W^rho, normalised, and R^a */
    et_soft soft;           /* a = 1 - 1 / rho */
    et_sets sets;
} et_cpu;

/* Options are checked, parameters are an et_pass, sums et_sums. */
extern const rb_engine et_engine_cpu;

/* RB_ERROR_NUMERIC: that of sample i of the block is not finite. */
rb_error et_check_evidence(rb_context *ctx, const rb_block *block, int64_t i, double evidence);

/* moments.c. Samples of the block as dense rows of the type, where need be in `copies`; with a
 * mask, which is filled, what is missing is 0. */
rb_dense et_block_rows(const rb_block *block, rb_dense copies, rb_dense mask);
/* sums += the rows. */
void et_add_rows(const et_kernels *kernels, rb_dense rows, double *sums);
/* sums += mean' rows, H x D; through a room of the type. */
void et_add_products(rb_context *ctx, rb_dense room, rb_dense mean, rb_dense rows, rb_dense sums);
/* Adds the pairs of a sample whose lower candidate is in that band of rows of Q, above its
 * diagonal. A candidate is each step-th in the list. */
enum { ET_BAND_ROWS = 64 };
void et_add_pairs(const int32_t *list, int candidates, int step, const double *pairs, int64_t band,
                  rb_dense second);

/* A band of features of the samples in use, one of which is looked at. */
typedef struct et_band {
    const et_cpu *cpu;
    et_sums *sums;
    rb_dense rows;        /* the samples */
    int64_t first, count; /* features */
    double y[ET_BAND];
    double there[ET_BAND]; /* 1, or 0 for a value that is missing; only where some may be */
    bool whole;            /* nothing of the sample is missing, in other bands neither */
    void (*add)(const struct et_band *band, int64_t i);
} et_band;
/* Hands each band of each sample in use to add; a band on one thread, its samples in order. */
void et_each_band(rb_context *ctx, const et_cpu *cpu, rb_dense rows, et_sums *sums,
                  void (*add)(const et_band *band, int64_t i));
static inline double *et_band_row(const et_band *band, rb_dense rows, int64_t row) {
    return (double *)rb_dense_row(rows, row) + band->first;
}

/* rho of the soft maximum: T / (T - 1), at most 21, which is that of the end temperature 1.05
 * (section 4.2.1 has no bound). */
double et_soft_exponent(double beta);
/* How many sets of items sums are kept for; 0: for none. */
int64_t et_sets_count(const et_setup *setup, int64_t n_samples);
void et_sets_new(const et_setup *setup, rb_scratch *memory, et_sets *sets);

/* ---- missing.c: what linear models need besides where values are missing ---- */

/* Pairs of causes for which sums are kept for each feature; 0 where that is too much. */
int64_t et_missing_pairs(int64_t units, int64_t features);
void et_missing_add(rb_context *ctx, et_cpu *cpu, rb_dense rows, et_sums *sums);
/* After the last block. */
void et_missing_finish(const et_cpu *cpu, et_sums *sums);
/* Q of feature d into sums->second; only with sums->pairs. */
void et_missing_second(et_sums *sums, int64_t d);
/* out = Q W, each feature with its own Q if it has one. */
void et_apply_second(rb_context *ctx, const et_sums *sums, rb_dense fields, rb_dense out);

/* ---- the fit: what the loop holds ---- */

/* The E-step at hand (estep.c). */
typedef struct et_estep {
    et_pass pass;
    bool measured;        /* a pass for the log-likelihood alone was made */
    bool last;            /* no M-step follows */
    int64_t n_cut;        /* samples in use */
    double mean_evidence; /* over all samples */
    double free_energy;   /* mean over the samples in use */
} et_estep;

typedef struct et_fit {
    rb_problem problem;
    et_plan plan;
    rb_shape shape;
    et_parameters parameters;
    et_survey survey;
    et_progress progress;
    et_trace trace;
    et_sums sums;
    et_work work;
    et_estep estep;
    bool warm;    /* parameters are those of a model */
    void *engine; /* of problem.engine */
} et_fit;

/* What rb_method has, of start.c, survey.c, estep.c, mstep.c and trace.c. */
enum { ET_SURVEY_BINS = 1 << 15 };
rb_error et_start(rb_context *ctx, const rb_problem *problem, const void *options,
                  const rb_model *start, void **state);
void et_finish(void *state);
rb_error et_survey_block(rb_context *ctx, void *state, const rb_block *block);
rb_error et_survey_end(rb_context *ctx, void *state);
rb_error et_begin(rb_context *ctx, void *state);
rb_error et_block(rb_context *ctx, void *state, const rb_block *block);
rb_error et_group_end(rb_context *ctx, void *state);
rb_error et_end(rb_context *ctx, void *state, bool *again);
void et_last(void *state);
rb_error et_mstep(rb_context *ctx, void *state);
void et_objective(void *state, double *objective, double *estep_objective);
bool et_may_stop(const void *state);
extern const char *const et_metric_names[];
extern const rb_metric_plot et_plots[];
extern const rb_metric_row et_metric_rows[]; /* evaluate.c */
extern const rb_trace_arrays et_traces;
void et_metrics(const void *state, double *values);
rb_error et_store(rb_context *ctx, void *state, rb_model *model);

/* method.c: samples of so many bytes in a block, of n. */
int64_t et_samples_of(double bytes, int64_t n);

static inline rb_stream et_stream(const rb_problem *problem, rb_purpose purpose) {
    return (rb_stream){(uint64_t)problem->fit->seed, purpose, (uint32_t)problem->restart};
}

/* critical.c: columns of G, 0 where the temperature is given or another rule finds it; G; a block
 * of the survey; tr(C^2) / tr(C) at its end. */
int64_t et_critical_columns(const rb_problem *problem, const et_setup *setup,
                            const rb_et_options *options);
void et_critical_start(et_fit *f);
void et_critical_add(et_fit *f, const rb_block *block);
double et_critical_variance(const et_fit *f);

/* start.c: fields as loadings, that is transposed; and fields, sigma and prior of a model into
 * parameters of its shape. */
rb_error et_store_fields(rb_context *ctx, rb_model *model, const char *name, rb_dense fields);
rb_error et_load_parameters(rb_context *ctx, const rb_model *model, const et_values *values,
                            et_parameters *p);
/* The shares that options give. */
void et_start_shares(const et_values *values, et_parameters *p);

/* trace.c: the number of samples; what a pass found of them; before the M-step of an iteration; at
 * the end. */
int64_t et_trace_samples(const rb_problem *problem, const et_setup *setup);
void et_trace_pass(et_fit *f);
void et_trace_iteration(et_fit *f);
rb_error et_trace_store(rb_context *ctx, const et_fit *f, rb_model *model);

/* New fields from the sums. mstep_solve.c, mstep.c */
rb_error et_mstep_solve(rb_context *ctx, const et_setup *setup, et_sums *sums, et_work *work,
                        et_parameters *p);
rb_error et_mstep_multiplicative(rb_context *ctx, const et_setup *setup, et_sums *sums,
                                 et_work *work, et_parameters *p);
rb_error et_mstep_shares(rb_context *ctx, const et_setup *setup, et_sums *sums, et_work *work,
                         et_parameters *p);
/* (sum |y|^2 - 2 <W, P> + <W, Q W>) / values that are there, with the fields as they are; target
 * (H x D) is scratch. */
double et_linear_variance(rb_context *ctx, const et_sums *sums, rb_dense fields, rb_dense target);
/* Adds the iteration's N(0, noise^2). */
void et_add_noise(const rb_problem *problem, int64_t iteration, double noise, rb_dense fields);
/* RB_ERROR_NUMERIC where a value is not finite. */
rb_error et_check_fields(rb_context *ctx, rb_dense fields);

/* prior.c: the prior for which states of at most max_active causes have `active` of them on
 * average; the priors for which each cause has active[h], from those given. */
double et_learn_prior(int64_t units, int64_t max_active, double active);
void et_learn_priors(int64_t units, int64_t max_active, const double *active, double *prior);
/* The shares of values from the sums of the probabilities of items, of each cause or of all. */
void et_learn_shares(const et_setup *setup, bool each, const double *sums, double *shares);

/* ---- posteriors of samples under a model, at temperature 1: coder.c, evaluate.c ---- */

typedef struct et_coder {
    rb_scratch memory; /* of the parameters */
    et_parameters parameters;
    et_engine *engine;
    int64_t block_samples;    /* of the blocks it is given, at most */
    et_results results;       /* memory for as many of them as take a few megabytes */
    struct et_device *device; /* NULL before it has coded: codes alone are computed there */
} et_coder;

/* From now on posteriors keep so much; where fields add up, means are what et_expect needs. */
rb_error et_coder_keep(rb_context *ctx, et_coder *coder, et_keep keep);
/* The states whatever the superposition. */
rb_error et_coder_keep_states(rb_context *ctx, et_coder *coder);
/* Takes samples first .. of a walk, whose posteriors are coder->results. */
typedef rb_error (*et_coded_fn)(rb_context *ctx, void *user, int64_t first, const rb_block *block);
/* Hands all samples of a feed, or else of a block, to fn, as many at a time as the results hold. */
rb_error et_code(rb_context *ctx, et_coder *coder, rb_feed *feed, const rb_block *block,
                 et_coded_fn fn, void *user);
/* <Wbar(s)> of the first samples of coder->results into rows, of the model's type and
 * contiguous. */
void et_expect(rb_context *ctx, et_coder *coder, rb_dense rows);

rb_error et_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void et_coder_free(void *coder);
rb_error et_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes);
rb_error et_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows);
rb_error et_rebuild(rb_context *ctx, void *coder, const rb_block *block, void *rows);
rb_error et_states(rb_context *ctx, const rb_model *model, rb_source *source, rb_state_fn fn,
                   void *user);
double et_active_above(const rb_model *model);
bool et_has_values(const rb_model *model); /* besides 0 and 1 */
rb_error et_noise(rb_context *ctx, const rb_model *model, double *variances);
rb_error et_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics);
int64_t et_samples_used(const rb_model *model);
void et_summary(const rb_model *model, bool details, char *line, size_t size);
/* method.c: may several processes fit so (rb_method.spreads)? */
rb_error et_spreads(rb_context *ctx, const rb_problem *problem, const void *options);

/* sample.c */
rb_error et_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                 const rb_block *block, void *codes);
rb_error et_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                 const void *codes, void *values);

#endif
