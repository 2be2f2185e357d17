/* rarebit finetune: a net of rectified layers, trained on labelled samples. */
#include "labels.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rb_option samples_options[] = {
    {OUTPUT_OPTION, "NET", "where to write the net (HDF5)", RB_OPTION_COMMON},
    {TEXT_OPTION("labels"), "FILE[:COLUMN]",
     "classes of the samples: text of sample and class, or of classes alone; .npy; IDX; "
     "obs:COLUMN",
     RB_OPTION_COMMON},
    {TEXT_OPTION("targets"), "FILE",
     "in place of classes: values, samples x targets, for --outputs logistic or linear"},
    {TEXT_OPTION("valid"), "DATA", "samples that say when to stop; read as DATA is",
     RB_OPTION_COMMON},
    {TEXT_OPTION("valid-labels"), "FILE[:COLUMN]", "and their classes", RB_OPTION_COMMON, "valid"},
    {TEXT_OPTION("valid-targets"), "FILE", "or their values", .needs = "valid"},
    {TEXT_OPTION("log-json"), "FILE",
     "write a JSON object for each epoch: loss, errors, rate, seconds"},
    {TEXT_OPTION("grid"), "VALUES",
     "values to try, such as 'rate=0.1,0.01 masking=0,0.25'. Trains all combinations in "
     "parallel, one thread each, and keeps the net with the fewest validation errors",
     RB_OPTION_COMMON, "valid"},
    {TEXT_OPTION("table"), "FILE", "write the scores of the grid, as .tsv or .json",
     .needs = "grid"},
    {0},
};

static rb_error new_options(rb_context *ctx, const char *method, rb_options **options) {
    (void)method;
    return rb_finetune_options_new(ctx, options);
}

/* ---- what is refused before anything is read ---- */

static int check(const invocation *call) {
    bool classes = option_is(call, "outputs", "softmax");
    const char *kind = classes ? "labels" : "targets", *other = classes ? "targets" : "labels";
    const char *valid_kind = classes ? "valid-labels" : "valid-targets";
    const char *valid_other = classes ? "valid-targets" : "valid-labels";
    if (option_text(call, other) || option_text(call, valid_other)) {
        return report_usage(
            "--%s is given, but --outputs %s takes --%s; leave it out, or give other "
            "--outputs",
            option_text(call, other) ? other : valid_other,
            classes ? "softmax" : "logistic and linear",
            option_text(call, other) ? kind : valid_kind);
    }
    if (strcmp(call->arguments[0], "none") == 0 && option_was_given(call, "layer")) {
        return report_usage(
            "--layer does nothing where START is none; leave it out, or name a model");
    }
    if (!option_text(call, kind)) return report_usage("the samples need --%s", kind);
    if (option_text(call, "valid") && !option_text(call, valid_kind))
        return report_usage("--valid needs --%s", valid_kind);
    if (option_text(call, "grid") && option_text(call, "log-json")) {
        return report_usage(
            "--log-json does nothing with --grid, which trains many nets; leave it out");
    }
    const char *table = option_text(call, "table");
    if (table && !table_format_known(table))
        return report_usage("--table is '%s', but must end in .tsv or .json", table);
    if (!option_text(call, "grid")) return STATUS_DONE;
    return report_failure(call->ctx,
                          rb_grid_check(call->ctx, call->options, option_text(call, "grid")));
}

/* ---- what goes along with the training ---- */

typedef struct watch {
    fit_log log;
    rb_grid *grid; /* NULL: none, or not yet */
    output table;
} watch;

/* ---- the work ---- */

/* All that is read. */
typedef struct inputs {
    rb_model *start;
    rb_source *source, *valid;
    labelled_data train_labels, valid_labels;
} inputs;

