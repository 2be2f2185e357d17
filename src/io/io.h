/* The face of src/io: one file a format, chosen by magic bytes and suffix.
 *
 * Every reader is careful with what it reads: sizes are checked before memory is asked for, and a
 * sentence names file, row and column of what is wrong (rows and columns counted from 1, as a text
 * editor shows them).
 */
#ifndef RB_IO_H
#define RB_IO_H

#include "data/data.h"
#include <rarebit/io.h>

#include <stdio.h>

/* What a format is recognised by. */
typedef struct rb_probe {
    const char *path;
    bool folder;
    const char *suffix;       /* lower case, without ".gz": ".csv"; "" when there is none */
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
    /* Opens it for reading block by block; NULL: it is read whole. May return RB_ERROR_UNSUPPORTED
     * for a file that only `read` can take (another order of its numbers, say). */
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
    const char *suffixes; /* ".tsv .csv .tsv.gz .csv.gz" */
    /* Starts a file at a temporary path. */
    rb_error (*open)(rb_context *ctx, const char *path, const char *suffix,
                     const rb_write_header *header, void **state);
    rb_error (*add)(rb_context *ctx, void *state, const rb_matrix *rows);
    /* Finishes the file and frees the state, also on failure. */
    rb_error (*close)(rb_context *ctx, void *state, bool abandon);
} rb_write_format;

extern const rb_write_format rb_write_format_npy;       /* npy_write.c */
extern const rb_write_format rb_write_format_delimited; /* delimited_write.c */
extern const rb_write_format rb_write_format_hdf5;      /* hdf5_write.c */

/* ---- files that appear whole or not at all (output.c) ---- */

/* A path to write to, and where it goes when it is done. */
typedef struct rb_output {
    char *path;      /* the temporary name, in the same folder */
    char *final_path;
} rb_output;
/* Chooses the temporary name; checks that the folder is there and writable. */
rb_error rb_output_begin(rb_context *ctx, const char *path, rb_output *output);
/* Flushes to disk and renames. Clears the output, also on failure (then nothing is left behind). */
rb_error rb_output_commit(rb_context *ctx, rb_output *output);
void rb_output_abandon(rb_output *output);

/* ---- plain and gzip text (text.c) ---- */

/* Reads lines of any length from a plain or gzip file. */
typedef struct rb_lines rb_lines;
rb_error rb_lines_open(rb_context *ctx, const char *path, rb_lines **lines);
void rb_lines_close(rb_lines *lines);
/* The next line without its end ("\n" or "\r\n") and a first byte order mark; *line is NULL at the end.
 * Valid until the next call. RB_ERROR_FORMAT for a damaged gzip file. A line may hold 0 bytes. */
rb_error rb_lines_next(rb_context *ctx, rb_lines *lines, char **line, int64_t *length);
int64_t rb_lines_number(const rb_lines *lines); /* of the line last given, from 1 */

#endif
