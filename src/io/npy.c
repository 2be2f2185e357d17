/* Reading .npy, the format of numpy's arrays. The file is read and not mapped: one that becomes
 * shorter meanwhile would end a program that looks at a mapping of it. A small one is read once and
 * kept, which spares copies; blocks of a large one are read on all threads, a piece on each.
 *
 * An array of more than two dimensions is read as samples x everything else, as numpy's
 * X.reshape(len(X), -1) gives it.
 */
#include "npy.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 20, KEPT_BYTES = 1 << 28 };

/* An open file. */
struct npy {
    int file;
    char *path;
    rb_npy_header header;
    rb_buffer raw;   /* numbers as they stand in the file, to be converted; a piece per worker */
    rb_buffer block; /* while streaming: the samples that were read last */
};

static void npy_free(struct npy *npy) {
    if (npy->file >= 0) close(npy->file);
    rb_free(npy->raw.data);
    rb_free(npy->block.data);
    rb_free(npy->path);
    rb_free(npy);
}

enum { ENDED = -1 }; /* in place of an errno */

/* Reads exactly `bytes` from `offset` on: 0, an errno, or ENDED. */
static int fill(const struct npy *npy, char *out, int64_t offset, int64_t bytes) {
    for (int64_t done = 0; done < bytes;) {
        ssize_t count = pread(npy->file, out + done, (size_t)(bytes - done), offset + done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ENDED;
        done += count;
    }
    return 0;
}

static rb_error fail_unread(rb_context *ctx, const struct npy *npy, int code) {
    return code == 0
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_FILE, "cannot read %s: %s", npy->path,
                         code == ENDED ? "it became shorter while it was read" : strerror(code));
}

static rb_error read_bytes(rb_context *ctx, const struct npy *npy, void *out, int64_t offset,
                           int64_t bytes) {
    return fail_unread(ctx, npy, fill(npy, out, offset, bytes));
}

/* ---- opening ---- */

static rb_error read_header(rb_context *ctx, struct npy *npy, int64_t file_bytes) {
    char start[RB_NPY_PREFIX];
    int64_t there = file_bytes < RB_NPY_PREFIX ? file_bytes : RB_NPY_PREFIX;
    rb_error err = read_bytes(ctx, npy, start, 0, there);
    err = err ? err : rb_npy_prefix(ctx, npy->path, start, there, file_bytes, &npy->header);
    if (err) return err;
    int64_t length = npy->header.data_offset - npy->header.text_offset;
    char *text = rb_alloc(ctx, length + 1, 1);
    if (!text) return RB_ERROR_MEMORY;
    err = read_bytes(ctx, npy, text, npy->header.text_offset, length);
    text[length] = '\0';
    err = err ? err : rb_npy_parse(ctx, npy->path, text, file_bytes, &npy->header);
    rb_free(text);
    return err;
}