static rb_error read_inputs(const invocation *call, inputs *in) {
    const char *start = call->arguments[0], *valid = option_text(call, "valid");
    bool none = strcmp(start, "none") == 0;
    rb_error err = none ? RB_OK : rb_model_load(call->ctx, start, &in->start);
    err = err || none ? err : cut_layers(call, &in->start);
    const char *regress =
        in->start ? rb_model_attribute(in->start, "regress") : option_text(call, "regress");
    err = err ? err : open_data(call, in->start, call->arguments[1], &in->source);
    err = err ? err : read_covariates(call, regress, in->source);
    err = err ? err
              : labelled_read(call, in->source, option_text(call, "labels"),
                              option_text(call, "targets"), &in->train_labels);
    if (err || !valid) return err;
    err = open_data(call, in->start, valid, &in->valid);
    err = err ? err : read_covariates(call, regress, in->valid);
    return err ? err
               : labelled_read(call, in->valid, option_text(call, "valid-labels"),
                               option_text(call, "valid-targets"), &in->valid_labels);
}

static void clear_inputs(inputs *in) {
    labelled_clear(&in->train_labels);
    labelled_clear(&in->valid_labels);
    rb_source_free(in->valid);
    rb_source_free(in->source);
    rb_model_free(in->start);
}

static rb_error train(const invocation *call, watch *w, const inputs *in, rb_model **net) {
    watch_begin(call, NULL, &w->log);
    rb_error err = rb_finetune(call->ctx, call->options, in->start, &in->train_labels.data,
                               in->valid ? &in->valid_labels.data : NULL, net);
    watch_end(call);
    return err;
}

/* ---- a grid ---- */

static json_t *grid_row(const void *of, int64_t row) {
    const rb_grid *grid = of;
    json_t *json = json_object();
    rb_json_add(&json, "point", rb_json_text(rb_grid_point(grid, row)));
    static const char *const numbers[] = {"epochs", "best_epoch", "valid_error", "valid_loss"};
    for (int c = 0; c < 4; c++)
        rb_json_add(&json, numbers[c], rb_json_number(rb_grid_get(grid, row, numbers[c])));
    rb_json_add(&json, "choice", rb_json_text(row == rb_grid_best(grid) ? "chosen" : "-"));
    return json;
}

static void print_grid(const rb_grid *grid) {
    int width = (int)strlen("point");
    for (int64_t i = 0; i < rb_grid_points(grid); i++) {
        int length = (int)strlen(rb_grid_point(grid, i));
        width = length > width ? length : width;
    }
    printf("%-*s  epochs  best  valid error %%  valid loss\n", width, "point");
    for (int64_t i = 0; i < rb_grid_points(grid); i++) {
        double error = rb_grid_get(grid, i, "valid_error"),
               loss = rb_grid_get(grid, i, "valid_loss");
        printf("%-*s", width, rb_grid_point(grid, i));
        if (isnan(loss)) {
            printf("  the loss became infinite\n");
            continue;
        }
        printf("%8.0f%6.0f", rb_grid_get(grid, i, "epochs"), rb_grid_get(grid, i, "best_epoch"));
        if (isnan(error))
            printf("%15s", "-");
        else
            printf("%15.2f", 100 * error);
        printf("%12.4g%s\n", loss, i == rb_grid_best(grid) ? "  chosen" : "");
    }
}

static rb_error train_grid(const invocation *call, watch *w, const inputs *in, rb_model **net) {
    watch_begin(call, NULL, NULL);
    rb_error err = rb_finetune_grid(call->ctx, call->options, option_text(call, "grid"), in->start,
                                    &in->train_labels.data, &in->valid_labels.data, &w->grid);
    watch_end(call);
    *net = err ? NULL : rb_grid_take(w->grid);
    return err;
}

static int write_table(invocation *call, watch *w) {
    const char *target = option_text(call, "table");
    const result_table table = {"point epochs best_epoch valid_error valid_loss choice",
                                rb_grid_points(w->grid), grid_row, w->grid};
    return target ? table_begin(call, &w->table, target, &table) : STATUS_DONE;
}

/* ---- the end ---- */

static void summarise(const rb_model *net) {
    int64_t epochs = rb_model_iterations(net);
    double seconds, total = 0, error = NAN, loss = NAN;
    const char *best = rb_model_attribute(net, "best_epoch");
    long long at = best ? atoll(best) : epochs;
    for (int64_t t = 0; t < epochs; t++) {
        rb_model_history(net, t, NULL, NULL, &seconds);
        total += seconds;
    }
    rb_model_metric(net, at - 1, "valid_error", &error);
    rb_model_metric(net, at - 1, "valid_loss", &loss);
    rb_status status = rb_model_status(net);
    bool ended = status != RB_STATUS_ITERATIONS;
    report("%lld epochs in %.3g s%s%s", (long long)epochs, total, ended ? ", " : "",
           ended ? rb_status_name(status) : "");
    if (!isnan(error))
        report("net of epoch %lld: %.2f %% errors on the validation samples", at, 100 * error);
    else if (!isnan(loss))
        report("net of epoch %lld: a loss of %.6g on the validation samples", at, loss);
}

