/* CSV, TSV and other tables of text, plain or gzip. */
#include "cells.h"

#include <math.h>
#include <string.h>

#define COMMENTED "; row 1 is a comment: remove lines that begin with # first"

/* A table while it is read. */
struct table {
    const char *path;
    const char *words; /* that are missing values */
    rb_lines *lines;
    rb_layout layout;
    int64_t n_rows, n_features;
    bool comment;       /* the first line begins with #, and may be no part of the table */
    int64_t first_line; /* of the first row of values: the one that others are compared with */
    double *values;
    int64_t capacity; /* of `values` */
    rb_name_list samples, features;
};

static rb_error damaged_line(rb_context *ctx, const struct table *t, int64_t column,
                             const char *problem) {
    return rb_lines_fail(ctx, t->lines, RB_ERROR_FORMAT, column, "%s", problem);
}

/* A row of another length: says which column is missing, or one too many. */
static rb_error ragged(rb_context *ctx, const struct table *t, int64_t fields) {
    int64_t expected = t->layout.columns;
    bool few = fields < expected;
    return rb_lines_fail(ctx, t->lines, RB_ERROR_FORMAT, 0,
                         "column %lld is %s: the row has %lld field%s, row %lld has %lld%s",
                         (long long)(few ? fields : expected) + 1, few ? "missing" : "one too many",
                         (long long)fields, fields == 1 ? "" : "s", (long long)t->first_line,
                         (long long)expected, t->comment ? COMMENTED : "");
}

/* What might help with a text where a number should be; "" when nothing does. */
static void advise(const struct table *t, int64_t column, const rb_text_field *field, char *buffer,
                   size_t size) {
    char shown[RB_SHOWN], delimiter = t->layout.delimiter;
    const char *text = "";
    if (t->comment) {
        text = COMMENTED;
    } else if (rb_thousands(field->text, field->length)) {
        text = ": write it without commas between thousands, or with a decimal point";
    } else if (rb_decimal_comma(field->text, field->length)) {
        text = ": write it with a decimal point; commas become points with: tr , .";
    } else if (t->n_rows == 0 && !t->layout.header) {
        text = "; if the first row holds names, say `header=yes`";
    } else if (strspn(field->text, "+-0123456789.,eE") >= (size_t)field->length) {
        text = ": write it with a decimal point and without other marks";
    } else if (t->n_rows > 0) { /* numbers stand above it */
        snprintf(buffer, size, "; if it stands for a missing value, say `missing-words`='%s'",
                 rb_show(field->text, field->length, shown));
        return;
    } else if (column > 1) {
        snprintf(shown, sizeof shown, delimiter == ',' ? " -d%c" : " -d'%c'", delimiter);
        snprintf(buffer, size,
                 "; remove a column of text first, for example with: cut%s --complement -f%lld",
                 delimiter == '\t' ? "" : shown, (long long)column);
        return;
    }
    snprintf(buffer, size, "%s", text);
}

static rb_error refuse_cell(rb_context *ctx, const struct table *t, int64_t column,
                            const rb_text_field *field, rb_cell cell) {
    char advice[256];
    advise(t, column, field, advice, sizeof advice);
    bool names = column == 1 && !t->layout.row_names && !t->comment;
    if (names && (t->n_rows > 0 || t->layout.header || rb_thousands(field->text, field->length))) {
        size_t used = strlen(advice);
        snprintf(advice + used, sizeof advice - used,
                 "; if the first column holds names, say `row-names=yes`");
    }
    return rb_cell_refuse(ctx, t->lines, column, cell, field->text, field->length, advice);
}

/* For the values of one more row. */
static rb_error reserve(rb_context *ctx, struct table *t) {
    double *values = rb_reserve(ctx, t->values, t->n_rows * t->n_features, t->n_features,
                                &t->capacity, sizeof *values);
    t->values = values ? values : t->values;
    return values ? RB_OK : RB_ERROR_MEMORY;
}

/* The way of most cells: a plain number right up to the delimiter. */
static bool take_number(rb_fields *fields, double *value) {
    if (fields->done) return false;
    const char *text = fields->next;
    bool marked = fields->delimiter != ' ' && fields->delimiter != '\0';
    if (marked && fields->end - text > 1 && text[1] == fields->delimiter && *text >= '0' &&
        *text <= '9') { /* most counts of cells */
        *value = *text - '0';
        fields->next += 2;
        return true;
    }
    const char *end = rb_number_scan(fields->next, fields->end, value);
    if (!end || !isfinite(*value)) return false;
    if (end == fields->end) {
        fields->done = true;
        return true;
    }
    if (!marked || *end != fields->delimiter) return false;
    fields->next += end - fields->next + 1;
    return true;
}

static rb_error read_cell(rb_context *ctx, struct table *t, rb_fields *fields, int64_t column,
                          double *value) {
    if (!t->words && take_number(fields, value)) return RB_OK;
    rb_text_field field;
    if (!rb_fields_next(fields, &field)) return ragged(ctx, t, column - 1);
    if (field.problem) return damaged_line(ctx, t, column, field.problem);
    rb_cell cell = rb_cell_read(t->words, field.text, field.length, value);
    return cell <= RB_CELL_MISSING ? RB_OK : refuse_cell(ctx, t, column, &field, cell);
}

