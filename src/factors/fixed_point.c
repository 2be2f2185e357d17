/* The fixed point of maximum likelihood factor analysis (K. Joereskog, "Some contributions to
 * maximum likelihood factor analysis", Psychometrika 32, 1967; D. Barber, "Bayesian reasoning and
 * machine learning", 2012, section 21.2.2): for given noise variances the best loadings are
 *
 *     W = Psi^1/2 Z (Lambda - I)+^1/2,   Psi^-1/2 C Psi^-1/2 = Z Lambda Z' + ...
 *
 * with the largest eigenvalues, and then psi_k = c_k - w_k'w_k. It takes tens of iterations where
 * EM takes thousands. Everything comes from C = V'V / n, features x features, known after one pass.
 * Of fewer samples than features C = R'R has no more rows in R than samples, and the eigenvectors
 * come from the small R Psi^-1 R': Z = Psi^-1/2 R' U Lambda^-1/2.
 *
 * Psi moves little from one iteration to the next, and Z with it. Of large matrices two steps of
 * subspace iteration (H. Rutishauser, Numer. Math. 13, 1969) from the Z before, and some more
 * directions, are enough: Y = Psi^-1/2 C Psi^-1/2 Z, with Lambda^2 and Z anew from Y'Y. Where psi
 * rests by that, all is found once more from the matrix.
 */
#include "fa.h"

#include <math.h>

static const double LN_2PI = 1.8378770664093454836;

/* C, or Psi^-1/2 C Psi^-1/2; the lower triangle. */
static void take_covariance(const factors *fa, bool scaled, rb_dense a) {
    double n = (double)fa->base.problem.n_samples;
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j <= i; j++)
            rb_dense_set(a, i, j,
                         rb_dense_get(fa->products, i, j) / n /
                             (scaled ? sqrt(fa->noise[i] * fa->noise[j]) : 1));
}

rb_error fa_root(rb_context *ctx, factors *fa) {
    int64_t rank = fa->root.rows, m = fa->root.cols;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense c = {0};
    double *values = rb_take(&scratch, rank, sizeof *values);
    rb_dense_take(&scratch, RB_FLOAT64, m, m, &c);
    if (!scratch.err) {
        take_covariance(fa, false, c);
        scratch.err = rb_largest_eigenvectors(ctx, c, rank, values, fa->root);
    }
    for (int64_t r = 0; r < rank && !scratch.err; r++)
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(fa->root, r, k, sqrt(fmax(values[r], 0)) * rb_dense_get(fa->root, r, k));
    return rb_scratch_end(&scratch);
}

static rb_error eigen_of_covariance(rb_context *ctx, const factors *fa, int64_t count,
                                    double *values, rb_dense vectors) {
    rb_scratch scratch = {.ctx = ctx};
    rb_dense a = {0};
    rb_dense_take(&scratch, RB_FLOAT64, vectors.cols, vectors.cols, &a);
    if (!scratch.err) {
        take_covariance(fa, true, a);
        scratch.err = rb_largest_eigenvectors(ctx, a, count, values, vectors);
    }
    return rb_scratch_end(&scratch);
}

static rb_error eigen_of_root(rb_context *ctx, const factors *fa, int64_t count, double *values,
                              rb_dense vectors) {
    int64_t rank = fa->root.rows, m = fa->root.cols;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense b = {0}, gram = {0}, u = {0};
    rb_dense_take(&scratch, RB_FLOAT64, rank, m, &b);
    rb_dense_take(&scratch, RB_FLOAT64, rank, rank, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, count, rank, &u);
    for (int64_t r = 0; r < rank && !scratch.err; r++)
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(b, r, k, rb_dense_get(fa->root, r, k) / sqrt(fa->noise[k]));
    if (!scratch.err) {
        rb_gemm_lower(ctx, 1, b, RB_PLAIN, b, RB_TRANSPOSED, 0, gram);
        scratch.err = rb_largest_eigenvectors(ctx, gram, count, values, u);
    }
    for (int64_t j = 0; j < count && !scratch.err; j++)
        for (int64_t r = 0; r < rank; r++)
            rb_dense_set(u, j, r, values[j] > 0 ? rb_dense_get(u, j, r) / sqrt(values[j]) : 0);
    if (!scratch.err) rb_gemm_parallel(ctx, 1, u, RB_PLAIN, b, RB_PLAIN, 0, vectors);
    return rb_scratch_end(&scratch);
}

/* Where no noise variance changes by more than this share of itself, the point is reached. */
static const double SETTLED = 1e-5;

static void set_parameters(factors *fa, int64_t count, const double *values, rb_dense vectors,
                           double *sizes) {
    rb_dense w = fa->loadings;
    rb_dense_zero(w);
    fa->base.done = true;
    for (int64_t j = 0; j < count; j++)
        sizes[j] = sqrt(fmax(values[j] - 1, 0));
    for (int64_t k = 0; k < w.rows; k++) {
        double squares = 0, root = sqrt(fa->noise[k]);
        for (int64_t j = 0; j < count; j++) {
            double x = root * rb_dense_get(vectors, j, k) * sizes[j];
            rb_dense_set(w, k, j, x);
            squares += x * x;
        }
        double noise = fmax(fa->second[k] - squares, fa_noise_min(fa, k));
        fa->base.done &= fabs(noise - fa->noise[k]) <= SETTLED * noise;
        fa->noise[k] = noise;
    }
}

/* The log-likelihood, and the scale of the codes, B'C B: with B = Psi^-1 W Sigma
 *     L = -1/2 (m ln 2 pi + ln |Psi| + ln |I + W'Psi^-1 W| + sum_k c_k / psi_k
 *               - <C Psi^-1 W, B>) */
