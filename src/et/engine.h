/* Expectation truncation (Luecke, Eggert 2010): the E-step. Private to src/et.
 *
 *   N, D, H      samples, features, causes
 *   H', gamma    candidates of a sample; most active causes in a state
 *   y            a sample, D                      W_h    the field of cause h, D
 *   s            a state, in {0, 1}^H             k      its active causes, |s|
 *   b            W'y, H                           G      W'W, H x H
 *   pi, sigma    prior and noise                  beta   1 / temperature
 *
 * The model with its likelihood annealed by beta and its prior by beta_p:
 *   log p(s, y) = const(y) + e(s),  e(0) = 0
 *   const(y)    = -beta |y|^2 / (2 sigma^2) - D/2 log(2 pi sigma^2 / beta) + beta_p H log(1 - pi)
 *   e(s)        = beta / (2 sigma^2) (|y|^2 - |y - Wbar(s)|^2) + beta_p k logit(pi)
 * where Wbar(s) is the superposition of the active fields. The posterior is that of the states with
 * at most gamma active causes, all of them candidates, and of the single causes (singletons). For
 * one cause alone, e = (beta / sigma^2)(b_h - G_hh / 2) + beta_p logit(pi) whatever the
 * superposition.
 */
#ifndef RB_ET_ENGINE_H
#define RB_ET_ENGINE_H

#include "et.h"
#include "kernels.h"

/* Active causes in a state, at most: a tree of more has too many states. */
enum { ET_MOST_ACTIVE = 32 };

/* Samples in one task of the E-step. Fixed: results must not depend on the number of threads. */
enum { ET_TASK_SAMPLES = 128 };

extern const rb_option et_option_rows[]; /* options.c */
enum { ET_SHARED_OPTIONS = 3 };          /* the first row that is for all methods */

/* ---- states.c: the states of the candidates as a tree (kernels.h) ---- */

/* Are there few enough states to be looked at? */
bool et_tree_fits(int64_t candidates, int64_t max_active);
rb_error et_tree_check(rb_context *ctx, int64_t candidates, int64_t max_active);
/* RB_ERROR_ARGUMENT when they are too many: counted before anything is allocated. */
rb_error et_tree_new(rb_context *ctx, int64_t candidates, int64_t max_active, et_tree *tree);
void et_tree_free(et_tree *tree);

/* ---- models ---- */

typedef struct et_parameters {
    rb_dense fields; /* H x D, float64 */
    double sigma;
    double *prior; /* H */
} et_parameters;

struct et_engine;
struct et_scratch;
struct et_state;

/* A sample while its posterior is computed. */
typedef struct et_sample {
    int64_t n;                 /* values that are there: D unless some are missing */
    const int32_t *places;     /* n: their features, ascending; NULL: all */
    const double *y;           /* n: the values */
    const double *b, *square;  /* H: W'y, only with Gaussian noise, and |W_h|^2 over these values */
    const int32_t *candidates; /* H', ascending */
    const double *single;      /* H: e of each cause alone */
} et_sample;

/* What the M-step asks of the E-step. */
typedef enum et_keep { ET_KEEP_MEANS, ET_KEEP_PAIRS, ET_KEEP_STATES } et_keep;

/* A model: how fields superpose, and all that follows from it. */
typedef struct et_model {
    const char *name;
    const rb_et_model *general; /* its noise and shares; NULL: Gaussian, by the formulas above */
    bool non_negative;          /* fields begin around the mean of the data, else around 0 */
    double least, most;         /* fields are kept between */
    double empty;               /* the superposition of no cause */
    bool anneal_prior;          /* by default */
    double end_temperature;
    et_keep keep;
    bool max; /* the M-step is that of MCA */
    /* out = wbar with one more field; elementwise. `user` is that of `general`, or NULL. */
    void (*superpose)(void *user, int64_t n, const double *wbar, const double *field, double *out);
    void *user;
    /* e of every state of the tree, in lanes, for `count` samples; other lanes get what they may.
     */
    void (*energies)(const struct et_engine *engine, const et_tree *tree,
                     struct et_scratch *scratch, const et_sample *samples, int count);
    /* Adds what the M-step needs of the block whose posteriors are in the results. */
    rb_error (*add)(rb_context *ctx, struct et_state *st, const rb_block *block);
    rb_error (*mstep)(rb_context *ctx, struct et_state *st);
} et_model;

