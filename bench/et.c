/* Expectation truncation, through the public interface only: microseconds per sample and iteration,
 * all samples in use, against its two products of samples and fields (b = W'y and sum <s> y') at
 * the speed of a large matrix product; and how encoding, the E-step alone, grows with samples and
 * causes. */
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct et_case {
    const char *method;
    int64_t n, d, units, candidates, max_active, iterations;
    double prior, sigma, active; /* active: causes of a sample */
    const char *temperature;
    double limit; /* times the two products; 0: none */
};

static const struct et_case cases[] = {
    {"linca", 20000, 200, 200, 10, 4, 8, 0.01, 0.5, 2, "1:1", 5.5},
    {"mca", 40000, 100, 100, 5, 3, 8, 0.02, 1, 2, "1.05:1.05", 12},
    {"mca", 40000, 100, 100, 5, 3, 8, 0.02, 1, 2, "4:4", 0},
    {"nmf-et", 500, 25, 10, 5, 3, 200, 0.2, 2, 2, "13:1", 0},
    {"mca", 500, 25, 10, 5, 3, 200, 0.2, 2, 2, "13:1.05", 0},
};
enum { CASES = sizeof cases / sizeof *cases, ROUNDS = 3, FITTED = 4000 };

/* Samples: the sum, or the largest, of fields that are 10 at a tenth of the features and 0
 * elsewhere (of either sign for linca: normal), and noise. */
static float *make_samples(const struct et_case *c) {
    uint64_t random = 5;
    bool max = c->method[0] == 'm', linca = c->method[0] == 'l';
    float *y = bench_take((size_t)(c->n * c->d), sizeof *y);
    float *fields = bench_take((size_t)(c->units * c->d), sizeof *fields);
    for (int64_t i = 0; i < c->units * c->d; i++) {
        double u = bench_uniform(&random);
        fields[i] = (float)(linca ? bench_normal(&random) : u < 0.2 ? 10 : 0);
    }
    for (int64_t i = 0; i < c->n; i++) {
        float *row = y + i * c->d;
        for (int64_t d = 0; d < c->d; d++)
            row[d] = 0;
        for (int64_t h = 0; h < c->units; h++) {
            bool active = bench_uniform(&random) < c->active / (double)c->units;
            const float *field = fields + h * c->d;
            for (int64_t d = 0; active && d < c->d; d++) {
                float sum = row[d] + field[d], larger = row[d] > field[d] ? row[d] : field[d];
                row[d] = max ? larger : sum;
            }
        }
        for (int64_t d = 0; d < c->d; d++)
            row[d] += (float)(c->sigma * bench_normal(&random));
    }
    free(fields);
    return y;
}

static rb_error keep_seconds(const rb_progress *progress, void *user) {
    bench_add(user, progress->seconds);
    return RB_OK;
}

static rb_model *fit(rb_context *ctx, const struct et_case *c, rb_source *source,
                     bench_times *times) {
    rb_options *options = bench_options(
        ctx, c->method, NULL,
        "units=%lld candidates=%lld max-active=%lld prior=%.17g sigma=%.17g temperature=%s "
        "cut-factor=1e9 iterations=%lld seed=1",
        (long long)c->units, (long long)c->candidates, (long long)c->max_active, c->prior, c->sigma,
        c->temperature, (long long)c->iterations);
    rb_model *model;
    if (c->units > 2000) bench_check(ctx, rb_options_set(ctx, options, "mstep", "multiplicative"));
    rb_context_on_progress(ctx, keep_seconds, times);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    rb_context_on_progress(ctx, NULL, NULL);
    return model;
}

static void run_case(rb_context *ctx, const struct et_case *c, bench_peaks *peaks) {
    float *y = make_samples(c);
    rb_matrix *matrix;
    rb_source *source;
    static bench_times times, ratios;
    times.count = ratios.count = 0;
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, c->n, c->d, y, c->d, 1, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    double n = (double)c->n, products = 4 * n * (double)c->d * (double)c->units;
    for (int round = 0; round < ROUNDS; round++) {
        static bench_times one;
        one.count = 0;
        double before = bench_gemm(peaks, 0);
        rb_model_free(fit(ctx, c, source, &one));
        double peak = (before + bench_gemm(peaks, 0)) / 2;
        for (int i = 0; i < one.count; i++)
            bench_add(&times, one.seconds[i]);
        bench_add(&ratios, bench_median(&one) * 1e9 * peak / products);
    }
    double median = bench_median(&times);
    printf("%-7s N %6lld D %4lld H %4lld H' %2lld gamma %lld T %-9s %7.3f us (%.3f to %.3f)  "
           "%5.2f of the products",
           c->method, (long long)c->n, (long long)c->d, (long long)c->units,
           (long long)c->candidates, (long long)c->max_active, c->temperature, 1e6 * median / n,
           1e6 * bench_min(&times) / n, 1e6 * bench_max(&times) / n, bench_median(&ratios));
    if (c->limit > 0) printf("; at most %g wanted", c->limit);
    printf("\n");
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(y);
}

static rb_error drop_rows(void *user, int64_t first, const rb_matrix *rows) {
    (void)user;
    (void)first;
    (void)rows;
    return RB_OK;
}

