/* What the samples of a source have in a table: rows found by name or by position, and columns as
 * classes, covariates, or covariates to regress. */
#include "annotations.h"

#include "cells.h"
#include "hdf5_place.h"

#include <math.h>
#include <string.h>

/* A column as the samples have it. */
typedef struct column {
    const char *name;
    int64_t at;       /* of text, from 0 */
    rb_names *stored; /* of AnnData; else NULL */
    bool categorical;
    bool groups, numbers;   /* what it is said to be */
    const char **text;      /* n: "" where missing */
    double *values;         /* n: NaN where missing or no number */
    int64_t word, infinite; /* samples that have a text, an infinite number; -1: none */
} column;

/* Samples, and the columns that are asked for. */
typedef struct matching {
    rb_context *ctx;
    const rb_annotations *table;
    const rb_source *source;
    int64_t n, found;
    bool header, nameless;
    bool kinds;         /* columns are named with what they are */
    char *memory;       /* of the names asked for */
    char (*called)[24]; /* of columns without a header: their numbers */
    column *columns;
    int64_t count, capacity;
    const char **names; /* of the rows without the header; NULL: by position */
    rb_named *sorted;   /* the same */
    int64_t *row_of;    /* n: -1: nowhere */
} matching;

/* ---- cells ---- */

/* Rows below the header. */
static int64_t rows_of(const matching *m) {
    return m->table->rows - m->header;
}

/* A cell of text, the header among the rows. */
static const char *cell_at(const rb_annotations *t, int64_t row, int64_t at) {
    int64_t index = row * t->width + at - t->shorter;
    return index < 0 ? "" : t->cells->text[index];
}

static const char *value_at(const matching *m, const column *c, int64_t row) {
    return c->stored ? c->stored->text[row] : cell_at(m->table, row + m->header, c->at);
}

