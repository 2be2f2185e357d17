/* A table of samples as its file has it: text, a list, numbers, or the observations of AnnData. */
#include "annotations.h"

#include "cells.h"
#include "hdf5_base.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- how a table is named ---- */

static const char own[] = "obs:"; /* of the file of the data */

/* A pipe as well: <(...) is one. */
static bool can_be_read(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

int64_t rb_annotations_file(const char *where) {
    char path[4096];
    struct stat info;
    int64_t length = (int64_t)strlen(where);
    if (length >= (int64_t)sizeof path || stat(where, &info) == 0) return length;
    if (strncmp(where, own, sizeof own - 1) == 0) return 0;
    memcpy(path, where, (size_t)length + 1);
    for (char *colon = strrchr(path, ':'); colon; colon = strrchr(path, ':')) {
        *colon = '\0';
        if (can_be_read(path)) return colon - path;
    }
    return length;
}

const char *rb_annotations_columns(const char *where) {
    if (!where || !*where) return NULL;
    int64_t length = rb_annotations_file(where);
    const char *columns =
        length > 0 ? where + length + (where[length] == ':') : where + sizeof own - 1;
    return *columns ? columns : NULL;
}

/* ---- text ---- */

typedef struct reading {
    rb_context *ctx;
    rb_lines *lines;
    rb_annotations *table;
    char delimiter; /* 0: a list */
    rb_name_list cells;
} reading;

/* A tab, else a comma or a semicolon outside of quotes; 0: the line is one field. */
static char guess_delimiter(char *line, int64_t length) {
    for (const char *d = "\t,;"; *d; d++)
        if (rb_fields_count(line, length, *d) > 1) return *d;
    return 0;
}

/* The header may lack the field above the names of the samples, as R writes it. Where it is one
 * title, the second line tells what separates columns: a tab, or anything where names are
 * quoted. */
static void look_at_second(reading *r, char *line, int64_t length) {
    rb_annotations *t = r->table;
    char delimiter = r->delimiter ? r->delimiter : guess_delimiter(line, length);
    bool table = r->delimiter || delimiter == '\t' || (delimiter && *line == '"');
    if (!table || rb_fields_count(line, length, delimiter) != t->width + 1) return;
    r->delimiter = delimiter;
    t->shorter = true;
    t->width++;
}

static rb_error refuse_width(const reading *r, int64_t fields) {
    const rb_annotations *t = r->table;
    return rb_lines_fail(r->ctx, r->lines, RB_ERROR_FORMAT, 0,
                         "the row has %lld field%s, but row %lld has %lld; separate columns by "
                         "tabs, commas or semicolons, and quote texts that contain one",
                         (long long)fields, fields == 1 ? "" : "s", (long long)t->lines[0],
                         (long long)(t->width - t->shorter));
}

static rb_error add_row(reading *r, int64_t line) {
    rb_annotations *t = r->table;
    int64_t *lines = rb_reserve(r->ctx, t->lines, t->rows, 1, &t->capacity, sizeof *lines);
    if (!lines) return RB_ERROR_MEMORY;
    t->lines = lines;
    lines[t->rows++] = line;
    return RB_OK;
}

static rb_error take_row(reading *r, char *line, int64_t length) {
    rb_text_field field;
    rb_fields fields = rb_fields_of(line, length, r->delimiter);
    int64_t count = 0;
    if (memchr(line, '\0', (size_t)length))
        return rb_lines_fail(r->ctx, r->lines, RB_ERROR_FORMAT, 0, "the line holds a 0 byte");
    if (!r->delimiter && memchr(line, '\t', (size_t)length))
        return refuse_width(r, rb_fields_count(line, length, '\t'));
    rb_error err = add_row(r, rb_lines_number(r->lines));
    for (; !err && rb_fields_next(&fields, &field); count++) {
        err = field.problem
                  ? rb_lines_fail(r->ctx, r->lines, RB_ERROR_FORMAT, count + 1, "%s", field.problem)
                  : rb_name_list_add(r->ctx, &r->cells, field.text, field.length);
    }
    return err || count == r->table->width ? err : refuse_width(r, count);
}

/* In a list an empty line is a sample without a value. */
static rb_error take_blank(reading *r, int64_t blank) {
    rb_error err = RB_OK;
    for (; !err && !r->delimiter && r->table->rows > 0 && blank > 0; blank--) {
        err = add_row(r, rb_lines_number(r->lines) - blank);
        err = err ? err : rb_name_list_add(r->ctx, &r->cells, "", 0);
    }
    return err;
}

static rb_error read_rows(reading *r) {
    rb_annotations *t = r->table;
    char *line;
    int64_t length, blank;
    for (;;) {
        rb_error err = rb_lines_next_filled(r->ctx, r->lines, &line, &length, &blank);
        if (!err && line && t->rows == 1) look_at_second(r, line, length);
        err = err ? err : take_blank(r, blank);
        if (err || !line) return err;
        if (t->rows == 0) {
            r->delimiter = guess_delimiter(line, length);
            t->width = rb_fields_count(line, length, r->delimiter);
        }
        err = take_row(r, line, length);
        if (err) return err;
    }
}

static rb_error read_text(rb_context *ctx, rb_annotations *t) {
    reading r = {.ctx = ctx, .table = t};
    rb_error err = rb_lines_open(ctx, t->path, true, &r.lines);
    err = err ? err : read_rows(&r);
    if (!err && t->rows == 0) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "%s is empty: a header and a row for each sample are expected", t->path);
    }
    rb_lines_close(r.lines);
    return rb_name_list_end(ctx, err, &r.cells, &t->cells);
}

