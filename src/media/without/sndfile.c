/* In place of media/sndfile.c where libsndfile is not built in. */
#include "media/media.h"

rb_error rb_sound_decode(rb_context *ctx, const char *path, rb_sound *sound) {
    *sound = (rb_sound){0};
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "cannot read the recording %s: this rarebit was built without libsndfile", path);
}

const char *rb_segments_sndfile(void) {
    return "";
}
