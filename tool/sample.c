/* rarebit sample: new samples, drawn from a model. */
#include "tool.h"

static int sample(invocation *call, rb_model *model, rb_source *source) {
    row_maker rows = {.draw = rb_sample,
                      .rows = rb_sample_count(call->options, source),
                      .columns = rb_model_features(model),
                      .namer = feature_namer(model)};
    return write_rows(call, model, source, &rows, &(output){0});
}

static int run(invocation *call) {
    int status = call->arguments[1]
                     ? STATUS_DONE
                     : refuse_options(call, data_groups,
                                      "does nothing without DATA; leave it out, or "
                                      "name data from whose codes samples are drawn");
    return status ? status : with_model_and_data(call, NULL, sample);
}

const command sample_command = {
    .words = "sample",
    .summary = "draw new samples from a model",
    .description =
        "Codes are drawn from the model's prior, features from the codes, noise included; the "
        "result is on the scale of the data: centring, scaling and log1p are undone. With DATA "
        "codes are drawn from those of its samples instead, each by its posterior. Columns are "
        "named as those of 'reconstruct'.",
    .arguments = {MODEL_ARGUMENT, {"DATA", "samples x features, whose codes are drawn from", true}},
    .output = "FILE",
    .groups = {rb_sample_group, matrix_output_group, layer_group, coding_group, covariates_group,
               rb_read_group, general_group},
    .examples = {{"What the model thinks data look like", "sample model.h5 --count 1000 -o S.npy"},
                 {"With half the noise", "sample model.h5 --noise 0.5 --seed 2 -o S.npy"},
                 {"From the codes of data, one for each of its samples",
                  "sample model.h5 X.npy -o S.npy"},
                 {"Beside the data, as pictures",
                  "plot samples model.h5 Y.npy --shape 5x5 -o samples.png"}},
    .check_output = rb_writer_check,
    .reads = "covariates",
    .run = run,
};
