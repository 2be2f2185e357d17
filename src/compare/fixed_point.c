/* The fixed point of maximum likelihood factor analysis (K. Joereskog, "Some contributions to
 * maximum likelihood factor analysis", Psychometrika 32, 1967; D. Barber, "Bayesian reasoning and
 * machine learning", 2012, section 21.2.2): for given noise variances the best loadings are
 *
 *     W = Psi^1/2 Z (Lambda - I)+^1/2,   Psi^-1/2 C Psi^-1/2 = Z Lambda Z' + ...
 *
 * with the largest eigenvalues, and then psi_k = c_k - w_k'w_k. It takes tens of iterations where
 * EM takes thousands. Everything comes from C = V'V / n, features x features, known after one pass.
 */
#include "factors.h"

#include <math.h>

static const double LN_2PI = 1.8378770664093454836;

static void scale_covariance(const factors *fa, rb_dense a) {
    double n = (double)fa->problem.n_samples;
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j <= i; j++)
            rb_dense_set(a, i, j,
                         rb_dense_get(fa->products, i, j) / n / sqrt(fa->noise[i] * fa->noise[j]));
}

static void set_parameters(factors *fa, int64_t count, const double *values, rb_dense vectors) {
    rb_dense w = fa->loadings;
    rb_dense_zero(w);
    for (int64_t k = 0; k < w.rows; k++) {
        double squares = 0, root = sqrt(fa->noise[k]);
        for (int64_t j = 0; j < count; j++) {
            double x = root * rb_dense_get(vectors, j, k) * sqrt(fmax(values[j] - 1, 0));
            rb_dense_set(w, k, j, x);
            squares += x * x;
        }
        fa->noise[k] = fmax(fa->second[k] - squares, factors_noise_min(fa, k));
    }
}

/* The log-likelihood, and the scale of the codes, B'C B: with B = Psi^-1 W Sigma
 *     L = -1/2 (m ln 2 pi + ln |Psi| + ln |I + W'Psi^-1 W| + sum_k c_k / psi_k
 *               - <C Psi^-1 W, B>) */
static rb_error measure(rb_context *ctx, factors *fa) {
    rb_error err = factors_posterior_set(ctx, fa->loadings, fa->noise, &fa->posterior);
    if (err) return err;
    const factors_posterior *p = &fa->posterior;
    double n = (double)fa->problem.n_samples;
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
    fa->objective = -value / 2;
    return RB_OK;
}

rb_error factors_fixed_point(rb_context *ctx, factors *fa) {
    int64_t m = fa->loadings.rows, l = fa->loadings.cols, count = l < m ? l : m;
    rb_scratch scratch = {.ctx = ctx};
    rb_dense a = {0}, vectors = {0};
    double *values = rb_take(&scratch, count, sizeof *values);
    rb_dense_take(&scratch, RB_FLOAT64, m, m, &a);
    rb_dense_take(&scratch, RB_FLOAT64, count, m, &vectors);
    if (!scratch.err) {
        rb_dense_mirror(fa->products);
        scale_covariance(fa, a);
        scratch.err = rb_largest_eigenvectors(ctx, a, count, values, vectors);
    }
    if (!scratch.err) {
        set_parameters(fa, count, values, vectors);
        scratch.err = measure(ctx, fa);
    }
    return rb_scratch_end(&scratch);
}
