/* Data sets of HDF5 that are packed with LZF, as h5py offers it and AnnData files have it. HDF5
 * itself cannot unpack them, and a filter that we gave it would be one for the whole process. So it
 * gives the chunks as they are stored, and we undo what was done to them: LZF, and shuffle and
 * fletcher32 beside it. */
#include "hdf5_base.h"

#include <lzf.h>
#include <stdio.h>
#include <string.h>

enum { LZF = 32000, MOST_FILTERS = 8 };

struct reader {
    rb_h5 *file;
    const char *path;
    const rb_h5_data *data;
    int n_filters;
    H5Z_filter_t filters[MOST_FILTERS]; /* in the order of writing */
    hsize_t chunk[2];
    int64_t cells;          /* of a chunk */
    size_t file_size, size; /* bytes of a number in the file, and as it is asked for */
    hid_t file_type, type;
    bool convert;
    unsigned char *stored, *unpacked; /* both of the same size */
    unsigned char fill[16];
};

static rb_error damaged(const struct reader *r) {
    return rb_h5_fail(r->file, RB_ERROR_FORMAT, "a chunk of the data set '%s' is damaged", r->path);
}

bool rb_h5_has_lzf(hid_t properties) {
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        size_t none = 0;
        unsigned flags;
        if (H5Pget_filter2(properties, (unsigned)i, &flags, &none, NULL, 0, NULL, NULL) == LZF) {
            return true;
        }
    }
    return false;
}

/* ---- undoing filters ---- */

/* Byte b of every number stands together: the first bytes, then the second ones. */
static void unshuffle(const unsigned char *from, int64_t bytes, int64_t size, unsigned char *to) {
    int64_t count = bytes / size;
    for (int64_t b = 0; b < size; b++) {
        for (int64_t i = 0; i < count; i++) {
            to[i * size + b] = from[b * count + i];
        }
    }
    memcpy(to + count * size, from + count * size, (size_t)(bytes - count * size));
}

/* Fletcher's checksum of words of 16 bits, the first byte high; sums are taken modulo 65535, where
 * what is not 0 stays so. */
static uint32_t fletcher(const unsigned char *bytes, int64_t count) {
    uint64_t first = 0, second = 0;
    for (int64_t i = 0; i < count; i += 2) {
        uint64_t word = (uint64_t)bytes[i] << 8 | (i + 1 < count ? bytes[i + 1] : 0);
        first += word;
        first = first > 65535 ? first - 65535 : first;
        second += first;
        second = second > 65535 ? second - 65535 : second;
    }
    return (uint32_t)(second << 16 | first);
}

