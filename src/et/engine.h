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
 *
 * A cause may have V values v_1 .. v_V besides 0 (section 5.2). What states consist of are items:
 * item a H + h is cause h at value v_a. Its field is v_a W_h, its prior term
 * beta_p log(p(s_h = v_a) / p(s_h = 0)), and no state has two items of one cause. Binary causes
 * have one value, 1, and their items are the causes. All below the M-step is about items; only the
 * selection looks at causes (by their best value), and moments are put together to those of causes.
 */
#ifndef RB_ET_ENGINE_H
#define RB_ET_ENGINE_H

#include "et.h"
#include "kernels.h"

/* Samples in one task of the E-step. Fixed: results must not depend on the number of threads. */
enum { ET_TASK_SAMPLES = 128 };

/* Where in et_option_rows (options.h), which has the rows that only some methods have first, the
 * table of a method begins. */
enum { ET_FIRST_OF_NMF, ET_FIRST_OF_MCA = 1, ET_FIRST_OF_ALL = 3, ET_FIRST_OF_OWN = 5 };

/* ---- values.c: what a cause may be besides 0 ---- */

enum { ET_MAX_VALUES = 16 };

typedef struct et_values {
    int count;
    double value[ET_MAX_VALUES], share[ET_MAX_VALUES]; /* share: p(v) / p(not 0), at the start */
    double prior;                                      /* p(not 0); 0: not given */
} et_values;

/* Of the options values and value-prior; binary ones where these are wrong, which et_values_check
 * says: RB_ERROR_ARGUMENT. */
et_values et_values_of(const rb_et_options *options);
rb_error et_values_check(rb_context *ctx, const rb_et_options *options, bool non_negative);
/* Are items the causes themselves? */
bool et_binary(const et_values *values);

/* ---- states.c: the states of the candidates as a tree (kernels.h) ---- */

/* States of at most max_active of the candidates, each at one of so many values; when they are
 * many, more than any memory. */
double et_count_states(int64_t candidates, int64_t max_active, int64_t values);
/* Are there few enough to be looked at? RB_ERROR_ARGUMENT. */
bool et_tree_fits(int64_t candidates, int64_t max_active, int64_t values);
rb_error et_tree_check(rb_context *ctx, int64_t candidates, int64_t max_active, int64_t values);
/* Of states that have been checked; useless where memory->err. */
void et_tree_new(rb_scratch *memory, int64_t candidates, int64_t max_active, int values,
                 et_tree *tree);

/* ---- models ---- */

/* What a model is: the part of a fit that is stored. */
typedef struct et_parameters {
    rb_dense fields; /* H x D, float64 */
    double sigma;
    double *prior;  /* H: p(s_h not 0) */
    double *shares; /* V x H: p(s_h = v_a | s_h not 0); NULL where V is 1 */
} et_parameters;

static inline double et_share(const et_parameters *p, int64_t item) {
    return p->shares ? p->shares[item] : 1;
}

struct et_setup;
struct et_engine;
struct et_scratch;
struct et_work;
struct et_cpu;
struct et_sums;

/* A sample while its posterior is computed. */
typedef struct et_sample {
    int64_t n;                 /* values that are there: D unless some are missing */
    const int32_t *places;     /* n: their features, ascending; NULL: all */
    const double *y;           /* n: the values */
    const double *b, *square;  /* H: W'y, only with Gaussian noise, and |W_h|^2 over these values */
    const int32_t *candidates; /* H' V: the items of candidates, whose causes ascend */
    const double *single;      /* V H: e of each item alone */
    double none;               /* e of no cause: 0 with Gaussian noise */
} et_sample;

/* What the M-step asks of the E-step. */
typedef enum et_keep { ET_KEEP_MEANS, ET_KEEP_PAIRS, ET_KEEP_STATES } et_keep;

