/* The face of src/io: one file per format, chosen by magic bytes and suffix.
 *
 * Every reader is careful with what it reads: sizes are checked before memory is asked for, and a
 * message names file, row and column of what is wrong (rows and columns counted from 1, as a text
 * editor shows them).
 */
#ifndef RB_IO_H
#define RB_IO_H

#include "em/em.h"
#include "modules/modules.h"
#include <rarebit/io.h>

#include <stdio.h>
#include <sys/types.h>

typedef enum rb_read_choice { RB_READ_AUTO = 0, RB_READ_YES, RB_READ_NO } rb_read_choice;

/* The options of rarebit/data.h. */
typedef struct rb_read_options {
    const char *dataset;
    bool transpose;
    int header, row_names; /* rb_read_choice */
    const char *patches;
    const char *missing_words;
} rb_read_options;

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* What a format is recognised by. */
typedef struct rb_probe {
    const char *path;
    bool folder;
    bool gzip;                /* the file is compressed */
    unsigned char bytes[512]; /* its first bytes, decompressed */
    int n_bytes;
} rb_probe;

typedef struct rb_format {
    const char *name; /* "npy" */
    bool (*recognise)(const rb_probe *probe);
    /* Reads all of it; transposing is done by the caller. */
    rb_error (*read)(rb_context *ctx, const char *path, const rb_read_options *options,
                     rb_matrix **matrix);
    /* Opens it for reading block by block, transposed if asked for; NULL: it is read whole. May
     * return RB_ERROR_UNSUPPORTED for a file that only `read` can take. */
    rb_error (*open)(rb_context *ctx, const char *path, const rb_read_options *options,
                     rb_source **source);
} rb_format;

/* Asked in this order; the first that recognises the file takes it. Text comes last. */
extern const rb_format rb_format_npy;       /* npy.c */
extern const rb_format rb_format_hdf5;      /* hdf5.c: a data set, AnnData, 10x */
extern const rb_format rb_format_mtx;       /* mtx.c: Matrix Market */
extern const rb_format rb_format_tenx;      /* tenx.c: a 10x folder */
extern const rb_format rb_format_idx;       /* idx.c */
extern const rb_format rb_format_image;     /* image.c: PGM and PNG */
extern const rb_format rb_format_delimited; /* delimited.c: CSV and TSV */

/* ---- writers, one table a format, chosen by suffix ---- */

typedef struct rb_write_format {
    const char *suffixes; /* ".tsv, .csv, .tsv.gz, .csv.gz" */
    /* Starts a file at a temporary path; it is there, empty. Messages of RB_ERROR_FILE need not
     * name the file: the caller puts "cannot write PATH: " before them. The header outlives the
     * state. */
    rb_error (*open)(rb_context *ctx, const char *path, const char *suffix,
                     const rb_write_header *header, void **state);
    rb_error (*add)(rb_context *ctx, void *state, const rb_matrix *rows);
    /* Finishes the file and frees the state, also on failure. */
    rb_error (*close)(rb_context *ctx, void *state, bool abandon);
} rb_write_format;

extern const rb_write_format rb_write_format_npy;       /* npy_write.c */
extern const rb_write_format rb_write_format_delimited; /* delimited_write.c */
extern const rb_write_format rb_write_format_hdf5;      /* hdf5_write.c */

/* Does the path end in one of the words ".tsv, .tsv.gz", in any case of letters? Gives the word,
 * unless found is NULL. */
enum { RB_SUFFIX = 16 };
bool rb_path_suffix(const char *path, const char *suffixes, char found[RB_SUFFIX]);

/* How many samples to read at a time: about a megabyte of numbers. */
int64_t rb_samples_at_once(const rb_source *source);
/* Copies one row of a matrix, dense or sparse, to n_features contiguous values of a type. */
void rb_rows_copy(const rb_matrix *m, int64_t row, rb_type type, void *out);

/* ---- files that appear whole or not at all (output.c) ---- */

struct rb_staged {
    char *path; /* the temporary name, in the same folder; of pipes and devices the final one */
    char *final_path;
    mode_t mode;                  /* of the file that stands there; 0: there is none */
    rb_temporary_fn on_temporary; /* the context's, which may be gone by then; or NULL */
    void *temporary_user;
};
/* As rb_staged_begin. same_name: the temporary name is always the same one, for a file that is
 * written again and again by the only process that has its lock; RB_ERROR_FILE where something has
 * it. */
