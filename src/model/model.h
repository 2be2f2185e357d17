/* The face of src/model: the table a method fills, and the model it leaves. */
#ifndef RB_MODEL_INTERNAL_H
#define RB_MODEL_INTERNAL_H

#include "data/data.h"
#include <rarebit/fit.h>
#include <rarebit/method.h>
#include <rarebit/model.h>

#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* ---- models ---- */

typedef struct rb_array {
    char *name;
    int64_t rows, columns;
    double *values;
} rb_array;

typedef struct rb_attribute {
    char *name, *value;
} rb_attribute;

typedef struct rb_history {
    double objective, estep_objective, seconds;
    double metrics[RB_METRICS_MAX]; /* of the method */
} rb_history;

struct rb_model {
    const rb_method *method;
    rb_type type; /* precision of the fit: codes are computed in it */
    rb_array *arrays;
    int64_t n_arrays;
    rb_attribute *attributes;
    int64_t n_attributes;
    rb_preprocess *preprocess;
    rb_history *history;
    int64_t iterations;
    rb_status status;
};

/* ---- words and columns that every form of a model has, file or bytes ---- */

/* Words for precision and status, by their enum. */
static const char *const rb_store_precisions[] = {"float32", "float64"};
static const char *const rb_store_statuses[] = {"iterations", "converged", "stopped",
                                                "parameters", "patience",  "time"};
enum { RB_STORE_STATUSES = 6 };

/* The index of a text among words, or -1. */
static inline int rb_store_word(const char *const *words, int count, const char *text) {
    int i = count - 1;
    while (i >= 0 && strcmp(words[i], text) != 0)
        i--;
    return i;
}

/* Columns of the history: three, then the metrics of the method. */
enum { RB_STORE_COLUMNS = 3 };
typedef struct rb_store_column {
    const char *name; /* below "history/"; NULL: there is none of that index */
    size_t offset;    /* in an rb_history */
} rb_store_column;

static inline rb_store_column rb_store_column_of(const rb_method *method, int index) {
    static const char *const always[RB_STORE_COLUMNS] = {"objective", "estep_objective", "seconds"};
    const char *const *metrics = method->metric_names;
    const char *name = index < RB_STORE_COLUMNS ? always[index] : NULL;
    for (int i = RB_STORE_COLUMNS; metrics && *metrics && i <= index; i++, metrics++)
        name = i == index ? *metrics : NULL;
    return (rb_store_column){name, (size_t)index * sizeof(double)}; /* as rb_history has them */
}

/* An empty model; it takes over the preprocessing (also on failure: then it is freed). */
rb_error rb_model_new(rb_context *ctx, const rb_method *method, rb_type type,
                      rb_preprocess *preprocess, rb_model **model);

/* Records every row of an option table as an attribute. */
rb_error rb_model_record_options(rb_context *ctx, rb_model *model, const rb_option *table,
                                 const void *options);

rb_error rb_model_add_history(rb_context *ctx, rb_model *model, rb_history entry);

/* Units that no sample of the fit activates. */
int64_t rb_model_dead(const rb_model *model);

/* Every method stores its loadings, features in use x units, as the array "loadings":
 * rb_model_units and the files that carry loadings count on it. */

/* An array that must be there, for methods that load one: RB_ERROR_FORMAT names what is missing, of
 * the wrong shape, not finite or too large for the model's precision. rows or columns below 0:
 * any. */
rb_error rb_model_need_array(rb_context *ctx, const rb_model *model, const char *name, int64_t rows,
                             int64_t columns, const double **values);

/* Such an array into a matrix of its shape; and a matrix as an array. */
rb_error rb_model_take_array(rb_context *ctx, const rb_model *model, const char *name, rb_dense to);
rb_error rb_model_put_array(rb_context *ctx, rb_model *model, const char *name, rb_dense values);
/* Records what moved to and from a device: bytes of samples that stay there, and of all. */
rb_error rb_model_put_traffic(rb_context *ctx, rb_model *model, double once, double all);
/* Options as the model records them, else their defaults: those that are named (NULL at the end).
 * RB_ERROR_FORMAT. */
rb_error rb_model_recorded(rb_context *ctx, const rb_model *model, const rb_option *table,
                           const char *const *names, void *options);
/* RB_ERROR_ARGUMENT: a fit of this shape cannot start from the model. */
rb_error rb_model_starts(rb_context *ctx, const rb_model *start, int64_t units, int64_t features);

