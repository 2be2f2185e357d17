/* Covariates as a table or an AnnData file has them, bound to the samples of a source. */
#include "cells.h"

#include <math.h>
#include <string.h>

/* A column that is asked for. */
struct wanted {
    const char *name;     /* without its kind */
    bool groups, numbers; /* what the kind says; neither: the values do */
    int64_t column;       /* in a text table, from 0; -1: not found yet */
    rb_name_list list;
    rb_column values;
};

struct table {
    rb_context *ctx;
    const char *path;
    char *memory; /* of the names */
    char *file;   /* of the path, where columns were named behind it */
    int count;
    struct wanted columns[RB_COVARIATES_MAX];
    rb_names *names; /* of the rows; NULL: none */
    rb_name_list list;
};

static void clear(struct table *t) {
    for (int c = 0; c < t->count; c++) {
        rb_name_list_clear(&t->columns[c].list);
        rb_column *values = &t->columns[c].values;
        rb_names_free(values->samples);
        rb_names_free(values->texts);
        rb_free(values->values);
    }
    rb_names_free(t->names);
    rb_name_list_clear(&t->list);
    rb_free(t->memory);
    rb_free(t->file);
}

/* ---- what is asked for ---- */

static bool cut_off(char *name, const char *kind) {
    char *colon = strrchr(name, ':');
    bool is = colon && strcmp(colon, kind) == 0;
    if (is) *colon = '\0';
    return is;
}

static rb_error parse(struct table *t, const char *names) {
    t->memory = rb_copy_text(t->ctx, names);
    if (!t->memory) return RB_ERROR_MEMORY;
    for (char *name = t->memory, *next; name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        struct wanted w = {.name = name, .column = -1};
        w.groups = cut_off(name, ":groups");
        w.numbers = !w.groups && cut_off(name, ":numbers");
        for (int c = 0; c < t->count; c++) {
            if (strcmp(t->columns[c].name, name) == 0) {
                return rb_fail(t->ctx, RB_ERROR_ARGUMENT, "`covariates` are '%s', with '%s' twice",
                               names, name);
            }
        }
        if (*name == '\0' || t->count == RB_COVARIATES_MAX) {
            return rb_fail(t->ctx, RB_ERROR_ARGUMENT,
                           "`covariates` are '%s', but must be 1 to %d names with commas between "
                           "them",
                           names, RB_COVARIATES_MAX);
        }
        t->columns[t->count++] = w;
    }
    return RB_OK;
}

/* ---- a table of text ---- */

static bool same(const rb_text_field *field, const char *text) {
    return (size_t)field->length == strlen(text) && memcmp(field->text, text, strlen(text)) == 0;
}

/* Which columns those are that were asked for; *fields is how many there are. */
static rb_error read_header(struct table *t, rb_lines *lines, rb_fields fields, int64_t *count) {
    rb_text_field field;
    char there[240] = "";
    size_t used = 0;
    for (*count = 0; rb_fields_next(&fields, &field); ++*count) {
        char shown[RB_SHOWN];
        if (field.problem)
            return rb_lines_fail(t->ctx, lines, RB_ERROR_FORMAT, *count + 1, "%s", field.problem);
        for (int c = 0; c < t->count; c++) {
            if (!same(&field, t->columns[c].name)) continue;
            if (t->columns[c].column >= 0) {
                return rb_lines_fail(t->ctx, lines, RB_ERROR_FORMAT, *count + 1,
                                     "a second column is called '%s'", t->columns[c].name);
            }
            t->columns[c].column = *count;
        }
        if (used < sizeof there)
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", used ? ", " : "",
                                     rb_show(field.text, field.length, shown));
    }
    for (int c = 0; c < t->count; c++) {
        if (t->columns[c].column < 0) {
            return rb_fail(t->ctx, RB_ERROR_ARGUMENT, "%s has no column '%s'; its columns are: %s",
                           t->path, t->columns[c].name, there);
        }
    }
    return RB_OK;
}

/* Is the first column one that was asked for, so that there are no names of samples? */
static bool nameless(const struct table *t) {
    bool first = false;
    for (int c = 0; c < t->count; c++)
        first = first || t->columns[c].column == 0;
    return first;
}

/* Infinity is neither a number to compute with nor the name of a group. */
static rb_error take_cell(struct table *t, const rb_lines *lines, struct wanted *w,
                          const rb_text_field *field) {
    double value;
    char shown[RB_SHOWN];
    if (!w->groups && rb_cell_read(NULL, field->text, field->length, &value) == RB_CELL_INFINITE) {
        return rb_lines_fail(t->ctx, lines, RB_ERROR_DATA, w->column + 1,
                             "'%s' of '%s' is infinite; if it names a group, say %s:groups",
                             rb_show(field->text, field->length, shown), w->name, w->name);
    }
    return rb_name_list_add(t->ctx, &w->list, field->text, field->length);
}

