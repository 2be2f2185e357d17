/* Dense products: BLAS on the calling thread, and fixed tiles of the output over the threads. */
#include "linalg.h"

#include <cblas.h>

/* ---- on the calling thread ----
 *
 * The BLAS counts in int. Rows of a matrix are shorter than 2^31 (rb_dense_new), but there may be
 * more of them: these are taken in pieces. */

enum { PIECE = 1 << 30 };

static enum CBLAS_TRANSPOSE cblas_side(rb_side side) {
    return side == RB_TRANSPOSED ? CblasTrans : CblasNoTrans;
}

static int blas_ld(rb_dense a) {
    return a.ld > 0 ? (int)a.ld : 1;
}

static void scale(double beta, rb_dense c, bool lower) {
    for (int64_t i = 0; beta != 1 && i < c.rows; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : c.cols); j++)
            rb_dense_set(c, i, j, beta == 0 ? 0 : beta * rb_dense_get(c, i, j));
}

/* Columns of op(X), and rows of it. */
static rb_dense cols_of(rb_dense x, rb_side op, int64_t first, int64_t count) {
    return op == RB_TRANSPOSED ? rb_dense_rows(x, first, count)
                               : rb_dense_part(x, 0, x.rows, first, count);
}

static rb_dense rows_of(rb_dense x, rb_side op, int64_t first, int64_t count) {
    return cols_of(x, op == RB_TRANSPOSED ? RB_PLAIN : RB_TRANSPOSED, first, count);
}

static void multiply(double alpha, rb_dense a, rb_side op_a, rb_dense b, rb_side op_b, double beta,
                     rb_dense c) {
    int64_t inner = op_a == RB_TRANSPOSED ? a.rows : a.cols;
    if (c.rows == 0 || c.cols == 0) return;
    if (inner == 0) {
        scale(beta, c, false);
        return;
    }
    if (c.rows > PIECE) {
        int64_t rest = c.rows - PIECE;
        multiply(alpha, rows_of(a, op_a, 0, PIECE), op_a, b, op_b, beta,
                 rb_dense_rows(c, 0, PIECE));
        multiply(alpha, rows_of(a, op_a, PIECE, rest), op_a, b, op_b, beta,
                 rb_dense_rows(c, PIECE, rest));
        return;
    }
    if (inner > PIECE) {
        int64_t rest = inner - PIECE;
        multiply(alpha, cols_of(a, op_a, 0, PIECE), op_a, rows_of(b, op_b, 0, PIECE), op_b, beta,
                 c);
        multiply(alpha, cols_of(a, op_a, PIECE, rest), op_a, rows_of(b, op_b, PIECE, rest), op_b, 1,
                 c);
        return;
    }
    int rows = (int)c.rows, cols = (int)c.cols, depth = (int)inner, entered = rb_blas_enter();
    if (c.type == RB_FLOAT32) {
        cblas_sgemm(CblasRowMajor, cblas_side(op_a), cblas_side(op_b), rows, cols, depth,
                    (float)alpha, a.data, blas_ld(a), b.data, blas_ld(b), (float)beta, c.data,
                    blas_ld(c));
    } else {
        cblas_dgemm(CblasRowMajor, cblas_side(op_a), cblas_side(op_b), rows, cols, depth, alpha,
                    a.data, blas_ld(a), b.data, blas_ld(b), beta, c.data, blas_ld(c));
    }
    rb_blas_leave(entered);
}

/* Has it so many values that they are in no near cache? */
static bool is_large(rb_dense x) {
    enum { LARGE = 1 << 16 };
    return x.cols > 0 && x.rows >= LARGE / x.cols;
}

/* Products with a large operand that the BLAS would copy to no use. */
enum few { NOT_FEW, FEW_COLUMNS, FEW_ROWS };

enum { NARROWEST = 4 }; /* columns of C that the kernel takes */

static enum few few_of(rb_dense a, rb_side op_b, rb_dense b, rb_dense c) {
    const struct rb_kernels *kernels = rb_kernels_best();
    if (op_b == RB_TRANSPOSED || c.cols < NARROWEST || b.rows == 0) return NOT_FEW;
    if (c.cols * (int64_t)rb_type_size(c.type) <= kernels->few_bytes)
        return is_large(a) ? FEW_COLUMNS : NOT_FEW;
    return c.rows <= kernels->few_rows && is_large(b) ? FEW_ROWS : NOT_FEW;
}

static void multiply_by(enum few few, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                        rb_side op_b, double beta, rb_dense c) {
    if (few == NOT_FEW)
        multiply(alpha, a, op_a, b, op_b, beta, c);
    else
        rb_kernels_best()->of[c.type].few(alpha, a, op_a == RB_TRANSPOSED, b, beta, c,
                                          few == FEW_COLUMNS);
}