/* For readers of models (restore.c). An empty model of a method that the context knows, with empty
 * preprocessing; type and status are indices of the words above. */
rb_error rb_model_begin(rb_context *ctx, const char *method, int type, int status,
                        rb_model **model);
/* Adds entries without values: NaN. */
rb_error rb_model_empty_history(rb_context *ctx, rb_model *model, int64_t count);
/* What cannot be in a model that was read, where its vectors have their lengths: in the
 * preprocessing, and in what must agree with it; or NULL. */
const char *rb_model_flaw(const rb_model *model);
/* Says in the log that damage would not be seen; from: "", or "FILE: ". */
void rb_model_no_checksum(rb_context *ctx, const char *from);
/* The checksum that the bytes of a model must have, at least 24 of them (memory.c). */
int64_t rb_model_bytes_sum(const void *bytes, size_t size);

/* ---- sums over samples (totals.c) ---- */

/* So many values, which are added up over samples; a flag is true where it is anywhere. */
typedef struct rb_total {
    void *values;
    int64_t count;
    rb_kept_type type;
} rb_total;
static inline rb_total rb_total_of(rb_dense sums) {
    return (rb_total){sums.data, sums.rows * sums.cols, (rb_kept_type)sums.type};
}
/* What adds to totals, the blocks of a feed one after the other. */
typedef struct rb_adding {
    rb_feed *feed;
    int64_t block_samples; /* at most */
    rb_error (*fn)(rb_context *ctx, void *user, const rb_block *block);
    void *user;
    rb_total totals[24]; /* without gaps; after the last one none has values */
} rb_adding;
/* The totals of all samples, the same bits for 1, 2, 4 ... processes, in each of them. alone: this
 * process looks at all samples. */
rb_error rb_feed_add(rb_context *ctx, const rb_adding *adding, bool alone);
/* The same of `groups` groups, a power of two, of which fn adds one. */
typedef rb_error (*rb_group_fn)(rb_context *ctx, void *user, int64_t groups, int64_t group);
rb_error rb_totals_add(rb_context *ctx, const rb_total *totals, int64_t groups, bool alone,
                       rb_group_fn fn, void *user);
/* How many groups such totals of so many samples, or blocks of them, come in. */
int64_t rb_totals_groups(const rb_total *totals, int64_t samples, int64_t block_samples,
                         int64_t fewest);

/* Takes preprocessed samples and their codes, valid during the call; otherwise as rb_rows_fn. */
typedef rb_error (*rb_block_fn)(void *user, const rb_block *block, const rb_matrix *codes);
/* The codes of samples as a source, which model and samples must outlive: the same bits as
 * rb_encode gives, computed in the same blocks whenever they are asked for. keep: each is computed
 * once and stays in memory. */
rb_error rb_source_of_codes(rb_context *ctx, const rb_model *model, rb_source *samples, bool keep,
                            rb_source **codes);

/* Codes of the samples of a source, made by the first walk and then kept (encoded.c): begins as
 * {.model, .source, .most}, and is to be cleared. */
typedef struct rb_encoded {
    const rb_model *model;
    rb_source *source;
    int64_t most;     /* bytes: more codes are not kept, each walk makes them anew. INT64_MAX: they
                         are kept in any case; 0: never, and values below 0 are not told */
    rb_block_fn also; /* is given the blocks of the first walk, or of rb_evaluate_encoded before
                         one, as well; NULL: nobody */
    void *also_user;
    rb_total also_adds; /* to these sums */
    rb_dense codes;     /* samples x units; empty: not kept */
    bool walked;
} rb_encoded;
void rb_encoded_clear(rb_encoded *kept);
/* rb_encode; and for who needs the preprocessed samples as well. */
rb_error rb_encoded_rows(rb_context *ctx, rb_encoded *kept, rb_rows_fn fn, void *user);
rb_error rb_encoded_blocks(rb_context *ctx, rb_encoded *kept, rb_block_fn fn, void *user);

/* rb_encode of `runs` runs of `each` samples, which begin at even distances. */
rb_error rb_encode_runs(rb_context *ctx, const rb_model *model, rb_source *source, int64_t runs,
                        int64_t each, rb_rows_fn fn, void *user);

/* What may be wrong with codes that should mostly be 0, of all samples or of 20 000 spread over
 * them. */
