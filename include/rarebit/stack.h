/* Stacks: models of layers, each of which is fitted to the codes of the one below it.
 *
 *     rb_stack_options(context, "rfn", &options);
 *     rb_options_set(context, options, "units", "1024,512");     a value for each layer
 *     rb_options_set(context, options, "centre", "median");      or one for all
 *     rb_stack_fit(context, options, source, &stack);
 *     rb_encode(context, stack, source, ...);                    codes of the last layer
 *
 * A stack is a model of method "stack": rb_encode gives the codes of its last layer, the same bits
 * as its layers give one after the other; rb_reconstruct goes back through all of them. Its
 * preprocessing is that of the first layer, and its array "loadings" shows its units in the
 * features of the data, by the linear projection W1 W2 ... of the layers' loadings (each row
 * multiplied by what the layer divides its input by). The arrays of layer N are "layerN.loadings"
 * and so on. Status and history are those of the last layer.
 */
#pragma once

#include <rarebit/model.h>

enum { RB_STACK_LAYERS_MAX = 16 };

/* The options of a stack whose layers are fits of that method: those of rb_options_new, of which
 * numbers, choices and flags may be lists between commas, a value for each layer; lists of one call
 * have the same length, which is the number of layers. And codes-memory. What is done to data and
 * means nothing for codes (missing, totals, log1p, drop, top-variance, regress) is for the first
 * layer alone; centre and scale are for all. RB_ERROR_ARGUMENT: there is no such method. */
RB_API rb_error rb_stack_options(rb_context *context, const char *method, rb_options **options);

/* What rb_stack_fit refuses before it looks at the samples. */
RB_API rb_error rb_stack_check(rb_context *context, const rb_options *options);

/* Bytes that rb_stack_fit will need besides the samples, as rb_fit_memory: the most that a layer
 * needs with the codes that are kept for it. */
RB_API rb_error rb_stack_memory(rb_context *context, const rb_options *options,
                                const rb_source *source, int64_t *bytes);

/* Fits the layers one after the other, as rb_fit does: the first to the source, the others to the
 * codes of those below, which are computed block by block, as often as they are needed, unless
 * they fit into codes-memory (megabytes, all layers together). With batch-size the order of the
 * samples depends on that, as it does on the format of a file; nothing else does.
 *
 * With the option checkpoint each layer has a file of its own, FILE.layer1 and so on: a call that
 * finds them goes on where it was. The progress callback is told of "layer 2 of 3, iteration". A
 * fit that is stopped in a layer gives the layers up to this one, if an iteration of it was
 * complete, else those below it, with RB_STATUS_STOPPED. max-time holds for each layer; one that
 * runs out of it is the last, with RB_STATUS_TIME, and with a checkpoint the same call goes on.
 *
 * Errors are those of rb_fit, and begin with the layer. Free with rb_model_free. */
RB_API rb_error rb_stack_fit(rb_context *context, const rb_options *options, rb_source *source,
                             rb_model **stack);

/* A stack of models that are there, of any methods: the features of each are the units of the one
 * before. They are copied. RB_ERROR_ARGUMENT: there are none or too many, one is NULL, a stack
 * itself, or does not fit onto the one before. */
RB_API rb_error rb_stack_new(rb_context *context, const rb_model *const *layers, int64_t count,
                             rb_model **stack);

/* How many layers it has; 0: the model is no stack. */
RB_API int64_t rb_stack_layers(const rb_model *model);

/* Layer 1, 2, ... as a model of its own, which takes codes of the layer below. RB_ERROR_ARGUMENT:
 * there is no such layer; RB_ERROR_FORMAT: the stack is damaged. Free with rb_model_free. */
RB_API rb_error rb_stack_layer(rb_context *context, const rb_model *stack, int64_t layer,
                               rb_model **model);

/* The layers up to this one: a stack, or of layer 1 a model as rb_fit gives it. Likewise. */
RB_API rb_error rb_stack_cut(rb_context *context, const rb_model *stack, int64_t layer,
                             rb_model **model);
