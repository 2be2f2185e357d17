/* A net of dense layers: its numbers, and the passes forward and backward over a few samples.
 * Private to src/nets.
 *
 *   a_0 = x,   z_k = a_(k-1) W_k' + b_k,   a_k = max(0, z_k),   the last one: its output
 *
 * W_k is out x in. All W_k and b_k lie one after the other in a vector, as do gradients and what an
 * optimiser keeps: so that steps, copies and checkpoints know nothing of layers. */
#ifndef RB_NETS_NET_H
#define RB_NETS_NET_H

#include "nets.h"

enum { DEEP_SIZES_MAX = DEEP_LAYERS_MAX + 1 };

typedef enum deep_outputs { DEEP_SOFTMAX, DEEP_LOGISTIC, DEEP_LINEAR } deep_outputs;

typedef struct deep_net {
    rb_type type;
    deep_outputs outputs;
    int layers;                       /* the last one gives the outputs */
    int64_t sizes[DEEP_SIZES_MAX];    /* of the input, and of each layer */
    int64_t weights[DEEP_LAYERS_MAX]; /* where W_k begins in the vector; W_0 is the lowest */
    int64_t biases[DEEP_LAYERS_MAX];
    int64_t count; /* numbers of the vector */
    void *values;  /* the vector; owned by who made the net */
} deep_net;

/* Fills the places from layers and sizes; values stay. RB_ERROR_MEMORY: too large. */
rb_error deep_net_lay_out(rb_context *ctx, deep_net *net);
/* W_k and b_k in a vector of the net's shape; the bias is one row. */
rb_dense deep_net_weights(const deep_net *net, void *values, int layer);
rb_dense deep_net_bias(const deep_net *net, void *values, int layer);

/* ---- a pass over a few samples ---- */

/* What makes a pass noisy; zeros: nothing does. Random numbers are of the sample, whatever else is
 * in the batch. */
typedef struct deep_noise {
    double masking;    /* share of the input values that become 0 */
    double dropout;    /* share of the hidden codes that become 0; the others are divided by the
                        * share that stays */
    uint64_t mask_key; /* of the epoch */
    uint64_t drop_keys[DEEP_LAYERS_MAX];
} deep_noise;

/* Room for a pass. */
typedef struct deep_pass {
    int64_t rows;                    /* samples that there is room for */
    rb_dense input;                  /* rows x sizes[0] */
    void *shift;                     /* sizes[0]: of sparse samples */
    rb_buffer masked;                /* values of sparse samples of which some are 0 */
    rb_dense codes[DEEP_LAYERS_MAX]; /* a_1 .. a_layers: rows x sizes[k] */
    rb_dense deltas[2];              /* rows x the widest layer */
    uint32_t *words;                 /* of each worker, `words_each` */
    int64_t words_each;
    rb_scratch scratch;
    rb_scratch more;
} deep_pass;

rb_error deep_pass_new(rb_context *ctx, const deep_net *net, int64_t rows, bool backward,
                       deep_pass *pass);
void deep_pass_free(deep_pass *pass);

/* What the samples of a batch are to give; rows of the batch. */
typedef struct deep_target {
    const int64_t *class_of; /* softmax: -1: the sample does not count */
    const double *values;    /* others: rows x outputs */
    const double *weights;   /* of the samples; NULL: 1 */
    const int64_t *samples;  /* which sample each row is: for random numbers */
} deep_target;

/* a_0 of a block, masked where the noise says so: dense, or sparse where that is faster. It points
 * into the block and the pass. */
rb_error deep_net_input(rb_context *ctx, deep_pass *pass, const rb_block *block,
                        const deep_noise *noise, const int64_t *samples, rb_block *input);
/* Gives the outputs, in the pass: probabilities or values. */
rb_dense deep_net_forward(rb_context *ctx, const deep_net *net, const rb_block *input,
                          const deep_noise *noise, const int64_t *samples, deep_pass *pass);
/* After it: the sum over samples of weight x loss, and in `outputs` its derivative by z of the last
 * layer times `factor`. */
double deep_net_loss(const deep_net *net, rb_dense outputs, const deep_target *target,
                     double factor);
