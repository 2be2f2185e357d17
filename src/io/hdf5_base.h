/* HDF5 within src/io: what the readers and writers of HDF5 share. Outside of this room HDF5 is used
 * through the plain functions of io.h. */
#ifndef RB_HDF5_BASE_H
#define RB_HDF5_BASE_H

#include "io.h"

#include <hdf5.h>
#if !H5_VERSION_GE(1, 10, 5) /* older ones do not give chunks as they are stored */
#error "librarebit-io needs HDF5 1.10.5 or later"
#endif

/* ---- reading and writing (hdf5_driver.c) ---- */

/* What became of the calls to the system for one open file. Shared by an rb_h5 and its driver; the
 * one that lives longer frees it. */
typedef struct rb_h5_disk {
    int error;    /* errno of the first call that failed; 0: none */
    bool shorter; /* the file has lost bytes that it had when it was opened */
    bool other;   /* HDF5 wanted to open another file */
    int owners;
    int descriptor; /* to open the file by; -1: by its name */
    hid_t driver;
    struct disk_file *open; /* NULL: none */
} rb_h5_disk;
/* Makes files that are opened with these access properties go through our driver. descriptor: of
 * the file, open already, and taken over; or -1. */
bool rb_h5_disk_use(hid_t access, int descriptor, rb_h5_disk **disk);
/* What went wrong first; NULL: nothing. */
const char *rb_h5_disk_error(const rb_h5_disk *disk);
/* Bytes of the file, past HDF5; false when they are not there, which is then the disk's error. */
bool rb_h5_disk_read(rb_h5_disk *disk, int64_t address, int64_t count, void *bytes);
/* Does the file go on where HDF5 says that it ends? */
bool rb_h5_disk_goes_on(const rb_h5_disk *disk);
void rb_h5_disk_release(rb_h5_disk *disk); /* NULL is accepted */

/* ---- files ---- */

enum { RB_H5_REASON = 160 };

struct rb_h5 {
    rb_context *ctx; /* of the call that holds HDF5; NULL in between */
    char *shown;     /* the path that messages name */
    hid_t id;
    bool reading;
    bool writing; /* neither: what was written is thrown away, and may be incomplete */
    bool summed;  /* it is read, and has the right checksum at its end */
    rb_h5_style style;
    rb_staged *output;         /* of rb_h5_begin; else NULL */
    bool broken;               /* a call of HDF5 has failed */
    char reason[RB_H5_REASON]; /* HDF5's own, of its last call that failed; "": none has */
    rb_h5_disk *disk;
    /* The program's own printer of HDF5 errors, put back when we let go of HDF5. */
    bool old_printer;
    H5E_auto2_t printer;
    void *printer_data;
};

/* ---- the checksum at the end of a file of the style RB_H5_OWN (hdf5_sum.c) ---- */

/* RB_ERROR_FORMAT: the file has another one. Sets file->summed. Without a descriptor (-1) nothing
 * is done. */
rb_error rb_h5_sum_check(rb_h5 *file, int descriptor);
/* Appends it to a file that is closed and not yet renamed. */
rb_error rb_h5_sum_add(rb_context *ctx, const rb_staged *output);

/* HDF5 has global state: whoever calls it holds it. rb_h5_open and rb_h5_create leave it held;
 * an open file that outlives the call lets go in between. */
void rb_h5_hold(rb_h5 *file, rb_context *ctx);
void rb_h5_let_go(rb_h5 *file);

