/* rarebit convert: data from any format that is read to any that is written. */
#include "results.h"

static int run(invocation *call) {
    const output_options *options = options_of(call, matrix_output_option_table());
    rb_matrix *matrix;
    rb_error err =
        rb_read(call->ctx, call->arguments[0], options_of(call, rb_read_option_table()), &matrix);
    if (err) {
        return report_failure(call->ctx, err);
    }
    int status = write_matrix(call, matrix);
    if (!status) {
        report("%lld samples x %lld features in %s", (long long)rb_matrix_samples(matrix),
               (long long)rb_matrix_features(matrix), options->output);
    }
    rb_matrix_free(matrix);
    return status;
}

const command convert_command = {
    .words = "convert",
    .heading = "Data",
    .summary = "turn data of one format into another",
    .description =
        "Formats are told by contents and suffix; names of samples and features are kept "
        "where the format has room for them.",
    .arguments = {{"DATA", "samples x features, in any format that fit reads", false}},
    .output = "FILE",
    .groups = {{"Output", matrix_output_option_table, sizeof(output_options), NULL},
               {"Reading", rb_read_option_table, sizeof(rb_read_options), NULL},
               {"General", general_option_table, sizeof(general_options), NULL}},
    .examples = {{"A table as an array that is read without waiting",
                  "convert genes.tsv --transpose -o cells.npy"},
                 {"A layer of an AnnData file as text",
                  "convert cells.h5ad --dataset layers/counts -o counts.tsv.gz"},
                 {"A picture as 8 x 8 patches", "convert photo.png --patches 8x8 -o patches.npy"}},
    .run = run,
};