/* After both: the gradient, over what is in the vector. */
void deep_net_backward(rb_context *ctx, const deep_net *net, const rb_block *input,
                       const deep_noise *noise, deep_pass *pass, void *gradient);

/* Loss of a sample, for scores: as deep_net_loss has it. */
double deep_net_sample_loss(const deep_net *net, rb_dense outputs, int64_t row, int64_t class_of,
                            const double *values);

/* ---- the lowest layer on sparse samples: net_sparse.c ---- */

/* Are there so few entries that they are faster alone than with all zeros? */
bool deep_sparse_pays(const rb_block *block);
/* Z = X W', samples x units; shift: that of the block in the type of the net, or NULL. */
void deep_sparse_forward(rb_context *ctx, const rb_block *x, const void *shift, rb_dense weights,
                         rb_dense z);
/* G = D' X, units x features. */
void deep_sparse_gradient(rb_context *ctx, const rb_block *x, const void *shift, rb_dense delta,
                          rb_dense gradient);

/* ---- loops over numbers of one type: net_loops.c ---- */

enum { DEEP_SPARSE_UNITS = 4 };
/* sums_r = sum over the entries of value x weight of its column, of each unit. */
void deep_gather(rb_type type, int64_t n, const int32_t *columns, const void *values,
                 const void *const units[DEEP_SPARSE_UNITS], double sums[DEEP_SPARSE_UNITS]);
/* row_column += factor value for each entry. */
void deep_scatter(rb_type type, int64_t n, double factor, const int32_t *columns,
                  const void *values, void *row);

/* x <- max(0, x + bias); rectify false: x + bias. */
void deep_add_bias(rb_dense x, rb_dense bias, bool rectify);
/* x_i <- 0 where words_i is below the threshold, else factor x_i; one row. */
void deep_drop(rb_dense row, const uint32_t *words, uint32_t threshold, double factor);
/* delta <- factor delta where codes are above 0, else 0. */
void deep_back(rb_dense delta, rb_dense codes, double factor);

/* A step of an optimiser over count numbers, of the net's type. */
typedef struct deep_step {
    double rate, momentum, decay; /* decay: of these numbers; L2 */
    bool nesterov;
    double beta1, beta2, correction1, correction2, epsilon; /* of adam */
} deep_step;
void deep_step_sgd(rb_type type, int64_t count, const deep_step *step, const void *gradient,
                   void *velocity, void *values);
void deep_step_adam(rb_type type, int64_t count, const deep_step *step, const void *gradient,
                    void *first, void *second, void *values);

/* ---- from and to models: net_model.c ---- */

/* The net of a model, with values of its own (rb_free). RB_ERROR_FORMAT. */
rb_error deep_net_load(rb_context *ctx, const rb_model *model, deep_net *net);
/* Adds arrays to an empty model of the method net. */
rb_error deep_net_store(rb_context *ctx, const deep_net *net, rb_model *model);
extern const char *const deep_outputs_names[];
/* Names of the outputs in a model: an attribute, separated by tabs. NULL names: numbers. */
rb_error deep_names_store(rb_context *ctx, rb_model *model, int64_t count,
                          const char *const *names);
/* Name k in such a text, and its length. */
const char *deep_name_at(const char *text, int64_t k, int64_t *length);
/* place[c]: which output class c of `names` is. NULL names on either side: by number.
 * RB_ERROR_DATA: what has a class that is no output. */
rb_error deep_names_match(rb_context *ctx, const char *what, const char *text, int64_t n_outputs,
                          const rb_labelled *data, int64_t *place);

/* ---- labelled samples: train_data.c ---- */

typedef struct deep_labels {
    int64_t count;     /* samples */
    int64_t labelled;  /* that count */
    int64_t *class_of; /* softmax; owned */
    const double *values;
} deep_labels;
/* Checks labels against outputs of that kind and number, and takes their classes by the names of
 * the outputs. what: "the training samples". */
rb_error deep_labels_take(rb_context *ctx, const char *what, deep_outputs outputs,
                          int64_t n_outputs, const char *names, const rb_labelled *data,
                          deep_labels *labels);
void deep_labels_free(deep_labels *labels);

#endif
