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

/* Samples in one task of the E-step. Fixed: results must not depend on the number of threads. */
enum { ET_TASK_SAMPLES = 64 };

extern const rb_option et_option_rows[]; /* options.c; the first is for nmf-et alone */

/* ---- states.c: the states of the candidates as a tree ------------------------------------------
 */

/* State 0 has no active cause. The children of a state have one more, of a higher index; they lie
 * side by side: that with candidate k is child[s] + k. States with few causes come first, so that
 * those below `inner` may have children and those from `inner` on have none. */
typedef struct et_tree {
    int candidates, max_active;
    int64_t count, inner;
    int32_t *last;   /* the candidate that was added last; -1 for state 0 */
    int32_t *parent; /* -1 for state 0 */
    int32_t *size;   /* active causes */
    int64_t *child;  /* inner states only */
} et_tree;

/* RB_ERROR_ARGUMENT when there would be too many states: counted before anything is allocated. */
rb_error et_tree_new(rb_context *ctx, int64_t candidates, int64_t max_active, et_tree *tree);
void et_tree_free(et_tree *tree);

/* From probabilities of the states to moments, by suffix sums from the leaves to the root: mean[k]
 * = <s_k>, and pairs[j * H' + k] = <s_j s_k> for j < k unless NULL. Overwrites q; work has inner x
 * H'. */
void et_tree_moments(const et_tree *tree, double *q, double *work, double *mean, double *pairs);

/* ---- models ------------------------------------------------------------------------------------
 */

typedef struct et_parameters {
    rb_dense fields; /* H x D, float64 */
    double sigma, prior;
} et_parameters;

struct et_engine;
struct et_state;

/* A sample while its posterior is computed. */
typedef struct et_sample {
    const double *y, *b;
    const int32_t *candidates; /* H', ascending */
    const double *single;      /* H: e of each cause alone */
    double *energy;            /* of the states of the tree */
    double *work;              /* inner x H' */
    double *gram;              /* H' x H' */
    double *vectors;           /* gamma x D */
} et_sample;

/* A model: how fields superpose, and all that follows from it. */
typedef struct et_model {
    const char *name;
    bool non_negative; /* fields are kept at `floor` or above */
    double floor;
    bool anneal_prior; /* by default */
    double end_temperature;
    bool max; /* the M-step needs the states themselves, not only moments */
    /* e of every state of the tree. */
    void (*energies)(const struct et_engine *engine, const et_tree *tree, const et_sample *sample);
    /* Adds what the M-step needs of the block whose posteriors are in the results. */
    rb_error (*add)(rb_context *ctx, struct et_state *st, const rb_block *block);
    rb_error (*mstep)(rb_context *ctx, struct et_state *st);
    /* The sample that posterior means stand for; codes and row are H and D float64. */
    void (*decode)(rb_dense fields, const double *codes, double *row);
} et_model;

extern const et_model et_linca, et_nmf, et_mca;

/* posterior_linear.c, posterior_max.c */
void et_linear_energies(const struct et_engine *engine, const et_tree *tree,
                        const et_sample *sample);
void et_max_energies(const struct et_engine *engine, const et_tree *tree, const et_sample *sample);
void et_linear_decode(rb_dense fields, const double *codes, double *row);
void et_max_decode(rb_dense fields, const double *codes, double *row);

/* ---- engine.c ----------------------------------------------------------------------------------
 */

typedef struct et_setup {
    const et_model *model;
    int64_t n_features, units;
    rb_type type; /* of samples and posterior means */
    int64_t candidates, max_active;
    int selection; /* rb_et_selection */
    bool singletons;
} et_setup;

/* Scratch of one thread. */
typedef struct et_scratch {
    rb_dense y, b;  /* ET_TASK_SAMPLES x D, x H, float64 */
    double *single; /* H */
    double *mean;   /* H */
    double *scores; /* H, and the best of them */
    int32_t *every; /* 0 .. H - 1: the candidates when all are looked at */
    double *energy, *work, *gram, *vectors;
} et_scratch;

typedef struct et_engine {
    et_setup setup;
    et_parameters parameters;
    et_tree tree;
    et_tree full; /* of all causes, to select by exact posteriors; else empty */
    et_scratch *scratch;
    int workers;

    /* Set by et_prepare. */
    double beta, beta_prior;
    double scale;    /* beta / sigma^2 */
    double logit;    /* beta_p logit(pi) */
    double constant; /* const(y) without |y|^2 */
    rb_dense gram;   /* G, H x H */
} et_engine;

rb_error et_engine_new(rb_context *ctx, const et_setup *setup, et_engine **engine);
void et_engine_free(et_engine *engine);
/* After each change of the parameters, or to change the temperature. */
void et_prepare(rb_context *ctx, et_engine *engine, double beta, double beta_prior);
/* A: prior probability of at most gamma active causes. */
double et_prior_mass(int64_t units, int64_t max_active, double prior);

/* select.c: the H' causes of largest score, ascending in index; scores has H values. */
void et_scores(const et_engine *engine, et_scratch *scratch, const double *y, const double *b,
               double *scores);
void et_select(const double *scores, int64_t units, int64_t count, double *best,
               int32_t *candidates);

/* ---- posterior.c -------------------------------------------------------------------------------
 */

/* Posteriors of the samples of a block. */
typedef struct et_results {
    int64_t room;        /* samples */
    rb_dense mean;       /* room x H: <s> */
    double *evidence;    /* log evidence, all constants */
    double *norm;        /* |y|^2 */
    double *active;      /* <|s|> */
    double *energy;      /* <e(s)> */
    int32_t *candidates; /* room x H' */
    int32_t *map;        /* the most probable state: of the tree, or -1 - h for cause h alone */
    double *pairs;       /* room x H' x H': <s_j s_k> of candidates j < k; NULL unless asked for */
    double *states;      /* room x states of the tree: their probabilities; NULL likewise */
    rb_dense single;     /* room x H: probability of cause h alone, with `states` */
    bool *used;          /* results of samples that are not used stay zero */
} et_results;

typedef enum et_keep { ET_KEEP_MEANS, ET_KEEP_PAIRS, ET_KEEP_STATES } et_keep;

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t room, et_keep keep,
                        et_results *results);
void et_results_free(et_results *results);
/* Bytes that a sample takes in the results; HUGE_VAL when there is no such tree. */
double et_results_bytes(const et_setup *setup, et_keep keep);

/* Posteriors of all samples with results->used set; only evidence, norm and map when `rank`. */
void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results);

/* A value of a row of float32 or float64. */
static inline double et_get(rb_type type, const void *row, int64_t i) {
    return type == RB_FLOAT32 ? (double)((const float *)row)[i] : ((const double *)row)[i];
}

#endif
