/* Writing IDX, plain: big-endian. A name that ends in -ubyte asks for bytes, as the files of MNIST
 * are; .idx for float32 or float64, as the numbers are. idx3-ubyte asks for square pictures of
 * samples x side x side, idx1-ubyte and one feature for labels. */
#include "io.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct idx_writer {
    FILE *file;
    rb_type type;
    bool bytes;
    double *row;
    unsigned char *out;
    int64_t n_features, next;
};

static rb_error failed(rb_context *ctx) {
    return rb_fail(ctx, RB_ERROR_FILE, "%s", strerror(errno));
}

static rb_error close_idx(rb_context *ctx, void *state, bool abandon) {
    struct idx_writer *w = state;
    rb_error err = RB_OK;
    if (w->file && fclose(w->file) && !abandon) err = failed(ctx);
    rb_free(w->row);
    rb_free(w->out);
    rb_free(w);
    return err;
}

/* The sizes of the array; how many there are, or 0 after a message. */
static int find_sizes(rb_context *ctx, const char *suffix, const rb_write_header *header,
                      int64_t sizes[3]) {
    int64_t side = (int64_t)lround(sqrt((double)header->n_features));
    sizes[0] = header->n_samples;
    sizes[1] = header->n_features;
    for (int i = 0; i < 2; i++) {
        if (sizes[i] < 1 || sizes[i] > UINT32_MAX) {
            (void)rb_fail(ctx, RB_ERROR_ARGUMENT, "IDX holds 1 to 4294967295 %s, not %lld",
                          i == 0 ? "samples" : "features", (long long)sizes[i]);
            return 0;
        }
    }
    if (strstr(suffix, "idx3") && side * side != header->n_features) {
        (void)rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "idx3 holds square pictures, but there are %lld features; take a name in "
                      "idx2-ubyte",
                      (long long)header->n_features);
        return 0;
    }
    if (strstr(suffix, "idx1") && header->n_features != 1) {
        (void)rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "idx1 holds one number for each sample, but there are %lld features",
                      (long long)header->n_features);
        return 0;
    }
    if (strstr(suffix, "idx3")) {
        sizes[1] = sizes[2] = side;
        return 3;
    }
    return header->n_features == 1 && !strstr(suffix, "idx2") ? 1 : 2;
}

static bool put_header(const struct idx_writer *w, const int64_t *sizes, int dimensions) {
    unsigned char head[16] = {0, 0, w->bytes ? 0x08 : w->type == RB_FLOAT32 ? 0x0D : 0x0E};
    head[3] = (unsigned char)dimensions;
    for (int d = 0; d < dimensions; d++)
        for (int b = 0; b < 4; b++)
            head[4 + 4 * d + b] = (unsigned char)(sizes[d] >> (24 - 8 * b));
    return fwrite(head, 4 + 4 * (size_t)dimensions, 1, w->file) == 1;
}

static rb_error open_idx(rb_context *ctx, const char *path, const char *suffix,
                         const rb_write_header *header, void **state) {
    int64_t sizes[3];
    int dimensions = find_sizes(ctx, suffix, header, sizes);
    if (!dimensions) return RB_ERROR_ARGUMENT;
    struct idx_writer *w = rb_alloc_zero(ctx, 1, sizeof *w);
    if (!w) return RB_ERROR_MEMORY;
    w->type = header->type;
    w->bytes = strstr(suffix, "ubyte") != NULL;
    w->n_features = header->n_features;
    w->row = rb_alloc(ctx, w->n_features, sizeof *w->row);
    w->out = rb_alloc(ctx, w->n_features, sizeof(double));
    bool memory = w->row && w->out;
    w->file = memory ? fopen(path, "wbe") : NULL;
    if (!w->file || !put_header(w, sizes, dimensions)) {
        rb_error err = memory ? failed(ctx) : RB_ERROR_MEMORY;
        (void)close_idx(ctx, w, true);
        return err;
    }
    *state = w;
    return RB_OK;
}

static rb_error refuse(rb_context *ctx, const struct idx_writer *w, int64_t column) {
    return rb_fail(ctx, RB_ERROR_DATA,
                   "the value %g in row %lld, column %lld is no byte, a whole number from 0 to "
                   "255; take a name that ends in .idx",
                   w->row[column], (long long)w->next + 1, (long long)column + 1);
}

/* A number with its larger bytes first. */
static void put_number(const struct idx_writer *w, int64_t column) {
    size_t size = rb_type_size(w->type);
    unsigned char bytes[8], *to = w->out + (size_t)column * size;
    const uint16_t one = 1;
    bool little_endian = *(const unsigned char *)&one == 1;
    rb_put(w->type, bytes, 0, w->row[column]);
    for (size_t b = 0; b < size; b++)
        to[b] = bytes[little_endian ? size - 1 - b : b];
}

static rb_error put_row(rb_context *ctx, struct idx_writer *w) {
    size_t size = w->bytes ? 1 : rb_type_size(w->type);
    for (int64_t k = 0; k < w->n_features; k++) {
        double value = w->row[k];
        if (!w->bytes)
            put_number(w, k);
        else if (value >= 0 && value <= 255 && value == floor(value))
            w->out[k] = (unsigned char)value;
        else
            return refuse(ctx, w, k);
    }
    w->next++;
    size_t count = (size_t)w->n_features;
    return fwrite(w->out, size, count, w->file) == count ? RB_OK : failed(ctx);
}

static rb_error add_idx(rb_context *ctx, void *state, const rb_matrix *rows) {
    struct idx_writer *w = state;
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < rows->n_samples; i++) {
        rb_rows_copy(rows, i, RB_FLOAT64, w->row);
        err = put_row(ctx, w);
    }
    return err;
}

const rb_write_format rb_write_format_idx = {".idx, idx1-ubyte, idx2-ubyte, idx3-ubyte", open_idx,
                                             add_idx, close_idx};
