/* Writing matrices: those that a model makes of data block by block, and whole ones. */
#ifndef TOOL_RESULTS_H
#define TOOL_RESULTS_H

#include "tool.h"

typedef rb_error (*rows_maker)(rb_context *ctx, const rb_model *model, rb_source *source,
                               rb_rows_fn fn, void *user);

/* Names of the columns that a model makes, or NULL: none. *columns is their number. Free with
 * free_names. */
typedef char **(*column_namer)(const rb_model *model, int64_t *columns);

/* A second output that is written already, and appears with the first or not at all; empty: there
 * is none. From before the first one appears until pair_end, signals wait. */
void pair_hold(const output *second);
/* Lets it appear, if all went well so far; the status. */
int pair_end(output *second, int status);

/* Writes to -o of the call what `make` (rb_encode, rb_reconstruct) makes of the data. A status
 * after a message. */
int write_rows(invocation *call, const rb_model *model, rb_source *source, rows_maker make,
               column_namer namer, output *second);

/* Writes a source or a matrix, with names, to -o of the call or to another target. A status after
 * a message. */
int write_source(invocation *call, rb_source *source, const char *target);
int write_matrix(invocation *call, const rb_matrix *matrix, const char *target);

/* command.check_output where all outputs are matrices. */
int check_matrix_output(const invocation *call, const char *path);

#endif