/* The error of a cell: "FILE, row 3, column 2: ". */
static rb_error refuse(const matching *m, const column *c, int64_t row, rb_error code,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
static rb_error refuse(const matching *m, const column *c, int64_t row, rb_error code,
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

/* A first line that names a sample is none; of a list, the number of lines says, or its title. */
static bool has_header(const matching *m, const char *asked) {
    const rb_annotations *t = m->table;
    if (!t->cells || t->numbers || t->rows == 0) return false;
    if (t->shorter) return true;
    const char *first = cell_at(t, 0, 0);
    if (t->width == 1) return trim_list(t, m->n) == m->n + 1 || (asked && !strcmp(asked, first));
    for (int64_t i = 0; i < m->n && rb_source_sample_name(m->source, i); i++)
        if (strcmp(first, rb_source_sample_name(m->source, i)) == 0) return false;
    return true;
}

static const char *title_of(const matching *m, int64_t at) {
    return m->header ? cell_at(m->table, 0, at) : m->called[at];
}

/* "sample, batch, age" */
static void join_titles(const matching *m, char *there, size_t size) {
    size_t used = 0;
    for (int64_t at = m->table->shorter; at < m->table->width && used < size; at++) {
        char shown[RB_SHOWN];
        const char *title = title_of(m, at);
        used += (size_t)snprintf(there + used, size - used, "%s%s", used ? ", " : "",
                                 rb_show(title, (int64_t)strlen(title), shown));
    }
}

/* Only columns that are asked for need a name of their own. */
static rb_error check_title(const matching *m, const column *c) {
    if (!*c->name) return refuse(m, c, 0, RB_ERROR_FORMAT, "the column has no name");
    for (int64_t at = c->at + 1; at < m->table->width; at++) {
        if (strcmp(title_of(m, at), c->name) == 0) {
            return refuse(m, &(column){.at = at}, 0, RB_ERROR_FORMAT,
                          "a second column is called '%s'", c->name);
        }
    }
    return RB_OK;
}

/* At c->at, or behind it. */
static rb_error find_column(const matching *m, column *c) {
    char there[240] = "";
    if (!m->table->cells) return RB_OK;
    for (; c->at < m->table->width; c->at++)
        if (strcmp(title_of(m, c->at), c->name) == 0) return check_title(m, c);
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

static rb_error add_column(matching *m, column c) {
    bool twice = false;
    for (int64_t k = 0; k < m->count; k++)
        twice = twice || strcmp(m->columns[k].name, c.name) == 0;
    if (twice) return rb_fail(m->ctx, RB_ERROR_ARGUMENT, "column '%s' is asked for twice", c.name);
    column *columns = rb_reserve(m->ctx, m->columns, m->count, 1, &m->capacity, sizeof *m->columns);
    if (!columns) return RB_ERROR_MEMORY;
    m->columns = columns;
    columns[m->count] = c;
    return find_column(m, &columns[m->count++]);
}

/* Those of a list, "batch,age" or "batch:groups,age:numbers". */
static rb_error take_named(matching *m, const char *list) {
    m->memory = rb_copy_text(m->ctx, list);
    rb_error err = m->memory ? RB_OK : RB_ERROR_MEMORY;
    for (char *name = m->memory, *next; name && !err; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        column c = {.name = name, .at = m->table->shorter};
        c.groups = m->kinds && cut_off(name, ":groups");
        c.numbers = m->kinds && !c.groups && cut_off(name, ":numbers");
        err = add_column(m, c);
    }
    return err;
}

static rb_error take_all(matching *m) {
    rb_error err = RB_OK;
    for (int64_t at = m->table->width > 1; !err && at < m->table->width; at++)
        err = add_column(m, (column){.name = title_of(m, at), .at = at});
    return err;
}

static rb_error read_stored(const matching *m, column *c) {
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
static rb_error name_columns(matching *m) {
    m->columns = rb_alloc_zero(m->ctx, 1, sizeof *m->columns);
    return m->columns ? read_stored(m, m->columns) : RB_ERROR_MEMORY;
}

/* The second column, or the only one. Which was taken is not plain where there are others. */
static rb_error take_class(matching *m) {
    const rb_annotations *t = m->table;
    if (t->width > 2) {
        rb_log(m->ctx, RB_LOG_INFO,
               "%s has %lld columns, and the classes are those of the second, '%s'; for another, "
               "say %s:COLUMN",
               t->path, (long long)t->width, title_of(m, 1), t->path);
    }
    int64_t at = t->width > 1;
    return add_column(m, (column){.name = title_of(m, at), .at = at});
}

/* ---- rows and samples ---- */

static rb_error match_positions(matching *m) {
    const rb_annotations *t = m->table;
    bool list = t->cells && t->width == 1;
    int64_t rows = (list ? trim_list(t, m->n) : t->rows) - m->header;
    const char *why = m->nameless ? "it has no sample names" : "the data have no sample names";
    if (rows != m->n) {
        return rb_fail(m->ctx, RB_ERROR_DATA,
                       "%s has %lld rows for %lld samples, and they can only be taken by position, "
                       "since %s; give a row for each sample, or names on both sides",
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
static bool in_order(matching *m) {
    bool same = rows_of(m) == m->n;
    for (int64_t i = 0; same && i < m->n; i++)
        same = strcmp(m->names[i], rb_source_sample_name(m->source, i)) == 0;
    for (int64_t i = 0; same && i < m->n; i++)
        m->row_of[i] = i;
    m->found = same ? m->n : 0;
    return same;
}

static rb_error match_names(matching *m) {
    int64_t rows = rows_of(m);
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
                   "%s has none of the samples of the data: the first of the data is '%s', its own "
                   "first is '%s'",
                   m->table->path, m->n > 0 ? rb_source_sample_name(m->source, 0) : "",
                   rows > 0 ? m->names[0] : "");
}

static rb_error match_samples(matching *m) {
    const rb_annotations *t = m->table;
    bool named = m->n == 0 || rb_source_sample_name(m->source, 0);
    m->row_of = rb_alloc(m->ctx, m->n, sizeof *m->row_of);
    if (!m->row_of) return RB_ERROR_MEMORY;
    for (int64_t c = 0; t->cells && c < m->count; c++)
        m->nameless = m->nameless || m->columns[c].at == 0;
    if (!named || m->nameless) return match_positions(m);
    m->names = rb_alloc(m->ctx, rows_of(m), sizeof *m->names);
    if (!m->names) return RB_ERROR_MEMORY;
    for (int64_t r = 0; r < rows_of(m); r++)
        m->names[r] = t->names ? t->names->text[r] : cell_at(t, r + m->header, 0);
    return m->n > 0 && in_order(m) ? RB_OK : match_names(m);
}

/* ---- values ---- */

/* Rows of one name must say the same, where a sample of the data has that name. */
static rb_error check_doubles(const matching *m, const column *c) {
    for (int64_t i = 0; m->sorted && i < m->n; i++) {
        if (m->row_of[i] < 0) continue;
        const char *name = m->names[m->row_of[i]], *first = value_at(m, c, m->row_of[i]);
        int64_t at = rb_names_find(m->sorted, rows_of(m), name);
        while (++at < rows_of(m) && strcmp(m->sorted[at].text, name) == 0) {
            int64_t row = m->sorted[at].index;
            if (strcmp(value_at(m, c, row), first) == 0) continue;
            return refuse(m, c, row + m->header, RB_ERROR_DATA,
                          "sample '%s' has '%s' in column '%s', but '%s' before", name,
                          value_at(m, c, row), c->name, first);
        }
    }
    return RB_OK;
}

static rb_error read_column(const matching *m, column *c) {
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

static bool is_groups(const column *c) {
    return c->groups || (!c->numbers && (c->categorical || c->word >= 0));
}

static rb_error check_numbers(const matching *m, const column *c) {
    int64_t i = c->word >= 0 ? c->word : c->infinite;
    return i < 0 ? RB_OK
                 : refuse(m, c, m->row_of[i] + m->header, RB_ERROR_DATA,
                          "'%.80s' of '%.80s' is %s; if it names a group, say %s%s", c->text[i],
                          c->name, i == c->word ? "no number" : "infinite",
                          m->kinds ? c->name : "so with `covariate-groups`",
                          m->kinds ? ":groups" : "");
}

/* ---- all of it ---- */

static void clear_column(column *c) {
    rb_names_free(c->stored);
    rb_free(c->text);
    rb_free(c->values);
    *c = (column){.name = c->name};
}

static rb_error begin(matching *m, const char *asked) {
    const rb_annotations *t = m->table;
    m->n = rb_source_samples(m->source);
    m->header = has_header(m, asked);
    m->called = rb_alloc(m->ctx, t->width, sizeof *m->called);
    for (int64_t at = 0; m->called && at < t->width; at++)
        snprintf(m->called[at], sizeof *m->called, "%lld", (long long)at + 1);
    return !m->called ? RB_ERROR_MEMORY : t->file && !asked ? name_columns(m) : RB_OK;
}

static rb_error end(matching *m, rb_error err) {
    for (int64_t c = 0; c < m->count; c++)
        clear_column(&m->columns[c]);
    rb_free(m->columns);
    rb_free(m->memory);
    rb_free(m->called);
    rb_free(m->names);
    rb_free(m->sorted);
    rb_free(m->row_of);
    return err;
}

/* ---- classes ---- */

/* Measurements make a class of nearly every sample. Few whole numbers may be labels. */
static rb_error refuse_measurements(const matching *m, const rb_labels *labels) {
    enum { FEW = 10 };
    int64_t count = labels->classes->count;
    bool whole = true;
    for (int64_t c = 0; c < count; c++) {
        const char *text = labels->classes->text[c];
        double value;
        if (rb_cell_read(NULL, text, (int64_t)strlen(text), &value) != RB_CELL_NUMBER) return RB_OK;
        whole = whole && value == floor(value);
    }
    if (2 * count <= labels->n_labelled || count < 3 || (whole && count <= FEW)) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_DATA,
                   "column '%s' of %s holds %lld different numbers in %lld samples, which are no "
                   "classes; give a column of classes, or test these as covariates",
                   m->columns->name, m->table->path, (long long)count,
                   (long long)labels->n_labelled);
}

static rb_error check_classes(const matching *m, const rb_labels *labels) {
    rb_error err = refuse_measurements(m, labels);
    if (!err && labels->n_labelled == 0)
        return rb_fail(m->ctx, RB_ERROR_DATA, "%s gives no sample a class", m->table->path);
    if (!err && labels->n_labelled < m->n) {
        rb_log(m->ctx, RB_LOG_INFO, "%s gives %lld of the %lld samples a class", m->table->path,
               (long long)labels->n_labelled, (long long)m->n);
    }
    return err;
}

static rb_error find_labels(rb_context *ctx, const rb_annotations *table, const char *name,
                            const rb_source *source, rb_labels *labels) {
    matching m = {.ctx = ctx, .table = table, .source = source};
    *labels = (rb_labels){0};
    rb_error err = begin(&m, name);
    if (!err)
        err = name ? add_column(&m, (column){.name = name, .at = table->shorter}) : take_class(&m);
    err = err ? err : match_samples(&m);
    err = err ? err : read_column(&m, m.columns);
    err = err ? err : rb_labels_of(ctx, m.columns->text, m.n, labels);
    err = err ? err : check_classes(&m, labels);
    if (err) rb_labels_clear(labels);
    return end(&m, err);
}

rb_error rb_annotations_classes(rb_context *ctx, const rb_annotations *table, const char *name,
                                const rb_source *source, rb_classes *classes) {
    rb_labels labels;
    rb_error err = rb_size_check(ctx, "the classes", classes->size, sizeof *classes);
    err = err ? err : find_labels(ctx, table, name, source, &labels);
    if (err) return err;
    *classes = (rb_classes){.size = sizeof *classes,
                            .n_samples = labels.n_samples,
                            .n_labelled = labels.n_labelled,
                            .n_classes = labels.classes->count,
                            .class_of = labels.class_of,
                            .names = (const char *const *)labels.classes->text,
                            .text = labels.classes};
    return RB_OK;
}

/* ---- covariates ---- */

static void leave_out(const matching *m, const column *c, const char *why) {
    rb_log(m->ctx, RB_LOG_WARNING, "column '%s' of %s is left out: %s", c->name, m->table->path,
           why);
}

/* Whole numbers of few values may be names of groups. */
static void warn_of_codes(const matching *m, const column *c) {
    enum { MANY = 10 };
    double seen[MANY];
    int64_t count = 0, there = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t k = 0;
        double value = c->values[i];
        if (isnan(value)) continue;
        there++;
        while (k < count && seen[k] != value)
            k++;
        if (value != floor(value) || (k == count && count == MANY)) return;
        if (k == count) seen[count++] = value;
    }
    if (count > 2 && there > 3 * count) {
        rb_log(m->ctx, RB_LOG_INFO,
               "column '%s' of %s has %lld different whole numbers, and is taken as numbers; name "
               "it in `covariate-groups` if they stand for groups",
               c->name, m->table->path, (long long)count);
    }
}

/* Groups that are as many as samples are names of these. */
static rb_error add_groups(const matching *m, const column *c, rb_covariates *to) {
    rb_labels labels;
    rb_error err = rb_labels_of(m->ctx, c->text, m->n, &labels);
    if (err) return err;
    bool different = labels.n_labelled > 1 && labels.classes->count == labels.n_labelled;
    rb_labels_clear(&labels);
    if (!different) return rb_covariates_add_groups(m->ctx, to, c->name, c->text);
    leave_out(m, c, "its text is another in each sample");
    return RB_OK;
}

static rb_error add_covariate(const matching *m, column *c, rb_covariates *to) {
    rb_error err = read_column(m, c);
    int64_t i = 0;
    while (!err && i < m->n && !*c->text[i])
        i++;
    if (!err && i == m->n) {
        leave_out(m, c, "no sample has a value");
    } else if (!err && is_groups(c)) {
        err = add_groups(m, c, to);
    } else if (!err) {
        warn_of_codes(m, c);
        err = check_numbers(m, c);
        err = err ? err : rb_covariates_add_numbers(m->ctx, to, c->name, c->values);
    }
    clear_column(c);
    return err;
}

/* Those of "batch,plate" are groups, whatever they hold. */
static rb_error mark_groups(matching *m, const char *groups) {
    for (const char *word = groups; word && *word; word += *word == ',') {
        size_t length = strcspn(word, ",");
        bool there = length == 0;
        for (int64_t c = 0; c < m->count; c++) {
            const char *name = m->columns[c].name;
            bool same = strlen(name) == length && memcmp(name, word, length) == 0;
            m->columns[c].groups = m->columns[c].groups || same;
            there = there || same;
        }
        if (!there) {
            return rb_fail(m->ctx, RB_ERROR_ARGUMENT,
                           "`covariate-groups` names '%.*s', but there is no such column in %s",
                           (int)length, word, m->table->path);
        }
        word += length;
    }
    return RB_OK;
}

static rb_error fill_covariates(matching *m, rb_covariates *to) {
    if (m->found < m->n) {
        rb_log(m->ctx, RB_LOG_INFO, "%s has %lld of the %lld samples", m->table->path,
               (long long)m->found, (long long)m->n);
    }
    rb_error err = RB_OK;
    for (int64_t c = 0; !err && c < m->count; c++)
        err = add_covariate(m, &m->columns[c], to);
    return err || to->count > 0 ? err
                                : rb_fail(m->ctx, RB_ERROR_DATA,
                                          "%s has no column that can be tested", m->table->path);
}

rb_error rb_annotations_covariates(rb_context *ctx, const rb_annotations *table,
                                   const char *columns, const char *groups, const rb_source *source,
                                   rb_covariates **covariates) {
    matching m = {.ctx = ctx, .table = table, .source = source};
    *covariates = NULL;
    rb_error err = begin(&m, columns);
    if (!err) err = columns ? take_named(&m, columns) : take_all(&m);
    err = err ? err : mark_groups(&m, groups);
    err = err ? err : match_samples(&m);
    err = err ? err : rb_covariates_new(ctx, m.n, covariates);
    err = err ? err : fill_covariates(&m, *covariates);
    if (err) {
        rb_covariates_free(*covariates);
        *covariates = NULL;
    }
    return end(&m, err);
}

/* ---- covariates to regress ---- */

static rb_error bind(const matching *m, column *c, rb_source *source) {
    rb_error err = read_column(m, c);
    if (!err && is_groups(c)) {
        err = rb_source_set_groups(m->ctx, source, c->name, c->text, m->n);
    } else if (!err) {
        err = check_numbers(m, c);
        err = err ? err : rb_source_set_numbers(m->ctx, source, c->name, c->values, m->n);
    }
    clear_column(c);
    return err;
}

rb_error rb_annotations_bind(rb_context *ctx, const rb_annotations *table, const char *columns,
                             rb_source *source) {
    matching m = {.ctx = ctx, .table = table, .source = source, .kinds = true};
    rb_error err = begin(&m, columns);
    err = err ? err : take_named(&m, columns);
    err = err ? err : match_samples(&m);
    for (int64_t c = 0; !err && c < m.count; c++)
        err = bind(&m, &m.columns[c], source);
    return end(&m, err);
}

/* ---- the same for who needs a table once ---- */

rb_error rb_labels_read(rb_context *ctx, const char *where, const rb_source *source,
                        rb_labels *labels) {
    rb_annotations *table;
    *labels = (rb_labels){0};
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err : find_labels(ctx, table, rb_annotations_columns(where), source, labels);
    rb_annotations_free(table);
    return err;
}

rb_error rb_classes_read(rb_context *ctx, const char *where, const rb_source *source,
                         rb_classes *classes) {
    rb_annotations *table;
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err
              : rb_annotations_classes(ctx, table, rb_annotations_columns(where), source, classes);
    rb_annotations_free(table);
    return err;
}

rb_error rb_covariates_read(rb_context *ctx, const char *where, const char *groups,
                            const rb_source *source, rb_covariates **covariates) {
    rb_annotations *table;
    *covariates = NULL;
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err
              : rb_annotations_covariates(ctx, table, rb_annotations_columns(where), groups, source,
                                          covariates);
    rb_annotations_free(table);
    return err;
}

rb_error rb_source_read_covariates(rb_context *ctx, rb_source *source, const char *where,
                                   const char *columns) {
    rb_annotations *table;
    rb_error err = rb_annotations_read(ctx, where, source, &table);
    err = err ? err : rb_annotations_bind(ctx, table, columns, source);
    rb_annotations_free(table);
    return err;
}
