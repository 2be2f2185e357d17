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

rb_option_group rb_method_group(const rb_method *method) {
    return (rb_option_group){sizeof(rb_option), method->title, method->options,
                             method->options_size, method->rules};
}

/* The first function that every method must have, and this one has not; or NULL. */
static const char *missing_function(const rb_method *m) {
    const struct {
        const char *name;
        bool there;
    } functions[] = {
        {"units", m->units},
        {"block_samples", m->block_samples},
        {"memory", m->memory},
        {"start", m->start},
        {"finish", m->finish},
        {"survey", m->survey},
        {"begin", m->begin},
        {"block", m->block},
        {"end", m->end},
        {"mstep", m->mstep},
        {"objective", m->objective},
        {"store", m->store},
        {"coder_new", m->coder_new},
        {"coder_free", m->coder_free},
        {"encode", m->encode},
        {"decode", m->decode},
        {"evaluate", m->evaluate},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!functions[i].there) {
            return functions[i].name;
        }
    }
    return NULL;
}

static rb_error check_method(rb_context *ctx, const rb_method *method) {
    if (method->size != sizeof(rb_method)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method has %zu bytes instead of %zu: it was built for another version "
                       "of the library, or does not set its size",
                       method->size, sizeof(rb_method));
    }
    if (!method->name || !method->title || !method->code_name || !method->options) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a method needs a name, a title, a code_name and options, of which one is "
                       "missing in '%s'",
                       method->name ? method->name : "");
    }
    const char *missing = missing_function(method);
    if (missing) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the method '%s' lacks the function '%s'",
                       method->name, missing);
    }
    if (rb_find_method(ctx, method->name)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "there is a method '%s' already; choose another name", method->name);
    }
    rb_option_group group = rb_method_group(method);
    return rb_group_check(ctx, &group);
}

rb_error rb_context_add_method(rb_context *ctx, const rb_method *method) {
    rb_error err = check_method(ctx, method);
    if (err) {
        return err;
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
