/* Matrix Market: coordinate files become sparse rows, array files dense ones. */
#include "cells.h"

#include <string.h>
#include <strings.h>

enum symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW };

struct mtx {
    const char *path;
    rb_lines *lines;
    bool array, pattern, integer;
    enum symmetry symmetry;
    int64_t rows, columns;
    int64_t entries; /* in the file */
    /* What was read: values, and in coordinate files their places, from 0. */
    double *values;
    struct place {
        int32_t row, column;
    } * places;
    int64_t used, capacity;
};

/* Rows and columns may be empty, but a header that names a great many with hardly an entry is
 * damaged: it must not make us ask for gigabytes. */
enum { FREE_LINES = 1 << 24, LINES_AN_ENTRY = 64 };

static rb_error damaged(rb_context *ctx, const struct mtx *m, const char *what) {
    return rb_lines_fail(ctx, m->lines, RB_ERROR_FORMAT, 0, "%s", what);
}

/* ---- the header ---- */

static rb_error refuse_kind(rb_context *ctx, const struct mtx *m, const char *word,
                            const char *offered) {
    char shown[RB_SHOWN];
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "%s is a Matrix Market file of kind '%s': it must be %s", m->path,
                   rb_show(word, (int64_t)strlen(word), shown), offered);
}

static bool is(const char *word, const char *expected) {
    return strcasecmp(word, expected) == 0;
}

/* "%%MatrixMarket matrix coordinate real general" */
static rb_error read_banner(rb_context *ctx, struct mtx *m) {
    char *line;
    int64_t length;
    const char *words[5];
    rb_text_field field;
    rb_error err = rb_lines_next(ctx, m->lines, &line, &length);
    if (err) return err;
    if (!line) return rb_fail(ctx, RB_ERROR_FORMAT, "%s is empty", m->path);
    rb_fields fields = rb_fields_of(line, length, ' ');
    for (int i = 0; i < 5; i++) {
        if (!rb_fields_next(&fields, &field)) {
            return damaged(ctx, m,
                           "the first line must be like "
                           "\"%%MatrixMarket matrix coordinate real general\"");
        }
        field.text[field.length] = '\0';
        words[i] = field.text;
    }
    if (!is(words[0], "%%MatrixMarket") || !is(words[1], "matrix"))
        return damaged(ctx, m, "this is not a Matrix Market file");
    m->array = is(words[2], "array");
    m->integer = is(words[3], "integer") || is(words[3], "unsigned-integer");
    m->pattern = is(words[3], "pattern");
    m->symmetry = is(words[4], "symmetric")        ? MTX_SYMMETRIC
                  : is(words[4], "skew-symmetric") ? MTX_SKEW
                                                   : MTX_GENERAL;
    if (!m->array && !is(words[2], "coordinate"))
        return refuse_kind(ctx, m, words[2], "coordinate or array");
    if ((!m->integer && !m->pattern && !is(words[3], "real") && !is(words[3], "double")) ||
        (m->array && m->pattern))
        return refuse_kind(ctx, m, words[3], "real or integer, or pattern with coordinates");
    if (m->symmetry == MTX_GENERAL && !is(words[4], "general"))
        return refuse_kind(ctx, m, words[4], "general, symmetric or skew-symmetric");
    return RB_OK;
}

/* The next line with something on it that is no comment; NULL at the end. */
static rb_error next_line(rb_context *ctx, struct mtx *m, char **line, int64_t *length) {
    int64_t blank;
    do {
        rb_error err = rb_lines_next_filled(ctx, m->lines, line, length, &blank);
        if (err) return err;
    } while (*line && **line == '%');
    return RB_OK;
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* A whole number at *at, and the blanks around it; false when there is none. */
static bool take_whole(const char **at, const char *end, int64_t *value) {
    const char *start = *at, *p = start;
    int64_t number = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (number > (INT64_MAX - 9) / 10) return false;
        number = number * 10 + (*p - '0');
    }
    *at = skip_blanks(p, end);
    *value = number;
    return p > start && (p == end || *at > p);
}

