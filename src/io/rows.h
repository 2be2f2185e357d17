/* Rows of any matrix as plain dense ones, for writers. Private to src/io. */
#ifndef RB_IO_ROWS_H
#define RB_IO_ROWS_H

#include "io.h"

/* Copies one row of a matrix to n_features contiguous values of a type. */
void rb_rows_copy(const rb_matrix *m, int64_t row, rb_type type, void *out);

#endif
