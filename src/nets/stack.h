/* Stacks of models in one model. Private to src/nets.
 *
 * A stack is an rb_model of method "stack" (rb_method_stack), which has
 *   preprocess    that of layer 1
 *   arrays        "loadings": features in use x units of the last layer, the linear projection
 *                 W1 S2 W2 S3 W3 ...; S is diagonal, what the layer divides its input by
 *                 "dead" of the last layer, where it has that
 *                 "layerN.NAME": the array NAME of layer N, from 1
 *                 "layerN.input_centre", "layerN.input_scale" of layers above the first: their
 *                 preprocessing, which is nothing else
 *                 "layerN.history": iterations x (objective, estep_objective, seconds, metrics)
 *   attributes    "layers": how many; "layerN.method", "layerN.status"
 *                 what all layers agree in by its name ("eta"), else "layerN.eta"
 *   history       of the last layer
 * rb_stack_layer makes the model of a layer again. Nothing else knows of this but stack_model.c.
 */
#ifndef RB_NETS_STACK_H
#define RB_NETS_STACK_H

#include "nets.h"

#include <rarebit/stack.h>

/* All layers as models of their own; to be freed in any case. */
typedef struct stack_layers {
    int64_t count;
    rb_model *list[RB_STACK_LAYERS_MAX];
} stack_layers;

rb_error stack_layers_take(rb_context *ctx, const rb_model *stack, stack_layers *layers);
void stack_layers_free(stack_layers *layers);

#endif
