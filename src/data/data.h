/* The face of src/data: matrices, names, sources, preprocessing, generators. */
#ifndef RB_DATA_H
#define RB_DATA_H

#include "base/base.h"
#include "linalg/linalg.h"
#include <rarebit/matrix.h>
#include <rarebit/preprocess.h>
#include <rarebit/regress.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* ---- names ---- */

typedef struct rb_names {
    int64_t count;
    char **text; /* count pointers into one allocation, which starts with them */
} rb_names;

/* Copies; NULL and a message when memory is out. */
rb_names *rb_names_copy(rb_context *ctx, const char *const *text, int64_t count);
void rb_names_free(rb_names *names);
/* Names in place of those that are there, NULL: none. RB_ERROR_ARGUMENT: there must be `expected`
 * of them. */
rb_error rb_names_set(rb_context *ctx, rb_names **names, const char *const *text, int64_t count,
                      int64_t expected, const char *what);
/* Warns when a name stands more than once (NULL: there are none):
 * "2 of 9 WHAT stand more than once ('A' for one): THEN". */
rb_error rb_names_warn_repeated(rb_context *ctx, const rb_names *names, const char *what,
                                const char *then);

/* Names with their places, in alphabetical order, then by place; NULL when memory is out. */
typedef struct rb_named {
    const char *text;
    int64_t index;
} rb_named;
rb_named *rb_names_sort(rb_context *ctx, const rb_names *names);
/* Where the first of that name stands in such a list; -1: there is none. */
int64_t rb_names_find(const rb_named *sorted, int64_t count, const char *text);
/* Gives doubles among the names a number ("A", "A-1", "A-2"), as single-cell programs do, passing
 * by names that are there already. On failure the names stay. */
rb_error rb_names_make_unique(rb_context *ctx, rb_names **names);

/* Collects names one by one, for readers. Zero-initialise; on failure nothing leaks after
 * _clear. */
typedef struct rb_name_list {
    int64_t used, count;
    rb_buffer bytes; /* the names, each with its 0 */
} rb_name_list;
rb_error rb_name_list_add(rb_context *ctx, rb_name_list *list, const char *text, int64_t length);
/* Makes names of the list and clears it; where `err` tells that a name was not added, *names is
 * NULL. Gives err, or its own. */
rb_error rb_name_list_end(rb_context *ctx, rb_error err, rb_name_list *list, rb_names **names);
void rb_name_list_clear(rb_name_list *list);

/* ---- matrices ---- */

struct rb_matrix {
    int64_t n_samples, n_features;
    rb_type type;
    bool sparse;
    const void *values; /* dense: see strides; sparse: stored entries */
    int64_t row_stride, column_stride;
    const int64_t *starts;  /* sparse: n_samples + 1; starts[0] may be above 0 in a slice */
    const int32_t *columns; /* of entry e: columns[e - starts[0]]; values likewise */
    rb_names *sample_names, *feature_names;
    /* Called by rb_matrix_free for numbers that the matrix owns; NULL: a view. */
    void (*release)(void *owner);
    void *owner;
};

/* Gives err, and where that is one frees the matrix, which becomes NULL. */
rb_error rb_matrix_end(rb_error err, rb_matrix **matrix);

/* What its numbers take, with their places where it is sparse. */
double rb_matrix_bytes(const rb_matrix *matrix);
/* A dense matrix that owns n_samples x n_features zeros, row-major. Its
 * numbers: (void *)m->values. */
rb_error rb_matrix_new_dense(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                             rb_matrix **matrix);
/* Takes over values by rows, made with rb_alloc (also on failure: then they are freed). */
rb_error rb_matrix_own_dense(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                             void *values, rb_matrix **matrix);
/* The same for arrays, which are checked as rb_matrix_csr does; one that is NULL is out of memory.
 */
rb_error rb_matrix_own_csr(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                           int64_t *starts, int32_t *columns, void *values, rb_matrix **matrix);
/* Are the rows ascending, without doubles, within the columns? RB_ERROR_FORMAT. */
rb_error rb_csr_check(rb_context *ctx, int64_t n_samples, int64_t n_features, const int64_t *starts,
                      const int32_t *columns);
