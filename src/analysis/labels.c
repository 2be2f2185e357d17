/* Classes of samples from a table of names. */
#include "io/io.h"
#include "modules.h"

#include <stdlib.h>
#include <string.h>

/* One line of the file. */
typedef struct label {
    const char *name, *class_name;
} label;

/* The file, sorted by name. `names` and `classes` hold the text. */
typedef struct label_table {
    rb_names *names, *classes;
    label *list;
    int64_t count;
} label_table;

static void table_clear(label_table *t) {
    rb_names_free(t->names);
    rb_names_free(t->classes);
    rb_free(t->list);
}

/* ---- the file ---- */

/* The name and class of a line; false when it has no second column. */
static bool split(const char *line, int64_t length, int64_t *name_length, const char **class_name,
                  int64_t *class_length) {
    const char *tab = memchr(line, '\t', (size_t)length);
    if (!tab) {
        return false;
    }
    const char *end = line + length;
    const char *next = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
    *name_length = tab - line;
    *class_name = tab + 1;
    *class_length = (next ? next : end) - *class_name;
    return true;
}

static rb_error read_lines(rb_context *ctx, rb_lines *lines, rb_name_list *names,
                           rb_name_list *classes) {
    char *line;
    const char *class_name;
    int64_t length, name_length, class_length;
    rb_error err;
    while (!(err = rb_lines_next(ctx, lines, &line, &length)) && line) {
        if (length == 0) {
            continue;
        }
        if (!split(line, length, &name_length, &class_name, &class_length)) {
            return rb_fail(
                ctx, RB_ERROR_FORMAT,
                "line %lld has one column: a header line and then sample name, tab, class are "
                "expected",
                (long long)rb_lines_number(lines));
        }
        bool header = rb_lines_number(lines) == 1;
        if (header || class_length == 0) {
            continue;
        }
        err = rb_name_list_add(ctx, names, line, name_length);
        if (!err) {
            err = rb_name_list_add(ctx, classes, class_name, class_length);
        }
        if (err) {
            return err;
        }
    }
    return err;
}

static rb_error read_file(rb_context *ctx, const char *path, label_table *t) {
    rb_lines *lines = NULL;
    rb_name_list names = {0}, classes = {0};
    rb_error err = rb_lines_open(ctx, path, &lines);
    if (err) {
        return err;
    }
    err = read_lines(ctx, lines, &names, &classes);
    if (err) {
        rb_fail_prefix(ctx, "%s: ", path);
    } else {
        t->names = rb_name_list_finish(ctx, &names);
        t->classes = rb_name_list_finish(ctx, &classes);
        err = t->names && t->classes ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_lines_close(lines);
    rb_name_list_clear(&names);
    rb_name_list_clear(&classes);
    return err;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const label *)a)->name, ((const label *)b)->name);
}

static rb_error sort_table(rb_context *ctx, const char *path, label_table *t) {
    t->count = t->names->count;
    t->list = rb_alloc(ctx, t->count, sizeof *t->list);
    if (!t->list) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < t->count; i++) {
        t->list[i] = (label){t->names->text[i], t->classes->text[i]};
    }
    qsort(t->list, (size_t)t->count, sizeof *t->list, by_name);
    for (int64_t i = 1; i < t->count; i++) {
        const label *x = &t->list[i - 1], *y = &t->list[i];
        if (strcmp(x->name, y->name) == 0 && strcmp(x->class_name, y->class_name) != 0) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s: sample '%s' has two classes, '%s' and '%s'",
                           path, x->name, x->class_name, y->class_name);
        }
    }
    return RB_OK;
}

/* ---- the samples ---- */

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

/* class_of_sample[i]: the class in the file of each sample, or NULL. */
static void look_up(const label_table *t, const rb_source *source, const char **class_of_sample) {
    for (int64_t i = 0; i < rb_source_samples(source); i++) {
        label key = {.name = rb_source_sample_name(source, i)};
        const label *found = bsearch(&key, t->list, (size_t)t->count, sizeof key, by_name);
        class_of_sample[i] = found ? found->class_name : NULL;
    }
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

static rb_error assign_classes(rb_context *ctx, const char *path, const label_table *t,
                               const rb_source *source, rb_labels *labels) {
    int64_t n = rb_source_samples(source);
    const char **class_of_sample = rb_alloc(ctx, n, sizeof *class_of_sample);
    if (!class_of_sample) {
        return RB_ERROR_MEMORY;
    }
    look_up(t, source, class_of_sample);
    rb_error err = fill(ctx, class_of_sample, n, labels);
    rb_free(class_of_sample);
    if (!err && labels->n_labelled == 0) {
        err = rb_fail(
            ctx, RB_ERROR_DATA,
            "%s has none of the samples of the data: the first of the data is '%s', the first "
            "of the labels '%s'",
            path, n > 0 ? rb_source_sample_name(source, 0) : "",
            t->names->count > 0 ? t->names->text[0] : "");
    }
    return err;
}

rb_error rb_labels_read(rb_context *ctx, const char *path, const rb_source *source,
                        rb_labels *labels) {
    label_table t = {0};
    *labels = (rb_labels){0};
    if (rb_source_samples(source) > 0 && !rb_source_sample_name(source, 0)) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the data have no sample names, by which the labels of %s could be found",
                       path);
    }
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = read_file(ctx, path, &t);
    rb_reading_end(ctx);
    if (!err) {
        err = sort_table(ctx, path, &t);
    }
    if (!err) {
        err = assign_classes(ctx, path, &t, source, labels);
    }
    table_clear(&t);
    if (err) {
        rb_labels_clear(labels);
    }
    return err;
}

void rb_labels_clear(rb_labels *labels) {
    rb_free(labels->class_of);
    rb_names_free(labels->classes);
    *labels = (rb_labels){0};
}
