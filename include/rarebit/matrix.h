/* Matrices and sources: samples x features.
 *
 * A matrix is a view of numbers that somebody else owns: dense with strides (a numpy array or a
 * mapped file needs no copy) or compressed sparse rows. A source gives blocks of samples on demand,
 * so that data larger than memory can be used; every method works on sources.
 */
#pragma once

#include <rarebit/context.h>

/* A call that is given a type that is none of these is RB_ERROR_ARGUMENT. */
typedef enum rb_type { RB_FLOAT32 = 0, RB_FLOAT64 = 1 } rb_type;

/* Value `index` of an array of that type, read and written. */
static inline double rb_get(rb_type type, const void *values, int64_t index) {
    return type == RB_FLOAT32 ? (double)((const float *)values)[index]
                              : ((const double *)values)[index];
}

static inline void rb_put(rb_type type, void *values, int64_t index, double value) {
    if (type == RB_FLOAT32)
        ((float *)values)[index] = (float)value;
    else
        ((double *)values)[index] = value;
}

typedef struct rb_matrix rb_matrix;
typedef struct rb_source rb_source;

/* A view of dense numbers: value (i, k) is values[i * row_stride + k * column_stride], strides
 * counted in values and possibly negative. The values are not copied, not looked at, and must
 * outlive the matrix.
 * RB_ERROR_ARGUMENT for a size below 0, RB_ERROR_MEMORY for a size that cannot be addressed. */
RB_API rb_error rb_matrix_dense(rb_context *context, rb_type type, int64_t n_samples,
                                int64_t n_features, const void *values, int64_t row_stride,
                                int64_t column_stride, rb_matrix **matrix);

/* A view of compressed sparse rows: the values of sample i are values[starts[i] .. starts[i+1] -
 * 1], their features columns[...], ascending, each feature at most once in a row. starts has
 * n_samples + 1 entries, starts[0] = 0. Nothing is copied. RB_ERROR_FORMAT names the first row and
 * entry that breaks these rules. */
RB_API rb_error rb_matrix_csr(rb_context *context, rb_type type, int64_t n_samples,
                              int64_t n_features, const int64_t *starts, const int32_t *columns,
                              const void *values, rb_matrix **matrix);

/* The same with starts of 32 bits, as scipy and R have them: they are copied, columns and values
 * are not. */
RB_API rb_error rb_matrix_csr32(rb_context *context, rb_type type, int64_t n_samples,
                                int64_t n_features, const int32_t *starts, const int32_t *columns,
                                const void *values, rb_matrix **matrix);

/* Frees the view, its names, and the numbers if the matrix owns them (those read from a file do).
 * NULL is accepted. */
RB_API void rb_matrix_free(rb_matrix *matrix);

/* Shape, storage and type of the numbers. */
RB_API int64_t rb_matrix_samples(const rb_matrix *matrix);
RB_API int64_t rb_matrix_features(const rb_matrix *matrix);
RB_API bool rb_matrix_sparse(const rb_matrix *matrix);
RB_API rb_type rb_matrix_type(const rb_matrix *matrix);
/* Stored entries of a sparse matrix; samples x features of a dense one. */
RB_API int64_t rb_matrix_stored(const rb_matrix *matrix);

/* Value (i, k), which must be one of the matrix: nothing is checked. 0 for an entry that a sparse
 * matrix does not store. For looking, not for loops. */
RB_API double rb_matrix_at(const rb_matrix *matrix, int64_t sample, int64_t feature);

/* The numbers of a dense matrix, as rb_matrix_dense describes them: value (i, k) is values[i *
 * row_stride + k * column_stride]. Valid as long as the matrix and, of a view, what it views.
 * RB_ERROR_ARGUMENT for a sparse one: all three stay as they were. */
RB_API rb_error rb_matrix_values(const rb_matrix *matrix, const void **values, int64_t *row_stride,
                                 int64_t *column_stride);

/* The arrays of a sparse matrix: sample i has the entries e = starts[i] .. starts[i + 1] - 1, with
 * columns[e - starts[0]] and values[e - starts[0]]; starts[0] may be above 0 in rows that a call
 * hands out. Valid likewise. RB_ERROR_ARGUMENT for a dense one. */
RB_API rb_error rb_matrix_csr_values(const rb_matrix *matrix, const int64_t **starts,
                                     const int32_t **columns, const void **values);

/* Copies count names; count must be the number of samples or features. NULL removes the names. */
RB_API rb_error rb_matrix_set_sample_names(rb_context *context, rb_matrix *matrix,
                                           const char *const *names, int64_t count);
RB_API rb_error rb_matrix_set_feature_names(rb_context *context, rb_matrix *matrix,
                                            const char *const *names, int64_t count);
/* The name, or NULL when there are none. Valid as long as the matrix and its names. */
RB_API const char *rb_matrix_sample_name(const rb_matrix *matrix, int64_t sample);
RB_API const char *rb_matrix_feature_name(const rb_matrix *matrix, int64_t feature);

