/* Memory that is taken piece by piece and freed as one. */
#include "engine.h"

/* What stands before a piece; as large as its alignment. */
union et_piece {
    union et_piece *before;
    char space[64];
};

void *et_take(rb_context *ctx, et_memory *m, int64_t rows, int64_t columns, size_t size) {
    int64_t count, bytes;
    if (m->err || rows == 0 || columns == 0) return NULL;
    if (!rb_multiply(rows, columns, &count) || !rb_multiply(count, (int64_t)size, &bytes) ||
        bytes > INT64_MAX - (int64_t)sizeof *m->last) {
        m->err = rb_fail(ctx, RB_ERROR_MEMORY, "%lld x %lld values cannot be addressed",
                         (long long)rows, (long long)columns);
        return NULL;
    }
    union et_piece *piece = rb_alloc_zero(ctx, bytes + (int64_t)sizeof *piece, 1);
    if (!piece) {
        m->err = RB_ERROR_MEMORY;
        return NULL;
    }
    piece->before = m->last;
    m->last = piece;
    return piece + 1;
}

rb_dense et_take_dense(rb_context *ctx, et_memory *m, rb_type type, int64_t rows, int64_t columns) {
    if (!m->err && columns > INT32_MAX) {
        m->err = rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                         "%lld values in a row are too many for the BLAS", (long long)columns);
    }
    void *data = et_take(ctx, m, rows, columns, rb_type_size(type));
    return data ? (rb_dense){data, rows, columns, columns, type} : (rb_dense){0};
}

void et_memory_free(et_memory *m) {
    while (m->last) {
        union et_piece *piece = m->last;
        m->last = piece->before;
        rb_free(piece);
    }
}
