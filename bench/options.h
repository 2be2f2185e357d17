/* Options for the benchmarks, which end where one is wrong. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <rarebit/rarebit.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Options of a method, or of a group where that is NULL, from a format of printf: "units=%d". */
static inline rb_options *bench_options(rb_context *ctx, const char *method,
                                        const rb_option_group *group, const char *format, ...)
    RB_PRINTF(4, 5);
static inline rb_options *bench_options(rb_context *ctx, const char *method,
                                        const rb_option_group *group, const char *format, ...) {
    char text[1024];
    rb_options *options = NULL;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    rb_error err = rb_options_new(ctx, method, &options);
    err = err || !group ? err : rb_options_add(ctx, options, group);
    err = err ? err : rb_options_set_all(ctx, options, "%s", text);
    if (err) {
        fprintf(stderr, "%s\n", rb_context_error(ctx));
        exit(1);
    }
    return options;
}

#endif