/* ---- numbers: .npy and IDX ---- */

static rb_error add_numbers(rb_context *ctx, const char *path, const rb_matrix *matrix,
                            rb_name_list *list) {
    int64_t n = rb_matrix_samples(matrix), wide = rb_matrix_features(matrix);
    if (wide != 1) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s has %lld columns of numbers, but must have one number per sample", path,
                       (long long)wide);
    }
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < n; i++) {
        char text[RB_SHORTEST];
        double value = rb_matrix_at(matrix, i, 0);
        err = rb_name_list_add(ctx, list, text, isnan(value) ? 0 : rb_print_shortest(text, value));
    }
    return err;
}

static rb_error read_numbers(rb_context *ctx, rb_annotations *t) {
    rb_matrix *matrix = NULL;
    rb_name_list list = {0};
    rb_error err = rb_read(ctx, t->path, NULL, &matrix);
    err = err ? err : add_numbers(ctx, t->path, matrix, &list);
    err = rb_name_list_end(ctx, err, &list, &t->cells);
    rb_matrix_free(matrix);
    if (err) return err;
    t->rows = t->cells->count;
    t->width = 1;
    t->numbers = true;
    return RB_OK;
}

/* ---- AnnData: its columns are read when they are asked for ---- */

static rb_error open_anndata(rb_context *ctx, rb_annotations *t) {
    rb_error err = RB_OK;
    if (t->file) {
        rb_h5_hold(t->file, ctx);
    } else {
        err = rb_h5_open(ctx, t->path, RB_H5_SHARED, &t->file);
        t->owned = !err;
    }
    if (err) return err;
    err = rb_anndata_samples(t->file, &t->names);
    err = err ? err : rb_h5_check(t->file);
    rb_h5_let_go(t->file);
    t->rows = err ? 0 : t->names->count;
    return err;
}

/* ---- any of them ---- */

/* Of "obs:" the data's own file is open already, where it is read block by block. */
static rb_error find_own(rb_context *ctx, const rb_source *source, rb_annotations *t) {
    if (!source || !source->path) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "no table of samples is given, and the data are in no file, or in "
                       "several; name a table, as FILE:COLUMN");
    }
    if (!source->format || strcmp(source->format, "hdf5") != 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s is not an AnnData file and has no columns of observations; give a table "
                       "that has them",
                       source->path);
    }
    t->path = rb_copy_text(ctx, source->path);
    t->file = rb_hdf5_file(source);
    return t->path ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error find_file(rb_context *ctx, const char *where, const rb_source *source,
                          rb_annotations *t) {
    int64_t length = rb_annotations_file(where);
    t->path = rb_copy_text(ctx, where);
    if (!t->path) return RB_ERROR_MEMORY;
    t->path[length] = '\0';
    bool of_data = source && source->path && strcmp(source->path, t->path) == 0;
    t->file = of_data ? rb_hdf5_file(source) : NULL;
    return RB_OK;
}

static rb_error read_file(rb_context *ctx, rb_annotations *t) {
    const char *format = "";
    /* A pipe can be read once, and is text. What is in no format is said by who reads it as
     * text. */
    if (rb_is_regular(t->path) && rb_format_of(ctx, t->path, &format)) format = "";
    if (strcmp(format, "hdf5") == 0) return open_anndata(ctx, t);
    if (strcmp(format, "npy") == 0 || strcmp(format, "idx") == 0) return read_numbers(ctx, t);
    return read_text(ctx, t);
}

rb_error rb_annotations_read(rb_context *ctx, const char *where, const rb_source *source,
                             rb_annotations **table) {
    rb_reading memory;
    *table = NULL;
    rb_annotations *t = rb_alloc_zero(ctx, 1, sizeof *t);
    if (!t) return RB_ERROR_MEMORY;
    bool of_data = !where || rb_annotations_file(where) == 0;
    rb_error err = of_data ? find_own(ctx, source, t) : find_file(ctx, where, source, t);
    if (!err) {
        rb_reading_begin(ctx, &memory, t->path);
        err = of_data || t->file ? open_anndata(ctx, t) : read_file(ctx, t);
        rb_reading_end(ctx);
    }
    if (err)
        rb_annotations_free(t);
    else
        *table = t;
    return err;
}

void rb_annotations_free(rb_annotations *t) {
    if (!t) return;
    if (t->owned) {
        rb_h5_hold(t->file, NULL); /* a file that was only read closes without a message */
        (void)rb_h5_close(t->file);
    }
    rb_names_free(t->names);
    rb_names_free(t->cells);
    rb_free(t->lines);
    rb_free(t->path);
    rb_free(t);
}