static rb_error measure(rb_context *ctx, factors *fa) {
    rb_error err = fa_posterior_set(ctx, fa->loadings, fa->noise, &fa->posterior);
    if (err) return err;
    const fa_posterior *p = &fa->posterior;
    double n = (double)fa->base.problem.n_samples;
    double value = (double)fa->loadings.rows * LN_2PI + p->noise_log_det + p->log_det;
    rb_dense cb = fa->moment;
    rb_gemm_parallel(ctx, 1 / n, fa->products, RB_PLAIN, p->filter, RB_PLAIN, 0, cb);
    for (int64_t j = 0; j < cb.cols; j++)
        fa->scale[j] = 0;
    for (int64_t k = 0; k < cb.rows; k++) {
        value += fa->second[k] / fa->noise[k] -
                 rb_dot(ctx, cb.type, cb.cols, rb_dense_row(cb, k), rb_dense_row(p->weighted, k));
        for (int64_t j = 0; j < cb.cols; j++)
            fa->scale[j] += rb_dense_get(cb, k, j) * rb_dense_get(p->filter, k, j);
    }
    for (int64_t j = 0; j < cb.cols; j++)
        fa->scale[j] = sqrt(fmax(fa->scale[j], 0));
    fa->base.objective = -value / 2;
    return RB_OK;
}

int64_t fa_subspace(const rb_problem *problem, int64_t units) {
    enum { MORE = 12, SHARE = 8 };
    int64_t m = problem->n_features, rank = rb_smaller(problem->n_samples, m), width = units + MORE;
    return SHARE * width * m <= rank * rank ? width : 0;
}

static void scale_columns(rb_dense a, const double *by) {
    for (int64_t j = 0; j < a.rows; j++)
        for (int64_t k = 0; k < a.cols; k++)
            rb_dense_set(a, j, k, rb_dense_get(a, j, k) * by[k]);
}

/* Y: what the matrix makes of the subspace, which is scratch then. */
static void turn_subspace(rb_context *ctx, factors *fa, const double *scale, rb_dense y) {
    double n = (double)fa->base.problem.n_samples;
    scale_columns(fa->subspace, scale);
    rb_gemm_parallel(ctx, 1 / n, fa->subspace, RB_PLAIN, fa->wide, RB_PLAIN, 0, y);
    scale_columns(y, scale);
}

/* One step; the rows of the subspace become the vectors. */
static rb_error eigen_of_subspace(rb_context *ctx, factors *fa, double *values) {
    int64_t width = fa->subspace.rows, m = fa->subspace.cols;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense y = {0}, gram = {0}, turn = {0};
    double *scale = rb_take(&scratch, m, sizeof *scale);
    rb_dense_take(&scratch, RB_FLOAT64, width, m, &y);
    rb_dense_take(&scratch, RB_FLOAT64, width, width, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, width, width, &turn);
    for (int64_t k = 0; k < m && !scratch.err; k++)
        scale[k] = 1 / sqrt(fa->noise[k]);
    if (!scratch.err) {
        turn_subspace(ctx, fa, scale, y);
        rb_gemm_lower(ctx, 1, y, RB_PLAIN, y, RB_TRANSPOSED, 0, gram);
        scratch.err = rb_largest_eigenvectors(ctx, gram, width, values, turn);
    }
    for (int64_t j = 0; j < width && !scratch.err; j++) {
        values[j] = sqrt(fmax(values[j], 0));
        for (int64_t i = 0; i < width; i++)
            rb_dense_set(turn, j, i, values[j] > 0 ? rb_dense_get(turn, j, i) / values[j] : 0);
    }
    if (!scratch.err) rb_gemm_parallel(ctx, 1, turn, RB_PLAIN, y, RB_PLAIN, 0, fa->subspace);
    return rb_scratch_end(&scratch);
}

static rb_error eigen_nearby(rb_context *ctx, factors *fa, double *values, rb_dense vectors) {
    enum { STEPS = 2 };
    rb_error err = RB_OK;
    for (int step = 0; !err && step < STEPS; step++)
        err = eigen_of_subspace(ctx, fa, values);
    if (!err) rb_dense_copy(fa->subspace, vectors);
    return err;
}

static rb_error find_eigen(rb_context *ctx, factors *fa, double *values, rb_dense vectors) {
    if (fa->nearby && fa->subspace.rows > 0) return eigen_nearby(ctx, fa, values, vectors);
    rb_error err = fa->root.rows > 0 ? eigen_of_root(ctx, fa, vectors.rows, values, vectors)
                                     : eigen_of_covariance(ctx, fa, vectors.rows, values, vectors);
    if (!err && fa->subspace.rows > 0) rb_dense_copy(vectors, fa->subspace);
    return err;
}

rb_error fa_fixed_point(rb_context *ctx, factors *fa) {
    int64_t m = fa->loadings.rows, l = fa->loadings.cols, width = fa->subspace.rows;
    int64_t rank = fa->root.rows > 0 ? fa->root.rows : m, count = rb_smaller(l, rank);
    rb_scratch scratch = {.ctx = ctx};
    rb_dense vectors = {0};
    double *values = rb_take(&scratch, width > 0 ? width : count, sizeof *values);
    rb_dense_take(&scratch, RB_FLOAT64, width > 0 ? width : count, m, &vectors);
    if (!scratch.err) scratch.err = find_eigen(ctx, fa, values, vectors);
    if (!scratch.err) {
        set_parameters(fa, count, values, vectors, fa->scale); /* which is set by `measure` */
        bool rests = fa->base.done, rough = fa->nearby;
        fa->nearby = width > 0 && !rests;
        fa->base.done = rests && !rough;
        scratch.err = measure(ctx, fa);
    }
    return rb_scratch_end(&scratch);
}
