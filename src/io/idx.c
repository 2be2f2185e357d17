/* IDX: big-endian arrays of any number of dimensions, plain or gzip (the format of MNIST).
 *
 *   0 0 TYPE N   then N sizes of 4 bytes, then the values, the last dimension fastest
 *
 * The first dimension counts samples, the others together are the features; a single dimension
 * (labels) is one feature.
 */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16 };

/* Deflate cannot shrink data by more than this factor. */
static const int64_t deflate_limit = 1032;

typedef double (*decode_fn)(const unsigned char *bytes);

typedef struct idx_type {
    unsigned char code;
    int size;
    rb_type type; /* the smaller one that holds every value (int: float32 would lose digits) */
    decode_fn decode;
} idx_type;

static uint32_t big_32(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static double decode_ubyte(const unsigned char *b) {
    return b[0];
}

static double decode_byte(const unsigned char *b) {
    return (int8_t)b[0];
}

static double decode_short(const unsigned char *b) {
    return (int16_t)(b[0] << 8 | b[1]);
}

static double decode_int(const unsigned char *b) {
    return (int32_t)big_32(b);
}

static double decode_float(const unsigned char *b) {
    uint32_t bits = big_32(b);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double decode_double(const unsigned char *b) {
    uint64_t bits = (uint64_t)big_32(b) << 32 | big_32(b + 4);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const idx_type types[] = {
    {0x08, 1, RB_FLOAT32, decode_ubyte}, {0x09, 1, RB_FLOAT32, decode_byte},
    {0x0B, 2, RB_FLOAT32, decode_short}, {0x0C, 4, RB_FLOAT64, decode_int},
    {0x0D, 4, RB_FLOAT32, decode_float}, {0x0E, 8, RB_FLOAT64, decode_double},
};

static const idx_type *find_type(unsigned char code) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (types[t].code == code) {
            return &types[t];
        }
    }
    return NULL;
}

static bool recognise(const rb_probe *probe) {
    return !probe->folder && probe->n_bytes >= 4 && probe->bytes[0] == 0 && probe->bytes[1] == 0 &&
           find_type(probe->bytes[2]);
}

/* A file being read. zlib reads plain files as they are. */
typedef struct reader {
    rb_context *ctx;
    const char *path;
    gzFile file;
    const idx_type *type;
    int64_t samples, features;
    int64_t promised; /* bytes of the file by its header; 0: the header is not read yet */
} reader;

/* Exactly `count` bytes, or a sentence. */
static rb_error read_bytes(reader *r, void *bytes, int count) {
    int got = gzread(r->file, bytes, (unsigned)count);
    if (got == count) {
        return RB_OK;
    }
    int code;
    const char *message = gzerror(r->file, &code);
    if (code == Z_ERRNO) {
        return rb_fail(r->ctx, RB_ERROR_FILE, "%s: cannot be read: %s", r->path, strerror(errno));
    }
    if (code != Z_OK && code != Z_BUF_ERROR) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the gzip file is damaged: %s", r->path,
                       message);
    }
    if (r->promised == 0) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the IDX file ends within its header", r->path);
    }
    return rb_fail(r->ctx, RB_ERROR_FORMAT,
                   "%s: the IDX file ends after %lld bytes, but its header promises %lld", r->path,
                   (long long)gztell(r->file), (long long)r->promised);
}

/* Could a file of this size hold that many values? Asked before memory is. */
static rb_error check_size(reader *r) {
    struct stat file;
    if (stat(r->path, &file) != 0) {
        return rb_fail(r->ctx, RB_ERROR_FILE, "%s: cannot be read: %s", r->path, strerror(errno));
    }
    int64_t most, bytes, cells;
    if (!rb_multiply(file.st_size, gzdirect(r->file) ? 1 : deflate_limit, &most)) {
        most = INT64_MAX;
    }
    if (!rb_multiply(r->samples, r->features, &cells) ||
        !rb_multiply(cells, r->type->size, &bytes) || bytes > most) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT,
                       "%s: the header of the IDX file promises %lld samples x %lld features, more "
                       "than the file can hold",
                       r->path, (long long)r->samples, (long long)r->features);
    }
    r->promised = gztell(r->file) + bytes;
    return RB_OK;
}

static rb_error read_header(reader *r) {
    unsigned char magic[4], size[4];
    rb_error err = read_bytes(r, magic, 4);
    if (err) {
        return err;
    }
    r->type = find_type(magic[2]);
    if (magic[0] != 0 || magic[1] != 0 || !r->type) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: this is not an IDX file", r->path);
    }
    if (magic[3] == 0) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the IDX file has no dimensions", r->path);
    }
    r->features = 1;
    for (int d = 0; d < magic[3]; d++) {
        err = read_bytes(r, size, 4);
        if (err) {
            return err;
        }
        int64_t *product = d == 0 ? &r->samples : &r->features;
        int64_t before = d == 0 ? 1 : r->features;
        if (big_32(size) == 0) {
            return rb_fail(r->ctx, RB_ERROR_FORMAT,
                           "%s: dimension %d of the IDX file is 0: it holds no values", r->path,
                           d + 1);
        }
        if (!rb_multiply(before, big_32(size), product)) {
            return rb_fail(r->ctx, RB_ERROR_FORMAT,
                           "%s: the dimensions of the IDX file are too large to be true", r->path);
        }
    }
    return check_size(r);
}

static void store(const idx_type *type, const unsigned char *bytes, int64_t count, void *values,
                  int64_t first) {
    for (int64_t i = 0; i < count; i++) {
        double value = type->decode(bytes + i * type->size);
        if (type->type == RB_FLOAT32) {
            ((float *)values)[first + i] = (float)value;
        } else {
            ((double *)values)[first + i] = value;
        }
    }
}

static rb_error read_values(reader *r, unsigned char *chunk, void *values) {
    int64_t cells = r->samples * r->features, most = CHUNK_BYTES / r->type->size;
    for (int64_t first = 0; first < cells; first += most) {
        int64_t count = cells - first < most ? cells - first : most;
        rb_error err = read_bytes(r, chunk, (int)(count * r->type->size));
        if (err) {
            return err;
        }
        store(r->type, chunk, count, values, first);
    }
    /* One more read: it must find the end, and makes zlib check the sum of a gzip file. */
    if (gzread(r->file, chunk, 1) == 1) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT,
                       "%s: the IDX file has more bytes than its header promises", r->path);
    }
    int code;
    const char *message = gzerror(r->file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        return rb_fail(r->ctx, RB_ERROR_FORMAT, "%s: the gzip file is damaged: %s", r->path,
                       message);
    }
    return RB_OK;
}

static rb_error read_idx(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_matrix **matrix) {
    (void)options;
    *matrix = NULL;
    reader r = {.ctx = ctx, .path = path, .file = rb_gzip_open(ctx, path)};
    if (!r.file) {
        return rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    rb_matrix *m = NULL;
    unsigned char *chunk = NULL;
    rb_error err = read_header(&r);
    if (err) {
        goto done;
    }
    err = rb_matrix_new_dense(ctx, r.type->type, r.samples, r.features, &m);
    if (err) {
        goto done;
    }
    chunk = rb_alloc(ctx, CHUNK_BYTES, 1);
    err = chunk ? read_values(&r, chunk, (void *)m->values) : RB_ERROR_MEMORY;
    if (!err) {
        *matrix = m;
        m = NULL;
    }
done:
    rb_free(chunk);
    rb_matrix_free(m);
    gzclose(r.file);
    return err;
}

const rb_format rb_format_idx = {"idx", recognise, read_idx, NULL};
