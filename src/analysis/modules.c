/* The list of modules. */
#include "analysis.h"

rb_error rb_modules_new(rb_context *ctx, int64_t count, rb_modules **out) {
    *out = rb_alloc_zero(ctx, 1, sizeof **out);
    rb_module *list = *out ? rb_alloc_zero(ctx, count, sizeof *list) : NULL;
    if (!list) {
        rb_free(*out);
        *out = NULL;
        return RB_ERROR_MEMORY;
    }
    **out = (rb_modules){.list = list, .count = count};
    return RB_OK;
}

void rb_modules_free(rb_modules *modules) {
    if (!modules) return;
    for (int64_t r = 0; r < modules->count; r++) {
        rb_free(modules->list[r].samples);
        rb_free(modules->list[r].features);
    }
    rb_free(modules->list);
    rb_free(modules->column_of);
    rb_free(modules->rule);
    rb_free(modules->significance);
    rb_free(modules);
}

int64_t rb_modules_column(const rb_modules *modules, int64_t feature) {
    return modules->column_of ? modules->column_of[feature] : feature;
}

int64_t rb_modules_count(const rb_modules *modules) {
    return modules->count;
}

const rb_module *rb_modules_get(const rb_modules *modules, int64_t rank) {
    return rank >= 0 && rank < modules->count ? &modules->list[rank] : NULL;
}

const char *rb_modules_rule(const rb_modules *modules) {
    return modules->rule;
}
