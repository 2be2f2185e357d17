/* Memory that runs out: a call is tried with one allocation more each time. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

/* For a loop around such a call, whose error begins as RB_ERROR_MEMORY; no other may come:
 *     for (int64_t n = 0; allow_allocations(ctx, n, err); n++)
 *         err = call(ctx);
 * So many allocations go well; when the call has gone well all do, and the loop ends. */
static inline bool allow_allocations(rb_context *ctx, int64_t count, rb_error err) {
    if (err && err != RB_ERROR_MEMORY)
        fail_msg("before %lld allocations: %s", (long long)count, rb_context_error(ctx));
    ctx->allocations_left = err ? count : -1;
    return err != RB_OK;
}

#endif
