/* Methods: the table that a model family fills. For those who add one; users of the built-in
 * methods need only rb_fit. Experimental: the table may grow. Its functions use rarebit/block.h;
 * rarebit/arrays.h describes their memory, rarebit/answers.h what others ask of their models.
 *
 * A method knows nothing of files, threads or the loop. One iteration of a fit is
 *     E-step:  repeat begin; block for each block of samples, in fixed order; end, until end says
 *              that it needs no further pass
 *     M-step:  mstep
 *     then:    objective
 */
#pragma once

#include <rarebit/answers.h>
#include <rarebit/arrays.h>
#include <rarebit/block.h>
#include <rarebit/device.h>

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
    int drop_samples;
} rb_fit_options;

/* The shape of a problem, and what every method is told about it; new fields come at the end. */
typedef struct rb_problem {
    int64_t n_samples;  /* all of them */
    int64_t first, own; /* those of this process: so many from the first on */
    int64_t n_features;
    rb_type type;
    bool sparse;           /* blocks are */
    bool missing;          /* some values are missing and stay so: NaN in blocks */
    int64_t block_samples; /* samples in a block, at most */
    int64_t batch_samples; /* samples that an M-step follows; 0, or n_samples: all */
    const rb_fit_options *fit;
    int64_t restart; /* which of fit->restarts, from 0: part of every random stream */
    double decay; /* of sums that run on from batch to batch; `resolve` sets it, 1 unless it does */
    const struct rb_method *method;
    const rb_engine *engine; /* one of the method's; NULL: it has none */
    const rb_device *device; /* NULL: the processor works on the samples */
    /* Groups of samples: a power of two; and those of this process: so many from that one on. What
     * is added up over samples is added group by group, so that it is the same for any number of
     * processes. */
    int64_t groups, first_group, own_groups;
    /* What is subtracted from each feature besides what blocks store, also where this process has
     * none; NULL: nothing. Of dense blocks only where `shifts`. */
    const double *shift;
    /* The source leaves zeros out, which `sparse` blocks do only where they are many; `resolve` may
     * set `sparse` to this. */
    bool source_sparse;
    /* `resolve` sets it: dense blocks may be as the source has them, less `shift`, so that nobody
     * need make them. */
    bool shifts;
} rb_problem;

/* What becomes of codes that a device has: they go into the state's arrays, or come from there; the
 * device remembers them after an iteration, or makes them again what they were then. */
typedef enum rb_device_codes {
    RB_DEVICE_FETCH,
    RB_DEVICE_SEND,
    RB_DEVICE_SAVE,
    RB_DEVICE_RESTORE
} rb_device_codes;

enum { RB_METRICS_MAX = 12 };

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
    int centre;         /* rb_centre: what is subtracted from features unless asked otherwise;
                         * RB_CENTRE_AUTO: mean or median, as the data are */
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
    /* ---- what else others ask ---- */

    int advised;             /* rb_advised: for which data it is the method to begin with */
    const char *advised_why; /* "few causes at a time" */
    /* What plots of the history show; without a label at the end. NULL: the objectives. */
    const rb_metric_plot *plots;
    /* Causes have values besides 0 and 1; loadings are made sparse; codes are computed by
     * iterations, which the attribute "estep-tolerance" ends. NULL: no model is so. */
    bool (*valued)(const rb_model *model);
    bool (*sparse_loadings)(const rb_model *model);
    bool (*iterates)(const rb_model *model);
    /* Arrays besides loadings (a column for each unit), noise (of all), scale and dead (a row for
     * each); others are left out. Without a name at the end. NULL: none. */
    const rb_array_kind *arrays;
    /* Most probable states of the samples of a source, in order. NULL: codes are no states. */
    rb_error (*states)(rb_context *context, const rb_model *model, rb_source *source,
                       rb_state_fn fn, void *user);
    /* The layer of a net that a model becomes. NULL: none. */
    rb_error (*layer)(rb_context *context, const rb_model *model, rb_method_layer *layer);
    bool rectifies; /* that layer gives the model's codes, or what they are solved for from */
    const rb_trace_arrays *traces; /* NULL: a traced fit keeps metrics alone */
    /* What a fit ended with besides its objective, in a line: "sigma 2.1, prior 0.2"; details:
     * figures for research too. "" where there is nothing to say; NULL: never. */
    void (*summary)(const rb_model *model, bool details, char *line, size_t size);
    /* How many training samples the last M-step used; 0: not known. NULL: all of them. */
    int64_t (*samples_used)(const rb_model *model);
    /* The iteration, from 1, from which on the fit shrank loadings, so that its objective may fall;
     * 0: none. NULL: none. */
    int64_t (*shrinks_from)(const rb_model *model);
    bool slow; /* takes minutes where others take seconds: rb_methods_compare waits for its name */
    /* Fits by problem->device, where that is set; `start` refuses options that it cannot serve, and
     * `reads` is false once it has all samples. NULL: on the processor alone. */
    rb_error (*device)(rb_context *context, void *state, rb_device_codes what);
    /* What is said of the metrics that `evaluate` sets and other methods do not; without a name at
     * the end. NULL: none. */
    const rb_metric_row *metric_rows;
    /* May these options be fitted by several processes (rarebit/comm.h)? All that is added up over
     * samples must then be in sums, or be brought together by the method. RB_ERROR_UNSUPPORTED and
     * a message: they may not. NULL: none may. */
    rb_error (*spreads)(rb_context *context, const struct rb_problem *problem, const void *options);
    /* Before `begin`: do the blocks of the pass of the E-step add to the sums? If not, these stay
     * 0, and are not brought together. NULL: in every pass. */
    bool (*adds)(const void *state);
} rb_method;

/* Makes a method known to a context; the table must outlive it. RB_ERROR_ARGUMENT: the name is
 * taken or has other characters than letters, digits and '-', the table is of a later version of
 * the library or its size is not set, a function is missing that is not said to be NULL at times,
 * or its options are not sound. */
RB_API rb_error rb_context_add_method(rb_context *context, const rb_method *method);

/* The table of a model's method. Valid as long as the method is known to the context. */
RB_API const rb_method *rb_model_table(const rb_model *model);

/* The names of the methods a context knows, by index; NULL past the last. */
RB_API const rb_method *rb_context_method(const rb_context *context, int64_t index);
