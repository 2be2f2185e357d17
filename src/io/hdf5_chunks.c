/* Data sets of HDF5 in chunks with filters: HDF5 gives the chunks as they are stored, we undo the
 * filters and check that each becomes exactly a chunk. */
#include "hdf5_chunks.h"

#include <stdio.h>
#include <string.h>

/* A row of chunks is kept unpacked up to this many bytes, so that reading by rows unpacks each
 * chunk once. */
enum { KEPT_BYTES = 1 << 28 };

struct kept {
    int64_t row, column;  /* of its first cell */
    unsigned char *bytes; /* NULL: none */
};

struct rb_h5_chunks {
    rb_h5_filters filters;
    bool plain_edges;          /* chunks over the edge have no filters */
    int64_t cell_bytes, whole; /* of a chunk */
    int64_t capacity;          /* of a buffer; 0: not yet known, nor the two above */
    unsigned char *other;      /* for undoing filters */
    unsigned char *values;     /* for converting; values_bytes of them */
    int64_t values_bytes;
    struct kept *kept; /* by columns of chunks */
    int64_t n_kept;
    struct kept done; /* one whose rows have all been asked for */
};

/* What a call of rb_h5_chunks_read is about. */
struct request {
    const rb_h5_data *data;
    int64_t first, count; /* rows */
    hid_t type;
    char *out;
    rb_h5_cell cell;
    int64_t offset[2];          /* of the chunk that it is at */
    int64_t row, rows, columns; /* what it wants of that; of the data set */
};

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- opening ---- */

rb_error rb_h5_chunks_open(rb_h5_data *data, hid_t list) {
    rb_h5_filters filters = rb_h5_filters_find(list);
    unsigned options = 0;
    data->packed = filters.packing;
    data->chunks = rb_alloc_zero(data->file->ctx, 1, sizeof *data->chunks);
    if (!data->chunks) return RB_ERROR_MEMORY;
    data->chunks->filters = filters;
    data->chunks->plain_edges =
        H5Pget_chunk_opts(list, &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
    return RB_OK;
}

void rb_h5_chunks_close(rb_h5_chunks *c) {
    if (!c) return;
    for (int64_t i = 0; i < c->n_kept; i++)
        rb_free(c->kept[i].bytes);
    rb_free(c->kept);
    rb_free(c->done.bytes);
    rb_free(c->other);
    rb_free(c->values);
    rb_free(c);
}

/* Sizes and buffers, for the first reading. */
static rb_error prepare(rb_h5_chunks *c, const rb_h5_data *data) {
    const int64_t *chunk = data->chunk;
    rb_context *ctx = data->file->ctx;
    int64_t cells;
    if (c->filters.unknown[0]) {
        return rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                          "the data set '%s' is packed with %s, which HDF5 unpacks without checks; "
                          "repack it with h5repack -f GZIP=4",
                          data->path, c->filters.unknown);
    }
    if (c->filters.lzf && !*rb_io_lzf()) {
        return rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                          "the data set '%s' is packed with LZF, but this rarebit was built "
                          "without liblzf; repack it with h5repack -f GZIP=4",
                          data->path);
    }
    c->cell_bytes = rb_h5_cell_bytes(data);
    if (c->cell_bytes == 0) {
        return rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                          "the data set '%s' has cells of an unknown type", data->path);
    }
    if (chunk[0] == 0 || chunk[1] == 0 || !rb_multiply(chunk[0], chunk[1], &cells) ||
        !rb_multiply(cells, c->cell_bytes, &c->whole) || c->whole > UINT32_MAX / 2) {
        return rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                          "the chunks of the data set '%s' are too large; repack it with "
                          "h5repack -l CHUNK=100x100",
                          data->path);
    }
    int64_t capacity = rb_h5_filters_capacity(c->whole);
    c->n_kept = larger(1, rb_smaller((data->shape[1] - 1) / chunk[1] + 1, KEPT_BYTES / capacity));
    rb_free(c->kept); /* of a preparation without success */
    rb_free(c->other);
    c->kept = rb_alloc_zero(ctx, c->n_kept, sizeof *c->kept);
    c->n_kept = c->kept ? c->n_kept : 0;
    c->other = rb_alloc_zero(ctx, capacity, 1);
    c->capacity = c->kept && c->other ? capacity : 0;
    return c->capacity > 0 ? RB_OK : RB_ERROR_MEMORY;
}