void rb_gemm(double alpha, rb_dense a, rb_side op_a, rb_dense b, rb_side op_b, double beta,
             rb_dense c) {
    multiply_by(few_of(a, op_b, b, c), alpha, a, op_a, b, op_b, beta, c);
}

/* X <- op(T) X or X op(T), T lower triangular. */
static void multiply_triangle(enum CBLAS_SIDE side, enum CBLAS_TRANSPOSE op, rb_dense t,
                              rb_dense x) {
    int rows = (int)x.rows, cols = (int)x.cols, ldt = (int)t.ld, ldx = (int)x.ld;
    int entered = rb_blas_enter();
    if (x.type == RB_FLOAT32) {
        cblas_strmm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, t.data, ldt,
                    x.data, ldx);
    } else {
        cblas_dtrmm(CblasRowMajor, side, CblasLower, op, CblasNonUnit, rows, cols, 1, t.data, ldt,
                    x.data, ldx);
    }
    rb_blas_leave(entered);
}

void rb_trmm_left(rb_dense t, rb_side op, rb_dense x) {
    multiply_triangle(CblasLeft, cblas_side(op), t, x);
}

void rb_trmm_right(rb_dense x, rb_dense t, rb_side op) {
    for (; x.rows > PIECE; x = rb_dense_rows(x, PIECE, x.rows - PIECE))
        multiply_triangle(CblasRight, cblas_side(op), t, rb_dense_rows(x, 0, PIECE));
    multiply_triangle(CblasRight, cblas_side(op), t, x);
}

void rb_syrk(double alpha, rb_dense a, rb_side op_a, double beta, rb_dense c) {
    int64_t inner = op_a == RB_TRANSPOSED ? a.rows : a.cols;
    if (c.rows == 0) return;
    if (inner == 0) {
        scale(beta, c, true);
        return;
    }
    if (inner > PIECE) {
        rb_syrk(alpha, cols_of(a, op_a, 0, PIECE), op_a, beta, c);
        rb_syrk(alpha, cols_of(a, op_a, PIECE, inner - PIECE), op_a, 1, c);
        return;
    }
    int rows = (int)c.rows, depth = (int)inner, entered = rb_blas_enter();
    if (c.type == RB_FLOAT32) {
        cblas_ssyrk(CblasRowMajor, CblasLower, cblas_side(op_a), rows, depth, (float)alpha, a.data,
                    blas_ld(a), (float)beta, c.data, blas_ld(c));
    } else {
        cblas_dsyrk(CblasRowMajor, CblasLower, cblas_side(op_a), rows, depth, alpha, a.data,
                    blas_ld(a), beta, c.data, blas_ld(c));
    }
    rb_blas_leave(entered);
}

/* ---- tiles ---- */

struct product {
    double alpha, beta;
    rb_dense a, b, c;
    rb_side op_a, op_b;
    bool lower; /* only tiles that touch the lower triangle of C */
    struct bands rows, cols;
    int64_t tiles;
    enum few few; /* of the whole product, not of a tile */
};

/* How few columns or rows are cut shows in no value. */
static void cut_few(struct product *p, int64_t threads) {
    p->rows = rb_cut(p->c.rows, p->few == FEW_COLUMNS ? threads : 1);
    p->cols = rb_cut(p->c.cols, p->few == FEW_ROWS ? threads : 1);
    p->tiles = p->rows.count * p->cols.count;
    if (p->tiles > 0 && rb_band_size(p->cols, p->cols.count - 1) < NARROWEST)
        cut_few(p, threads - 1);
}

static void cut(struct product *p, int threads) {
    if (p->lower) {
        p->rows = p->cols = rb_cut_wide(p->c.rows);
        p->tiles = p->rows.count * (p->rows.count + 1) / 2;
        return;
    }
    p->few = few_of(p->a, p->op_b, p->b, p->c);
    if (p->few) {
        cut_few(p, threads);
        return;
    }
    int64_t rows = rb_band_count(p->c.rows, 1), cols = rb_band_count(p->c.cols, 1);
    int64_t min = rows * cols == 1 ? 2 : 1;
    p->rows = rb_cut(p->c.rows, rb_band_count(p->c.rows, min));
    p->cols = rb_cut(p->c.cols, rb_band_count(p->c.cols, min));
    p->tiles = p->rows.count * p->cols.count;
}

static void compute_part(const struct product *p, int64_t row, int64_t rows, int64_t col,
                         int64_t cols) {
    rb_dense a = rows_of(p->a, p->op_a, row, rows), b = cols_of(p->b, p->op_b, col, cols);
    rb_dense c = rb_dense_part(p->c, row, rows, col, cols);
    multiply_by(p->few, p->alpha, a, p->op_a, b, p->op_b, p->beta, c);
}

