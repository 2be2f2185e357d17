/* Fuzz target: .npz, as import reads it. */
#include "driver/read.h"
#include "io/io.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static rb_error take_all(rb_context *ctx, const char *path, const char *name, bool *wanted) {
    (void)ctx, (void)path;
    *wanted = name[0] != '-';
    return RB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rb_context *ctx;
    char path[64];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (rb_context_create(&ctx) == RB_OK) {
        rb_arrays arrays = {0};
        rb_error err = rb_npz_read(ctx, path, take_all, &arrays);
        fuzz_expect(err == RB_OK || rb_context_error(ctx)[0] != '\0');
        rb_arrays_clear(&arrays);
        rb_context_free(ctx);
    }
    close(file);
    return 0;
}