static rb_error check_sizes(rb_context *ctx, const struct mtx *m) {
    if (m->rows == 0 || m->columns == 0) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s is empty: it has %lld rows and %lld columns",
                       m->path, (long long)m->rows, (long long)m->columns);
    }
    if (m->rows > INT32_MAX || m->columns > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "%s has %lld rows and %lld columns, but at most %d are possible", m->path,
                       (long long)m->rows, (long long)m->columns, INT32_MAX);
    }
    if (m->symmetry != MTX_GENERAL && m->rows != m->columns)
        return damaged(ctx, m, "a symmetric matrix must have as many rows as columns");
    int64_t larger = m->rows > m->columns ? m->rows : m->columns;
    if (!m->array && larger > FREE_LINES && larger / LINES_AN_ENTRY > m->entries) {
        return rb_lines_fail(ctx, m->lines, RB_ERROR_FORMAT, 0,
                             "%lld rows and %lld columns are too many for %lld entries",
                             (long long)m->rows, (long long)m->columns, (long long)m->entries);
    }
    return RB_OK;
}

/* How many numbers an array file holds: all, or a triangle with or without the diagonal. */
static int64_t array_entries(const struct mtx *m) {
    int64_t n = m->rows;
    return m->symmetry == MTX_GENERAL ? n * m->columns
                                      : n * (m->symmetry == MTX_SYMMETRIC ? n + 1 : n - 1) / 2;
}

static rb_error read_sizes(rb_context *ctx, struct mtx *m) {
    char *line;
    int64_t length;
    rb_error err = next_line(ctx, m, &line, &length);
    if (err) return err;
    if (!line) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s is truncated: the line with its sizes is missing",
                       m->path);
    }
    const char *end = line + length, *at = skip_blanks(line, end);
    if (!take_whole(&at, end, &m->rows) || !take_whole(&at, end, &m->columns) ||
        (!m->array && !take_whole(&at, end, &m->entries)) || at < end) {
        return damaged(ctx, m,
                       m->array ? "expected are the numbers of rows and columns"
                                : "expected are the numbers of rows, columns and entries");
    }
    err = check_sizes(ctx, m);
    if (!err && m->array) m->entries = array_entries(m);
    return err;
}

/* ---- entries ---- */

static rb_error reserve(rb_context *ctx, struct mtx *m) {
    enum { FIRST = 1024, PAIR = 2 }; /* an entry and its mirror image */
    int64_t more = m->values ? PAIR : FIRST, capacity = m->capacity;
    double *values = rb_reserve(ctx, m->values, m->used, more, &capacity, sizeof *values);
    m->values = values ? values : m->values;
    if (values && !m->array) {
        struct place *places =
            rb_reserve(ctx, m->places, m->used, more, &m->capacity, sizeof *places);
        m->places = places ? places : m->places;
        return places ? RB_OK : RB_ERROR_MEMORY;
    }
    m->capacity = capacity;
    return values ? RB_OK : RB_ERROR_MEMORY;
}

static void clear(struct mtx *m) {
    rb_free(m->places);
    rb_free(m->values);
    m->places = NULL;
    m->values = NULL;
}

static void add_entry(struct mtx *m, int64_t row, int64_t column, double value) {
    m->places[m->used] = (struct place){(int32_t)row, (int32_t)column};
    m->values[m->used++] = value;
}

/* A value at the end of a line, field number `column` of it. */
static rb_error take_value(rb_context *ctx, const struct mtx *m, const char *at, const char *end,
                           int column, double *value) {
    rb_cell cell = rb_cell_read(NULL, at, end - at, value);
    if (at == end) return damaged(ctx, m, "the value is missing");
    return cell <= RB_CELL_MISSING ? RB_OK
                                   : rb_cell_refuse(ctx, m->lines, column, cell, at, end - at, "");
}

