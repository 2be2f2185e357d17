/* Products with a block of samples V = X - 1 s', of which X may be sparse and s is its shift: the
 * part with s is taken off afterwards, so that no zero of X is filled.
 *
 *   V B  = X B - 1 (s'B)              V'M  = X'M - s (1'M)
 *   V'V  = X'X - s t' - t s' + n s s'           t = X'1
 *   V V' = X X' - d 1' - 1 d' + (s's) 1 1'      d = X s
 *
 * All are cut by output, and each value adds up in the order of samples, or of features.
 */
#include "factors.h"

#include <math.h>
#include <string.h>

enum { TASK_SAMPLES = 128, TASK_ROWS = 64 };

int64_t factors_tasks(int64_t rows, int64_t size) {
    return (rows + size - 1) / size;
}

rb_dense factors_task_rows(rb_dense rows, int64_t task, int64_t size) {
    int64_t first = task * size, left = rows.rows - first;
    return rb_dense_rows(rows, first, left < size ? left : size);
}

/* ---- sparse times dense ---- */

struct product {
    rb_context *ctx;
    const rb_block *x;
    rb_dense b, out;
    const void *minus; /* a row that is taken off each row of OUT; or NULL */
};

static void product_task(void *arg, int64_t task, int worker) {
    const struct product *p = arg;
    rb_dense out = factors_task_rows(p->out, task, TASK_SAMPLES);
    (void)worker;
    rb_block_project(p->ctx, p->x, task * TASK_SAMPLES, p->b, out);
    for (int64_t i = 0; p->minus && i < out.rows; i++)
        rb_axpy(p->ctx, out.type, out.cols, -1, p->minus, rb_dense_row(out, i));
}

rb_error factors_project(rb_context *ctx, const rb_block *block, rb_dense b, rb_dense out) {
    if (!block->sparse) {
        rb_gemm_parallel(ctx, 1, block->dense, RB_PLAIN, b, RB_PLAIN, 0, out);
        return RB_OK;
    }
    struct product p = {ctx, block, b, out, NULL};
    void *minus = block->shift ? rb_alloc_zero(ctx, b.cols, rb_type_size(b.type)) : NULL;
    if (block->shift && !minus) return RB_ERROR_MEMORY;
    for (int64_t k = 0; minus && k < b.rows; k++)
        if (block->shift[k] != 0)
            rb_axpy(ctx, b.type, b.cols, block->shift[k], rb_dense_row(b, k), minus);
    p.minus = minus;
    rb_parallel(ctx, factors_tasks(out.rows, TASK_SAMPLES), product_task, &p);
    rb_free(minus);
    return RB_OK;
}

/* U -= s (1'M) */
static rb_error take_off_shift(rb_context *ctx, const double *shift, rb_dense m, rb_dense u) {
    void *sum = rb_alloc_zero(ctx, m.cols, rb_type_size(m.type));
    if (!sum) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < m.rows; i++)
        rb_axpy(ctx, m.type, m.cols, 1, rb_dense_row(m, i), sum);
    for (int64_t k = 0; k < u.rows; k++)
        if (shift[k] != 0) rb_axpy(ctx, u.type, u.cols, -shift[k], sum, rb_dense_row(u, k));
    rb_free(sum);
    return RB_OK;
}

rb_error factors_add_cross(rb_context *ctx, const rb_block *block, rb_dense m, rb_dense u) {
    if (!block->sparse) {
        rb_gemm_parallel(ctx, 1, block->dense, RB_TRANSPOSED, m, RB_PLAIN, 1, u);
        return RB_OK;
    }
    rb_csr_add_cross(ctx, block->csr, 1, m, u);
    return block->shift ? take_off_shift(ctx, block->shift, m, u) : RB_OK;
}

rb_error factors_add_moments(rb_context *ctx, const rb_block *block, rb_dense m, rb_dense u,
                             rb_dense s) {
    if (!block->sparse) {
        rb_moments_parallel(ctx, 1, block->dense, m, u, s);
        return RB_OK;
    }
    rb_gemm_lower(ctx, 1, m, RB_TRANSPOSED, m, RB_PLAIN, 1, s);
    return factors_add_cross(ctx, block, m, u);
}

/* ---- sparse times itself ---- */

struct square {
    rb_csr a, b; /* S += A B, of which the lower triangle counts: B is A' */
    rb_dense s;
};

/* row += value * row of B, up to column max; columns ascend. */
static void add_row(rb_csr b, int64_t index, int64_t max, double value, void *row) {
    int64_t first = b.starts[index] - b.starts[0], end = b.starts[index + 1] - b.starts[0];
    for (int64_t e = first; b.type == RB_FLOAT32 && e < end && b.columns[e] <= max; e++)
        ((float *)row)[b.columns[e]] += (float)value * ((const float *)b.values)[e];
    for (int64_t e = first; b.type == RB_FLOAT64 && e < end && b.columns[e] <= max; e++)
        ((double *)row)[b.columns[e]] += value * ((const double *)b.values)[e];
}

