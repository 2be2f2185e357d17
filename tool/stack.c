/* rarebit stack METHOD: layers, each fitted to the codes of the one below. */
#include "tool.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rb_option stack_output_options[] = {
    {OUTPUT_OPTION, "MODEL", "where to write the model (HDF5)", RB_OPTION_COMMON},
    {TEXT_OPTION("log-json"), "FILE",
     "write a JSON object for each iteration of each layer; - is standard output"},
    {0},
};

/* The checkpoint of a layer; free it. */
static char *checkpoint_of(const invocation *call, int64_t layer) {
    const char *path = option_text(call, "checkpoint");
    char *own = NULL;
    return path && asprintf(&own, "%s.layer%lld", path, (long long)layer) >= 0 ? own : NULL;
}

/* A stack that goes on from checkpoints has their seed. */
static rb_error choose_seed(const invocation *call) {
    rb_checkpoint_info info = {.size = sizeof info};
    bool found = false;
    char *first = checkpoint_of(call, 1);
    rb_error err = first ? rb_checkpoint_read(call->ctx, first, &found, &info) : RB_OK;
    free(first);
    if (!err && !option_was_given(call, "seed")) {
        int64_t seed = found ? info.seed : draw_seed();
        err = rb_options_set_integer(call->ctx, call->options, "seed", seed);
        report("seed %lld", (long long)seed);
    }
    return err;
}

static void summarise_layer(const rb_model *layer, int64_t number) {
    int64_t iterations = rb_model_iterations(layer);
    double objective = NAN, seconds = 0, total = 0;
    for (int64_t t = 0; t < iterations; t++) {
        rb_model_history(layer, t, &objective, NULL, &seconds);
        total += seconds;
    }
    report("layer %lld: %s, %lld units of %lld features, %lld iterations in %.3g s, objective %.6g",
           (long long)number, rb_model_method(layer), (long long)rb_model_units(layer),
           (long long)rb_model_features(layer), (long long)iterations, total, objective);
}

/* Before the model is written: where a layer cannot be had there is an error and no model. */
static rb_error summarise(const invocation *call, const rb_model *stack) {
    rb_error err = RB_OK;
    for (int64_t k = 1; !err && k <= rb_stack_layers(stack); k++) {
        rb_model *layer;
        err = rb_stack_layer(call->ctx, stack, k, &layer);
        if (!err) summarise_layer(layer, k);
        rb_model_free(layer);
    }
    return err;
}

static rb_error fit_source(const invocation *call, fit_log *log, rb_source *source,
                           const char *path, rb_model **stack) {
    fit_record record = {call->arguments[0], NULL};
    watch_begin(call, NULL, log);
    rb_error err = rb_stack_fit(call->ctx, call->options, source, stack);
    watch_end(call);
    err = err ? err : summarise(call, *stack);
    return err ? err : save_fit(call, *stack, &record, path);
}

static int fit(const invocation *call, fit_log *log, const char *path, rb_model **stack) {
    rb_source *source = NULL;
    fit_files files = {0};
    rb_error err = read_fit_files(call->ctx, call->options, &files);
    err = err ? err : rb_stack_check(call->ctx, call->options);
    err = err ? err : choose_seed(call);
    err = err ? err : open_data(call, NULL, call->arguments[0], &source);
    err = err ? err : read_covariates(call, option_text(call, "regress"), source);
    int status = err ? report_failure(call->ctx, err) : check_memory(call, source, rb_stack_memory);
    status = status ? status : fit_log_begin(log);
    if (!status) {
        err = fit_source(call, log, source, path, stack);
        status = report_failure(call->ctx, err);
    }
    free_fit_files(&files);
    rb_source_free(source);
    return status;
}

static void remove_checkpoints(const invocation *call, const rb_model *stack) {
    for (int64_t k = 1; k <= rb_stack_layers(stack); k++) {
        char *path = checkpoint_of(call, k);
        remove_checkpoint(path, stack);
        free(path);
    }
}

static int finish(const invocation *call, const rb_model *stack, const char *target, int logged) {
    int64_t count = rb_stack_layers(stack);
    bool stopped = rb_model_status(stack) == RB_STATUS_STOPPED;
    if (rb_model_status(stack) == RB_STATUS_TIME) {
        report("out of time in layer %lld, the last one of the model; %s", (long long)count,
               option_text(call, "checkpoint") ? "the same command resumes"
                                               : "with --checkpoint the same command would resume");
    }
    if (stopped) {
        report_error("interrupted in the fit of a layer; the model with %lld layer%s was written",
                     (long long)count, count == 1 ? "" : "s");
    }
    if (!logged)
        report("model in %s; next: rarebit encode %s %s -o codes.npy", target, target,
               call->arguments[0]);
    return stopped ? interrupt_status() : logged;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    output out;
    fit_log log = {.ctx = call->ctx, .path = option_text(call, "log-json")};
    rb_model *stack = NULL;
    int status = output_begin(&out, target, "h5");
    if (status) return status;
    char *first = checkpoint_of(call, 1);
    log.goes_on = first && !access(first, F_OK);
    interrupt_keeps(first);
    free(first);
    status = fit(call, &log, out.path, &stack);
    int logged = fit_log_end(&log);
    status = output_end(&out, status);
    if (!status) {
        remove_checkpoints(call, stack);
        status = finish(call, stack, target, logged);
    }
    rb_model_free(stack);
    return status;
}

const command stack_command = {
    .words = "stack",
    .summary = "fit a stack of layers, each to the codes of the one below",
    .description =
        "Fits layers one after the other and writes them as one model. Its codes are those of the "
        "last layer. --units has a number per layer, separated by commas; other options have one "
        "value for all layers, or one per layer. Preprocessing (--missing, --totals, --log1p, "
        "--top-variance, --regress) applies to the first layer alone. With --checkpoint FILE each "
        "layer has a checkpoint FILE.layer1, FILE.layer2, ..., and the same command resumes in the "
        "interrupted layer. Ctrl-C writes the complete layers, and so does a layer that reaches "
        "--max-time, which counts per layer.",
    .arguments = {DATA_ARGUMENT},
    .options_new = rb_stack_options,
    .output = "MODEL",
    .own = {sizeof(rb_option), "Output", stack_output_options},
    .own_after = 1,
    .groups = {rb_read_group, covariates_group, general_group},
    .examples = {{"Three layers of digits",
                  "stack METHOD digits.npy --units 512,256,64 -o stack.h5"},
                 {"Other settings for the second layer",
                  "stack METHOD X.npy --units 100,20 --iterations 200,50 --seed 1 -o stack.h5"},
                 {"The codes of the first layer", "encode stack.h5 X.npy --layer 1 -o codes.npy"}},
    .reads = "prior-mean prior-covariance covariates",
    .writes = "output log-json checkpoint",
    .fixed = {"output", "a model is written as HDF5", ".h5"},
    .drawn = "seed",
    .run = run,
};