/* The sums that an M-step needs besides <s>, and how blocks add to them. moments*.c */
typedef struct et_summing {
    et_keep keep;
    bool weights, sets; /* see et_sums */
    /* Once the parameters are known. NULL: nothing to do. */
    void (*prepare)(struct et_cpu *cpu);
    void (*add)(rb_context *ctx, struct et_cpu *cpu, rb_dense rows, struct et_sums *sums);
    /* After the last block. NULL: likewise. */
    void (*finish)(struct et_cpu *cpu, struct et_sums *sums);
} et_summing;

extern const et_summing et_sum_linear, et_sum_shares, et_sum_max;

/* A model: how fields superpose, and all that follows from it. models.c */
typedef struct et_model {
    rb_et_model own; /* without log_likelihood: noise is Gaussian */
    const et_summing *summing;
    bool non_negative; /* fields begin around the mean of the data, else around 0 */
    bool poisson;      /* its noise */
    bool additive;     /* the mean of superpositions is the superposition of means */
    /* New fields from the sums. */
    rb_error (*mstep)(rb_context *ctx, const struct et_setup *setup, struct et_sums *sums,
                      struct et_work *work, et_parameters *p);
} et_model;

et_model et_model_of(const rb_method *method, const rb_et_options *options);
/* linca, nmf-et or mca; NULL for other names. */
const rb_method *et_method_like(const char *name);
static inline bool et_gaussian(const et_model *model) {
    return !model->own.log_likelihood;
}

/* ---- energies.c ---- */

/* The engine's scale, per_value and constant, of which the prior's part is there. */
void et_prepare_noise(struct et_engine *engine);
/* |y|^2, or minus twice the constant of y: evidence has constant - scale / 2 norm. */
double et_norm(const struct et_engine *engine, int64_t n, const double *y);
/* What a superposition of n features adds to e: beta / (2 sigma^2) sum_d wbar (2 y - wbar), or beta
 * times the log-likelihood. */
double et_energy(const struct et_engine *engine, int64_t n, const double *y, const double *wbar);
/* e of every item alone; returns that of none. */
double et_singles(const struct et_engine *engine, struct et_scratch *scratch,
                  const et_sample *sample, double *single);
/* The superposition of no cause, in the first of scratch->vectors. */
const double *et_empty(const struct et_engine *engine, struct et_scratch *scratch);
/* e of every state of the tree, in lanes, for `count` samples; what other lanes get does not
 * matter. */
void et_energies(const struct et_engine *engine, const et_tree *tree, struct et_scratch *scratch,
                 const et_sample *samples, int count);

/* ---- setup.c: what the options come to ---- */

typedef struct et_setup {
    et_model model;
    et_values values;
    int64_t n_features, units;
    int64_t items; /* V * units */
    rb_type type;  /* of samples and posterior means */
    int64_t candidates, max_active;
    int64_t max_candidates, widest_active; /* what a sample may be given; else the same */
    int selection;                         /* rb_et_selection */
    int64_t region;                        /* of the most probable state; -1: all states */
    bool singletons;
    bool fixed_count; /* exactly max_active causes are active */
    bool missing;     /* samples may lack values (NaN) */
} et_setup;

/* Limits and widths are within their bounds whatever the options. Of the problem its method,
 * features, type and whether values are missing. */
et_setup et_setup_of(const rb_problem *problem, const rb_et_options *options);
/* RB_ERROR_ARGUMENT for what cannot be had. */
rb_error et_setup_check(rb_context *ctx, const et_setup *setup, const rb_et_options *options);
/* Hands each sample of a block to fn, unless that is NULL, in `row` (1 x D). RB_ERROR_DATA when a
 * value is one that the model refuses. */
rb_error et_each_row(rb_context *ctx, const et_model *model, const rb_block *block, rb_dense row,
                     void (*fn)(void *user, rb_dense row), void *user);

double et_log_choose(int64_t units, int64_t count); /* log C(H, k) */
/* A: prior probability of at most max_active active causes; of a fixed count: 1. */
double et_prior_mass(const et_setup *setup, const et_parameters *p, int64_t max_active);

