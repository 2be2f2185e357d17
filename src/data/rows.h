/* Raw rows, passes over them, matching; private to src/data. */
#ifndef RB_ROWS_H
#define RB_ROWS_H

#include "data.h"

/* Walks the raw rows of a view as float64. */
typedef struct rb_row {
    int64_t count;          /* values */
    const int32_t *columns; /* their features; NULL: 0 .. count - 1 */
    double *values;         /* memory for n_features */
} rb_row;

/* Row i of a matrix into row->values (of n_features), as it stands. */
void rb_row_get(const rb_matrix *m, int64_t i, rb_row *row);
/* The first entry whose column is not below k. */
int64_t rb_row_entry(const rb_row *row, int64_t k);
/* The message about a value that cannot be used, as it stands in the data: RB_ERROR_DATA. fitted:
 * the preprocessing is that of a model already, and cannot be chosen any more. */
rb_error rb_fail_value(rb_context *ctx, const rb_preprocess_options *options,
                       const rb_source *source, int64_t sample, int64_t feature, double value,
                       bool fitted);
/* Can totals and log1p take the value? One that is missing they can. */
bool rb_value_fits(const rb_preprocess_options *options, double value);

/* Scales the row to its total and takes log1p, as the options say. Returns the total (over values
 * that are there); a total of 0 leaves the row. */
double rb_row_transform(const rb_preprocess_options *options, rb_row *row);

/* For each feature in use the feature of the source that it is, -1 when the source lacks it; NULL
 * when all stand in the same order (nothing to map). By name when both have names, else by
 * position. Reports missing and extra features. Free with rb_free. */
rb_error rb_match_features(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                           int64_t **input_of);

/* ---- moments of features (moments.c) ---- */

/* Adds `count` values with this mean and sum of squared differences from it. */
void rb_moments_join(rb_moments *m, int64_t count, double mean, double squares);
/* Adds rows of float64 that lie side by side to the moments of their features. */
void rb_moments_add(rb_context *ctx, rb_moments *moments, const rb_matrix *rows);
/* After all rows of so many samples: what a sparse matrix does not store is 0. How many values are
 * missing, of all features? */
int64_t rb_moments_end(rb_moments *moments, int64_t count, int64_t n_samples);

/* ---- passes over raw samples (pass.c) ---- */

/* Row i of a matrix of float64 whose rows lie side by side: its own numbers. */
rb_row rb_row_of(const rb_matrix *rows, int64_t i);

/* What a pass is to do. */
typedef struct rb_pass {
    rb_source *source;
    /* Rows are transformed as they say, and a value that they cannot take is an error; NULL: rows
     * are as they stand. */
    const rb_preprocess_options *options;
    bool any;           /* it becomes infinite instead */
    uint32_t *checksum; /* becomes that of all samples, from 0; NULL: none */
    /* Gets all samples as float64, some at a time and in order, the first of them sample `first`;
     * NULL: nobody does. */
    void (*collect)(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first);
    void *user;
} rb_pass;
rb_error rb_pass_run(rb_context *ctx, const rb_pass *pass);

#endif
