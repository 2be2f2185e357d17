/* What the files of a command line are, asked before the work begins. No command writes over a file
 * that it reads, nor two results into one file. What a command reads and writes stands in its
 * table. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that the command line names, and by which option. */
typedef struct place {
    const rb_option *row;
    const char *path;
    char option[64]; /* "-o", "--truth" */
} place;

/* "a/b" of "a/b/c", "." of "c"; free it. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_object(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The same name in the same folder: for files that are still to be made. */
static bool same_entry(const char *a, const char *b) {
    char *folder_a = folder_of(a), *folder_b = folder_of(b);
    struct stat in_a, in_b;
    bool same = folder_a && folder_b && strcmp(name_of(a), name_of(b)) == 0 &&
                stat(folder_a, &in_a) == 0 && stat(folder_b, &in_b) == 0 &&
                same_object(&in_a, &in_b);
    free(folder_a);
    free(folder_b);
    return same;
}

/* Do both names lead to one file? Devices and pipes take any number of writers. */
static bool same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    bool there_a = stat(a, &of_a) == 0, there_b = stat(b, &of_b) == 0;
    if (there_a != there_b) return false;
    if (there_a) return S_ISREG(of_a.st_mode) && same_object(&of_a, &of_b);
    return same_entry(a, b);
}

/* Would writing to the target change the input? A folder of 10x is its files, also those that are
 * not there yet: each would take the place of another. */
static bool changes(const char *target, const char *input) {
    static const char *const names[] = {"matrix.mtx",      "matrix.mtx.gz", "barcodes.tsv",
                                        "barcodes.tsv.gz", "features.tsv",  "features.tsv.gz",
                                        "genes.tsv",       "genes.tsv.gz",  NULL};
    struct stat info;
    if (stat(input, &info) || !S_ISDIR(info.st_mode)) return same_file(target, input);
    for (const char *const *name = names; *name; name++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", input, *name);
        if (length < (int)sizeof path && same_file(target, path)) return true;
    }
    return false;
}

/* The files of the options in `words`, in the order of the tables. */
static int places_of(const invocation *call, const char *words, place *places) {
    int count = 0;
    for (const rb_option *row = call->command->rows; row->name && count < MAX_PLACES; row++) {
        const char *path = among_words(words, row->name) ? option_text(call, row->name) : NULL;
        if (path) {
            place *p = &places[count++];
            *p = (place){.row = row, .path = path};
            snprintf(p->option, sizeof p->option, row->letter ? "-%.1s" : "--%s",
                     row->letter ? &row->letter : row->name);
        }
    }
    return count;
}

/* Does the command keep what is in this argument, and add to it? */
static bool added_to(const invocation *call, int index) {
    const char *suffix = call->command->adds_to;
    return suffix && !call->joined && index == call->n_arguments - 1 &&
           has_suffix(call->arguments[index], suffix);
}

/* The input may be several files with commas between. */
static bool changes_any(const char *target, const char *inputs) {
    char *list = strdup(inputs);
    bool same = changes(target, inputs);
    for (char *one = list, *comma; one && !same; one = comma ? comma + 1 : NULL) {
        comma = strchr(one, ',');
        if (comma) *comma = '\0';
        same = *one && changes(target, one);
    }
    free(list);
    return same;
}

/* "cells.h5ad:louvain" is a column of a file. */
static bool reads_file(const char *input, const char *target) {
    int64_t length = rb_annotations_file(input);
    char *path = strndup(input, (size_t)length);
    bool same = path && length > 0 && changes_any(target, path);
    free(path);
    return same;
}

static int check_inputs(const invocation *call, const place *target, const place *inputs,
                        int n_inputs) {
    const char *taken = NULL;
    for (int i = 0; i < n_inputs && !taken; i++)
        taken = reads_file(inputs[i].path, target->path) ? inputs[i].path : NULL;
    for (int i = 0; i < call->n_arguments && !taken; i++) {
        const char *path = call->arguments[i];
        taken = changes_any(target->path, path) && !added_to(call, i) ? path : NULL;
    }
    if (!taken) return STATUS_DONE;
    return report_usage("%s would overwrite '%s', which the command reads; give another file",
                        target->option, taken);
}

static int check_output(const invocation *call, const place *target) {
    if (*target->path == '\0') return report_usage("%s needs the name of a file", target->option);
    bool to_stdout = strcmp(target->path, "-") == 0;
    return report_failure(call->ctx, to_stdout ? RB_OK : rb_staged_check(call->ctx, target->path));
}

