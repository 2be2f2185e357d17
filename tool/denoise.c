/* rarebit denoise: a picture without its noise. */
#include "tool.h"

#include <unistd.h>

/* With the checksum of the picture, which 'rarebit info' shows too; a file that is no matrix, such
 * as an array of three dimensions, has none. */
static rb_error name_picture(const invocation *call, const rb_model *model) {
    rb_source *source = NULL;
    rb_error err = rb_open(call->ctx, call->arguments[1], NULL, &source);
    bool absent = err == RB_ERROR_FILE && access(call->arguments[1], R_OK) != 0; /* told of later */
    if (!err || err == RB_ERROR_FORMAT || err == RB_ERROR_DATA || absent)
        err = name_origin(call, model, err ? NULL : source);
    rb_source_free(source);
    return err;
}

static int run(invocation *call) {
    const char *target = option_text(call, "output");
    rb_model *model = NULL;
    rb_denoising result = {.size = sizeof result};
    output out;
    int status = output_begin(&out, target, "png");
    if (status) return status;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &model);
    err = err ? err : name_picture(call, model);
    err = err ? err
              : rb_denoise(call->ctx, model, call->arguments[1], call->options, out.path, &result);
    rb_model_free(model);
    status = finish_output(call, &out, err);
    if (!status) {
        report("%lld x %lld pixels from %lld patches in %s", (long long)result.height,
               (long long)result.width, (long long)result.patches, output_shown(target));
    }
    if (!status && option_text(call, "truth")) {
        report("peak signal-to-noise ratio %.2f dB, before %.2f dB", result.psnr_after,
               result.psnr_before);
    }
    return status;
}

const command denoise_command = {
    .words = "denoise",
    .summary = "remove noise from an image",
    .description =
        "The model, fitted to patches of the picture or of others like it, rebuilds the patch at "
        "every place, and each pixel becomes the mean of all rebuilt patches over it. With "
        "--truth the peak signal-to-noise ratio before and after is shown.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote, of patches", false},
                  {"PICTURE", "PNG, PGM, PPM, or .npy of height x width (x channels)", false}},
    .output = "PICTURE",
    .groups = {rb_denoise_group, path_group, general_group},
    .examples = {{"With a model of its own patches (rarebit patches photo.png --size 8x8 -o P.npy)",
                  "denoise model.h5 photo.png --size 8x8 -o clean.png"}},
    .reads = "truth",
    .run = run,
};
