/* Chunks of data sets within src/io: what hdf5_chunks.c needs of hdf5_filters.c and
 * hdf5_cells.c. */
#ifndef RB_HDF5_CHUNKS_H
#define RB_HDF5_CHUNKS_H

#include "hdf5_base.h"

/* ---- filters (hdf5_filters.c) ---- */

enum { RB_H5_FILTERS = 8, RB_H5_BAD_SUM = -2 };

typedef struct rb_h5_filters {
    int count;
    bool packing;                   /* is there more than shuffled bytes and checksums? */
    bool lzf;                       /* is LZF among them, which HDF5 cannot undo? */
    char unknown[32];               /* the name of one that cannot be undone here; "": none */
    H5Z_filter_t id[RB_H5_FILTERS]; /* in the order of writing */
    unsigned number[RB_H5_FILTERS]; /* of shuffle: bytes of what is shuffled */
} rb_h5_filters;

/* The filters of a data set with these properties of creation. */
rb_h5_filters rb_h5_filters_find(hid_t list);

/* What the bytes of a chunk may become on the way, if they are `whole` without filters. */
int64_t rb_h5_filters_capacity(int64_t whole);

/* Undoes the filters of a chunk of `count` bytes; bits of `skipped` are filters that were not
 * applied. Both buffers have `room` bytes and change places as needed; the chunk ends up in
 * *bytes. Gives its length; -1: it cannot be unpacked, RB_H5_BAD_SUM: its
 * checksum does not fit. */
int64_t rb_h5_filters_inverse(const rb_h5_filters *filters, unsigned char **bytes,
                              unsigned char **other, int64_t count, int64_t capacity,
                              uint32_t skipped);

/* Unpacks LZF; below 0: that cannot be done (lzf.c). */
int64_t rb_lzf_unpack(const unsigned char *bytes, int64_t count, unsigned char *out,
                      int64_t capacity);

/* ---- cells (hdf5_cells.c) ---- */

/* How to take a value out of the cell of a data set. */
typedef struct rb_h5_cell {
    hid_t from, to; /* types of the value in the file, and as it is asked for */
    size_t offset;  /* of the value in its cell */
    size_t from_bytes, to_bytes;
    bool convert;
} rb_h5_cell;

/* For a type that is asked for: of the whole cell, or a compound of one member of it.
 * RB_ERROR_UNSUPPORTED for what is no number, text of fixed length or reference. Drop both types in
 * any case. */
rb_error rb_h5_cell_find(const rb_h5_data *data, hid_t type, rb_h5_cell *cell);

#endif
