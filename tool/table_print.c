/* Tables of the library at the terminal. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_FEATURES = 5, SHOWN_FEATURE = 23, SHOWN_TEXT = 48 };

/* A text, at a terminal no more of it than so many bytes; a file or a pipe gets all of it. */
static void put_fitting(FILE *to, const char *text, size_t most) {
    size_t kept = most - strlen("...");
    if (strlen(text) <= most || !isatty(STDOUT_FILENO)) {
        fputs(text, to);
        return;
    }
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--; /* not inside a character */
    fprintf(to, "%.*s...", (int)kept, text);
}

static void put_feature(FILE *to, const rb_model *model, int64_t feature, bool first) {
    const char *name = rb_model_feature_name(model, feature);
    fputs(first ? "" : " ", to);
    if (name)
        put_fitting(to, name, SHOWN_FEATURE);
    else
        fprintf(to, "%lld", (long long)rb_model_feature_index(model, feature));
}

/* The heaviest of one sign. */
static void put_members(FILE *to, const rb_model *model, const rb_value *v) {
    int shown = 0;
    for (int64_t i = 0; i < v->integer && shown < SHOWN_FEATURES; i++)
        if ((v->members[i].weight > 0) == v->above)
            put_feature(to, model, v->members[i].index, shown++ == 0);
    if (shown == 0) putc('-', to);
}

static void put_features(FILE *to, const rb_model *model, const rb_value *v) {
    for (int64_t i = 0; i < v->integer && i < SHOWN_FEATURES; i++)
        put_feature(to, model, v->features[i], i == 0);
    if (v->integer > SHOWN_FEATURES) fputs(" ...", to);
}

/* A probability that may be too small for a number: "3e-420", of its decimal logarithm. */
static void put_chance(FILE *to, const char *format, const rb_value *v) {
    double whole = floor(v->log10);
    if (v->log10 < -300 && isfinite(v->log10))
        fprintf(to, "%.1fe%.0f", pow(10, v->log10 - whole), whole);
    else
        fprintf(to, format, v->number);
}

/* A number that is 0 as it is shown has no sign: -0.04 by "%.1f". */
static void put_number(FILE *to, const char *format, double number) {
    char text[64];
    snprintf(text, sizeof text, format, number);
    bool zero = strspn(text, "-0.") == strlen(text);
    fputs(zero && *text == '-' ? text + 1 : text, to);
}

static void put_value(FILE *to, const rb_model *model, const char *format, const rb_value *v) {
    if (*v->shown)
        fputs(v->shown, to);
    else if (v->kind == RB_VALUE_INTEGER)
        fprintf(to, "%lld", (long long)v->integer);
    else if (v->kind == RB_VALUE_TEXT)
        put_fitting(to, v->text, SHOWN_TEXT);
    else if (v->kind == RB_VALUE_SHARE)
        put_number(to, "%.1f", 100 * v->number);
    else if (v->kind == RB_VALUE_NUMBER)
        put_number(to, format, v->number);
    else if (v->kind == RB_VALUE_CHANCE)
        put_chance(to, format, v);
    else if (v->kind == RB_VALUE_FEATURES)
        put_features(to, model, v);
    else if (v->kind == RB_VALUE_MEMBERS)
        put_members(to, model, v);
    else
        putc('-', to);
}

/* The text of a cell, to be freed; row -1: the title. NULL when memory is out. */
static char *cell_text(const table_view *view, const rb_table_column *column, int64_t row) {
    char *text = NULL;
    size_t size;
    if (row < 0) return strdup(column->title);
    FILE *to = open_memstream(&text, &size);
    rb_value v = rb_table_value(&view->table, row, column);
    if (to) put_value(to, view->model, column->format, &v);
    if (to && fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* Characters of a text in UTF-8. */
static int width_of(const char *text) {
    int width = 0;
    for (; text && *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static bool is_number(const rb_table_column *column) {
    return column->kind == RB_VALUE_INTEGER || column->kind == RB_VALUE_NUMBER ||
           column->kind == RB_VALUE_SHARE || column->kind == RB_VALUE_CHANCE;
}

/* A line of cells, of which those of numbers but the first end together; blanks at its end are
 * left out. */
static void print_line(char *const *cells, const rb_table_column *const *columns, const int *widths,
                       int count) {
    int blanks = 0;
    for (int c = 0; c < count; c++) {
        int left = widths[c] - width_of(cells[c]);
        if (c > 0 && is_number(columns[c])) blanks += left;
        if (width_of(cells[c]) > 0) {
            printf("%*s%s", blanks, "", cells[c]);
            blanks = 0;
        }
        blanks += c > 0 && is_number(columns[c]) ? 2 : left + 2;
    }
    putchar('\n');
}

void view_print(const table_view *view, const int64_t *rows, int64_t count) {
    enum { MOST = 20 };
    const rb_table_column *columns[MOST];
    int n = 0, widths[MOST] = {0};
    char key[32];
    for (const char *k = view->keys; n < MOST && next_key(&k, key);)
        columns[n++] = rb_table_find(&view->table, key);
    char **cells = calloc((size_t)((count + 1) * n) + 1, sizeof *cells);
    bool whole = cells;
    for (int64_t i = 0; cells && i <= count; i++) {
        int64_t row = i == 0 ? -1 : rows ? rows[i - 1] : i - 1;
        for (int c = 0; c < n; c++) {
            char *text = cells[i * n + c] = cell_text(view, columns[c], row);
            widths[c] = width_of(text) > widths[c] ? width_of(text) : widths[c];
            whole = whole && text;
        }
    }
    if (!whole) report_error("out of memory for a table; it is not printed whole");
    for (int64_t i = 0; cells && i <= count; i++) {
        print_line(cells + i * n, columns, widths, n);
        for (int c = 0; c < n; c++)
            free(cells[i * n + c]);
    }
    free(cells);
}