rb_error rb_staged_begin_as(rb_context *ctx, const char *path, bool same_name, rb_staged **staged);
/* Removes what a process that was killed left under that name: for who takes over its lock. */
rb_error rb_staged_forget(rb_context *ctx, const char *path);
/* Commits, or abandons where `err` tells that writing failed. Gives err, or its own. */
rb_error rb_staged_end(rb_context *ctx, rb_error err, rb_staged *staged);
/* Makes a file of what `fill` writes. Where writing fails, `fill` may leave it at that. */
typedef rb_error (*rb_fill_fn)(rb_context *ctx, FILE *file, void *arg);
rb_error rb_output_file(rb_context *ctx, const char *path, rb_fill_fn fill, void *arg);
/* Where writing to `path` ends up, as a new text: a link to a file is followed, so that the link
 * stays. */
char *rb_output_place(rb_context *ctx, const char *path);

/* The lock of a file that will be written (lock.c). RB_ERROR_FILE when another process, or another
 * part of this one, has it. *lock is NULL where none can be had: in a folder that takes no file, on
 * a file system without locks. */
extern const struct rb_journal_store rb_journals; /* journal.c */
typedef struct rb_lock rb_lock;
rb_error rb_lock_take(rb_context *ctx, const char *path, rb_lock **lock);
void rb_lock_release(rb_lock *lock); /* NULL is accepted */

/* ---- HDF5 in plain terms, for what is stored there (hdf5_base.c, hdf5_put.c, hdf5_get.c,
 * hdf5_texts.c) ---- */

/* An open HDF5 file. HDF5 has global state, so an open file keeps other threads waiting: open, read
 * or write, close, and call nobody back in between. Paths go from the root ("arrays/loadings",
 * "/"). Every error is a message that begins with the file's name. */
typedef struct rb_h5 rb_h5;

/* How texts are stored. HDF5 keeps texts of variable length in a heap without checksums, where a
 * damaged byte can lead it astray: our own files have texts of fixed length and checksums
 * everywhere. */
typedef enum rb_h5_style {
    RB_H5_OWN,   /* fixed length only, also when reading; the layout of HDF5 1.10 */
    RB_H5_SHARED /* variable length, as AnnData has it; reads both; the layout of HDF5 1.8 */
} rb_h5_style;

/* Makes a new file at `path`; messages name it `shown`, or nothing when that is "". */
rb_error rb_h5_create(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                      rb_h5 **file);
/* Opens a file for reading; RB_ERROR_FILE when it is not there, RB_ERROR_FORMAT when it is no
 * HDF5. */
rb_error rb_h5_open(rb_context *ctx, const char *path, rb_h5_style style, rb_h5 **file);
/* Opens a file for adding to it. */
rb_error rb_h5_edit(rb_context *ctx, const char *path, const char *shown, rb_h5_style style,
                    rb_h5 **file);
/* Closes; for a file that was written RB_ERROR_FILE when not all of it reached the disk. */
rb_error rb_h5_close(rb_h5 *file);
/* Makes a file of the style RB_H5_OWN that appears whole or not at all, `again` as
 * rb_staged_begin_as. */
rb_error rb_h5_begin(rb_context *ctx, const char *path, bool again, rb_h5 **file);
/* Closes any file; one that was begun appears, unless `err` tells that filling it failed. Gives
 * what the disk says, or err. */
rb_error rb_h5_end(rb_h5 *file, rb_error err);

rb_error rb_h5_put_group(rb_h5 *file, const char *path);
/* columns below 0: a vector. */
rb_error rb_h5_put_values(rb_h5 *file, const char *path, int64_t rows, int64_t columns,
                          const double *values);
/* A matrix that was written in its own precision, bit by bit, into one of the same shape. */
rb_error rb_h5_get_dense(rb_h5 *file, const char *path, rb_dense values);
rb_error rb_h5_put_integers(rb_h5 *file, const char *path, int64_t count, const int64_t *values);
rb_error rb_h5_put_texts(rb_h5 *file, const char *path, int64_t count, const char *const *texts);
rb_error rb_h5_put_names(rb_h5 *file, const char *path, const rb_names *names);
/* One text as a data set of its own. */
rb_error rb_h5_put_text(rb_h5 *file, const char *path, const char *text);
/* Attributes of the object at `path`. */
rb_error rb_h5_set_text(rb_h5 *file, const char *path, const char *name, const char *text);
rb_error rb_h5_set_integer(rb_h5 *file, const char *path, const char *name, int64_t value);
/* Removes what is at `path`, if anything is. */
rb_error rb_h5_remove(rb_h5 *file, const char *path);

bool rb_h5_has(rb_h5 *file, const char *path);
bool rb_h5_has_attribute(rb_h5 *file, const char *path, const char *name);
/* Names of what a group holds, and of the attributes of an object, in order of creation if
 * known. */
