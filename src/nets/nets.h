/* The face of src/nets: stacks, nets of dense layers, and the layers that models hand over. */
#ifndef RB_NETS_INTERNAL_H
#define RB_NETS_INTERNAL_H

#include "em/em.h"
#include "model/model.h"
#include <rarebit/deep.h>

extern const rb_method rb_method_dae, rb_method_rbm, rb_method_net, rb_method_stack;

/* ---- layers that are handed over: max(0, weights x + bias) ---- */

enum { DEEP_LAYERS_MAX = 16 };

typedef struct deep_layer {
    int64_t in, out;
    double *weights; /* out x in, row-major */
    double *bias;    /* out */
    bool directions; /* how long rows of weights are means nothing: they get the length of random
                      * ones, and rows of zeros become random with a bias of 0 */
    bool undone;     /* and the layer above divides by what they were multiplied by */
} deep_layer;

/* From the input to the top: the first one takes preprocessed samples of the model's preprocessing,
 * each other one what the layer below it gives. */
typedef struct deep_layers {
    int count;
    deep_layer list[DEEP_LAYERS_MAX];
} deep_layers;

void deep_layers_free(deep_layers *layers);
/* Appends a layer of zeros, and gives it. RB_ERROR_ARGUMENT: there are too many. */
rb_error deep_layers_add(rb_context *ctx, deep_layers *layers, int64_t in, int64_t out,
                         deep_layer **added);

/* A share of all random words: those below it. */
static inline uint32_t net_threshold(double share) {
    return share >= 1 ? UINT32_MAX : (uint32_t)(share * 0x1p32);
}

/* What rb_layers_new makes: layers.c. */
struct rb_layers {
    deep_layers layers;
    int last; /* of a net: deep_outputs of its last layer */
    bool net; /* the last layer gives outputs */
    /* Of the rfn that is the first layer, owned, for maximise.c; NULL: a net. */
    int64_t causes;
    double *loadings;   /* features x causes */
    double *deviations; /* features: of the noise */
};

/* How a factor model becomes a layer. */
typedef enum deep_filter {
    DEEP_POSTERIOR, /* its codes: the posterior mean, rectified, divided by the unit's scale */
    DEEP_PLAIN,     /* W' x, without a bias: the directions of W alone */
    DEEP_RESCALED   /* codes times a number for each unit: weights as long as random ones */
} deep_filter;

/* An RFN with diagonal noise, v = W h + e, h ~ N(xi, I), as its arrays have it. */
typedef struct deep_factors {
    int64_t features, units;
    const double *loadings;   /* features x units */
    const double *noise;      /* features */
    const double *prior_mean; /* units; NULL: 0 */
    const double *scale;      /* units: what codes are divided by; NULL: 1 */
    const double *dead;       /* units: other than 0 where the code is always 0; NULL: none */
} deep_factors;

/* Appends the layer that gives their codes: net_start.c. RB_ERROR_NUMERIC: numbers that no fit
 * gives. */
rb_error deep_layers_add_factors(rb_context *ctx, const deep_factors *factors, deep_filter filter,
                                 deep_layers *layers);

/* The layers of a model of any method that has some: rfn, dae, rbm, pca, net, and all
 * layers of a stack. RB_ERROR_UNSUPPORTED: a model of which no layer can be made. To be freed in
 * any case. */
rb_error deep_layers_of_model(rb_context *ctx, const rb_model *model, deep_filter filter,
                              deep_layers *layers);

/* What no use of labels can do without, and names. what: "the training samples". */
rb_error deep_labelled_check(rb_context *ctx, const char *what, const rb_labelled *data);
/* The options with what their rules set, to be freed; refused: what contradicts another one, or
 * does nothing with this start and these samples: train_options.c. */
rb_error deep_train_ready(rb_context *ctx, const rb_options *options, const rb_model *start,
                          const rb_labelled *train, const rb_labelled *valid, rb_options **ready);

#endif
