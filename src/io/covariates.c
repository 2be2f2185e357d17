/* Covariates of samples: from a table of text, or from columns of an AnnData file. */
#include "cells.h"

#include <math.h>
#include <string.h>

/* What columns are made for. */
typedef struct making {
    rb_context *ctx;
    const char *where;  /* for messages */
    const char *groups; /* the columns that are groups although they hold numbers; NULL: none */
    char *unseen;       /* a copy of these, in which commas take the place of those met */
    const rb_source *source;
    int64_t n;       /* its samples */
    int64_t *row_of; /* n: where each is in the file; -1: nowhere */
    rb_covariates *table;
} making;

/* ---- samples ---- */

static bool same_names(const rb_names *names, const rb_source *source, int64_t n) {
    bool same = names->count == n;
    for (int64_t i = 0; same && i < n; i++)
        same = strcmp(names->text[i], rb_source_sample_name(source, i)) == 0;
    return same;
}

static rb_error take_by_position(making *m, int64_t rows) {
    if (rows != m->n) {
        return rb_fail(m->ctx, RB_ERROR_DATA,
                       "%s has %lld rows for %lld samples, and they can only be taken by position, "
                       "since the data have no sample names; give a row for each sample",
                       m->where, (long long)rows, (long long)m->n);
    }
    rb_log(m->ctx, RB_LOG_INFO,
           "the rows of %s are taken by position, since the data have no sample names", m->where);
    for (int64_t i = 0; i < m->n; i++)
        m->row_of[i] = i;
    return RB_OK;
}

static rb_error look_up(making *m, const rb_names *names) {
    rb_named *sorted = rb_names_sort(m->ctx, names);
    if (!sorted) return RB_ERROR_MEMORY;
    rb_error err = RB_OK;
    int64_t found = 0;
    for (int64_t i = 0; !err && i < m->n; i++) {
        const char *name = rb_source_sample_name(m->source, i);
        int64_t at = rb_names_find(sorted, names->count, name);
        m->row_of[i] = at < 0 ? -1 : sorted[at].index;
        found += at >= 0;
        if (at >= 0 && at + 1 < names->count && strcmp(sorted[at + 1].text, name) == 0)
            err = rb_fail(m->ctx, RB_ERROR_DATA, "%s has sample '%s' twice", m->where, name);
    }
    rb_free(sorted);
    if (!err && found == 0) {
        return rb_fail(m->ctx, RB_ERROR_DATA,
                       "%s has none of the samples of the data: the first of the data is '%s', the "
                       "first of the covariates '%s'",
                       m->where, m->n > 0 ? rb_source_sample_name(m->source, 0) : "",
                       names->count > 0 ? names->text[0] : "");
    }
    if (!err && found < m->n) {
        rb_log(m->ctx, RB_LOG_INFO, "%s has %lld of the %lld samples", m->where, (long long)found,
               (long long)m->n);
    }
    return err;
}

static rb_error find_samples(making *m, const rb_names *names) {
    bool named = m->n > 0 && rb_source_sample_name(m->source, 0);
    if (!named || same_names(names, m->source, m->n)) {
        if (!named) return take_by_position(m, names->count);
        for (int64_t i = 0; i < m->n; i++)
            m->row_of[i] = i;
        return RB_OK;
    }
    return look_up(m, names);
}

/* ---- columns ---- */

/* Is the column named among those that are groups? From here on it was met. */
static bool is_named(making *m, const char *name) {
    size_t length = strlen(name);
    for (const char *word = m->groups; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, name, length) != 0 || (word[length] != ',' && word[length])) continue;
        memset(m->unseen + (word - m->groups), ',', length);
        return true;
    }
    return false;
}

static void leave_out(const making *m, const char *name, const char *why) {
    rb_log(m->ctx, RB_LOG_WARNING, "column '%s' of %s is left out: %s", name, m->where, why);
}

/* Whole numbers of few values may be names of groups. */
static void warn_of_codes(const making *m, const char *name, const double *values) {
    enum { MANY = 10 };
    double seen[MANY];
    int64_t count = 0, there = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t k = 0;
        if (isnan(values[i])) continue;
        there++;
        while (k < count && seen[k] != values[i])
            k++;
        if (values[i] != floor(values[i]) || (k == count && count == MANY)) return;
        if (k == count) seen[count++] = values[i];
    }
    if (count > 2 && there > 3 * count) {
        rb_log(m->ctx, RB_LOG_INFO,
               "column '%s' of %s has %lld different whole numbers, and is taken as numbers; name "
               "it in `covariate-groups` if they stand for groups",
               name, m->where, (long long)count);
    }
}