rb_error rb_h5_list(rb_h5 *file, const char *path, rb_names **names);
rb_error rb_h5_list_attributes(rb_h5 *file, const char *path, rb_names **names);
/* The shape of a numeric data set; columns is -1 for a vector. */
rb_error rb_h5_get_shape(rb_h5 *file, const char *path, int64_t *rows, int64_t *columns);
/* Exactly count numbers, whatever their type in the file. */
rb_error rb_h5_get_values(rb_h5 *file, const char *path, int64_t count, double *values);
rb_error rb_h5_get_integers(rb_h5 *file, const char *path, int64_t count, int64_t *values);
rb_error rb_h5_get_texts(rb_h5 *file, const char *path, rb_names **names);
/* *text is freed with rb_free. */
rb_error rb_h5_get_text(rb_h5 *file, const char *path, const char *name, char **text);
rb_error rb_h5_get_integer(rb_h5 *file, const char *path, const char *name, int64_t *value);

/* ---- a column of AnnData (anndata_column.c) ---- */

/* The names of the observations; RB_ERROR_FORMAT: the file is no AnnData. */
rb_error rb_anndata_samples(rb_h5 *file, rb_names **names);
/* A column of the table of `count` observations as texts, "" where it has no value; categorical:
 * groups, even if their texts are numbers. RB_ERROR_ARGUMENT with the columns that there are: it
 * has none of that name, or column is NULL. */
rb_error rb_anndata_column(rb_h5 *file, const char *column, int64_t count, rb_names **texts,
                           bool *categorical);
/* The file of a source that reads it block by block, not held; NULL: it is none such (hdf5.c). */
rb_h5 *rb_hdf5_file(const rb_source *source);

/* ---- a model within another file (model_save.c, model_load.c) ---- */

/* Writes arrays, attributes, history and status of a model into a group, which is made. */
rb_error rb_model_put(rb_h5 *file, const char *group, const rb_model *model);
/* Adds what rb_model_put wrote to an empty model. */
rb_error rb_model_get(rb_h5 *file, const char *group, rb_model *model);

/* ---- plain and gzip text (text.c) ---- */

/* Reads lines of any length from a plain or gzip file. */
typedef struct rb_lines rb_lines;
/* any: of a pipe or a device too, for who reads it once. */
rb_error rb_lines_open(rb_context *ctx, const char *path, bool any, rb_lines **lines);
void rb_lines_close(rb_lines *lines);
/* The next line without its end ("\n" or "\r\n") and a first byte order mark; *line is NULL at the
 * end. Valid until the next call, and may be changed. RB_ERROR_FORMAT for a damaged gzip file. A
 * line may hold 0 bytes; another one stands behind its end. */
