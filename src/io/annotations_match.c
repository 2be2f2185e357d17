/* The samples of a source in a table: rows found by name or by position, and the columns that are
 * asked for. */
#include "annotations.h"

#include "cells.h"
#include "hdf5_base.h"

#include <math.h>
#include <string.h>

/* ---- cells ---- */

int64_t rb_matching_rows(const rb_matching *m) {
    return m->table->rows - m->header;
}

/* A cell of text, the header among the rows. */
static const char *cell_at(const rb_annotations *t, int64_t row, int64_t at) {
    int64_t index = row * t->width + at - t->shorter;
    return index < 0 ? "" : t->cells->text[index];
}

static const char *value_at(const rb_matching *m, const rb_matched *c, int64_t row) {
    return c->stored ? c->stored->text[row] : cell_at(m->table, row + m->header, c->at);
}

/* The error of a cell: "FILE, row 3, column 2: ". */
static rb_error refuse(const rb_matching *m, const rb_matched *c, int64_t row, rb_error code,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
static rb_error refuse(const rb_matching *m, const rb_matched *c, int64_t row, rb_error code,
                       const char *format, ...) {
    const rb_annotations *t = m->table;
    char what[512], where[64] = "";
    va_list list;
    va_start(list, format);
    rb_print_list(what, sizeof what, format, list);
    va_end(list);
    if (t->lines)
        snprintf(where, sizeof where, ", row %lld, column %lld", (long long)t->lines[row],
                 (long long)(c->at + 1 - (t->shorter && row == 0)));
    else if (t->names)
        snprintf(where, sizeof where, ", observation '%.40s'", t->names->text[row]);
    else
        snprintf(where, sizeof where, ", value %lld (counted from 1)", (long long)row + 1);
    return rb_fail(m->ctx, code, "%s%s: %s", t->path, where, what);
}

/* ---- the header ---- */

/* Without empty lines at the end, more than there are samples and a header. */
static int64_t trim_list(const rb_annotations *t, int64_t n) {
    int64_t rows = t->rows;
    while (!t->numbers && rows > n + 1 && !*cell_at(t, rows - 1, 0))
        rows--;
    return rows;
}

/* Is it the first of "class", "class:groups"? */
static bool is_asked(const char *asked, const char *title) {
    size_t length = strlen(title);
    return asked && length > 0 && strncmp(asked, title, length) == 0 &&
           (asked[length] == '\0' || asked[length] == ':');
}

/* A first line that names a sample is none; of a list, the number of lines says, or its title. */
static bool has_header(const rb_matching *m, const char *asked) {
    const rb_annotations *t = m->table;
    if (!t->cells || t->numbers || t->rows == 0) return false;
    if (t->shorter) return true;
    const char *first = cell_at(t, 0, 0);
    if (t->width == 1) return trim_list(t, m->n) == m->n + 1 || is_asked(asked, first);
    for (int64_t i = 0; i < m->n && rb_source_sample_name(m->source, i); i++)
        if (strcmp(first, rb_source_sample_name(m->source, i)) == 0) return false;
    return true;
}

const char *rb_matching_title(const rb_matching *m, int64_t at) {
    return m->header ? cell_at(m->table, 0, at) : m->called[at];
}

/* "sample, batch, age" */
static void join_titles(const rb_matching *m, char *there, size_t size) {
    size_t used = 0;
    for (int64_t at = m->table->shorter; at < m->table->width && used < size; at++) {
        char shown[RB_SHOWN];
        const char *title = rb_matching_title(m, at);
        used += (size_t)snprintf(there + used, size - used, "%s%s", used ? ", " : "",
                                 rb_show(title, (int64_t)strlen(title), shown));
    }
}

/* Only columns that are asked for need a name of their own. */
static rb_error check_title(const rb_matching *m, const rb_matched *c) {
    if (!*c->name) return refuse(m, c, 0, RB_ERROR_FORMAT, "the column has no name");
    for (int64_t at = c->at + 1; at < m->table->width; at++) {
        if (strcmp(rb_matching_title(m, at), c->name) == 0) {
            return refuse(m, &(rb_matched){.at = at}, 0, RB_ERROR_FORMAT,
                          "a second column is called '%s'", c->name);
        }
    }
    return RB_OK;
}

/* At c->at, or behind it. */
static rb_error find_column(const rb_matching *m, rb_matched *c) {
    char there[240] = "";
    if (!m->table->cells) return RB_OK;
    for (; c->at < m->table->width; c->at++)
        if (strcmp(rb_matching_title(m, c->at), c->name) == 0) return check_title(m, c);
    join_titles(m, there, sizeof there);
    return rb_fail(m->ctx, RB_ERROR_ARGUMENT, "%s has no column '%s'; its columns are: %s",
                   m->table->path, c->name, there);
}

/* ---- which columns are asked for ---- */

static bool cut_off(char *name, const char *kind) {
    char *colon = strrchr(name, ':');
    bool is = colon && strcmp(colon, kind) == 0;
    if (is) *colon = '\0';
    return is;
}

rb_error rb_matching_add(rb_matching *m, rb_matched c) {
    bool twice = false;
    for (int64_t k = 0; k < m->count; k++)
        twice = twice || strcmp(m->columns[k].name, c.name) == 0;
    if (twice) return rb_fail(m->ctx, RB_ERROR_ARGUMENT, "column '%s' is asked for twice", c.name);
    rb_matched *columns =
        rb_reserve(m->ctx, m->columns, m->count, 1, &m->capacity, sizeof *m->columns);
    if (!columns) return RB_ERROR_MEMORY;
    m->columns = columns;
    columns[m->count] = c;
    return find_column(m, &columns[m->count++]);
}

/* Those of a list, "batch,age" or "batch:groups,age:numbers". */
rb_error rb_matching_add_named(rb_matching *m, const char *list) {
    m->memory = rb_copy_text(m->ctx, list);
    rb_error err = m->memory ? RB_OK : RB_ERROR_MEMORY;
    for (char *name = m->memory, *next; name && !err; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        rb_matched c = {.name = name, .at = m->table->shorter};
        c.groups = m->kinds && cut_off(name, ":groups");
        c.numbers = m->kinds && !c.groups && cut_off(name, ":numbers");
        err = rb_matching_add(m, c);
    }
    return err;
}

rb_error rb_matching_add_all(rb_matching *m) {
    rb_error err = RB_OK;
    for (int64_t at = m->table->width > 1; !err && at < m->table->width; at++)
        err = rb_matching_add(m, (rb_matched){.name = rb_matching_title(m, at), .at = at});
    return err;
}

static rb_error read_stored(const rb_matching *m, rb_matched *c) {
    rb_reading memory;
    rb_annotations *t = (rb_annotations *)m->table;
    rb_reading_begin(m->ctx, &memory, t->path);
    rb_h5_hold(t->file, m->ctx);
    rb_error err = rb_anndata_column(t->file, c->name, t->rows, &c->stored, &c->categorical);
    rb_h5_let_go(t->file);
    rb_reading_end(m->ctx);
    return err;
}

/* AnnData: a message with the columns that there are. */
static rb_error name_columns(rb_matching *m) {
    m->columns = rb_alloc_zero(m->ctx, 1, sizeof *m->columns);
    return m->columns ? read_stored(m, m->columns) : RB_ERROR_MEMORY;
}

/* ---- rows and samples ---- */

static rb_error match_positions(rb_matching *m) {
    const rb_annotations *t = m->table;
    bool list = t->cells && t->width == 1;
    int64_t rows = (list ? trim_list(t, m->n) : t->rows) - m->header;
    const char *why = m->nameless ? "it has no sample names" : "the data have no sample names";
    if (rows != m->n) {
        return rb_fail(m->ctx, RB_ERROR_DATA,
                       "%s has %lld rows for %lld samples, and can only be matched by position, "
                       "since %s; give one row per sample, or sample names on both sides",
                       t->path, (long long)rows, (long long)m->n, why);
    }
    rb_log(m->ctx, RB_LOG_INFO, "the rows of %s are taken by position, since %s%s", t->path, why,
           m->header ? "; the first line is taken as a header" : "");
    for (int64_t i = 0; i < m->n; i++)
        m->row_of[i] = i;
    m->found = m->n;
    return RB_OK;
}

/* Are the rows the samples of the source, in their order? Names may stand twice then. */
static bool in_order(rb_matching *m) {
    bool same = rb_matching_rows(m) == m->n;
    for (int64_t i = 0; same && i < m->n; i++)
        same = strcmp(m->names[i], rb_source_sample_name(m->source, i)) == 0;
    for (int64_t i = 0; same && i < m->n; i++)
        m->row_of[i] = i;
    m->found = same ? m->n : 0;
    return same;
}

static rb_error match_names(rb_matching *m) {
    int64_t rows = rb_matching_rows(m);
    const rb_names names = {rows, (char **)m->names};
    m->sorted = rb_names_sort(m->ctx, &names);
    if (!m->sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t at = rb_names_find(m->sorted, rows, rb_source_sample_name(m->source, i));
        m->row_of[i] = at < 0 ? -1 : m->sorted[at].index;
        m->found += at >= 0;
    }
    if (m->found > 0) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_DATA,
                   "%s has none of the samples of the data: the first is '%s' in the data, and "
                   "'%s' in the table",
                   m->table->path, m->n > 0 ? rb_source_sample_name(m->source, 0) : "",
                   rows > 0 ? m->names[0] : "");
}

