/* The table that `rarebit select` writes, as a part of the page's document: columns by their names,
 * numbers as numbers, what is none as text. */
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell: null where there is nothing, or no number that is finite. */
static json_t *cell(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return !*text || (!*end && !isfinite(value)) ? json_null()
           : *end                                ? rb_json_text(text)
                                                 : rb_json_rounded(value, 6);
}

/* The cells of a line, which is cut at its tabs. */
static json_t *cells(char *line, json_t *(*make)(const char *text)) {
    json_t *list = json_array();
    line[strcspn(line, "\r\n")] = '\0';
    for (char *rest = line, *text; (text = strsep(&rest, "\t"));)
        rb_json_add(&list, NULL, make(text));
    return list;
}

static rb_error refuse(const page *p, const char *path, size_t row, const char *why) {
    return rb_fail(p->ctx, RB_ERROR_FORMAT, "%.300s, row %zu: %s", path, row, why);
}

static rb_error read_table(const page *p, const char *path, FILE *file, json_t *to[2]) {
    char *line = NULL;
    size_t size = 0, row = 0;
    rb_error err = RB_OK;
    while (!err && getline(&line, &size, file) >= 0) {
        json_t *list = cells(line, row ? cell : rb_json_text);
        const char *first = json_string_value(json_array_get(list, 0));
        if (row++ == 0) {
            bool units = first && strcmp(first, "units") == 0;
            err = units ? RB_OK : refuse(p, path, row, "the first column must be units");
            json_decref(to[0]);
            to[0] = list;
        } else if (json_array_size(list) != json_array_size(to[0])) {
            err = rb_fail(p->ctx, RB_ERROR_FORMAT,
                          "%.300s, row %zu: the row has %zu cells, but the header has %zu", path,
                          row, json_array_size(list), json_array_size(to[0]));
            json_decref(list);
        } else if (!json_is_number(json_array_get(list, 0))) {
            err = refuse(p, path, row, "the first cell is not a number of units");
            json_decref(list);
        } else {
            rb_json_add(&to[1], NULL, list);
        }
    }
    free(line);
    return err || row ? err : refuse(p, path, 1, "the table is empty");
}

/* Takes the column off that says of which data the table is; tables of others have none. */
static rb_error check_data(const page *p, const char *path, json_t *table[2]) {
    char expected[32];
    size_t column = 0;
    const char *name;
    while ((name = json_string_value(json_array_get(table[0], column))) &&
           strcmp(name, "data") != 0)
        column++;
    snprintf(expected, sizeof expected, "crc32 %08" PRIx32, p->data.checksum);
    for (size_t row = 0; name && row < json_array_size(table[1]); row++) {
        json_t *cells = json_array_get(table[1], row);
        const char *data = json_string_value(json_array_get(cells, column));
        if (!data || strcmp(data, expected) != 0) {
            return rb_fail(p->ctx, RB_ERROR_FORMAT,
                           "%.300s, row %zu: the table is of other data: %.40s, but these have %s",
                           path, row + 2, data ? data : "none", expected);
        }
        json_array_remove(cells, column);
    }
    if (name) json_array_remove(table[0], column);
    return RB_OK;
}

rb_error page_add_select(const page *p, json_t **to) {
    const char *path = p->report->selection;
    json_t *table[] = {json_array(), json_array()}; /* names of columns, rows */
    FILE *file = fopen(path, "r");
    rb_error err = file ? read_table(p, path, file, table) : RB_OK;
    if (!file || ferror(file))
        err = rb_fail(p->ctx, RB_ERROR_FILE, "cannot read %.300s: %s", path, strerror(errno));
    if (file) fclose(file);
    err = err ? err : check_data(p, path, table);
    rb_json_add(
        to, "select",
        json_pack("{so so so}", "file", rb_json_text(path), "columns", table[0], "rows", table[1]));
    return err;
}
