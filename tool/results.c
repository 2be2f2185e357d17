/* Results as files: rows as they come from a model, and whole matrices, with their names. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static bool is_hdf5(const char *path) {
    return has_suffix(path, ".h5") || has_suffix(path, ".hdf5") || has_suffix(path, ".h5ad");
}

static int begin_matrix(const invocation *call, output *out, const char *target,
                        const rb_model *model, rb_source *source) {
    char format[8];
    rb_options_get(call->options, "format", format, sizeof format);
    int status = output_begin(out, target, format);
    bool holds_origin = !status && is_hdf5(out->path);
    rb_error err = holds_origin ? name_origin(call, model, source) : RB_OK;
    return err ? finish_output(call, out, err) : status;
}

struct row_writer {
    rb_context *ctx;
    rb_write_header header;
    const char *path;
    rb_writer *writer; /* opened by the first block, which tells the type */
};

static rb_error add_rows(void *user, int64_t first, const rb_matrix *rows) {
    struct row_writer *w = user;
    rb_error err = RB_OK;
    (void)first;
    if (!processes_lead()) return RB_OK;
    if (!w->writer) {
        w->header.type = rb_matrix_type(rows);
        err = rb_writer_open(w->ctx, w->path, &w->header, &w->writer);
    }
    return err ? err : rb_writer_add(w->ctx, w->writer, rows);
}

void pair_hold(const output *second) {
    if (second->target) interrupt_hold();
}

int pair_end(output *second, int status) {
    bool held = second->target != NULL;
    status = output_end(second, status);
    if (held) interrupt_release();
    return status;
}

static void free_names(char **names) {
    for (int64_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}

/* Names of so many columns; NULL: none, since the model or the memory has none. */
static char **make_names(const rb_model *model, int64_t count, column_namer namer) {
    char **names = namer ? calloc((size_t)count + 1, sizeof *names) : NULL;
    for (int64_t k = 0; names && k < count; k++) {
        names[k] = namer(model, k);
        if (!names[k]) {
            free_names(names);
            return NULL;
        }
    }
    return names;
}

int write_rows(invocation *call, const rb_model *model, rb_source *source, const row_maker *maker,
               output *second) {
    output out;
    int status = begin_matrix(call, &out, option_text(call, "output"), model, source);
    if (status) return output_end(second, status);
    struct row_writer w = {
        .ctx = call->ctx,
        .path = out.path,
        .header = {.size = sizeof(rb_write_header),
                   .n_samples = maker->draw ? maker->rows : rb_source_samples(source),
                   .n_features = maker->columns,
                   .sample_names_from = maker->draw ? NULL : source}};
    char **names = make_names(model, maker->columns, maker->namer);
    w.header.feature_names = (const char *const *)names;
    rb_error err = maker->draw ? maker->draw(call->ctx, model, source, call->options, add_rows, &w)
                               : maker->make(call->ctx, model, source, add_rows, &w);
    /* What is copied to a pipe may take for ever: signals wait for renames alone. */
    bool pipe = out.temporary != NULL;
    if (!pipe) pair_hold(second);
    if (!err && w.writer)
        err = rb_writer_close(call->ctx, w.writer);
    else
        rb_writer_abandon(w.writer);
    status = finish_output(call, &out, err);
    if (pipe) pair_hold(second);
    free_names(names);
    status = pair_end(second, status);
    if (!status) {
        report("%lld samples x %lld columns in %s", (long long)w.header.n_samples,
               (long long)w.header.n_features, output_shown(option_text(call, "output")));
    }
    return status;
}

int write_source(invocation *call, rb_source *source, const char *target) {
    output out;
    int status = begin_matrix(call, &out, target, NULL, source);
    return status ? status : finish_output(call, &out, rb_write(call->ctx, source, out.path));
}

int write_matrix(invocation *call, const rb_matrix *matrix, const char *target) {
    rb_source *source = NULL;
    rb_error err = rb_source_from_matrix(call->ctx, matrix, &source);
    int status = err ? report_failure(call->ctx, err) : write_source(call, source, target);
    rb_source_free(source);
    return status;
}
