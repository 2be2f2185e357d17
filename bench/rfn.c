/* Fits of rectified factor networks, through the public interface only: seconds an iteration
 * against the floating point operations that the algorithm needs at the speed of a matrix product.
 */
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rfn_case {
    char letter;
    int64_t n, m, units, iterations;
    double density; /* below 1: compressed sparse rows */
};

static const struct rfn_case cases[] = {
    {'a', 100, 100, 50, 1000, 1},       {'a', 100, 100, 100, 1000, 1},
    {'a', 100, 100, 150, 1000, 1},      {'b', 10000, 784, 1024, 7, 1},
    {'c', 50000, 784, 1024, 3, 1},      {'d', 2000, 5000, 500, 7, 1},
    {'e', 10000, 20000, 256, 7, 0.005},
};
enum { CASES = sizeof cases / sizeof *cases, ROUNDS = 5 };

/* The data of a case; owns its numbers. */
struct data {
    int64_t stored;
    float *values;
    int64_t *starts;
    int32_t *columns;
    rb_matrix *matrix;
    rb_source *source;
};

static void make_dense(rb_context *ctx, const struct rfn_case *c, struct data *data) {
    uint64_t random = 2;
    data->stored = c->n * c->m;
    data->values = bench_take((size_t)data->stored, sizeof *data->values);
    for (int64_t i = 0; i < data->stored; i++)
        data->values[i] = (float)bench_normal(&random);
    bench_check(ctx,
                rb_matrix_dense(ctx, RB_FLOAT32, c->n, c->m, data->values, c->m, 1, &data->matrix));
}

/* Gaps between entries are uniform with the mean that the density asks for. */
static void make_sparse(rb_context *ctx, const struct rfn_case *c, struct data *data) {
    uint64_t random = 3;
    int64_t gap = (int64_t)(2 / c->density) - 1;
    size_t capacity = (size_t)(c->n * c->m * c->density * 1.5);
    data->values = bench_take(capacity, sizeof *data->values);
    data->columns = bench_take(capacity, sizeof *data->columns);
    data->starts = bench_take((size_t)c->n + 1, sizeof *data->starts);
    int64_t e = 0, column = -1;
    for (int64_t i = 0; i < c->n; i++, column -= c->m) {
        data->starts[i] = e;
        while ((column += 1 + (int64_t)(bench_uniform(&random) * (double)gap)) < c->m &&
               e < (int64_t)capacity) {
            data->columns[e] = (int32_t)column;
            data->values[e++] = (float)(1 + bench_normal(&random));
        }
    }
    data->starts[c->n] = data->stored = e;
    bench_check(ctx, rb_matrix_csr(ctx, RB_FLOAT32, c->n, c->m, data->starts, data->columns,
                                   data->values, &data->matrix));
}

static void make_data(rb_context *ctx, const struct rfn_case *c, struct data *data) {
    *data = (struct data){0};
    if (c->density < 1)
        make_sparse(ctx, c, data);
    else
        make_dense(ctx, c, data);
    bench_check(ctx, rb_source_from_matrix(ctx, data->matrix, &data->source));
}

static void free_data(struct data *data) {
    rb_source_free(data->source);
    rb_matrix_free(data->matrix);
    free(data->values);
    free(data->starts);
    free(data->columns);
}

/* Floating point operations of an iteration, a multiply-add counted as 2: by the l x l and by the
 * m x m form of the posterior. nm is the number of stored values. */
static double operations(const struct rfn_case *c, int64_t stored, bool by_units) {
    double n = (double)c->n, m = (double)c->m, l = (double)c->units;
    double products = 4 * (double)stored * l + n * l * l;
    return by_units ? products + 6 * m * l * l + 4.0 / 3 * l * l * l
                    : products + 3 * m * m * l + m * m * m / 3 + 4 * m * l * l + l * l * l / 3;
}

static rb_error keep_seconds(const rb_progress *progress, void *user) {
    bench_add(user, progress->seconds);
    return RB_OK;
}

