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
    rb_error err;
    char sentence[1024]; /* of err: the one of stopping comes after it */
};

static int add_rows(void *user, int64_t first, const rb_matrix *rows) {
    struct row_writer *w = user;
    (void)first;
    if (!w->writer) {
        w->header.type = rb_matrix_type(rows);
        w->err = rb_writer_open(w->ctx, w->path, &w->header, &w->writer);
    }
    if (!w->err) {
        w->err = rb_writer_add(w->ctx, w->writer, rows);
    }
    if (w->err) {
        snprintf(w->sentence, sizeof w->sentence, "%s", rb_context_error(w->ctx));
    }
    return w->err != RB_OK;
}

/* Returns a status after a message. */
static int write_rows(invocation *call, const rb_model *model, rb_source *source, rows_maker make,
                      const char *const *names, int64_t columns, const char *path) {
    struct row_writer w = {.ctx = call->ctx, .path = path};
    w.header = (rb_write_header){.n_samples = rb_source_samples(source),
                                 .n_features = columns,
                                 .sample_names_from = source,
                                 .feature_names = names};
    rb_error err = make(call->ctx, model, source, add_rows, &w);
    if (!err && w.writer) {
        err = rb_writer_close(call->ctx, w.writer);
        return err ? report_failure(call->ctx, err) : STATUS_DONE;
    }
    rb_writer_abandon(w.writer);
    if (w.err) {
        report_error("%s", w.sentence);
        return w.err == RB_ERROR_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;
    }
    return err ? report_failure(call->ctx, err) : STATUS_DONE;
}

int run_rows(invocation *call, rows_maker make, column_namer namer) {
    const output_options *options = options_of(call, matrix_output_group());
    rb_model *model = NULL;
    rb_source *source = NULL;
    char **names = NULL;
    int64_t columns = 0;
    output out;
    int status = output_begin(&out, options->output, suffixes[options->format]);
    if (status) {
        return status;
    }
    rb_error err = load_model(call, &model);
    if (!err) {
        err = open_data(call, model, call->arguments[1], &source);
    }
    if (err) {
        status = report_failure(call->ctx, err);
    } else {
        names = namer(model, &columns);
        status =
            write_rows(call, model, source, make, (const char *const *)names, columns, out.path);
    }
    if (status) {
        output_abandon(&out);
    } else {
        status = output_end(&out);
    }
    if (!status) {
        report("%lld samples x %lld columns in %s", (long long)rb_source_samples(source),
               (long long)columns, options->output);
    }
    free_names(names);
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
