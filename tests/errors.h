/* Calls that fail as they should: by a refusal, or because memory runs out. */
#ifndef TEST_ERRORS_H
#define TEST_ERRORS_H

#include "base/base.h"
#include "each.h"

/* A call of this context failed with this code, and the message has these words. */
static inline void assert_error(rb_context *ctx, rb_error err, rb_error code, const char *words) {
    const char *message = rb_context_error(ctx);
    if (err != code)
        fail_msg("%s instead of %s: %s", rb_error_name(err), rb_error_name(code), message);
    if (!strstr(message, words)) fail_msg("'%s' does not say '%s'", message, words);
}

/* For a loop around a call whose memory runs out. Its error begins as RB_ERROR_MEMORY, and no other
 * may come:
 *     for (int64_t n = 0; allow_allocations(ctx, n, err); n++)
 *         err = call(ctx);
 * So many allocations go well; when the call has gone well all do, and the loop ends. */
static inline bool allow_allocations(rb_context *ctx, int64_t count, rb_error err) {
    if (err && err != RB_ERROR_MEMORY)
        fail_msg("before %lld allocations: %s", (long long)count, rb_context_error(ctx));
    if (!err && count < 2) fail_msg("the call allocates nothing");
    ctx->allocations_left = err ? count : -1;
    return err != RB_OK;
}

#endif
