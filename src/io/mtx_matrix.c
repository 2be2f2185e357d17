/* Entries of a Matrix Market file become sparse rows or a dense matrix. */
#include "mtx.h"

#include <string.h>

/* Counts fit into float32 when they are whole and at most 2^24; whatever is said to be real stays
 * float64. */
static rb_type fitting_type(const rb_mtx *m) {
    if (!m->integer && !m->pattern) {
        return RB_FLOAT64;
    }
    for (int64_t e = 0; e < m->used; e++) {
        if (!((double)(float)m->value[e] == m->value[e])) {
            return RB_FLOAT64;
        }
    }
    return RB_FLOAT32;
}

/* The entries sorted by row, those of a row in the order of the file. */
static void sort_by_row(const rb_mtx *m, int64_t *starts, int32_t *columns, double *values) {
    for (int64_t e = 0; e < m->used; e++) {
        starts[m->row[e] + 1]++;
    }
    for (int64_t i = 0; i < m->rows; i++) {
        starts[i + 1] += starts[i];
    }
    for (int64_t e = 0; e < m->used; e++) {
        int64_t to = starts[m->row[e]]++;
        columns[to] = m->column[e];
        values[to] = m->value[e];
    }
    memmove(starts + 1, starts, (size_t)m->rows * sizeof *starts);
    starts[0] = 0;
}

static bool ascending(const rb_mtx *m, const int64_t *starts, const int32_t *columns) {
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t e = starts[i] + 1; e < starts[i + 1]; e++) {
            if (columns[e] < columns[e - 1]) {
                return false;
            }
        }
    }
    return true;
}

/* Sorts the columns of every row: a matrix transposed twice has them in order. */
static rb_error sort_columns(rb_context *ctx, const rb_mtx *m, int64_t *starts, int32_t *columns,
                             double *values) {
    int64_t *column_starts = rb_alloc(ctx, m->columns + 1, sizeof *column_starts);
    int32_t *rows = rb_alloc(ctx, m->used, sizeof *rows);
    double *turned = rb_alloc(ctx, m->used, sizeof *turned);
    rb_error err = column_starts && rows && turned ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        rb_csr given = {m->rows, m->columns, starts, columns, values, RB_FLOAT64};
        rb_csr_transpose(given, column_starts, rows, turned);
        rb_csr by_column = {m->columns, m->rows, column_starts, rows, turned, RB_FLOAT64};
        rb_csr_transpose(by_column, starts, columns, values);
    }
    rb_free(column_starts);
    rb_free(rows);
    rb_free(turned);
    return err;
}

/* Entries of one place that stand side by side become their sum. */
static void sum_duplicates(const rb_mtx *m, int64_t *starts, int32_t *columns, double *values) {
    int64_t used = 0, begin = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t first = used, end = starts[i + 1];
        for (int64_t e = begin; e < end; e++) {
            if (used > first && columns[used - 1] == columns[e]) {
                values[used - 1] += values[e];
            } else {
                columns[used] = columns[e];
                values[used] = values[e];
                used++;
            }
        }
        begin = end;
        starts[i + 1] = used;
    }
}

/* Numbers that fit become float32, in place: one is written only after its float64 was read. */
static void narrow(double *values, int64_t count) {
    char *out = (char *)values;
    for (int64_t e = 0; e < count; e++) {
        float value = (float)values[e];
        memcpy(out + e * (int64_t)sizeof value, &value, sizeof value);
    }
}

rb_error rb_mtx_sparse(rb_context *ctx, rb_mtx *m, rb_matrix **matrix) {
    int64_t *starts = rb_alloc_zero(ctx, m->rows + 1, sizeof *starts);
    int32_t *columns = rb_alloc(ctx, m->used, sizeof *columns);
    double *values = rb_alloc(ctx, m->used, sizeof *values);
    rb_error err = starts && columns && values ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        sort_by_row(m, starts, columns, values);
        if (!ascending(m, starts, columns)) {
            err = sort_columns(ctx, m, starts, columns, values);
        }
    }
    if (err) {
        rb_free(starts);
        rb_free(columns);
        rb_free(values);
        return err;
    }
    sum_duplicates(m, starts, columns, values);
    m->used = starts[m->rows];
    memcpy(m->value, values, (size_t)m->used * sizeof *values); /* the sums decide on the type */
    rb_type type = fitting_type(m);
    if (type == RB_FLOAT32) {
        narrow(values, m->used);
    }
    return rb_matrix_own_csr(ctx, type, m->rows, m->columns, starts, columns, values, matrix);
}

/* The lower triangle of a symmetric array, column by column, becomes the whole. */
static void unfold(const rb_mtx *m, double *out) {
    const double *next = m->value;
    int64_t n = m->rows;
    bool skew = m->symmetry == RB_MTX_SKEW;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j + skew; i < n; i++) {
            out[i * n + j] = *next;
            out[j * n + i] = skew ? -*next : *next;
            next++;
        }
    }
}

rb_error rb_mtx_dense(rb_context *ctx, rb_mtx *m, rb_matrix **matrix) {
    if (m->symmetry != RB_MTX_GENERAL) {
        rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, m->rows, m->columns, matrix);
        if (!err) {
            unfold(m, (void *)(*matrix)->values);
        }
        return err;
    }
    /* The file goes column by column, and so does the matrix. */
    rb_error err =
        rb_matrix_dense(ctx, RB_FLOAT64, m->rows, m->columns, m->value, 1, m->rows, matrix);
    if (!err) {
        (*matrix)->owner = m->value;
        (*matrix)->release = rb_free;
        m->value = NULL;
    }
    return err;
}