static rb_error read_row(struct table *t, rb_lines *lines, rb_fields fields, int64_t expected) {
    rb_text_field field;
    int64_t at = 0;
    rb_error err = RB_OK;
    for (; !err && rb_fields_next(&fields, &field); at++) {
        if (field.problem)
            return rb_lines_fail(t->ctx, lines, RB_ERROR_FORMAT, at + 1, "%s", field.problem);
        if (at == 0 && !nameless(t))
            err = rb_name_list_add(t->ctx, &t->list, field.text, field.length);
        for (int c = 0; !err && c < t->count; c++)
            if (t->columns[c].column == at) err = take_cell(t, lines, &t->columns[c], &field);
    }
    if (!err && at != expected) {
        err = rb_lines_fail(t->ctx, lines, RB_ERROR_FORMAT, 0,
                            "the row has %lld fields, but the header has %lld", (long long)at,
                            (long long)expected);
    }
    return err;
}

static rb_error read_lines(struct table *t, rb_lines *lines) {
    char *line, delimiter = '\t';
    int64_t length, blank, expected = -1;
    for (;;) {
        rb_error err = rb_lines_next_filled(t->ctx, lines, &line, &length, &blank);
        if (!err && !line && expected < 0)
            err = rb_fail(t->ctx, RB_ERROR_FORMAT, "%s is empty: a header is expected", t->path);
        if (err || !line) return err;
        if (memchr(line, '\0', (size_t)length))
            return rb_lines_fail(t->ctx, lines, RB_ERROR_FORMAT, 0, "the line holds a 0 byte");
        if (expected < 0 && !memchr(line, '\t', (size_t)length)) delimiter = ',';
        rb_fields fields = rb_fields_of(line, length, delimiter);
        err = expected < 0 ? read_header(t, lines, fields, &expected)
                           : read_row(t, lines, fields, expected);
        if (err) return err;
    }
}

static rb_error read_text(struct table *t) {
    rb_lines *lines = NULL;
    rb_reading reading;
    rb_reading_begin(t->ctx, &reading, t->path);
    rb_error err = rb_lines_open(t->ctx, t->path, &lines);
    if (!err) {
        err = read_lines(t, lines);
        rb_lines_close(lines);
    }
    if (!nameless(t)) err = rb_name_list_end(t->ctx, err, &t->list, &t->names);
    for (int c = 0; c < t->count; c++)
        err = rb_name_list_end(t->ctx, err, &t->columns[c].list, &t->columns[c].values.texts);
    rb_reading_end(t->ctx);
    return err;
}

/* ---- AnnData ---- */

static rb_error read_anndata(struct table *t) {
    rb_error err = RB_OK;
    for (int c = 0; !err && c < t->count; c++) {
        rb_column *values = &t->columns[c].values;
        values->name = t->columns[c].name;
        err = rb_anndata_any_column(t->ctx, t->path, values);
        if (err || c > 0) continue;
        t->names = values->samples;
        values->samples = NULL;
    }
    return err;
}

/* Of "FILE:age,batch" the file, of "obs:age,batch" that of the data: columns that are named there
 * are for tests, those of the model are found all the same. */
static rb_error find_file(struct table *t, const rb_source *source) {
    int64_t length = t->path ? rb_labels_file(t->path) : 0;
    if (length == 0) t->path = source->path;
    if (length == 0 || !t->path[length]) return RB_OK;
    t->file = rb_copy_text(t->ctx, t->path);
    if (!t->file) return RB_ERROR_MEMORY;
    t->file[length] = '\0';
    t->path = t->file;
    return RB_OK;
}

static rb_error read_table(struct table *t, const rb_source *source) {
    const char *format = NULL;
    bool own = !t->path || rb_labels_file(t->path) == 0;
    if (find_file(t, source)) return RB_ERROR_MEMORY;
    rb_error err = t->path ? rb_format_of(t->ctx, t->path, &format) : RB_OK;
    bool hdf5 = format && strcmp(format, "hdf5") == 0;
    if (own && !hdf5) {
        return rb_fail(t->ctx, RB_ERROR_ARGUMENT,
                       "the covariates '%s' are nowhere to be found: give a table that has them, "
                       "or an AnnData file",
                       t->columns[0].name);
    }
    if (err == RB_ERROR_FORMAT) err = RB_OK; /* a table of text is what reads it as one */
    return err ? err : hdf5 ? read_anndata(t) : read_text(t);
}

/* ---- rows and samples ---- */

/* Are the rows the samples of the source, in their order? Names may stand twice then. */
static bool in_order(const struct table *t, const rb_source *source) {
    int64_t n = source->n_samples, i = 0;
    while (i < n && t->names->count == n &&
           strcmp(t->names->text[i], source->sample_names->text[i]) == 0)
        i++;
    return i == n;
}

static rb_error match_names(struct table *t, const rb_source *source, int64_t *row_of) {
    int64_t n = source->n_samples, count = t->names->count, found = 0;
    rb_named *sorted = rb_names_sort(t->ctx, t->names);
    rb_error err = sorted ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < n; i++) {
        const char *name = source->sample_names->text[i];
        int64_t at = rb_names_find(sorted, count, name);
        row_of[i] = at < 0 ? -1 : sorted[at].index;
        found += at >= 0;
        if (at >= 0 && at + 1 < count && strcmp(sorted[at + 1].text, name) == 0)
            err =
                rb_fail(t->ctx, RB_ERROR_DATA, "%s has sample '%s' more than once", t->path, name);
    }
    if (!err && found == 0) {
        err = rb_fail(t->ctx, RB_ERROR_DATA,
                      "%s has none of the samples of the data: the first of the data is '%s', its "
                      "own first is '%s'",
                      t->path, source->sample_names->text[0], count > 0 ? t->names->text[0] : "");
    }
    rb_free(sorted);
    return err;
}

