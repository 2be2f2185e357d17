/* Results as files: rows as they come from a model, and whole matrices, with their names. */
#include "results.h"

#include <stdlib.h>

/* What -o - gives without a suffix that tells: in the order of matrix_format. */
static const char *const suffixes[] = {"tsv", "csv", "npy"};

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
    if (!w->writer) {
        w->header.type = rb_matrix_type(rows);
        err = rb_writer_open(w->ctx, w->path, &w->header, &w->writer);
    }
    return err ? err : rb_writer_add(w->ctx, w->writer, rows);
}

void companion_hold(const companion *second) {
    if (second) {
        interrupt_hold();
    }
}

int companion_end(companion *second, int status) {
    if (second && status) {
        output_abandon(&second->out);
    } else if (second) {
        status = output_end(&second->out);
    }
    if (second) {
        interrupt_release();
    }
    return status;
}

/* Writes the rows; with a companion signals wait from before they appear. */
static rb_error write_rows(struct row_writer *w, const rb_model *model, rb_source *source,
                           rows_maker make, const companion *second) {
    rb_error err = make(w->ctx, model, source, add_rows, w);
    companion_hold(second);
    if (!err && w->writer) {
        return rb_writer_close(w->ctx, w->writer);
    }
    rb_writer_abandon(w->writer);
    return err;
}

/* Returns a status after a message. */
static int make_rows(invocation *call, const rb_model *model, rb_source *source, rows_maker make,
                     column_namer namer, companion *second, int64_t *columns) {
    const output_options *options = options_of(call, matrix_output_group());
    output out = {0};
    int status = output_begin(&out, options->output, suffixes[options->format]);
    if (!status && second) {
        status = second->prepare(call, model, source, &second->out);
    }
    if (status) {
        output_abandon(&out);
        return status;
    }
    char **names = namer(model, columns);
    struct row_writer w = {.ctx = call->ctx,
                           .path = out.path,
                           .header = {.size = sizeof(rb_write_header),
                                      .n_samples = rb_source_samples(source),
                                      .n_features = *columns,
                                      .sample_names_from = source,
                                      .feature_names = (const char *const *)names}};
    /* What is copied to a pipe may take for ever: signals wait for renames alone. */
    companion *held = out.temporary ? NULL : second;
    rb_error err = write_rows(&w, model, source, make, held);
    status = err ? report_failure(call->ctx, err) : STATUS_DONE;
    if (status) {
        output_abandon(&out);
    } else {
        status = output_end(&out);
    }
    if (second && !held) {
        companion_hold(second);
    }
    free_names(names);
    return companion_end(second, status);
}

int run_rows(invocation *call, rows_maker make, column_namer namer, companion *second) {
    const output_options *options = options_of(call, matrix_output_group());
    rb_model *model = NULL;
    rb_source *source = NULL;
    int64_t columns = 0;
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    int status = err ? report_failure(call->ctx, err)
                     : make_rows(call, model, source, make, namer, second, &columns);
    if (!status) {
        report("%lld samples x %lld columns in %s", (long long)rb_source_samples(source),
               (long long)columns, options->output);
    }
    rb_source_free(source);
    rb_model_free(model);
    return status;
}

/* Writes a source to a target of the user's. */
static int write_to(invocation *call, rb_source *source, const char *target) {
    const output_options *options = options_of(call, matrix_output_group());
    output out;
    int status = output_begin(&out, target, suffixes[options->format]);
    if (status) {
        return status;
    }
    rb_error err = rb_write(call->ctx, source, out.path);
    if (err) {
        output_abandon(&out);
        return report_failure(call->ctx, err);
    }
    return output_end(&out);
}

int write_source(invocation *call, rb_source *source) {
    const output_options *options = options_of(call, matrix_output_group());
    return write_to(call, source, options->output);
}

int write_matrix_to(invocation *call, const rb_matrix *matrix, const char *target) {
    rb_source *source;
    rb_error err = rb_source_from_matrix(call->ctx, matrix, &source);
    if (err) {
        return report_failure(call->ctx, err);
    }
    int status = write_to(call, source, target);
    rb_source_free(source);
    return status;
}

int write_matrix(invocation *call, const rb_matrix *matrix) {
    const output_options *options = options_of(call, matrix_output_group());
    return write_matrix_to(call, matrix, options->output);
}

int check_matrix_output(const invocation *call, const char *option, const char *path) {
    (void)option;
    rb_error err = rb_writer_check(call->ctx, path);
    return err ? report_failure(call->ctx, err) : STATUS_DONE;
}