extern const et_model et_linca, et_nmf, et_nmf_poisson, et_mca, et_mca_poisson;

/* The model of a method with its options; `room` takes one that is made from a general table. */
const et_model *et_model_of(const rb_method *method, const rb_et_options *options, et_model *room);

/* posterior_linear.c, posterior_general.c */
void et_linear_energies(const struct et_engine *engine, const et_tree *tree,
                        struct et_scratch *scratch, const et_sample *samples, int count);
void et_general_energies(const struct et_engine *engine, const et_tree *tree,
                         struct et_scratch *scratch, const et_sample *samples, int count);
/* e of every cause alone. */
void et_singles(const struct et_engine *engine, struct et_scratch *scratch, const et_sample *sample,
                double *single);
/* What a superposition of n features adds to e: Gaussian beta / (2 sigma^2) sum_d wbar (2 y -
 * wbar), else beta times the log-likelihood. */
double et_fit_energy(const struct et_engine *engine, int64_t n, const double *y,
                     const double *wbar);

/* poisson.c */
static const double et_least_rate = 1e-4;
double et_poisson_constant(void *user, int64_t n, const double *y);
double et_poisson_log_likelihood(void *user, int64_t n, const double *y, const double *wbar,
                                 double sigma);
const char *et_poisson_refuse(void *user, double value);

/* |y|^2, or minus twice the constant of a general model: evidence has constant - scale / 2 norm. */
double et_norm(const struct et_engine *engine, int64_t n, const double *y);

/* superpose.c */
void et_superpose_sum(void *user, int64_t n, const double *wbar, const double *field, double *out);
void et_superpose_max(void *user, int64_t n, const double *wbar, const double *field, double *out);

/* ---- engine.c ---- */

typedef struct et_setup {
    const et_model *model;
    int64_t n_features, units;
    rb_type type; /* of samples and posterior means */
    int64_t candidates, max_active;
    int64_t most_candidates, most_active; /* what a sample may be given; 0: no more than that */
    int selection;                        /* rb_et_selection */
    bool singletons;
    bool fixed_count; /* exactly max_active causes are active */
    bool missing;     /* samples may lack values (NaN) */
} et_setup;

/* Scratch of one thread. */
typedef struct et_scratch {
    rb_dense y, b;   /* ET_TASK_SAMPLES x D, x H, float64 */
    rb_dense single; /* ET_LANES x H, rows of whole lanes: e, then probabilities */
    double *scores;  /* H, and the best of them */
    int32_t *few;    /* H + ET_LANES: causes that may be among the best */
    double *energy;  /* states, in lanes */
    double *work;    /* inner x H', in lanes; linear */
    double *gram;    /* H' x H', in lanes */
    double *start;   /* H', in lanes */
    double *mean;    /* H', in lanes */
    double *pairs;   /* H' x H', in lanes */
    double *vectors; /* (gamma + 1) x D; H + 1 for exact */

    /* Only where values may be missing. */
    rb_dense mask;   /* ET_TASK_SAMPLES x D: 1 where a value is there, else 0 */
    rb_dense square; /* ET_TASK_SAMPLES x H: |W_h|^2 over these values */
    rb_dense packed; /* ET_LANES x D: the values that are there, side by side */
    int32_t *places; /* ET_LANES x D: their features */
    rb_dense fields; /* H', or all H for exact, x D: fields at these places */
} et_scratch;

typedef struct et_engine {
    et_setup setup;
    et_parameters parameters;
    et_tree tree;
    et_tree *wider; /* trees with one more active cause and two more candidates each */
    int widths;     /* how many there are */
    bool widens;    /* samples whose most probable state is full are done again with the next */
    et_scratch *scratch;
    int workers;
    const et_kernels *kernels;

    /* Set by et_prepare. */
    double beta, beta_prior;
    double scale;     /* beta / sigma^2; general: beta */
    double *logit;    /* H: beta_p logit(pi_h) */
    bool equal_prior; /* of all causes */
    double constant;  /* const(y) without |y|^2 */
    double per_value; /* the part of it that each feature has; general: 0 */
    rb_dense gram;    /* G, H x H */
    double *square;   /* H: its diagonal, |W_h|^2 */
    rb_dense squares; /* H x D: W_hd^2, where values may be missing */
    bool zero_field;  /* one of them is 0 */
} et_engine;