static bool is_sample(const rb_matching *m, const char *text) {
    for (int64_t i = 0; i < m->n; i++)
        if (strcmp(rb_source_sample_name(m->source, i), text) == 0) return true;
    return false;
}

/* Do the first rows have a sample's name there, and none of them twice? */
static bool has_names(const rb_matching *m, int64_t at) {
    enum { LOOKED = 20 };
    bool any = false;
    for (int64_t r = 0; r < rb_matching_rows(m) && r < LOOKED; r++) {
        const char *text = cell_at(m->table, r + m->header, at);
        for (int64_t other = 0; other < r; other++)
            if (strcmp(cell_at(m->table, other + m->header, at), text) == 0) return false;
        any = any || is_sample(m, text);
    }
    return any;
}

/* The column of names where the first one is asked for; -1: none. */
static int64_t find_names(const rb_matching *m) {
    const rb_annotations *t = m->table;
    for (int64_t at = 0; at < t->width && t->width > 1 && !t->numbers; at++)
        if (has_names(m, at)) return at;
    return -1;
}

rb_error rb_matching_find(rb_matching *m) {
    const rb_annotations *t = m->table;
    bool named = m->n == 0 || rb_source_sample_name(m->source, 0);
    int64_t of_names = 0;
    m->row_of = rb_alloc(m->ctx, m->n, sizeof *m->row_of);
    if (!m->row_of) return RB_ERROR_MEMORY;
    for (int64_t c = 0; t->cells && c < m->count; c++)
        m->nameless = m->nameless || m->columns[c].at == 0;
    if (named && m->nameless) {
        of_names = find_names(m);
        m->nameless = of_names < 0;
    }
    if (!named || m->nameless) return match_positions(m);
    m->names = rb_alloc(m->ctx, rb_matching_rows(m), sizeof *m->names);
    if (!m->names) return RB_ERROR_MEMORY;
    for (int64_t r = 0; r < rb_matching_rows(m); r++)
        m->names[r] = t->names ? t->names->text[r] : cell_at(t, r + m->header, of_names);
    return m->n > 0 && in_order(m) ? RB_OK : match_names(m);
}