static rb_error add_numbers(making *m, const char *name, const double *values) {
    int64_t there = 0;
    for (int64_t i = 0; i < m->n; i++)
        there += !isnan(values[i]);
    if (there == 0) {
        leave_out(m, name, "no sample has a value");
        return RB_OK;
    }
    warn_of_codes(m, name, values);
    return rb_covariates_add_numbers(m->ctx, m->table, name, values);
}

/* Groups that are as many as samples are names of these. */
static rb_error add_groups(making *m, const char *name, const char *const *text) {
    rb_labels labels;
    rb_error err = rb_labels_of(m->ctx, text, m->n, &labels);
    if (err) return err;
    bool empty = labels.n_labelled == 0;
    bool different = labels.n_labelled > 1 && labels.classes->count == labels.n_labelled;
    rb_labels_clear(&labels);
    if (empty || different) {
        leave_out(m, name, empty ? "no sample has a value" : "its text is another in each sample");
        return RB_OK;
    }
    return rb_covariates_add_groups(m->ctx, m->table, name, text);
}

/* A column of texts, one per sample, in which missing ones become "". */
static rb_error add_texts(making *m, const char *name, const char **text, bool groups) {
    double *values = rb_alloc(m->ctx, m->n, sizeof *values);
    rb_error err = values ? RB_OK : RB_ERROR_MEMORY;
    int64_t words = 0;
    const char *infinite = NULL;
    for (int64_t i = 0; !err && i < m->n; i++) {
        rb_cell cell = rb_cell_read(NULL, text[i], (int64_t)strlen(text[i]), &values[i]);
        words += cell == RB_CELL_TEXT;
        if (cell == RB_CELL_MISSING) text[i] = "";
        if (cell == RB_CELL_INFINITE) infinite = text[i];
    }
    groups = is_named(m, name) || groups || words > 0;
    if (!err && !groups && infinite) {
        err = rb_fail(m->ctx, RB_ERROR_DATA, "column '%s' of %s holds '%s', which is infinite",
                      name, m->where, infinite);
    }
    if (!err) err = groups ? add_groups(m, name, text) : add_numbers(m, name, values);
    rb_free(values);
    return err;
}

/* ---- a table of text ---- */

/* What is in it: `columns` cells in each row, without the names of the samples. */
typedef struct sheet {
    char delimiter;
    int64_t columns; /* -1: not known yet */
    rb_name_list title_list, sample_list, cell_list;
    rb_names *titles, *samples, *cells;
} sheet;

static char guess_delimiter(const char *line) {
    return strchr(line, '\t') ? '\t' : strchr(line, ',') ? ',' : ';';
}

/* The fields of a line to lists: the first to one, unless that is NULL, the others to another. */
static rb_error cut_line(rb_context *ctx, const rb_lines *lines, rb_fields fields,
                         rb_name_list *first, rb_name_list *others, int64_t *count) {
    rb_text_field field;
    rb_error err = RB_OK;
    if (memchr(fields.next, '\0', (size_t)(fields.end - fields.next)))
        return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0, "the line holds a 0 byte");
    for (*count = 0; !err && rb_fields_next(&fields, &field); ++*count) {
        if (field.problem)
            return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, *count + 1, "%s", field.problem);
        rb_name_list *to = *count == 0 && first ? first : others;
        err = rb_name_list_add(ctx, to, field.text, field.length);
    }
    return err;
}

/* The header may lack the field above the names of the samples, as R writes it: whether it does,
 * the first row says. */
static rb_error check_width(rb_context *ctx, const rb_lines *lines, sheet *s, int64_t fields) {
    int64_t titles = s->title_list.count;
    if (s->columns < 0) s->columns = fields == titles + 1 ? titles : titles - 1;
    if (fields == s->columns + 1) return RB_OK;
    return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0,
                         "the row has %lld fields, but the header has %lld; the first line must "
                         "name the columns, and each row must have a sample's name and a value for "
                         "each column",
                         (long long)fields, (long long)titles);
}

static rb_error read_rows(rb_context *ctx, rb_lines *lines, sheet *s) {
    char *line;
    int64_t length, blank = 0, count;
    rb_error err = rb_lines_next_filled(ctx, lines, &line, &length, &blank);
    if (err || !line) return err;
    s->delimiter = guess_delimiter(line);
    err = cut_line(ctx, lines, rb_fields_of(line, length, s->delimiter), NULL, &s->title_list,
                   &count);
    while (!err) {
        err = rb_lines_next_filled(ctx, lines, &line, &length, &blank);
        if (err || !line) return err;
        err = cut_line(ctx, lines, rb_fields_of(line, length, s->delimiter), &s->sample_list,
                       &s->cell_list, &count);
        err = err ? err : check_width(ctx, lines, s, count);
    }
    return err;
}

