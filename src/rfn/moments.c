/* Moments of a block: U += V'mu and S += mu'mu. */
#include "state.h"

#include <string.h>

enum { TASK_FEATURES = 512 };

void rfn_clear_moments(rb_context *ctx, rfn_state *st) {
    int64_t l = st->options.units;
    if (rfn_in_batches(st) && !rfn_is_last(st)) {
        rfn_decay_moments(ctx, st);
        for (int64_t j = 0; j < l; j++) { /* a unit that was active need not be in every batch */
            st->units.alive[j] = rb_dense_get(st->sum_s, j, j) > 0;
            st->units.candidates[j].sample = -1;
        }
        return;
    }
    st->weight = 0;
    st->gain = 1;
    rb_dense_zero(st->sum_u);
    rb_dense_zero(st->sum_s);
    memset(st->units.sum, 0, (size_t)l * sizeof *st->units.sum);
    for (int64_t j = 0; st->dropout.sum && j < l; j++) {
        st->dropout.sum[j] = st->dropout.squares[j] = 0;
    }
    memset(st->units.alive, 0, (size_t)l * sizeof *st->units.alive);
    for (int64_t j = 0; j < l; j++) {
        st->units.candidates[j].sample = -1;
    }
}

void rfn_sum_tasks(rfn_state *st, int64_t tasks) {
    int64_t l = st->options.units;
    for (int64_t t = 0; t < tasks; t++) {
        for (int64_t j = 0; j < l; j++) {
            st->units.sum[j] += st->gain * st->task_sum[t * l + j];
            st->units.alive[j] = st->units.alive[j] || st->task_largest[t * l + j] > 0;
        }
    }
    if (rfn_drops(st)) {
        rfn_dropout_sum(st, tasks);
    }
}

struct sparse_task {
    rb_context *ctx;
    rb_csr transposed; /* features x samples */
    rb_dense codes, u;
};

static void sparse_rows(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct sparse_task *t = arg;
    int64_t first = task * TASK_FEATURES, left = t->transposed.rows - first;
    int64_t count = left < TASK_FEATURES ? left : TASK_FEATURES;
    rb_csr_multiply_add(t->ctx, t->transposed, first, count, t->codes,
                        rb_dense_rows(t->u, first, count));
}

static rb_error make_room(rb_context *ctx, rfn_state *st, int64_t entries) {
    if (!st->transposed_starts) {
        st->transposed_starts =
            rb_alloc(ctx, st->problem.n_features + 1, sizeof *st->transposed_starts);
        if (!st->transposed_starts) {
            return RB_ERROR_MEMORY;
        }
    }
    if (entries <= st->transposed_room) {
        return RB_OK;
    }
    rb_free(st->transposed_columns);
    rb_free(st->transposed_values);
    st->transposed_room = 0;
    st->transposed_columns = rb_alloc(ctx, entries, sizeof *st->transposed_columns);
    st->transposed_values = rb_alloc(ctx, entries, rb_type_size(st->problem.type));
    if (!st->transposed_columns || !st->transposed_values) {
        return RB_ERROR_MEMORY;
    }
    st->transposed_room = entries;
    return RB_OK;
}

/* A column of U needs the samples that have the feature: the block is turned into columns once. */
static rb_error add_sparse(rb_context *ctx, rfn_state *st, const rb_block *block, rb_dense codes) {
    rb_csr v = block->csr;
    rb_error err = make_room(ctx, st, v.starts[v.rows] - v.starts[0]);
    if (err) {
        return err;
    }
    rb_csr_transpose(v, st->transposed_starts, st->transposed_columns, st->transposed_values);
    for (int64_t e = 0; st->gain != 1 && e < v.starts[v.rows] - v.starts[0]; e++) {
        double x = rfn_get(v.type, st->transposed_values, e);
        rfn_put(v.type, st->transposed_values, e, st->gain * x);
    }
    struct sparse_task t = {ctx,
                            {v.cols, v.rows, st->transposed_starts, st->transposed_columns,
                             st->transposed_values, v.type},
                            codes,
                            st->sum_u};
    rb_parallel(ctx, (v.cols + TASK_FEATURES - 1) / TASK_FEATURES, sparse_rows, &t);
    rb_gemm_lower(ctx, st->gain, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, st->sum_s);
    return RB_OK;
}

rb_error rfn_add_moments(rb_context *ctx, rfn_state *st, const rb_block *block) {
    rb_dense codes = rb_dense_rows(st->codes, 0, block->n_samples);
    st->weight += st->gain * (double)block->n_samples;
    if (block->sparse) {
        return add_sparse(ctx, st, block, codes);
    }
    rb_moments_parallel(ctx, st->gain, block->dense, codes, st->sum_u, st->sum_s);
    return RB_OK;
}
