/* Undoing what was done to chunks of HDF5: deflate, LZF, shuffle and fletcher32. HDF5 cannot undo
 * LZF, as h5py offers it and AnnData files have it, and a filter that we gave it would be one for
 * the whole process. What others unpack to it does not check: of a chunk that becomes too short it
 * reads on behind the end. */
#include "hdf5_chunks.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { LZF = 32000, WORDS = 4096 };

rb_h5_filters rb_h5_filters_find(hid_t list) {
    rb_h5_filters filters = {.count = H5Pget_nfilters(list)};
    for (int i = 0; i < filters.count; i++) {
        size_t count = 1;
        unsigned flags, number = 0;
        char name[sizeof filters.unknown] = "";
        H5Z_filter_t id =
            H5Pget_filter2(list, (unsigned)i, &flags, &count, &number, sizeof name, name, NULL);
        bool plain = id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32;
        if (i >= RB_H5_FILTERS || !(plain || id == H5Z_FILTER_DEFLATE || id == LZF))
            snprintf(filters.unknown, sizeof filters.unknown, "%s", *name ? name : "its filters");
        filters.packing = filters.packing || !plain;
        filters.lzf = filters.lzf || id == LZF;
        if (i < RB_H5_FILTERS) {
            filters.id[i] = id;
            filters.number[i] = count > 0 ? number : 0;
        }
    }
    return filters;
}

/* A checksum has 4 bytes, and what cannot be packed becomes a little larger. */
int64_t rb_h5_filters_capacity(int64_t whole) {
    return whole + whole / 64 + 1024;
}

/* Byte b of every number stands together: the first bytes, then the second ones. */
static void unshuffle(const unsigned char *from, int64_t bytes, int64_t size, unsigned char *to) {
    int64_t count = bytes / size;
    for (int64_t b = 0; b < size; b++)
        for (int64_t i = 0; i < count; i++)
            to[i * size + b] = from[b * count + i];
    memcpy(to + count * size, from + count * size, (size_t)(bytes - count * size));
}

/* Modulo 65535, where what is not 0 stays so. */
static uint64_t fold(uint64_t sum) {
    return sum == 0 ? 0 : (sum - 1) % 65535 + 1;
}

/* Fletcher's checksum of words of 16 bits, the first byte high. */
static uint32_t fletcher(const unsigned char *bytes, int64_t count) {
    uint64_t first = 0, second = 0;
    int64_t i = 0;
    while (i < count) {
        int64_t end = count - i > 2 * WORDS ? i + 2 * WORDS : count;
        for (; i + 1 < end; i += 2) {
            first += (uint64_t)bytes[i] << 8 | bytes[i + 1];
            second += first;
        }
        if (i < end) { /* a last byte alone */
            first += (uint64_t)bytes[i++] << 8;
            second += first;
        }
        first = fold(first);
        second = fold(second);
    }
    return (uint32_t)(second << 16 | first);
}

/* HDF5 before 1.6.3 wrote the bytes of each half the other way round. */
static bool checksum_fits(const unsigned char *bytes, int64_t count) {
    const unsigned char *end = bytes + count;
    uint32_t stored =
        (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    uint32_t sum = fletcher(bytes, count);
    return sum == stored || ((sum & 0xff00ff) << 8 | (sum >> 8 & 0xff00ff)) == stored;
}

/* Undoes deflate or LZF; below 0: that cannot be done. */
static int64_t unpack(H5Z_filter_t id, const unsigned char *bytes, int64_t count,
                      unsigned char *out, int64_t capacity) {
    uLongf length = (uLongf)capacity;
    if (id == LZF) return rb_lzf_unpack(bytes, count, out, capacity);
    return uncompress(out, &length, bytes, (uLong)count) == Z_OK ? (int64_t)length : -1;
}

int64_t rb_h5_filters_inverse(const rb_h5_filters *filters, unsigned char **bytes,
                              unsigned char **other, int64_t count, int64_t capacity,
                              uint32_t skipped) {
    for (int i = filters->count - 1; i >= 0 && count >= 0; i--) {
        unsigned char *old = *bytes;
        if (skipped >> i & 1) continue;
        if (filters->id[i] == H5Z_FILTER_FLETCHER32) {
            count = count >= 4 && checksum_fits(old, count - 4) ? count - 4 : RB_H5_BAD_SUM;
            continue;
        }
        if (filters->id[i] != H5Z_FILTER_SHUFFLE)
            count = unpack(filters->id[i], old, count, *other, capacity);
        else if (filters->number[i] > 0)
            unshuffle(old, count, filters->number[i], *other);
        else
            return -1;
        *bytes = *other;
        *other = old;
    }
    return count;
}
