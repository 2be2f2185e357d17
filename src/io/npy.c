/* Reading .npy, the format of numpy's arrays: mapped where the numbers can be used as they are.
 *
 * An array of more than two dimensions is read as samples x everything else, as numpy's
 * X.reshape(len(X), -1) gives it.
 */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_AT_ONCE = 1 << 22 };

/* An open file. Its numbers are mapped, or in memory, or (raw NULL) read as they are needed. */
struct npy {
    int file;
    char *path;
    rb_npy_header header;
    const char *raw; /* the first number */
    void *map;       /* of the whole file */
    size_t map_bytes;
    void *memory;
    /* While streaming: */
    void *rows;     /* converted */
    char *raw_rows; /* as they stand in the file */
    int64_t rows_room, raw_room;
};

static void npy_free(void *owner) {
    struct npy *npy = owner;
    if (!npy) {
        return;
    }
    if (npy->map) {
        munmap(npy->map, npy->map_bytes);
    }
    if (npy->file >= 0) {
        close(npy->file);
    }
    rb_free(npy->memory);
    rb_free(npy->rows);
    rb_free(npy->raw_rows);
    rb_free(npy->path);
    rb_free(npy);
}

/* Reads exactly `bytes` from `offset` on. */
static rb_error read_bytes(rb_context *ctx, const struct npy *npy, void *out, int64_t offset,
                           int64_t bytes) {
    for (int64_t done = 0; done < bytes;) {
        ssize_t count = pread(npy->file, (char *)out + done, (size_t)(bytes - done), offset + done);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", npy->path,
                           count < 0 ? strerror(errno) : "it became shorter while it was read");
        }
        done += count;
    }
    return RB_OK;
}

/* ---- opening ---- */

static rb_error read_header(rb_context *ctx, struct npy *npy, int64_t file_bytes) {
    char start[RB_NPY_PREFIX];
    int64_t there = file_bytes < RB_NPY_PREFIX ? file_bytes : RB_NPY_PREFIX;
    rb_error err = read_bytes(ctx, npy, start, 0, there);
    if (!err) {
        err = rb_npy_prefix(ctx, npy->path, start, there, file_bytes, &npy->header);
    }
    if (err) {
        return err;
    }
    int64_t length = npy->header.data_offset - npy->header.text_offset;
    char *text = rb_alloc(ctx, length + 1, 1);
    if (!text) {
        return RB_ERROR_MEMORY;
    }
    err = read_bytes(ctx, npy, text, npy->header.text_offset, length);
    text[length] = '\0';
    if (!err) {
        err = rb_npy_parse(ctx, npy->path, text, file_bytes, &npy->header);
    }
    rb_free(text);
    return err;
}

static rb_error npy_open(rb_context *ctx, const char *path, struct npy **out) {
    struct stat info;
    struct npy *npy = rb_alloc_zero(ctx, 1, sizeof *npy);
    if (!npy) {
        return RB_ERROR_MEMORY;
    }
    npy->file = -1;
    npy->path = rb_copy_text(ctx, path);
    rb_error err = npy->path ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        npy->file = open(path, O_RDONLY | O_CLOEXEC);
        if (npy->file < 0 || fstat(npy->file, &info)) {
            err = rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
        }
    }
    if (!err) {
        err = read_header(ctx, npy, info.st_size);
    }
    if (err) {
        npy_free(npy);
        return err;
    }
    /* Where the address space is too small, blocks are read instead. */
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, npy->file, 0);
    if (map != MAP_FAILED) {
        npy->map = map;
        npy->map_bytes = (size_t)info.st_size;
        npy->raw = (const char *)map + npy->header.data_offset;
    }
    *out = npy;
    return RB_OK;
}

rb_error rb_npy_look(rb_context *ctx, const char *path, rb_npy_header *header) {
    struct npy *npy;
    rb_error err = npy_open(ctx, path, &npy);
    if (!err) {
        *header = npy->header;
        npy_free(npy);
    }
    return err;
}

/* Without a mapping: the whole array into memory. */
static rb_error load_raw(rb_context *ctx, struct npy *npy) {
    if (npy->raw) {
        return RB_OK;
    }
    const rb_npy_header *h = &npy->header;
    int64_t bytes =
        h->n_samples * h->n_features * h->item_bytes; /* checked: not above the file's */
    npy->memory = rb_alloc(ctx, bytes, 1);
    if (!npy->memory) {
        return RB_ERROR_MEMORY;
    }
    npy->raw = npy->memory;
    return read_bytes(ctx, npy, npy->memory, h->data_offset, bytes);
}

/* Can the numbers be used where they are? */
static bool usable(const struct npy *npy) {
    const rb_npy_header *h = &npy->header;
    return h->kind == 'f' && h->item_bytes >= 4 && !h->swapped && !h->scattered && npy->raw &&
           (uintptr_t)npy->raw % (uintptr_t)h->item_bytes == 0;
}

/* ---- reading whole ---- */