static rb_error read_row(rb_context *ctx, struct table *t, char *line, int64_t length) {
    rb_fields fields = rb_fields_of(line, length, t->layout.delimiter);
    rb_text_field field;
    rb_error err = reserve(ctx, t);
    int64_t column = 1;
    if (!err && t->layout.row_names && rb_fields_next(&fields, &field)) {
        err = field.problem ? damaged_line(ctx, t, column, field.problem)
                            : rb_name_list_add(ctx, &t->samples, field.text, field.length);
        column++;
    }
    for (double *value = t->values + t->n_rows * t->n_features; !err && column <= t->layout.columns;
         column++)
        err = read_cell(ctx, t, &fields, column, value++);
    if (!err && !fields.done) {
        int64_t more = column - 1;
        while (rb_fields_next(&fields, &field))
            more++;
        err = ragged(ctx, t, more);
    }
    t->n_rows += !err;
    return err;
}

/* A blank line between rows: a missing value where there is one column, else an error. */
static rb_error take_blank(rb_context *ctx, struct table *t, int64_t blank) {
    if (blank > 0 && t->layout.columns > 1) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s, row %lld: the line is blank, but rows follow",
                       t->path, (long long)(rb_lines_number(t->lines) - blank));
    }
    rb_error err = RB_OK;
    for (; !err && blank > 0; blank--) {
        err = reserve(ctx, t);
        if (!err) t->values[t->n_rows++] = NAN;
    }
    return err;
}

static rb_error read_header(rb_context *ctx, struct table *t, char *line, int64_t length) {
    rb_fields fields = rb_fields_of(line, length, t->layout.delimiter);
    rb_text_field field;
    rb_error err = RB_OK;
    int64_t count = rb_fields_count(line, length, t->layout.delimiter);
    bool corner = t->layout.row_names && count == t->layout.columns;
    if (count != t->n_features + corner) {
        return rb_lines_fail(ctx, t->lines, RB_ERROR_FORMAT, 0,
                             "the header has %lld fields, but the row below has %lld%s",
                             (long long)count, (long long)t->layout.columns,
                             t->comment ? COMMENTED : "");
    }
    for (int64_t column = 1; !err && rb_fields_next(&fields, &field); column++)
        if (field.problem)
            err = damaged_line(ctx, t, column, field.problem);
        else if (column > corner)
            err = rb_name_list_add(ctx, &t->features, field.text, field.length);
    return err;
}

static rb_error read_rows(rb_context *ctx, struct table *t) {
    char *line;
    int64_t length, blank;
    bool header = t->layout.header;
    for (;;) {
        rb_error err = rb_lines_next_filled(ctx, t->lines, &line, &length, &blank);
        if (err || !line) return err;
        if (t->n_rows > 0) {
            err = take_blank(ctx, t, blank);
        } else {
            t->first_line = rb_lines_number(t->lines);
            t->comment = t->comment || *line == '#';
        }
        err = err      ? err
              : header ? read_header(ctx, t, line, length)
                       : read_row(ctx, t, line, length);
        if (err) return err;
        header = false;
    }
}

/* Makes the matrix of what was read; the table's numbers become the matrix's. */
static rb_error finish(rb_context *ctx, struct table *t, rb_matrix **matrix) {
    double *values = t->values;
    t->values = NULL;
    rb_error err = rb_matrix_own_dense(ctx, RB_FLOAT64, t->n_rows, t->n_features, values, matrix);
    if (!err && t->layout.row_names)
        err = rb_name_list_end(ctx, err, &t->samples, &(*matrix)->sample_names);
    if (!err && t->layout.header)
        err = rb_name_list_end(ctx, err, &t->features, &(*matrix)->feature_names);
    return rb_matrix_end(err, matrix);
}

static rb_error read_delimited(rb_context *ctx, const char *path, const rb_read_options *options,
                               rb_matrix **matrix) {
    struct table t = {.path = path, .words = options->missing_words};
    *matrix = NULL;
    rb_error err = rb_layout_find(ctx, path, options, &t.layout);
    if (err) return err;
    t.n_features = t.layout.columns - t.layout.row_names;
    if (t.n_features == 0) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s has a column of names, but no column of numbers",
                       path);
    }
    err = rb_lines_open(ctx, path, false, &t.lines);
    err = err ? err : read_rows(ctx, &t);
    if (!err && t.n_rows == 0) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "%s has a row of names, but no row of numbers; if the first row holds "
                      "numbers, say `header=no`",
                      path);
    }
    err = err ? err : finish(ctx, &t, matrix);
    rb_lines_close(t.lines);
    rb_free(t.values);
    rb_name_list_clear(&t.samples);
    rb_name_list_clear(&t.features);
    return err;
}

/* Text: no byte below the blank but tabs and line ends. UTF-16 is taken too, so that it is
 * named. */
static bool recognise(const rb_probe *probe) {
    if (probe->folder || probe->n_bytes == 0) return false;
    if (probe->n_bytes >= 2 &&
        (memcmp(probe->bytes, "\xFF\xFE", 2) == 0 || memcmp(probe->bytes, "\xFE\xFF", 2) == 0))
        return true;
    for (int i = 0; i < probe->n_bytes; i++) {
        unsigned char c = probe->bytes[i];
        if ((c < ' ' && !(c >= '\t' && c <= '\r')) || c == 127) return false;
    }
    return true;
}

const rb_format rb_format_delimited = {"delimited", recognise, read_delimited, NULL};
