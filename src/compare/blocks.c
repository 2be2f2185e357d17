/* Products of blocks with what is dense: by the BLAS, or by compressed rows. */
#include "blocks.h"

void block_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense w,
                   rb_dense out) {
    if (block->sparse)
        rb_kernels_of(ctx)->of[w.type].csr(block->csr, first, out.rows, w, false, out);
    else
        rb_gemm(1, rb_dense_rows(block->dense, first, out.rows), RB_PLAIN, w, RB_PLAIN, 0, out);
}

void block_columns_free(block_columns *columns) {
    rb_free(columns->starts.data);
    rb_free(columns->columns.data);
    rb_free(columns->values.data);
}

enum { TASK_FEATURES = 64 };

struct sparse {
    rb_context *ctx;
    rb_csr transposed; /* features x samples */
    rb_dense m, u;
};

static void sparse_rows(void *arg, int64_t task, int worker) {
    const struct sparse *t = arg;
    int64_t first = task * TASK_FEATURES, left = t->transposed.rows - first;
    int64_t count = left < TASK_FEATURES ? left : TASK_FEATURES;
    (void)worker;
    rb_kernels_of(t->ctx)->of[t->transposed.type].csr(t->transposed, first, count, t->m, true,
                                                      rb_dense_rows(t->u, first, count));
}

/* A row of V'M needs the samples that have the feature: the block is turned into columns once. */
rb_error block_add_products(rb_context *ctx, block_columns *columns, const rb_block *block,
                            rb_dense m, rb_dense u) {
    rb_csr v = block->csr;
    if (!block->sparse) {
        rb_gemm_parallel(ctx, 1, block->dense, RB_TRANSPOSED, m, RB_PLAIN, 1, u);
        return RB_OK;
    }
    int64_t entries = v.starts[v.rows] - v.starts[0];
    rb_error err = rb_buffer_hold(ctx, &columns->starts, v.cols + 1, sizeof *v.starts);
    err = err ? err : rb_buffer_hold(ctx, &columns->columns, entries, sizeof *v.columns);
    err = err ? err : rb_buffer_hold(ctx, &columns->values, entries, rb_type_size(v.type));
    if (err) return err;
    rb_csr_transpose(v, columns->starts.data, columns->columns.data, columns->values.data);
    rb_csr by_columns = {v.cols,
                         v.rows,
                         columns->starts.data,
                         columns->columns.data,
                         columns->values.data,
                         v.type};
    rb_parallel(ctx, (v.cols + TASK_FEATURES - 1) / TASK_FEATURES, sparse_rows,
                &(struct sparse){ctx, by_columns, m, u});
    return RB_OK;
}