rb_error rb_lines_next(rb_context *ctx, rb_lines *lines, char **line, int64_t *length);
/* Passes over empty lines that were read already, at the speed of memory; how many. */
int64_t rb_lines_skip_empty(rb_lines *lines);
int64_t rb_lines_number(const rb_lines *lines); /* of the line last given, from 1 */
/* "PATH, row 3, column 2: " and what is wrong there; column 0: with the row. */
rb_error rb_lines_fail(rb_context *ctx, const rb_lines *lines, rb_error code, int64_t column,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- files as bytes (load.c) ---- */

/* Can the file be read? RB_ERROR_FILE for what is no regular file, since opening a pipe would wait;
 * a folder is taken where `folder` is not NULL. */
rb_error rb_file_check(rb_context *ctx, const char *path, bool *folder);
/* Opens such a file, or with `any` a pipe or device too, with zlib, which reads plain files as they
 * are. */
struct gzFile_s;
rb_error rb_gz_open(rb_context *ctx, const char *path, bool any, struct gzFile_s **file);
/* What became of the last reading, of `line` lines or, below 0, of bytes. */
rb_error rb_gz_check(rb_context *ctx, const char *path, struct gzFile_s *file, int64_t line);
/* Deflate cannot shrink data by more than this factor. */
enum { RB_DEFLATE_LIMIT = 1032 };

/* Reads a file to its end, gzip unpacked. *bytes is freed with rb_free, also on failure. */
rb_error rb_load_bytes(rb_context *ctx, const char *path, unsigned char **bytes, int64_t *count);

/* ---- pictures: PNG, PGM, PPM, or .npy of height x width (x channels) (picture.c) ---- */

/* height x width x channels, values as stored. */
typedef struct rb_image {
    int64_t height, width, channels;
    float *values; /* rb_free */
    int64_t max;   /* the largest value that the picture's file can hold; 0: any */
} rb_image;

/* Reads a picture whose values are all finite. On failure image->values is NULL. */
rb_error rb_picture_read(rb_context *ctx, const char *path, rb_image *image);
/* Does the path end as some picture's? RB_ERROR_ARGUMENT. */
rb_error rb_picture_check_suffix(rb_context *ctx, const char *path);
/* Can a picture with such a largest value (rb_image) be written there? By the suffix of the path;
 * PNG, PGM and PPM need a largest value. */
rb_error rb_picture_check(rb_context *ctx, const char *path, int64_t channels, int64_t max);
/* Writes it: in PNG, PGM and PPM values are rounded, and those below 0 or above the largest value
 * become these. */
rb_error rb_picture_write(rb_context *ctx, const char *path, const rb_image *image);

/* The height and width that the text of an option asks for. RB_ERROR_ARGUMENT. */
rb_error rb_image_size(rb_context *ctx, const char *option, const char *text, int64_t size[2]);
/* Does a patch of such a size fit into a picture? RB_ERROR_ARGUMENT. */
rb_error rb_image_holds(rb_context *ctx, const char *path, const int64_t size[2],
                        const rb_image *image);
int64_t rb_image_cells(const rb_image *image); /* height x width x channels */

/* ---- named arrays: .npz (zip.c, npz.c) ---- */

typedef struct rb_span {
    const unsigned char *data;
    int64_t count;
} rb_span;

static inline uint64_t rb_little(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

enum { RB_ZIP_NAME = 256, RB_ZIP_ENTRIES = 256 };

/* A file in it that was read. */
typedef struct rb_zip_entry {
    char name[RB_ZIP_NAME];
    unsigned char *data; /* owned */
    int64_t count;
} rb_zip_entry;

typedef struct rb_zip {
    int count;
    rb_zip_entry *entries;
} rb_zip;

/* Reads all of it, stored or deflated, by the list at its end. To be cleared in any case.
 * RB_ERROR_FORMAT: it is none, damaged, encrypted, or has more than RB_ZIP_ENTRIES files. */
rb_error rb_zip_read(rb_context *ctx, const char *path, rb_zip *zip);
void rb_zip_clear(rb_zip *zip);

/* Writes files, stored, one after the other; below 4 GiB all together. */
typedef struct rb_zip_writer {
    rb_context *ctx;
    FILE *file;
    int64_t at;     /* bytes so far */
    rb_buffer list; /* what stands at the end */
    int64_t list_bytes;
    int count;
} rb_zip_writer;
/* RB_ERROR_UNSUPPORTED: too large. */
rb_error rb_zip_add(rb_zip_writer *zip, const char *name, rb_span head, rb_span data);
/* Writes the list, unless err tells that a file could not be added, and frees it; gives err. */
rb_error rb_zip_end(rb_zip_writer *zip, rb_error err);

/* float64, whatever they are in the file. */
typedef struct rb_named_array {
    const char *name;
    int dimensions; /* 1 or 2 of those that are read */
    int64_t shape[4];
    double *values;
} rb_named_array;

enum { RB_ARRAYS_MAX = 128 };

typedef struct rb_arrays {
    int count;
    rb_named_array list[RB_ARRAYS_MAX];
    char *names[RB_ARRAYS_MAX]; /* what read names point into; owned, as values are */
} rb_arrays;

void rb_arrays_clear(rb_arrays *arrays);
/* Adds an array of zeros, of at most two dimensions; NULL and a message. */
double *rb_arrays_add(rb_context *ctx, rb_arrays *arrays, const char *name, int dimensions,
                      const int64_t *shape);
/* NULL: there is none. */
const rb_named_array *rb_arrays_find(const rb_arrays *arrays, const char *name);

/* Is an array of that name wanted? An error ends the reading. */
typedef rb_error (*rb_array_choice)(rb_context *ctx, const char *path, const char *name,
                                    bool *wanted);
/* Reads arrays of numbers, in the order of the file; to be cleared in any case. */
rb_error rb_npz_read(rb_context *ctx, const char *path, rb_array_choice choose, rb_arrays *arrays);
/* Floats of that type. */
rb_error rb_npz_add(rb_zip_writer *zip, const rb_named_array *array, rb_type type);
/* A vector of texts in UTF-8. */
rb_error rb_npz_add_texts(rb_zip_writer *zip, const char *name, int64_t count,
                          const char *const *texts);

/* *other: the file has texts of that name, and they are not these. */
rb_error rb_npz_other_texts(rb_context *ctx, const char *path, const char *name, int64_t count,
                            const char *const *texts, bool *other);

/* What a model file says of itself; docs/reference/model-format.md explains it. */
#define RB_STORE_FORMAT "rarebit-model"
/* Version 2 has effects of covariates; models without them are written as version 1. */
enum { RB_STORE_VERSION = 2, RB_STORE_PLAIN_VERSION = 1 };

#pragma GCC visibility pop

#endif