/* A source that walks a matrix, which must outlive it. Dense blocks are views: nothing is copied.
 * The only failure is RB_ERROR_MEMORY. */
RB_API rb_error rb_source_from_matrix(rb_context *context, const rb_matrix *matrix,
                                      rb_source **source);

/* Fills rows[count x n_features] (row-major, contiguous) with samples first .. first + count - 1.
 * What it returns other than RB_OK ends the call that reads. Every sample may be asked for many
 * times and must always be the same. */
typedef rb_error (*rb_source_fn)(void *user, int64_t first, int64_t count, void *rows);

/* A source of dense rows that a program makes or fetches itself. */
RB_API rb_error rb_source_from_callback(rb_context *context, rb_type type, int64_t n_samples,
                                        int64_t n_features, rb_source_fn fn, void *user,
                                        rb_source **source);

/* Gives samples first .. first + count - 1 as compressed rows, by the rules of rb_matrix_csr with
 * starts[0] = 0. The arrays are the program's and stay as they are until it is asked again, or the
 * source is freed. Else as rb_source_fn. */
typedef rb_error (*rb_csr_source_fn)(void *user, int64_t first, int64_t count,
                                     const int64_t **starts, const int32_t **columns,
                                     const void **values);

/* A source of sparse rows likewise. Every block is checked: RB_ERROR_FORMAT names what breaks the
 * rules. */
RB_API rb_error rb_source_from_csr_callback(rb_context *context, rb_type type, int64_t n_samples,
                                            int64_t n_features, rb_csr_source_fn fn, void *user,
                                            rb_source **source);

/* A source of compressed sparse columns, as scipy and R have them: the values of feature k are
 * values[starts[k] .. starts[k + 1] - 1], their samples rows[...], ascending, each at most once in
 * a column. starts has n_features + 1 entries, starts[0] = 0. Nothing is copied: a block of samples
 * is made as compressed rows when it is read, by one look at each of its entries where samples are
 * read in order. The arrays must outlive the source. RB_ERROR_FORMAT as rb_matrix_csr. */
RB_API rb_error rb_source_from_csc(rb_context *context, rb_type type, int64_t n_samples,
                                   int64_t n_features, const int64_t *starts, const int32_t *rows,
                                   const void *values, rb_source **source);

/* Samples first .. first + count - 1 of a source as a source of their own, counted from 0: for
 * folds and shards. Nothing is read or copied. It reads from the other source, which must outlive
 * it; the two count as one object for threads. RB_ERROR_ARGUMENT: there are no such samples. */
RB_API rb_error rb_source_slice(rb_context *context, rb_source *source, int64_t first,
                                int64_t count, rb_source **slice);

/* Reads all samples of a source, sparse or not, into the caller's memory: value (i, k) becomes
 * values[i * row_stride + k * column_stride], of that type, strides counted in values. What was
 * read before an error stays there. RB_ERROR_FILE, RB_ERROR_FORMAT: it cannot be read. */
RB_API rb_error rb_source_read_into(rb_context *context, rb_source *source, rb_type type,
                                    void *values, int64_t row_stride, int64_t column_stride);

/* CRC-32 of all values as float64, in order; of sparse samples of how many each stores, of their
 * features and values. A model has that of its data as data_checksum, in 8 hexadecimal digits. */
RB_API rb_error rb_source_checksum(rb_context *context, rb_source *source, uint32_t *checksum);

/* A source is asked by one thread at a time. Callbacks and what is in memory are asked by the
 * thread that called the library; of HDF5 files another thread reads the next block while a call
 * works on this one, where the context has more than one thread. No call leaves it reading. */

/* Frees the source and closes its file. NULL is accepted. */
RB_API void rb_source_free(rb_source *source);

/* Shape, storage, type and names (NULL where there are none) of what a source delivers. */
RB_API int64_t rb_source_samples(const rb_source *source);
RB_API int64_t rb_source_features(const rb_source *source);
RB_API bool rb_source_sparse(const rb_source *source);
RB_API rb_type rb_source_type(const rb_source *source);
/* Bytes that every walk over all samples unpacks anew: those of a compressed HDF5 data set; else
 * 0. */
RB_API int64_t rb_source_unpacked(const rb_source *source);
RB_API const char *rb_source_sample_name(const rb_source *source, int64_t sample);
RB_API const char *rb_source_feature_name(const rb_source *source, int64_t feature);
/* Gives a source names of its own, copied; count must be the number of samples or features. NULL
 * takes all names away. Slices that are made afterwards have them. To be called while nothing uses
 * the source, and before slices are made of it. RB_ERROR_ARGUMENT: another number of names. */
RB_API rb_error rb_source_set_sample_names(rb_context *context, rb_source *source,
                                           const char *const *names, int64_t count);
RB_API rb_error rb_source_set_feature_names(rb_context *context, rb_source *source,
                                            const char *const *names, int64_t count);
