/* Training of a net: options, state, steps. Private to src/nets. */
#ifndef RB_NETS_TRAIN_H
#define RB_NETS_TRAIN_H

#include "net.h"

typedef enum deep_optimizer { DEEP_SGD, DEEP_NESTEROV, DEEP_ADAM } deep_optimizer;
typedef enum deep_schedule {
    DEEP_CONSTANT,
    DEEP_STEPS,
    DEEP_EXPONENTIAL,
    DEEP_COSINE
} deep_schedule;

typedef struct deep_train_options {
    const char *layers; /* "1024,1024" */
    int filter;         /* deep_filter */
    int outputs;        /* deep_outputs */
    int64_t epochs, batch_size, patience, rate_step, seed;
    int optimizer; /* deep_optimizer */
    int schedule;  /* deep_schedule */
    double rate, momentum, rate_decay, dropout, masking, weight_decay, max_time;
    const char *class_weights; /* "balanced", "A=2,B=1" */
    int precision;             /* rb_type */
} deep_train_options;

extern const rb_option deep_train_rows[];
extern const rb_option_group deep_train_group, deep_checkpoint_group;

/* What an epoch takes from the one before it, besides the vectors. */
typedef struct deep_progress {
    int64_t epochs; /* done */
    int64_t steps;
    int64_t best_epoch; /* of which the best net is; -1: none yet */
    int64_t best_errors;
    double best_loss;
} deep_progress;

/* A training, from its options to its result. */
typedef struct deep_training {
    rb_context *ctx;
    const deep_train_options *options;
    const rb_checkpoint_options *checkpoints;
    const rb_labelled *train, *valid; /* valid NULL: none */
    deep_labels labels, valid_labels;
    deep_net net;           /* its values are the parameters */
    double input_size;      /* what the preprocessing was changed to divide by */
    int64_t start_checksum; /* of the model to start from, and 1; 0: none */
    void *gradient, *best;
    void *first, *second; /* of the optimiser: velocity, or moments; NULL: it has none */
    deep_progress progress;
    double *class_weights; /* mean 1 over the samples; NULL: all 1 */
    rb_source *shuffled;
    rb_feed *feed, *valid_feed;
    deep_pass pass;
    int64_t pass_rows;
    int64_t *batch_class, *batch_samples; /* of the rows of a batch */
    double *batch_values, *batch_weights;
    rb_model *model; /* that the result becomes: attributes and history */
    double began, written;
    struct rb_lock *lock;
} deep_training;

/* The rate of an epoch, from 0: train_step.c. */
double deep_rate(const deep_train_options *options, int64_t epoch);
/* Moves the parameters against the gradient; progress.steps counts up. */
void deep_train_step(deep_training *t, double rate);

/* Sizes of the hidden layers that an option text names; RB_ERROR_ARGUMENT. */
rb_error deep_read_layers(rb_context *ctx, const char *text, int *count, int64_t *sizes);
/* One number a class, with mean 1 over the labelled samples; NULL in *weights: all are 1. */
rb_error deep_class_weights(rb_context *ctx, const char *text, const char *names, int64_t n_classes,
                            const deep_labels *labels, double **weights);

/* The root mean square of all values of the samples as the preprocessing gives them; 1 where they
 * are 0: train_size.c. */
rb_error deep_input_size(rb_context *ctx, const rb_preprocess *preprocess, rb_source *source,
                         double *size);

/* train_checkpoint.c */
rb_error deep_checkpoint_begin(deep_training *t);
void deep_checkpoint_end(deep_training *t);
/* After an epoch: writes if it is due, or `now`; a failure is a warning. */
void deep_checkpoint_after(deep_training *t, bool now);

#endif
