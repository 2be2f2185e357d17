/* Compressed sparse rows: of a dense matrix, of a transpose, and the product with it. */
#include "linalg.h"

#include <string.h>

/* Counts the entries of each column into starts[column + 1], then sums them up. */
static void column_starts(rb_csr v, int64_t *starts) {
    memset(starts, 0, (size_t)(v.cols + 1) * sizeof *starts);
    int64_t entries = v.starts[v.rows] - v.starts[0];
    for (int64_t e = 0; e < entries; e++)
        starts[v.columns[e] + 1]++;
    for (int64_t k = 0; k < v.cols; k++)
        starts[k + 1] += starts[k];
}

void rb_csr_transpose(rb_csr v, int64_t *starts, int32_t *columns, void *values) {
    column_starts(v, starts);
    /* starts[k] runs from the start of column k to the start of the next one while it is filled. */
    for (int64_t i = 0; i < v.rows; i++) {
        for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++) {
            int64_t place = starts[v.columns[e]]++;
            columns[place] = (int32_t)i;
            if (v.type == RB_FLOAT32)
                ((float *)values)[place] = ((const float *)v.values)[e];
            else
                ((double *)values)[place] = ((const double *)v.values)[e];
        }
    }
    memmove(starts + 1, starts, (size_t)v.cols * sizeof *starts);
    starts[0] = 0;
}

void rb_csr_memory_free(rb_csr_memory *memory) {
    rb_free(memory->starts.data);
    rb_free(memory->columns.data);
    rb_free(memory->values.data);
    *memory = (rb_csr_memory){0};
}

static rb_error hold(rb_context *ctx, rb_csr_memory *memory, rb_type type, int64_t rows,
                     int64_t entries) {
    rb_error err = rb_buffer_hold(ctx, &memory->starts, rows + 1, sizeof(int64_t));
    err = err ? err : rb_buffer_hold(ctx, &memory->columns, entries, sizeof(int32_t));
    return err ? err : rb_buffer_hold(ctx, &memory->values, entries, rb_type_size(type));
}

rb_error rb_csr_turn(rb_context *ctx, rb_csr_memory *memory, rb_csr v, rb_csr *turned) {
    rb_error err = hold(ctx, memory, v.type, v.cols, v.starts[v.rows] - v.starts[0]);
    if (err) return err;
    rb_csr_transpose(v, memory->starts.data, memory->columns.data, memory->values.data);
    *turned = (rb_csr){
        v.cols, v.rows, memory->starts.data, memory->columns.data, memory->values.data, v.type};
    return RB_OK;
}

rb_csr rb_csr_list(const rb_context *ctx, double factor, rb_dense a, int64_t *starts,
                   int32_t *columns, void *values) {
    starts[0] = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        int64_t at = starts[i];
        starts[i + 1] = at + rb_kernels_of(ctx)->of[a.type].compress(
                                 a.cols, factor, rb_dense_row(a, i), columns + at,
                                 (char *)values + at * (int64_t)rb_type_size(a.type));
    }
    return (rb_csr){a.rows, a.cols, starts, columns, values, a.type};
}

rb_error rb_csr_compress(rb_context *ctx, rb_csr_memory *memory, rb_dense a, rb_csr *rows) {
    rb_error err = hold(ctx, memory, a.type, a.rows, rb_dense_count(a) + 1);
    if (err) return err;
    *rows = rb_csr_list(ctx, 1, a, memory->starts.data, memory->columns.data, memory->values.data);
    return RB_OK;
}

/* ---- U += factor V'M ----
 *
 * Each row of M is added to the rows of U that its entries name. Threads have bands of columns, so
 * that a value of U adds up in the order of the rows of V, whoever computes it. */

enum { TASK_ENTRIES = 1 << 13 };

struct cross {
    const struct rb_type_kernels *kernels;
    rb_csr v;
    double factor;
    rb_dense m, u;
    int64_t bands;
};

/* Where a band of columns begins, so that all have about equally many entries: by some rows. */
static int64_t band_start(rb_csr v, int64_t band, int64_t bands) {
    enum { SOME = 32 };
    int64_t rows = 0, sum = 0;
    if (band == 0 || band == bands) return band == 0 ? 0 : v.cols;
    for (int64_t k = 0; k < SOME; k++) {
        int64_t i = v.rows * k / SOME, first = v.starts[i] - v.starts[0];
        int64_t count = v.starts[i + 1] - v.starts[i];
        if (count >= bands) {
            sum += v.columns[first + count * band / bands];
            rows++;
        }
    }
    return rows > 0 ? sum / rows : v.cols * band / bands;
}

static void cross_band(void *arg, int64_t band, int worker) {
    const struct cross *c = arg;
    (void)worker;
    c->kernels->csr_cross(c->v, c->factor, c->m, band_start(c->v, band, c->bands),
                          band_start(c->v, band + 1, c->bands), c->u);
}

void rb_csr_add_cross(rb_context *ctx, rb_csr v, double factor, rb_dense m, rb_dense u) {
    int64_t entries = v.starts[v.rows] - v.starts[0];
    int64_t bands = rb_smaller(rb_context_threads(ctx), entries / TASK_ENTRIES + 1);
    struct cross c = {&rb_kernels_of(ctx)->of[v.type], v, factor, m, u, bands};
    rb_phase before = rb_phase_sparse(ctx, entries, 2, m.cols, rb_type_size(v.type));
    rb_parallel(ctx, bands, cross_band, &c);
    rb_phase_end(ctx, before);
}