static void square_task(void *arg, int64_t task, int worker) {
    const struct square *q = arg;
    rb_dense rows = factors_task_rows(q->s, task, TASK_ROWS);
    int64_t first = task * TASK_ROWS, base = q->a.starts[0];
    (void)worker;
    for (int64_t i = first; i < first + rows.rows; i++)
        for (int64_t e = q->a.starts[i] - base; e < q->a.starts[i + 1] - base; e++)
            add_row(q->b, q->a.columns[e], i, rb_get(q->a.type, q->a.values, e),
                    rb_dense_row(q->s, i));
}

/* S_ij += plus - left_i right_j - right_i left_j; left NULL: ones. */
static void add_outer(rb_dense s, const double *left, const double *right, double plus,
                      double squares) {
    for (int64_t i = 0; i < s.rows; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double x = left ? left[i] * right[j] + right[i] * left[j] - squares * left[i] * left[j]
                            : right[i] + right[j] - plus;
            rb_dense_set(s, i, j, rb_dense_get(s, i, j) - x);
        }
    }
}

rb_error factors_add_second(rb_context *ctx, rb_csr_memory *columns, const rb_block *block,
                            rb_dense s) {
    if (!block->sparse) {
        rb_gemm_lower(ctx, 1, block->dense, RB_TRANSPOSED, block->dense, RB_PLAIN, 1, s);
        return RB_OK;
    }
    rb_csr turned;
    rb_error err = rb_csr_turn(ctx, columns, block->csr, &turned);
    if (err) return err;
    rb_parallel(ctx, factors_tasks(s.rows, TASK_ROWS), square_task,
                &(struct square){turned, block->csr, s});
    if (!block->shift) return RB_OK;
    double *total = rb_alloc_zero(ctx, s.rows, sizeof *total);
    if (!total) return RB_ERROR_MEMORY;
    for (int64_t e = 0; e < turned.starts[turned.rows]; e++)
        total[block->csr.columns[e]] += rb_get(block->csr.type, block->csr.values, e);
    add_outer(s, block->shift, total, 0, (double)block->n_samples);
    rb_free(total);
    return RB_OK;
}

rb_error factors_gram(rb_context *ctx, rb_csr_memory *columns, const rb_block *block, rb_dense k) {
    rb_dense_zero(k);
    if (!block->sparse) {
        rb_gemm_lower(ctx, 1, block->dense, RB_PLAIN, block->dense, RB_TRANSPOSED, 0, k);
        return RB_OK;
    }
    rb_csr v = block->csr, turned;
    rb_error err = rb_csr_turn(ctx, columns, v, &turned);
    if (err) return err;
    rb_parallel(ctx, factors_tasks(k.rows, TASK_ROWS), square_task, &(struct square){v, turned, k});
    if (!block->shift) return RB_OK;
    double *products = rb_alloc_zero(ctx, v.rows, sizeof *products), squares = 0;
    if (!products) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < v.rows; i++)
        for (int64_t e = v.starts[i] - v.starts[0]; e < v.starts[i + 1] - v.starts[0]; e++)
            products[i] += rb_get(v.type, v.values, e) * block->shift[v.columns[e]];
    for (int64_t f = 0; f < block->n_features; f++)
        squares += block->shift[f] * block->shift[f];
    add_outer(k, NULL, products, squares, 0);
    rb_free(products);
    return RB_OK;
}

/* ---- orthonormal columns ---- */

rb_error factors_orthonormalize(rb_context *ctx, rb_dense x) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t k = x.cols;
    rb_dense gram = {0}, wide = {0}, root = {0}, narrow = {0}, old = {0};
    rb_dense_take(&scratch, x.type, k, k, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &wide);
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &root);
    rb_dense_take(&scratch, x.type, k, k, &narrow);
    rb_dense_take(&scratch, x.type, x.rows, k, &old);
    if (!scratch.err) {
        rb_gemm_lower(ctx, 1, x, RB_TRANSPOSED, x, RB_PLAIN, 0, gram);
        rb_dense_copy(gram, wide);
        scratch.err = rb_inverse_root(ctx, wide, x.type == RB_FLOAT32 ? 1e-6 : 1e-14, root);
    }
    if (!scratch.err) {
        rb_dense_copy(root, narrow);
        rb_dense_copy(x, old);
        rb_gemm_parallel(ctx, 1, old, RB_PLAIN, narrow, RB_PLAIN, 0, x);
    }
    return rb_scratch_end(&scratch);
}
