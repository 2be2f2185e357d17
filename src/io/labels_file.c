/* Classes as a file has them: a table of text, or a column of an AnnData file. */
#include "labels.h"

#include <string.h>
#include <sys/stat.h>

void rb_label_table_clear(rb_label_table *t) {
    rb_names_free(t->names);
    rb_names_free(t->classes);
    *t = (rb_label_table){0};
}

/* ---- text ---- */

/* The first line says how many columns there are; commas in it alone, that it is no TSV. */
static rb_error check_line(rb_context *ctx, const rb_lines *lines, const char *line, bool first,
                           bool has_two, bool two) {
    if (first && !two && strchr(line, ',')) {
        return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0,
                             "the line has one column, with a comma in it: columns are to be "
                             "separated by tabs");
    }
    if (has_two != two) {
        return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0,
                             "the line has %s, the first one has %s: sample name, tab, class are "
                             "expected, or the class alone in every line",
                             has_two ? "two columns" : "one column", two ? "two" : "one");
    }
    return RB_OK;
}

static rb_error read_lines(rb_context *ctx, rb_lines *lines, bool *two, rb_name_list *names,
                           rb_name_list *classes) {
    char *line;
    int64_t length;
    rb_error err;
    while (!(err = rb_lines_next(ctx, lines, &line, &length)) && line) {
        const char *tab = memchr(line, '\t', (size_t)length), *end = line + length;
        bool first = classes->count == 0;
        *two = first ? tab != NULL : *two;
        if (length == 0 && (*two || first))
            continue; /* in a column of classes it is a sample without one */
        err = check_line(ctx, lines, line, first, tab != NULL, *two);
        const char *class_name = line;
        if (!err && tab) {
            err = rb_name_list_add(ctx, names, line, tab - line);
            class_name = tab + 1;
            tab = memchr(class_name, '\t', (size_t)(end - class_name));
        }
        err =
            err ? err : rb_name_list_add(ctx, classes, class_name, (tab ? tab : end) - class_name);
        if (err) return err;
    }
    return err;
}

static rb_error read_text(rb_context *ctx, const char *path, rb_label_table *t) {
    rb_lines *lines = NULL;
    rb_name_list names = {0}, classes = {0};
    bool two = true;
    rb_error err = rb_lines_open(ctx, path, &lines);
    if (err) return err;
    err = read_lines(ctx, lines, &two, &names, &classes);
    t->header = !err;
    err = rb_name_list_end(ctx, err, &classes, &t->classes);
    err = two ? rb_name_list_end(ctx, err, &names, &t->names) : err;
    rb_name_list_clear(&names);
    rb_lines_close(lines);
    return err;
}

/* ---- AnnData ---- */

static const char own[] = "obs:"; /* of the file of the data */

int64_t rb_labels_file(const char *labels) {
    char path[4096];
    struct stat info;
    int64_t length = (int64_t)strlen(labels);
    if (length >= (int64_t)sizeof path || stat(labels, &info) == 0) return length;
    if (strncmp(labels, own, sizeof own - 1) == 0) return 0;
    memcpy(path, labels, (size_t)length + 1);
    for (char *colon = strrchr(path, ':'); colon; colon = strrchr(path, ':')) {
        *colon = '\0';
        if (rb_is_regular(path)) return colon - path;
    }
    return length;
}

static bool is_hdf5(rb_context *ctx, const char *path) {
    const char *format = NULL;
    return rb_is_regular(path) && rb_format_of(ctx, path, &format) == RB_OK &&
           strcmp(format, "hdf5") == 0;
}

static rb_error read_own(rb_context *ctx, const char *column, const rb_source *source,
                         rb_label_table *t) {
    if (!source->path) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "labels obs:%s are a column of the file of the data, but the data are in "
                       "none",
                       column);
    }
    return rb_anndata_column(ctx, source->path, column, &t->names, &t->classes);
}

static rb_error read_column(rb_context *ctx, const char *where, rb_label_table *t) {
    int64_t length = rb_labels_file(where);
    if (!where[length])
        return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: there is no such file", where);
    char *path = rb_copy_text(ctx, where);
    if (!path) return RB_ERROR_MEMORY;
    path[length] = '\0';
    rb_error err = rb_anndata_column(ctx, path, where + length + 1, &t->names, &t->classes);
    rb_free(path);
    return err;
}

rb_error rb_label_table_read(rb_context *ctx, const char *where, const rb_source *source,
                             rb_label_table *t) {
    struct stat info;
    rb_error err;
    *t = (rb_label_table){0};
    if (is_hdf5(ctx, where)) {
        err = rb_anndata_column(ctx, where, NULL, &t->names, &t->classes);
    } else if (stat(where, &info) == 0 || !strchr(where, ':')) {
        rb_reading reading;
        rb_reading_begin(ctx, &reading, where);
        err = read_text(ctx, where, t);
        rb_reading_end(ctx);
    } else if (strncmp(where, own, sizeof own - 1) == 0) {
        err = read_own(ctx, where + sizeof own - 1, source, t);
    } else {
        err = read_column(ctx, where, t);
    }
    if (err) rb_label_table_clear(t);
    return err;
}
