/* Classes of samples: found by name, or where names are missing by position. */
#include "labels.h"
#include "cells.h"

#include <math.h>
#include <string.h>

/* ---- by name ---- */

/* `sorted` has the entries with a class alone. */
static rb_error check_doubles(rb_context *ctx, const char *where, const rb_label_table *t,
                              const rb_named *sorted, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const char *first = t->classes->text[sorted[i - 1].index];
        const char *second = t->classes->text[sorted[i].index];
        if (strcmp(sorted[i - 1].text, sorted[i].text) == 0 && strcmp(first, second) != 0) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s: sample '%s' has two classes, '%s' and '%s'",
                           where, sorted[i].text, first, second);
        }
    }
    return RB_OK;
}

/* class_of[i]: the class in the table of each sample, or "". */
static rb_error look_up(rb_context *ctx, const char *where, const rb_label_table *t,
                        const rb_source *source, const char **class_of) {
    rb_named *sorted = rb_names_sort(ctx, t->names);
    if (!sorted) return RB_ERROR_MEMORY;
    int64_t count = 0;
    for (int64_t e = 0; e < t->names->count; e++)
        if (sorted[e].index >= t->header && *t->classes->text[sorted[e].index])
            sorted[count++] = sorted[e];
    rb_error err = check_doubles(ctx, where, t, sorted, count);
    bool any = false;
    for (int64_t i = 0; !err && i < rb_source_samples(source); i++) {
        int64_t found = rb_names_find(sorted, count, rb_source_sample_name(source, i));
        class_of[i] = found < 0 ? "" : t->classes->text[sorted[found].index];
        any |= found >= 0;
    }
    if (!err && !any) {
        err = rb_fail(
            ctx, RB_ERROR_DATA,
            "%s has none of the samples of the data: the first of the data is '%s', the first "
            "of the labels '%s'",
            where, rb_source_samples(source) > 0 ? rb_source_sample_name(source, 0) : "",
            count > 0 ? t->names->text[t->header] : "");
    }
    rb_free(sorted);
    return err;
}

/* ---- by position ---- */

/* Are the table's samples those of the source, in their order? */
static bool same_names(const rb_label_table *t, const rb_source *source) {
    int64_t n = rb_source_samples(source);
    bool same = t->names->count == n + t->header;
    for (int64_t i = 0; same && i < n; i++)
        same = strcmp(t->names->text[i + t->header], rb_source_sample_name(source, i)) == 0;
    return same;
}

/* Without empty lines at the end, more than there are samples and a header. */
static int64_t count_entries(const rb_label_table *t, int64_t n) {
    int64_t count = t->classes->count;
    while (!t->names && count > n + t->header && !t->classes->text[count - 1][0])
        count--;
    return count;
}

/* Whether classes alone have a header, their number says. */
static rb_error take_by_position(rb_context *ctx, const char *where, const rb_label_table *t,
                                 int64_t n, const char **class_of) {
    int64_t count = count_entries(t, n);
    bool header = t->header && (t->names ? count > 0 : count == n + 1);
    const char *why = t->names ? "the data have no sample names" : "it has no sample names";
    if (count - header != n) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "%s has %lld %s for %lld samples, and its classes can only be taken by "
                       "position, since %s; give a class for each sample, or names on both sides",
                       where, (long long)(count - header), t->names ? "classes" : "lines",
                       (long long)n, why);
    }
    rb_log(ctx, RB_LOG_INFO, "the classes of %s are taken by position, since %s%s", where, why,
           header ? "; the first line is taken as a header" : "");
    memcpy(class_of, t->classes->text + header, (size_t)n * sizeof *class_of);
    return RB_OK;
}

/* A first line that names a sample is none. */
static bool has_header(const rb_label_table *t, const rb_source *source) {
    bool header = t->header && t->names->count > 0;
    for (int64_t i = 0; header && i < rb_source_samples(source); i++)
        header = strcmp(t->names->text[0], rb_source_sample_name(source, i)) != 0;
    return header;
}

static rb_error find_classes(rb_context *ctx, const char *where, rb_label_table *t,
                             const rb_source *source, const char **class_of) {
    int64_t n = rb_source_samples(source);
    bool named = n == 0 || rb_source_sample_name(source, 0);
    if (!t->names || !named) return take_by_position(ctx, where, t, n, class_of);
    t->header = has_header(t, source);
    if (n > 0 && same_names(t, source)) { /* which may stand twice */
        memcpy(class_of, t->classes->text + t->header, (size_t)n * sizeof *class_of);
        return RB_OK;
    }
    return look_up(ctx, where, t, source, class_of);
}

