#ifndef ESTEPS_H
#define ESTEPS_H

#include "../bench.h"

/* What the E-steps make of whole fits: a table, and two pictures in `folder`. */
void esteps_compare_fits(rb_context *ctx, int instances, const char *folder);

#endif