/* Only suffixes of other formats mislead; others are the user's to choose. */
static bool misleads(const char *path, const char *suffix) {
    static const char *const known[] = {".npy", ".csv", ".tsv", ".h5",   ".hdf5", ".h5ad", ".gz",
                                        ".png", ".svg", ".jpg", ".jpeg", ".pdf",  ".json", ".gmt"};
    bool other = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        other |= has_suffix(path, known[i]);
    return other && !has_suffix(path, suffix);
}

static int check_fixed(const fixed_format *fixed, const place *target) {
    if (!misleads(target->path, fixed->suffix)) return STATUS_DONE;
    return report_usage("%s is '%s', but %s; give a name that ends in %s", target->option,
                        target->path, fixed->what, fixed->suffix);
}

/* --format is for what has no suffix that tells; the packed ones are packed by rb_writer_open. */
static int check_format(const invocation *call, const place *target) {
    char format[8], suffix[16], packed[16];
    rb_options_get(call->options, "format", format, sizeof format);
    snprintf(suffix, sizeof suffix, ".%s", format);
    snprintf(packed, sizeof packed, ".%s.gz", format);
    if (option_is(call, "format", "auto") || !misleads(target->path, suffix) ||
        (call->command->check_output && has_suffix(target->path, packed)))
        return STATUS_DONE;
    return report_usage(
        "--format is '%s', but '%s' has another suffix; leave --format out or give a name "
        "that ends in %s",
        format, target->path, suffix);
}

static int check_suffix(const invocation *call, const place *target) {
    const command *c = call->command;
    if (output_is_stream(target->path)) return STATUS_DONE;
    if (c->fixed.option && strcmp(c->fixed.option, target->row->name) == 0)
        return check_fixed(&c->fixed, target);
    rb_error err = c->check_output ? c->check_output(call->ctx, target->path) : RB_OK;
    if (err) return report_failure(call->ctx, err);
    bool formatted = strcmp(target->row->name, "output") == 0 && option_was_given(call, "format");
    return formatted ? check_format(call, target) : STATUS_DONE;
}

static int check_pair(const place *a, const place *b) {
    bool to_stdout = strcmp(a->path, "-") == 0;
    if (to_stdout && strcmp(b->path, "-") == 0)
        return report_usage("%s and %s cannot both go to standard output", a->option, b->option);
    if (!to_stdout && same_file(a->path, b->path)) {
        return report_usage("%s and %s would write to the same file '%s'; give two", a->option,
                            b->option, a->path);
    }
    return STATUS_DONE;
}

/* ---- models where data are wanted, and the other way round ---- */

bool is_model(rb_context *ctx, const char *path) {
    rb_model *model = NULL;
    const char *format = NULL;
    if (rb_format_of(ctx, path, &format) || strcmp(format, "hdf5") != 0) return false;
    bool loaded = rb_model_load(ctx, path, &model) == RB_OK;
    rb_model_free(model);
    return loaded;
}

int check_kinds(const invocation *call) {
    char usage[512];
    usage_line(call->command, usage, sizeof usage);
    for (int i = 0; i < call->n_arguments && call->command->arguments[i].name; i++) {
        const char *wanted = call->command->arguments[i].name, *path = call->arguments[i];
        const char *format = NULL;
        if (rb_format_of(call->ctx, path, &format)) continue; /* the command says what is wrong */
        bool hdf5 = strcmp(format, "hdf5") == 0;
        if (strcmp(wanted, "MODEL") == 0 && !hdf5) {
            return report_error("'%s' is data (%s), not a model; usage: rarebit %s", path, format,
                                usage);
        }
        if (strcmp(wanted, "DATA") == 0 && !option_was_given(call, "dataset") &&
            is_model(call->ctx, path))
            return report_error("'%s' is a model, not data; usage: rarebit %s", path, usage);
    }
    return STATUS_DONE;
}

int check_places(const invocation *call) {
    place inputs[MAX_PLACES], outputs[MAX_PLACES];
    int n_inputs = places_of(call, call->command->reads, inputs);
    int n_outputs =
        places_of(call, call->command->writes ? call->command->writes : "output", outputs);
    int status = STATUS_DONE;
    for (int o = 0; o < n_outputs && !status; o++)
        status = check_output(call, &outputs[o]);
    for (int o = 0; o < n_outputs && !status; o++) {
        status = check_inputs(call, &outputs[o], inputs, n_inputs);
        for (int other = o + 1; other < n_outputs && !status; other++)
            status = check_pair(&outputs[o], &outputs[other]);
    }
    for (int o = 0; o < n_outputs && !status; o++)
        status = check_suffix(call, &outputs[o]);
    return status;
}