static void fit(rb_context *ctx, const struct rfn_case *c, struct data *data, bench_times *times) {
    rb_options *options = bench_options(ctx, "rfn", NULL, "preset=paper units=%lld iterations=%lld",
                                        (long long)c->units, (long long)c->iterations);
    rb_model *model;
    rb_context_on_progress(ctx, keep_seconds, times);
    bench_check(ctx, rb_fit(ctx, options, data->source, NULL, &model));
    rb_options_free(options);
    rb_model_free(model);
}

struct result {
    double by_units, by_features, used; /* operations */
    bench_times times[2];               /* with 1 and with BENCH_THREADS threads */
    bench_times ratios[2], speed_ups;   /* of the rounds */
};

/* The median time of an iteration, and its ratio to that of a product of as many operations. */
static double run_round(rb_context *ctx, const struct rfn_case *c, struct data *data, int many,
                        bench_peaks *peaks, struct result *result) {
    static bench_times times;
    times.count = 0;
    bench_check(ctx, rb_context_set_threads(ctx, many ? BENCH_THREADS : 1));
    double before = bench_gemm(peaks, many);
    fit(ctx, c, data, &times);
    double peak = (before + bench_gemm(peaks, many)) / 2, median = bench_median(&times);
    for (int i = 0; i < times.count; i++)
        bench_add(&result->times[many], times.seconds[i]);
    bench_add(&result->ratios[many], median * 1e9 * peak / result->used);
    return median;
}

static void run_case(rb_context *ctx, const struct rfn_case *c, bench_peaks *peaks,
                     struct result *result) {
    struct data data;
    make_data(ctx, c, &data);
    result->by_units = operations(c, data.stored, true);
    result->by_features = operations(c, data.stored, false);
    result->used = c->units <= c->m ? result->by_units : result->by_features;
    for (int round = 0; round < ROUNDS; round++) {
        double one = run_round(ctx, c, &data, 0, peaks, result);
        bench_add(&result->speed_ups, one / run_round(ctx, c, &data, 1, peaks, result));
    }
    free_data(&data);
}

static void print_case(const struct rfn_case *c, const struct result *r, const bench_peaks *peaks) {
    for (int many = 0; many < 2; many++) {
        double seconds = bench_median(&r->times[many]);
        printf("(%c) %6lld x %5lld %s k %4lld  F %7.4g%s %7.4g%s  threads %d  ", c->letter,
               (long long)c->n, (long long)c->m, c->density < 1 ? "CSR" : "   ",
               (long long)c->units, 1e-9 * r->by_units, c->units <= c->m ? "*" : " ",
               1e-9 * r->by_features, c->units <= c->m ? " " : "*", many ? BENCH_THREADS : 1);
        printf("%9.3f ms (%.3f to %.3f)  %6.1f GFLOP/s  time/(F/peak) %5.2f, of rounds %5.2f",
               1e3 * seconds, 1e3 * bench_min(&r->times[many]), 1e3 * bench_max(&r->times[many]),
               1e-9 * r->used / seconds, seconds * 1e9 * peaks->gemm[many] / r->used,
               bench_median(&r->ratios[many]));
        if (many) printf("  speed-up %.2f", bench_median(&r->speed_ups));
        printf("\n");
    }
}

void bench_rfn(rb_context *ctx, const char *letters, bench_peaks *peaks) {
    static struct result results[CASES];
    for (int i = 0; i < CASES; i++)
        if (strchr(letters, cases[i].letter)) run_case(ctx, &cases[i], peaks, &results[i]);
    for (int many = 0; many < 2; many++) {
        printf("peaks with %d thread%s: multiply-adds %.0f GFLOP/s, sgemm of 4096^3 %.0f GFLOP/s\n",
               many ? BENCH_THREADS : 1, many ? "s" : "", peaks->fma[many], peaks->gemm[many]);
    }
    printf("\nmedian of an iteration (least to most); F in GFLOP by the l x l and the m x m form, "
           "* is the one used;\ntime over F / best sgemm of the run, and over F / the sgemm timed "
           "beside it (median of rounds)\n");
    for (int i = 0; i < CASES; i++)
        if (strchr(letters, cases[i].letter)) print_case(&cases[i], &results[i], peaks);
}