typedef struct rb_code_check {
    int64_t samples;      /* that were looked at; 0: the method promises no sparse codes */
    int64_t empty;        /* samples without an active unit */
    int64_t full;         /* samples with at least 9 in 10 of the living units active; 0 for fewer
                             than 5 living units */
    int64_t duplicates;   /* units whose codes and loadings are those of an earlier one: cosines
                             above 0.95 */
    int64_t duplicate[2]; /* the first such pair */
} rb_code_check;

/* check.c: counts what is wrong with the codes of the samples, all 0 where the method does not
 * promise sparse codes; and says in the log, in a message each, what is wrong with the model. */
rb_error rb_model_check(rb_context *ctx, const rb_model *model, rb_source *source,
                        rb_code_check *check);
/* The same of codes that somebody else makes: those of n samples are added, from wherever; or
 * rb_tally_walk makes them, each of several processes a part, where all come also after an error
 * of rb_tally_begin. rb_tally_end in any case, with the error so far. */
typedef struct rb_code_tally {
    rb_scratch scratch;
    rb_code_check *check;
    int64_t n, units, living;
    rb_dense products; /* units x units: sums of mu_a mu_b, a >= b; of the type of the codes */
    bool looks, negative;
} rb_code_tally;
rb_error rb_tally_begin(rb_context *ctx, const rb_model *model, int64_t n, rb_code_check *check,
                        rb_code_tally *tally);
rb_error rb_tally_add(void *tally, int64_t first, const rb_matrix *codes); /* dense rows */
rb_error rb_tally_walk(rb_context *ctx, const rb_model *model, rb_source *source,
                       rb_code_tally *tally);
rb_error rb_tally_end(rb_code_tally *tally, const rb_model *model, rb_error err);
/* What is counted; `totals` has room for RB_TALLY_TOTALS, and 0 behind them. */
enum { RB_TALLY_TOTALS = 5 };
void rb_tally_totals(rb_code_tally *tally, rb_total *totals);
void rb_model_warn(rb_context *ctx, const rb_model *model, const rb_code_check *check);

/* ---- the arrays of a state, as the tables of its method describe them (parts.c) ---- */

/* The shape of a fit: the method's dims, with what is the same for all. */
rb_shape rb_shape_of(const rb_problem *problem, const void *options);
/* The block that a group of samples begins with; beyond the last group: all of them. */
static inline int64_t rb_group_block(int64_t samples, int64_t block_samples, int64_t groups,
                                     int64_t group) {
    return group * ((samples + block_samples - 1) / block_samples) / groups;
}
/* The first sample of a group. */
static inline int64_t rb_group_first(const rb_problem *p, int64_t group) {
    int64_t block = rb_group_block(p->n_samples, p->block_samples, p->groups, group);
    return rb_smaller(block * p->block_samples, p->n_samples);
}

/* What the process that has a sample knows of it, a row without gaps, comes to all (share.c). */
void rb_comm_sample(rb_context *ctx, const rb_problem *problem, int64_t sample, rb_dense row);

/* All arrays of the parts, as zeros, into a state of zeros. On failure nothing leaks after
 * rb_parts_free, which is right for a state of zeros as well. */
rb_error rb_parts_new(rb_context *ctx, const rb_part *parts, const rb_shape *shape, void *state);
void rb_parts_free(const rb_part *parts, void *state);
/* Bytes that rb_parts_new allocates for parts of a kind; 0: of all. float64, for it may be much. */
double rb_parts_bytes(const rb_part *parts, const rb_shape *shape, rb_part_kind kind);

/* An array in the state of a fit, where it lies: rows x columns values without gaps. */
typedef struct rb_kept {
    const char *name;
    rb_kept_role role;
    rb_kept_type type;
    int64_t rows, columns;
    void *values;
    double min, max;
} rb_kept;

size_t rb_kept_size(rb_kept_type type); /* of a value */
static inline int64_t rb_kept_count(const rb_kept *array) {
    return array->rows * array->columns;
}
/* One of floats as a matrix. */
static inline rb_dense rb_kept_dense(const rb_kept *array) {
    return (rb_dense){array->values, array->rows, array->columns, array->columns,
                      (rb_type)array->type};
}

/* A walk over the fields of all parts of a state, that begins at {.part = parts}:
 *     while (rb_walk_next(&walk, shape, state))
 * walk.array is that of walk.field, of no rows where the fit has none; without values where the
 * state is NULL. */
