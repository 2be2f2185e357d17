/* What networks of a layer of features and one of units share: their parameters, the memory of a
 * fit, steps against a gradient, and samples as dense rows. Private to src/nets.
 *
 *   m features, l units, n samples of a batch
 *   loadings      W   m x l   from units to features
 *   weights       E   m x l   from features to units; tied: there are none, and E is W
 *   hidden_bias   b   l
 *   visible_bias  c   m
 */
#ifndef RB_ONE_LAYER_H
#define RB_ONE_LAYER_H

#include "factors/factors.h"
#include "nets.h"

typedef enum net_preset { NET_PRESET_BATCHES = 0, NET_PRESET_PAPER, NET_PRESET_NONE } net_preset;
typedef enum net_weights { NET_TIED = 0, NET_UNTIED } net_weights;
typedef enum net_visible { NET_GAUSSIAN = 0, NET_BINARY } net_visible;

typedef struct net_options {
    int preset;         /* net_preset */
    int64_t units;      /* l */
    double eta;         /* rate; 0: from the data */
    double momentum;    /* share of the step before */
    double weight_init; /* standard deviation of the loadings at the start; 0: from the shape */
    double corruption;  /* dae: share of the values that become 0 */
    int weights;        /* dae: net_weights */
    int visible;        /* rbm: net_visible */
} net_options;

/* Parameters, and with the same shapes gradients and steps. */
typedef struct net_arrays {
    rb_dense loadings, weights, hidden_bias, visible_bias; /* biases are columns */
} net_arrays;

typedef struct net_progress {
    int64_t msteps;
    int64_t pass; /* of the samples: a key of random numbers */
    int64_t seen; /* samples of it that M-steps have followed */
    double error; /* their sum */
} net_progress;

typedef struct net_sums {
    net_arrays gradients; /* of what is to become smaller, summed over samples */
    double error;         /* squared, of what is rebuilt */
    int64_t samples;
    /* In the last E-step: */
    double *errors; /* m: of each feature, squared */
    bool *active;   /* l: a sample had a code above 0 */
} net_sums;

typedef struct net_work {
    rb_dense rows;                   /* block x m: samples, where they do not lie as dense rows */
    rb_dense given;                  /* block x m: what codes are found from, or what is rebuilt */
    rb_dense rebuilt;                /* block x m */
    rb_dense codes;                  /* block x l */
    rb_dense other;                  /* block x l */
    double *task_error;              /* a task of a block: see net_tasks */
    double *task_sum, *task_largest; /* tasks x l, for rb_rectify */
} net_work;

typedef struct net_fit {
    rb_problem problem;
    net_options options;
    net_arrays parameters, steps;
    net_progress progress;
    double *squares; /* survey: of each feature, or NULL */
    net_sums sums;
    net_work work;
    double eta;
    bool last;       /* the E-step at hand has no M-step */
    bool measured;   /* it was made, to its end */
    uint32_t *words; /* a row of random words for each worker */
} net_fit;

/* The first part is the survey, which who needs no squares begins behind. */
enum { NET_WITHOUT_SURVEY = 1 };
extern const rb_part net_parts[];
extern const char *const net_start_options[];

/* ---- the table's functions that both methods have ---- */

int64_t net_units(const void *options);
int64_t net_block_samples(const rb_problem *problem, const void *options);
void net_shape(const rb_problem *problem, const void *options, rb_shape *shape);
rb_error net_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state);
void net_finish(void *state);
rb_error net_begin(rb_context *ctx, void *state);
rb_error net_mstep(rb_context *ctx, void *state);
void net_objective(void *state, double *objective, double *estep_objective);
rb_error net_end(rb_context *ctx, void *state, bool *again);
void net_last(void *state);
/* Parameters, dead units and the mean squared error of each feature, as `noise`: that of all
 * features where a fit was stopped before its last E-step. */
rb_error net_store(rb_context *ctx, void *state, rb_model *model);

/* ---- parts of a block ---- */

/* Even parts of the rows of a block, a function of their number alone. */
struct bands net_tasks(int64_t rows);
static inline rb_dense net_task_rows(rb_dense rows, int64_t task) {
    struct bands tasks = net_tasks(rows.rows);
    return rb_dense_rows(rows, rb_band_start(tasks, task), rb_band_size(tasks, task));
}

/* The tasks of a matrix with as many rows; and a product: by all threads, or by the caller where
 * that is faster. */
void net_each_task(rb_context *ctx, rb_dense over, rb_task task, void *arg);
void net_multiply(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b, rb_side op_b,
                  double beta, rb_dense c);

/* The samples of a block as dense rows: where they lie, or copied to `rows`. */
rb_dense net_rows(rb_context *ctx, const rb_block *block, rb_dense rows);
/* The encoder: weights, or loadings where they are tied. */
rb_dense net_encoder(const net_arrays *parameters);
/* Adds the rows of X to a bias, with a factor: on the calling thread. */
void net_add_rows(const rb_context *ctx, double factor, rb_dense x, rb_dense bias);
/* Adds the bias to each row of X. */
void net_add_bias(const rb_context *ctx, rb_dense bias, rb_dense x);
/* Adds the squares of the differences of each feature, on the calling thread. */
void net_add_errors(rb_dense x, rb_dense rebuilt, double *errors);
double net_squares(const rb_context *ctx, rb_dense x);

/* ---- random numbers: of a seed, a purpose, a restart, a pass, a sample and a place ---- */

uint64_t net_key(const net_fit *fit, rb_purpose purpose);
/* Words of a row for a worker; room for m or l of them. */
uint32_t *net_words(const net_fit *fit, int worker);

/* ---- coders ---- */

typedef struct net_coder {
    net_options options; /* of the fit, as far as they say how to encode */
    net_arrays parameters;
    rb_dense rows; /* as in net_work */
    double *task_sum, *task_largest;
    rb_scratch scratch;
} net_coder;

rb_error net_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **coder);
void net_coder_free(void *coder);
extern const rb_array_kind net_model_arrays[];
/* E' x + b, as a layer of a net. */
rb_error net_unit_layer(rb_context *ctx, const rb_model *model, rb_method_layer *layer);
/* ROWS = CODES W' + c. */
void net_rebuild(rb_context *ctx, const net_arrays *parameters, rb_dense codes, rb_dense rows);

#endif
