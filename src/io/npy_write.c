/* Writing .npy, version 1.0, in C order and the byte order of this machine. */
#include "io.h"

#include <errno.h>
#include <string.h>

struct npy_writer {
    FILE *file;
    rb_type type;
    void *row;
    int64_t n_features;
};

static rb_error failed(rb_context *ctx) {
    return rb_fail(ctx, RB_ERROR_FILE, "%s", strerror(errno));
}

static bool write_header(FILE *file, const rb_write_header *header) {
    enum { PREFIX = 10, BYTES = 128 };
    char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    char text[BYTES] = "\x93NUMPY\x01";
    text[8] = BYTES - PREFIX;
    /* Blanks up to 128 bytes, so that the numbers start on a line of the cache. */
    int used = snprintf(text + PREFIX, BYTES - PREFIX,
                        "{'descr': '%cf%zu', 'fortran_order': False, 'shape': (%lld, %lld), }",
                        order, rb_type_size(header->type), (long long)header->n_samples,
                        (long long)header->n_features);
    memset(text + PREFIX + used, ' ', (size_t)(BYTES - PREFIX - used - 1));
    text[BYTES - 1] = '\n';
    return fwrite(text, sizeof text, 1, file) == 1;
}

static rb_error close_npy(rb_context *ctx, void *state, bool abandon) {
    struct npy_writer *writer = state;
    rb_error err = RB_OK;
    if (writer->file && fclose(writer->file) && !abandon) err = failed(ctx);
    rb_free(writer->row);
    rb_free(writer);
    return err;
}

static rb_error open_npy(rb_context *ctx, const char *path, const char *suffix,
                         const rb_write_header *header, void **state) {
    (void)suffix;
    struct npy_writer *writer = rb_alloc_zero(ctx, 1, sizeof *writer);
    if (!writer) return RB_ERROR_MEMORY;
    writer->type = header->type;
    writer->n_features = header->n_features;
    writer->row = rb_alloc(ctx, header->n_features, rb_type_size(header->type));
    writer->file = writer->row ? fopen(path, "wbe") : NULL;
    if (!writer->file || !write_header(writer->file, header)) {
        rb_error err = writer->row ? failed(ctx) : RB_ERROR_MEMORY;
        (void)close_npy(ctx, writer, true);
        return err;
    }
    *state = writer;
    return RB_OK;
}

static rb_error add_npy(rb_context *ctx, void *state, const rb_matrix *rows) {
    struct npy_writer *writer = state;
    size_t count = (size_t)writer->n_features;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        rb_rows_copy(rows, i, writer->type, writer->row);
        if (fwrite(writer->row, rb_type_size(writer->type), count, writer->file) != count)
            return failed(ctx);
    }
    return RB_OK;
}

const rb_write_format rb_write_format_npy = {".npy", open_npy, add_npy, close_npy};
