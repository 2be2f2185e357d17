/* Dropout of code units: each code of each sample becomes 0 with a probability (Clevert et al.
 * 2015, Alg. S9), between rectifying and normalising; what is left is not multiplied up. The
 * authors' program drops after scaling: then the scale of a unit is that of all its codes. A random
 * number depends on seed, pass, sample and unit alone.
 */
#include "state.h"

#include <string.h>

rb_error rfn_dropout_new(rb_context *ctx, rfn_state *st) {
    rfn_dropout *dropout = &st->dropout;
    int64_t l = st->options.units, tasks = rfn_task_count(st->problem.block_samples);
    if (st->options.dropout == 0) {
        return RB_OK;
    }
    dropout->threshold = rfn_random_threshold(st->options.dropout);
    dropout->task_sum = rb_alloc(ctx, tasks * l, sizeof *dropout->task_sum);
    dropout->task_squares = rb_alloc(ctx, tasks * l, sizeof *dropout->task_squares);
    dropout->sum = rb_alloc_zero(ctx, l, sizeof *dropout->sum);
    dropout->squares = rb_alloc_zero(ctx, l, sizeof *dropout->squares);
    bool all = dropout->task_sum && dropout->task_squares && dropout->sum && dropout->squares;
    return all ? RB_OK : RB_ERROR_MEMORY;
}

void rfn_dropout_free(rfn_dropout *dropout) {
    rb_free(dropout->task_sum);
    rb_free(dropout->task_squares);
    rb_free(dropout->sum);
    rb_free(dropout->squares);
}

bool rfn_drops(const rfn_state *st) {
    return st->options.dropout > 0 && !rfn_is_last(st);
}

void rfn_drop(rb_context *ctx, rfn_state *st, rb_dense codes, int64_t sample, int64_t task,
              int worker) {
    const rfn_dropout *dropout = &st->dropout;
    int64_t l = codes.cols;
    size_t bytes = (size_t)l * sizeof(double);
    double *kept = st->task_sum + task * l, *squares = dropout->task_squares + task * l;
    uint32_t *words = rfn_worker_words(st, worker);
    memcpy(dropout->task_sum + task * l, kept, bytes);
    memset(kept, 0, bytes);
    memset(squares, 0, bytes);
    for (int64_t i = 0; i < codes.rows; i++) {
        rb_random_row(ctx, dropout->key, (uint64_t)(sample + i), l, words);
        rb_drop_row(ctx, codes.type, l, words, dropout->threshold, rb_dense_row(codes, i), kept,
                    squares);
    }
}

void rfn_dropout_sum(rfn_state *st, int64_t tasks) {
    rfn_dropout *dropout = &st->dropout;
    int64_t l = st->options.units;
    for (int64_t e = 0; e < tasks * l; e++) {
        dropout->sum[e % l] += st->gain * dropout->task_sum[e];
        dropout->squares[e % l] += st->gain * dropout->task_squares[e];
    }
}
