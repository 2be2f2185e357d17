/* Blocks in tasks, for methods that do more with a few samples than one product: private to
 * src/factors. */
#ifndef RB_COMPARE_BLOCKS_H
#define RB_COMPARE_BLOCKS_H

#include "data/data.h"

/* Even parts of the samples of a block, a function of their number alone. */
static inline struct bands block_tasks(int64_t n_samples) {
    enum { SAMPLES = 512 };
    int64_t count = (n_samples + SAMPLES - 1) / SAMPLES;
    return rb_cut(n_samples, count < 1 ? 1 : count);
}

static inline rb_dense block_task_rows(rb_dense rows, int64_t task) {
    struct bands tasks = block_tasks(rows.rows);
    return rb_dense_rows(rows, rb_band_start(tasks, task), rb_band_size(tasks, task));
}

/* out = V W for the samples from `first` on, as many as out has rows, on the calling thread; of a
 * sparse block without its shift. */
void block_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense w,
                   rb_dense out);

#endif