static rb_error take_coordinates(rb_context *ctx, struct mtx *m, const char *at, const char *end) {
    int64_t row, column;
    double value = 1;
    if (!take_whole(&at, end, &row) || !take_whole(&at, end, &column))
        return damaged(ctx, m, "expected are a row and a column, counted from 1");
    if (row < 1 || row > m->rows || column < 1 || column > m->columns) {
        return rb_lines_fail(ctx, m->lines, RB_ERROR_FORMAT, 0,
                             "entry (%lld, %lld) lies outside of the %lld x %lld matrix",
                             (long long)row, (long long)column, (long long)m->rows,
                             (long long)m->columns);
    }
    if (m->pattern && at < end) return damaged(ctx, m, "a pattern has no values");
    rb_error err = m->pattern ? RB_OK : take_value(ctx, m, at, end, 3, &value);
    err = err ? err : reserve(ctx, m);
    if (err) return err;
    bool skew = m->symmetry == MTX_SKEW;
    if (skew && row == column && value != 0)
        return damaged(ctx, m, "the diagonal of a skew-symmetric matrix must be 0");
    add_entry(m, row - 1, column - 1, value);
    if (m->symmetry != MTX_GENERAL && row != column)
        add_entry(m, column - 1, row - 1, skew ? -value : value);
    return RB_OK;
}

static rb_error take_array_value(rb_context *ctx, struct mtx *m, const char *at, const char *end) {
    rb_error err = reserve(ctx, m);
    err = err ? err : take_value(ctx, m, at, end, 1, &m->values[m->used]);
    m->used += !err;
    return err;
}

static rb_error read_entries(rb_context *ctx, struct mtx *m) {
    char *line;
    int64_t length;
    for (int64_t count = 0;; count++) {
        rb_error err = next_line(ctx, m, &line, &length);
        if (!err && !line && count < m->entries) {
            return rb_fail(ctx, RB_ERROR_FORMAT, "%s is truncated: it has %lld of its %lld entries",
                           m->path, (long long)count, (long long)m->entries);
        }
        if (err || !line) return err;
        if (count == m->entries)
            return damaged(ctx, m, "there are more entries than the header says");
        const char *end = line + length, *at = skip_blanks(line, end);
        err = m->array ? take_array_value(ctx, m, at, end) : take_coordinates(ctx, m, at, end);
        if (err) return err;
    }
}

/* ---- the matrix ---- */

/* Counts fit into float32 when they are whole and at most 2^24; whatever is said to be real stays
 * float64. */
static rb_type fitting_type(const struct mtx *m, const double *values, int64_t count) {
    bool fits = m->integer || m->pattern;
    for (int64_t e = 0; fits && e < count; e++)
        fits = (double)(float)values[e] == values[e];
    return fits ? RB_FLOAT32 : RB_FLOAT64;
}

/* The entries sorted by column, those of a column in the order of the file. */
static void sort_by_column(const struct mtx *m, int64_t *starts, int32_t *rows, double *values) {
    for (int64_t e = 0; e < m->used; e++)
        starts[m->places[e].column + 1]++;
    for (int64_t j = 0; j < m->columns; j++)
        starts[j + 1] += starts[j];
    for (int64_t e = 0; e < m->used; e++) {
        int64_t to = starts[m->places[e].column]++;
        rows[to] = m->places[e].row;
        values[to] = m->values[e];
    }
    memmove(starts + 1, starts, (size_t)m->columns * sizeof *starts);
    starts[0] = 0;
}

/* Entries of one place that stand side by side become their sum. */
static void sum_duplicates(const struct mtx *m, int64_t *starts, int32_t *columns, double *values) {
    int64_t used = 0, begin = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t first = used, end = starts[i + 1];
        for (int64_t e = begin; e < end; e++) {
            if (used > first && columns[used - 1] == columns[e]) {
                values[used - 1] += values[e];
            } else {
                columns[used] = columns[e];
                values[used] = values[e];
                used++;
            }
        }
        begin = end;
        starts[i + 1] = used;
    }
}

