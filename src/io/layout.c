/* What a text table looks like: its delimiter, whether its first row and first column are names.
 *
 * Found out from the first lines, with care: a table of numbers in which one cell is damaged must
 * end in an error, not in a guess that the damaged row or column holds names.
 */
#include "cells.h"

#include <string.h>

enum { SAMPLED = 32 };

rb_error rb_lines_next_filled(rb_context *ctx, rb_lines *lines, char **line, int64_t *length,
                              int64_t *blank) {
    *blank = 0;
    for (;;) {
        *blank += rb_lines_skip_empty(lines);
        rb_error err = rb_lines_next(ctx, lines, line, length);
        if (err || !*line) return err;
        if ((int64_t)strspn(*line, " \t") < *length) return RB_OK;
        ++*blank;
    }
}

/* Gives the first lines that are not blank to a function, with their number, from 0. */
typedef void (*note_fn)(void *arg, int row, char *line, int64_t length);

static rb_error walk(rb_context *ctx, const char *path, note_fn note, void *arg) {
    rb_lines *lines;
    char *line;
    int64_t length, blank;
    rb_error err = rb_lines_open(ctx, path, false, &lines);
    for (int row = 0; !err && row < SAMPLED; row++) {
        err = rb_lines_next_filled(ctx, lines, &line, &length, &blank);
        if (err || !line) break;
        note(arg, row, line, length);
    }
    rb_lines_close(lines);
    return err;
}

/* ---- the delimiter ---- */

/* A character that may separate fields, and what the first lines would look like with it. */
struct candidate {
    char delimiter;
    const char *words;       /* that are missing values */
    int64_t fields[SAMPLED]; /* of each line */
    bool numbers; /* every cell but those of the first row and column is one, or missing */
    bool all;     /* those of the first row and column too */
    bool commas;  /* some of these numbers have a decimal comma, and will be refused */
};

/* The last is for one column. */
static const char delimiters[] = {'\t', ';', ',', ' ', '\0'};
enum { CANDIDATES = sizeof delimiters };

struct candidates {
    struct candidate list[CANDIDATES];
    int lines;
};

static void note_candidate(struct candidate *c, int row, char *line, int64_t length) {
    rb_fields fields = rb_fields_of(line, length, c->delimiter);
    rb_text_field field;
    double value;
    fields.looking = true;
    int64_t count = 0;
    for (; rb_fields_next(&fields, &field); count++) {
        if (rb_cell_read(c->words, field.text, field.length, &value) != RB_CELL_TEXT) continue;
        bool comma = c->delimiter != ',' && rb_decimal_comma(field.text, field.length);
        c->commas = c->commas || comma;
        c->all = c->all && comma;
        c->numbers = c->numbers && (comma || row == 0 || count == 0);
    }
    c->fields[row] = count;
}

static void note_delimiters(void *arg, int row, char *line, int64_t length) {
    struct candidates *candidates = arg;
    for (int c = 0; c < CANDIDATES; c++)
        note_candidate(&candidates->list[c], row, line, length);
    candidates->lines = row + 1;
}

/* How well a candidate explains the lines: 0 when it stands nowhere. A header may have one field
 * fewer than the rows, but a table whose lines are all alike is likelier; most so one of numbers
 * alone, some with decimal commas, which must not be taken for names and numbers: "1 2,5". */
static int rank(const struct candidate *c, int lines) {
    int64_t expected = c->fields[lines - 1];
    bool stands = c->fields[0] > 1, alike = expected > 1;
    for (int i = 1; i < lines; i++) {
        stands = stands || c->fields[i] > 1;
        alike = alike && c->fields[i] == expected;
    }
    if (alike && c->fields[0] == expected) return c->all && c->commas ? 6 : c->numbers ? 5 : 4;
    if (alike && c->fields[0] == expected - 1) return c->numbers ? 3 : 2;
    return stands; /* lines of many lengths: for a message on ragged rows */
}

/* The best, the first among equals; one column when none stands anywhere. */
static rb_error find_delimiter(rb_context *ctx, const char *path, const char *words,
                               struct candidate *found) {
    struct candidates candidates = {.lines = 0};
    int best = 0;
    for (int c = 0; c < CANDIDATES; c++) {
        candidates.list[c] = (struct candidate){
            .delimiter = delimiters[c], .words = words, .numbers = true, .all = true};
    }
    rb_error err = walk(ctx, path, note_delimiters, &candidates);
    if (err || candidates.lines == 0) {
        return err ? err
                   : rb_fail(ctx, RB_ERROR_FORMAT,
                             "%s is empty: there is no line with a value in it", path);
    }
    *found = candidates.list[CANDIDATES - 1];
    for (int c = 0; c < CANDIDATES; c++) {
        int fits = rank(&candidates.list[c], candidates.lines);
        *found = fits > best ? candidates.list[c] : *found;
        best = fits > best ? fits : best;
    }
    return RB_OK;
}

/* ---- names ---- */

/* A cell of the first row, and what stands below it. */
struct column {
    rb_cell first;
    bool first_quoted, first_empty;
    double first_value;
    bool numbers, plain_numbers, texts, blanks, unquoted; /* among the rows below */
    bool commas; /* among them numbers with commas, which are refused where they stand */
};

struct sample {
    const char *words; /* that are missing values */
    char delimiter;
    struct column *columns;
    int64_t first_fields; /* of the first row */
    int64_t fields;       /* of the second row; of the first when it is alone */
    int64_t rows;         /* below the first */
    bool comment;         /* the first row begins with # */
};

