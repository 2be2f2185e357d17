/* Methods: the table that a model family fills. For those who add one; users of the built-in
 * methods need only rb_fit. Experimental: the table may grow.
 *
 * A method knows nothing of files, threads or the loop. One iteration of a fit is
 *     E-step:  repeat begin; block for each block of samples, in fixed order; end, until end says
 *              that it needs no further pass
 *     M-step:  mstep
 *     then:    objective
 */
#ifndef RAREBIT_METHOD_H
#define RAREBIT_METHOD_H

#include <rarebit/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rb_block; /* a block of preprocessed samples */
struct rb_feed;  /* gives the preprocessed samples of a source */
struct rb_engine;

typedef enum rb_accelerate {
    RB_ACCELERATE_NONE = 0,
    RB_ACCELERATE_SQUAREM,
    RB_ACCELERATE_NESTEROV
} rb_accelerate;

/* The options of every fit (rarebit/fit.h), as a method gets them; new fields come at the end. */
typedef struct rb_fit_options {
    int64_t iterations;
    double tolerance;
    int64_t patience;
    double parameter_tolerance;
    double max_time;
    int64_t seed;
    int64_t restarts;
    int precision; /* rb_type */
    int64_t batch_size;
    bool keep_order;
    bool trace;
    int accelerate; /* rb_accelerate */
} rb_fit_options;

/* The shape of a problem, and what every method is told about it; new fields come at the end. */
typedef struct rb_problem {
    int64_t n_samples;  /* all of them */
    int64_t first, own; /* those of this process: so many from the first on */
    int64_t n_features;
    rb_type type;
    bool sparse;
    bool missing;          /* some values are missing and stay so: NaN in blocks */
    int64_t block_samples; /* samples in a block, at most */
    int64_t batch_samples; /* samples that an M-step follows; 0, or n_samples: all */
    const rb_fit_options *fit;
    int64_t restart; /* which of fit->restarts, from 0: part of every random stream */
    double decay; /* of sums that run on from batch to batch; `resolve` sets it, 1 unless it does */
    const struct rb_method *method;
    const struct rb_engine *engine; /* one of the method's; NULL: it has none */
} rb_problem;

/* ---- the memory of a fit, described ----
 *
 * A method's state is a few structs, its parts, and each part is described by a table of fields:
 * from the tables the library allocates and frees the arrays, adds up sums, writes checkpoints,
 * goes back to the last whole iteration, moves parameters (acceleration) and counts memory. */

/* The sizes that arrays have. dims[RB_DIM_ONE] is 1; a method with a `shape` gives the others names
 * of its own, one without has features and units. An array of which a size is 0 is one that this
 * fit does not have. */
enum { RB_DIM_ONE = 0, RB_DIM_FEATURES = 1, RB_DIM_UNITS = 2, RB_DIMS_MAX = 32 };
typedef struct rb_shape {
    rb_type type; /* what RB_KEPT_WORKING stands for */
    bool batches; /* M-steps follow parts of the samples */
    int64_t dims[RB_DIMS_MAX];
} rb_shape;

typedef enum rb_kept_type {
    RB_KEPT_FLOAT32 = RB_FLOAT32,
    RB_KEPT_FLOAT64 = RB_FLOAT64,
    RB_KEPT_INTEGER, /* int64_t */
    RB_KEPT_FLAG,    /* bool */
    RB_KEPT_WORKING  /* the fit's type; only in tables */
} rb_kept_type;

/* What an array is to those who work between iterations: checkpoints keep all of them, acceleration
 * moves parameters and codes. */
typedef enum rb_kept_role {
    RB_KEPT_OTHER = 0, /* moved by nobody: counters, flags, what is given */
    RB_KEPT_PARAMETER, /* floats, as the next two */
    RB_KEPT_POSITIVE,  /* parameters above 0, moved in logarithms */
    RB_KEPT_CODES,     /* no parameters, but they move with them */
    RB_KEPT_MSTEPS,    /* one integer: M-steps made so far; moved by nobody, as the next one */
    RB_KEPT_REPORTED   /* told to users and used by nobody: any value, NaN too */
} rb_kept_role;

/* How what blocks of samples give comes together. The library sets a sum to what adds nothing (0,
 * -INFINITY and INFINITY for floats, false) before each pass; blocks only add to it. */