/* ---- a chunk ---- */

/* Bytes of the chunk as it is stored; false when HDF5 finds none. One of 0 bytes, which cannot be,
 * is looked for second, since that looks at all chunks. */
static bool stored_bytes(const struct request *q, hsize_t *bytes) {
    hsize_t at[2] = {(hsize_t)q->offset[0], (hsize_t)q->offset[1]}, none;
    haddr_t address = HADDR_UNDEF;
    unsigned skipped;
    hid_t data = q->data->id;
    return H5Dget_chunk_storage_size(data, at, bytes) >= 0 &&
           (*bytes > 0 || H5Dget_chunk_info_by_coord(data, at, &skipped, &address, &none) < 0 ||
            address != HADDR_UNDEF);
}

static bool read_stored(const struct request *q, uint32_t *skipped, void *bytes) {
    hsize_t at[2] = {(hsize_t)q->offset[0], (hsize_t)q->offset[1]};
    return H5Dread_chunk(q->data->id, H5P_DEFAULT, at, skipped, bytes) >= 0;
}

static rb_error damaged(const rb_h5_chunks *c, const struct request *q, int64_t got) {
    char what[96] = "cannot be unpacked";
    if (got == RB_H5_BAD_SUM) {
        snprintf(what, sizeof what, "does not fit its checksum");
    } else if (got >= 0) {
        snprintf(what, sizeof what, "has %lld bytes when unpacked, but must have %lld",
                 (long long)got, (long long)c->whole);
    }
    return rb_h5_fail(q->data->file, RB_ERROR_FORMAT,
                      "a chunk of the data set '%s' is damaged: that of row %lld, column %lld %s",
                      q->data->path, (long long)q->offset[0] + 1, (long long)q->offset[1] + 1,
                      what);
}

/* Unpacks the chunk, which has so many bytes. */
static rb_error load(rb_h5_chunks *c, const struct request *q, hsize_t stored, struct kept *to) {
    const int64_t *offset = q->offset, *chunk = q->data->chunk, *shape = q->data->shape;
    uint32_t skipped = 0;
    int64_t got = -1;
    to->row = -1;
    to->bytes = to->bytes ? to->bytes : rb_alloc_zero(q->data->file->ctx, c->capacity, 1);
    if (!to->bytes) return RB_ERROR_MEMORY;
    if (stored > 0 && stored <= (hsize_t)c->capacity) {
        if (!read_stored(q, &skipped, to->bytes)) return rb_h5_data_broken(q->data);
        bool edge = offset[0] + chunk[0] > shape[0] || offset[1] + chunk[1] > shape[1];
        skipped = c->plain_edges && edge ? UINT32_MAX : skipped;
        got = rb_h5_filters_inverse(&c->filters, &to->bytes, &c->other, (int64_t)stored,
                                    c->capacity, skipped);
    }
    if (got != c->whole) return damaged(c, q, got);
    to->row = offset[0];
    to->column = offset[1];
    return RB_OK;
}

/* ---- the part of a chunk that is asked for ---- */

/* Where row `row` of that part goes. */
static char *place_of(const struct request *q, int64_t row) {
    int64_t cell = (q->row + row - q->first) * q->data->shape[1] + q->offset[1];
    return q->out + cell * (int64_t)q->cell.to_bytes;
}

static void copy_values(const rb_h5_chunks *c, const rb_h5_cell *cell, const unsigned char *from,
                        int64_t count, void *to) {
    if (cell->from_bytes == (size_t)c->cell_bytes) {
        memcpy(to, from, (size_t)count * cell->from_bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)to + i * (int64_t)cell->from_bytes,
               from + i * c->cell_bytes + (int64_t)cell->offset, cell->from_bytes);
    }
}

static rb_error need_values(rb_h5_chunks *c, const struct request *q) {
    int64_t bytes =
        q->rows * q->columns * larger((int64_t)q->cell.from_bytes, (int64_t)q->cell.to_bytes);
    if (bytes > c->values_bytes) {
        rb_free(c->values);
        c->values = rb_alloc(q->data->file->ctx, bytes, 1);
        c->values_bytes = c->values ? bytes : 0;
    }
    return c->values ? RB_OK : RB_ERROR_MEMORY;
}

