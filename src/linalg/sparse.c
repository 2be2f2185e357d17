/* The transpose of compressed sparse rows. */
#include "linalg.h"

#include <string.h>

/* Counts the entries of each column into starts[column + 1], then sums them up. */
static void column_starts(rb_csr v, int64_t *starts) {
    memset(starts, 0, (size_t)(v.cols + 1) * sizeof *starts);
    int64_t entries = v.starts[v.rows] - v.starts[0];
    for (int64_t e = 0; e < entries; e++)
        starts[v.columns[e] + 1]++;
    for (int64_t k = 0; k < v.cols; k++)
        starts[k + 1] += starts[k];
}

void rb_csr_transpose(rb_csr v, int64_t *starts, int32_t *columns, void *values) {
    column_starts(v, starts);
    /* starts[k] runs from the start of column k to the start of the next one while it is filled. */
    for (int64_t i = 0; i < v.rows; i++) {
        for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++) {
            int64_t place = starts[v.columns[e]]++;
            columns[place] = (int32_t)i;
            if (v.type == RB_FLOAT32)
                ((float *)values)[place] = ((const float *)v.values)[e];
            else
                ((double *)values)[place] = ((const double *)v.values)[e];
        }
    }
    memmove(starts + 1, starts, (size_t)v.cols * sizeof *starts);
    starts[0] = 0;
}
