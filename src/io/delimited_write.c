/* Writing CSV and TSV, plain or gzip: names in the first row and column, if any. */
#include "cells.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

enum { BUFFER = 1 << 16, LONGEST_VALUE = 40 };

struct text_writer {
    gzFile file; /* zlib writes plain files as well */
    char delimiter;
    rb_type type;
    void *row;
    int64_t n_features, next; /* next: the row to be written */
    const rb_source *sample_names_from;
};

static rb_error failed(rb_context *ctx, gzFile file) {
    int code = Z_ERRNO;
    const char *reason = file ? gzerror(file, &code) : "";
    return rb_fail(ctx, RB_ERROR_FILE, "%s", code == Z_ERRNO ? strerror(errno) : reason);
}

/* zlib collects what is written. */
static rb_error put(rb_context *ctx, struct text_writer *w, const char *text, size_t length) {
    return gzwrite(w->file, text, (unsigned)length) == (int)length ? RB_OK : failed(ctx, w->file);
}

/* A name that would be cut, or taken for a number, when it is read back is quoted. A line end
 * becomes a blank. */
static rb_error put_name(rb_context *ctx, struct text_writer *w, const char *name) {
    double value;
    const char special[] = {w->delimiter, '"', '\n', '\r', '\0'};
    size_t length = strlen(name);
    bool outer_blank = length > 0 && (strchr(" \t", name[0]) || strchr(" \t", name[length - 1]));
    bool quote = name[strcspn(name, special)] != '\0' || outer_blank ||
                 rb_cell_read(NULL, name, (int64_t)length, &value) != RB_CELL_TEXT;
    rb_error err = quote ? put(ctx, w, "\"", 1) : RB_OK;
    for (; !err && *name; name++) {
        bool end = *name == '\n' || *name == '\r';
        err = *name == '"' ? put(ctx, w, "\"\"", 2) : put(ctx, w, end ? " " : name, 1);
    }
    return !err && quote ? put(ctx, w, "\"", 1) : err;
}

/* The shortest text that reads back to the same bits. Small whole numbers have the quick way. */
static int format_value(double value, rb_type type, char text[LONGEST_VALUE]) {
    if (isnan(value)) return snprintf(text, LONGEST_VALUE, "NA");
    if (fabs(value) < 1e6 && value == (double)(int)value && (value != 0 || !signbit(value)))
        return snprintf(text, LONGEST_VALUE, "%d", (int)value);
    int max = type == RB_FLOAT32 ? 9 : 17, length = 0;
    for (int digits = max - (type == RB_FLOAT32 ? 3 : 2); digits <= max; digits++) {
        double back = NAN;
        length = rb_print(text, LONGEST_VALUE, "%.*g", digits, value);
        (void)rb_number_scan(text, text + length, &back);
        if (type == RB_FLOAT32 ? (float)back == (float)value : back == value) break;
    }
    return length;
}

static rb_error put_header(rb_context *ctx, struct text_writer *w, const rb_write_header *header) {
    bool corner = w->sample_names_from && rb_source_sample_name(w->sample_names_from, 0);
    rb_error err = RB_OK;
    for (int64_t j = 0; !err && j < w->n_features; j++) {
        err = j > 0 || corner ? put(ctx, w, &w->delimiter, 1) : RB_OK;
        err = err ? err : put_name(ctx, w, header->feature_names[j]);
    }
    return err ? err : put(ctx, w, "\n", 1);
}

static rb_error put_row(rb_context *ctx, struct text_writer *w) {
    char text[LONGEST_VALUE + 1];
    const rb_source *source = w->sample_names_from;
    const char *name = source ? rb_source_sample_name(source, w->next) : NULL;
    rb_error err = name ? put_name(ctx, w, name) : RB_OK;
    for (int64_t j = 0; !err && j < w->n_features; j++) {
        int at = j > 0 || name;
        text[0] = w->delimiter;
        int length = at + format_value(rb_get(w->type, w->row, j), w->type, text + at);
        err = put(ctx, w, text, (size_t)length);
    }
    w->next++;
    return err ? err : put(ctx, w, "\n", 1);
}

static rb_error add_text(rb_context *ctx, void *state, const rb_matrix *rows) {
    struct text_writer *w = state;
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < rows->n_samples; i++) {
        rb_rows_copy(rows, i, w->type, w->row);
        err = put_row(ctx, w);
    }
    return err;
}

static rb_error close_text(rb_context *ctx, void *state, bool abandon) {
    struct text_writer *w = state;
    rb_error err = RB_OK;
    errno = 0;
    if (w->file && gzclose(w->file) != Z_OK && !abandon)
        err = rb_fail(ctx, RB_ERROR_FILE, "%s", errno ? strerror(errno) : "it cannot be finished");
    rb_free(w->row);
    rb_free(w);
    return err;
}

static rb_error start(rb_context *ctx, struct text_writer *w, const char *path, bool gzip,
                      const rb_write_header *header) {
    w->row = rb_alloc(ctx, w->n_features, rb_type_size(w->type));
    if (!w->row) return RB_ERROR_MEMORY;
    w->file = gzopen(path, gzip ? "wbe" : "wbeT");
    if (!w->file) return failed(ctx, NULL);
    gzbuffer(w->file, BUFFER);
    return header->feature_names ? put_header(ctx, w, header) : RB_OK;
}

static rb_error open_text(rb_context *ctx, const char *path, const char *suffix,
                          const rb_write_header *header, void **state) {
    struct text_writer *w = rb_alloc(ctx, 1, sizeof *w);
    if (!w) return RB_ERROR_MEMORY;
    bool csv = strncmp(suffix, ".csv", 4) == 0;
    *w = (struct text_writer){.delimiter = csv ? ',' : '\t',
                              .type = header->type,
                              .n_features = header->n_features,
                              .sample_names_from = header->sample_names_from};
    rb_error err = start(ctx, w, path, strstr(suffix, ".gz") != NULL, header);
    if (err) {
        (void)close_text(ctx, w, true);
        return err;
    }
    *state = w;
    return RB_OK;
}

const rb_write_format rb_write_format_delimited = {".tsv, .csv, .tsv.gz, .csv.gz", open_text,
                                                   add_text, close_text};
