/* A 10x folder: matrix.mtx (genes x cells), barcodes.tsv, features.tsv or genes.tsv, plain or gzip.
 * Cells become the samples. */
#include "io.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The first of "name" and "name.gz" that is in the folder. */
static bool find_file(const char *folder, const char *name, char path[PATH_MAX]) {
    static const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, PATH_MAX, "%s/%s%s", folder, name, endings[i]);
        if (length < PATH_MAX && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* Field number `wanted` (from 0) of a line with tabs; the last one when there are fewer. */
static const char *field_of(const char *line, int64_t length, int wanted, int64_t *field_length) {
    const char *end = line + length;
    for (;; wanted--) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        if (!tab || wanted == 0) {
            *field_length = (tab ? tab : end) - line;
            return line;
        }
        line = tab + 1;
    }
}

/* Column `wanted` of a file; the message names the file when it has not `expected` lines. */
static rb_error read_names(rb_context *ctx, const char *path, int wanted, int64_t expected,
                           const char *what, rb_names **names) {
    rb_lines *lines;
    rb_name_list list = {0};
    char *line = NULL;
    int64_t length;
    rb_error err = rb_lines_open(ctx, path, false, &lines);
    do {
        err = err ? err : rb_lines_next(ctx, lines, &line, &length);
        if (!err && line) {
            const char *field = field_of(line, length, wanted, &length);
            err = rb_name_list_add(ctx, &list, field, length);
        }
    } while (!err && line);
    if (!err && list.count != expected) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s has %lld lines, but the matrix has %lld %s", path,
                      (long long)list.count, (long long)expected, what);
    }
    rb_lines_close(lines);
    return rb_name_list_end(ctx, err, &list, names);
}

static rb_error missing_file(rb_context *ctx, const char *folder, const char *names) {
    return rb_fail(ctx, RB_ERROR_FILE, "the 10x folder %s has no %s, plain or with .gz", folder,
                   names);
}

/* Names of genes stand in the second column; the first, their identifiers, where that is
 * missing. */
static rb_error name_both(rb_context *ctx, const char *folder, rb_matrix *m) {
    char path[PATH_MAX];
    if (!find_file(folder, "barcodes.tsv", path)) return missing_file(ctx, folder, "barcodes.tsv");
    rb_error err = read_names(ctx, path, 0, m->n_samples, "cells", &m->sample_names);
    if (!err && !find_file(folder, "features.tsv", path) && !find_file(folder, "genes.tsv", path))
        err = missing_file(ctx, folder, "features.tsv or genes.tsv");
    err = err ? err : read_names(ctx, path, 1, m->n_features, "genes", &m->feature_names);
    return err ? err : rb_names_make_unique(ctx, &m->feature_names);
}

static rb_error read_tenx(rb_context *ctx, const char *folder, const rb_read_options *options,
                          rb_matrix **matrix) {
    char path[PATH_MAX];
    *matrix = NULL;
    if (!find_file(folder, "matrix.mtx", path)) return missing_file(ctx, folder, "matrix.mtx");
    rb_error err = rb_format_mtx.read(ctx, path, options, matrix);
    err = err ? err : rb_matrix_transpose(ctx, matrix);
    err = err ? err : name_both(ctx, folder, *matrix);
    return rb_matrix_end(err, matrix);
}

static bool recognise(const rb_probe *probe) {
    char path[PATH_MAX];
    return probe->folder && find_file(probe->path, "matrix.mtx", path);
}

const rb_format rb_format_tenx = {"10x", recognise, read_tenx, NULL};