typedef enum rb_sum {
    RB_SUM_ADD = 0, /* floats and integers */
    RB_SUM_MIN,     /* floats */
    RB_SUM_MAX,     /* floats */
    RB_SUM_OR,      /* flags */
    RB_SUM_LARGEST, /* floats; the next field says at which sample: integers of as many rows, -1 at
                     * none. The smaller sample wins where two are equal */
    RB_SUM_PLACE,   /* that next field */
    RB_SUM_GAIN,    /* one float64, no sum: what blocks must multiply additions to sums that run on
                     * by. The library sets it */
    RB_SUM_SQUARES  /* float64, a row for each feature: the sum of its squares. Where a survey adds
                     * up nothing else, and these sums are known without looking at the samples, the
                     * library fills them and does not call `survey` */
} rb_sum;

typedef enum rb_field_place {
    RB_FIELD_POINTER = 0, /* a pointer to rows x columns values, row-major */
    RB_FIELD_INLINE,      /* the values themselves, in the struct */
    RB_FIELD_DENSE        /* an rb_dense, for methods of the library */
} rb_field_place;

typedef struct rb_field {
    const char *name; /* once in a state; NULL: the end of the table */
    size_t offset;    /* in the struct of the part */
    rb_field_place place;
    rb_kept_type type;
    int rows, columns; /* which of the dims */
    rb_kept_role role;
    double min,
        max; /* a checkpoint may be damaged: values that come from one lie between them, ends
                      * included, or are finite where both are 0 */
    rb_sum sum;
    bool runs_on; /* a sum that goes on from batch to batch, times rb_problem.decay at each */
} rb_field;

typedef enum rb_part_kind {
    RB_PART_PARAMETERS = 1, /* what a model is */
    RB_PART_CODES,          /* codes per sample that persist from one iteration to the next */
    RB_PART_PROGRESS,       /* whatever else an iteration takes from the one before */
    RB_PART_SURVEY,         /* sums of the survey; a checkpoint does without */
    RB_PART_SUMS,           /* sums of a pass of the E-step */
    RB_PART_SCRATCH         /* may be thrown away at any time */
} rb_part_kind;

typedef struct rb_part {
    rb_part_kind kind; /* 0: the end */
    const rb_field *fields;
    size_t offset; /* of the part's struct in the state */
} rb_part;

/* ---- who works on a block ---- */

/* What a method does with a block, apart from the loop, the M-step and the objective, which do not
 * know who does it: the processor by its fast kernels, a plain reference that tests compare with,
 * or a device. `parameters` and `sums` are the method's own structs. The library reads the name
 * alone; the functions are called by the method. */
typedef struct rb_engine {
    const char *name; /* "cpu", "reference" */
    /* Allocates what does not depend on the parameters. RB_ERROR_UNSUPPORTED: not these options. */
    rb_error (*open)(rb_context *context, const rb_problem *problem, const void *options,
                     void **engine);
    void (*close)(void *engine); /* NULL is accepted */
    rb_error (*set_parameters)(rb_context *context, void *engine, const void *parameters);
    /* Adds a block to the sums; they may wait in the engine until they are asked for. */
    rb_error (*block)(rb_context *context, void *engine, const struct rb_block *block, void *sums);
    rb_error (*sums)(rb_context *context, void *engine, void *sums); /* of a group of samples */
    /* After a pass, when the sums are those of all samples: what the engine makes of them. NULL:
     * they are what they should be. */
    rb_error (*finish)(rb_context *context, void *engine, void *sums);
} rb_engine;

enum { RB_METRICS_MAX = 12 };

/* What `draw` and `emit` are told; new fields come at the end. The library makes it. */
typedef struct rb_sampling {
    size_t size;
    int64_t first; /* of the samples at hand: so many were drawn before */
    double noise;  /* what standard deviations of the noise are multiplied by; 0: none is added */
    int64_t steps; /* of a chain; 0: as many as the method takes by itself */
    int64_t seed;
    int64_t layer; /* of a stack, from 0: layers draw other numbers, and so do codes and noise */
    bool of_codes;
} rb_sampling;

/* New fields come at the end, and a table that ends before them, being of an earlier header, is as
 * one in which they are NULL. rb_part and rb_field grow only when this struct does. */