/* A matrix on the file's own numbers, which it takes over, also on failure. */
static rb_error view_file(rb_context *ctx, struct npy *npy, rb_matrix **matrix) {
    const rb_npy_header *h = &npy->header;
    rb_error err = rb_matrix_dense(ctx, h->type, h->n_samples, h->n_features, npy->raw,
                                   h->row_stride, h->column_stride, matrix);
    if (err) {
        npy_free(npy);
        return err;
    }
    (*matrix)->owner = npy;
    (*matrix)->release = npy_free;
    close(npy->file); /* the mapping stays */
    npy->file = -1;
    return RB_OK;
}

static rb_error convert_file(rb_context *ctx, const struct npy *npy, rb_matrix **matrix) {
    const rb_npy_header *h = &npy->header;
    rb_error err = rb_matrix_new_dense(ctx, h->type, h->n_samples, h->n_features, matrix);
    if (!err) {
        rb_npy_convert(h, npy->raw, h->n_samples, (void *)(*matrix)->values);
    }
    return err;
}

static rb_error read_npy(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_matrix **matrix) {
    (void)options;
    struct npy *npy;
    *matrix = NULL;
    rb_error err = npy_open(ctx, path, &npy);
    if (err) {
        return err;
    }
    err = load_raw(ctx, npy);
    if (!err && usable(npy)) {
        return view_file(ctx, npy, matrix);
    }
    if (!err) {
        err = convert_file(ctx, npy, matrix);
    }
    npy_free(npy);
    return err;
}

/* ---- reading by blocks ---- */

/* Makes room for `count` rows; the old ones are not kept. */
static rb_error make_room(rb_context *ctx, void **memory, int64_t *room, int64_t count,
                          int64_t row_bytes) {
    int64_t bytes;
    if (count <= *room) {
        return RB_OK;
    }
    if (!rb_multiply(count, row_bytes, &bytes)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a block of %lld samples is too large",
                       (long long)count);
    }
    void *larger = rb_alloc(ctx, bytes, 1);
    if (!larger) {
        return RB_ERROR_MEMORY;
    }
    rb_free(*memory);
    *memory = larger;
    *room = count;
    return RB_OK;
}

/* Reads and converts rows of a file in C order that is not mapped, a few megabytes at a time. */
static rb_error read_unmapped(rb_context *ctx, struct npy *npy, int64_t first, int64_t count) {
    const rb_npy_header *h = &npy->header;
    int64_t row_bytes = h->n_features * h->item_bytes;
    int64_t row_out = h->n_features * (int64_t)rb_type_size(h->type);
    int64_t step = row_bytes < BYTES_AT_ONCE ? BYTES_AT_ONCE / row_bytes : 1;
    void *raw = npy->raw_rows;
    rb_error err = make_room(ctx, &raw, &npy->raw_room, count < step ? count : step, row_bytes);
    npy->raw_rows = raw;
    for (int64_t done = 0; !err && done < count; done += step) {
        int64_t some = count - done < step ? count - done : step;
        err = read_bytes(ctx, npy, npy->raw_rows, h->data_offset + (first + done) * row_bytes,
                         some * row_bytes);
        if (!err) {
            rb_npy_convert(h, npy->raw_rows, some, (char *)npy->rows + done * row_out);
        }
    }
    return err;
}

static rb_error read_block(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    struct npy *npy = source->state;
    const rb_npy_header *h = &npy->header;
    rb_error err = make_room(ctx, &npy->rows, &npy->rows_room, count,
                             h->n_features * (int64_t)rb_type_size(h->type));
    if (!err && npy->raw) {
        rb_npy_convert(h, npy->raw + first * h->row_stride * h->item_bytes, count, npy->rows);
    } else if (!err) {
        err = read_unmapped(ctx, npy, first, count);
    }
    *view = (rb_matrix){.n_samples = count,
                        .n_features = h->n_features,
                        .type = h->type,
                        .values = npy->rows,
                        .row_stride = h->n_features,
                        .column_stride = 1};
    return err;
}

static void close_stream(rb_source *source) {
    npy_free(source->state);
}

static rb_error stream(rb_context *ctx, struct npy *npy, rb_source **out) {
    rb_source *source = rb_source_new(ctx);
    if (!source) {
        npy_free(npy);
        return RB_ERROR_MEMORY;
    }
    *source = (rb_source){.n_samples = npy->header.n_samples,
                          .n_features = npy->header.n_features,
                          .type = npy->header.type,
                          .read = read_block,
                          .close = close_stream,
                          .state = npy};
    *out = source;
    return RB_OK;
}

static rb_error open_npy(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_source **source) {
    (void)options;
    struct npy *npy;
    rb_matrix *matrix;
    *source = NULL;
    rb_error err = npy_open(ctx, path, &npy);
    if (err) {
        return err;
    }
    if (usable(npy)) {
        err = view_file(ctx, npy, &matrix);
        return err ? err : rb_source_own_matrix(ctx, matrix, source);
    }
    bool by_rows = npy->header.column_stride == 1 && !npy->header.scattered;
    if (!npy->raw && !by_rows) {
        npy_free(npy);
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "%s is in Fortran order and cannot be mapped: it is read whole", path);
    }
    return stream(ctx, npy, source);
}

/* A compressed one is taken too, so that its refusal can say what to do. */
static bool recognise(const rb_probe *probe) {
    return probe->n_bytes >= 6 && memcmp(probe->bytes, "\x93NUMPY", 6) == 0;
}

const rb_format rb_format_npy = {"npy", recognise, read_npy, open_npy};
