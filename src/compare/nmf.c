/* Non-negative matrix factorisation by multiplication.
 *
 * Reference: D. Lee, H. Seung, "Algorithms for non-negative matrix factorization", Advances in
 * Neural Information Processing Systems 13, 2001, theorem 1, with their V and W transposed:
 *
 *   Y   n x D   samples             A <- A * (Y F') / (A F F')
 *   A   n x H   codes               F <- F * (A' Y) / (A' A F)        * and / entry by entry
 *   F   H x D   fields
 *
 * A quotient with nothing below the line keeps its factor. The error comes from what the products
 * leave: |Y - A F|^2 = |Y|^2 - 2 <A' Y, F> + <A' A F, F>.
 */
#include "data/data.h"

#include <rarebit/compare.h>

#include <math.h>

typedef struct nmf {
    rb_dense y, a, f;
    rb_dense gram;         /* H x H */
    rb_dense up_a, down_a; /* n x H */
    rb_dense up_f, down_f; /* H x D */
} nmf;

/* All values of a matrix lie one after the other. */
static int64_t count_of(rb_dense m) {
    return m.rows * m.cols;
}

static rb_error read_samples(rb_context *ctx, rb_source *source, rb_dense y) {
    const double *values = y.data;
    rb_error err = rb_source_read_into(ctx, source, RB_FLOAT64, y.data, y.cols, 1);
    for (int64_t e = 0; e < count_of(y) && !err; e++) {
        if (!(values[e] >= 0) || !isfinite(values[e])) {
            err = rb_fail(ctx, RB_ERROR_DATA,
                          "the value of sample %lld, feature %lld is below 0, missing or "
                          "infinite: it cannot be a sum of what is not negative",
                          (long long)(e / y.cols) + 1, (long long)(e % y.cols) + 1);
        }
    }
    return err;
}

static void fill(rb_dense m, double max, rb_draws *draws) {
    for (int64_t e = 0; e < count_of(m); e++)
        ((double *)m.data)[e] = max * rb_draw_uniform(draws);
}

/* Entries uniform between 0 and twice what makes A F about as large as Y. */
static void start(uint64_t seed, nmf *m) {
    rb_draws draws = {.stream = {.seed = seed, .purpose = RB_RANDOM_COMPARE}};
    double sum = 0;
    for (int64_t e = 0; e < count_of(m->y); e++)
        sum += ((const double *)m->y.data)[e];
    double mean = sum / ((double)m->y.rows * (double)m->y.cols);
    double max = 2 * sqrt(mean / (double)m->f.rows);
    fill(m->a, max, &draws);
    fill(m->f, max, &draws);
}

static void multiply(rb_dense m, rb_dense up, rb_dense down) {
    double *x = m.data;
    const double *u = up.data, *v = down.data;
    for (int64_t e = 0; e < count_of(m); e++)
        x[e] *= v[e] > 0 ? u[e] / v[e] : 1;
}

static void update_codes(rb_context *ctx, nmf *m) {
    rb_gemm_parallel(ctx, 1, m->y, RB_PLAIN, m->f, RB_TRANSPOSED, 0, m->up_a);
    rb_gemm_parallel(ctx, 1, m->f, RB_PLAIN, m->f, RB_TRANSPOSED, 0, m->gram);
    rb_gemm_parallel(ctx, 1, m->a, RB_PLAIN, m->gram, RB_PLAIN, 0, m->down_a);
    multiply(m->a, m->up_a, m->down_a);
}

/* A'Y and A'A F for the codes as they are. */
static void find_field_quotients(rb_context *ctx, nmf *m) {
    rb_gemm_parallel(ctx, 1, m->a, RB_TRANSPOSED, m->y, RB_PLAIN, 0, m->up_f);
    rb_gemm_parallel(ctx, 1, m->a, RB_TRANSPOSED, m->a, RB_PLAIN, 0, m->gram);
    rb_gemm_parallel(ctx, 1, m->gram, RB_PLAIN, m->f, RB_PLAIN, 0, m->down_f);
}

static double sum_of_products(rb_dense a, rb_dense b) {
    const double *x = a.data, *y = b.data;
    double sum = 0;
    for (int64_t e = 0; e < count_of(a); e++)
        sum += x[e] * y[e];
    return sum;
}

static double error_of(rb_context *ctx, nmf *m) {
    find_field_quotients(ctx, m);
    double squares = sum_of_products(m->y, m->y) - 2 * sum_of_products(m->up_f, m->f) +
                     sum_of_products(m->down_f, m->f);
    return fmax(squares, 0) / ((double)m->y.rows * (double)m->y.cols);
}

rb_error rb_compare_nmf(rb_context *ctx, rb_source *source, int64_t units, int64_t iterations,
                        int64_t seed, double *mean_squared_error) {
    nmf m = {0};
    int64_t n = source->n_samples, features = source->n_features;
    if (units < 1 || units > INT32_MAX || iterations < 1) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%lld units and %lld iterations: there must be at least one of each",
                       (long long)units, (long long)iterations);
    }
    if (n < 1 || features < 1)
        return rb_fail(ctx, RB_ERROR_DATA, "there are no samples to factorise");
    rb_scratch scratch = {.ctx = ctx, .err = rb_blas_need_memory(ctx, 0)};
    rb_dense_take(&scratch, RB_FLOAT64, n, features, &m.y);
    rb_dense_take(&scratch, RB_FLOAT64, n, units, &m.a);
    rb_dense_take(&scratch, RB_FLOAT64, units, features, &m.f);
    rb_dense_take(&scratch, RB_FLOAT64, units, units, &m.gram);
    rb_dense_take(&scratch, RB_FLOAT64, n, units, &m.up_a);
    rb_dense_take(&scratch, RB_FLOAT64, n, units, &m.down_a);
    rb_dense_take(&scratch, RB_FLOAT64, units, features, &m.up_f);
    rb_dense_take(&scratch, RB_FLOAT64, units, features, &m.down_f);
    scratch.err = scratch.err ? scratch.err : read_samples(ctx, source, m.y);
    if (!scratch.err) start((uint64_t)seed, &m);
    for (int64_t t = 0; !scratch.err && t < iterations; t++) {
        update_codes(ctx, &m);
        find_field_quotients(ctx, &m);
        multiply(m.f, m.up_f, m.down_f);
        scratch.err = rb_check_stop(ctx);
    }
    if (!scratch.err) *mean_squared_error = error_of(ctx, &m);
    return rb_scratch_end(&scratch);
}
