/* .amat: rows of numbers between blanks, the last one the label of the sample; plain or gzip. Known
 * by the suffix, since nothing else tells them from a table of text. The labels are no features:
 * who wants them reads the file as labels. */
#include "io.h"

#include <math.h>
#include <string.h>

static bool recognise(const rb_probe *probe) {
    return !probe->folder && rb_path_suffix(probe->path, ".amat, .amat.gz", NULL) &&
           !memchr(probe->bytes, '\0', (size_t)probe->n_bytes);
}

/* A file while it is read: features of all samples so far, and labels apart. */
typedef struct reader {
    rb_lines *lines;
    int64_t n_samples, columns; /* columns: with the label; 0: not known yet */
    float *values;
    double *labels;
    int64_t capacity, labels_capacity;
    bool only_labels;
} reader;

static rb_error refuse(rb_context *ctx, const reader *r, int64_t column, const char *what) {
    return rb_lines_fail(ctx, r->lines, RB_ERROR_FORMAT, column, "%s", what);
}

static rb_error hold_row(rb_context *ctx, reader *r) {
    int64_t m = r->only_labels ? 0 : r->columns - 1;
    double *labels =
        rb_reserve(ctx, r->labels, r->n_samples, 1, &r->labels_capacity, sizeof *labels);
    r->labels = labels ? labels : r->labels;
    if (!labels || m == 0) return labels ? RB_OK : RB_ERROR_MEMORY;
    float *values = rb_reserve(ctx, r->values, r->n_samples * m, m, &r->capacity, sizeof *values);
    r->values = values ? values : r->values;
    return values ? RB_OK : RB_ERROR_MEMORY;
}

/* The next number of a line, which ends at `end`; NULL: there is none. */
static const char *next_number(const char *at, const char *end, double *value) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *after = at < end ? rb_number_scan(at, end, value) : NULL;
    bool ends = after && (after == end || *after == ' ' || *after == '\t');
    return ends ? after : NULL;
}

static bool only_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at == end;
}

/* How many numbers a line has. */
static int64_t count_numbers(const char *at, const char *end) {
    int64_t count = 0;
    double value;
    while ((at = next_number(at, end, &value)))
        count++;
    return count;
}

static rb_error read_line(rb_context *ctx, reader *r, const char *line, int64_t length) {
    const char *at = line, *end = line + length;
    if (r->columns == 0) r->columns = count_numbers(at, end);
    if (r->columns < 2)
        return refuse(ctx, r, 1,
                      "a row must be numbers between blanks, the last "
                      "one the label");
    rb_error err = hold_row(ctx, r);
    for (int64_t c = 0; !err && c < r->columns; c++) {
        double value = 0;
        const char *next = next_number(at, end, &value);
        if (!next || !isfinite(value) || fabs(value) > 3e38)
            return refuse(ctx, r, c + 1,
                          only_blanks(at, end) ? "the row is shorter than the first one"
                                               : "this is no finite number");
        if (c == r->columns - 1)
            r->labels[r->n_samples] = value;
        else if (!r->only_labels)
            r->values[r->n_samples * (r->columns - 1) + c] = (float)value;
        at = next;
    }
    if (!err && !only_blanks(at, end))
        err = refuse(ctx, r, r->columns + 1, "the row is longer than the first one");
    r->n_samples += !err;
    return err;
}

static rb_error read_file(rb_context *ctx, const char *path, reader *r) {
    char *line;
    int64_t length;
    rb_error err = rb_lines_open(ctx, path, &r->lines);
    while (!err && !(err = rb_lines_next(ctx, r->lines, &line, &length)) && line)
        if (!only_blanks(line, line + length)) err = read_line(ctx, r, line, length);
    rb_lines_close(r->lines);
    r->lines = NULL;
    if (!err && r->n_samples == 0)
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s has no rows of numbers", path);
    return err;
}

static rb_error read_amat(rb_context *ctx, const char *path, const rb_read_options *options,
                          rb_matrix **matrix) {
    (void)options;
    *matrix = NULL;
    reader r = {0};
    rb_error err = read_file(ctx, path, &r);
    rb_free(r.labels);
    if (err) {
        rb_free(r.values);
        return err;
    }
    rb_log(ctx, RB_LOG_INFO,
           "the last column of %s, the label, is no feature; it is read where labels are asked for",
           path);
    return rb_matrix_own_dense(ctx, RB_FLOAT32, r.n_samples, r.columns - 1, r.values, matrix);
}

rb_error rb_amat_labels(rb_context *ctx, const char *path, rb_matrix **labels) {
    reader r = {.only_labels = true};
    rb_reading reading;
    *labels = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = read_file(ctx, path, &r);
    rb_reading_end(ctx);
    if (err) {
        rb_free(r.labels);
        return err;
    }
    return rb_matrix_own_dense(ctx, RB_FLOAT64, r.n_samples, 1, r.labels, labels);
}

const rb_format rb_format_amat = {"amat", recognise, read_amat, NULL};
