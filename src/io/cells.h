/* Cells of text tables: numbers, missing values, quoted fields. Private to src/io. */
#ifndef RB_IO_CELLS_H
#define RB_IO_CELLS_H

#include "io.h"

typedef enum rb_cell { RB_CELL_NUMBER, RB_CELL_MISSING, RB_CELL_INFINITE, RB_CELL_TEXT } rb_cell;

/* Is the text a number with a decimal comma, "-0,25e3"? */
bool rb_decimal_comma(const char *text, int64_t length);
/* Is it one with commas between thousands, "1,234" or "-12,345,678.9"? */
bool rb_thousands(const char *text, int64_t length);

/* What a cell holds; blanks around it do not count. Missing: nothing, NA, N/A, NaN, null, ?, and
 * the words of a list ("n/d,-999"; NULL: none), in any case of letters; the value is then NaN. */
rb_cell rb_cell_read(const char *words, const char *text, int64_t length, double *value);
/* The error message of a text or an infinite number in a column of the line last given. */
rb_error rb_cell_refuse(rb_context *ctx, const rb_lines *lines, int64_t column, rb_cell cell,
                        const char *text, int64_t length, const char *advice);

/* ---- fields of a line ---- */

/* Walks the fields of a line. delimiter '\0': the line is one field; ' ': any number of blanks. */
typedef struct rb_fields {
    char *next, *end;
    char delimiter;
    bool done, looking; /* looking: the line is not changed, quoted text comes out wrong */
} rb_fields;

typedef struct rb_text_field {
    char *text; /* without quotes and the blanks around */
    int64_t length;
    bool quoted;
    const char *problem; /* NULL, or why the line cannot be cut */
} rb_text_field;

rb_fields rb_fields_of(char *line, int64_t length, char delimiter);
/* The next field; quotes are resolved inside the line. False after the last one. */
bool rb_fields_next(rb_fields *fields, rb_text_field *field);

/* How many fields a line has; it is not changed. */
int64_t rb_fields_count(char *line, int64_t length, char delimiter);

/* ---- what a text table looks like (layout.c) ---- */

typedef struct rb_layout {
    char delimiter;
    bool header, row_names;
    int64_t columns; /* fields of the first row of values, the row's name among them */
} rb_layout;

/* Looks at the first lines of a file. What the options say is not guessed. RB_ERROR_FORMAT when
 * there is nothing in it. */
rb_error rb_layout_find(rb_context *ctx, const char *path, const rb_read_options *options,
                        rb_layout *layout);

/* The next line that is not blank; *blank counts those skipped. */
rb_error rb_lines_next_filled(rb_context *ctx, rb_lines *lines, char **line, int64_t *length,
                              int64_t *blank);

/* Memory for a field in a message. */
enum { RB_SHOWN = 48 };
/* Writes text for a message: cut where it is long, bytes that cannot be shown as '?'. */
const char *rb_show(const char *text, int64_t length, char shown[RB_SHOWN]);

#endif
