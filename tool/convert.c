/* rarebit convert: data from any format that is read to any that is written. */
#include "tool.h"

enum { NOT_COPIED = -1 };

/* AnnData to AnnData: a copy, with what stands beside the matrix. A status after a message, or
 * NOT_COPIED: it cannot be done so. */
static int copy_anndata(const invocation *call, const char *target) {
    output out;
    int status = output_begin(&out, target, "h5ad");
    if (status) return status;
    rb_error err =
        rb_anndata_copy(call->ctx, call->arguments[0], option_text(call, "dataset"), out.path);
    return err == RB_ERROR_UNSUPPORTED ? output_end(&out, NOT_COPIED)
                                       : finish_output(call, &out, err);
}

/* What the new file lacks is said. */
static void warn_of_losses(const invocation *call, const rb_source *source, bool anndata) {
    if (anndata) {
        report_error("warning: only the matrix and its names are kept, not what else is in '%s'",
                     call->arguments[0]);
    }
    if (rb_source_sparse(source) && !has_suffix(option_text(call, "output"), ".h5ad"))
        report("the sparse matrix is written with all its zeros");
}

static int write_source_whole(invocation *call, rb_source *source) {
    const char *target = option_text(call, "output");
    bool anndata = has_suffix(call->arguments[0], ".h5ad") && has_suffix(target, ".h5ad");
    bool whole = anndata && !option_flag(call, "transpose");
    int status = whole ? copy_anndata(call, target) : NOT_COPIED;
    if (status != NOT_COPIED) return status;
    warn_of_losses(call, source, anndata);
    return write_source(call, source, target);
}

static int run(invocation *call) {
    rb_source *source = NULL;
    rb_error err = rb_open(call->ctx, call->arguments[0], call->options, &source);
    int status = err ? report_failure(call->ctx, err) : write_source_whole(call, source);
    if (!status) {
        report("%lld samples x %lld features in %s", (long long)rb_source_samples(source),
               (long long)rb_source_features(source), output_shown(option_text(call, "output")));
    }
    rb_source_free(source);
    return status;
}

const command convert_command = {
    .words = "convert",
    .summary = "convert data to another format",
    .description =
        "Formats are told by contents and suffix; names of samples and features are kept "
        "where the format has a place for them. From AnnData to AnnData (.h5ad) the result is a "
        "copy with all that is in the input; a layer of --dataset takes the place of X.",
    .arguments = {DATA_ARGUMENT},
    .output = "FILE",
    .groups = {matrix_output_group, rb_read_group, general_group},
    .examples = {{"A table as an array that is read without waiting",
                  "convert genes.tsv --transpose -o cells.npy"},
                 {"A layer of an AnnData file as text",
                  "convert cells.h5ad --dataset layers/counts -o counts.tsv.gz"},
                 {"A picture as 8 x 8 patches", "convert photo.png --patches 8x8 -o patches.npy"}},
    .check_output = rb_writer_check,
    .run = run,
};
