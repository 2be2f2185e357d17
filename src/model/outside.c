/* What a method outside of the library needs: blocks, feeds, arrays and threads by functions. */
#include "model.h"

int64_t rb_block_first(const rb_block *block) {
    return block->first;
}

int64_t rb_block_samples(const rb_block *block) {
    return block->n_samples;
}

int64_t rb_block_features(const rb_block *block) {
    return block->n_features;
}

double rb_block_at(const rb_block *block, int64_t sample, int64_t feature) {
    const rb_csr *v = &block->csr;
    double value = block->shift ? -block->shift[feature] : 0;
    if (!block->sparse) return value + rb_dense_get(block->dense, sample, feature);
    for (int64_t e = v->starts[sample]; e < v->starts[sample + 1]; e++)
        if (v->columns[e - v->starts[0]] == feature)
            value += rb_get(v->type, v->values, e - v->starts[0]);
    return value;
}

const void *rb_block_dense(const rb_block *block, rb_type *type, int64_t *row_stride) {
    if (block->sparse) return NULL;
    *type = block->dense.type;
    *row_stride = block->dense.ld;
    return block->dense.data;
}

bool rb_block_sparse(const rb_block *block, rb_sparse_block *sparse) {
    const rb_csr *v = &block->csr;
    bool fills = block->sparse && sparse->size == sizeof *sparse;
    if (fills) {
        *sparse = (rb_sparse_block){sparse->size, v->type,   v->starts,
                                    v->columns,   v->values, block->shift};
    }
    return fills;
}

void rb_context_parallel(rb_context *ctx, int64_t count, rb_task_fn task, void *user) {
    rb_parallel(ctx, count, task, user);
}

void rb_block_values(const rb_block *block, int64_t row, int64_t count, double *values) {
    rb_block_rows(block, row,
                  (rb_dense){values, count, block->n_features, block->n_features, RB_FLOAT64});
}

rb_error rb_feed_values(rb_context *ctx, rb_feed *feed, int64_t first, int64_t count,
                        double *values) {
    rb_block block;
    rb_error err = rb_feed_read(ctx, feed, first, count, &block);
    if (!err) rb_block_values(&block, 0, count, values);
    return err;
}

rb_type rb_model_type(const rb_model *model) {
    return model->type;
}
