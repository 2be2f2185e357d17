/* Fuzz target: WAV and what else libsndfile reads. */
#include "driver/read.h"

#include "media/media.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    rb_context *ctx;
    rb_sound sound;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size || rb_context_create(&ctx)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (rb_sound_decode(ctx, path, &sound)) {
        if (sound.values || !rb_context_error(ctx)[0])
            abort(); /* a sound beside an error, or an error without a message */
    } else {
        if (sound.rate < 1 || sound.count < 1) abort();
        rb_sound_trim(&sound);
        rb_sound_scale(&sound, 1);
        rb_free(sound.values);
    }
    rb_context_free(ctx);
    close(file);
    return 0;
}
