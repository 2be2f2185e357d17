/* In place of the commands of librarebit-nets, and of what others call of it, where that is not
 * built: then no context knows a net, and no model is one. */
#include "../tool.h"

/* Nothing here looks at what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Of no words: in no list. */
const command stack_command, predict_command, export_command, import_command;
const command finetune_command = {.library = "librarebit-nets",
                                  .brings = "stack finetune predict export import dae rbm"};

rb_error rb_nets_use(rb_context *ctx) {
    return RB_OK;
}

static rb_error absent(rb_context *ctx) {
    return rb_context_fail(ctx, RB_ERROR_UNSUPPORTED,
                           "layers and nets need librarebit-nets, but this rarebit was built "
                           "without it");
}

const char *rb_net_outputs(const rb_model *net) {
    return NULL;
}

rb_error rb_net_score(rb_context *ctx, const rb_model *net, const rb_labelled *data,
                      rb_net_scores *scores) {
    return absent(ctx);
}

void rb_net_scores_clear(rb_net_scores *scores) {
}

int64_t rb_net_output_name(const rb_model *net, int64_t index, char *buffer, size_t size) {
    return -1;
}

int64_t rb_stack_layers(const rb_model *model) {
    return 0;
}

rb_error rb_stack_layer(rb_context *ctx, const rb_model *stack, int64_t layer, rb_model **model) {
    *model = NULL;
    return absent(ctx);
}

rb_error rb_stack_cut(rb_context *ctx, const rb_model *stack, int64_t layer, rb_model **model) {
    return rb_stack_layer(ctx, stack, layer, model);
}

rb_error rb_layers_new(rb_context *ctx, const rb_model *model, const char *filter,
                       rb_layers **layers) {
    *layers = NULL;
    return absent(ctx);
}

rb_error rb_layers_maximise(rb_context *ctx, const rb_layers *layers, double *samples) {
    return absent(ctx);
}

void rb_layers_free(rb_layers *layers) {
}
