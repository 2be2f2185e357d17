/* Writing .npy, version 1.0, in C order and the byte order of this machine. */
#include "npy.h"

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

/* Blanks fill a header up, so that the numbers start on a line of the cache. */
int64_t rb_npy_head(char head[RB_NPY_HEAD], const char *type, int dimensions,
                    const int64_t *shape) {
    char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>', sizes[100] = "";
    int used = 0;
    for (int d = 0; d < dimensions; d++)
        used += snprintf(sizes + used, sizeof sizes - (size_t)used, "%lld%s", (long long)shape[d],
                         d + 1 < dimensions ? ", "
                         : dimensions == 1  ? ","
                                            : "");
    memcpy(head, "\x93NUMPY\x01", 8);
    int length =
        snprintf(head + 10, RB_NPY_HEAD - 10,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }", order, type, sizes);
    int total = (10 + length + 1 + 63) / 64 * 64;
    memset(head + 10 + length, ' ', (size_t)(total - 10 - length));
    head[total - 1] = '\n';
    head[8] = (char)((total - 10) & 255);
    head[9] = (char)((total - 10) >> 8);
    return total;
}

static bool write_header(FILE *file, const rb_write_header *header) {
    char head[RB_NPY_HEAD];
    int64_t bytes = rb_npy_head(head, header->type == RB_FLOAT32 ? "f4" : "f8", 2,
                                (int64_t[]){header->n_samples, header->n_features});
    return fwrite(head, 1, (size_t)bytes, file) == (size_t)bytes;
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