static int finetune(invocation *call, watch *w, const output *out, rb_model **net) {
    inputs in = {0};
    *net = NULL;
    rb_error err = read_inputs(call, &in);
    int status = err ? report_failure(call->ctx, err) : fit_log_begin(&w->log);
    if (!status) {
        bool none = strcmp(call->arguments[0], "none") == 0;
        fit_record record = {call->arguments[1], none ? NULL : call->arguments[0], in.start};
        err = (option_text(call, "grid") ? train_grid : train)(call, w, &in, net);
        err = err ? err : save_fit(call, *net, &record, out->path);
        status = report_failure(call->ctx, err);
        if (!status && w->grid) status = write_table(call, w);
    }
    clear_inputs(&in);
    return status;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    output out;
    watch w = {.log = {.ctx = call->ctx, .path = option_text(call, "log-json")}};
    rb_model *net = NULL;
    int status = check(call);
    status = status ? status : output_begin(&out, target, "h5");
    if (status) return status;
    if (option_text(call, "checkpoint"))
        w.log.goes_on = !access(option_text(call, "checkpoint"), F_OK);
    status = finetune(call, &w, &out, &net);
    int logged = fit_log_end(&w.log);
    pair_hold(&w.table);
    status = pair_end(&w.table, output_end(&out, status));
    if (!status) {
        if (w.grid) print_grid(w.grid);
        remove_checkpoint(option_text(call, "checkpoint"), net);
        summarise(net);
        if (rb_model_status(net) == RB_STATUS_STOPPED) {
            report_error("interrupted after %lld epochs; the best net so far was written",
                         (long long)rb_model_iterations(net));
            status = interrupt_status();
        }
        if (!logged)
            report("net in %s; next: rarebit evaluate %s TEST --labels FILE", target, target);
    }
    rb_model_free(net);
    rb_grid_free(w.grid);
    return status ? status : logged;
}

const command finetune_command = {
    .words = "finetune",
    .summary = "train a net of rectified layers on labelled samples",
    .description =
        "Starts from the layers and preprocessing of a model, or at random, and minimises the loss "
        "by gradient descent in batches. --valid keeps the net of the epoch with the fewest "
        "validation errors, and stops after --patience epochs without improvement. Ctrl-C writes "
        "the best net so far, but none with --grid. With --checkpoint the same command resumes.",
    .arguments = {{"START", "a model of rfn, dae, rbm, pca, stack or finetune, or none", false},
                  DATA_ARGUMENT},
    .options_new = new_options,
    .output = "NET",
    .own = {sizeof(rb_option), "Samples and output", samples_options},
    .groups = {layer_group, covariates_group, rb_read_group, general_group},
    .examples = {{"Codes of an rfn as the first layer of a net for digits",
                  "finetune rfn.h5 train.idx --labels train-labels.idx --valid valid.idx "
                  "--valid-labels valid-labels.idx -o net.h5"},
                 {"The same from a random start, with dropout",
                  "finetune none X.npy --labels y.npy --layers 1024,1024 --dropout 0.5 --centre "
                  "median -o net.h5"},
                 {"The rate and the noise that err least on validation samples",
                  "finetune none X.npy --labels y.npy --valid V.npy --valid-labels v.npy --layers "
                  "1024 --grid 'rate=0.1,0.01,0.001 masking=0,0.25' -o net.h5"},
                 {"Values instead of classes",
                  "finetune none X.npy --targets Y.npy --outputs linear --layers 64 -o net.h5"}},
    .reads = "labels targets valid valid-labels valid-targets covariates",
    .writes = "output log-json checkpoint table",
    .fixed = {"output", "a net is written as HDF5", ".h5"},
    .run = run,
};