typedef struct rb_method {
    size_t size;                 /* sizeof(rb_method) */
    const char *name;            /* "rfn": letters, digits and '-' */
    const char *title;           /* "rectified factor network" */
    const rb_option *options;    /* the table of its option struct */
    size_t options_size;         /* of that struct */
    const void *own;             /* what methods that share their functions differ in; or NULL */
    const char *code_name;       /* of the codes in AnnData: "X_rfn" */
    const rb_option_rule *rules; /* presets; NULL: none */
    /* Options of which only a fit without a model to start from makes use, by name, NULL at the
     * end: with such a model they must be left alone. NULL: there are none. */
    const char *const *start_options;
    bool takes_batches; /* begin to mstep may see a part of the samples, but for the last E-step */
    int centre;         /* rb_centre: what is subtracted from features unless asked otherwise */
    bool missing;       /* blocks may hold NaN, for values that are missing (RB_MISSING_OMIT) */
    /* Codes are 0 or above and should mostly be 0: rb_evaluate and rb_fit warn where they are not,
     * and advise this for sparser and for denser ones. NULL: no such promise. */
    const char *sparser, *denser;
    bool non_negative; /* explains no value below 0: the user is told of such data */

    /* Settles what the options leave to the problem (all of it but block_samples is there), before
     * anything else is asked; the model records what comes out. NULL: nothing to settle. */
    void (*resolve)(rb_problem *problem, void *options);
    /* Units that the options ask for. NULL: 1. */
    int64_t (*units)(const void *options);
    /* Samples a block should have at most, from the shape alone (so that it never depends on
     * threads or on where the data are); and bytes a fit needs, without its input. NULL: 2^20
     * values; what the parts take. */
    int64_t (*block_samples)(const rb_problem *problem, const void *options);
    int64_t (*memory)(const rb_problem *problem, const void *options);

    /* ---- fitting; `state` is the method's own ---- */

    /* The parts of the state; NULL: none are described, and there can be no checkpoints, no
     * acceleration, and no model of a fit that is stopped in the middle of an iteration. What is
     * kept from one iteration to the next is parameters, codes, progress, and in batches the sums
     * that run on: filling them in a state that was started and surveyed must give the same bits
     * from there on. */
    const rb_part *parts;
    void (*shape)(const rb_problem *problem, const void *options, rb_shape *shape);
    /* Who may work on blocks, NULL at the end; the first one does unless tests choose another.
     * NULL: the method itself. */
    const rb_engine *const *engines;

    /* Bytes of the struct that is the state, which the library then makes, as zeros with the arrays
     * of its parts, and frees; 0: `start` makes it and `finish` frees it, and both are needed. */
    size_t state_size;
    /* Allocates everything, or fills what is there (`start` may then be NULL, `finish` frees what
     * else it made). start: a model to start from, or NULL. Without this function parameters are 0,
     * or the arrays of their names in the model to start from. */
    rb_error (*start)(rb_context *context, const rb_problem *problem, const void *options,
                      const rb_model *start, void **state);
    void (*finish)(void *state); /* frees; NULL is accepted */
    /* Asked for once before the first iteration: sums over the data that never change (diag C). It,
     * `begin`, `end` and `mstep` may be NULL: nothing to do, and one pass. */
    rb_error (*survey)(rb_context *context, void *state, const struct rb_block *block);
    /* After the last block of the survey. NULL: nothing to do. */
    rb_error (*survey_end)(rb_context *context, void *state);
    rb_error (*begin)(rb_context *context, void *state);
    rb_error (*block)(rb_context *context, void *state, const struct rb_block *block);
    rb_error (*end)(rb_context *context, void *state, bool *again);
    rb_error (*mstep)(rb_context *context, void *state);
    /* Objective after the M-step (maximised); E-step objective, NaN unless fit->trace. */
    void (*objective)(void *state, double *objective, double *estep_objective);
    /* Further metrics of an iteration, for logs and plots: their names, at most RB_METRICS_MAX and
     * NULL at the end, and their values, NaN where there is none. NULL: there are none. */
    const char *const *metric_names;
    void (*metrics)(const void *state, double *values);
    /* May a settled objective end the fit now? NULL: always. A method that anneals waits. */
    bool (*may_stop)(const void *state);
    /* The next E-step is the last one: it may take the time that good codes need. NULL: nothing to
     * do. */
    void (*last)(void *state);
    /* Copies the parameters into the arrays of the model. Called after a last E-step with the final
     * parameters; or, when the fit was stopped, once what is kept is again as it was
     * after the last M-step that was made. NULL: the floats among the parameters, by name. */
    rb_error (*store)(rb_context *context, void *state, rb_model *model);

    /* Parameters and codes were moved between iterations: back to the nearest feasible ones. NULL:
     * fits cannot be accelerated. */
    void (*project)(rb_context *context, void *state);
    /* Does the next iteration do the same as the last one, and never lower the objective?
     * Acceleration waits while it does not. NULL: always. */
    bool (*steady)(const void *state);

    /* ---- using a model ---- */

    /* Prepares encoding; the coder is the method's own, freed by coder_free. Both NULL: `encode`
     * and `decode` are given the model, a const rb_model *. */
    rb_error (*coder_new)(rb_context *context, const rb_model *model, int64_t block_samples,
                          void **coder);
    void (*coder_free)(void *coder);
    /* Codes of a block: codes is n_samples x units of the model's type, row-major. */
    rb_error (*encode)(rb_context *context, void *coder, const struct rb_block *block, void *codes);
    /* Preprocessed samples from codes: rows is n_samples x n_features. NULL: codes loadings'. */
    rb_error (*decode)(rb_context *context, void *coder, int64_t n_samples, const void *codes,
                       void *rows);
    /* Preprocessed samples as the model expects them, from a block: rows is n_samples x n_features,
     * and nothing is missing in it. For models of which codes do not say all. NULL: encode and
     * decode. */
    rb_error (*rebuild)(rb_context *context, void *coder, const struct rb_block *block, void *rows);
    /* Sets the metrics of rb_evaluate that the method has; samples, features, units and dead_units
     * are there, and variance_explained follows from mean_squared_error. NULL: what codes and
     * rebuilt samples tell of any method. */
    rb_error (*evaluate)(rb_context *context, const rb_model *model, struct rb_feed *feed,
                         rb_metrics *metrics);

    /* ---- what came later; a table may end before it ---- */

    /* After the last block of each group of samples of a pass of the E-step (at most 64 groups):
     * sums that have waited elsewhere, as in an engine, are added to the state's. NULL: none
     * wait. */
    rb_error (*group_end)(rb_context *context, void *state);
    /* After an M-step: is nothing left that another iteration could change? The fit ends then as
     * converged. NULL: never. */
    bool (*done)(const void *state);
    /* Does the pass at hand, of the E-step, look at values? If not, its blocks have a place and a
     * shape alone, and the data are not read. NULL: every pass does. */
    bool (*reads)(const void *state);
    /* Begins anew always: rb_fit refuses a model to start from. */
    bool no_start;
    /* Of a model whose last layer encodes codes of those below it: that layer as a model of its
     * own, and what it encodes, of these samples. Both are freed by the library, the codes first;
     * the model at hand and `samples` outlive them. NULL: it encodes samples itself. */
    rb_error (*top)(rb_context *context, const rb_model *model, rb_source *samples,
                    rb_model **layer, rb_source **codes);

    /* ---- drawing samples: rarebit/sample.h ---- */

    /* Codes of n new samples, units of the model's type each. block NULL: by the prior; else each
     * of a sample of the block, which has n, by its posterior. NULL: there is no prior, and codes
     * of samples are as `encode` has them. */
    rb_error (*draw)(rb_context *context, void *coder, const rb_sampling *sampling, int64_t n,
                     const struct rb_block *block, void *codes);
    /* Preprocessed samples, n x n_features, of n codes, noise included. NULL: as decoded, with
     * normal noise whose variances are the array "noise" of the model, one for each feature. */
    rb_error (*emit)(rb_context *context, void *coder, const rb_sampling *sampling, int64_t n,
                     const void *codes, void *rows);
    /* Why there is no distribution of samples to draw from: "its codes have no distribution". NULL:
     * there is one, of codes by a prior or of those of given samples. */
    const char *no_samples;
    bool draws_by_steps; /* `draw` takes steps of a chain: the option steps means something */

    /* ---- what codes and noise mean, for modules: rarebit/modules.h ---- */

    /* Units are causes that are there or not: the size above which a code says that one is, half
     * the least size of its values. NULL: a unit is active where its code is not 0. */
    double (*active_above)(const rb_model *model);
    /* The noise variance of each feature in use. NULL: they are the array "noise" of the model. */
    rb_error (*noise)(rb_context *context, const rb_model *model, double *variances);
    bool chances; /* codes are probabilities that units are on, of which 1/2 says nothing */
    /* An array of a number for each unit, by which codes are multiplied before they are compared
     * with the threshold of the rule fabia, the usual rule of such a method. NULL: none. */
    const char *code_scale;

    const char *purpose; /* what it is for, as help says it: "gene modules"; NULL: not said */
} rb_method;