static rb_error read_sheet(rb_context *ctx, const char *path, sheet *s) {
    rb_lines *lines = NULL;
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_lines_open(ctx, path, &lines);
    s->columns = -1;
    err = err ? err : read_rows(ctx, lines, s);
    if (!err && s->columns < 1) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "%s is no table of covariates: a header and, in each row, the name of a "
                      "sample and its values are expected, separated by tabs, commas or semicolons",
                      path);
    }
    err = rb_name_list_end(ctx, err, &s->title_list, &s->titles);
    err = rb_name_list_end(ctx, err, &s->sample_list, &s->samples);
    err = rb_name_list_end(ctx, err, &s->cell_list, &s->cells);
    rb_lines_close(lines);
    rb_reading_end(ctx);
    return err;
}

static void clear_sheet(sheet *s) {
    rb_names_free(s->titles);
    rb_names_free(s->samples);
    rb_names_free(s->cells);
}

/* Columns that cannot be told apart. */
static rb_error check_titles(rb_context *ctx, const char *path, const sheet *s) {
    int64_t skipped = s->titles->count - s->columns, count = s->titles->count;
    rb_error err = RB_OK;
    for (int64_t c = skipped; c < count && !err; c++) {
        if (!*s->titles->text[c]) {
            err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: column %lld has no name in the header", path,
                          (long long)(c + 1 + !skipped));
        }
    }
    rb_named *sorted = err ? NULL : rb_names_sort(ctx, s->titles);
    if (!err && !sorted) return RB_ERROR_MEMORY;
    for (int64_t e = 1; e < count && !err; e++) {
        bool counted = sorted[e].index >= skipped && sorted[e - 1].index >= skipped;
        if (counted && strcmp(sorted[e - 1].text, sorted[e].text) == 0) {
            err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: more than one column is called '%.200s'", path,
                          sorted[e].text);
        }
    }
    rb_free(sorted);
    return err;
}

static rb_error add_title(making *m, const sheet *s, int64_t c, const char **text) {
    for (int64_t i = 0; i < m->n; i++)
        text[i] = m->row_of[i] < 0 ? "" : s->cells->text[m->row_of[i] * s->columns + c];
    return add_texts(m, s->titles->text[c + s->titles->count - s->columns], text, false);
}

/* The columns of a list, "batch,age", which is cut; NULL: all of them. */
static rb_error add_sheet(making *m, const sheet *s, char *list) {
    const char **text = rb_alloc(m->ctx, m->n, sizeof *text);
    rb_error err = text ? find_samples(m, s->samples) : RB_ERROR_MEMORY;
    int64_t skipped = s->titles->count - s->columns; /* above the names of the samples */
    for (int64_t c = 0; !err && !list && c < s->columns; c++)
        err = add_title(m, s, c, text);
    for (char *name = list, *end; name && !err; name = end) {
        int64_t c = 0;
        end = strchr(name, ',');
        if (end) *end++ = '\0';
        while (c < s->columns && strcmp(s->titles->text[c + skipped], name) != 0)
            c++;
        err = c < s->columns
                  ? add_title(m, s, c, text)
                  : rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                            "%s: the header has no column '%s' behind the names of the samples",
                            m->where, name);
    }
    rb_free(text);
    return err;
}

/* The first `length` characters of "table.tsv:batch,age" name the file. */
static rb_error add_text_file(making *m, int64_t length) {
    sheet s = {0};
    char *path = rb_copy_text(m->ctx, m->where);
    if (!path) return RB_ERROR_MEMORY;
    char *list = path[length] ? path + length + 1 : NULL;
    path[length] = '\0';
    rb_error err = read_sheet(m->ctx, path, &s);
    err = err ? err : check_titles(m->ctx, path, &s);
    err = err ? err : add_sheet(m, &s, list);
    clear_sheet(&s);
    rb_free(path);
    return err;
}

/* ---- columns of AnnData ---- */

/* Numbers with fractions that are to be groups, as texts. */
static rb_error spell_groups(making *m, const char *name, const double *values) {
    enum { SPELLED = 32 };
    rb_scratch scratch = {.ctx = m->ctx};
    char(*spelled)[SPELLED] = rb_take(&scratch, m->n, SPELLED);
    const char **text = rb_take(&scratch, m->n, sizeof *text);
    for (int64_t i = 0; i < m->n && !scratch.err; i++) {
        if (!isnan(values[i])) rb_print(spelled[i], SPELLED, "%.15g", values[i]);
        text[i] = spelled[i];
    }
    if (!scratch.err) scratch.err = add_groups(m, name, text);
    return rb_scratch_end(&scratch);
}