static bool checksum_fits(const unsigned char *bytes, int64_t count) {
    const unsigned char *end = bytes + count;
    uint32_t stored =
        (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    return fletcher(bytes, count) == stored;
}

/* Undoes what was done to a chunk of `bytes` bytes in r->stored; bits of `skipped` are filters that
 * were not applied. The chunk ends up in r->stored. */
static rb_error unpack(struct reader *r, int64_t bytes, uint32_t skipped) {
    int64_t whole = r->cells * (int64_t)r->file_size;
    bool packed = true;
    for (int i = r->n_filters - 1; i >= 0; i--) {
        unsigned char *old = r->stored;
        if (skipped >> i & 1) {
            continue;
        }
        if (r->filters[i] == H5Z_FILTER_FLETCHER32) {
            bytes -= 4;
            if (bytes < 0 || !checksum_fits(r->stored, bytes)) {
                return damaged(r);
            }
            continue;
        }
        if (r->filters[i] == LZF) { /* a checksum may have been packed, too */
            bytes = packed ? lzf_decompress(r->stored, (unsigned)bytes, r->unpacked,
                                            (unsigned)whole + 4 * MOST_FILTERS)
                           : 0;
            packed = false;
        } else {
            unshuffle(r->stored, bytes, (int64_t)r->file_size, r->unpacked);
        }
        r->stored = r->unpacked;
        r->unpacked = old;
    }
    return bytes == whole ? RB_OK : damaged(r);
}

/* ---- chunks ---- */

#if H5_VERSION_GE(1, 10, 5)
/* Asked for second, since it looks through all chunks. */
static bool never_written(struct reader *r, const hsize_t *offset) {
    haddr_t address;
    hsize_t bytes;
    unsigned skipped;
    rb_h5_forget(r->file);
    return H5Dget_chunk_info_by_coord(r->data->id, offset, &skipped, &address, &bytes) >= 0 &&
           address == HADDR_UNDEF;
}

/* A chunk as it is stored, of at most so many bytes; 0 bytes: it was never written. */
static bool read_stored(struct reader *r, const hsize_t *offset, int64_t most, hsize_t *bytes,
                        uint32_t *skipped) {
    if (H5Dget_chunk_storage_size(r->data->id, offset, bytes) < 0) {
        *bytes = 0;
        return never_written(r, offset);
    }
    return *bytes == 0 || *bytes > (hsize_t)most ||
           H5Dread_chunk(r->data->id, H5P_DEFAULT, offset, skipped, r->stored) >= 0;
}
#else
static bool read_stored(struct reader *r, const hsize_t *offset, int64_t most, hsize_t *bytes,
                        uint32_t *skipped) {
    (void)offset, (void)most, (void)bytes, (void)skipped;
    snprintf(r->file->reason, RB_H5_REASON, "reading LZF needs HDF5 1.10.5");
    return false;
}
#endif

/* The chunk at an offset, converted, into r->stored. */
static rb_error read_chunk(struct reader *r, const hsize_t *offset) {
    int64_t most = r->cells * (int64_t)r->file_size + 4 * MOST_FILTERS;
    hsize_t bytes = 0;
    uint32_t skipped = 0;
    if (!read_stored(r, offset, most, &bytes, &skipped)) {
        return rb_h5_broken(r->file, RB_ERROR_FORMAT, "cannot read the data set", r->path);
    }
    if (bytes == 0) { /* never written; of texts, which may be longer than `fill`, all is 0 */
        memset(r->stored, 0, (size_t)r->cells * r->size);
        for (int64_t i = 0; i < r->cells; i++) {
            memcpy(r->stored + i * (int64_t)r->size, r->fill, r->size <= 16 ? r->size : 16);
        }
        return RB_OK;
    }
    rb_error err = bytes <= (hsize_t)most ? unpack(r, (int64_t)bytes, skipped) : damaged(r);
    if (!err && r->convert &&
        H5Tconvert(r->file_type, r->type, (size_t)r->cells, r->stored, r->unpacked, H5P_DEFAULT) <
            0) {
        err = rb_h5_broken(r->file, RB_ERROR_FORMAT, "cannot convert the data set", r->path);
    }
    return err;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Copies what a chunk has of the rectangle start .. start + count - 1. */
static void copy_part(const struct reader *r, const hsize_t *offset, const int64_t *start,
                      const int64_t *count, char *values) {
    int64_t from[2], end[2];
    for (int d = 0; d < 2; d++) {
        from[d] = larger((int64_t)offset[d], start[d]);
        end[d] = smaller((int64_t)(offset[d] + r->chunk[d]), start[d] + count[d]);
    }
    for (int64_t i = from[0]; i < end[0]; i++) {
        int64_t in = (i - (int64_t)offset[0]) * (int64_t)r->chunk[1] + from[1] - (int64_t)offset[1];
        int64_t out = (i - start[0]) * count[1] + from[1] - start[1];
        memcpy(values + out * (int64_t)r->size, r->stored + in * (int64_t)r->size,
               (size_t)(end[1] - from[1]) * r->size);
    }
}

/* ---- a rectangle ---- */

static rb_error find_filters(struct reader *r, hid_t list) {
    r->n_filters = H5Pget_nfilters(list);
    bool known = r->n_filters <= MOST_FILTERS;
    for (int i = 0; known && i < r->n_filters; i++) {
        size_t none = 0;
        unsigned flags;
        H5Z_filter_t filter = H5Pget_filter2(list, (unsigned)i, &flags, &none, NULL, 0, NULL, NULL);
        known = filter == LZF || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
        r->filters[i] = filter;
    }
    return known ? RB_OK
                 : rb_h5_fail(r->file, RB_ERROR_UNSUPPORTED,
                              "the data set '%s' is packed with LZF and another filter; repack it "
                              "with h5repack -f GZIP=4",
                              r->path);
}

/* Sizes of chunks and numbers, and what stands where nothing was written. */
static rb_error find_sizes(struct reader *r, hid_t list) {
    int64_t bytes;
    bool references = H5Tget_class(r->type) == H5T_OPAQUE;
    r->chunk[1] = 1;
    r->size = H5Tget_size(r->type);
    r->file_size = references ? r->size : H5Tget_size(r->file_type);
    bool texts = H5Tdetect_class(r->file_type, H5T_STRING) > 0 && r->data->kind == H5T_COMPOUND;
    if (texts && H5Tdetect_class(r->type, H5T_OPAQUE) > 0) { /* its layout in the file is hidden */
        return rb_h5_fail(r->file, RB_ERROR_UNSUPPORTED,
                          "the table '%s' has texts of any length packed with LZF; repack it with "
                          "h5repack -f GZIP=4",
                          r->path);
    }
    if (H5Pget_chunk(list, 2, r->chunk) < 1 ||
        !rb_multiply((int64_t)r->chunk[0], (int64_t)r->chunk[1], &r->cells) ||
        !rb_multiply(r->cells, larger((int64_t)r->size, (int64_t)r->file_size), &bytes) ||
        bytes > UINT32_MAX - 4 * MOST_FILTERS) {
        return damaged(r);
    }
    r->convert = !references && H5Tequal(r->file_type, r->type) <= 0;
    if (r->data->numeric && H5Pget_fill_value(list, r->type, r->fill) < 0) {
        rb_h5_forget(r->file); /* none is defined: 0 */
    }
    r->stored = rb_alloc_zero(r->file->ctx, bytes + 4 * MOST_FILTERS, 1);
    r->unpacked = rb_alloc_zero(r->file->ctx, bytes + 4 * MOST_FILTERS, 1);
    return r->stored && r->unpacked ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error read_all(struct reader *r, const int64_t *start, const int64_t *count,
                         void *values) {
    rb_error err = RB_OK;
    hsize_t first[2], offset[2];
    for (int d = 0; d < 2; d++) {
        first[d] = (hsize_t)start[d] / r->chunk[d] * r->chunk[d];
    }
    for (offset[0] = first[0]; !err && (int64_t)offset[0] < start[0] + count[0];
         offset[0] += r->chunk[0]) {
        for (offset[1] = first[1]; !err && (int64_t)offset[1] < start[1] + count[1];
             offset[1] += r->chunk[1]) {
            err = read_chunk(r, offset);
            if (!err) {
                copy_part(r, offset, start, count, values);
            }
        }
    }
    return err;
}

rb_error rb_h5_lzf_read(rb_h5 *file, const char *path, const rb_h5_data *data, const int64_t *start,
                        const int64_t *count, hid_t type, void *values) {
    struct reader r = {.file = file, .path = path, .data = data, .type = type};
    hid_t list = H5Dget_create_plist(data->id);
    r.file_type = H5Dget_type(data->id);
    rb_error err = list >= 0 && r.file_type >= 0
                       ? find_filters(&r, list)
                       : rb_h5_broken(file, RB_ERROR_FORMAT, "cannot read the data set", path);
    if (!err) {
        err = find_sizes(&r, list);
    }
    if (!err) {
        err = read_all(&r, start, count, values);
    }
    rb_free(r.stored);
    rb_free(r.unpacked);
    if (r.file_type >= 0) {
        H5Tclose(r.file_type);
    }
    if (list >= 0) {
        H5Pclose(list);
    }
    return err;
}