static rb_error match_positions(struct table *t, const rb_source *source, int64_t *row_of) {
    const rb_column *first = &t->columns[0].values;
    int64_t rows = t->names ? t->names->count : first->texts->count;
    const char *who = t->names ? "the data have" : "it has";
    if (rows != source->n_samples) {
        return rb_fail(t->ctx, RB_ERROR_DATA,
                       "%s has %lld rows for %lld samples, and they can only be taken by position, "
                       "since %s no sample names",
                       t->path, (long long)rows, (long long)source->n_samples, who);
    }
    rb_log(t->ctx, RB_LOG_INFO, "the rows of %s are taken by position, since %s no sample names",
           t->path, who);
    for (int64_t i = 0; i < rows; i++)
        row_of[i] = i;
    return RB_OK;
}

static rb_error match(struct table *t, const rb_source *source, int64_t *row_of) {
    if (!t->names || !source->sample_names) return match_positions(t, source, row_of);
    if (source->n_samples == 0 || !in_order(t, source)) return match_names(t, source, row_of);
    for (int64_t i = 0; i < source->n_samples; i++)
        row_of[i] = i;
    return RB_OK;
}

/* ---- binding ---- */

static rb_cell cell_of(const char *text, double *value) {
    return rb_cell_read(NULL, text, (int64_t)strlen(text), value);
}

/* Do all texts that there are stand for numbers? */
static bool all_numbers(const rb_names *texts) {
    bool any = false;
    for (int64_t i = 0; i < texts->count; i++) {
        double value;
        rb_cell cell = cell_of(texts->text[i], &value);
        if (cell == RB_CELL_TEXT || cell == RB_CELL_INFINITE) return false;
        any = any || cell == RB_CELL_NUMBER;
    }
    return any;
}

static rb_error bind_numbers(struct table *t, const struct wanted *w, rb_source *source,
                             const int64_t *row_of) {
    const rb_column *from = &w->values;
    int64_t n = source->n_samples;
    double *values = rb_alloc(t->ctx, n, sizeof *values);
    rb_error err = values ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < n; i++) {
        int64_t row = row_of[i];
        rb_cell cell = RB_CELL_NUMBER;
        values[i] = row < 0 ? NAN : from->values ? from->values[row] : 0;
        if (row >= 0 && from->texts) cell = cell_of(from->texts->text[row], &values[i]);
        if (cell == RB_CELL_TEXT || cell == RB_CELL_INFINITE) {
            err = rb_fail(t->ctx, RB_ERROR_DATA, "%s: '%s' of column '%s' is no number", t->path,
                          from->texts->text[row], w->name);
        }
    }
    err = err ? err : rb_source_set_numbers(t->ctx, source, w->name, values, n);
    rb_free(values);
    return err;
}

static rb_error bind_groups(struct table *t, const struct wanted *w, rb_source *source,
                            const int64_t *row_of) {
    int64_t n = source->n_samples;
    if (w->values.values) {
        return rb_fail(t->ctx, RB_ERROR_ARGUMENT,
                       "%s: column '%s' holds floating-point numbers, which are no groups", t->path,
                       w->name);
    }
    const char **groups = rb_alloc_zero(t->ctx, n, sizeof *groups);
    if (!groups) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        double value;
        const char *text = row_of[i] < 0 ? "" : w->values.texts->text[row_of[i]];
        groups[i] = cell_of(text, &value) == RB_CELL_MISSING ? "" : text;
    }
    rb_error err = rb_source_set_groups(t->ctx, source, w->name, groups, n);
    rb_free(groups);
    return err;
}

static rb_error bind(struct table *t, const struct wanted *w, rb_source *source,
                     const int64_t *row_of) {
    bool numbers = w->numbers ||
                   (!w->groups &&
                    (w->values.values || (!w->values.categorical && all_numbers(w->values.texts))));
    return numbers ? bind_numbers(t, w, source, row_of) : bind_groups(t, w, source, row_of);
}

rb_error rb_source_read_covariates(rb_context *ctx, rb_source *source, const char *where,
                                   const char *names) {
    struct table t = {.ctx = ctx, .path = where};
    rb_error err = parse(&t, names);
    err = err ? err : read_table(&t, source);
    int64_t *row_of = err ? NULL : rb_alloc(ctx, source->n_samples, sizeof *row_of);
    if (!err) err = row_of ? match(&t, source, row_of) : RB_ERROR_MEMORY;
    for (int c = 0; !err && c < t.count; c++)
        err = bind(&t, &t.columns[c], source, row_of);
    rb_free(row_of);
    clear(&t);
    return err;
}