/* ---- values ---- */

/* Rows of one name must say the same, where a sample of the data has that name. */
static rb_error check_doubles(const rb_matching *m, const rb_matched *c) {
    for (int64_t i = 0; m->sorted && i < m->n; i++) {
        if (m->row_of[i] < 0) continue;
        const char *name = m->names[m->row_of[i]], *first = value_at(m, c, m->row_of[i]);
        int64_t at = rb_names_find(m->sorted, rb_matching_rows(m), name);
        while (++at < rb_matching_rows(m) && strcmp(m->sorted[at].text, name) == 0) {
            int64_t row = m->sorted[at].index;
            if (strcmp(value_at(m, c, row), first) == 0) continue;
            return refuse(m, c, row + m->header, RB_ERROR_DATA,
                          "sample '%s' has '%s' in column '%s', but '%s' before", name,
                          value_at(m, c, row), c->name, first);
        }
    }
    return RB_OK;
}

rb_error rb_matching_read(const rb_matching *m, rb_matched *c) {
    rb_error err = m->table->file ? read_stored(m, c) : RB_OK;
    err = err ? err : check_doubles(m, c);
    if (err) return err;
    c->text = rb_alloc(m->ctx, m->n, sizeof *c->text);
    c->values = rb_alloc(m->ctx, m->n, sizeof *c->values);
    if (!c->text || !c->values) return RB_ERROR_MEMORY;
    c->word = c->infinite = -1;
    for (int64_t i = 0; i < m->n; i++) {
        const char *text = m->row_of[i] < 0 ? "" : value_at(m, c, m->row_of[i]);
        rb_cell cell = rb_cell_read(NULL, text, (int64_t)strlen(text), &c->values[i]);
        c->text[i] = cell == RB_CELL_MISSING ? "" : text;
        if (cell == RB_CELL_TEXT && c->word < 0) c->word = i;
        if (cell == RB_CELL_INFINITE && c->infinite < 0) c->infinite = i;
    }
    return RB_OK;
}

