/* Classes as a file has them: a table of text, a column of an AnnData file, or numbers. */
#include "labels.h"

#include <math.h>
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

/* What is taken of each line. */
typedef struct columns {
    const char *name;    /* of the column of classes; NULL: the last of two, or the only one */
    int64_t class_index; /* of that column; -1: not known yet */
    int64_t count;       /* in the first line */
    bool named;          /* the first column holds names of samples */
    rb_name_list names, classes;
} columns;

static int64_t count_cells(const char *line) {
    int64_t count = 1;
    for (const char *tab = strchr(line, '\t'); tab; tab = strchr(tab + 1, '\t'))
        count++;
    return count;
}

/* The index-th cell of a line, and its length; NULL: there are fewer. */
static const char *cell_at(const char *line, int64_t index, int64_t *length) {
    for (; line && index > 0; index--) {
        line = strchr(line, '\t');
        line = line ? line + 1 : NULL;
    }
    *length = line ? (int64_t)strcspn(line, "\t") : 0;
    return line;
}

static rb_error find_column(rb_context *ctx, const rb_lines *lines, const char *line, columns *c) {
    c->count = count_cells(line);
    c->named = c->count > 1;
    c->class_index = c->named;
    for (int64_t i = 0; c->name; i++) {
        int64_t length;
        const char *cell = cell_at(line, i, &length);
        if (!cell) {
            return rb_lines_fail(ctx, lines, RB_ERROR_ARGUMENT, 0,
                                 "the header has no column '%s'; columns are separated by tabs",
                                 c->name);
        }
        if ((size_t)length != strlen(c->name) || memcmp(cell, c->name, (size_t)length) != 0)
            continue;
        c->class_index = i;
        c->named = i > 0;
        return RB_OK;
    }
    return RB_OK;
}

static rb_error take_line(rb_context *ctx, const rb_lines *lines, const char *line, columns *c) {
    int64_t length;
    bool second = c->classes.count == 1;
    /* A header as R writes it has nothing above the names of the samples. */
    if (c->name && second && count_cells(line) == c->count + 1) {
        c->class_index++;
        c->named = true;
    }
    const char *cell = cell_at(line, c->class_index, &length);
    if (!cell) {
        return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0, "the line has no column %lld",
                             (long long)c->class_index + 1);
    }
    rb_error err = rb_name_list_add(ctx, &c->names, line, (int64_t)strcspn(line, "\t"));
    return err ? err : rb_name_list_add(ctx, &c->classes, cell, length);
}

static rb_error read_lines(rb_context *ctx, rb_lines *lines, columns *c) {
    char *line;
    int64_t length;
    rb_error err;
    while (!(err = rb_lines_next(ctx, lines, &line, &length)) && line) {
        bool first = c->class_index < 0;
        if (length == 0 && (c->named || first))
            continue; /* in a column of classes it is a sample without one */
        if (memchr(line, '\0', (size_t)length))
            err = rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0, "the line holds a 0 byte");
        err = err || !first ? err : find_column(ctx, lines, line, c);
        if (!err && !c->name)
            err = check_line(ctx, lines, line, first, strchr(line, '\t') != NULL, c->named);
        err = err ? err : take_line(ctx, lines, line, c);
        if (err) return err;
    }
    return err;
}

/* Which column was taken is not plain where there are others. */
static void tell_column(rb_context *ctx, const char *path, const columns *c, const rb_names *all) {
    if (c->name || c->count < 3) return;
    rb_log(ctx, RB_LOG_INFO,
           "%s has %lld columns, and the classes are those of the second, '%s'; for another, say "
           "%s:COLUMN",
           path, (long long)c->count, all->text[0], path);
}

/* column: of the classes; NULL: the second, or the only one. */
static rb_error read_text(rb_context *ctx, const char *path, const char *column,
                          rb_label_table *t) {
    rb_lines *lines = NULL;
    rb_reading reading;
    columns c = {.name = column, .class_index = -1, .named = true};
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_lines_open(ctx, path, &lines);
    err = err ? err : read_lines(ctx, lines, &c);
    t->header = !err;
    err = rb_name_list_end(ctx, err, &c.classes, &t->classes);
    err = c.named ? rb_name_list_end(ctx, err, &c.names, &t->names) : err;
    rb_name_list_clear(&c.names);
    if (!err) tell_column(ctx, path, &c, t->classes);
    rb_lines_close(lines);
    rb_reading_end(ctx);
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

static bool is_format(rb_context *ctx, const char *path, const char *name) {
    const char *format = NULL;
    return rb_is_regular(path) && rb_format_of(ctx, path, &format) == RB_OK &&
           strcmp(format, name) == 0;
}

static bool is_hdf5(rb_context *ctx, const char *path) {
    return is_format(ctx, path, "hdf5");
}

/* ---- numbers: .npy and IDX, as classes by position ---- */

static rb_error add_numbers(rb_context *ctx, const char *path, const rb_matrix *matrix,
                            rb_name_list *list) {
    int64_t n = rb_matrix_samples(matrix), wide = rb_matrix_features(matrix);
    if (wide != 1) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: has %lld columns of numbers, but labels are one",
                       path, (long long)wide);
    }
    for (int64_t i = 0; i < n; i++) {
        char text[64];
        double value = rb_matrix_at(matrix, i, 0);
        int length = isnan(value) ? 0 : rb_print(text, sizeof text, "%.17g", value); /* no class */
        if (isinf(value)) {
            return rb_fail(ctx, RB_ERROR_DATA, "%s: label %lld (counted from 0) is %s, no class",
                           path, (long long)i, text);
        }
        rb_error err = rb_name_list_add(ctx, list, text, length);
        if (err) return err;
    }
    return RB_OK;
}

static rb_error read_numbers(rb_context *ctx, const char *path, rb_label_table *t) {
    rb_matrix *matrix = NULL;
    rb_name_list list = {0};
    rb_error err = rb_read(ctx, path, NULL, &matrix);
    err = err ? err : add_numbers(ctx, path, matrix, &list);
    err = rb_name_list_end(ctx, err, &list, &t->classes);
    rb_matrix_free(matrix);
    return err;
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
    const char *column = where + length + 1;
    rb_error err = is_hdf5(ctx, path) ? rb_anndata_column(ctx, path, column, &t->names, &t->classes)
                                      : read_text(ctx, path, column, t);
    rb_free(path);
    return err;
}

rb_error rb_label_table_read(rb_context *ctx, const char *where, const rb_source *source,
                             rb_label_table *t) {
    struct stat info;
    rb_error err;
    *t = (rb_label_table){0};
    if (is_hdf5(ctx, where))
        err = rb_anndata_column(ctx, where, NULL, &t->names, &t->classes);
    else if (is_format(ctx, where, "npy") || is_format(ctx, where, "idx"))
        err = read_numbers(ctx, where, t);
    else if (stat(where, &info) == 0 || !strchr(where, ':'))
        err = read_text(ctx, where, NULL, t);
    else if (strncmp(where, own, sizeof own - 1) == 0)
        err = read_own(ctx, where + sizeof own - 1, source, t);
    else
        err = read_column(ctx, where, t);
    if (err) rb_label_table_clear(t);
    return err;
}
