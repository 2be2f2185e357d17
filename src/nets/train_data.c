/* Labels: checked, and classes found among the outputs. */
#include "net.h"

#include <math.h>
#include <string.h>

static rb_error check_names(rb_context *ctx, const char *what, const rb_labelled *data) {
    const rb_names names = {data->n_classes, (char **)data->names};
    for (int64_t c = 0; c < names.count; c++) {
        if (!names.text[c])
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s: the name of class %lld is NULL", what,
                           (long long)c);
    }
    rb_named *sorted = rb_names_sort(ctx, &names);
    rb_error err = sorted ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t c = 1; !err && c < names.count; c++) {
        if (strcmp(sorted[c - 1].text, sorted[c].text) == 0)
            err = rb_fail(ctx, RB_ERROR_ARGUMENT, "%s: two classes have the name '%s'", what,
                          sorted[c].text);
    }
    rb_free(sorted);
    return err;
}

rb_error deep_labelled_check(rb_context *ctx, const char *what, const rb_labelled *data) {
    if (!data) return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s are NULL", what);
    rb_error err = rb_size_check(ctx, "the rb_labelled", data->size, sizeof *data);
    if (!err && !data->source) err = rb_fail(ctx, RB_ERROR_ARGUMENT, "%s have no source", what);
    return err || !data->class_of || !data->names ? err : check_names(ctx, what, data);
}

void deep_labels_free(deep_labels *labels) {
    rb_free(labels->class_of);
    *labels = (deep_labels){0};
}

static rb_error take_classes(rb_context *ctx, const char *what, int64_t n_outputs,
                             const char *names, const rb_labelled *data, deep_labels *labels) {
    int64_t n = labels->count;
    if (!data->class_of || data->n_classes < 1)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s have no classes, which softmax needs", what);
    int64_t *place = rb_alloc(ctx, data->n_classes, sizeof *place);
    labels->class_of = place ? rb_alloc(ctx, n, sizeof *labels->class_of) : NULL;
    rb_error err = labels->class_of ? deep_names_match(ctx, what, names, n_outputs, data, place)
                                    : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < n; i++) {
        int64_t c = data->class_of[i];
        if (c < -1 || c >= data->n_classes) {
            err = rb_fail(ctx, RB_ERROR_DATA, "%s: sample %lld has the class %lld of %lld", what,
                          (long long)rb_nth(ctx, i), (long long)c, (long long)data->n_classes);
            break;
        }
        labels->class_of[i] = c < 0 ? -1 : place[c];
        labels->labelled += c >= 0;
    }
    if (!err && labels->labelled == 0)
        err = rb_fail(ctx, RB_ERROR_DATA, "none of %s has a class", what);
    rb_free(place);
    return err;
}

static rb_error take_values(rb_context *ctx, const char *what, deep_outputs outputs,
                            int64_t n_outputs, const rb_labelled *data, deep_labels *labels) {
    if (!data->values || data->n_values != n_outputs) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s have %lld target values each, but %lld are needed", what,
                       (long long)(data->values ? data->n_values : 0), (long long)n_outputs);
    }
    for (int64_t e = 0; e < labels->count * n_outputs; e++) {
        double value = data->values[e];
        bool legal = isfinite(value) && (outputs == DEEP_LINEAR || (value >= 0 && value <= 1));
        if (!legal) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "%s: target %lld of sample %lld (counted from %d) is %g, but must be %s",
                           what, (long long)rb_nth(ctx, e % n_outputs),
                           (long long)rb_nth(ctx, e / n_outputs), ctx->first, value,
                           outputs == DEEP_LINEAR ? "finite" : "0 to 1");
        }
    }
    labels->values = data->values;
    labels->labelled = labels->count;
    return RB_OK;
}

rb_error deep_labels_take(rb_context *ctx, const char *what, deep_outputs outputs,
                          int64_t n_outputs, const char *names, const rb_labelled *data,
                          deep_labels *labels) {
    *labels = (deep_labels){.count = rb_source_samples(data->source)};
    if (labels->count == 0) return rb_fail(ctx, RB_ERROR_DATA, "%s are none", what);
    rb_error err = outputs == DEEP_SOFTMAX
                       ? take_classes(ctx, what, n_outputs, names, data, labels)
                       : take_values(ctx, what, outputs, n_outputs, data, labels);
    if (err) deep_labels_free(labels);
    return err;
}
