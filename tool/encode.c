/* rarebit encode: the codes of samples under a model. */
#include "results.h"

static char **names_of_units(const rb_model *model, int64_t *columns) {
    *columns = rb_model_units(model);
    return unit_names(*columns);
}

static int run(invocation *call) {
    return run_rows(call, rb_encode, names_of_units);
}

const command encode_command = {
    .words = "encode",
    .heading = "Use a model",
    .summary = "write the codes of samples: how active each unit is in each sample",
    .description =
        "The data may be new. They are preprocessed as the training data were; features are "
        "matched by name where model and data have names. Columns are unit1, unit2, ...; names of "
        "samples are kept.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"DATA", "samples x features, in any format that fit reads", false}},
    .output = "CODES",
    .groups = {{"Output", matrix_output_option_table, sizeof(output_options), NULL},
               {"Reading", rb_read_option_table, sizeof(rb_read_options), NULL},
               {"General", general_option_table, sizeof(general_options), NULL}},
    .examples = {{"Codes for numpy", "encode model.h5 X.npy -o codes.npy"},
                 {"A table with names, for R or a spreadsheet",
                  "encode model.h5 genes.tsv --transpose -o codes.tsv"},
                 {"Into a pipe", "encode model.h5 X.npy -o - | head"}},
    .run = run,
};
