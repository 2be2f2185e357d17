/* Samples of times and random numbers. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void bench_add(bench_times *times, double seconds) {
    if (times->count < BENCH_MAX_TIMES) times->seconds[times->count++] = seconds;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time at a share of the sorted ones: 0 the least, 0.5 the median, 1 the most. */
static double quantile(const bench_times *times, double share) {
    if (times->count == 0) return NAN;
    double sorted[BENCH_MAX_TIMES];
    memcpy(sorted, times->seconds, (size_t)times->count * sizeof *sorted);
    qsort(sorted, (size_t)times->count, sizeof *sorted, ascending);
    return sorted[(int)(share * (times->count - 1))];
}

double bench_min(const bench_times *times) {
    return quantile(times, 0);
}

double bench_median(const bench_times *times) {
    return quantile(times, 0.5);
}

double bench_max(const bench_times *times) {
    return quantile(times, 1);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
double bench_uniform(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double bench_normal(uint64_t *state) {
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += bench_uniform(state);
    return (sum - 2) * sqrt(3);
}

void *bench_take(size_t count, size_t size) {
    void *memory = malloc(count * size + 1);
    if (!memory) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return memory;
}

void bench_check(const rb_context *ctx, rb_error error) {
    if (error) {
        fprintf(stderr, "bench: %s\n", rb_context_error(ctx));
        exit(1);
    }
}

bench_noise bench_make_noise(rb_context *ctx, int64_t n, int64_t m) {
    bench_noise noise = {.values = bench_take((size_t)(n * m), sizeof *noise.values)};
    uint64_t random = 2;
    for (int64_t i = 0; i < n * m; i++)
        noise.values[i] = (float)bench_normal(&random);
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, n, m, noise.values, m, 1, &noise.matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, noise.matrix, &noise.source));
    return noise;
}

void bench_free_noise(bench_noise *noise) {
    rb_source_free(noise->source);
    rb_matrix_free(noise->matrix);
    free(noise->values);
}
