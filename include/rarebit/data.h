/* Files of data: reading, describing and writing matrices. docs/reference/formats.md lists the
 * formats, chosen by magic bytes and suffix. */
#pragma once

#include <rarebit/matrix.h>
#include <rarebit/options.h>

/* The options of reading, for rb_options_add:
 *   dataset        path inside an HDF5 file ("/x", "layers/counts"), of several files in each
 *                  that is one; not set: the usual one
 *   transpose      the file has features as rows and samples as columns
 *   header         auto, yes, no: text has a row of feature names
 *   row-names      auto, yes, no: text has a column of sample names
 *   patches        "10x10": images are cut into patches, one per sample; not set: one row
 *   missing-words  "n/d,-999": text that stands for missing values; not set: none */
RB_API const rb_option_group *rb_read_group(void);

/* Reads a file into a matrix that owns its numbers and names. NaN is kept (preprocessing decides),
 * everything else that is wrong is an error that names file, row and column. options may be
 * NULL. */
RB_API rb_error rb_read(rb_context *context, const char *path, const rb_options *options,
                        rb_matrix **matrix);

/* Opens a file as a source: HDF5 data and large .npy are read block by block, others are read
 * whole. A block of a file that has become shorter meanwhile is RB_ERROR_FILE. "a.h5ad,b.h5ad",
 * where no file is called so, is several files as one: samples in the order of the files.
 * RB_ERROR_DATA: their features differ, or the types of their values. */
RB_API rb_error rb_open(rb_context *context, const char *path, const rb_options *options,
                        rb_source **source);

/* What rb_describe finds in a matrix. */
typedef struct rb_description {
    size_t size; /* sizeof(rb_description), set by the caller */
    int64_t samples, features, nonzeros, missing;
    double sum, sum_of_squares, minimum, maximum; /* of the values that are not missing */
    uint32_t checksum;                            /* rb_source_checksum */
} rb_description;

/* Walks the source once. RB_ERROR_ARGUMENT: the size of the description; RB_ERROR_FILE,
 * RB_ERROR_FORMAT: the source could not be read. */
RB_API rb_error rb_describe(rb_context *context, rb_source *source, rb_description *description);

/* The name of the format that rb_read would take, such as "npy"; RB_ERROR_FORMAT if none fits. */
RB_API rb_error rb_format_of(rb_context *context, const char *path, const char **name);

/* The same of a source that rb_open has opened; NULL of any other. */
RB_API const char *rb_source_format(const rb_source *source);

/* A writer takes rows in order and makes the file appear, whole, at rb_writer_close; the format is
 * chosen by the suffix: .npy, .tsv, .csv (also .gz), .h5 (data set "X"), .h5ad. */
typedef struct rb_writer rb_writer;

typedef struct rb_write_header {
    size_t size; /* sizeof(rb_write_header) */
    int64_t n_samples, n_features;
    rb_type type;
    const rb_source *sample_names_from; /* names of the rows; NULL: none */
    const char *const *feature_names;   /* names of the columns; NULL: none */
    bool sparse; /* so are all rows, and .h5ad keeps them so; other formats write their zeros */
} rb_write_header;

/* Would a writer know the format of this path? RB_ERROR_ARGUMENT names the suffixes that there are.
 * Nothing is written. */
RB_API rb_error rb_writer_check(rb_context *context, const char *path);
/* Starts a file of the header's shape. What the names come from must outlive the writer. Errors:
 * the header has another size, no format has this suffix, or the folder is not there or not
 * writable. */
RB_API rb_error rb_writer_open(rb_context *context, const char *path, const rb_write_header *header,
                               rb_writer **writer);
/* Appends the rows of a matrix, dense or sparse. RB_ERROR_ARGUMENT (another number of columns than
 * in the header, more rows than are left, or dense rows where all are sparse), RB_ERROR_FILE
 * (cannot be written). After a failure the writer must still be closed or abandoned; the file is
 * not there. */
RB_API rb_error rb_writer_add(rb_context *context, rb_writer *writer, const rb_matrix *rows);
/* Finishes and renames. The writer is freed, also on failure; then what was there before stays.
 * RB_ERROR_ARGUMENT (rows are lacking), RB_ERROR_FILE (cannot be written or renamed). */
RB_API rb_error rb_writer_close(rb_context *context, rb_writer *writer);
/* Writes all samples of a source to a file, block by block, with their names where the format has
 * memory for them; sparse samples stay so in .h5ad. Errors are those of rb_writer_open and
 * rb_writer_add, and those of reading the source. */
RB_API rb_error rb_write(rb_context *context, rb_source *source, const char *path);
/* Copies an AnnData file (.h5ad) as it is, sparse or dense, with all that stands beside X; the
 * matrix `dataset` ("layers/counts") takes the place of X, unless it is NULL. RB_ERROR_UNSUPPORTED:
 * the input is no AnnData, or the matrix is not of its observations and variables. */
RB_API rb_error rb_anndata_copy(rb_context *context, const char *input, const char *dataset,
                                const char *output);
/* Throws the unfinished file away and frees the writer; NULL is accepted. */
RB_API void rb_writer_abandon(rb_writer *writer);