/* rb_fail with the file's name before the message. */
rb_error rb_h5_fail(const rb_h5 *file, rb_error code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The message for a call of HDF5 that failed: its own reason is added in brackets, whatever was
 * closed since. */
rb_error rb_h5_broken(rb_h5 *file, rb_error code, const char *what, const char *path);

/* Forgets the reason of a failure that was none: of looking whether something is there. */
void rb_h5_forget(rb_h5 *file);
/* What to add to a message about something that is missing, if a link to another file was met. */
const char *rb_h5_other_files(const rb_h5 *file);

/* RB_ERROR_FILE if the disk has failed since the file was opened: what was read or written is then
 * worthless. To be asked before anything that was read is given away. */
rb_error rb_h5_check(rb_h5 *file);

/* ---- data sets ---- */

/* Chunks of a data set whose filters we undo (hdf5_chunks.c). */
typedef struct rb_h5_chunks rb_h5_chunks;

typedef struct rb_h5_data {
    rb_h5 *file;
    const char *path; /* the caller's, who keeps it; for messages */
    hid_t id;
    int rank;         /* 0 to 2; larger ones are only counted */
    int64_t shape[2]; /* 1 where the rank is smaller */
    int64_t chunk[2]; /* likewise; 0: it is not in chunks */
    H5T_class_t kind;
    size_t bytes; /* of a cell in memory */
    bool boolean; /* an enumeration of FALSE and TRUE; kind is H5T_INTEGER */
    rb_type type; /* the type of ours that holds its numbers without loss */
    bool numeric;
    bool packed;          /* by more than shuffled bytes and checksums, which cost little */
    rb_h5_chunks *chunks; /* NULL: HDF5 reads it alone */
    bool short_chunks;    /* chunks without filters are shorter or longer than they must be */
} rb_h5_data;

/* Opens a data set and looks at it; RB_ERROR_FORMAT when it is none, or when it claims far more
 * numbers than the file can hold; RB_ERROR_UNSUPPORTED, with shape and type found out, when its
 * numbers are in other files. Close it in any case. */
rb_error rb_h5_data_open(rb_h5 *file, const char *path, rb_h5_data *data);
void rb_h5_data_close(rb_h5_data *data);

/* Reads whole rows (rank 2) or a stretch (rank 1) as numbers of an HDF5 type. */
rb_error rb_h5_data_read(const rb_h5_data *data, int64_t first, int64_t count, hid_t type,
                         void *values);
/* All numbers of a data set that must have exactly count of them. */
rb_error rb_h5_get_numbers(rb_h5 *file, const char *path, int64_t count, hid_t type, void *values);
/* The message for data that HDF5 cannot read. */
rb_error rb_h5_data_broken(const rb_h5_data *data);

/* For a data set in chunks with filters, and these properties of creation: makes data->chunks, and
 * says whether it is packed. */
rb_error rb_h5_chunks_open(rb_h5_data *data, hid_t list);
void rb_h5_chunks_close(rb_h5_chunks *chunks); /* NULL is accepted */
/* As rb_h5_data_read of a data set that has data->chunks. */
rb_error rb_h5_chunks_read(const rb_h5_data *data, int64_t first, int64_t count, hid_t type,
                           void *values);
/* Bytes of a cell of a data set in the file; 0: of a type that is not known. */
int64_t rb_h5_cell_bytes(const rb_h5_data *data);

hid_t rb_h5_native(rb_type type);
/* The type of a data set, or of one member of a table; below 0: there is none. Drop it. */
hid_t rb_h5_member_type(const rb_h5_data *data, const char *member);
/* What to ask for to have one member of a table, of that type, alone. Drop it. */
hid_t rb_h5_member(const char *name, hid_t type);
/* Reads or writes (`from` is not NULL) a rectangle of one or two dimensions, or a stretch. */
bool rb_h5_transfer(hid_t data, const int64_t start[2], const int64_t count[2], hid_t type,
                    void *to, const void *from);

/* All texts of a list; whole numbers and truth values are spelt, and others where `fractions` says
 * so. `member` names the field of a compound type, or is NULL. */
rb_error rb_h5_read_texts(const rb_h5_data *data, const char *member, bool fractions,
                          rb_names **names);

bool rb_h5_is_group(rb_h5 *file, const char *path);
/* Integers of an attribute, exactly count of them. */
rb_error rb_h5_get_attribute_integers(rb_h5 *file, const char *path, const char *name,
                                      int64_t count, int64_t *values);

/* ---- texts of variable length (hdf5_heap.c) ---- */

/* What their references lead to. Reading with *type, which the heap owns, gives references, a text
 * each. */
typedef struct rb_h5_heap rb_h5_heap;
rb_error rb_h5_heap_open(rb_h5 *file, rb_h5_heap **heap, hid_t *type);
void rb_h5_heap_close(rb_h5_heap *heap); /* NULL is accepted */
/* The text of a reference, with a 0 behind it; valid until the next one. */
rb_error rb_h5_heap_text(rb_h5_heap *heap, const void *reference, const char **text,
                         int64_t *length);

/* Closes a type, space, list, attribute, group or data set, whatever comes of it; 0 and below:
 * nothing. */
void rb_h5_drop(hid_t id);
/* A type for texts of up to `size` bytes, or H5T_VARIABLE, in UTF-8. */
hid_t rb_h5_text_type(size_t size);
/* Creation properties without time stamps; files and groups know the order of their attributes. */
hid_t rb_h5_properties(hid_t kind);
/* Makes a data set of up to two dimensions; checked: in chunks with a checksum. On failure *data is
 * below 0. */
rb_error rb_h5_create_data(rb_h5 *file, const char *path, int rank, const int64_t *shape,
                           hid_t type, bool checked, hid_t *data);
/* Closes it. Gives err, which tells how writing it went, or its own. */
rb_error rb_h5_finish_data(rb_h5 *file, const char *path, rb_error err, hid_t data);
/* A data set with these values. */
rb_error rb_h5_put(rb_h5 *file, const char *path, int rank, const int64_t *shape, hid_t file_type,
                   hid_t memory_type, const void *values);
rb_error rb_h5_put_matrix(rb_h5 *file, const char *path, const rb_matrix *matrix);
/* An attribute of so many values, or where count is below 0 of one that is no list. */
rb_error rb_h5_set_attribute(rb_h5 *file, const char *path, const char *name, int64_t count,
                             hid_t file_type, hid_t memory_type, const void *values);

/* ---- AnnData (anndata_write.c, anndata_old.c) ---- */

/* The attributes by which AnnData knows what an object is. */
rb_error rb_h5_encode(rb_h5 *file, const char *path, const char *type, const char *version);
/* An empty dict. */
rb_error rb_h5_put_dict(rb_h5 *file, const char *path);
/* Makes a group of arrays of the compound data set that an old AnnData file has there. */
rb_error rb_h5_renew_table(rb_h5 *file, const char *path);
/* Changes a copy of a file, which may be the same one; it appears whole or not at all. */
typedef rb_error (*rb_h5_edit_fn)(rb_h5 *file, const void *arg);
rb_error rb_h5_edit_copy(rb_context *ctx, const char *input, const char *output, rb_h5_edit_fn edit,
                         const void *arg);
/* All of an AnnData file but X. */
rb_error rb_h5_put_anndata(rb_h5 *file, const rb_names *samples, const rb_names *features);

/* X of an AnnData file as sparse rows, in order (hdf5_write_sparse.c). Ended in any case. */
typedef struct rb_h5_rows {
    hid_t values, columns;
    int64_t *starts; /* of the rows so far, `count`, and of the next one */
    int64_t count;
} rb_h5_rows;
rb_error rb_h5_rows_begin(rb_h5 *file, const rb_write_header *header, rb_h5_rows *to);
rb_error rb_h5_rows_add(rb_h5 *file, rb_h5_rows *to, const rb_matrix *rows);
rb_error rb_h5_rows_end(rb_h5 *file, rb_h5_rows *to, bool abandon);

#endif
