/* The look at data as a whole, and what it leaves: findings and advice. */
#include "check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct check_options {
    int64_t samples, units, seed;
} check_options;

const rb_option_group *rb_check_group(void) {
    static const rb_option table[] = {
        {"units", 'k', RB_OPTION_INTEGER, offsetof(check_options, units), "0", 0, 1e9, NULL, "K",
         "suggest a fit with K units and estimate its memory and time (0: estimate K only)",
         RB_OPTION_COMMON},
        {"samples", 0, RB_OPTION_INTEGER, offsetof(check_options, samples), "0", 0, 9e18, NULL, "N",
         "examine this many samples, spread over the file; 0: all, up to a billion values"},
        {"seed", 0, RB_OPTION_INTEGER, offsetof(check_options, seed), "0", 0, 1e15, NULL, "N",
         "of the permuted features that principal components are compared with"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Check", table, sizeof(check_options)};
    return &group;
}

static char *make_text(rb_context *ctx, const char *format, va_list list) {
    char text[1024];
    rb_print_list(text, sizeof text, format, list);
    return rb_copy_text(ctx, text);
}

void rb_check_find(rb_check *check, const char *name, rb_severity severity, double value,
                   const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *sentence = make_text(check->ctx, format, list);
    va_end(list);
    rb_finding *grown = rb_reserve(check->ctx, check->findings, check->n_findings, 1,
                                   &check->findings_held, sizeof *grown);
    if (grown) check->findings = grown;
    if (!grown || !sentence) {
        rb_free(sentence);
        check->err = RB_ERROR_MEMORY;
        return;
    }
    int64_t at = check->n_findings++;
    for (; at > 0 && grown[at - 1].severity < severity; at--)
        grown[at] = grown[at - 1];
    grown[at] = (rb_finding){name, severity, value, sentence};
}

void rb_check_add(rb_check *check, const char *option, const char *value, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *reason = make_text(check->ctx, format, list), *copy = rb_copy_text(check->ctx, value);
    va_end(list);
    rb_advice *grown = rb_reserve(check->ctx, check->advice, check->n_advice, 1,
                                  &check->advice_held, sizeof *grown);
    if (grown) check->advice = grown;
    if (!grown || !reason || !copy) {
        rb_free(reason);
        rb_free(copy);
        check->err = RB_ERROR_MEMORY;
        return;
    }
    grown[check->n_advice++] = (rb_advice){option, copy, reason};
}

void rb_check_free(rb_check *check) {
    if (!check) return;
    for (int64_t i = 0; i < check->n_findings; i++)
        rb_free((char *)check->findings[i].sentence);
    for (int64_t i = 0; i < check->n_advice; i++) {
        rb_free((char *)check->advice[i].value);
        rb_free((char *)check->advice[i].reason);
    }
    rb_free(check->findings);
    rb_free(check->advice);
    rb_free(check->method_reason);
    rb_free(check);
}

static rb_error look_closely(rb_look *look) {
    rb_look_find_kind(look);
    rb_error err = look->scratch.err;
    err = err ? err : rb_look_orient(look);
    err = err ? err : rb_look_find_same(look);
    err = err ? err : rb_find_widest(look);
    err = err ? err : rb_look_structure(look);
    return err ? err : rb_look_find_groups(look);
}

static rb_error look_at(rb_look *look, int64_t max_samples) {
    rb_error err = rb_look_walk(look, max_samples);
    err = err ? err : rb_look_names(look);
    double largest = fmax(fabs(look->low.value), fabs(look->high.value));
    /* Squares beyond float32, in which fits compute. */
    look->range_lost = look->values > 0 && largest > 0 && (largest > 1e19 || largest < 1e-19);
    bool hopeless = look->values == 0 || look->infinite > 0 || look->range_lost;
    return err || hopeless ? err : look_closely(look);
}

rb_error rb_check_run(rb_context *ctx, rb_source *source, const rb_options *options,
                      rb_check **out) {
    *out = NULL;
    check_options o;
    rb_error err = rb_options_take(ctx, options, rb_check_group(), &o);
    if (err) return err;
    rb_look look = {.ctx = ctx,
                    .source = source,
                    .scratch.ctx = ctx,
                    .units = o.units,
                    .seed = (uint64_t)o.seed,
                    .n = source->n_samples,
                    .m = source->n_features};
    rb_check *check = rb_alloc_zero(ctx, 1, sizeof *check);
    err = check ? look_at(&look, o.samples) : RB_ERROR_MEMORY;
    if (!err) {
        check->ctx = ctx;
        rb_check_say(&look, check);
        rb_check_advise(&look, check);
        err = check->err;
    }
    rb_error end = rb_scratch_end(&look.scratch);
    err = err ? err : end;
    if (err) {
        rb_check_free(check);
        return err;
    }
    check->kind = rb_kind_name(look.kind);
    check->across = look.across;
    check->looked = look.looked;
    *out = check;
    return RB_OK;
}

int64_t rb_check_count(const rb_check *check) {
    return check->n_findings;
}

const rb_finding *rb_check_finding(const rb_check *check, int64_t index) {
    return index >= 0 && index < check->n_findings ? &check->findings[index] : NULL;
}

const char *rb_check_kind(const rb_check *check) {
    return check->kind;
}

bool rb_check_across(const rb_check *check) {
    return check->across;
}

int64_t rb_check_samples(const rb_check *check) {
    return check->looked;
}

const char *rb_check_method(const rb_check *check) {
    return check->method;
}

const char *rb_check_method_reason(const rb_check *check) {
    return check->method_reason;
}

int64_t rb_check_advice_count(const rb_check *check) {
    return check->n_advice;
}

const rb_advice *rb_check_advice(const rb_check *check, int64_t index) {
    return index >= 0 && index < check->n_advice ? &check->advice[index] : NULL;
}
