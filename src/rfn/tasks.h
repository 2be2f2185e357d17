/* Tasks of the E-step: even parts of the samples of a block, a function of their number alone, so
 * that results do not depend on the number of threads. Private to src/rfn. */
#ifndef RB_RFN_TASKS_H
#define RB_RFN_TASKS_H

#include "linalg/linalg.h"

/* Up to 2048 samples a task, for a product packs its larger operand, the filter, once a task; at
 * least 4 tasks where they are not below 512. Even, for two threads. Never falls as n grows. */
static inline int64_t rfn_task_count(int64_t n_samples) {
    enum { SAMPLES = 2048, FEWER = 512, TASKS = 4 };
    int64_t count = (n_samples + SAMPLES - 1) / SAMPLES;
    if (count < TASKS) {
        int64_t more = (n_samples + FEWER - 1) / FEWER;
        count = rb_smaller(more, TASKS);
    }
    return count <= 1 ? 1 : (count + 1) / 2 * 2;
}

static inline struct bands rfn_tasks(int64_t n_samples) {
    return rb_cut(n_samples, rfn_task_count(n_samples));
}

/* Rows of the samples of a task; `rows` has those of the whole block. */
static inline rb_dense rfn_task_rows(rb_dense rows, int64_t task) {
    struct bands tasks = rfn_tasks(rows.rows);
    return rb_dense_rows(rows, rb_band_start(tasks, task), rb_band_size(tasks, task));
}

/* The same of samples that are columns. */
static inline rb_dense rfn_task_columns(rb_dense columns, int64_t task) {
    struct bands tasks = rfn_tasks(columns.cols);
    return rb_dense_part(columns, 0, columns.rows, rb_band_start(tasks, task),
                         rb_band_size(tasks, task));
}

static inline int64_t rfn_task_first(int64_t n_samples, int64_t task) {
    return rb_band_start(rfn_tasks(n_samples), task);
}

#endif
