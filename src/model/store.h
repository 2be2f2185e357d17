/* Words and columns that every form of a model has, file or bytes. Included by model.h. */
#ifndef RB_STORE_H
#define RB_STORE_H

#include <stddef.h>

/* Words for precision and status, by their enum. */
static const char *const rb_store_precisions[] = {"float32", "float64"};
static const char *const rb_store_statuses[] = {"iterations", "converged", "stopped",
                                                "parameters", "patience",  "time"};
enum { RB_STORE_STATUSES = 6 };

/* Columns of the history: three, then the metrics of the method. */
enum { RB_STORE_COLUMNS = 3 };
typedef struct rb_store_column {
    const char *name; /* below "history/"; NULL: there is none of that index */
    size_t offset;    /* in an rb_history */
} rb_store_column;

static inline rb_store_column rb_store_column_of(const rb_method *method, int index) {
    static const rb_store_column always[RB_STORE_COLUMNS] = {
        {"objective", offsetof(rb_history, objective)},
        {"estep_objective", offsetof(rb_history, estep_objective)},
        {"seconds", offsetof(rb_history, seconds)}};
    if (index < RB_STORE_COLUMNS) {
        return always[index];
    }
    int metric = index - RB_STORE_COLUMNS;
    const char *const *names = method->metric_names;
    for (int f = 0; names && f < metric && *names; f++) {
        names++;
    }
    return (rb_store_column){names ? *names : NULL,
                             offsetof(rb_history, metrics) + (size_t)metric * sizeof(double)};
}

/* For readers of models (restore.c). An empty model of a method that the context knows, with empty
 * preprocessing; type and status are indices of the words above. */
rb_error rb_model_begin(rb_context *ctx, const char *method, int type, int status,
                        rb_model **model);
/* Adds entries without values: NaN. */
rb_error rb_model_empty_history(rb_context *ctx, rb_model *model, int64_t count);
/* What cannot be in the preprocessing that was read, whose arrays have their lengths; or NULL. */
const char *rb_model_preprocess_flaw(const rb_model *model);

#endif
