/* Files of data, models, checkpoints and modules: the library librarebit-io. */
#ifndef RAREBIT_IO_H
#define RAREBIT_IO_H

#include <rarebit/annotations.h>
#include <rarebit/enrichment.h>
#include <rarebit/model.h>
#include <rarebit/modules.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The HDF5 that the library was built with, such as "1.10.8". */
RB_API const char *rb_io_hdf5(void);
/* Those of libpng and liblzf; "" where the library was built without: then PNG, or HDF5 packed with
 * LZF, is RB_ERROR_UNSUPPORTED. */
RB_API const char *rb_io_png(void);
RB_API const char *rb_io_lzf(void);

/* ---- data: docs/reference/formats.md lists the formats, chosen by magic bytes and suffix ---- */

/* The options of reading, for rb_options_add:
 *   dataset        path inside an HDF5 file ("/x", "layers/counts"); not set: the usual one
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
 * whole. A block of a file that has become shorter meanwhile is RB_ERROR_FILE. */
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
 * in the header, or more rows than are left), RB_ERROR_FILE (cannot be written). After a failure
 * the writer must still be closed or abandoned; the file is not there. */
RB_API rb_error rb_writer_add(rb_context *context, rb_writer *writer, const rb_matrix *rows);
/* Finishes and renames. The writer is freed, also on failure; then what was there before stays.
 * RB_ERROR_ARGUMENT (rows are lacking), RB_ERROR_FILE (cannot be written or renamed). */
RB_API rb_error rb_writer_close(rb_context *context, rb_writer *writer);
/* Writes all samples of a source to a file, block by block, with their names where the format has
 * memory for them; sparse samples are written dense. Errors are those of rb_writer_open and
 * rb_writer_add, and those of reading the source. */
RB_API rb_error rb_write(rb_context *context, rb_source *source, const char *path);
/* Copies an AnnData file (.h5ad) as it is, sparse or dense, with all that stands beside X; the
 * matrix `dataset` ("layers/counts") takes the place of X, unless it is NULL. RB_ERROR_UNSUPPORTED:
 * the input is no AnnData, or the matrix is not of its observations and variables. */
RB_API rb_error rb_anndata_copy(rb_context *context, const char *input, const char *dataset,
                                const char *output);
/* Throws the unfinished file away and frees the writer; NULL is accepted. */
RB_API void rb_writer_abandon(rb_writer *writer);

/* A file that the caller writes himself, and that appears whole or not at all: rb_staged_begin
 * makes an empty file beside the place, the caller opens rb_staged_path, writes and closes it, and
 * rb_staged_commit flushes it to disk and renames it. What stood at the place stays until then.
 * Pipes and devices have nothing to be renamed: there the path is the place itself. */
typedef struct rb_staged rb_staged;

/* Could a file be made to appear there? RB_ERROR_FILE: the folder is not there or not writable, or
 * the path is that of a folder or of a file that may not be written. Nothing is made. */
RB_API rb_error rb_staged_check(rb_context *context, const char *path);
/* RB_ERROR_FILE as rb_staged_check, or no file can be made. *staged is NULL on failure. */
RB_API rb_error rb_staged_begin(rb_context *context, const char *path, rb_staged **staged);
/* Valid until the staged file is committed or abandoned. */
RB_API const char *rb_staged_path(const rb_staged *staged);
/* RB_ERROR_FILE: cannot be flushed or renamed; then nothing is left behind. Frees in any case. */
RB_API rb_error rb_staged_commit(rb_context *context, rb_staged *staged);
/* Removes the unfinished file and frees; NULL is accepted. */
RB_API void rb_staged_abandon(rb_staged *staged);

/* ---- models: HDF5 (docs/reference/model-format.md); later versions load older ones ---- */

/* Writes to a temporary name beside `path` and renames: there is never half a file, and on failure
 * what was there stays. RB_ERROR_FILE (cannot be written), RB_ERROR_ARGUMENT (the name
 * of an array is longer than 240 characters). */
RB_API rb_error rb_model_save(rb_context *context, const rb_model *model, const char *path);

/* RB_ERROR_FILE, RB_ERROR_FORMAT (not a model, damaged, of a newer format, of an unknown
 * method). A file ends with a checksum, by which any damaged byte is noticed; that one of an
 * earlier version, or one that another program has changed, has none is said in the log. */
RB_API rb_error rb_model_load(rb_context *context, const char *path, rb_model **model);