/* Samples become features. Dense: strides are swapped in place. Sparse: the matrix is replaced. */
rb_error rb_matrix_transpose(rb_context *ctx, rb_matrix **matrix);

/* Rows as samples; a view. */
static inline rb_matrix rb_matrix_of(rb_dense rows) {
    return (rb_matrix){.n_samples = rows.rows,
                       .n_features = rows.cols,
                       .type = rows.type,
                       .values = rows.data,
                       .row_stride = rows.ld,
                       .column_stride = 1};
}
/* Samples first .. first + count - 1, without names; a view. */
rb_matrix rb_matrix_part(const rb_matrix *matrix, int64_t first, int64_t count);

/* Numbers of a caller: value (i, k) is values[i * row_stride + k * column_stride]. */
typedef struct rb_target {
    rb_type type;
    void *values;
    int64_t row_stride, column_stride;
} rb_target;

/* Copies the samples of a matrix, sparse or not, into rows first, first + 1 .. of the target. */
void rb_matrix_copy(const rb_matrix *matrix, int64_t first, const rb_target *to);

/* ---- covariates of samples (source_covariates.c) ---- */

typedef struct rb_source_covariate {
    char *name;
    rb_names *levels; /* of groups, in alphabetical order; NULL: numbers */
    double *values;   /* one per sample: the number, or the index of the level; NaN: not known */
} rb_source_covariate;

enum { RB_COVARIATES_MAX = 32 };
typedef struct rb_source_covariates {
    int64_t count;
    rb_source_covariate list[RB_COVARIATES_MAX];
} rb_source_covariates;

void rb_source_covariates_free(rb_source_covariates *covariates); /* NULL is accepted */

/* ---- sources ---- */

struct rb_source {
    int64_t n_samples, n_features;
    rb_type type;
    bool sparse;
    const rb_names *sample_names, *feature_names;   /* NULL: none; owned by `state` */
    rb_names *own_sample_names, *own_feature_names; /* the same where this source frees them */
    char *path;                                     /* of the file, for messages; NULL: none */
    const char *format;                             /* of the file: "npy"; NULL: no file */
    /* Whose samples these are, for messages, where it has no file of its own; and which of them
     * each is, NULL: that of its number. NULL: nobody's. */
    const rb_source *of;
    const int64_t *of_which;
    int64_t unpacked; /* bytes that a walk over all samples unpacks anew; 0: none */
    bool at_random;   /* single samples in any order cost little: memory, rows of a file */
    /* Reading takes long, and may be done by another thread while the block before is worked on:
     * HDF5. A view then stays valid while the next one is read. Not of what is in memory, nor of
     * callbacks, which the caller's thread alone calls. */
    bool reads_ahead;
    bool ahead;                             /* it is: two blocks are kept (rb_ahead_begin) */
    const rb_source_covariates *covariates; /* NULL: none */
    rb_source_covariates *own_covariates;   /* the same where this source frees them, else NULL */
    int64_t covariates_first;               /* of a slice: which of their samples is its first */
    const struct rb_annotations *table; /* which rb_classes_read takes; NULL: it reads the file */
    const int64_t *order; /* of a shuffled one: which sample is each of those read last, or NULL */
    /* Fills a view of samples first .. first + count - 1 (0 <= first, first + count <= n_samples),
     * valid until the next read. Dense views may be strided. */
    rb_error (*read)(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                     rb_matrix *view);
    void (*close)(rb_source *source); /* frees state, not the source itself */
    void *state;
};

/* Reads a block as source->read does, unless the program has asked to stop: every walk over the
 * samples of a source reads by it, or by a feed. */
rb_error rb_source_read(rb_context *ctx, rb_source *source, int64_t first, int64_t count,
                        rb_matrix *view);

/* The matrix that a source walks; NULL: it is not in memory, or not as one matrix. */
const rb_matrix *rb_source_memory(const rb_source *source);

/* A source without constant samples, and all but the first of equal ones, as `which` asks
 * ("duplicates,constant"), in place of *source; owned: to be freed before that one, NULL: all stay
 * (thin.c). RB_ERROR_DATA: none would be left. together: by all processes at once, each of which
 * reads its own samples, as rb_preprocess_fit_together. */