typedef struct rb_walk {
    const rb_part *part;
    const rb_field *field;
    void *there; /* what the field is: the pointer, the values or the rb_dense */
    rb_kept array;
} rb_walk;
bool rb_walk_next(rb_walk *walk, const rb_shape *shape, void *state);

/* Takes an array to read it, or to fill it; what it returns other than RB_OK ends the list. */
typedef rb_error (*rb_kept_fn)(void *user, const rb_kept *array);
/* Hands on what is kept from one iteration to the next: parameters, codes, progress, and in batches
 * the sums that run on. */
rb_error rb_parts_keep(const rb_method *method, const rb_shape *shape, void *state, rb_kept_fn fn,
                       void *user);

/* ---- what a method says, or the library where it says nothing (methods.c) ---- */

int64_t rb_method_units(const rb_method *method, const void *options);
int64_t rb_method_block_samples(const rb_problem *problem, const void *options);
int64_t rb_method_memory(const rb_problem *problem, const void *options);
rb_error rb_method_start(rb_context *ctx, const rb_problem *problem, const void *options,
                         const rb_model *start, void **state);
void rb_method_finish(const rb_method *method, void *state);
rb_error rb_method_group_end(rb_context *ctx, const rb_method *method, void *state);
bool rb_method_done(const rb_method *method, const void *state);
bool rb_method_reads(const rb_method *method, const void *state);
bool rb_method_adds(const rb_method *method, const void *state);
/* RB_ERROR_UNSUPPORTED: the context has a device, on which the method, no stack, does not run. */
rb_error rb_method_check_device(rb_context *ctx, const rb_method *method);
/* Likewise of several processes, which there are. */
rb_error rb_method_check_processes(rb_context *ctx, const rb_problem *problem, const void *options);
/* Where a device has the codes (rb_method.device); elsewhere nothing. */
rb_error rb_method_device(rb_context *ctx, const rb_problem *problem, void *state,
                          rb_device_codes what);
/* Can a fit start from a model? */
bool rb_method_takes_start(const rb_method *method);
bool rb_method_has_top(const rb_method *method);
rb_error rb_method_store(rb_context *ctx, const rb_problem *problem, const void *options,
                         void *state, rb_model *model);
rb_error rb_method_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                             void **coder);
void rb_method_coder_free(const rb_method *method, void *coder);

/* Options that cannot be had together: what must not be and the message, which may begin with
 * "`option` is VALUE, ". */
typedef struct rb_conflict {
    bool broken;
    const char *message, *option;
    double value;
} rb_conflict;
/* RB_ERROR_ARGUMENT: one is broken. The last one has no message. */
rb_error rb_check_conflicts(rb_context *ctx, const rb_conflict *rules);

/* ---- and what other rooms ask (answers.c) ---- */

/* Are units causes that are there or not? Of the shapes of arrays nothing is known. */
bool rb_has_causes(const rb_model *model);
/* A cause is active where its code is larger, whatever its sign; of other models 1/2. */
double rb_active_above(const rb_model *model);
bool rb_has_valued_causes(const rb_model *model); /* with values besides 0 and 1 */
bool rb_has_sparse_loadings(const rb_model *model);
bool rb_has_chances(const rb_model *model);         /* codes are probabilities, 1/2 says nothing */
bool rb_has_signs(const rb_model *model);           /* codes may be below 0 */
const double *rb_code_scale(const rb_model *model); /* of each unit; NULL: 1 */
bool rb_tells_noise(const rb_model *model);         /* has the function `noise` */
/* What an array of that name belongs to; 0: its method does not say. */
rb_array_of rb_array_belongs(const rb_model *model, const char *name);
const rb_metric_plot *rb_metric_plots(const rb_model *model); /* without a label at the end */
const rb_trace_arrays *rb_traces(const rb_model *model);      /* or NULL */
bool rb_method_has_layer(const rb_method *method);
bool rb_method_rectifies(const rb_method *method);
bool rb_method_is_slow(const rb_method *method);
/* The first method that is advised for such data; NULL: none is. */
const rb_method *rb_method_advised(const rb_context *ctx, rb_advised data);
/* "rfn or linca": those that are so, with `between` between two of them. */
void rb_method_names(const rb_context *ctx, bool (*which)(const rb_method *), const char *between,
                     char *text, size_t size);
