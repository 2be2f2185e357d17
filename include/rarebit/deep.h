/* Nets: layers of rectified units under an output, fine-tuned on labelled samples.
 *
 * A net is a model (rarebit/model.h) of the method "net": rb_encode gives its outputs, which are
 * probabilities of the classes, or of each target, or predicted values. rb_fit makes none. */
#pragma once

#include <rarebit/model.h>

/* Lets the context know the methods of librarebit-nets: dae and rbm, which rb_fit takes, and stack
 * and net, whose models are put together. Again is no error. */
RB_API rb_error rb_nets_use(rb_context *context);

/* Samples with what a net is to give for them: classes, or values. The program owns all of it. */
typedef struct rb_labelled {
    size_t size; /* sizeof(rb_labelled), set by the caller */
    rb_source *source;
    /* Of output softmax: */
    int64_t n_classes;
    const int64_t *class_of;  /* one per sample: 0 .. n_classes - 1, or -1: none, left out */
    const char *const *names; /* of the classes; NULL: the numbers 0, 1, ... */
    /* Of the others: */
    const double *values; /* samples x n_values, row-major; of output logistic 0 .. 1 */
    int64_t n_values;
} rb_labelled;

/* The options of rb_finetune, of preprocessing and of checkpoints, in a handle. rb_options_row
 * lists them: layers, filter, outputs, epochs, batch-size, optimizer, rate, momentum, schedule,
 * rate-decay, rate-step, dropout, masking, weight-decay, class-weights, patience, max-time, seed,
 * precision. RB_ERROR_MEMORY. */
RB_API rb_error rb_finetune_options_new(rb_context *context, rb_options **options);

/* Trains a net by minibatches against the gradient of its loss.
 *
 * options  from rb_finetune_options_new
 * start    the layers to start from, with their preprocessing: a model of rfn (its codes are the
 *          first layer), dae, rbm, pca, a stack, or a net, whose output layer is taken as well
 *          where classes and outputs are the same; NULL: random layers, as the option layers says.
 *          Layers that the option names are added above those of the start
 * train    the samples to learn from
 * valid    samples that say when to stop: the net of the epoch with the smallest error on them is
 *          kept. NULL: that of the last epoch is
 * net      the result; free with rb_model_free; NULL on failure
 *
 * The same bits for any number of threads, and for sources in memory or streamed at random; a fit
 * that goes on from a checkpoint gives those of one that was never interrupted. rb_context_stop
 * and a callback that stops give the best net so far, and RB_ERROR_STOPPED before the first epoch
 * is complete. Sources are not to be read by others during the call.
 *
 * RB_ERROR_ARGUMENT (an option; layers and outputs that contradict the start; train or its source
 * is NULL, names are NULL or the same), RB_ERROR_DATA (no samples, a single class, classes that are
 * out of range, unknown in the training samples, or values that are not finite), RB_ERROR_NUMERIC
 * (the loss became infinite: the message says in which epoch; the weights are too large),
 * RB_ERROR_UNSUPPORTED (a start of which no layer can be made), and those of rb_fit about data and
 * checkpoints. */
RB_API rb_error rb_finetune(rb_context *context, const rb_options *options, const rb_model *start,
                            const rb_labelled *train, const rb_labelled *valid, rb_model **net);

/* The name of output k of a net, a class or a number, always terminated. Returns the length of the
 * whole name, of which the buffer gets what fits; -1: there is no such output, or no net. */
RB_API int64_t rb_net_output_name(const rb_model *net, int64_t output, char *buffer, size_t size);
/* "softmax", "logistic" or "linear"; NULL: it is no net. Valid as long as the model. */
RB_API const char *rb_net_outputs(const rb_model *net);

/* ---- layers as numbers, for other programs ---- */

/* What a model computes of preprocessed samples, layer by layer:
 * a = activation(weights x + bias). Owned by the program; rb_layers_free. */
typedef struct rb_layers rb_layers;

/* The layers of a net, or of an rfn or a stack of rfn, whose codes they give as rb_encode does for
 * the E-step newton with activation rectify; for other E-steps they give what rb_encode begins
 * with, which a warning says. filter "posterior" is that; "plain" are the directions of the
 * loadings alone, each row of weights of length sqrt(2), without a bias, as rb_finetune starts from
 * them; NULL: posterior. Numbers are those of the model in float64, whatever its precision.
 * RB_ERROR_UNSUPPORTED (a model without such layers), RB_ERROR_ARGUMENT (another filter; any, of a
 * net), RB_ERROR_FORMAT (the model is damaged). */
RB_API rb_error rb_layers_new(rb_context *context, const rb_model *model, const char *filter,
                              rb_layers **layers);
RB_API void rb_layers_free(rb_layers *layers); /* NULL is accepted */
RB_API int64_t rb_layers_count(const rb_layers *layers);
/* Of layer 0, 1, ...: weights, outputs x inputs, row-major, and bias, one per output. Valid as long
 * as the layers. NULL: there is no such layer. outputs and inputs may be NULL. */
RB_API const double *rb_layers_weights(const rb_layers *layers, int64_t layer, int64_t *outputs,
                                       int64_t *inputs);
