/* Sums over samples for the M-step. Each number is summed by one thread, sample after sample. */
#include "fit.h"

rb_dense et_block_rows(const rb_block *block, rb_dense copies, rb_dense mask) {
    if (!block->sparse && !mask.data) return rb_dense_rows(block->dense, 0, block->n_samples);
    rb_dense rows = rb_dense_rows(copies, 0, block->n_samples);
    rb_block_rows(block, 0, rows);
    if (mask.data) et_mask(rows, rb_dense_rows(mask, 0, block->n_samples));
    return rows;
}

void et_add_products(rb_context *ctx, rb_dense room, rb_dense mean, rb_dense rows, rb_dense sums) {
    rb_dense part = rb_dense_rows(room, 0, mean.cols);
    rb_gemm_parallel(ctx, 1, mean, RB_TRANSPOSED, rows, RB_PLAIN, 0, part);
    double *sum = sums.data;
    for (int64_t i = 0; i < sums.rows * sums.cols; i++)
        sum[i] += rb_get(part.type, part.data, i);
}

void et_add_rows(const et_kernels *kernels, rb_dense rows, double *sums) {
    for (int64_t i = 0; i < rows.rows; i++) {
        if (rows.type == RB_FLOAT32) {
            kernels->add(rows.cols, rb_dense_row(rows, i), sums);
        } else {
            const double *row = rb_dense_row(rows, i);
            for (int64_t h = 0; h < rows.cols; h++)
                sums[h] += row[h];
        }
    }
}

/* ---- bands of features ---- */

static void band_task(void *arg, int64_t index, int worker) {
    et_band band = *(const et_band *)arg;
    const et_results *r = &band.cpu->results;
    rb_dense rows = band.rows, mask = band.cpu->mask;
    band.first = index * ET_BAND;
    band.count = rb_smaller(rows.cols - index * ET_BAND, ET_BAND);
    for (int64_t i = 0; i < rows.rows; i++) {
        if (!r->used[i]) continue;
        const void *row = rb_dense_row(rows, i);
        for (int64_t d = 0; d < band.count; d++)
            band.y[d] = rb_get(rows.type, row, band.first + d);
        for (int64_t d = 0; mask.data && d < band.count; d++)
            band.there[d] = rb_dense_get(mask, i, band.first + d);
        band.whole = r->there[i] == rows.cols;
        band.add(&band, i);
    }
}

void et_each_band(rb_context *ctx, const et_cpu *cpu, rb_dense rows, et_sums *sums,
                  void (*add)(const et_band *band, int64_t i)) {
    et_band band = {.cpu = cpu, .sums = sums, .rows = rows, .add = add};
    rb_parallel(ctx, (rows.cols + ET_BAND - 1) / ET_BAND, band_task, &band);
}

/* ---- linear: sum <s s'> ---- */

struct task {
    const et_cpu *cpu;
    rb_dense second;
    int64_t count;
};

void et_add_pairs(const int32_t *list, int candidates, int step, const double *pairs, int64_t band,
                  rb_dense second) {
    int64_t first = band * ET_BAND_ROWS, last = first + ET_BAND_ROWS;
    for (int j = 0; j < candidates; j++) {
        int32_t h = list[j * step];
        if (h < first || h >= last) continue;
        double *row = rb_dense_row(second, h);
        for (int k = j + 1; k < candidates; k++)
            row[list[k * step]] += pairs[j * candidates + k];
    }
}

/* A band of rows above the diagonal, on which <s_h^2> is of the probabilities of the values. */
static void second_task(void *arg, int64_t index, int worker) {
    const struct task *task = arg;
    const et_results *r = &task->cpu->results;
    for (int64_t i = 0; i < task->count; i++) {
        if (r->used[i]) {
            et_look look = et_look_at(task->cpu->engine, r, i);
            et_add_pairs(look.candidates, look.tree->candidates,
                         look.tree->items / look.tree->candidates, look.pairs, index, task->second);
        }
    }
}

static void add_linear(rb_context *ctx, et_cpu *cpu, rb_dense rows, et_sums *sums) {
    struct task task = {cpu, sums->second, rows.rows};
    rb_dense mean = rb_dense_rows(cpu->results.mean, 0, rows.rows);
    et_add_products(ctx, cpu->part, mean, rows, sums->products);
    if (cpu->problem.missing) et_missing_add(ctx, cpu, rows, sums);
    if (cpu->results.pairs && !sums->pairs.data)
        rb_parallel(ctx, (mean.cols + ET_BAND_ROWS - 1) / ET_BAND_ROWS, second_task, &task);
}

/* All of Q, of which blocks add what is above the diagonal. */
static void finish_linear(et_cpu *cpu, et_sums *sums) {
    const et_values *values = &cpu->engine->setup.values;
    rb_dense second = sums->second;
    for (int64_t h = 0; h < second.rows; h++) {
        double square = 0;
        for (int a = 0; a < values->count; a++)
            square += values->value[a] * values->value[a] * sums->causes[a * second.rows + h];
        rb_dense_set(second, h, h, square);
        for (int64_t j = 0; j < h; j++)
            rb_dense_set(second, h, j, rb_dense_get(second, j, h));
    }
    if (cpu->problem.missing) et_missing_finish(cpu, sums);
}

const et_summing et_sum_linear = {
    .keep = ET_KEEP_PAIRS,
    .add = add_linear,
    .finish = finish_linear,
};