/* Adds results to an AnnData file (.h5ad): copies h5ad_in to h5ad_out, which may be the same path,
 * and writes `codes` (its observations x units, from rb_encode) as obsm X_<method>, the loadings as
 * varm <method>, matched with the variables by name, else by position (zeros for variables not in
 * use), and under uns <method> the attributes of the model as `settings` and the model itself as
 * `model`, the bytes of rb_model_save_memory. Older results of the same names are replaced, all
 * else in the file stays. RB_ERROR_FORMAT (no AnnData), RB_ERROR_DATA (other observations or
 * variables), RB_ERROR_FILE. */
RB_API rb_error rb_model_annotate(rb_context *context, const rb_model *model,
                                  const rb_matrix *codes, const char *h5ad_in,
                                  const char *h5ad_out);
/* The same under a name of the caller's: obsm `key`, and varm and uns `key` without an "X_" that it
 * begins with. NULL: X_<method>. RB_ERROR_ARGUMENT for a name that cannot be one. */
RB_API rb_error rb_model_annotate_as(rb_context *context, const rb_model *model,
                                     const rb_matrix *codes, const char *key, const char *h5ad_in,
                                     const char *h5ad_out);
/* Would rb_model_annotate_as replace nothing? RB_ERROR_ARGUMENT names what of that name is in the
 * file, or says that there can be no such name; RB_ERROR_FILE, RB_ERROR_FORMAT (it cannot be
 * read). */
RB_API rb_error rb_model_annotate_check(rb_context *context, const rb_model *model, const char *key,
                                        const char *h5ad);

/* ---- checkpoints ---- */

/* Lets the fits of this context keep checkpoints (rarebit/fit.h). */
RB_API void rb_io_use(rb_context *context);

/* What a checkpoint says of the fit that it belongs to. */
typedef struct rb_checkpoint_info {
    size_t size; /* sizeof(rb_checkpoint_info), set by the caller; new fields come at the end */
    int64_t seed;
    int64_t restart;   /* from 0 */
    int64_t iteration; /* done in that restart */
} rb_checkpoint_info;

/* Looks into a checkpoint. *there is false, and nothing wrong, when there is no such file.
 * RB_ERROR_ARGUMENT (the size of info is not set), RB_ERROR_FILE, RB_ERROR_FORMAT (it is something
 * else, or damaged). */
RB_API rb_error rb_checkpoint_read(rb_context *context, const char *path, bool *there,
                                   rb_checkpoint_info *info);

/* Puts the results of several files, which calls with part made (rarebit/select.h), into one, from
 * which the call without part goes on; count: of all there are to be, found: of those in it. A
 * result that is in several is taken once; damaged ones are left out, with a warning.
 * RB_ERROR_FILE, RB_ERROR_FORMAT (one is no such file), RB_ERROR_ARGUMENT (one is of another
 * call). */
RB_API rb_error rb_journal_merge(rb_context *context, const char *const *paths, int n_paths,
                                 const char *path, int64_t *found, int64_t *count);

/* ---- modules ---- */

/* Modules as JSON: {"modules":[{"samples":[0,4],"features":[1,2]},...]}, counted from 0; what
 * `simulate` writes as truth. Weights, units and names in the file are ignored: members have weight
 * 1 and ascend. RB_ERROR_FORMAT names module and entry. */
RB_API rb_error rb_modules_read(rb_context *context, const char *path, rb_modules **modules);

typedef enum rb_modules_format {
    RB_MODULES_TSV = 0,
    RB_MODULES_JSON,
    RB_MODULES_GMT
} rb_modules_format;

/* A JSON object, on one line, that says where a result comes from: program_version; command_line
 * (rb_context_set_command); data_checksum of the source; and of the model program_version,
 * command_line, seed, data_path and data_checksum, as "model". Model and source may be NULL; the
 * source is read once. What is not known is left out. rb_free_memory frees it. */
RB_API rb_error rb_provenance(rb_context *context, const rb_model *model, rb_source *source,
                              char **json);

/* Writes modules; samples and features are the rows and columns of the data, from 0, also where
 * the model uses a selection of the features. Names are taken from model and source where they have
 * them (either may be NULL). The file appears whole or not at all. RB_ERROR_FILE (cannot be
 * written). */
RB_API rb_error rb_modules_write(rb_context *context, const rb_modules *modules,
                                 const rb_model *model, const rb_source *source,
                                 rb_modules_format format, const char *path);

/* ---- sets of features ---- */

/* Adds the sets of a GMT file, plain or gzip: in each line name, description, features, between
 * tabs. On failure the list stays as it was. RB_ERROR_FILE; RB_ERROR_FORMAT names the line, or
 * says that there is no set. */
RB_API rb_error rb_feature_sets_read(rb_context *context, const char *path, rb_feature_sets *sets);

#ifdef __cplusplus
}
#endif
#endif
