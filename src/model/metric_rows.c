/* What people are told of metrics: those of every model, and those of methods by their tables. */
#include "model.h"

#include <stddef.h>

static const rb_metric_row common[] = {
    {"samples", "samples", "", false},
    {"features", "features", "", false},
    {"units", "units", "", false},
    {"dead_units", "dead units", "units that no training sample activates", false},
    {"sparseness", "sparseness", "share of zeros in the codes", false},
    {"small_codes", "small codes", "share of the codes that are less than 0.01", false},
    {"samples_without_unit", "samples without unit", "share of the samples", false},
    {"samples_with_nearly_all_units", "samples with all units",
     "share with at least 9 in 10 of them active", false},
    {"duplicated_units", NULL, NULL, false},
    {"reconstruction_error", "reconstruction error", "norm of data - reconstruction", false},
    {"variance_explained", "variance explained", "share of the sum of squares", false},
    {"covariance_error", "covariance error", "norm of covariance - the model's", false},
    {"objective", "objective", "larger is better", false},
    {"log_likelihood", "log likelihood", "mean over samples; larger is better", false},
    {"log_likelihood_bound", "likelihood bound", "lower bound of the log likelihood", false},
    {"mean_squared_error", "mean squared error", "of what the model expects", false},
    {"free_energy", "free energy", "mean over samples", false},
    {NULL, NULL, NULL, false}};

/* The rows of the n-th table: the first one is that of every model. */
static const rb_metric_row *table_of(const rb_context *ctx, int64_t n) {
    const rb_method *method = n > 0 ? rb_context_method(ctx, n - 1) : NULL;
    size_t end = offsetof(rb_method, metric_rows) + sizeof method->metric_rows;
    return n == 0 ? common : method && method->size >= end ? method->metric_rows : NULL;
}

/* Several methods may share a table. */
static bool seen_before(const rb_context *ctx, int64_t n, const rb_metric_row *rows) {
    for (int64_t before = 0; before < n; before++)
        if (table_of(ctx, before) == rows) return true;
    return false;
}

const rb_metric_row *rb_metric_row_of(const rb_context *ctx, int64_t index) {
    for (int64_t n = 0; n == 0 || rb_context_method(ctx, n - 1); n++) {
        const rb_metric_row *rows = table_of(ctx, n);
        if (!rows || seen_before(ctx, n, rows)) continue;
        for (; rows->name; rows++)
            if (index-- == 0) return rows;
    }
    return NULL;
}
