/* The methods that a context knows: those built in and those that the program has added. */
#include "model.h"

#include <string.h>

static int64_t count_methods(const rb_method *const *list) {
    int64_t count = 0;
    while (list && list[count]) {
        count++;
    }
    return count;
}

const rb_method *rb_context_method(const rb_context *ctx, int64_t index) {
    int64_t built_in = count_methods(ctx->methods);
    int64_t added = count_methods((const rb_method *const *)ctx->added_methods);
    if (index < 0 || index >= built_in + added) {
        return NULL;
    }
    return index < built_in ? ctx->methods[index] : ctx->added_methods[index - built_in];
}

const rb_method *rb_find_method(const rb_context *ctx, const char *name) {
    const rb_method *method;
    for (int64_t i = 0; (method = rb_context_method(ctx, i)); i++) {
        if (strcmp(method->name, name) == 0) {
            return method;
        }
    }
    return NULL;
}

rb_error rb_context_add_method(rb_context *ctx, const rb_method *method) {
    if (rb_find_method(ctx, method->name)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "there is a method '%s' already; choose another name", method->name);
    }
    int64_t count = count_methods((const rb_method *const *)ctx->added_methods);
    const rb_method **list =
        rb_grow(ctx, (void *)ctx->added_methods, count, count + 2, sizeof *list);
    if (!list) {
        return RB_ERROR_MEMORY;
    }
    list[count] = method;
    list[count + 1] = NULL;
    ctx->added_methods = list;
    return RB_OK;
}