RB_API const double *rb_layers_bias(const rb_layers *layers, int64_t layer);
/* "rectify", "softmax", "logistic" or "linear"; NULL: there is no such layer. */
RB_API const char *rb_layers_activation(const rb_layers *layers, int64_t layer);

/* For each output of the last layer, a preprocessed sample that it answers most: the largest sum
 * before its activation (D. Erhan et al., "Visualizing higher-layer features of a deep network",
 * 2009) among x = W h + Psi^(1/2) e with |h|^2 + |e|^2 = units + features, of the rfn that is the
 * first layer: of samples that this model holds equally likely. Of a net among those of one length.
 * Found by going uphill from the best of a few starts: the linear projection and units of the first
 * layer; it may be a local maximum. samples: inputs of the first layer x outputs of the last,
 * row-major, of the program. RB_ERROR_MEMORY; RB_ERROR_STOPPED. */
RB_API rb_error rb_layers_maximise(rb_context *context, const rb_layers *layers, double *samples);

/* The net with other numbers, trained elsewhere say: weights[k] and bias[k] of each of its `count`
 * layers, of the shapes that it has. Preprocessing, names and options stay; the history, which is
 * not that of these numbers, does not. RB_ERROR_ARGUMENT (no net, or another count),
 * RB_ERROR_DATA (a number that is not finite in the precision of the net), RB_ERROR_NUMERIC (the
 * product of all weights is infinite). Free with rb_model_free. */
RB_API rb_error rb_net_replace(rb_context *context, const rb_model *net, int64_t count,
                               const double *const *weights, const double *const *bias,
                               rb_model **changed);

/* How good a net is on labelled samples. */
typedef struct rb_net_scores {
    size_t size;       /* sizeof(rb_net_scores), set by the caller */
    int64_t n_outputs; /* classes, or values */
    int64_t samples;   /* that have a class, or all */
    int64_t errors;    /* whose most probable class is another; logistic: of which any answer is
                        * wrong, a probability above 1/2 for a value that is not; linear: 0 */
    double error_rate; /* errors / samples; NaN of linear outputs */
    double low, high;  /* its 95 % interval (E. B. Wilson, 1927) */
    double log_loss;   /* mean of - log of the probability of the class; logistic: summed over
                        * outputs; NaN of linear ones */
    double calibration_error;  /* ECE: mean distance of confidence and accuracy, 15 bins of equal
                                * width (C. Guo et al. 2017); logistic: of all answers; NaN of
                                * linear outputs */
    double mean_squared_error; /* per value; of classes the Brier score over all of them */
    int64_t *confusion;        /* n_outputs x n_outputs: samples of a class (row) by what the net
                                * says (column); NULL unless softmax */
} rb_net_scores;

/* Measures a net. Classes are matched by name where net and labels have names. To be cleared.
 * RB_ERROR_ARGUMENT (no net, or labels of another kind), RB_ERROR_DATA (no labelled sample, a class
 * that the net does not know), and the errors of rb_encode. */
RB_API rb_error rb_net_score(rb_context *context, const rb_model *net, const rb_labelled *data,
                             rb_net_scores *scores);
/* NULL is accepted. */
RB_API void rb_net_scores_clear(rb_net_scores *scores);

/* ---- layers in files, for other programs ---- */

/* Does the path end in .onnx or .npz? RB_ERROR_ARGUMENT. */
RB_API rb_error rb_layers_path_check(rb_context *context, const char *path);

/* Writes layers, which rb_layers_new made of the model, by the suffix of the path, in the precision
 * of the model.
 *   .onnx  a graph of ONNX (operator set 13) that takes raw samples, "samples", and gives "logits"
 *          and "probabilities" of a net of classes or of logistic outputs, "values" of a linear
 *          one, "codes" of other models. All preprocessing is in the graph
 *   .npz   arrays for numpy: weights1, bias1, ..., centre and scale, which are subtracted from
 *          samples and divide them; and where there are such selected (which features are in use),
 *          fill (for missing values), totals, log1p; classes, the names of the outputs
 * The file appears whole or not at all.
 * RB_ERROR_UNSUPPORTED (effects of covariates are taken out of samples; more than 2 GB),
 * RB_ERROR_ARGUMENT (another suffix), RB_ERROR_FILE. */
RB_API rb_error rb_layers_write(rb_context *context, const rb_model *model, const rb_layers *layers,
                                const char *path);

/* A net with numbers from such a file, or one that another program wrote, in place of its own:
 * everything else is that of `like`, a net. A .npz has weights1, bias1, ... or, in the order of the
 * layers, NAME.weight, NAME.bias, as PyTorch names them; the layers of an ONNX file are the Gemm
 * nodes in its order, between which there is nothing but Relu. Where the file has centre and scale
 * they must be those of the net; where not, its layers take preprocessed samples. Files may come
 * from anybody. RB_ERROR_DATA (another number or shape of layers, another centre or scale, numbers
 * that are not finite), RB_ERROR_FORMAT (damaged, or not such layers), RB_ERROR_UNSUPPORTED,
 * RB_ERROR_ARGUMENT (like is no net; another suffix), RB_ERROR_FILE, RB_ERROR_NUMERIC. Free with
 * rb_model_free. */
RB_API rb_error rb_net_read(rb_context *context, const char *path, const rb_model *like,
                            rb_model **net);
