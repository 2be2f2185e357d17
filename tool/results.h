/* Writing matrices: those that a model makes of data block by block, and whole ones. */
#ifndef TOOL_RESULTS_H
#define TOOL_RESULTS_H

#include "tool.h"

typedef rb_error (*rows_maker)(rb_context *ctx, const rb_model *model, rb_source *source,
                               rb_rows_fn fn, void *user);

/* Names of the columns that a model makes, or NULL: none. *columns is their number. Free with
 * free_names. */
typedef char **(*column_namer)(const rb_model *model, int64_t *columns);

/* A second file that a command makes of model and data, before the first. Both appear, or neither
 * does. */
typedef struct companion {
    /* Begins the output and writes it; a status after a message, and then nothing is left. */
    int (*prepare)(invocation *call, const rb_model *model, rb_source *source, output *out);
    output out;
} companion;
/* From here on until companion_end signals wait, if there is a companion (NULL: none). */
void companion_hold(const companion *second);
/* Lets it appear, if all went well so far; the status. */
int companion_end(companion *second, int status);

/* The way of a command MODEL DATA -o FILE whose rows `make` (rb_encode, rb_reconstruct) gives.
 * second: NULL, or what is made besides. */
int run_rows(invocation *call, rows_maker make, column_namer namer, companion *second);

/* Writes a source or a matrix, with names, to -o of the call or to another target. A status after
 * a message. */
int write_source(invocation *call, rb_source *source, const char *target);
int write_matrix(invocation *call, const rb_matrix *matrix, const char *target);

/* command.check_output where all outputs are matrices. */
int check_matrix_output(const invocation *call, const char *option, const char *path);

#endif