static void note_first(const char *words, struct column *column, const rb_text_field *field) {
    column->first = rb_cell_read(words, field->text, field->length, &column->first_value);
    column->first_quoted = field->quoted;
    column->first_empty = field->length == 0;
}

static void note_below(const char *words, struct column *column, const rb_text_field *field) {
    double value;
    rb_cell cell = rb_cell_read(words, field->text, field->length, &value);
    if (rb_decimal_comma(field->text, field->length) || rb_thousands(field->text, field->length)) {
        cell = RB_CELL_NUMBER; /* it is refused where it stands, not taken for a name */
        column->commas = true;
    }
    column->numbers = column->numbers || cell == RB_CELL_NUMBER || cell == RB_CELL_INFINITE;
    column->plain_numbers = column->plain_numbers || (cell == RB_CELL_NUMBER && !field->quoted);
    column->texts = column->texts || cell == RB_CELL_TEXT;
    column->blanks = column->blanks || field->length == 0;
    column->unquoted = column->unquoted || !field->quoted;
}

/* Looks at the fields of one line; `row` 0 is the first. */
static void note_line(void *arg, int row, char *line, int64_t length) {
    struct sample *s = arg;
    rb_text_field field;
    rb_fields fields = rb_fields_of(line, length, s->delimiter);
    int64_t max = row == 0 ? s->first_fields : s->fields;
    s->comment = row == 0 ? *line == '#' : s->comment;
    for (int64_t j = 0; j < max && rb_fields_next(&fields, &field); j++)
        (row == 0 ? note_first : note_below)(s->words, &s->columns[j], &field);
    s->rows = row;
}

/* Does the first row count 0, 1, 2, ... or 1, 2, 3, ... from its second cell on? So a table is
 * written whose columns have no names but whose rows have. */
static bool counts_columns(const struct sample *s) {
    double start = s->first_fields > 1 ? s->columns[1].first_value : -1;
    for (int64_t j = 1; j < s->first_fields; j++)
        if (s->columns[j].first != RB_CELL_NUMBER ||
            s->columns[j].first_value != start + (double)(j - 1))
            return false;
    return s->first_fields > 1 && (start == 0 || start == 1);
}

/* Does the first row lack the field above the names of the rows? A comment may seem to. */
static bool is_shorter(const struct sample *s) {
    return s->rows > 0 && s->first_fields == s->fields - 1 && !s->comment;
}

/* Is the first column text below the first row, without a single number that is not quoted? Or
 * quoted where others are not? */
static bool first_column_is_text(const struct sample *s) {
    const struct column *first = s->columns;
    if (s->fields < 2) return false;
    if (s->rows == 0) return first->first == RB_CELL_TEXT;
    bool others_unquoted = false;
    for (int64_t j = 1; j < s->fields; j++)
        others_unquoted = others_unquoted || s->columns[j].unquoted;
    bool numbers = first->plain_numbers || (first->commas && !first->texts);
    return !numbers && (first->texts || (!first->unquoted && others_unquoted));
}

/* Does the first row hold names? More of its cells above numbers must be text than numbers. */
static bool first_row_is_text(const struct sample *s, bool row_names) {
    int64_t names = 0, values = 0;
    bool shorter = is_shorter(s);
    for (int64_t j = row_names && !shorter; j < s->first_fields; j++) {
        const struct column *below = &s->columns[j + shorter < s->fields ? j + shorter : j];
        const struct column *column = &s->columns[j];
        bool quoted = column->first_quoted && below->unquoted;
        if (quoted || (column->first == RB_CELL_TEXT && (below->numbers || !below->texts)))
            names++;
        else if (column->first == RB_CELL_NUMBER || column->first == RB_CELL_INFINITE)
            values++;
    }
    return shorter ? names > 0 || row_names : names > values;
}

static bool choose(int option, bool guess) {
    return option == RB_READ_AUTO ? guess : option == RB_READ_YES;
}

static void find_names(const struct sample *s, const rb_read_options *options, rb_layout *layout) {
    bool text_column = first_column_is_text(s);
    bool empty_corner = s->rows > 0 && s->first_fields == s->fields && s->fields > 1 &&
                        s->columns[0].first_empty && !s->columns[0].blanks;
    bool counting = empty_corner && counts_columns(s);
    bool shorter = is_shorter(s);
    bool skip = choose(options->row_names, text_column || empty_corner);
    layout->header = choose(options->header, counting || first_row_is_text(s, skip));
    layout->row_names =
        choose(options->row_names, text_column || (layout->header && (empty_corner || shorter)));
    layout->columns = layout->header ? s->fields : s->first_fields;
}

rb_error rb_layout_find(rb_context *ctx, const char *path, const rb_read_options *options,
                        rb_layout *layout) {
    struct candidate found = {0};
    *layout = (rb_layout){0};
    rb_error err = find_delimiter(ctx, path, options->missing_words, &found);
    if (err) return err;
    int64_t first = found.fields[0], second = found.fields[1] > 0 ? found.fields[1] : first;
    struct sample sample = {found.words, found.delimiter, .first_fields = first, .fields = second};
    sample.columns = rb_alloc_zero(ctx, first > second ? first : second, sizeof *sample.columns);
    err = sample.columns ? walk(ctx, path, note_line, &sample) : RB_ERROR_MEMORY;
    if (!err) {
        layout->delimiter = found.delimiter;
        find_names(&sample, options, layout);
    }
    rb_free(sample.columns);
    return err;
}
