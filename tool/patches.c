/* rarebit patches: random pieces of pictures. */
#include "tool.h"

static const rb_option whitening_options[] = {
    {TEXT_OPTION("whitening"), "FILE",
     "write what contrast and whiten did, .npz, for 'rarebit export --conv'"},
    {0},
};

static int check_whitening(const invocation *call) {
    if (!option_text(call, "whitening")) return STATUS_DONE;
    if (option_is(call, "whiten", "none") && option_is(call, "contrast", "none")) {
        return report_usage(
            "--whitening does nothing without --whiten or --contrast; leave it out, or give "
            "one of them");
    }
    return STATUS_DONE;
}

/* The whitening waits for the patches. */
static int write_patches(invocation *call, rb_source *source, const rb_whitening *whitening) {
    const char *target = option_text(call, "whitening");
    output out = {0};
    int status = target ? output_begin_own(&out, call->ctx, target, "npz") : STATUS_DONE;
    if (status) return status;
    rb_error err = target ? rb_whitening_write(call->ctx, whitening, out.path) : RB_OK;
    if (err) return output_end(&out, report_failure(call->ctx, err));
    status = write_source(call, source, option_text(call, "output"));
    return target ? output_end(&out, status) : status;
}

static int run(invocation *call) {
    rb_source *source = NULL;
    rb_whitening *whitening = NULL;
    int status = check_whitening(call);
    if (status) return status;
    rb_error err = rb_patches_whitened(call->ctx, call->arguments, call->n_arguments, call->options,
                                       &source, option_text(call, "whitening") ? &whitening : NULL);
    status = err ? report_failure(call->ctx, err) : write_patches(call, source, whitening);
    if (!status) {
        bool data = option_text(call, "pictures");
        report("%lld patches of %s pixels, %lld features, from %d %s%s in %s; seed %lld",
               (long long)rb_source_samples(source), option_text(call, "size"),
               (long long)rb_source_features(source), call->n_arguments, data ? "file" : "image",
               call->n_arguments == 1 ? "" : "s", output_shown(option_text(call, "output")),
               (long long)option_integer(call, "seed"));
    }
    rb_whitening_free(whitening);
    rb_source_free(source);
    return status;
}

const command patches_command = {
    .words = "patches",
    .summary = "cut random patches from images",
    .description =
        "Patches lie anywhere in the images and may overlap, but no place is taken twice. One "
        "patch is one sample: its pixels row by row, the channels of a pixel together. All places "
        "of all images are equally likely, so a larger image gives more patches. For "
        "tiles that do not overlap use 'rarebit convert --patches'.",
    .arguments = {{"IMAGE...",
                   "PNG, PGM, PPM, or .npy of height x width or height x width x channels; with "
                   "--pictures data of many pictures",
                   false}},
    .output = "FILE",
    .own = {sizeof(rb_option), "Output", whitening_options},
    .own_after = 1,
    .groups = {rb_patches_group, matrix_output_group, general_group},
    .examples = {{"40000 patches with values from 0 to 10",
                  "patches grass.pgm --size 10x10 --count 40000 --scale 0:10 --seed 1 -o P.npy"},
                 {"Whitened ones of digits, for the first layer of a convolutional net",
                  "patches digits.idx --pictures 28x28 --size 5x5 --count 100k --contrast global "
                  "--whiten zca --whitening zca.npz -o P.npy"},
                 {"Of several photographs", "patches *.png --size 16x16 --count 100k -o P.npy"}},
    .writes = "output whitening",
    .fixed = {"whitening", "a whitening is written as .npz", ".npz"},
    .check_output = rb_writer_check,
    .run = run,
};
