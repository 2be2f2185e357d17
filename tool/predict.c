/* rarebit predict: what a net says about samples. */
#include "labels.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option predict_options[] = {
    {FLAG_OPTION("probabilities"),
     "write the probability of each class instead of the most probable class"},
    {0},
};

struct classes {
    const rb_model *net;
    rb_source *source;
    int64_t *class_of;
    double *probability;
};

static rb_error add_rows(void *user, int64_t first, const rb_matrix *rows) {
    struct classes *c = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        int64_t best = 0;
        for (int64_t j = 1; j < rb_matrix_features(rows); j++)
            if (rb_matrix_at(rows, i, j) > rb_matrix_at(rows, i, best)) best = j;
        c->class_of[first + i] = best;
        c->probability[first + i] = rb_matrix_at(rows, i, best);
    }
    return interrupted() ? RB_ERROR_INTERRUPTED : RB_OK;
}

static json_t *class_row(const void *of, int64_t row) {
    const struct classes *c = of;
    const char *sample = rb_source_sample_name(c->source, row);
    return json_pack("{so so so}", "sample",
                     sample ? rb_json_text(sample) : json_integer((json_int_t)row), "class",
                     output_json(c->net, c->class_of[row]), "probability",
                     rb_json_number(c->probability[row]));
}

static int write_classes(invocation *call, rb_model *net, rb_source *source) {
    const char *target = option_text(call, "output");
    size_t n = (size_t)rb_source_samples(source) + 1;
    struct classes c = {net, source, calloc(n, sizeof *c.class_of), calloc(n, sizeof(double))};
    rb_error err = c.class_of && c.probability ? rb_encode(call->ctx, net, source, add_rows, &c)
                                               : fail_memory(call->ctx);
    result_table table = {"sample class probability", rb_source_samples(source), class_row, &c};
    int status = err ? report_failure(call->ctx, err)
                     : table_write(call, target, &table, "samples with their classes");
    free(c.class_of);
    free(c.probability);
    return status;
}

static rb_error check(const invocation *call, const rb_model *model) {
    const char *outputs = rb_net_outputs(model), *target = option_text(call, "output");
    bool classes = outputs && strcmp(outputs, "softmax") == 0;
    bool matrix = !classes || option_flag(call, "probabilities");
    if (!outputs) {
        rb_coder *coder; /* what is wrong with a damaged net */
        rb_error err = rb_coder_open(call->ctx, model, &coder);
        rb_coder_free(coder);
        return err ? err
                   : fail(call->ctx, RB_ERROR_ARGUMENT,
                          "the model is of method '%s', but predictions are those of a net; train "
                          "one with rarebit finetune",
                          rb_model_method(model));
    }
    if (!classes && option_flag(call, "probabilities")) {
        return fail(call->ctx, RB_ERROR_ARGUMENT,
                    "probabilities is given, but the net has %s outputs, which are written anyhow; "
                    "leave it out",
                    outputs);
    }
    if (!matrix && !table_format_known(target)) {
        return fail(call->ctx, RB_ERROR_ARGUMENT,
                    "output is '%.300s', but classes are written as .tsv or .json; give such a "
                    "name, or --probabilities",
                    target);
    }
    return matrix ? rb_writer_check(call->ctx, target) : RB_OK;
}

static int predict(invocation *call, rb_model *net, rb_source *source) {
    bool classes = strcmp(rb_net_outputs(net), "softmax") == 0;
    output second = {0};
    row_maker outputs = {rb_encode, rb_model_units(net), output_name};
    return classes && !option_flag(call, "probabilities")
               ? write_classes(call, net, source)
               : write_rows(call, net, source, &outputs, &second);
}

static int run(invocation *call) {
    return with_model_and_data(call, check, predict);
}

const command predict_command = {
    .words = "predict",
    .summary = "predict classes or values",
    .description =
        "The data are preprocessed as the training data were; features are matched by name where "
        "net and data have names. Classes go to a table of sample, class and its probability; "
        "probabilities and values to a matrix.",
    .arguments = {{"MODEL", "a net that 'rarebit finetune' wrote", false}, DATA_ARGUMENT},
    .output = "FILE",
    .own = {sizeof(rb_option), "Predictions", predict_options},
    .groups = {matrix_output_group, covariates_group, rb_read_group, general_group},
    .examples = {{"The class of each sample", "predict net.h5 test.npy -o classes.tsv"},
                 {"A probability for each class, for numpy",
                  "predict net.h5 test.npy --probabilities -o p.npy"}},
    .reads = "covariates",
    .run = run,
};