/* Numbers that fit become float32, in place: one is written only after its float64 was read. */
static void narrow(double *values, int64_t count) {
    char *out = (char *)values;
    for (int64_t e = 0; e < count; e++) {
        float value = (float)values[e];
        memcpy(out + e * (int64_t)sizeof value, &value, sizeof value);
    }
}

/* The entries as rows whose columns ascend, as those of a transpose do. */
static rb_error make_rows(rb_context *ctx, const struct mtx *m, rb_csr by_column,
                          rb_matrix **matrix) {
    int64_t *starts = rb_alloc(ctx, m->rows + 1, sizeof *starts);
    int32_t *columns = rb_alloc(ctx, m->used, sizeof *columns);
    double *values = rb_alloc(ctx, m->used, sizeof *values);
    if (!starts || !columns || !values) {
        rb_free(starts);
        rb_free(columns);
        rb_free(values);
        return RB_ERROR_MEMORY;
    }
    rb_csr_transpose(by_column, starts, columns, values);
    sum_duplicates(m, starts, columns, values);
    rb_type type = fitting_type(m, values, starts[m->rows]);
    if (type == RB_FLOAT32) narrow(values, starts[m->rows]);
    return rb_matrix_own_csr(ctx, type, m->rows, m->columns, starts, columns, values, matrix);
}

static rb_error make_sparse(rb_context *ctx, struct mtx *m, rb_matrix **matrix) {
    int64_t *starts = rb_alloc_zero(ctx, m->columns + 1, sizeof *starts);
    int32_t *rows = rb_alloc(ctx, m->used, sizeof *rows);
    double *values = rb_alloc(ctx, m->used, sizeof *values);
    rb_error err = starts && rows && values ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        sort_by_column(m, starts, rows, values);
        clear(m); /* what was read makes way for the matrix */
        rb_csr by_column = {m->columns, m->rows, starts, rows, values, RB_FLOAT64};
        err = make_rows(ctx, m, by_column, matrix);
    }
    rb_free(starts);
    rb_free(rows);
    rb_free(values);
    return err;
}

/* The lower triangle of a symmetric array, column by column, becomes the whole. */
static void unfold(const struct mtx *m, double *out) {
    const double *next = m->values;
    int64_t n = m->rows;
    bool skew = m->symmetry == MTX_SKEW;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j + skew; i < n; i++) {
            out[i * n + j] = *next;
            out[j * n + i] = skew ? -*next : *next;
            next++;
        }
    }
}

static rb_error make_dense(rb_context *ctx, struct mtx *m, rb_matrix **matrix) {
    if (m->symmetry != MTX_GENERAL) {
        rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, m->rows, m->columns, matrix);
        if (!err) unfold(m, (void *)(*matrix)->values);
        return err;
    }
    /* The file goes column by column, and so does the matrix. */
    rb_error err =
        rb_matrix_dense(ctx, RB_FLOAT64, m->rows, m->columns, m->values, 1, m->rows, matrix);
    if (!err) {
        (*matrix)->owner = m->values;
        (*matrix)->release = rb_free;
        m->values = NULL;
    }
    return err;
}

static rb_error read_mtx(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_matrix **matrix) {
    (void)options;
    struct mtx m = {.path = path};
    *matrix = NULL;
    rb_error err = rb_lines_open(ctx, path, false, &m.lines);
    err = err ? err : read_banner(ctx, &m);
    err = err ? err : read_sizes(ctx, &m);
    err = err ? err : reserve(ctx, &m);
    err = err ? err : read_entries(ctx, &m);
    err = err ? err : m.array ? make_dense(ctx, &m, matrix) : make_sparse(ctx, &m, matrix);
    rb_lines_close(m.lines);
    clear(&m);
    return err;
}

static bool recognise(const rb_probe *probe) {
    return probe->n_bytes >= 14 &&
           strncasecmp((const char *)probe->bytes, "%%MatrixMarket", 14) == 0;
}

const rb_format rb_format_mtx = {"mtx", recognise, read_mtx, NULL};
