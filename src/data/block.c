/* Blocks of preprocessed samples. */
#include "data.h"

#include <math.h>

rb_block rb_block_part(const rb_block *block, int64_t first, int64_t count) {
    rb_block part = *block;
    part.first += first;
    part.n_samples = count;
    part.lost = block->lost ? block->lost + first : NULL;
    if (!block->sparse) {
        part.dense = rb_dense_rows(block->dense, first, count);
        return part;
    }
    const rb_csr *from = &block->csr;
    int64_t skipped = from->starts[first] - from->starts[0];
    part.csr.rows = count;
    part.csr.starts = from->starts + first;
    part.csr.columns = from->columns + skipped;
    part.csr.values = (const char *)from->values + skipped * (int64_t)rb_type_size(from->type);
    return part;
}

static void sparse_row(rb_csr v, int64_t i, rb_dense rows, int64_t to) {
    for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++)
        rb_dense_set(rows, to, v.columns[e],
                     rb_dense_get(rows, to, v.columns[e]) + rb_get(v.type, v.values, e));
}

void rb_block_rows(const rb_block *block, int64_t row, rb_dense rows) {
    if (block->sparse)
        rb_dense_zero(rows);
    else
        rb_dense_copy(rb_dense_rows(block->dense, row, rows.rows), rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        if (block->sparse) sparse_row(block->csr, row + i, rows, i);
        for (int64_t k = 0; block->shift && k < rows.cols; k++)
            rb_dense_set(rows, i, k, rb_dense_get(rows, i, k) - block->shift[k]);
    }
}

void rb_block_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense b,
                      rb_dense out) {
    const int64_t *starts = block->csr.starts;
    size_t size = rb_type_size(b.type);
    rb_phase before = block->sparse ? rb_phase_sparse(ctx, starts[first + out.rows] - starts[first],
                                                      1, b.cols, size)
                                    : rb_phase_product(ctx, out.rows, b.rows, b.cols, size);
    if (block->sparse)
        rb_kernels_of(ctx)->of[b.type].csr(block->csr, first, b, false, out);
    else
        rb_gemm(1, rb_dense_rows(block->dense, first, out.rows), RB_PLAIN, b, RB_PLAIN, 0, out);
    rb_phase_end(ctx, before);
}

static double dense_squares(const rb_block *block, int64_t *missing) {
    rb_dense v = block->dense;
    double sum = 0;
    for (int64_t i = 0; i < v.rows; i++) {
        for (int64_t k = 0; k < v.cols; k++) {
            double value = rb_dense_get(v, i, k) - (block->shift ? block->shift[k] : 0);
            if (isnan(value))
                (*missing)++;
            else
                sum += value * value;
        }
    }
    return sum;
}

/* Zeros that are not stored are -shift; (v - s)^2 - s^2 = v (v - 2 s) for those that are. */
static double sparse_squares(const rb_block *block, int64_t *missing) {
    const rb_csr *v = &block->csr;
    double empty = 0, sum = 0;
    for (int64_t k = 0; block->shift && k < block->n_features; k++)
        empty += block->shift[k] * block->shift[k];
    for (int64_t e = 0; e < v->starts[v->rows] - v->starts[0]; e++) {
        double value = rb_get(v->type, v->values, e);
        double shift = block->shift ? block->shift[v->columns[e]] : 0;
        if (isnan(value)) {
            (*missing)++;
            sum -= shift * shift;
        } else {
            sum += value * (value - 2 * shift);
        }
    }
    return sum + (double)v->rows * empty;
}

double rb_block_squares(const rb_block *block, int64_t *values) {
    int64_t missing = 0;
    double sum = block->sparse ? sparse_squares(block, &missing) : dense_squares(block, &missing);
    *values = block->n_samples * block->n_features - missing;
    return sum;
}

/* ---- sums of squares of the features ---- */

enum { TASK_FEATURES = 64 };

struct squares {
    const rb_block *block;
    double *sums;
};

static void add_floats(int64_t count, const float *restrict row, const double *restrict shift,
                       double *restrict sums) {
    for (int64_t k = 0; k < count; k++)
        sums[k] += ((double)row[k] - shift[k]) * ((double)row[k] - shift[k]);
}

static void add_doubles(int64_t count, const double *restrict row, const double *restrict shift,
                        double *restrict sums) {
    for (int64_t k = 0; k < count; k++)
        sums[k] += (row[k] - shift[k]) * (row[k] - shift[k]);
}

static void dense_task(void *arg, int64_t index, int worker) {
    const struct squares *t = arg;
    int64_t first = index * TASK_FEATURES;
    int64_t count = rb_smaller(t->block->n_features - first, TASK_FEATURES);
    rb_dense part = rb_dense_part(t->block->dense, 0, t->block->n_samples, first, count);
    double shift[TASK_FEATURES] = {0};
    for (int64_t k = 0; t->block->shift && k < count; k++)
        shift[k] = t->block->shift[first + k];
    for (int64_t i = 0; i < part.rows; i++)
        if (part.type == RB_FLOAT32)
            add_floats(count, rb_dense_row(part, i), shift, t->sums + first);
        else
            add_doubles(count, rb_dense_row(part, i), shift, t->sums + first);
}

/* (x - shift)^2 = shift^2 + x (x - 2 shift), and x is 0 where nothing is stored. */
static void sparse_features(const rb_block *block, double *sums) {
    const rb_csr *v = &block->csr;
    for (int64_t e = 0; e < v->starts[v->rows] - v->starts[0]; e++) {
        int32_t k = v->columns[e];
        double x = rb_get(v->type, v->values, e);
        sums[k] += x * (x - (block->shift ? 2 * block->shift[k] : 0));
    }
    for (int64_t k = 0; block->shift && k < block->n_features; k++)
        sums[k] += (double)v->rows * block->shift[k] * block->shift[k];
}

void rb_block_feature_squares(rb_context *ctx, const rb_block *block, double *sums) {
    if (block->sparse) {
        sparse_features(block, sums);
        return;
    }
    rb_parallel(ctx, (block->n_features + TASK_FEATURES - 1) / TASK_FEATURES, dense_task,
                &(struct squares){block, sums});
}
