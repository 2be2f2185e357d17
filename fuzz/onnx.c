/* Fuzz target: ONNX, as import reads it. */
#include "driver/read.h"
#include "nets/files/layers_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Layers have their arrays, of which every number is there. */
static void walk(const rb_net_arrays *net) {
    double sum = 0;
    for (int k = 0; k < net->count; k++) {
        const rb_named_array *w = net->weights[k], *b = net->bias[k];
        for (int64_t i = 0; i < w->shape[0] * w->shape[1]; i++)
            sum += w->values[i];
        for (int64_t i = 0; i < b->shape[0]; i++)
            sum += b->values[i];
    }
    fuzz_expect(sum <= 0 || sum > 0 || sum != sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rb_context *ctx;
    char path[64];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (rb_context_create(&ctx) == RB_OK) {
        rb_arrays arrays = {0};
        rb_net_arrays net = {0};
        rb_error err = rb_onnx_read(ctx, path, "a\tb", &arrays, &net);
        fuzz_expect(err == RB_OK || rb_context_error(ctx)[0] != '\0');
        if (!err) walk(&net);
        rb_arrays_clear(&arrays);
        rb_context_free(ctx);
    }
    close(file);
    return 0;
}