static rb_error npy_open(rb_context *ctx, const char *path, struct npy **out) {
    struct stat info;
    struct npy *npy = rb_alloc_zero(ctx, 1, sizeof *npy);
    if (!npy) return RB_ERROR_MEMORY;
    npy->file = -1;
    npy->path = rb_copy_text(ctx, path);
    rb_error err = RB_ERROR_MEMORY;
    if (npy->path) {
        npy->file = rb_reading_open(ctx, path);
        err = npy->file < 0 || fstat(npy->file, &info) ? fail_unread(ctx, npy, errno)
                                                       : read_header(ctx, npy, info.st_size);
    }
    if (err) {
        npy_free(npy);
        return err;
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

/* ---- numbers ---- */

/* Can the numbers be used as they are? */
static bool native(const rb_npy_header *h) {
    return h->item.kind == 'f' && h->item.bytes >= 4 && !h->item.swapped;
}

/* Numbers that are read by pieces. */
struct pieces {
    const struct npy *npy;
    char *out;
    int64_t offset, count;
    int64_t each;     /* numbers of a piece */
    atomic_int error; /* as of fill */
};

static void read_piece(void *arg, int64_t index, int worker) {
    struct pieces *p = arg;
    rb_item item = p->npy->header.item;
    int64_t skip = index * p->each, left = p->count - skip;
    int64_t count = left < p->each ? left : p->each;
    char *out = p->out + skip * (int64_t)rb_type_size(item.type);
    bool plain = native(&p->npy->header);
    char *raw = plain ? out : (char *)p->npy->raw.data + worker * p->each * item.bytes;
    int error = fill(p->npy, raw, p->offset + skip * item.bytes, count * item.bytes);
    if (error)
        atomic_store(&p->error, error);
    else if (!plain)
        rb_items_convert(item, raw, count, out);
}

/* Reads numbers that stand side by side, from number `first` of the file on, on all threads. */
static rb_error read_numbers(rb_context *ctx, struct npy *npy, int64_t first, int64_t count,
                             char *out) {
    const rb_npy_header *h = &npy->header;
    int64_t bytes = h->item.bytes, each = PIECE_BYTES / bytes;
    each = count > 0 && count < each ? count : each;
    struct pieces pieces = {npy, out, h->data_offset + first * bytes, count, each, 0};
    rb_error err = native(h)
                       ? RB_OK
                       : rb_buffer_hold(ctx, &npy->raw, rb_context_threads(ctx) * each * bytes, 1);
    err = err ? err : rb_parallel_or_stop(ctx, (count + each - 1) / each, read_piece, &pieces);
    return err ? err : fail_unread(ctx, npy, pieces.error);
}

/* Of a file by features: how many numbers stand before those of a feature. The last dimension runs
 * fastest among features, the first runs fastest in the file. */
static int64_t feature_offset(const rb_npy_header *h, int64_t feature) {
    int64_t offset = 0, stride = h->n_samples * h->n_features;
    for (int d = h->dimensions - 1; d > 0; d--) {
        stride /= h->shape[d];
        offset += feature % h->shape[d] * stride;
        feature /= h->shape[d];
    }
    return offset;
}

/* Reads samples into count x n_features numbers, in the order of the file. */
static rb_error read_samples(rb_context *ctx, struct npy *npy, int64_t first, int64_t count,
                             void *out, rb_matrix *view) {
    const rb_npy_header *h = &npy->header;
    rb_error err = RB_OK;
    view->row_stride = h->by_features ? 1 : h->n_features;
    view->column_stride = h->by_features ? count : 1;
    if (!h->by_features)
        return read_numbers(ctx, npy, first * h->n_features, count * h->n_features, out);
    for (int64_t j = 0; !err && j < h->n_features; j++) {
        err = read_numbers(ctx, npy, feature_offset(h, j) + first, count,
                           (char *)out + j * count * (int64_t)rb_type_size(h->item.type));
    }
    return err;
}

/* ---- reading whole ---- */

static rb_error read_npy(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_matrix **matrix) {
    struct npy *npy;
    *matrix = NULL;
    rb_error err = npy_open(ctx, path, &npy);
    if (err) return err;
    const rb_npy_header *h = &npy->header;
    void *values = rb_alloc(ctx, h->n_samples * h->n_features, rb_type_size(h->item.type));
    err = values
              ? rb_matrix_own_dense(ctx, h->item.type, h->n_samples, h->n_features, values, matrix)
              : RB_ERROR_MEMORY;
    err = err ? err : read_samples(ctx, npy, 0, h->n_samples, values, *matrix);
    npy_free(npy);
    return rb_matrix_end(err, matrix);
}

/* ---- reading by blocks ---- */

static rb_error read_block(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    struct npy *npy = source->state;
    const rb_npy_header *h = &npy->header;
    rb_error err =
        rb_buffer_hold(ctx, &npy->block, count * h->n_features, rb_type_size(h->item.type));
    *view = (rb_matrix){.n_samples = count,
                        .n_features = h->n_features,
                        .type = h->item.type,
                        .values = npy->block.data};
    return err ? err : read_samples(ctx, npy, first, count, npy->block.data, view);
}

static void close_stream(rb_source *source) {
    npy_free(source->state);
}

/* Samples become features: the numbers of a sample are then those of a feature. False where a
 * sample would not stand side by side. */
static bool transpose(rb_npy_header *h) {
    if (h->by_features && h->dimensions > 2) return false;
    int64_t n_samples = h->n_features;
    h->n_features = h->n_samples;
    h->n_samples = n_samples;
    h->by_features = !h->by_features;
    h->dimensions = 2;
    h->shape[0] = h->n_samples;
    h->shape[1] = h->n_features;
    return true;
}

rb_error rb_npy_stream(rb_context *ctx, const char *path, bool transposed, rb_source **out) {
    struct npy *npy;
    *out = NULL;
    rb_error err = npy_open(ctx, path, &npy);
    if (err) return err;
    rb_npy_header *h = &npy->header;
    if (transposed && !transpose(h)) {
        err = rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                      "%s in Fortran order cannot be transposed by blocks", path);
    }
    rb_source *source = err ? NULL : rb_source_new(ctx);
    if (!source) {
        npy_free(npy);
        return err ? err : RB_ERROR_MEMORY;
    }
    *source = (rb_source){.n_samples = h->n_samples,
                          .n_features = h->n_features,
                          .type = h->item.type,
                          .at_random = !h->by_features,
                          .read = read_block,
                          .close = close_stream,
                          .state = npy};
    *out = source;
    return RB_OK;
}

/* Does each sample stand side by side in the file? */
static bool is_by_rows(const rb_npy_header *h, bool transposed) {
    return transposed ? h->by_features && h->dimensions <= 2 : !h->by_features;
}

/* Where there is no memory for a file it is streamed, and so that each of several processes reads
 * its own samples alone. */
static rb_error open_npy(rb_context *ctx, const char *path, const rb_read_options *options,
                         rb_source **source) {
    rb_npy_header h;
    rb_matrix *matrix;
    bool transposed = options && options->transpose;
    *source = NULL;
    rb_error err = rb_npy_look(ctx, path, &h);
    if (err) return err;
    bool small = h.n_samples * h.n_features <= KEPT_BYTES / (int64_t)rb_type_size(h.item.type);
    if (!small || (rb_ranks(ctx) > 1 && is_by_rows(&h, transposed)))
        return rb_npy_stream(ctx, path, transposed, source);
    err = read_npy(ctx, path, options, &matrix);
    if (!err && transposed)
        err = rb_matrix_transpose(ctx, &matrix); /* strides are swapped: nothing fails */
    err = err ? err : rb_source_own_matrix(ctx, matrix, source);
    return err == RB_ERROR_MEMORY ? rb_npy_stream(ctx, path, transposed, source) : err;
}

/* A compressed one is taken too, so that its refusal can say what to do. */
static bool recognise(const rb_probe *probe) {
    return probe->n_bytes >= 6 && memcmp(probe->bytes, "\x93NUMPY", 6) == 0;
}

const rb_format rb_format_npy = {"npy", recognise, read_npy, open_npy};
