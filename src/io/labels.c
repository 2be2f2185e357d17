/* Classes of samples: found by name, or where names are missing by position. */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

/* ---- by name ---- */

typedef struct label {
    const char *name, *class_name;
} label;

static int by_name(const void *a, const void *b) {
    return strcmp(((const label *)a)->name, ((const label *)b)->name);
}

static rb_error check_doubles(rb_context *ctx, const char *where, const label *list,
                              int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const label *x = &list[i - 1], *y = &list[i];
        if (strcmp(x->name, y->name) == 0 && strcmp(x->class_name, y->class_name) != 0) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s: sample '%s' has two classes, '%s' and '%s'",
                           where, x->name, x->class_name, y->class_name);
        }
    }
    return RB_OK;
}

/* class_of_sample[i]: the class in the table of each sample, or NULL. */
static rb_error look_up(rb_context *ctx, const char *where, const rb_label_table *t,
                        const rb_source *source, const char **class_of_sample) {
    label *list = rb_alloc(ctx, t->names->count, sizeof *list);
    int64_t count = 0;
    if (!list) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = t->header; i < t->names->count; i++) {
        if (t->classes->text[i][0]) {
            list[count++] = (label){t->names->text[i], t->classes->text[i]};
        }
    }
    qsort(list, (size_t)count, sizeof *list, by_name);
    rb_error err = check_doubles(ctx, where, list, count);
    bool any = false;
    for (int64_t i = 0; !err && i < rb_source_samples(source); i++) {
        label key = {.name = rb_source_sample_name(source, i)};
        const label *found = bsearch(&key, list, (size_t)count, sizeof key, by_name);
        class_of_sample[i] = found ? found->class_name : NULL;
        any |= found != NULL;
    }
    if (!err && !any) {
        err = rb_fail(
            ctx, RB_ERROR_DATA,
            "%s has none of the samples of the data: the first of the data is '%s', the first "
            "of the labels '%s'",
            where, rb_source_samples(source) > 0 ? rb_source_sample_name(source, 0) : "",
            count > 0 ? t->names->text[t->header] : "");
    }
    rb_free(list);
    return err;
}

/* ---- by position ---- */

/* Are the table's samples those of the source, in their order? */
static bool same_names(const rb_label_table *t, const rb_source *source) {
    int64_t n = rb_source_samples(source);
    bool same = t->names->count == n + t->header;
    for (int64_t i = 0; same && i < n; i++) {
        same = strcmp(t->names->text[i + t->header], rb_source_sample_name(source, i)) == 0;
    }
    return same;
}

static void take_in_order(const rb_label_table *t, int64_t first, int64_t n,
                          const char **class_of_sample) {
    for (int64_t i = 0; i < n; i++) {
        const char *text = t->classes->text[first + i];
        class_of_sample[i] = text[0] ? text : NULL;
    }
}

/* Without empty lines at the end, more than there are samples and a header. */
static int64_t count_entries(const rb_label_table *t, int64_t n) {
    int64_t count = t->classes->count;
    while (!t->names && count > n + t->header && !t->classes->text[count - 1][0]) {
        count--;
    }
    return count;
}

/* Whether classes alone have a header, their number says. */
static rb_error take_by_position(rb_context *ctx, const char *where, const rb_label_table *t,
                                 int64_t n, const char **class_of_sample) {
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
    take_in_order(t, header, n, class_of_sample);
    return RB_OK;
}

static rb_error find_classes(rb_context *ctx, const char *where, const rb_label_table *t,
                             const rb_source *source, const char **class_of_sample) {
    int64_t n = rb_source_samples(source);
    bool named = n == 0 || rb_source_sample_name(source, 0);
    if (!t->names || !named) {
        return take_by_position(ctx, where, t, n, class_of_sample);
    }
    if (n > 0 && same_names(t, source)) { /* which may stand twice */
        take_in_order(t, t->header, n, class_of_sample);
        return RB_OK;
    }
    return look_up(ctx, where, t, source, class_of_sample);
}

/* ---- numbers for classes ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The different classes of those samples that are there; class_of_sample[i] may be NULL. */
static rb_names *different_classes(rb_context *ctx, const char *const *class_of_sample, int64_t n) {
    const char **text = rb_alloc(ctx, n, sizeof *text);
    if (!text) {
        return NULL;
    }
    int64_t count = 0, different = 0;
    for (int64_t i = 0; i < n; i++) {
        if (class_of_sample[i]) {
            text[count++] = class_of_sample[i];
        }
    }
    qsort(text, (size_t)count, sizeof *text, by_text);
    for (int64_t i = 0; i < count; i++) {
        if (different == 0 || strcmp(text[different - 1], text[i]) != 0) {
            text[different++] = text[i];
        }
    }
    rb_names *names = rb_names_copy(ctx, text, different);
    rb_free(text);
    return names;
}

static rb_error fill(rb_context *ctx, const char *const *class_of_sample, int64_t n,
                     rb_labels *labels) {
    labels->n_samples = n;
    labels->class_of = rb_alloc(ctx, n, sizeof *labels->class_of);
    labels->classes = different_classes(ctx, class_of_sample, n);
    if (!labels->class_of || !labels->classes) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) {
        labels->class_of[i] = -1;
        if (class_of_sample[i]) {
            char **found = bsearch(&class_of_sample[i], labels->classes->text,
                                   (size_t)labels->classes->count, sizeof(char *), by_text);
            labels->class_of[i] = found - labels->classes->text;
            labels->n_labelled++;
        }
    }
    return RB_OK;
}

rb_error rb_labels_read(rb_context *ctx, const char *where, const rb_source *source,
                        rb_labels *labels) {
    rb_label_table t;
    *labels = (rb_labels){0};
    rb_error err = rb_label_table_read(ctx, where, source, &t);
    if (err) {
        return err;
    }
    int64_t n = rb_source_samples(source);
    const char **class_of_sample = rb_alloc(ctx, n, sizeof *class_of_sample);
    err = class_of_sample ? find_classes(ctx, where, &t, source, class_of_sample) : RB_ERROR_MEMORY;
    err = err ? err : fill(ctx, class_of_sample, n, labels);
    if (!err && labels->n_labelled == 0) {
        err = rb_fail(ctx, RB_ERROR_DATA, "%s gives no sample a class", where);
    }
    rb_free(class_of_sample);
    rb_label_table_clear(&t);
    if (err) {
        rb_labels_clear(labels);
    }
    return err;
}

rb_error rb_modules_enrichment(rb_context *ctx, const rb_modules *modules, const rb_model *model,
                               rb_source *source, const char *labels_path, rb_enrichment *e) {
    rb_labels labels;
    *e = (rb_enrichment){0};
    rb_error err = rb_labels_read(ctx, labels_path, source, &labels);
    err = err ? err : rb_enrichment_of(ctx, modules, model, source, &labels, e);
    rb_labels_clear(&labels);
    return err;
}
