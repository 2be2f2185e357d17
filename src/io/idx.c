/* IDX: big-endian arrays of any number of dimensions, plain or gzip (the format of MNIST).
 *
 *   0 0 TYPE N   then N sizes of 4 bytes, then the values, the last dimension fastest
 *
 * The first dimension counts samples, the others together are the features; a single dimension
 * (labels) is one feature.
 */
#include "npy.h"

#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16 };

static const struct {
    unsigned char code;
    char kind;
    int bytes;
} types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2},
             {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};

static bool find_item(unsigned char code, rb_item *item) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (types[t].code == code) {
            *item = rb_item_of(types[t].kind, types[t].bytes, true);
            return true;
        }
    }
    return false;
}

static uint32_t big_32(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool recognise(const rb_probe *probe) {
    rb_item item;
    return !probe->folder && probe->n_bytes >= 4 && probe->bytes[0] == 0 && probe->bytes[1] == 0 &&
           find_item(probe->bytes[2], &item);
}

/* A file being read. zlib reads plain files as they are. */
typedef struct reader {
    rb_context *ctx;
    const char *path;
    gzFile file;
    rb_item item;
    int64_t samples, features;
    int64_t promised; /* bytes of the file by its header; 0: the header is not read yet */
} reader;

/* Exactly `count` bytes, or a message. */
static rb_error read_bytes(reader *r, void *bytes, int count) {
    if (gzread(r->file, bytes, (unsigned)count) == count) return RB_OK;
    rb_error err = rb_gz_check(r->ctx, r->path, r->file, -1);
    if (err) return err;
    if (r->promised == 0)
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the IDX file ends within its header", r->path);
    return rb_fail(r->ctx, RB_ERROR_FORMAT,
                   "%s: the IDX file ends after %lld bytes, but its header says %lld", r->path,
                   (long long)gztell(r->file), (long long)r->promised);
}

/* Could a file of this size hold that many values? Asked before memory is. */
static rb_error check_size(reader *r) {
    int64_t max, bytes, cells;
    if (!rb_multiply(rb_file_size(r->path), gzdirect(r->file) ? 1 : RB_DEFLATE_LIMIT, &max))
        max = INT64_MAX;
    if (!rb_multiply(r->samples, r->features, &cells) ||
        !rb_multiply(cells, r->item.bytes, &bytes) || bytes > max) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT,
                       "%s: the header of the IDX file says %lld samples x %lld features, more "
                       "than the file can hold",
                       r->path, (long long)r->samples, (long long)r->features);
    }
    r->promised = gztell(r->file) + bytes;
    return RB_OK;
}

static rb_error read_header(reader *r) {
    unsigned char magic[4], size[4];
    rb_error err = read_bytes(r, magic, 4);
    if (err) return err;
    if (magic[0] != 0 || magic[1] != 0 || !find_item(magic[2], &r->item))
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: this is not an IDX file", r->path);
    if (magic[3] == 0)
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the IDX file has no dimensions", r->path);
    r->samples = r->features = 1;
    for (int d = 0; d < magic[3]; d++) {
        err = read_bytes(r, size, 4);
        if (err) return err;
        int64_t *product = d == 0 ? &r->samples : &r->features;
        if (big_32(size) == 0) {
            return rb_fail(r->ctx, RB_ERROR_FORMAT,
                           "%s: dimension %d of the IDX file is 0: it holds no values", r->path,
                           d + 1);
        }
        if (!rb_multiply(*product, big_32(size), product)) {
            return rb_fail(r->ctx, RB_ERROR_FORMAT,
                           "%s: the dimensions of the IDX file are too large", r->path);
        }
    }
    return check_size(r);
}

static rb_error read_values(reader *r, char *chunk, char *values) {
    int64_t cells = r->samples * r->features, max = CHUNK_BYTES / r->item.bytes;
    for (int64_t first = 0; first < cells; first += max) {
        int64_t count = cells - first < max ? cells - first : max;
        rb_error err = rb_check_stop(r->ctx);
        err = err ? err : read_bytes(r, chunk, (int)(count * r->item.bytes));
        if (err) return err;
        rb_items_convert(r->item, chunk, count,
                         values + first * (int64_t)rb_type_size(r->item.type));
    }
    /* One more read: it must find the end, and makes zlib check the sum of a gzip file. */
    if (gzread(r->file, chunk, 1) == 1) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT,
                       "%s: the IDX file has more bytes than its header says", r->path);
    }
    return rb_gz_check(r->ctx, r->path, r->file, -1);
}

static rb_error read_idx(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_matrix **matrix) {
    *matrix = NULL;
    reader r = {.ctx = ctx, .path = path};
    rb_error err = rb_gz_open(ctx, path, false, &r.file);
    if (err) return err;
    err = read_header(&r);
    err = err ? err : rb_matrix_new_dense(ctx, r.item.type, r.samples, r.features, matrix);
    char *chunk = err ? NULL : rb_alloc(ctx, CHUNK_BYTES, 1);
    err = err ? err : chunk ? read_values(&r, chunk, (void *)(*matrix)->values) : RB_ERROR_MEMORY;
    rb_free(chunk);
    gzclose(r.file);
    return rb_matrix_end(err, matrix);
}

const rb_format rb_format_idx = {"idx", recognise, read_idx, NULL};
