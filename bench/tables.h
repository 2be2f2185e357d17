/* What the tables share. */
#ifndef TABLES_H
#define TABLES_H

#include "options.h"

#include <rarebit/rarebit.h>

enum { MAX_INSTANCES = 100 };

struct mean {
    double mean, sd;
};

struct mean mean_of(const double *values, int count);
/* Prints the context's message and ends the program. */
void stop_on_error(rb_context *context, rb_error err);

/* tables_sparse.c: the preset sparse against the paper's rows; the exit code. */
int sparse_tables(rb_context *context, int instances);

#endif