rb_error rb_source_thin(rb_context *ctx, const char *which, bool together, rb_source **source,
                        rb_source **owned);
/* Warns of equal samples, where there are few enough values to look at them all and samples have
 * many different ones. */
rb_error rb_source_tell_same(rb_context *ctx, rb_source *source, bool together);
/* The covariates of some samples become those of another source, which has as many. */
rb_error rb_source_take_covariates(rb_context *ctx, const rb_source *from, const int64_t *samples,
                                   rb_source *to);

/* Several sources as one, in their order, which takes over the list and what is in it, also where
 * it fails (join.c). RB_ERROR_DATA: features or types of values differ. */
rb_error rb_source_join(rb_context *ctx, rb_source **parts, int64_t count, rb_source **out);
/* The file of a sample, and its number in that; NULL: there is none. */
const char *rb_source_place(const rb_source *source, int64_t *sample);

/* Rows of matrices one behind the other (append.c). Zero-initialise. */
typedef struct rb_appended {
    rb_buffer values, starts, columns;
    rb_matrix rows; /* what was appended so far; valid until the next call */
} rb_appended;
/* Of samples of a source, at most `count`; what was there is forgotten. */
rb_error rb_append_begin(rb_context *ctx, rb_appended *a, const rb_source *like, int64_t count);
rb_error rb_append(rb_context *ctx, rb_appended *a, const rb_matrix *view);
void rb_appended_free(rb_appended *a);

/* Reads one block ahead of who walks over a source that has reads_ahead, where the context has more
 * than one thread (ahead.c); else as rb_source_read. To be ended, also after an error. */
typedef struct rb_ahead {
    rb_source *source;
    bool active; /* else nothing is read ahead */
    rb_background thread;
    rb_context own;               /* of that thread */
    int64_t walk_count, walk_end; /* samples of the first block of a walk; where it is */
    bool walked;                  /* a walk has come to its end: another one may follow */
    bool begun;                   /* these samples are being read: */
    int64_t first, count;
    rb_matrix view;
    rb_error err;
} rb_ahead;
void rb_ahead_begin(const rb_context *ctx, rb_source *source, rb_ahead *ahead);
void rb_ahead_end(rb_ahead *ahead);
rb_error rb_ahead_read(rb_context *ctx, rb_ahead *ahead, int64_t first, int64_t count,
                       rb_matrix *view);

/* Fills the fields of a source that walks a matrix. */
void rb_source_of_matrix(const rb_matrix *matrix, rb_source *source);

/* A source that owns the matrix and frees it when closed (also on failure). */
rb_error rb_source_own_matrix(rb_context *ctx, rb_matrix *matrix, rb_source **source);
/* As rb_source_from_callback; `release` frees what the callback needs when the source is closed
 * (also on failure). */
rb_error rb_source_own_callback(rb_context *ctx, rb_type type, int64_t n_samples,
                                int64_t n_features, rb_source_fn fn, void *user,
                                void (*release)(void *user), rb_source **source);
/* Allocates a source with its fields zero; for formats that stream. */
rb_source *rb_source_new(rb_context *ctx);
/* Copies a source, whose covariates must outlive the copy, and gives it a copy of the state, of
 * `size` bytes, which its `close` frees. */
rb_error rb_source_make(rb_context *ctx, const rb_source *like, const void *state, size_t size,
                        rb_source **source);

/* A source of the same samples in an order of its own, once it is shuffled; until then and after
 * unshuffling as they are. Where the other source is not at_random, samples are shuffled within
 * pieces of up to 2^22 values (sparse: 2^14 samples), and the pieces. The other one must outlive
 * it, and not be read while it is. The order depends on the stream alone. */
rb_error rb_source_shuffled(rb_context *ctx, rb_source *source, rb_source **shuffled);
/* From here on only so many samples from `first` on change places, and only these may be read. */
void rb_source_shuffle_within(rb_source *shuffled, int64_t first, int64_t n);
void rb_source_shuffle(rb_source *shuffled, rb_stream stream);
void rb_source_unshuffle(rb_source *shuffled);

/* ---- preprocessing ---- */

/* What a sample lost, over the values that are there: its total, which is 0 where it is not scaled
 * to another one, and the level that was subtracted. */
typedef struct rb_row_level {
    double total, level;
} rb_row_level;