/* Encodes the first `count` samples. */
static double encode_seconds(rb_context *ctx, const rb_model *model, const float *y, int64_t count,
                             int64_t d) {
    rb_matrix *matrix;
    rb_source *source;
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, count, d, y, d, 1, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    double began = bench_now();
    bench_check(ctx, rb_encode(ctx, model, source, drop_rows, NULL));
    double seconds = bench_now() - began;
    rb_source_free(source);
    rb_matrix_free(matrix);
    return seconds;
}

/* Encoding is the E-step alone. What does not grow with the samples, mostly the Gram matrix, is
 * told apart by encoding a quarter of them too; the rest of an iteration, which is of a fit of the
 * first few samples, is the M-step. */
static void run_growth(rb_context *ctx, int64_t n, int64_t units) {
    struct et_case c = {"nmf-et", n, 64, units, 8, 3, 1, 0, 1, 2, "1:1", 0};
    float *y = make_samples(&c);
    rb_matrix *matrix;
    rb_source *source;
    static bench_times times, wholes, samples;
    times.count = wholes.count = samples.count = 0;
    c.prior = 2 / (double)units;
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, FITTED, c.d, y, c.d, 1, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(ctx, &c, source, &times);
    for (int round = 0; round < ROUNDS; round++) {
        double whole = encode_seconds(ctx, model, y, n, c.d);
        bench_add(&wholes, whole);
        bench_add(&samples,
                  (whole - encode_seconds(ctx, model, y, n / 4, c.d)) * 4 / (3 * (double)n));
    }
    double sample = bench_median(&samples), once = bench_median(&wholes) - (double)n * sample;
    printf("N %6lld H %6lld  E-step %8.3f us per sample, %6.2f ns per sample and cause; once %8.1f "
           "ms; "
           "M-step and sums of %lld %8.1f ms\n",
           (long long)n, (long long)units, 1e6 * sample, 1e9 * sample / (double)units, 1e3 * once,
           (long long)FITTED, 1e3 * (times.seconds[0] - once - FITTED * sample));
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(y);
}

/* ---- causes of several values: time per state, beside binary causes, in turns ---- */

static double states_of(const struct et_case *c, int values) {
    double size = 1, sum = 1;
    for (int64_t k = 1; k <= c->max_active; k++) {
        size *= (double)(values * (c->candidates - k + 1)) / (double)k;
        sum += size;
    }
    return sum + (double)(values * (c->units - c->candidates));
}

static double processor_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of the processor of a fit of all samples: E-steps and M-steps. */
static double fit_seconds(rb_context *ctx, const struct et_case *c, const char *values,
                          rb_source *source) {
    rb_model *model;
    rb_options *options = bench_options(
        ctx, c->method, NULL,
        "units=%lld candidates=%lld max-active=%lld sigma=%.17g temperature=%s cut-factor=1e9 "
        "iterations=%lld values=%s seed=1",
        (long long)c->units, (long long)c->candidates, (long long)c->max_active, c->sigma,
        c->temperature, (long long)c->iterations, values);
    double began = processor_now();
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    double seconds = processor_now() - began;
    rb_options_free(options);
    rb_model_free(model);
    return seconds;
}

static void run_values(rb_context *ctx, struct et_case binary, int64_t candidates,
                       int64_t max_active) {
    struct et_case valued = binary;
    float *y = make_samples(&binary);
    rb_matrix *matrix;
    rb_source *source;
    valued.candidates = candidates;
    valued.max_active = max_active;
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, binary.n, binary.d, y, binary.d, 1, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    static bench_times one, two;
    one.count = two.count = 0;
    for (int round = 0; round < 2 * ROUNDS + 1; round++) {
        bench_add(&one, fit_seconds(ctx, &binary, "0,1", source));
        bench_add(&two, fit_seconds(ctx, &valued, "0,1,2", source));
    }
    double steps = (double)(binary.n * (binary.iterations + 1));
    double first = 1e9 * bench_median(&one) / steps / states_of(&binary, 1);
    double second = 1e9 * bench_median(&two) / steps / states_of(&valued, 2);
    printf("%-7s binary %5.0f states %6.2f ns each; values 0,1,2 %5.0f states %6.2f ns each; "
           "ratio %.2f\n",
           binary.method, states_of(&binary, 1), first, states_of(&valued, 2), second,
           second / first);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(y);
}

void bench_et(rb_context *ctx, const char *letters, bench_peaks *peaks) {
    static const int64_t samples[] = {10000, 20000, 40000, 80000};
    static const int64_t causes[] = {100, 300, 1000, 3000, 10000};
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    if (strpbrk(letters, "fgv")) printf("\nexpectation truncation, 1 thread, all samples in use\n");
    for (int i = 0; strchr(letters, 'f') && i < CASES; i++)
        run_case(ctx, &cases[i], peaks);
    struct et_case linca = {"linca", 4000, 100, 100, 12, 3, 4, 0.02, 1, 2, "1:1", 0};
    struct et_case mca = {"mca", 2000, 100, 100, 12, 3, 4, 0.02, 1, 2, "1.05:1.05", 0};
    for (int i = 0; strchr(letters, 'v') && i < 2; i++)
        run_values(ctx, i ? mca : linca, 7, 3);
    for (int i = 0; strchr(letters, 'g') && i < 4; i++)
        run_growth(ctx, samples[i], 100);
    for (int i = 0; strchr(letters, 'g') && i < 5; i++)
        run_growth(ctx, 80000, causes[i]);
}
