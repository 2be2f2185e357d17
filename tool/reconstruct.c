/* rarebit reconstruct: samples rebuilt from their codes. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* The model's own name of a feature, or its column in the data; to be freed. */
static char *name_of_feature(const rb_model *model, int64_t k) {
    const char *name = rb_model_feature_name(model, k);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)rb_model_feature_index(model, k));
    return strdup(name ? name : number);
}

/* Are the features in use a selection, so that their places say nothing? */
static bool selects(const rb_model *model) {
    int64_t last = rb_model_features(model) - 1;
    return rb_model_feature_index(model, last) != last;
}

column_namer feature_namer(const rb_model *model) {
    bool any = rb_model_features(model) > 0;
    return any && (rb_model_feature_name(model, 0) || selects(model)) ? name_of_feature : NULL;
}

static const rb_option impute_options[] = {
    {FLAG_OPTION("impute"),
     "keep the values that are there: only those that are missing come from the model",
     RB_OPTION_COMMON},
    {0},
};

static int reconstruct(invocation *call, rb_model *model, rb_source *source) {
    bool imputes = option_flag(call, "impute");
    row_maker rows = {.make = imputes ? rb_impute : rb_reconstruct,
                      .columns = rb_model_features(model),
                      .namer = feature_namer(model)};
    return write_rows(call, model, source, &rows, &(output){0});
}

static int run(invocation *call) {
    return with_model_and_data(call, NULL, reconstruct);
}

const command reconstruct_command = {
    .words = "reconstruct",
    .summary = "write samples rebuilt from their codes",
    .description =
        "The result is on the scale of the data: centring, scaling, log1p and totals are "
        "undone. Columns are the features that the model uses; those of data without names are "
        "called by their column in the data, from 0, when they are a selection.",
    .arguments = {MODEL_ARGUMENT, DATA_ARGUMENT},
    .output = "FILE",
    .own = {sizeof(rb_option), "Values", impute_options},
    .own_after = 2,
    .groups = {matrix_output_group, layer_group, coding_group, covariates_group, rb_read_group,
               general_group},
    .examples = {{"What the model keeps of the data", "reconstruct model.h5 X.npy -o rebuilt.npy"},
                 {"What is missing in the data, by the model",
                  "reconstruct model.h5 X.tsv --missing model --impute -o whole.tsv"},
                 {"Of samples that it has not seen",
                  "reconstruct model.h5 new.tsv -o rebuilt.tsv"}},
    .check_output = rb_writer_check,
    .reads = "covariates",
    .run = run,
    .together = true,
};
