/* Fuzz target: GMT. */
#include "driver/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    rb_context *ctx;
    rb_feature_sets *sets;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size || rb_context_create(&ctx)) abort();
    fuzz_expect(!rb_feature_sets_new(ctx, &sets));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (rb_feature_sets_read(ctx, path, sets)) {
        fuzz_expect(rb_context_error(ctx)[0] != '\0');
        fuzz_expect(rb_feature_sets_count(sets) == 0);
    }
    for (int64_t s = 0; s < rb_feature_sets_count(sets); s++) {
        fuzz_expect(*rb_feature_sets_name(sets, s) != '\0');
        for (int64_t i = 0; i < rb_feature_sets_size(sets, s); i++)
            fuzz_expect(!strchr(rb_feature_sets_member(sets, s, i), '\t'));
    }
    rb_feature_sets_free(sets);
    rb_context_free(ctx);
    close(file);
    return 0;
}
