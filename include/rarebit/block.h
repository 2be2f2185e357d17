/* For the functions of a method (rarebit/method.h): blocks of samples and who works on them,
 * threads, feeds, random numbers, and what they write. examples/mean.c uses them. */
#pragma once

#include <rarebit/model.h>

struct rb_block; /* a block of preprocessed samples */
struct rb_feed;  /* gives the preprocessed samples of a source */
struct rb_problem;

/* ---- who works on a block ---- */

/* What a method does with a block, apart from the loop, the M-step and the objective, which do not
 * know who does it: the processor by its fast kernels, a plain reference that tests compare with,
 * or a device. `parameters` and `sums` are the method's own structs. The library reads the name
 * alone; the functions are called by the method. */
typedef struct rb_engine {
    const char *name; /* "cpu", "reference" */
    /* Allocates what does not depend on the parameters. RB_ERROR_UNSUPPORTED: not these options. */
    rb_error (*open)(rb_context *context, const struct rb_problem *problem, const void *options,
                     void **engine);
    void (*close)(void *engine); /* NULL is accepted */
    rb_error (*set_parameters)(rb_context *context, void *engine, const void *parameters);
    /* Adds a block to the sums; they may wait in the engine until they are asked for. */
    rb_error (*block)(rb_context *context, void *engine, const struct rb_block *block, void *sums);
    /* Of a group of samples. NULL: nothing waits. */
    rb_error (*sums)(rb_context *context, void *engine, void *sums);
    /* After a pass, when the sums are those of all samples: what the engine makes of them. NULL:
     * they are what they should be. */
    rb_error (*finish)(rb_context *context, void *engine, void *sums);
} rb_engine;

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
 * until the next block. Dense: value (i, k) is values[i * row_stride + k], less the shift of the
 * problem where the method takes one (rb_problem.shifts). NULL: it is sparse. */
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

/* Random numbers first .. first + count - 1 of a sample (from 0, of those at hand): uniform in [0,
 * 1), or of mean 0 and standard deviation 1. They depend on seed, layer, sample, index and on
 * whether codes or noise are drawn, and on nothing else. */
RB_API void rb_sampling_uniform(const rb_sampling *sampling, int64_t sample, int64_t first,
                                int64_t count, double *numbers);
RB_API void rb_sampling_normal(const rb_sampling *sampling, int64_t sample, int64_t first,
                               int64_t count, double *numbers);

/* Sets a metric, for `evaluate`. The name must be there as long as the metrics: a literal. */
RB_API void rb_metrics_set(rb_metrics *metrics, const char *name, double value);