/* ---- engine.c: posteriors by the processor ---- */

/* Scratch of one thread. */
typedef struct et_scratch {
    rb_dense y, b;   /* ET_TASK_SAMPLES x D, x H, float64 */
    rb_dense single; /* ET_LANES x V H, rows of whole lanes: e, then probabilities */
    double *scores;  /* H, and the best of them; or V H */
    int32_t *few;    /* H + ET_LANES: causes that may be among the best */
    double *energy;  /* states, in lanes */
    double *work;    /* inner x H' V, in lanes; linear */
    double *gram;    /* H' V x H' V, in lanes */
    double *start;   /* H' V, in lanes */
    double *mean;    /* H' V, in lanes */
    double *pairs;   /* H' V x H' V, in lanes */
    double *vectors; /* (gamma + 1) x D; H + 1 for exact */
    int32_t *apart;  /* states: causes in which they differ from another; with a region */

    /* Only where values may be missing. */
    rb_dense mask;   /* ET_TASK_SAMPLES x D: 1 where a value is there, else 0 */
    rb_dense square; /* ET_TASK_SAMPLES x H: |W_h|^2 over these values */
    rb_dense packed; /* ET_LANES x D: the values that are there, side by side */
    int32_t *places; /* ET_LANES x D: their features */
    rb_dense fields; /* H' V, or all H V for exact, x D: fields at these places */
} et_scratch;

typedef struct et_engine {
    et_setup setup;
    rb_scratch memory;
    et_tree *trees; /* widths + 1: each with one more active cause and two more candidates */
    int widths;
    et_scratch *scratch; /* of each worker */
    const et_kernels *kernels;

    /* Set by et_prepare. */
    const et_parameters *parameters;
    bool widens; /* samples whose most probable state is full are done again with the next tree */
    double beta, beta_prior;
    double scale;     /* beta / sigma^2; by functions: beta */
    double *logit;    /* V H: beta_p logit(pi_h), and of each value its share */
    bool equal_prior; /* of all items */
    bool by_energy;   /* the best single causes are those of largest e, and of no simpler score */
    double constant;  /* const(y) without |y|^2 */
    double per_value; /* the part of it that each feature has; by functions: 0 */
    rb_dense fields;  /* V H x D, of items; those of the parameters where causes are binary */
    rb_dense gram;    /* G, H x H */
    double *square;   /* H: its diagonal, |W_h|^2 */
    rb_dense squares; /* H x D: W_hd^2, where values may be missing */
    bool zero_field;  /* one of them is 0 */
} et_engine;

rb_error et_engine_new(rb_context *ctx, const et_setup *setup, et_engine **engine);
void et_engine_free(et_engine *engine);
/* For parameters that stay where and as they are until the next call, at a temperature. */
void et_prepare(rb_context *ctx, et_engine *engine, const et_parameters *p, double beta,
                double beta_prior);

/* const(y), with the norm of y and its number of values. */
static inline double et_constant(const et_engine *engine, int64_t n, double norm) {
    double missing = (double)(engine->setup.n_features - n);
    return engine->constant - missing * engine->per_value - engine->scale / 2 * norm;
}

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
/* The field of an item at the places of the sample: itself, or packed into that row of
 * scratch->fields. */
const double *et_field(const et_engine *engine, const et_scratch *scratch, const et_sample *sample,
                       int64_t item, int64_t row);

/* ---- cut.c: the largest of many; select.c: which causes they are ---- */

/* Of values, those above `min`, and those equal to it up to place `last`. */
typedef struct et_cut {
    double min;
    int64_t last;
} et_cut;

/* The `count` largest, at least 1, of n values that begin at place `first`; of equals the first.
 * work has n values. */
et_cut et_cut_find(const double *values, int64_t first, int64_t n, int64_t count, double *work);
/* Of `all` values of which each process has n. */
et_cut et_cut_find_all(rb_context *ctx, const double *values, int64_t first, int64_t n, int64_t all,
                       int64_t count);
