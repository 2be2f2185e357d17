/* Dense matrices: memory, views, copies. */
#include "linalg.h"

#include <math.h>
#include <string.h>

static rb_error count_cells(rb_context *ctx, int64_t rows, int64_t cols, int64_t *count) {
    if (!rb_multiply(rows, cols, count)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a matrix of %lld x %lld values is too large",
                       (long long)rows, (long long)cols);
    }
    if (cols > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a matrix of %lld x %lld values is too wide for the BLAS; use at most %d "
                       "features and units",
                       (long long)rows, (long long)cols, INT32_MAX);
    }
    return RB_OK;
}

rb_error rb_dense_new(rb_context *ctx, rb_type type, int64_t rows, int64_t cols, rb_dense *out) {
    *out = (rb_dense){0};
    int64_t count;
    rb_error err = count_cells(ctx, rows, cols, &count);
    if (err) return err;
    void *data = rb_alloc_zero(ctx, count, rb_type_size(type));
    if (!data) return RB_ERROR_MEMORY;
    *out = (rb_dense){data, rows, cols, cols, type};
    return RB_OK;
}

void rb_dense_take(rb_scratch *s, rb_type type, int64_t rows, int64_t cols, rb_dense *out) {
    int64_t count = 0;
    s->err = s->err ? s->err : count_cells(s->ctx, rows, cols, &count);
    void *data = rb_take(s, count, rb_type_size(type));
    if (data) *out = (rb_dense){data, rows, cols, cols, type};
}

void rb_dense_free(rb_dense *dense) {
    rb_free(dense->data);
    *dense = (rb_dense){0};
}

void rb_dense_copy(rb_dense from, rb_dense to) {
    const struct rb_kernels *kernels = rb_kernels_best();
    for (int64_t i = 0; from.cols > 0 && i < from.rows; i++) {
        const void *x = rb_dense_row(from, i);
        void *y = rb_dense_row(to, i);
        if (from.type == to.type)
            memcpy(y, x, (size_t)from.cols * rb_type_size(from.type));
        else if (from.type == RB_FLOAT32)
            kernels->of[RB_FLOAT32].widen(from.cols, x, y);
        else
            kernels->of[RB_FLOAT32].narrow(from.cols, 1, x, y);
    }
}

int64_t rb_dense_count(rb_dense a) {
    int64_t count = 0;
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++)
            count += rb_dense_get(a, i, j) != 0;
    return count;
}

double rb_dense_share(rb_dense a, int64_t every) {
    a.rows = (a.rows + every - 1) / every;
    a.ld *= every;
    return a.rows * a.cols > 0 ? (double)rb_dense_count(a) / (double)(a.rows * a.cols) : 0;
}

bool rb_dense_is_finite(rb_dense a) {
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j <= i; j++)
            if (!isfinite(rb_dense_get(a, i, j))) return false;
    return true;
}

void rb_dense_zero(rb_dense a) {
    for (int64_t i = 0; a.cols > 0 && i < a.rows; i++)
        memset(rb_dense_row(a, i), 0, (size_t)a.cols * rb_type_size(a.type));
}

void rb_dense_mirror_rows(rb_dense a, int64_t first, int64_t count) {
    rb_kernels_best()->of[a.type].mirror(first, first + count, a.data, a.ld);
}

void rb_dense_mirror(rb_dense a) {
    rb_dense_mirror_rows(a, 0, a.rows);
}

static void narrow_square(rb_dense from, rb_dense to) {
    const double *x = from.data;
    for (int64_t j = 0; j < from.cols; j++) {
        float *row = rb_dense_row(to, j);
        for (int64_t i = 0; i < from.rows; i++)
            row[i] = (float)x[i * from.ld + j];
    }
}

/* Where the type changes, in squares that fit into the nearest cache: one side is walked against
 * the order of memory. */
void rb_dense_transpose(rb_dense from, rb_dense to) {
    enum { SQUARE = 16 };
    if (from.type == to.type) {
        rb_kernels_best()->of[to.type].transpose(from.rows, from.cols, from.data, from.ld, to.data,
                                                 to.ld);
        return;
    }
    for (int64_t i = 0; i < from.rows; i += SQUARE) {
        int64_t rows = from.rows - i < SQUARE ? from.rows - i : SQUARE;
        for (int64_t j = 0; j < from.cols; j += SQUARE) {
            int64_t cols = from.cols - j < SQUARE ? from.cols - j : SQUARE;
            narrow_square(rb_dense_part(from, i, rows, j, cols),
                          rb_dense_part(to, j, cols, i, rows));
        }
    }
}