/* A block of preprocessed samples in working precision: what methods see. */
typedef struct rb_block {
    int64_t first; /* its place among all samples: for random numbers and messages */
    int64_t own;   /* and among those of this process: for what is kept per sample */
    int64_t n_samples, n_features;
    bool sparse;
    rb_dense dense;      /* n_samples x n_features, when not sparse */
    rb_csr csr;          /* when sparse */
    const double *shift; /* n_features: the value is what is stored, less it; NULL: less nothing.
                          * Of dense blocks only for methods that take it (rb_problem.shifts) */
    const rb_row_level *lost; /* n_samples, until the next read; NULL: not known */
} rb_block;

/* Samples first .. first + count - 1 of a block, as a block of its own. */
rb_block rb_block_part(const rb_block *block, int64_t first, int64_t count);
/* Samples row .. row + rows.rows - 1 of a block as dense rows of its type. */
void rb_block_rows(const rb_block *block, int64_t row, rb_dense rows);
/* OUT = V B, of the samples first, first + 1 .. as many as OUT has, without the shift; on the
 * calling thread. */
void rb_block_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense b,
                      rb_dense out);
/* What its values take, with their places where it is sparse. */
double rb_block_bytes(const rb_block *block);
/* The sum of the squares of all values of a block that are there; *values is their number. */
double rb_block_squares(const rb_block *block, int64_t *values);
/* Adds the squares of each feature to its sum, on all threads and in the order of the samples. */
void rb_block_feature_squares(rb_context *ctx, const rb_block *block, double *sums);

/* The options of rarebit/preprocess.h. */
typedef struct rb_preprocess_options {
    int missing;   /* rb_missing: what to do with NaN; a feature's mean or median of the rest; or
                    * leave it to the method */
    double totals; /* scale each sample to this sum of values, none of which may be below 0;
                    * 0: leave it; INFINITY: to the median of the sums, which a fit finds */
    bool log1p;    /* log(1 + x), after the totals; values must be above -1 */
    int centre_samples;   /* rb_centre_samples: what is subtracted from each sample, after log1p */
    int drop;             /* rb_drop: features that are not used */
    int64_t top_variance; /* keep this many features of largest variance; 0: all */
    int centre;           /* rb_centre: what is subtracted from each feature */
    int scale;           /* rb_scale: what each feature is divided by (1/n variance); constant: 1 */
    const char *regress; /* "batch,age": covariates whose effects are taken out; NULL: none */
} rb_preprocess_options;

extern const rb_option_group rb_preprocess_group;

/* A value that is not 0 and its place. The sum over the places, in any order, is the hash of a
 * list: zeros need no visit. */
uint64_t rb_hash_value(int64_t place, double value);
/* Where list i, unless it is skipped, is equal to an earlier one by its hash: the first of these,
 * else -1. */
rb_error rb_find_same(rb_context *ctx, const uint64_t *hashes, const bool *skip, int64_t count,
                      int64_t *first);

/* A covariate as a fit has seen it. */
typedef struct rb_regress_term {
    char *name;
    rb_names *levels; /* of groups, two or more, in alphabetical order; NULL: numbers */
} rb_regress_term;

/* Effects of covariates on features (regress.c). The terms have columns one after the other: of
 * numbers the number itself, of groups one for each level but the first, 1 for samples of that
 * level and else 0. The effect on feature k of a sample with columns x is
 * sum over c of coefficients[k, c] (x_c - means[c]). */
typedef struct rb_regress {
    char *text; /* "batch:groups,age:numbers" */
    int64_t n_terms, n_columns;
    rb_regress_term terms[RB_COVARIATES_MAX];
    double *means;        /* n_columns: of the training samples */
    double *coefficients; /* features in use x n_columns */
} rb_regress;

