/* The face of src/linalg: dense and sparse products, factorisations, kernels by processor.
 *
 * Everything above this room is written once: an rb_dense knows its type, and the functions here
 * branch on it. Results never depend on the number of threads: parallel products cut the *output*
 * into fixed tiles, and each tile walks the inner dimension in order on one thread.
 */
#ifndef RB_LINALG_H
#define RB_LINALG_H

#include "base/base.h"
#include <rarebit/matrix.h>
#include <rarebit/version.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* rows x cols, row-major, ld values from row to row. A view, unless made by rb_dense_new. */
typedef struct rb_dense {
    void *data;
    int64_t rows, cols, ld;
    rb_type type;
    int64_t spare; /* values behind a row that are nobody's: products may write them */
} rb_dense;

static inline size_t rb_type_size(rb_type type) {
    return type == RB_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* Zeros; free with rb_dense_free (an rb_dense of zeros is accepted). */
rb_error rb_dense_new(rb_context *ctx, rb_type type, int64_t rows, int64_t cols, rb_dense *out);
void rb_dense_free(rb_dense *dense);
/* The same, freed with the scratch, whose err it sets; `out` is zeros before. */
void rb_dense_take(rb_scratch *scratch, rb_type type, int64_t rows, int64_t cols, rb_dense *out);
/* Numbers that are only read as a column. */
static inline rb_dense rb_column(const double *values, int64_t count) {
    return (rb_dense){(void *)values, count, 1, 1, RB_FLOAT64};
}
/* Pointer to the start of a row. */
static inline void *rb_dense_row(rb_dense a, int64_t row) {
    return (char *)a.data + row * a.ld * (int64_t)rb_type_size(a.type);
}

/* Rows first .. first + count - 1, as a view; and a rectangle. */
static inline rb_dense rb_dense_rows(rb_dense a, int64_t first, int64_t count) {
    a.data = rb_dense_row(a, first);
    a.rows = count;
    return a;
}

static inline rb_dense rb_dense_part(rb_dense a, int64_t row, int64_t rows, int64_t col,
                                     int64_t cols) {
    a.data = (char *)rb_dense_row(a, row) + col * (int64_t)rb_type_size(a.type);
    a.rows = rows;
    a.spare = col + cols == a.cols ? a.spare : 0;
    a.cols = cols;
    return a;
}

/* Columns of a matrix whose rows of `cols` values are to be walked fast: they begin at even
 * addresses, which are not whole pages apart, for such share few sets of a cache. And the matrix
 * without those that are too many, which become spare. */
static inline int64_t rb_spaced(rb_type type, int64_t cols) {
    int64_t line = 64 / (int64_t)rb_type_size(type), half = line / 2;
    int64_t spaced = (cols + half - 1) / half * half;
    return spaced % (16 * line) ? spaced : spaced + line;
}

static inline rb_dense rb_dense_spare(rb_dense a, int64_t cols) {
    a.spare += a.cols - cols;
    a.cols = cols;
    return a;
}

/* One value: for corners and diagonals, not for loops over whole matrices. */
static inline double rb_dense_get(rb_dense a, int64_t row, int64_t col) {
    return rb_get(a.type, rb_dense_row(a, row), col);
}

static inline void rb_dense_set(rb_dense a, int64_t row, int64_t col, double value) {
    rb_put(a.type, rb_dense_row(a, row), col, value);
}

/* Copies, converting the type where it differs; shapes must agree. */
void rb_dense_copy(rb_dense from, rb_dense to);
void rb_dense_zero(rb_dense a);
/* Are all values of the lower triangle of a square matrix finite? */
bool rb_dense_is_finite(rb_dense a);
/* Values that are not 0; and their share, by each `every`th row. */
int64_t rb_dense_count(rb_dense a);
double rb_dense_share(rb_dense a, int64_t every);
/* to = from', of one type, or float64 as float32. */
void rb_dense_transpose(rb_dense from, rb_dense to);
/* Writes the lower triangle of a square matrix over its upper one; or rows of a band of it. */
void rb_dense_mirror(rb_dense a);
void rb_dense_mirror_rows(rb_dense a, int64_t first, int64_t count);

/* ---- bands: a length in parts as equal as multiples of 16 can be. A function of the length alone,
 * so that results do not depend on the number of threads ---- */

struct bands {
    int64_t length, size, count;
};

enum { RB_BAND_STEP = 16 };

/* `count` bands or a little fewer. */
static inline struct bands rb_cut(int64_t length, int64_t count) {
    int64_t steps = (length + count * RB_BAND_STEP - 1) / (count * RB_BAND_STEP);
    int64_t size = steps < 1 ? RB_BAND_STEP : steps * RB_BAND_STEP;
    return (struct bands){length, size, (length + size - 1) / size};
}

/* For products: wide, so that packing the operands costs the BLAS little (bands of 256 cost a fifth
 * more time than bands of 400 to 512), but at least `min` where they are not too narrow then. */
static inline int64_t rb_band_count(int64_t length, int64_t min) {
    enum { BAND = 640, NARROW = 128 };
    int64_t count = (length + BAND / 2) / BAND;
    count = count < 1 ? 1 : count;
    return count < min && length >= 2 * NARROW ? min : count;
}

static inline struct bands rb_cut_wide(int64_t length) {
    return rb_cut(length, rb_band_count(length, 2));
}

static inline int64_t rb_band_start(struct bands bands, int64_t index) {
    return index * bands.size;
}

static inline int64_t rb_band_size(struct bands bands, int64_t index) {
    int64_t left = bands.length - index * bands.size;
    return left < bands.size ? left : bands.size;
}

/* ---- products (BLAS) ---- */

/* Is there memory for the BLAS on all threads of the context, and for so many bytes besides? To be
 * asked before the first product: OpenBLAS takes 128 MB of address space a thread, of which it uses
 * little, and where it gets none it tries again for ever. RB_ERROR_MEMORY. */
rb_error rb_blas_need_memory(rb_context *ctx, int64_t bytes);

/* Around calls of BLAS and LAPACK that may take threads: it runs on the calling thread, whatever
 * the program has asked the BLAS for, which is then as it was. Any thread; what enter gives goes
 * to leave. */
int rb_blas_enter(void);
void rb_blas_leave(int of_thread);

typedef enum rb_side { RB_PLAIN = 0, RB_TRANSPOSED = 1 } rb_side;

/* C = alpha op(A) op(B) + beta C, on the calling thread. All of one type. */
void rb_gemm(double alpha, rb_dense a, rb_side op_a, rb_dense b, rb_side op_b, double beta,
             rb_dense c);
/* C = alpha op(A) op(A)' + beta C, lower triangle only, on the calling thread. */
void rb_syrk(double alpha, rb_dense a, rb_side op_a, double beta, rb_dense c);
/* X <- op(T) X, X <- X op(T), T lower triangular, on the calling thread. */
void rb_trmm_left(rb_dense t, rb_side op, rb_dense x);
void rb_trmm_right(rb_dense x, rb_dense t, rb_side op);
/* The same over the context's threads, by fixed tiles of C. rb_gemm_lower: only tiles that touch
 * the lower triangle of C are computed, for products that are symmetric by what they mean. */
void rb_gemm_parallel(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                      rb_side op_b, double beta, rb_dense c);
void rb_gemm_lower(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                   rb_side op_b, double beta, rb_dense c);

/* device.c: the same on the device of the fit at hand, if there is one and the product is large
 * enough, all of C; and X = (L L')^-1 X or X (L L')^-1, with L as spd.c has it. false: not done. */
bool rb_device_multiplies(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                          rb_side op_b, double beta, rb_dense c);
bool rb_device_solves(rb_context *ctx, rb_dense l, int64_t block, bool from_left, rb_dense b,
                      rb_dense x);
/* Lets a device, if there is one, keep a copy of loadings or filter until NULL: `keep` of
 * rarebit/device.h. */
void rb_device_keep(rb_context *ctx, const void *matrix);

/* Moments of a block of samples in one round of tasks: U += alpha V'M (features x units) and the
 * lower triangle of S += alpha M'M (units x units), V samples x features, M samples x units. */
void rb_moments_parallel(rb_context *ctx, double alpha, rb_dense v, rb_dense m, rb_dense u,
                         rb_dense s);
/* lists.c: the same, by lists of what is not 0 in M where that is faster. Of S above the diagonal
 * anything may be left. */
rb_error rb_moments_of_codes(rb_context *ctx, double alpha, rb_dense v, rb_dense m, rb_dense u,
                             rb_dense s);
/* The memory that takes, without some of each thread; 0 where there are no lists. */
double rb_moments_bytes(rb_type type, int64_t features, int64_t units);

/* Z = W T, T lower triangular, what is above its diagonal is not read. On the calling thread. With
 * S = T + T' symmetric, 2 <w_k, z_k> = w_k' S w_k for every row k, for half the work of W S. */
void rb_half_product(rb_dense w, rb_dense t, rb_dense z);

/* ---- symmetric positive definite matrices ---- */

/* A factorised matrix: the Cholesky factor, or the inverse where that is faster (small ones). The
 * factorisation is done in float64 whatever the type. Made once, used for every iteration. */
typedef struct rb_spd rb_spd;
rb_error rb_spd_new(rb_context *ctx, rb_type type, int64_t size, rb_spd **out);
void rb_spd_free(rb_spd *f);
/* Factorises A (lower triangle is read, A is not changed). RB_ERROR_NUMERIC when it is not positive
 * definite or not finite; the message says at which row. */
rb_error rb_spd_factor(rb_context *ctx, rb_spd *f, rb_dense a);
/* The same of second moments, which rounding may have left with eigenvalues below 0: where A cannot
 * be factorised its diagonal is raised by what rounding comes to, size times epsilon of itself,
 * then four times as much, and so on up to 1e-2 (1e-6 in float64). */
rb_error rb_spd_factor_moments(rb_context *ctx, rb_spd *f, rb_dense a);
double rb_spd_log_det(const rb_spd *f);
/* From now on factorises in the type of the caller, diagonal blocks apart: twice as fast in
 * float32, where solutions are of that type anyhow, but log determinants as well. */
void rb_spd_round(rb_spd *f);
/* X = A^-1, full. */
void rb_spd_inverse(rb_context *ctx, rb_spd *f, rb_dense x);
/* X = A^-1 B (B size x k); B and X may not overlap. Parallel. */
void rb_spd_solve_left(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x);
/* The same in two halves, with A = L L': X = L^-1 B, then X <- L^-T X. Not of small ones, which are
 * inverted. */
bool rb_spd_has_halves(const rb_spd *f);
void rb_spd_solve_half(rb_context *ctx, rb_spd *f, rb_dense b, rb_dense x);
void rb_spd_solve_other_half(rb_context *ctx, rb_spd *f, rb_dense x);
/* X = B A^-1 (B k x size), on the calling thread. */
void rb_spd_solve_right(const rb_spd *f, rb_dense b, rb_dense x);
/* The same at once on the device of the fit at hand; false: there is none, or this is too small. */
bool rb_spd_solves_whole(rb_context *ctx, const rb_spd *f, rb_dense b, rb_dense x);

/* X = A^-1 B for a small A, size x size values (lower triangle is read, A is overwritten), and
 * `count` right sides one after the other in b, which become X. On the calling thread. false, and
 * sides stay as they are, when A is not positive definite. */
bool rb_solve_small(int64_t size, double *a, int64_t count, double *b);

/* ---- non-negative least squares ----
 *
 * Of many samples that share a matrix: each minimises
 *     1/2 x'Gx - q'x   over x >= 0.
 * A unit without G_jj above 0 stays as it is. On the calling thread.
 */

typedef struct rb_nnls {
    rb_context *ctx;
    rb_dense gram;            /* G: units x units, full, rows without gaps */
    rb_dense tiles;           /* a row a worker */
    int64_t *orders;          /* of the units in sweeps, one after the other */
    struct rb_active *active; /* of each worker; or NULL */
} rb_nnls;

/* Where samples are: rows of units, or columns. */
typedef struct rb_nnls_samples {
    rb_dense linear, codes; /* q and x */
    bool across;            /* samples are columns */
    const int64_t *which;   /* count: these; NULL: the first ones */
    int64_t count;
} rb_nnls_samples;

/* For so many units, with arrays of the scratch; active: samples for which sweeps take too long
 * are solved by an active set, else they are left as they were. */
void rb_nnls_new(rb_scratch *scratch, rb_type type, int64_t units, bool active, rb_nnls *out);

/* Rows get better by sweeps: at most so many, until one gains less than `share` of the first. */
void rb_nnls_descend(const rb_nnls *s, int64_t sweeps, double share, rb_dense linear,
                     rb_dense codes, int worker);

/* Codes come as near to the minimum as `tolerance` times the largest code of a sample, or as
 * rounding lets them. */
void rb_nnls_solve(const rb_nnls *s, double tolerance, const rb_nnls_samples *samples, int worker);

/* By how much the last sweep changed codes, at most, and what share that was of the one before.
 * Zeros before the first. */
typedef struct rb_course {
    double change, share;
} rb_course;
/* Are codes of so many units at rest, after one more sweep: as near to where they go as `tolerance`
 * times the largest, or do they not get nearer for rounding? How far they are is the sum of the
 * changes to come, if these go on to shrink as in the slower of the last two sweeps. */
bool rb_at_rest(rb_type type, int64_t units, double tolerance, rb_course *course, double change,
                double largest);

/* One sample by an active set: active.c. */

typedef struct rb_active {
    double *x, *linear, *target, *matrix; /* x and q of all units */
    int64_t *support, count;              /* units that may be positive */
    int64_t max;                          /* so many at once */
} rb_active;

rb_active *rb_active_take(rb_scratch *scratch, int64_t units); /* for each worker */
/* From the x that is there to the minimum. */
void rb_active_solve(rb_dense gram, rb_active *active);

/* ---- eigenvalues of symmetric matrices ---- */

/* The smallest one; the lower triangle is read. RB_ERROR_NUMERIC when A is not finite. */
rb_error rb_smallest_eigenvalue(rb_context *ctx, rb_dense a, double *value);
/* A bound from above on the largest one of a positive definite full matrix, at most a few percent
 * too large: 32 steps of Lanczos with a margin, or the Frobenius norm where that is smaller. */
rb_error rb_largest_eigenvalue(rb_context *ctx, rb_dense a, double *value);

/* The `count` largest ones, descending, and the eigenvectors of unit length as rows (count x size,
 * float64); the lower triangle is read. On the calling thread. RB_ERROR_NUMERIC when A is not
 * finite. */
rb_error rb_largest_eigenvectors(rb_context *ctx, rb_dense a, int64_t count, double *values,
                                 rb_dense vectors);
/* R = A^-1/2 of a positive definite A (lower triangle, full result, float64); of eigenvalues below
 * `least` of the largest the eigenvectors are left out. */
rb_error rb_inverse_root(rb_context *ctx, rb_dense a, double least, rb_dense root);

/* The nearest matrix to A (full, float64) whose eigenvalues are between min and max, over A.
 * RB_ERROR_NUMERIC when A is not finite. */
rb_error rb_clamp_eigenvalues(rb_context *ctx, rb_dense a, double min, double max);

/* ---- sparse rows ---- */

/* Compressed rows in working precision, a view: the entries of row i are those from starts[i] -
 * starts[0] up to, not including, starts[i + 1] - starts[0]; their columns ascend. */
typedef struct rb_csr {
    int64_t rows, cols;
    const int64_t *starts;  /* rows + 1; starts[0] may be above 0 in a slice of a larger matrix */
    const int32_t *columns; /* of entry e: columns[e - starts[0]] */
    const void *values;
    rb_type type;
} rb_csr;

/* V' as compressed rows, samples ascending in each: into arrays the caller provides, starts[cols +
 * 1], columns and values as long as the entries of V. */
void rb_csr_transpose(rb_csr v, int64_t *starts, int32_t *columns, void *values);
/* Memory for compressed rows, used again; zero-initialise. */
typedef struct rb_csr_memory {
    rb_buffer starts, columns, values;
} rb_csr_memory;
void rb_csr_memory_free(rb_csr_memory *memory);
/* V' as compressed rows, valid until the next call with that memory. */
rb_error rb_csr_turn(rb_context *ctx, rb_csr_memory *memory, rb_csr v, rb_csr *turned);
/* Likewise what of A is not 0; and of factor A, into arrays the caller provides: starts[rows + 1],
 * columns and values one longer than what is not 0. */
rb_error rb_csr_compress(rb_context *ctx, rb_csr_memory *memory, rb_dense a, rb_csr *rows);
rb_csr rb_csr_list(const rb_context *ctx, double factor, rb_dense a, int64_t *starts,
                   int32_t *columns, void *values);
/* U += factor V'M, parallel over the rows of U. */
void rb_csr_add_cross(rb_context *ctx, rb_csr v, double factor, rb_dense m, rb_dense u);

/* ---- kernels: one source (isa/), compiled once for each instruction set and type ---- */

enum { RB_DESCENT_SAMPLES = 128, RB_DESCENT_UNITS = 8 };

/* Samples that share 1/2 x'Gx - q'x, x >= 0, for sweeps over the units; a unit with G_jj = 0 stays.
 * Without gaps. */
typedef struct rb_descent {
    int64_t units;
    const void *gram;        /* units x units */
    void *linear, *codes;    /* q and x: units x RB_DESCENT_SAMPLES */
    void *steps;             /* of each sample */
    void *changes, *largest; /* of each sample, out: the largest change, the largest code */
    void *rows;              /* RB_DESCENT_UNITS x units: scratch */
} rb_descent;

/* Of one type: every pointer is to n values of it unless it says otherwise. NaN stays NaN. */
struct rb_type_kernels {
    /* sum of x_i y_i, accumulated in the type in fixed lanes, summed in float64 */
    double (*dot)(int64_t n, const void *x, const void *y);
    /* y += alpha x */
    void (*axpy)(int64_t n, double alpha, const void *x, void *y);
    /* z += alpha x_i y_i */
    void (*add_products)(int64_t n, double alpha, const void *x, const void *y, void *z);
    /* out = (x - shift) * factor; factor NULL: 1 */
    void (*shift_scale)(int64_t n, const void *x, const void *shift, const void *factor, void *out);
    /* as rb_rectify */
    void (*rectify)(int64_t rows, int64_t cols, int64_t ld, void *x, const void *bias, double *sum,
                    double *largest);
    /* out += factors_k rows_k of `count` rows, ld values apart */
    void (*add_rows)(int64_t n, int64_t count, const double *factors, const void *rows, int64_t ld,
                     void *out);
    /* out = max(0, x + factor y); the sum of its squares. out may be x or y */
    double (*step_row)(int64_t n, double factor, const void *x, const void *y, void *out);
    /* codes <- factor target, and changes <- what that changed; largest_i <- max(largest_i,
     * |change_i|), unless it is NULL */
    void (*settle_row)(int64_t n, double factor, const void *target, void *codes, void *changes,
                       void *largest);
    /* sums <- u.w, z.w, u.t, and then w <- w + share (t - w) */
    void (*move_row)(int64_t n, double share, const void *u, const void *z, const void *t, void *w,
                     double sums[3]);
    /* Of the values that are not 0: their places, and the values times the factor, both with room
     * for n; how many. */
    int64_t (*compress)(int64_t n, double factor, const void *x, int32_t *columns, void *values);
    /* OUT = V B, or with `add` OUT += V B, for rows first, first + 1 .. of V, as many as OUT has */
    void (*csr)(rb_csr v, int64_t first, rb_dense b, bool add, rb_dense out);
    /* OUT += factor V'B: its rows from begin up to, not including, end; in the order of V's rows */
    void (*csr_cross)(rb_csr v, double factor, rb_dense b, int64_t begin, int64_t end,
                      rb_dense out);
    /* upper triangle <- lower triangle, rows first .. end - 1 of it, first a multiple of 16 */
    void (*mirror)(int64_t first, int64_t end, void *a, int64_t ld);
    void (*widen)(int64_t n, const void *x, double *out);
    void (*narrow)(int64_t n, double factor, const double *x, void *out);
    /* out = (x - centre) / scale, in float64 and then rounded; are all finite? out is none of
     * the others */
    bool (*standardize)(int64_t n, const double *x, const double *centre, const double *scale,
                        void *out);
    /* out_i = x_i where words_i is at least the threshold; else low_i for its lower half, high_i
     * for the upper one. low and high NULL: 0. out may be x */
    void (*replace_row)(int64_t n, const uint32_t *words, uint32_t threshold, const void *low,
                        const void *high, const void *x, void *out);
    /* out = x + factor * floats. out may be x */
    void (*add_floats)(int64_t n, double factor, const float *floats, const void *x, void *out);
    /* squares_i += x_i^2; then x_i <- 0 where words_i is below the threshold; then sum_i += x_i */
    void (*drop_row)(int64_t n, const uint32_t *words, uint32_t threshold, void *x, double *sum,
                     double *squares);
    /* sum_i += x_i - pivot_i, and squares_i the square of that */
    void (*add_squares)(int64_t n, const void *x, const double *pivot, double *sum,
                        double *squares);
    /* there_i = 1, or 0 where x_i is NaN, which becomes 0 */
    void (*split_row)(int64_t n, void *x, void *there);
    /* x_i = y_i where there_i is 0 and x_i was; squares_i += y_i^2 there */
    void (*fill_row)(int64_t n, const void *there, const void *y, void *x, double *squares);
    /* One sweep over the units, in this order: each code goes `steps` times as far as to what is
     * best given the others. Returns the sum of G_jj / 2 times the squared changes: by so much at
     * least, where steps are 1, the sum over all samples is lower. */
    double (*descend)(const rb_descent *d, const int64_t *order);
    /* The same for one sample, each unit going `step` times as far: rest is q - G x, and is so
     * again. Gives the largest change, and the largest code. */
    double (*descend_one)(int64_t units, const int64_t *order, double step, const void *gram,
                          void *rest, void *codes, double *largest);
    /* out = factor x */
    void (*scale)(int64_t n, double factor, const void *x, void *out);
    /* x moves towards 0 by the threshold, and not beyond */
    void (*shrink)(int64_t n, double threshold, void *x);
    /* C = alpha A B + beta C, or with `across` alpha A'B + beta C: C of at least 4 columns, A with
     * at least a term, alpha not 0. By columns: they are at most few_bytes. No value of C depends
     * on the others, nor on their number. */
    void (*few)(double alpha, rb_dense a, bool across, rb_dense b, double beta, rb_dense c,
                bool by_columns);
    /* to = from', rows x cols values of it */
    void (*transpose)(int64_t rows, int64_t cols, const void *from, int64_t ld_from, void *to,
                      int64_t ld_to);
};

enum { RB_SWEEP_PAD = 8 };

struct rb_kernels {
    const char *name;
    struct rb_type_kernels of[2]; /* by rb_type */
    /* Products that a BLAS does more slowly: those of so many bytes a row of C, or of so many rows,
     * at most. 0: there are none. */
    int64_t few_bytes, few_rows;
    /* Turns the lower triangle of a positive definite matrix into that of minus its inverse, in
     * place. a has rows and ld rounded up to RB_SWEEP_PAD; the upper triangle and the padding are
     * overwritten with nothing of use. work: RB_SWEEP_PAD * ld values. Returns -1, or the first row
     * whose pivot is not positive and finite. */
    int64_t (*sweep)(int64_t n, double *a, int64_t ld, double *work, double *log_det);
    /* words[i] = rb_random_word(key, row, i); memory for n rounded up to RB_RANDOM_RUN */
    void (*random_row)(uint64_t key, uint64_t row, int64_t n, uint32_t *words);
    /* Normal numbers, mean 0, sd 1, from the words of the row; memory likewise. To within 1e-5 the
     * same for all kernels. */
    void (*normal_row)(uint64_t key, uint64_t row, int64_t n, float *values);
};

/* The best that this processor can run; and those of a context, or the best where it is NULL. */
const struct rb_kernels *rb_kernels_best(void);
const struct rb_kernels *rb_kernels_of(const rb_context *ctx);

/* Those that much is written with. */
double rb_dot(const rb_context *ctx, rb_type type, int64_t n, const void *x, const void *y);
void rb_axpy(const rb_context *ctx, rb_type type, int64_t n, double alpha, const void *x, void *y);
void rb_shift_scale(const rb_context *ctx, rb_type type, int64_t n, const void *x,
                    const void *shift, const void *factor, void *out);
/* X <- max(0, X + bias_j); bias (X.cols values) may be NULL. sum[j] = sum over rows of the result,
 * largest[j] = maximum over rows of X + bias before rectifying. */
void rb_rectify(const rb_context *ctx, rb_dense x, const void *bias, double *sum, double *largest);

#pragma GCC visibility pop

#endif
