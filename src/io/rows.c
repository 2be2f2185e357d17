/* Rows of any matrix as plain dense ones, for writers. */
#include "rows.h"

#include <string.h>

static void put(const rb_matrix *m, int64_t from, rb_type type, void *out, int64_t to) {
    double value = m->type == RB_FLOAT32 ? (double)((const float *)m->values)[from]
                                         : ((const double *)m->values)[from];
    if (type == RB_FLOAT32) {
        ((float *)out)[to] = (float)value;
    } else {
        ((double *)out)[to] = value;
    }
}

void rb_rows_copy(const rb_matrix *m, int64_t row, rb_type type, void *out) {
    if (!m->sparse) {
        for (int64_t j = 0; j < m->n_features; j++) {
            put(m, row * m->row_stride + j * m->column_stride, type, out, j);
        }
        return;
    }
    memset(out, 0, (size_t)m->n_features * rb_type_size(type));
    for (int64_t e = m->starts[row] - m->starts[0]; e < m->starts[row + 1] - m->starts[0]; e++) {
        put(m, e, type, out, m->columns[e]);
    }
}