void rb_regress_free(rb_regress *regress); /* NULL is accepted */
/* Sets text and n_columns from the terms. */
rb_error rb_regress_complete(rb_context *ctx, rb_regress *regress);
rb_regress *rb_regress_copy(rb_context *ctx, const rb_regress *regress, int64_t n_features);
/* CRC-32 of the covariates of a source that the terms name, which it has. */
uint32_t rb_regress_checksum(const rb_regress *regress, const rb_source *source);
/* Moments of a feature; zero-initialise. */
typedef struct rb_moments {
    int64_t count;   /* values that are there */
    int64_t missing; /* NaN */
    double mean;
    double squares; /* sum of squared differences from the mean */
} rb_moments;
/* Do missing values stay NaN, for the method to do without? */
static inline bool rb_missing_stays(const rb_preprocess_options *options) {
    return options->missing == RB_MISSING_OMIT || options->missing == RB_MISSING_MODEL;
}

/* Fitted preprocessing: plain numbers, so that a model can store it. Order: samples are scaled to
 * totals, log1p, samples centred, effects of covariates taken out, missing values filled (or
 * kept as
 * NaN), features dropped and selected, centred, scaled. */
typedef struct rb_preprocess {
    rb_preprocess_options options; /* its text is that of `regress` */
    int64_t n_input;               /* features of the data before selection */
    int64_t n_features;            /* features in use */
    int64_t *selected;             /* n_features ascending indices into the input; NULL: all */
    double *centre;                /* n_features, after log1p; 0 where nothing is subtracted */
    double *scale;                 /* n_features, what is divided by; 1 where nothing is */
    double *fill;        /* n_features, for missing values, after log1p; NULL: none are filled */
    rb_names *names;     /* of the features in use, or NULL */
    rb_regress *regress; /* NULL: no effects are taken out */
    int64_t n_filled;    /* missing values of the training data, filled or left out */
    uint32_t checksum;   /* CRC-32 of the training data: values as float64, in order; sparse: of
                         * each sample how many are stored, their features, their values */
    int64_t n_stored;    /* values of the data at hand, without the zeros of sparse ones */
    rb_moments *moments; /* of all features of the data at hand, after log1p; NULL: of no data */
} rb_preprocess;

/* Gets samples as float64 as they stand, some at a time and in order, the first of them sample
 * `first`. */
typedef void (*rb_collect_fn)(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first);
/* rb_source_checksum for who looks at the samples as well. */
rb_error rb_source_collect(rb_context *ctx, rb_source *source, uint32_t *checksum,
                           rb_collect_fn collect, void *user);

/* The same checksum of a matrix. */
rb_error rb_matrix_checksum(rb_context *ctx, const rb_matrix *matrix, uint32_t *checksum);

/* Fits to a source by passes over it. NULL options: the defaults. */
rb_error rb_preprocess_fit(rb_context *ctx, const rb_preprocess_options *options, rb_source *source,
                           rb_preprocess **out);
/* The same by all processes at once, each of which reads its own samples (rows.h, rb_share), and
 * which have agreed that nothing failed before. An error is still to be agreed upon. */
rb_error rb_preprocess_fit_together(rb_context *ctx, const rb_preprocess_options *options,
                                    rb_source *source, rb_preprocess **out);
void rb_preprocess_free(rb_preprocess *p);
/* The bytes that rb_preprocess_fit takes for a while, for medians. */
int64_t rb_preprocess_memory(const rb_preprocess_options *options, int64_t n_samples,
                             int64_t n_features);
/* For other data that will be preprocessed in the same way: checksum, moments and number of missing
 * values become theirs, by a pass over them. together: as rb_preprocess_fit_together. */
rb_error rb_preprocess_renew(rb_context *ctx, rb_preprocess *p, rb_source *source, bool together);

/* Preprocessing bound to one source: features matched by name when both have names, else by
 * position (counts must agree: those of the input, or those in use). Reports missing and extra
 * features as a log message; a missing feature takes its centre. Gives preprocessed blocks: dense
 * ones, also of a sparse source, where effects of covariates are taken out. RB_ERROR_DATA: the
 * source lacks covariates, or has levels that the preprocessing does not know. */
typedef struct rb_feed rb_feed;
/* The feed keeps p and source: both must outlive it. */
rb_error rb_feed_new(rb_context *ctx, const rb_preprocess *p, rb_source *source, rb_type type,
                     rb_feed **out);
void rb_feed_free(rb_feed *feed);
RB_API int64_t rb_feed_samples(const rb_feed *feed); /* as rarebit/method.h has it */
/* For the source that the preprocessing was just fitted to: its values are known to be finite and
 * need not be looked at again. */