/* Gives what a chunk, unpacked, has of what is asked for. */
static rb_error give(rb_h5_chunks *c, const struct request *q, const unsigned char *bytes) {
    int64_t chunk_row = q->data->chunk[1] * c->cell_bytes;
    int64_t from_row = q->columns * (int64_t)q->cell.from_bytes;
    int64_t to_row = q->columns * (int64_t)q->cell.to_bytes;
    bool convert = q->cell.convert;
    rb_error err = convert ? need_values(c, q) : RB_OK;
    bytes += (q->row - q->offset[0]) * chunk_row;
    for (int64_t i = 0; !err && i < q->rows; i++) {
        void *to = convert ? (void *)(c->values + i * from_row) : place_of(q, i);
        copy_values(c, &q->cell, bytes + i * chunk_row, q->columns, to);
    }
    if (!err && convert &&
        H5Tconvert(q->cell.from, q->cell.to, (size_t)(q->rows * q->columns), c->values, NULL,
                   H5P_DEFAULT) < 0) {
        err = rb_h5_broken(q->data->file, RB_ERROR_FORMAT, "cannot convert the data set",
                           q->data->path);
    }
    for (int64_t i = 0; !err && convert && i < q->rows; i++)
        memcpy(place_of(q, i), c->values + i * to_row, (size_t)to_row);
    return err;
}

/* The same for a chunk that HDF5 does not find: it gives the fill value if the chunk was never
 * written, and fails otherwise. */
static rb_error give_fill(const struct request *q) {
    size_t bytes = q->cell.to_bytes;
    char *first = place_of(q, 0);
    rb_h5_forget(q->data->file);
    memset(first, 0, bytes);
    if (!rb_h5_transfer(q->data->id, (int64_t[]){q->row, q->offset[1]}, (int64_t[]){1, 1}, q->type,
                        first, NULL))
        return rb_h5_data_broken(q->data);
    for (int64_t i = 0; i < q->rows; i++)
        for (int64_t k = i == 0; k < q->columns; k++)
            memcpy(place_of(q, i) + k * (int64_t)bytes, first, bytes);
    return RB_OK;
}

/* ---- all chunks of a request ---- */

static rb_error read_chunk(rb_h5_chunks *c, struct request *q) {
    const int64_t *offset = q->offset, *chunk = q->data->chunk, *shape = q->data->shape;
    int64_t end = rb_smaller(offset[0] + chunk[0], shape[0]), asked = q->first + q->count;
    hsize_t stored = 0;
    struct kept *kept = &c->kept[rb_smaller(offset[1] / chunk[1], c->n_kept - 1)];
    q->row = larger(offset[0], q->first);
    q->rows = rb_smaller(end, asked) - q->row;
    q->columns = rb_smaller(chunk[1], shape[1] - offset[1]);
    if (kept->bytes && kept->row == offset[0] && kept->column == offset[1])
        return give(c, q, kept->bytes);
    if (!stored_bytes(q, &stored)) return give_fill(q);
    kept = end <= asked ? &c->done : kept;
    rb_error err = load(c, q, stored, kept);
    return err ? err : give(c, q, kept->bytes);
}

rb_error rb_h5_chunks_read(const rb_h5_data *data, int64_t first, int64_t count, hid_t type,
                           void *values) {
    const int64_t *chunk = data->chunk;
    struct request q = {data, first, count, type, .out = values};
    rb_h5_chunks *c = data->chunks;
    rb_error err = c->capacity == 0 ? prepare(c, data) : RB_OK;
    if (err) return err;
    err = rb_h5_cell_find(data, type, &q.cell);
    if (!err && (int64_t)(q.cell.offset + q.cell.from_bytes) > c->cell_bytes)
        err = rb_h5_data_broken(data);
    for (int64_t i = first / chunk[0]; !err && i * chunk[0] < first + count; i++) {
        for (int64_t k = 0; !err && k * chunk[1] < data->shape[1]; k++) {
            q.offset[0] = i * chunk[0];
            q.offset[1] = k * chunk[1];
            err = rb_check_stop(data->file->ctx);
            err = err ? err : read_chunk(c, &q);
        }
    }
    rb_h5_drop(q.cell.from);
    rb_h5_drop(q.cell.to);
    return err;
}