/* Makes a method known to a context; the table must outlive it. RB_ERROR_ARGUMENT: the name is
 * taken or has other characters than letters, digits and '-', the table is of a later version of
 * the library or its size is not set, a function is missing that is not said to be NULL at times,
 * or its options are not sound. */
RB_API rb_error rb_context_add_method(rb_context *context, const rb_method *method);

/* ---- for the functions of a method outside of the library; examples/mean.c is one ---- */

/* Where a block begins in the data, and its shape. */
RB_API int64_t rb_block_first(const struct rb_block *block);
RB_API int64_t rb_block_samples(const struct rb_block *block);
RB_API int64_t rb_block_features(const struct rb_block *block);

/* Samples row .. row + count - 1 of a block (from 0) as count x n_features float64 values,
 * row-major: a copy, whatever the block is. */
RB_API void rb_block_values(const struct rb_block *block, int64_t row, int64_t count,
                            double *values);

/* One value of a block: for looking, and for methods that need not be fast. */
RB_API double rb_block_at(const struct rb_block *block, int64_t sample, int64_t feature);

/* The values of a block as they are, in the working type; nothing is copied, and they are valid
 * until the next block. Dense: value (i, k) is values[i * row_stride + k]. NULL: it is sparse. */
RB_API const void *rb_block_dense(const struct rb_block *block, rb_type *type, int64_t *row_stride);

