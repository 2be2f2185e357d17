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

static void clear(nmf *m) {
    rb_dense *const all[] = {&m->y,    &m->a,      &m->f,    &m->gram,
                             &m->up_a, &m->down_a, &m->up_f, &m->down_f};
    for (int i = 0; i < 8; i++) {
        rb_free(all[i]->data);
    }
}

static rb_error allocate(rb_context *ctx, int64_t n, int64_t features, int64_t units, nmf *m) {
    const struct {
        rb_dense *matrix;
        int64_t rows, columns;
    } all[] = {{&m->y, n, features},        {&m->a, n, units},
               {&m->f, units, features},    {&m->gram, units, units},
               {&m->up_a, n, units},        {&m->down_a, n, units},
               {&m->up_f, units, features}, {&m->down_f, units, features}};
    for (int i = 0; i < 8; i++) {
        rb_error err = rb_dense_new(ctx, RB_FLOAT64, all[i].rows, all[i].columns, all[i].matrix);
        if (err) {
            return err;
        }
    }
    return RB_OK;
}

static double *row_of(rb_dense m, int64_t row) {
    return (double *)m.data + row * m.ld;
}

static rb_error read_samples(rb_context *ctx, rb_source *source, rb_dense y) {
    const int64_t at_once = 256;
    for (int64_t first = 0; first < y.rows; first += at_once) {
        rb_matrix view;
        int64_t count = y.rows - first < at_once ? y.rows - first : at_once;
        rb_error err = rb_source_read(ctx, source, first, count, &view);
        if (err) {
            return err;
        }
        for (int64_t e = 0; e < count * y.cols; e++) {
            int64_t i = e / y.cols, d = e % y.cols;
            double value = rb_matrix_at(&view, i, d);
            if (!(value >= 0) || !isfinite(value)) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "the value of sample %lld, feature %lld is below 0, missing or "
                               "infinite: it cannot be a sum of what is not negative",
                               (long long)(first + i) + 1, (long long)d + 1);
            }
            row_of(y, first + i)[d] = value;
        }
    }
    return RB_OK;
}

/* Entries uniform between 0 and twice what makes A F about as large as Y. */
static void start(uint64_t seed, double mean, nmf *m) {
    rb_draws draws = {.stream = {.seed = seed, .purpose = RB_RANDOM_COMPARE}};
    double max = 2 * sqrt(mean / (double)m->f.rows);
    for (int64_t i = 0; i < m->a.rows * m->a.cols; i++) {
        row_of(m->a, i / m->a.cols)[i % m->a.cols] = max * rb_draw_uniform(&draws);
    }
    for (int64_t i = 0; i < m->f.rows * m->f.cols; i++) {
        row_of(m->f, i / m->f.cols)[i % m->f.cols] = max * rb_draw_uniform(&draws);
    }
}

static void multiply(rb_dense m, rb_dense up, rb_dense down) {
    for (int64_t i = 0; i < m.rows; i++) {
        double *x = row_of(m, i), *u = row_of(up, i), *v = row_of(down, i);
        for (int64_t j = 0; j < m.cols; j++) {
            x[j] *= v[j] > 0 ? u[j] / v[j] : 1;
        }
    }
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
    double sum = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        const double *x = row_of(a, i), *y = row_of(b, i);
        for (int64_t j = 0; j < a.cols; j++) {
            sum += x[j] * y[j];
        }
    }
    return sum;
}

static double error_of(rb_context *ctx, nmf *m) {
    find_field_quotients(ctx, m);
    double squares = sum_of_products(m->y, m->y) - 2 * sum_of_products(m->up_f, m->f) +
                     sum_of_products(m->down_f, m->f);
    return fmax(squares, 0) / ((double)m->y.rows * (double)m->y.cols);
}

static double mean_of(rb_dense y) {
    double sum = 0;
    for (int64_t i = 0; i < y.rows; i++) {
        for (int64_t d = 0; d < y.cols; d++) {
            sum += row_of(y, i)[d];
        }
    }
    return sum / ((double)y.rows * (double)y.cols);
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
    if (n < 1 || features < 1) {
        return rb_fail(ctx, RB_ERROR_DATA, "there are no samples to factorise");
    }
    rb_error err = rb_blas_need_memory(ctx, 0);
    if (!err) {
        err = allocate(ctx, n, features, units, &m);
    }
    if (!err) {
        err = read_samples(ctx, source, m.y);
    }
    if (!err) {
        start((uint64_t)seed, mean_of(m.y), &m);
        for (int64_t t = 0; !err && t < iterations; t++) {
            err = rb_check_stop(ctx);
            update_codes(ctx, &m);
            find_field_quotients(ctx, &m);
            multiply(m.f, m.up_f, m.down_f);
        }
    }
    if (!err) {
        *mean_squared_error = error_of(ctx, &m);
    }
    clear(&m);
    return err;
}
