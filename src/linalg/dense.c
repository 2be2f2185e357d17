/* Dense matrices: memory, views, copies. */
#include "kernels.h"

#include <string.h>

rb_error rb_dense_new(rb_context *ctx, rb_type type, int64_t rows, int64_t cols, rb_dense *out) {
    *out = (rb_dense){0};
    int64_t count;
    if (!rb_multiply(rows, cols, &count)) {
        return rb_fail(ctx, RB_ERROR_MEMORY, "a matrix of %lld x %lld values cannot be addressed",
                       (long long)rows, (long long)cols);
    }
    void *data = rb_alloc_zero(ctx, count, rb_type_size(type));
    if (!data) {
        return RB_ERROR_MEMORY;
    }
    *out = (rb_dense){data, rows, cols, cols, type};
    return RB_OK;
}

void rb_dense_free(rb_dense *dense) {
    rb_free(dense->data);
    *dense = (rb_dense){0};
}

double rb_dense_get(rb_dense a, int64_t row, int64_t col) {
    const void *values = rb_dense_row(a, row);
    return a.type == RB_FLOAT32 ? (double)((const float *)values)[col]
                                : ((const double *)values)[col];
}

void rb_dense_set(rb_dense a, int64_t row, int64_t col, double value) {
    void *values = rb_dense_row(a, row);
    if (a.type == RB_FLOAT32) {
        ((float *)values)[col] = (float)value;
    } else {
        ((double *)values)[col] = value;
    }
}

void rb_dense_copy(rb_dense from, rb_dense to) {
    const struct rb_kernels *kernels = rb_kernels_best();
    for (int64_t i = 0; i < from.rows; i++) {
        const void *x = rb_dense_row(from, i);
        void *y = rb_dense_row(to, i);
        if (from.type == to.type) {
            memcpy(y, x, (size_t)from.cols * rb_type_size(from.type));
        } else if (from.type == RB_FLOAT32) {
            kernels->of[RB_FLOAT32].widen(from.cols, x, y);
        } else {
            kernels->of[RB_FLOAT32].narrow(from.cols, 1, x, y);
        }
    }
}

void rb_dense_zero(rb_dense a) {
    for (int64_t i = 0; i < a.rows; i++) {
        memset(rb_dense_row(a, i), 0, (size_t)a.cols * rb_type_size(a.type));
    }
}

void rb_dense_mirror(rb_dense a) {
    rb_kernels_best()->of[a.type].mirror(a.rows, a.data, a.ld);
}