/* rb_below_tell of a method that explains no values below 0. */
void rb_method_tell_below(rb_context *ctx, const rb_method *method, const rb_below *below,
                          const rb_preprocess *p, const rb_source *source);

/* ---- drawing samples (sample.c); as in the table of a method, or what the library has instead */

/* RB_ERROR_UNSUPPORTED: it draws no samples, or only of given ones; or takes no steps. */
rb_error rb_method_can_draw(rb_context *ctx, const rb_method *method, int64_t steps, bool given);
rb_error rb_method_draw(rb_context *ctx, const rb_method *method, void *coder,
                        const rb_sampling *sampling, int64_t n, const rb_block *block, void *codes);
bool rb_method_emits(const rb_method *method);
/* Adds normal numbers of these variances (NULL: 1), times `factor`, to each row. */
rb_error rb_add_normal(rb_context *ctx, const rb_sampling *sampling, double factor,
                       const double *variances, rb_dense rows);
/* The same as noise, of the variances of the model's array "noise". */
rb_error rb_model_add_noise(rb_context *ctx, const rb_model *model, const rb_sampling *sampling,
                            rb_dense rows);
/* Adds normal numbers of this covariance (rows.cols of either side, its lower triangle is read),
 * times `factor`. */
rb_error rb_add_correlated(rb_context *ctx, const rb_sampling *sampling, double factor,
                           rb_dense covariance, rb_dense rows);
/* RB_ERROR_ARGUMENT where noise of which there is no standard deviation is to be multiplied by one
 * other than 1 or 0. of: "Poisson noise". */
rb_error rb_noise_is_whole(rb_context *ctx, const rb_sampling *sampling, const char *of);
/* Puts Poisson numbers in the place of their rates; without noise they are the rates. */
rb_error rb_make_counts(rb_context *ctx, const rb_sampling *sampling, rb_dense rates);

/* The method of that name: built in or added; NULL if unknown. */
const rb_method *rb_find_method(const rb_context *ctx, const char *name);
/* Among them those whose models are put together, and cannot be fitted by rb_fit. */
const rb_method *rb_find_made(const rb_context *ctx, const char *name);
struct rb_metrics {
    double *likelihoods; /* of each sample, for `evaluate` to fill; NULL: not wanted */
    /* While they are measured (rb_metrics_encode). */
    rb_encoded *encoded;
    rb_code_tally *tally;
    int64_t n_encoded;
    int count;
    struct {
        const char *name;
        double value;
    } list[40];
};

/* Codes of a block, for `evaluate` of a method: by its coder, or those that are kept. Whoever else
 * looks at codes is given them, so that all samples are encoded once. */
rb_error rb_metrics_encode(rb_context *ctx, rb_metrics *metrics, void *coder, const rb_block *block,
                           void *codes);
/* rb_feed_add, shared out among the processes. encodes: by rb_metrics_encode. */
rb_error rb_metrics_add(rb_context *ctx, rb_metrics *metrics, rb_adding *adding, bool encodes);
/* Sparseness, and the errors of what is rebuilt: their sum of squares over so many values. */
void rb_metrics_rebuilt(rb_metrics *metrics, double sparseness, double squares, double values);
/* rb_evaluate of samples whose codes may be there; likelihoods: as in the next one, but that a
 * method without leaves them, or NULL. */
rb_error rb_evaluate_encoded(rb_context *ctx, rb_encoded *encoded, double *likelihoods,
                             rb_metrics **metrics);
/* rb_evaluate, and the log-likelihood of each sample, NaN of a method without. */
rb_error rb_evaluate_samples(rb_context *ctx, const rb_model *model, rb_source *source,
                             double *likelihoods, rb_metrics **metrics);

/* The options of a method as a group. */
rb_option_group rb_method_group(const rb_method *method);

/* Is `method` one that can do without the values that the preprocessing leaves out? */
static inline bool rb_method_takes(const rb_method *method, const rb_preprocess_options *options) {
    return !rb_missing_stays(options) || method->missing;
}

/* Does the method get data about 0? */
static inline bool rb_model_is_centred(const rb_model *model) {
    return !model->method->non_negative && model->preprocess->options.centre != RB_CENTRE_NONE;
}

rb_preprocess *rb_preprocess_copy(rb_context *ctx, const rb_preprocess *p);

#pragma GCC visibility pop

#endif
