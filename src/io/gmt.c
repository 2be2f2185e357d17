/* Sets of features from GMT files, plain or gzip: in each line the name of a set, a description,
 * and the names of its features, between tabs. */
#include "io.h"

#include <string.h>

/* The next cell of a line, without the blanks around it; the line is cut. NULL after the last. */
static const char *next_cell(char **rest) {
    char *cell = *rest, *end = cell ? strchr(cell, '\t') : NULL;
    if (!cell) return NULL;
    *rest = end ? end + 1 : NULL;
    end = end ? end : cell + strlen(cell);
    while (end > cell && end[-1] == ' ')
        end--;
    *end = '\0';
    return cell + strspn(cell, " ");
}

/* The features of a line that begin at `rest`; empty cells are none. */
static rb_error read_features(rb_context *ctx, char *rest, rb_buffer *cells, int64_t *count) {
    const char *cell;
    *count = 0;
    while ((cell = next_cell(&rest))) {
        if (!*cell) continue;
        if (*count == cells->capacity &&
            rb_buffer_hold(ctx, cells, 2 * *count + 64, sizeof(const char *)))
            return RB_ERROR_MEMORY;
        ((const char **)cells->data)[(*count)++] = cell;
    }
    return RB_OK;
}

static rb_error read_line(rb_context *ctx, const rb_lines *lines, char *line, rb_buffer *cells,
                          rb_feature_sets *sets) {
    char *rest = line;
    int64_t count;
    const char *name = next_cell(&rest);
    if (!rest) {
        return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0,
                             "the line has one column: the name of a set, a description and the "
                             "features, separated by tabs, are expected");
    }
    if (!*name) return rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 1, "the set has no name");
    next_cell(&rest); /* the description */
    rb_error err = read_features(ctx, rest, cells, &count);
    return err ? err : rb_feature_sets_add(ctx, sets, name, cells->data, count);
}

static rb_error read_lines(rb_context *ctx, rb_lines *lines, rb_buffer *cells,
                           rb_feature_sets *sets) {
    char *line;
    int64_t length;
    rb_error err;
    while (!(err = rb_lines_next(ctx, lines, &line, &length)) && line) {
        if (line[strspn(line, " \t")] == '\0' && (int64_t)strlen(line) == length) continue;
        if ((int64_t)strlen(line) < length)
            err = rb_lines_fail(ctx, lines, RB_ERROR_FORMAT, 0, "the line holds a 0 byte");
        err = err ? err : read_line(ctx, lines, line, cells, sets);
        if (err) return err;
    }
    return err;
}

rb_error rb_feature_sets_read(rb_context *ctx, const char *path, rb_feature_sets *sets) {
    int64_t before = sets->count, words = sets->n_words, text = sets->n_text;
    rb_lines *lines = NULL;
    rb_buffer cells = {0};
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_lines_open(ctx, path, false, &lines);
    err = err ? err : read_lines(ctx, lines, &cells, sets);
    if (!err && sets->count == before) err = rb_fail(ctx, RB_ERROR_FORMAT, "%s holds no set", path);
    if (err) {
        sets->count = before;
        sets->n_words = words;
        sets->n_text = text;
    }
    rb_lines_close(lines);
    rb_free(cells.data);
    rb_reading_end(ctx);
    return err;
}
