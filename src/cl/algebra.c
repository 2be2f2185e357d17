/* Products by CLBlast, of what lies on the device and of matrices that come and go. */
#include "cl.h"

#include <clblast_c.h>

void cl_multiply(cl_work *w, size_t rows, size_t columns, size_t inner, float alpha, cl_matrix a,
                 cl_matrix b, float beta, cl_matrix c) {
    if (w->err) return;
    cl_try(w,
           CLBlastSgemm(CLBlastLayoutRowMajor, a.across ? CLBlastTransposeYes : CLBlastTransposeNo,
                        b.across ? CLBlastTransposeYes : CLBlastTransposeNo, rows, columns, inner,
                        alpha, w->buffers[a.buffer], a.from, a.ld, w->buffers[b.buffer], b.from,
                        b.ld, beta, w->buffers[c.buffer], c.from, c.ld, &w->queue, NULL),
           "a product");
}

/* ---- matrices that stay ---- */

rb_error cl_keep(rb_device_work *work, const float *matrix) {
    cl_work *w = (cl_work *)work;
    int slot = 0;
    while (matrix && slot < CL_MOST_KEPT - 1 && w->kept[slot])
        slot++;
    for (int k = matrix ? slot : 0; k < (matrix ? slot + 1 : CL_MOST_KEPT); k++) {
        w->kept[k] = matrix;
        w->there[k] = false;
    }
    return RB_OK;
}

/* Its place among those that stay, or -1. */
static int find_kept(const cl_work *w, const float *matrix) {
    for (int k = 0; k < CL_MOST_KEPT; k++)
        if (w->kept[k] == matrix) return k;
    return -1;
}

void cl_bring(cl_work *w, int buffer, size_t bytes, const float *matrix) {
    int k = find_kept(w, matrix);
    if (k >= 0 && w->there[k])
        cl_copy(w, CL_KEPT + k, buffer, bytes);
    else
        cl_up(w, buffer, bytes, matrix);
}

/* ---- products ---- */

/* A matrix goes up, without its gaps, unless it is there. */
static cl_matrix bring(cl_work *w, int buffer, bool across, size_t rows, size_t columns,
                       const float *values, size_t ld) {
    size_t row = columns * sizeof(float);
    int k = find_kept(w, values), to = k < 0 ? buffer : CL_KEPT + k;
    if (k < 0 || !w->there[k]) cl_move(w, to, 0, rows, row, row, ld * sizeof(float), NULL, values);
    if (k >= 0) w->there[k] = !w->err;
    return (cl_matrix){to, across, 0, columns};
}

rb_error cl_product(rb_device_work *work, const rb_device_product *p) {
    cl_work *w = (cl_work *)work;
    size_t rows = (size_t)p->rows, columns = (size_t)p->columns, inner = (size_t)p->inner;
    cl_matrix a = bring(w, CL_MATRIX_A, p->a_across, p->a_across ? inner : rows,
                        p->a_across ? rows : inner, p->a, (size_t)p->lda);
    cl_matrix b = a, c = {CL_MATRIX_C, false, 0, columns};
    if (p->a == p->b && p->lda == p->ldb)
        b.across = p->b_across;
    else
        b = bring(w, CL_MATRIX_B, p->b_across, p->b_across ? columns : inner,
                  p->b_across ? inner : columns, p->b, (size_t)p->ldb);
    if (p->beta != 0) bring(w, CL_MATRIX_C, false, rows, columns, p->c, (size_t)p->ldc);
    cl_multiply(w, rows, columns, inner, p->alpha, a, b, p->beta, c);
    cl_move(w, CL_MATRIX_C, 0, rows, columns * sizeof(float), columns * sizeof(float),
            (size_t)p->ldc * sizeof(float), p->c, NULL);
    return w->err;
}

/* ---- solutions ----
 *
 * Block by block: what the blocks before add is taken off, then comes the inverse of the block on
 * the diagonal. From the left, with X and Y in rows of blocks,
 *     forward   Y_k = D_k (X_k - sum_i<k L_ki Y_i)
 *     backward  X_k = D_k' (Y_k - sum_i>k L_ik' X_i)
 * and from the right the same with all of it transposed. */

typedef struct solution {
    cl_work *w;
    size_t size, block, others;
    bool left;
} solution;

/* Blocks of X or Y from `first` on; `l`: a part of L, across or not. */
static cl_matrix part_of(const solution *s, int buffer, size_t first) {
    return (cl_matrix){buffer, false, s->left ? first * s->others : first,
                       s->left ? s->others : s->size};
}

static cl_matrix l_of(const solution *s, bool across, size_t row, size_t column) {
    return (cl_matrix){CL_MATRIX_B, across, row * s->size + column, s->size};
}

/* to (count) = alpha op(l) from (inner) + beta to; from the right op(l) is on the other side. */
static void apply(const solution *s, size_t count, size_t inner, float alpha, cl_matrix l,
                  cl_matrix from, float beta, cl_matrix to) {
    if (s->left)
        cl_multiply(s->w, count, s->others, inner, alpha, l, from, beta, to);
    else
        cl_multiply(s->w, s->others, count, inner, alpha, from, l, beta, to);
}

static size_t block_size(const solution *s, size_t first) {
    return s->size - first < s->block ? s->size - first : s->block;
}

static void forward(const solution *s) {
    for (size_t first = 0; first < s->size; first += s->block) {
        size_t count = block_size(s, first);
        cl_matrix x = part_of(s, CL_MATRIX_A, first);
        if (first > 0)
            apply(s, count, first, -1, l_of(s, !s->left, first, 0), part_of(s, CL_MATRIX_C, 0), 1,
                  x);
        apply(s, count, count, 1, l_of(s, !s->left, first, first), x, 0,
              part_of(s, CL_MATRIX_C, first));
    }
}

static void backward(const solution *s) {
    for (size_t first = (s->size - 1) / s->block * s->block;; first -= s->block) {
        size_t count = block_size(s, first), after = first + count, rest = s->size - after;
        cl_matrix y = part_of(s, CL_MATRIX_C, first);
        if (rest > 0)
            apply(s, count, rest, -1, l_of(s, s->left, after, first),
                  part_of(s, CL_MATRIX_A, after), 1, y);
        apply(s, count, count, 1, l_of(s, s->left, first, first), y, 0,
              part_of(s, CL_MATRIX_A, first));
        if (first == 0) break;
    }
}

rb_error cl_solve(rb_device_work *work, const float *l, int64_t size, int64_t block, bool from_left,
                  const float *b, float *x, int64_t others) {
    cl_work *w = (cl_work *)work;
    solution s = {w, (size_t)size, (size_t)block, (size_t)others, from_left};
    size_t bytes = s.size * s.others * sizeof(float);
    cl_up(w, CL_MATRIX_B, s.size * s.size * sizeof(float), l);
    cl_bring(w, CL_MATRIX_A, bytes, b);
    forward(&s);
    backward(&s);
    cl_down(w, CL_MATRIX_A, bytes, x);
    int k = find_kept(w, x);
    if (k >= 0) cl_copy(w, CL_MATRIX_A, CL_KEPT + k, bytes);
    if (k >= 0) w->there[k] = !w->err;
    return w->err;
}
