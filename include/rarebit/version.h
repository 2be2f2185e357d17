/* Version and what was compiled in. */
#pragma once

#include <rarebit/context.h>

#define RB_VERSION_MAJOR 0
#define RB_VERSION_MINOR 1
#define RB_VERSION_PATCH 0
#define RB_VERSION "0.1.0"

/* The version of the library in use, such as "0.1.0". */
RB_API const char *rb_version(void);

/* What computes, by name:
 *
 *     compiler     "gcc 12.2.0"
 *     kernels      rarebit's own: "ref", "avx2", "avx512"
 *     blas         what the BLAS says of itself; "" when it says nothing
 *     blas_core    the kernels that the BLAS picked, such as "SkylakeX"; "" unknown
 *     blas_advice  the OPENBLAS_CORETYPE that suits this processor; "": none
 *
 * NULL for any other name. The texts live as long as the context. Without one (NULL) the kernels
 * are those that a new context would take. */
RB_API const char *rb_build_info(const rb_context *context, const char *name);

/* Takes the named kernels ("ref", "avx2", "avx512") instead of the best that the processor can run.
 * RB_ERROR_ARGUMENT if it cannot run them. */
RB_API rb_error rb_context_set_kernels(rb_context *context, const char *name);