const char *rb_matching_text(const rb_matching *m, const rb_matched *c, int64_t row) {
    double value;
    const char *text = value_at(m, c, row);
    bool missing = rb_cell_read(NULL, text, (int64_t)strlen(text), &value) == RB_CELL_MISSING;
    return missing ? "" : text;
}

bool rb_matched_is_groups(const rb_matched *c) {
    return c->groups || (!c->numbers && (c->categorical || c->word >= 0));
}

/* The first number with a comma, where a column holds numbers and such alone; -1: none. */
static int64_t find_comma(const rb_matching *m, const rb_matched *c) {
    int64_t first = -1;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t length = (int64_t)strlen(c->text[i]);
        if (length == 0 || isfinite(c->values[i])) continue;
        if (!rb_decimal_comma(c->text[i], length) && !rb_thousands(c->text[i], length)) return -1;
        first = first < 0 ? i : first;
    }
    return first;
}

rb_error rb_matched_check(const rb_matching *m, const rb_matched *c) {
    int64_t comma = c->groups || c->categorical ? -1 : find_comma(m, c);
    int64_t i = comma >= 0 ? comma : c->word >= 0 ? c->word : c->infinite;
    if (i < 0 || (comma < 0 && rb_matched_is_groups(c))) return RB_OK;
    return refuse(m, c, m->row_of[i] + m->header, RB_ERROR_DATA,
                  "'%.80s' of '%.80s' %s; if it names a group, say %s%s", c->text[i], c->name,
                  comma >= 0     ? "has a comma; write numbers with a decimal point and no commas"
                  : i == c->word ? "is not a number"
                                 : "is infinite",
                  m->kinds ? c->name : "so with `covariate-groups`", m->kinds ? ":groups" : "");
}

/* ---- all of it ---- */

void rb_matched_clear(rb_matched *c) {
    rb_names_free(c->stored);
    rb_free(c->text);
    rb_free(c->values);
    *c = (rb_matched){.name = c->name};
}

rb_error rb_matching_begin(rb_matching *m, const char *asked) {
    const rb_annotations *t = m->table;
    m->n = rb_source_samples(m->source);
    m->header = has_header(m, asked);
    m->called = rb_alloc(m->ctx, t->width, sizeof *m->called);
    for (int64_t at = 0; m->called && at < t->width; at++)
        snprintf(m->called[at], sizeof *m->called, "%lld", (long long)at + 1);
    return !m->called ? RB_ERROR_MEMORY : t->file && !asked ? name_columns(m) : RB_OK;
}

rb_error rb_matching_end(rb_matching *m, rb_error err) {
    for (int64_t c = 0; c < m->count; c++)
        rb_matched_clear(&m->columns[c]);
    rb_free(m->columns);
    rb_free(m->memory);
    rb_free(m->called);
    rb_free(m->names);
    rb_free(m->sorted);
    rb_free(m->row_of);
    return err;
}