static inline bool et_cut_uses(et_cut cut, double value, int64_t place) {
    return value > cut.min || (value == cut.min && place <= cut.last);
}
/* The H' causes of largest score, ascending in index; scores and work have H values. */
void et_scores(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
               double *scores);
/* The joint scores by energies of items, of which a cause has its best. */
void et_best_energies(const et_setup *setup, const double *single, double *scores);
void et_select(const et_kernels *kernels, const double *scores, int64_t units, int64_t count,
               double *work, int32_t *few, int32_t *candidates);

/* ---- region.c: states around the most probable one ---- */

/* Energies of lane l that are too far from a state of `size` items become -infinity. */
void et_keep_region(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                    const et_sample *sample, int l, int size, const int64_t *items);

/* ---- posterior.c ---- */

/* Posteriors of the samples of a block. */
typedef struct et_results {
    int64_t capacity; /* samples */
    rb_dense mean;    /* room x H: <s> */
    rb_dense items;   /* room x V H: probability of each item; mean itself where they are binary */
    double *evidence; /* log evidence, all constants */
    double *norm;     /* |y|^2; general: minus twice the constant of y */
    int64_t *there;   /* values that are not missing */
    double *active;   /* <|s|> */
    double *energy;   /* <e(s)> less its prior terms */
    /* Of a sample: et_look_at; rooms are those of the widest tree. */
    int64_t max_candidates, max_items, max_states;
    uint8_t *width;      /* of its tree */
    int32_t *candidates; /* room x max_items: items, those of a candidate side by side */
    int32_t *map;        /* the most probable state: of the tree, or -1 - i for item i alone */
    double *pairs;       /* room x max_candidates^2; NULL unless asked for */
    double *states;      /* room x max_states; NULL likewise */
    rb_dense single;     /* room x V H: probability of an item alone, with `states` */
    bool *used;          /* results of samples that are not used stay zero */
    rb_scratch memory;
} et_results;

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t capacity, et_keep keep,
                        et_results *results);
/* What was looked at for a sample. */
typedef struct et_look {
    const et_tree *tree;
    const int32_t *candidates; /* H' V items; candidate k is the cause of item k V, its first */
    const double *pairs;       /* H' x H': <s_j s_k> of candidates j < k */
    const double *states;      /* probabilities of the states of the tree */
} et_look;
et_look et_look_at(const et_engine *engine, const et_results *results, int64_t i);
/* The items of its most probable state, causes ascending; returns how many. */
int64_t et_map_items(const et_engine *engine, const et_results *results, int64_t i,
                     int64_t items[ET_MAX_ACTIVE]);
/* Marks the causes that are in one of `count` samples. */
void et_note_map(const et_engine *engine, const et_results *results, int64_t count, bool *in_map);
/* Bytes that a sample takes in the results. */
double et_results_bytes(const et_setup *setup, et_keep keep);

/* Posteriors of all samples with results->used set; only evidence, norm and map when `rank`. */
void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results);

/* ---- exact.c: against all states, for few units ---- */

/* How many states there are, and operations that they take for a sample. Are they few enough? */
double et_all_states(int64_t units, const et_values *values);
double et_exact_work(int64_t units, const et_values *values, int64_t n_features);
bool et_enumerable(int64_t units, const et_values *values);
/* The log evidence, and p(s_h not 0 | y). */
double et_exact(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                double *marginals);

/* How a truncated posterior compares with that over all states. */
typedef struct et_compared {
    double truncation; /* -log Q, 0 or above */
    double quality;    /* Q */
    double hits, all;  /* sums of p(s_h not 0 | y) over the candidates, over all causes */
} et_compared;

/* Of samples index[0 .. count - 1] of a block whose results are given. */
void et_compare(rb_context *ctx, const et_engine *engine, const rb_block *block,
                const et_results *results, int64_t count, const int64_t *index, et_compared *out);

#endif