/* The lower triangle of the square on the diagonal at `first`: a rank-k update where both operands
 * are the same matrix, else by halves down to squares of DIAGONAL. */
enum { DIAGONAL = 128 };

static void compute_diagonal(const struct product *p, int64_t first, int64_t size) {
    if (p->a.data == p->b.data && p->a.ld == p->b.ld && p->op_a != p->op_b) {
        rb_syrk(p->alpha, rows_of(p->a, p->op_a, first, size), p->op_a, p->beta,
                rb_dense_part(p->c, first, size, first, size));
    } else if (size <= DIAGONAL) {
        compute_part(p, first, size, first, size);
    } else {
        int64_t half = size / 2 / RB_BAND_STEP * RB_BAND_STEP;
        compute_diagonal(p, first, half);
        compute_part(p, first + half, size - half, first, half);
        compute_diagonal(p, first + half, size - half);
    }
}

/* Tiles of products that follow each other; of a lower triangle row by row. */
static void compute_tile(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct product *p = arg;
    for (; index >= p->tiles; p++)
        index -= p->tiles;
    int64_t row = 0, length = p->lower ? 1 : p->cols.count; /* tiles of the row */
    for (; index >= length; row++) {
        index -= length;
        length += p->lower;
    }
    int64_t first = rb_band_start(p->rows, row), rows = rb_band_size(p->rows, row);
    if (p->lower && index == row)
        compute_diagonal(p, first, rows);
    else
        compute_part(p, first, rows, rb_band_start(p->cols, index), rb_band_size(p->cols, index));
}

/* Of a lower triangle half the rows count. */
static rb_phase begin_product(const rb_context *ctx, const struct product *p) {
    int64_t inner = p->op_a == RB_TRANSPOSED ? p->a.rows : p->a.cols;
    return rb_phase_product(ctx, p->lower ? p->c.rows / 2 : p->c.rows, inner, p->c.cols,
                            rb_type_size(p->c.type));
}

/* All tiles in one round of tasks. */
static void compute(rb_context *ctx, struct product *products, int count) {
    int64_t tiles = 0;
    rb_phase before = begin_product(ctx, &products[0]);
    for (int i = 0; i < count; i++) {
        cut(&products[i], rb_context_threads(ctx));
        tiles += products[i].tiles;
        if (i > 0) begin_product(ctx, &products[i]);
    }
    rb_parallel(ctx, tiles, compute_tile, products);
    rb_phase_end(ctx, before);
}

void rb_gemm_parallel(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                      rb_side op_b, double beta, rb_dense c) {
    struct product p = {
        .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c, .op_a = op_a, .op_b = op_b};
    if (!rb_device_multiplies(ctx, alpha, a, op_a, b, op_b, beta, c)) compute(ctx, &p, 1);
}

void rb_gemm_lower(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                   rb_side op_b, double beta, rb_dense c) {
    struct product p = {alpha, beta, a, b, c, op_a, op_b, true, {0}, {0}, 0};
    if (!rb_device_multiplies(ctx, alpha, a, op_a, b, op_b, beta, c)) compute(ctx, &p, 1);
}

void rb_moments_parallel(rb_context *ctx, double alpha, rb_dense v, rb_dense m, rb_dense u,
                         rb_dense s) {
    struct product both[] = {{alpha, 1, v, m, u, RB_TRANSPOSED, RB_PLAIN, false, {0}, {0}, 0},
                             {alpha, 1, m, m, s, RB_TRANSPOSED, RB_PLAIN, true, {0}, {0}, 0}};
    compute(ctx, both, 2);
}

/* ---- triangular ---- */

/* By halves down to squares of SQUARE, Z1 = W1 T11 + W2 T21, Z2 = W2 T22: the BLAS is faster at
 * full products than at triangular ones. */
void rb_half_product(rb_dense w, rb_dense t, rb_dense z) {
    enum { SQUARE = 512 };
    if (t.rows <= SQUARE) {
        rb_dense_copy(w, z);
        rb_trmm_right(z, t, RB_PLAIN);
        return;
    }
    int64_t half = (t.rows / 2 + RB_BAND_STEP - 1) / RB_BAND_STEP * RB_BAND_STEP;
    int64_t rest = t.rows - half;
    rb_dense right = rb_dense_part(w, 0, w.rows, half, rest);
    rb_dense z_left = rb_dense_part(z, 0, z.rows, 0, half);
    rb_half_product(rb_dense_part(w, 0, w.rows, 0, half), rb_dense_part(t, 0, half, 0, half),
                    z_left);
    rb_gemm(1, right, RB_PLAIN, rb_dense_part(t, half, rest, 0, half), RB_PLAIN, 1, z_left);
    rb_half_product(right, rb_dense_part(t, half, rest, half, rest),
                    rb_dense_part(z, 0, z.rows, half, rest));
}
