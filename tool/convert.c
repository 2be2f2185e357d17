/* rarebit convert: data from any format that is read to any that is written. */
#include "results.h"

/* AnnData to AnnData: a copy, with what stands beside the matrix. STATUS_DONE, or a status after a
 * message. *copied: it could be done so. */
static int copy_anndata(invocation *call, bool *copied) {
    const output_options *to = options_of(call, matrix_output_group());
    output out;
    int status = output_begin(&out, to->output, "h5ad");
    if (status) {
        return status;
    }
    rb_error err = rb_anndata_copy(call->ctx, call->arguments[0],
                                   rb_options_text(call->options, "dataset"), out.path);
    *copied = err == RB_OK;
    if (!err) {
        return output_end(&out);
    }
    output_abandon(&out);
    return err == RB_ERROR_UNSUPPORTED ? STATUS_DONE : report_failure(call->ctx, err);
}

/* What the new file lacks is said. */
static void warn_of_losses(const invocation *call, const rb_source *source, bool anndata) {
    if (anndata) {
        report_error("warning: only the matrix and its names are kept, not what else is in '%s'",
                     call->arguments[0]);
    }
    if (rb_source_sparse(source)) {
        report("the sparse matrix is written with all its zeros");
    }
}

static int write_source_whole(invocation *call, rb_source *source) {
    const output_options *to = options_of(call, matrix_output_group());
    bool anndata = has_suffix(call->arguments[0], ".h5ad") && has_suffix(to->output, ".h5ad"),
         copied = false;
    if (anndata && !option_is(call, "transpose", "true")) {
        int status = copy_anndata(call, &copied);
        if (status || copied) {
            return status;
        }
    }
    warn_of_losses(call, source, anndata);
    return write_source(call, source);
}

static int run(invocation *call) {
    const output_options *to = options_of(call, matrix_output_group());
    rb_source *source;
    rb_error err = rb_open(call->ctx, call->arguments[0], call->options, &source);
    if (err) {
        return report_failure(call->ctx, err);
    }
    int status = write_source_whole(call, source);
    if (!status) {
        report("%lld samples x %lld features in %s", (long long)rb_source_samples(source),
               (long long)rb_source_features(source), to->output);
    }
    rb_source_free(source);
    return status;
}

const command convert_command = {
    .words = "convert",
    .heading = "Data",
    .summary = "turn data of one format into another",
    .description =
        "Formats are told by contents and suffix; names of samples and features are kept "
        "where the format has a place for them. From AnnData to AnnData (.h5ad) the result is a "
        "copy "
        "with "
        "all that is in the input; a layer of --dataset takes the place of X.",
    .arguments = {{"DATA", "samples x features, in any format that fit reads", false}},
    .output = "FILE",
    .groups = {matrix_output_group, rb_read_group, general_group},
    .examples = {{"A table as an array that is read without waiting",
                  "convert genes.tsv --transpose -o cells.npy"},
                 {"A layer of an AnnData file as text",
                  "convert cells.h5ad --dataset layers/counts -o counts.tsv.gz"},
                 {"A picture as 8 x 8 patches", "convert photo.png --patches 8x8 -o patches.npy"}},
    .check_output = check_matrix_output,
    .run = run,
};
