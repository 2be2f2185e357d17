/* rarebit export, rarebit import: layers to other programs, and back what these trained. */
#include "tool.h"

#include <stddef.h>
#include <string.h>

static const rb_option export_options[] = {
    {OUTPUT_OPTION, "FILE", "where to write: .onnx or .npz", RB_OPTION_COMMON},
    {"filter", 0, RB_OPTION_CHOICE, 0, "posterior", 0, 0, "posterior|plain", "HOW",
     "what becomes of an rfn: the layer that gives its codes, or the directions of its "
     "loadings alone"},
    {TEXT_OPTION("conv"), "HxWxC",
     "of a model of patches: kernels (units x channels x height x width) and biases of a "
     "convolution that gives what the layer gives for each patch, to .npz"},
    {TEXT_OPTION("whitening"), "FILE", "what 'rarebit patches --whitening' wrote, to be folded in",
     .needs = "conv"},
    {0},
};

/* Kernels, or layers as they are. */
static rb_error write_file(const invocation *call, const rb_model *model, const rb_layers *layers,
                           const char *path) {
    const char *conv = option_text(call, "conv"), *from = option_text(call, "whitening");
    rb_whitening *whitening = NULL;
    if (!conv) return rb_layers_write(call->ctx, model, layers, path);
    rb_error err = from ? rb_whitening_read(call->ctx, from, &whitening) : RB_OK;
    rb_unit_weights layer = {.bias = rb_layers_bias(layers, 0)};
    layer.weights = rb_layers_weights(layers, 0, &layer.units, NULL);
    err = err ? err : rb_kernels_write(call->ctx, model, &layer, conv, whitening, path);
    rb_whitening_free(whitening);
    return err;
}

/* A convolution is made of one rectified layer. */
static bool fits_kernels(const rb_layers *layers) {
    return rb_layers_count(layers) == 1 && strcmp(rb_layers_activation(layers, 0), "rectify") == 0;
}

static int write_layers(const invocation *call, const rb_model *model, const rb_layers *layers) {
    const char *target = option_text(call, "output");
    output out;
    if (option_text(call, "conv") && !fits_kernels(layers)) {
        return report_error(
            "a convolution is made of one rectified layer: a model of one layer, or the "
            "first layer of a stack");
    }
    int status = output_begin(&out, target, "npz");
    if (status) return status;
    rb_error err = write_file(call, model, layers, out.path);
    status = finish_output(call, &out, err);
    if (!status)
        report("%lld layer%s in %s", (long long)rb_layers_count(layers),
               rb_layers_count(layers) == 1 ? "" : "s", output_shown(target));
    return status;
}

static int run_export(invocation *call) {
    rb_model *model = NULL;
    rb_layers *layers = NULL;
    const char *filter = !option_was_given(call, "filter")    ? NULL
                         : option_is(call, "filter", "plain") ? "plain"
                                                              : "posterior";
    rb_error err = load_model(call, &model);
    err = err ? err : rb_layers_new(call->ctx, model, filter, &layers);
    int status = err ? report_failure(call->ctx, err) : write_layers(call, model, layers);
    rb_layers_free(layers);
    rb_model_free(model);
    return status;
}

const command export_command = {
    .words = "export",
    .summary = "write layers for PyTorch and others",
    .description =
        "To .onnx a graph that takes raw samples: all that is done to them before the first layer "
        "is in it. To .npz the arrays weights1, bias1, ... (outputs x inputs), and centre and "
        "scale, which are subtracted from samples and divide them. 'rarebit import' takes a net "
        "back that was trained elsewhere.",
    .arguments = {{"MODEL", "a net, an rfn or a stack of rfn", false}},
    .output = "FILE",
    .own = {sizeof(rb_option), "Layers and output", export_options},
    .groups = {layer_group, general_group},
    .examples = {{"A net for the ONNX runtime", "export net.h5 -o net.onnx"},
                 {"Arrays for numpy and PyTorch", "export net.h5 -o net.npz"},
                 {"The first layer of a stack", "export stack.h5 --layer 1 -o first.npz"},
                 {"A first convolution from whitened patches",
                  "export rfn.h5 --conv 5x5x1 --whitening zca.npz -o kernels.npz"}},
    .reads = "whitening",
    .check_output = rb_layers_path_check,
    .run = run_export,
};

static const rb_option import_options[] = {
    {TEXT_OPTION("like"), "NET",
     "the net that was exported: preprocessing, classes and shapes are its", RB_OPTION_COMMON},
    {OUTPUT_OPTION, "NEW", "where to write the net (HDF5)", RB_OPTION_COMMON},
    {0},
};

static rb_error import_net(const invocation *call, const char *path) {
    rb_model *like = NULL, *net = NULL;
    fit_record record = {0};
    rb_error err = rb_model_load(call->ctx, option_text(call, "like"), &like);
    err = err ? err : rb_net_read(call->ctx, call->arguments[0], like, &net);
    err = err ? err : rb_model_set_attribute(call->ctx, net, "imported_from", call->arguments[0]);
    record.alike = like;
    err = err ? err : save_fit(call, net, &record, path);
    rb_model_free(net);
    rb_model_free(like);
    return err;
}

static int run_import(invocation *call) {
    const char *target = option_text(call, "output");
    output out;
    int status = output_begin(&out, target, "h5");
    if (!status) status = finish_output(call, &out, import_net(call, out.path));
    if (!status) report("net in %s; next: rarebit evaluate %s TEST --labels FILE", target, target);
    return status;
}

const command import_command = {
    .words = "import",
    .summary = "read a net trained elsewhere, from .onnx or .npz",
    .description =
        "Weights and biases of the file take the place of those of the net --like, whose "
        "preprocessing, classes and options stay. Names in .npz are those that export writes, or "
        "NAME.weight and NAME.bias in the order of the layers, as in PyTorch's state_dict. "
        "Layers take samples as the net's preprocessing gives them.",
    .arguments = {{"FILE", "layers: .onnx or .npz", false}},
    .output = "NEW",
    .required = "like",
    .own = {sizeof(rb_option), "Net and output", import_options},
    .groups = {general_group},
    .examples = {{"After fine-tuning in PyTorch", "import tuned.npz --like net.h5 -o tuned.h5"}},
    .reads = "like",
    .fixed = {"output", "a net is written as HDF5", ".h5"},
    .run = run_import,
};
