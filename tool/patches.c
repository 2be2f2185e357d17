/* rarebit patches: random pieces of pictures. */
#include "tool.h"

static int run(invocation *call) {
    rb_source *source = NULL;
    rb_error err =
        rb_patches(call->ctx, call->arguments, call->n_arguments, call->options, &source);
    int status = err ? report_failure(call->ctx, err)
                     : write_source(call, source, option_text(call, "output"));
    if (!status) {
        report("%lld patches of %s pixels, %lld features, from %d picture%s in %s; seed %lld",
               (long long)rb_source_samples(source), option_text(call, "size"),
               (long long)rb_source_features(source), call->n_arguments,
               call->n_arguments == 1 ? "" : "s", option_text(call, "output"),
               (long long)option_integer(call, "seed"));
    }
    rb_source_free(source);
    return status;
}

const command patches_command = {
    .words = "patches",
    .heading = "Data",
    .summary = "cut random patches out of pictures",
    .description =
        "Patches lie anywhere in the pictures and may overlap, but no place is taken twice. One "
        "patch is one sample: its pixels row by row, the channels of a pixel together. All places "
        "of "
        "all pictures are equally likely, so a larger picture gives more patches. For "
        "tiles that do not overlap there is 'rarebit convert --patches'.",
    .arguments = {{"IMAGE...",
                   "PNG, PGM, PPM, or .npy of height x width or height x width x channels", false}},
    .output = "FILE",
    .groups = {rb_patches_group, matrix_output_group, general_group},
    .examples = {{"40000 patches with values from 0 to 10",
                  "patches grass.pgm --size 10x10 --count 40000 --scale 0:10 --seed 1 -o P.npy"},
                 {"Of several photographs", "patches *.png --size 16x16 --count 100k -o P.npy"}},
    .check_output = check_matrix_output,
    .run = run,
};