rb_error et_engine_new(rb_context *ctx, const et_setup *setup, et_engine **engine);
void et_engine_free(et_engine *engine);
double et_log_choose(int64_t units, int64_t count); /* log C(H, k) */
/* After each change of the parameters, or to change the temperature. */
void et_prepare(rb_context *ctx, et_engine *engine, double beta, double beta_prior);
/* The tree of width 0, that of all samples at first, to engine->widths. */
static inline const et_tree *et_tree_of(const et_engine *engine, int width) {
    return width ? &engine->wider[width - 1] : &engine->tree;
}
/* The most active causes that a sample may have as the engine stands. */
int64_t et_most_active(const et_engine *engine);
/* A: prior probability of at most so many active causes; of exactly that many: 1. */
double et_prior_mass(const et_engine *engine);

/* exact.c: the log evidence over all states, and p(s_h = 1 | y); for few units. */
double et_exact(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                double *marginals);

/* ---- missing.c: samples that lack values ---- */

/* What is missing (NaN) in rows becomes 0, and so does the mask there; it is 1 elsewhere. Both are
 * of one type. Returns how many values are missing. */
int64_t et_mask(rb_dense rows, rb_dense mask);
/* Row `row` of scratch->y, which is masked where values may be missing: as it is or, if it lacks
 * some, what is there packed into the lane. Without candidates and single causes. */
et_sample et_observe(const et_engine *engine, et_scratch *scratch, int lane, int64_t row);
/* Sample i of the block, in lane 0. */
et_sample et_observe_block(const et_engine *engine, et_scratch *scratch, const rb_block *block,
                           int64_t i);
/* The field of a cause at the places of the sample: itself, or packed into room (D). */
const double *et_field(const et_engine *engine, const et_sample *sample, int64_t cause,
                       double *room);

/* select.c: the H' causes of largest score, ascending in index; scores has H values. */
void et_scores(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
               double *scores);
void et_select(const et_kernels *kernels, const double *scores, int64_t units, int64_t count,
               double *best, int32_t *few, int32_t *candidates);

/* RB_ERROR_DATA when a value of a block is one that the model refuses. rows: the block, dense. */
rb_error et_check_values(rb_context *ctx, const et_model *model, int64_t first, rb_dense rows);

/* ---- posterior.c ---- */

/* Posteriors of the samples of a block. */
typedef struct et_results {
    int64_t room;     /* samples */
    rb_dense mean;    /* room x H: <s> */
    double *evidence; /* log evidence, all constants */
    double *norm;     /* |y|^2; general: minus twice the constant of y */
    int64_t *there;   /* values that are not missing */
    double *active;   /* <|s|> */
    double *energy;   /* <e(s)> less its prior terms */
    /* Of a sample: et_look_at; rooms are those of the widest tree. */
    int64_t most_candidates, most_states;
    uint8_t *width;      /* of its tree */
    int32_t *candidates; /* room x most_candidates */
    int32_t *map;        /* the most probable state: of the tree, or -1 - h for cause h alone */
    double *pairs;       /* room x most_candidates^2; NULL unless asked for */
    double *states;      /* room x most_states; NULL likewise */
    rb_dense single;     /* room x H: probability of cause h alone, with `states` */
    bool *used;          /* results of samples that are not used stay zero */
} et_results;

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t room, et_keep keep,
                        et_results *results);
void et_results_free(et_results *results);
/* What was looked at for a sample. */
typedef struct et_look {
    const et_tree *tree;
    const int32_t *candidates; /* H' */
    const double *pairs;       /* H' x H': <s_j s_k> of candidates j < k */
    const double *states;      /* probabilities of the states of the tree */
} et_look;
et_look et_look_at(const et_engine *engine, const et_results *results, int64_t i);
/* The causes of its most probable state, ascending; returns how many. */
int64_t et_map_causes(const et_engine *engine, const et_results *results, int64_t i,
                      int64_t causes[ET_MOST_ACTIVE]);
/* Bytes that a sample takes in the results. */
double et_results_bytes(const et_setup *setup, et_keep keep);

/* Posteriors of all samples with results->used set; only evidence, norm and map when `rank`. */
void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results);

/* A value of a row of float32 or float64. */
static inline double et_get(rb_type type, const void *row, int64_t i) {
    return type == RB_FLOAT32 ? (double)((const float *)row)[i] : ((const double *)row)[i];
}

#endif