/* Measurements make a class of nearly every sample. Few whole numbers may be labels. */
static rb_error refuse_measurements(rb_context *ctx, const char *where, const rb_labels *labels) {
    enum { FEW = 10 };
    int64_t count = labels->classes->count;
    bool whole = true;
    for (int64_t c = 0; c < count; c++) {
        const char *text = labels->classes->text[c];
        double value;
        if (rb_cell_read(NULL, text, (int64_t)strlen(text), &value) != RB_CELL_NUMBER) return RB_OK;
        whole = whole && value == floor(value);
    }
    if (2 * count <= labels->n_labelled || count < 3 || (whole && count <= FEW)) return RB_OK;
    return rb_fail(ctx, RB_ERROR_DATA,
                   "%s holds %lld different numbers in %lld samples, which are no classes; give a "
                   "column of classes, or test these as covariates",
                   where, (long long)count, (long long)labels->n_labelled);
}

rb_error rb_labels_read(rb_context *ctx, const char *where, const rb_source *source,
                        rb_labels *labels) {
    rb_label_table t;
    *labels = (rb_labels){0};
    rb_error err = rb_label_table_read(ctx, where, source, &t);
    if (err) return err;
    int64_t n = rb_source_samples(source);
    const char **class_of = rb_alloc(ctx, n, sizeof *class_of);
    err = class_of ? find_classes(ctx, where, &t, source, class_of) : RB_ERROR_MEMORY;
    err = err ? err : rb_labels_of(ctx, class_of, n, labels);
    err = err ? err : refuse_measurements(ctx, where, labels);
    if (!err && labels->n_labelled == 0) {
        err = rb_fail(ctx, RB_ERROR_DATA, "%s gives no sample a class", where);
    } else if (!err && labels->n_labelled < n) {
        rb_log(ctx, RB_LOG_INFO, "%s gives %lld of the %lld samples a class", where,
               (long long)labels->n_labelled, (long long)n);
    }
    rb_free(class_of);
    rb_label_table_clear(&t);
    if (err) rb_labels_clear(labels);
    return err;
}

rb_error rb_classes_read(rb_context *ctx, const char *where, const rb_source *source,
                         rb_classes *classes) {
    rb_labels labels;
    rb_error err = rb_size_check(ctx, "the classes", classes->size, sizeof *classes);
    err = err ? err : rb_labels_read(ctx, where, source, &labels);
    if (err) return err;
    *classes = (rb_classes){.size = sizeof *classes,
                            .n_samples = labels.n_samples,
                            .n_classes = labels.classes->count,
                            .class_of = labels.class_of,
                            .names = (const char *const *)labels.classes->text,
                            .text = labels.classes};
    return RB_OK;
}

void rb_classes_clear(rb_classes *classes) {
    rb_free(classes->class_of);
    rb_names_free(classes->text);
    *classes = (rb_classes){.size = sizeof *classes};
}

rb_error rb_modules_enrichment(rb_context *ctx, const rb_modules *modules, const rb_model *model,
                               rb_source *source, const char *labels_path, rb_enrichment *e) {
    rb_labels labels;
    rb_error err = rb_size_check(ctx, "the enrichment", e->size, sizeof *e);
    if (err) return err;
    *e = (rb_enrichment){.size = sizeof *e};
    err = rb_labels_read(ctx, labels_path, source, &labels);
    err = err ? err : rb_enrichment_of(ctx, modules, model, source, &labels, e);
    rb_labels_clear(&labels);
    return err;
}

rb_error rb_covariates_add_labels(rb_context *ctx, rb_covariates *table, const char *name,
                                  const char *labels_path, const rb_source *source) {
    rb_labels labels;
    rb_error err = rb_labels_read(ctx, labels_path, source, &labels);
    if (err) return err;
    int64_t n = labels.n_samples;
    const char **group = rb_alloc(ctx, n, sizeof *group);
    err = group ? RB_OK : RB_ERROR_MEMORY;
    if (!err && n != table->n_samples) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "the covariates are of %lld samples, but the source has %lld",
                      (long long)table->n_samples, (long long)n);
    }
    for (int64_t i = 0; !err && i < n; i++)
        group[i] = labels.class_of[i] < 0 ? "" : labels.classes->text[labels.class_of[i]];
    err = err ? err : rb_covariates_add_groups(ctx, table, name, group);
    rb_free(group);
    rb_labels_clear(&labels);
    return err;
}
