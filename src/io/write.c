/* Writing: which format a path asks for, and a file that appears whole or not at all. */
#include "io.h"

#include <string.h>
#include <strings.h>

static const rb_write_format *const formats[] = {
    &rb_write_format_npy,
    &rb_write_format_delimited,
    &rb_write_format_hdf5,
};

struct rb_writer {
    const rb_write_format *format;
    rb_write_header header;
    rb_staged *output;
    void *state;
    int64_t written;
};

bool rb_path_suffix(const char *path, const char *suffixes, char found[RB_SUFFIX]) {
    size_t length = strlen(path);
    for (const char *word = suffixes; *word;) {
        size_t span = strcspn(word, ",");
        if (span < length && span < RB_SUFFIX &&
            strncasecmp(path + length - span, word, span) == 0) {
            if (found) {
                memcpy(found, word, span);
                found[span] = '\0';
            }
            return true;
        }
        word += span;
        word += strspn(word, ", ");
    }
    return false;
}

static const rb_write_format *find_format(const char *path, char suffix[RB_SUFFIX]) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (rb_path_suffix(path, formats[i]->suffixes, suffix)) return formats[i];
    return NULL;
}

static rb_error choose_format(rb_context *ctx, const char *path, char suffix[RB_SUFFIX],
                              const rb_write_format **format) {
    *format = find_format(path, suffix);
    if (!*format && strncmp(path, "/dev/", 5) == 0) /* a stream has no suffix: it gets text */
        *format = find_format("stream.tsv", suffix);
    if (!*format) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: its suffix must be one of %s, %s, %s", path,
                       formats[0]->suffixes, formats[1]->suffixes, formats[2]->suffixes);
    }
    return RB_OK;
}

rb_error rb_writer_check(rb_context *ctx, const char *path) {
    char suffix[RB_SUFFIX];
    const rb_write_format *format;
    return choose_format(ctx, path, suffix, &format);
}

/* Who writes does not know the name that the file will have. */
static rb_error name_file(rb_context *ctx, const rb_writer *writer, rb_error err) {
    if (err == RB_ERROR_FILE) rb_fail_prefix(ctx, "cannot write %s: ", writer->output->final_path);
    return err;
}

rb_error rb_writer_open(rb_context *ctx, const char *path, const rb_write_header *header,
                        rb_writer **out) {
    char suffix[RB_SUFFIX];
    const rb_write_format *format;
    *out = NULL;
    rb_error err = rb_size_check(ctx, "the header", header->size, sizeof *header);
    err = err ? err : choose_format(ctx, path, suffix, &format);
    err = err ? err : rb_check_type(ctx, header->type);
    if (err) return err;
    rb_writer *writer = rb_alloc_zero(ctx, 1, sizeof *writer);
    if (!writer) return RB_ERROR_MEMORY;
    *writer = (rb_writer){.format = format, .header = *header};
    err = rb_staged_begin(ctx, path, &writer->output);
    if (!err) {
        err = format->open(ctx, writer->output->path, suffix, &writer->header, &writer->state);
        err = name_file(ctx, writer, err);
    }
    if (err) {
        rb_staged_abandon(writer->output);
        rb_free(writer);
        return err;
    }
    *out = writer;
    return RB_OK;
}

rb_error rb_writer_add(rb_context *ctx, rb_writer *writer, const rb_matrix *rows) {
    if (rows->n_features != writer->header.n_features ||
        rows->n_samples > writer->header.n_samples - writer->written) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: %lld rows x %lld columns do not fit behind row %lld of "
                       "%lld x %lld",
                       writer->output->final_path, (long long)rows->n_samples,
                       (long long)rows->n_features, (long long)writer->written,
                       (long long)writer->header.n_samples, (long long)writer->header.n_features);
    }
    if (writer->header.sparse && !rows->sparse)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "cannot write %s: its rows must be sparse",
                       writer->output->final_path);
    rb_error err = name_file(ctx, writer, writer->format->add(ctx, writer->state, rows));
    writer->written += err ? 0 : rows->n_samples;
    return err;
}

rb_error rb_writer_close(rb_context *ctx, rb_writer *writer) {
    rb_error err = RB_OK;
    bool short_of_rows = writer->written < writer->header.n_samples;
    if (short_of_rows) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "cannot write %s: it got %lld of its %lld rows",
                      writer->output->final_path, (long long)writer->written,
                      (long long)writer->header.n_samples);
    }
    rb_error closed = writer->format->close(ctx, writer->state, short_of_rows);
    err = err ? err : name_file(ctx, writer, closed);
    err = rb_staged_end(ctx, err, writer->output);
    rb_free(writer);
    return err;
}

void rb_rows_copy(const rb_matrix *m, int64_t row, rb_type type, void *out) {
    int64_t skip = m->sparse ? m->starts[row] - m->starts[0] : row * m->row_stride;
    rb_matrix one = *m;
    one.n_samples = 1;
    one.values = (const char *)m->values + skip * (int64_t)rb_type_size(m->type);
    one.starts = m->sparse ? m->starts + row : NULL;
    one.columns = m->sparse ? m->columns + skip : NULL;
    rb_matrix_copy(&one, 0, &(rb_target){type, out, 0, 1});
}

int64_t rb_samples_at_once(const rb_source *source) {
    const int64_t values = 1 << 18;
    return source->n_features < values && source->n_features > 0 ? values / source->n_features : 1;
}

static rb_error add_source(rb_context *ctx, rb_source *source, rb_writer *writer) {
    rb_error err = RB_OK;
    int64_t max = rb_samples_at_once(source);
    for (int64_t first = 0; first < source->n_samples && !err; first += max) {
        int64_t left = source->n_samples - first;
        rb_matrix view;
        err = rb_source_read(ctx, source, first, left < max ? left : max, &view);
        err = err ? err : rb_writer_add(ctx, writer, &view);
    }
    return err;
}

rb_error rb_write(rb_context *ctx, rb_source *source, const char *path) {
    const rb_names *names = source->feature_names;
    rb_write_header header = {
        .size = sizeof header,
        .n_samples = source->n_samples,
        .n_features = source->n_features,
        .type = source->type,
        .sparse = source->sparse,
        .sample_names_from = source,
        .feature_names = names ? (const char *const *)names->text : NULL,
    };
    rb_writer *writer;
    rb_error err = rb_writer_open(ctx, path, &header, &writer);
    if (err) return err;
    err = add_source(ctx, source, writer);
    if (err) {
        rb_writer_abandon(writer);
        return err;
    }
    return rb_writer_close(ctx, writer);
}

void rb_writer_abandon(rb_writer *writer) {
    if (!writer) return;
    rb_context unheard = {.threads = 1, .allocations_left = -1}; /* the caller wants no message */
    (void)writer->format->close(&unheard, writer->state, true);
    rb_staged_abandon(writer->output);
    rb_free(writer);
}