void rb_feed_trust(rb_feed *feed);
/* The sum of squares of each feature over all samples as blocks have them, but for rounding, where
 * the moments of the data tell; false: they do not. */
bool rb_feed_squares(const rb_feed *feed, double *sums);
/* Blocks of a sparse source are dense from here on. */
void rb_feed_fill(rb_feed *feed);
/* Dense blocks are left as the source has them, less a shift, where that costs hardly a digit: to
 * be said before the first block is read. */
void rb_feed_leave(rb_feed *feed);
/* What is subtracted from each feature besides what blocks store; NULL: nothing. */
const double *rb_feed_shift(const rb_feed *feed);
/* Blocks of `size` samples, counted from sample 0, stay in memory once they are read, as many as
 * fit into `bytes`. What is a view of a matrix in memory is not copied. For walks in the same order
 * of the samples; rb_feed_inverse and rb_feed_keep cannot follow. */
void rb_feed_cache(rb_context *ctx, rb_feed *feed, int64_t size, double bytes);
/* What was read last is not to be used again: the samples of the source are others now. */
void rb_feed_forget(rb_feed *feed);
/* Samples first .. first + count - 1, valid until the next read. RB_ERROR_DATA names sample and
 * feature of a value that is missing, unless those are left out, or infinite. */
rb_error rb_feed_read(rb_context *ctx, rb_feed *feed, int64_t first, int64_t count,
                      rb_block *block);
/* The `size` samples after the block before, of which the first is {0}, or those that are left;
 * false at the end, or with an error, be it of before. */
bool rb_feed_next(rb_context *ctx, rb_feed *feed, int64_t size, rb_block *block, rb_error *err);
/* So many samples that `cells` values hold them, each `wide`; but at least 64, and at most n. */
int64_t rb_block_size(int64_t cells, int64_t wide, int64_t n);
/* Undoes the preprocessing of rows (count x n_features in use, of the feed's type) in place; they
 * belong to the samples of the last block read, whose totals and levels are restored. */
void rb_feed_inverse(const rb_feed *feed, rb_dense rows);
/* The same of samples of which nothing else is known: totals are those of the option, what
 * centred samples lost stays 0, and covariates are what they were on average. */
void rb_preprocess_inverse(const rb_preprocess *p, rb_dense rows);
/* Into such rows, once they are on the scale of the data: all values that the source has. */
void rb_feed_keep(const rb_feed *feed, rb_dense rows);

/* ---- samples that depend on each other (neighbours.c) ---- */

/* Mean cosines of samples with the next one of the file, and of others: are these more alike than
 * chance has it? serial: and is the next one nearly always nearer than the next but one? So it is
 * where each depends on the one before, and not where samples are sorted by class. */
typedef struct rb_neighbours {
    double next, others;
    bool alike, unlike; /* more than others are; less */
    bool serial;        /* and more than the next but one */
} rb_neighbours;
typedef double (*rb_cosine_fn)(int64_t a, int64_t b, void *user);
/* Of n_pairs samples, every step-th one, the next one is that behind it; serial is told where step
 * is 1. */
rb_neighbours rb_neighbours_of(int64_t n_pairs, int64_t n_samples, int64_t step,
                               rb_cosine_fn cosine, void *user);
/* What those who would permute samples must know of them. */
void rb_neighbours_say(const rb_neighbours *found, char *text, size_t size);

/* ---- values below 0 (below.c) ---- */

/* Of preprocessed samples; zero-initialise. */
typedef struct rb_below {
    int64_t count, values;       /* below 0; all that are there */
    double squares, all_squares; /* their sums of squares */
    int64_t sample, feature;     /* the first one */
} rb_below;

rb_error rb_below_add(rb_context *ctx, rb_below *below, const rb_block *block);
void rb_below_join(rb_context *ctx, rb_below *below); /* those of all processes */
/* Says what was found, if anything, of data of a method that takes values not to be below 0: a
 * warning, or where they may be noise around 0 a remark. others: "rfn or linca", which take
 * them. */
void rb_below_tell(rb_context *ctx, const rb_below *below, const rb_preprocess *p,
                   const rb_source *source, const char *method, const char *others);

#pragma GCC visibility pop

#endif
