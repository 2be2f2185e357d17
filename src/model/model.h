/* The face of src/model: the table a method fills, and the model it leaves. */
#ifndef RB_MODEL_INTERNAL_H
#define RB_MODEL_INTERNAL_H

#include "data/data.h"
#include <rarebit/fit.h>
#include <rarebit/method.h>
#include <rarebit/model.h>

#include "parts.h"

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

#include "store.h"

/* An empty model; it takes over the preprocessing (also on failure: then it is freed). */
rb_error rb_model_new(rb_context *ctx, const rb_method *method, rb_type type,
                      rb_preprocess *preprocess, rb_model **model);

/* Records every row of an option table as an attribute. */
rb_error rb_model_record_options(rb_context *ctx, rb_model *model, const rb_option *table,
                                 const void *options);

rb_error rb_model_add_history(rb_context *ctx, rb_model *model, rb_history entry);

/* Every method stores its loadings, features in use x units, as the array "loadings":
 * rb_model_units and the files that carry loadings count on it. */

/* An array that must be there, for methods that load one: RB_ERROR_FORMAT names what is missing, of
 * the wrong shape, not finite or too large for the model's precision. rows or columns below 0:
 * any. */
rb_error rb_model_need_array(rb_context *ctx, const rb_model *model, const char *name, int64_t rows,
                             int64_t columns, const double **values);

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
void rb_model_warn(rb_context *ctx, const rb_model *model, const rb_code_check *check);

/* ---- what a method says, or the library where it says nothing (methods.c) ---- */

int64_t rb_method_units(const rb_method *method, const void *options);
int64_t rb_method_block_samples(const rb_problem *problem, const void *options);
int64_t rb_method_memory(const rb_problem *problem, const void *options);
rb_error rb_method_start(rb_context *ctx, const rb_problem *problem, const void *options,
                         const rb_model *start, void **state);
void rb_method_finish(const rb_method *method, void *state);
rb_error rb_method_store(rb_context *ctx, const rb_problem *problem, const void *options,
                         void *state, rb_model *model);
rb_error rb_method_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                             void **coder);
void rb_method_coder_free(const rb_method *method, void *coder);

/* The method of that name: built in or added; NULL if unknown. */
const rb_method *rb_find_method(const rb_context *ctx, const char *name);
struct rb_metrics {
    int count;
    struct {
        const char *name;
        double value;
    } list[40];
};

/* The options of a method as a group. */
rb_option_group rb_method_group(const rb_method *method);

/* Is `method` one that can do without the values that the preprocessing leaves out? */
static inline bool rb_method_takes(const rb_method *method, const rb_preprocess_options *options) {
    return options->missing != RB_MISSING_OMIT || method->missing;
}

rb_preprocess *rb_preprocess_copy(rb_context *ctx, const rb_preprocess *p);

#pragma GCC visibility pop

#endif