static rb_error add_fractions(making *m, const rb_column *c) {
    double *values = rb_alloc(m->ctx, m->n, sizeof *values);
    if (!values) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < m->n; i++)
        values[i] = m->row_of[i] < 0 ? NAN : c->values[m->row_of[i]];
    rb_error err = (is_named(m, c->name) ? spell_groups : add_numbers)(m, c->name, values);
    rb_free(values);
    return err;
}

static rb_error add_column(making *m, const rb_column *c) {
    rb_error err = find_samples(m, c->samples);
    if (err || c->values) return err ? err : add_fractions(m, c);
    const char **text = rb_alloc(m->ctx, m->n, sizeof *text);
    if (!text) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < m->n; i++)
        text[i] = m->row_of[i] < 0 ? "" : c->texts->text[m->row_of[i]];
    err = add_texts(m, c->name, text, c->categorical);
    rb_free(text);
    return err;
}

/* The columns of a list, "batch,age", which is cut. */
static rb_error add_columns(making *m, const char *path, char *list) {
    rb_error err = RB_OK;
    for (char *name = list, *end; name && !err; name = end) {
        end = strchr(name, ',');
        if (end) *end++ = '\0';
        rb_column column = {.name = name};
        err = rb_anndata_any_column(m->ctx, path, &column);
        err = err ? err : add_column(m, &column);
        rb_names_free(column.samples);
        rb_names_free(column.texts);
        rb_free(column.values);
    }
    return err;
}

/* "cells.h5ad:batch,age", of which the first `length` characters name the file; "obs:batch,age". */
static rb_error add_anndata(making *m, int64_t length) {
    int64_t colon = length > 0 ? length : (int64_t)strcspn(m->where, ":");
    if (length == 0 && !m->source->path) {
        return rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                       "covariates %s are columns of the file of the data, but the data are in "
                       "none",
                       m->where);
    }
    char *text = rb_copy_text(m->ctx, m->where);
    if (!text) return RB_ERROR_MEMORY;
    text[colon] = '\0';
    bool any = m->where[colon] != '\0';
    rb_error err = any ? add_columns(m, length > 0 ? text : m->source->path, text + colon + 1)
                       : rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                                 "%s: name columns of its observations after a colon, %s:batch,age",
                                 m->where, m->where);
    rb_free(text);
    return err;
}

/* ---- all of it ---- */

/* Columns that are to be groups must be there. */
static rb_error check_groups(const making *m) {
    size_t from = m->unseen ? strspn(m->unseen, ",") : 0;
    if (!m->unseen || !m->unseen[from]) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                   "`covariate-groups` names '%.*s', but there is no such column in %s",
                   (int)strcspn(m->unseen + from, ","), m->unseen + from, m->where);
}

static rb_error read_any(making *m) {
    const char *format = NULL;
    int64_t length = rb_labels_file(m->where);
    char *path = rb_copy_text(m->ctx, m->where);
    if (!path) return RB_ERROR_MEMORY;
    path[length] = '\0';
    bool anndata = length == 0 || (rb_is_regular(path) && !rb_format_of(m->ctx, path, &format) &&
                                   strcmp(format, "hdf5") == 0);
    rb_free(path);
    rb_error err = anndata ? add_anndata(m, length) : add_text_file(m, length);
    err = err ? err : check_groups(m);
    if (!err && m->table->count == 0)
        err = rb_fail(m->ctx, RB_ERROR_DATA, "%s has no column that can be tested", m->where);
    return err;
}

rb_error rb_covariates_read(rb_context *ctx, const char *where, const char *groups,
                            const rb_source *source, rb_covariates **table) {
    making m = {.ctx = ctx, .where = where, .groups = groups, .source = source};
    m.n = rb_source_samples(source);
    *table = NULL;
    rb_error err = rb_covariates_new(ctx, m.n, &m.table);
    if (err) return err;
    m.row_of = rb_alloc(ctx, m.n, sizeof *m.row_of);
    m.unseen = groups ? rb_copy_text(ctx, groups) : NULL;
    err = m.row_of && (m.unseen || !groups) ? read_any(&m) : RB_ERROR_MEMORY;
    rb_free(m.row_of);
    rb_free(m.unseen);
    if (err)
        rb_covariates_free(m.table);
    else
        *table = m.table;
    return err;
}