/* A sparse block: sample i stores the entries e = starts[i] .. starts[i + 1] - 1, with columns[e -
 * starts[0]] and values[e - starts[0]]; value (i, k) is what is stored, or 0, less shift[k]. shift
 * NULL: nothing is subtracted. */
typedef struct rb_sparse_block {
    size_t size; /* sizeof(rb_sparse_block), set by the caller; new fields come at the end */
    rb_type type;
    const int64_t *starts;
    const int32_t *columns;
    const void *values;
    const double *shift;
} rb_sparse_block;

/* False, and nothing is filled, for a dense one, or where the size is not set. */
RB_API bool rb_block_sparse(const struct rb_block *block, rb_sparse_block *sparse);

/* Runs task(user, index, worker) for index = 0 .. count - 1 on the threads of the context, the
 * caller among them, and returns when all are done. worker is below rb_context_threads: for scratch
 * memory. Which worker takes which index is not fixed: so that a fit is the same for any number of
 * threads, what a task gives must depend on its index alone. Not from within a task. */
typedef void (*rb_task_fn)(void *user, int64_t index, int worker);
RB_API void rb_context_parallel(rb_context *context, int64_t count, rb_task_fn task, void *user);

/* How many samples a feed has, and samples first .. first + count - 1 as above. RB_ERROR_DATA names
 * a value that cannot be used; RB_ERROR_FILE, RB_ERROR_FORMAT: the source cannot be read. */
RB_API int64_t rb_feed_samples(const struct rb_feed *feed);
RB_API rb_error rb_feed_values(rb_context *context, struct rb_feed *feed, int64_t first,
                               int64_t count, double *values);

/* Adds an array of rows x columns zeros to a model, or gives the one of that name if its shape
 * agrees; NULL and a message otherwise. For `store`, which must add "loadings", n_features x
 * units: rb_model_units counts its columns. rb_model_array reads it back. */
RB_API double *rb_model_add_array(rb_context *context, rb_model *model, const char *name,
                                  int64_t rows, int64_t columns);

/* Random numbers first .. first + count - 1 of a sample (from 0, of those at hand): uniform in [0,
 * 1), or of mean 0 and standard deviation 1. They depend on seed, layer, sample, index and on
 * whether codes or noise are drawn, and on nothing else. */
RB_API void rb_sampling_uniform(const rb_sampling *sampling, int64_t sample, int64_t first,
                                int64_t count, double *numbers);
RB_API void rb_sampling_normal(const rb_sampling *sampling, int64_t sample, int64_t first,
                               int64_t count, double *numbers);

/* Sets a metric, for `evaluate`. The name must be there as long as the metrics: a literal. */
RB_API void rb_metrics_set(rb_metrics *metrics, const char *name, double value);

/* The names of the methods a context knows, by index; NULL past the last. */
RB_API const rb_method *rb_context_method(const rb_context *context, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
