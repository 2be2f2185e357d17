/* In place of the commands of librarebit-media, and of what others call of it, where that is not
 * built. */
#include "../tool.h"

/* Nothing here looks at what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Of no words: in no list. */
const command patches_command, segments_command;
const command denoise_command = {.library = "librarebit-media",
                                 .brings = "patches segments denoise"};

const char *rb_segments_sndfile(void) {
    return "";
}

static rb_error absent(rb_context *ctx) {
    return rb_context_fail(ctx, RB_ERROR_UNSUPPORTED,
                           "kernels of patches need librarebit-media, but this rarebit was built "
                           "without it");
}

rb_error rb_kernels_write(rb_context *ctx, const rb_model *model, const rb_unit_weights *layer,
                          const char *size, const rb_whitening *whitening, const char *path) {
    return absent(ctx);
}

rb_error rb_whitening_read(rb_context *ctx, const char *path, rb_whitening **whitening) {
    *whitening = NULL;
    return absent(ctx);
}

void rb_whitening_free(rb_whitening *whitening) {
}
