/* One context for all tests of a file: set_up and tear_down of their group. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "fixture.h"

static rb_context *ctx;

static inline int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

#endif
