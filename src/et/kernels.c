/* Which kernels compute: those of the context's instruction set. */
#include "kernels.h"

#include <rarebit/version.h>

#include <string.h>

extern const et_kernels et_kernels_ref;
#if defined(__x86_64__)
extern const et_kernels et_kernels_avx2, et_kernels_avx512;
#endif

const et_kernels *et_kernels_of(const rb_context *ctx) {
    rb_build build;
    rb_build_info(ctx, &build);
#if defined(__x86_64__)
    if (strcmp(build.kernels, et_kernels_avx512.name) == 0) {
        return &et_kernels_avx512;
    }
    if (strcmp(build.kernels, et_kernels_avx2.name) == 0) {
        return &et_kernels_avx2;
    }
#endif
    return &et_kernels_ref;
}
