/* Peaks: multiply-adds in registers, and the matrix product of the BLAS, one band of rows a thread.
 */
#include "bench.h"

#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double bench_fma_ref(int64_t rounds, float *out);
#if defined(__x86_64__)
double bench_fma_avx2(int64_t rounds, float *out);
double bench_fma_avx512(int64_t rounds, float *out);
#endif

enum { GEMM_SIZE = 4096, FMA_ROUNDS = 4000000, REPEATS = 3 };

typedef double (*fma_fn)(int64_t rounds, float *out);

static fma_fn fma_of(const rb_context *ctx) {
    const char *kernels = rb_build_info(ctx, "kernels");
#if defined(__x86_64__)
    if (strcmp(kernels, "avx512") == 0) return bench_fma_avx512;
    if (strcmp(kernels, "avx2") == 0) return bench_fma_avx2;
#endif
    return bench_fma_ref;
}

/* What one thread does: one of the two. */
struct work {
    fma_fn fma;
    const float *a, *b;
    float *c;
    int rows;
    double operations;
};

/* The threads are ours; NULL in a BLAS that is not OpenBLAS. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static void *run(void *arg) {
    struct work *work = arg;
    if (work->fma) {
        float out[4] = {1, 2, 3, 4};
        work->operations = work->fma(FMA_ROUNDS, out);
    } else {
        int n = GEMM_SIZE;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, work->rows, n, n, 1, work->a, n,
                    work->b, n, 0, work->c, n);
        work->operations = 2.0 * work->rows * n * n;
    }
    return NULL;
}

/* GFLOP/s of all threads together, the caller being one of them. */
static double rate(struct work *works, int threads) {
    pthread_t others[BENCH_THREADS];
    double began = bench_now(), operations = 0;
    for (int t = 1; t < threads; t++) {
        if (pthread_create(&others[t], NULL, run, &works[t])) {
            fprintf(stderr, "bench: a thread could not be started\n");
            exit(1);
        }
    }
    run(&works[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    double seconds = bench_now() - began;
    for (int t = 0; t < threads; t++)
        operations += works[t].operations;
    return 1e-9 * operations / seconds;
}

static double fma_rate(const rb_context *ctx, int threads) {
    struct work works[BENCH_THREADS] = {{0}};
    for (int t = 0; t < threads; t++)
        works[t].fma = fma_of(ctx);
    return rate(works, threads);
}

static double gemm_rate(const float *a, const float *b, float *c, int threads) {
    struct work works[BENCH_THREADS] = {{0}};
    for (int t = 0; t < threads; t++) {
        size_t first = (size_t)GEMM_SIZE * (size_t)t / (size_t)threads * GEMM_SIZE;
        works[t] =
            (struct work){.a = a + first, .b = b, .c = c + first, .rows = GEMM_SIZE / threads};
    }
    return rate(works, threads);
}

static void keep_best(double *best, double found) {
    *best = found > *best ? found : *best;
}

double bench_gemm(bench_peaks *peaks, int many) {
    size_t count = (size_t)GEMM_SIZE * GEMM_SIZE;
    float *numbers = peaks->numbers;
    double found =
        gemm_rate(numbers, numbers + count, numbers + 2 * count, many ? BENCH_THREADS : 1);
    keep_best(&peaks->gemm[many], found);
    return found;
}

void bench_measure_peaks(const rb_context *ctx, bench_peaks *peaks) {
    size_t count = (size_t)GEMM_SIZE * GEMM_SIZE;
    uint64_t random = 1;
    *peaks = (bench_peaks){.numbers = bench_take(3 * count, sizeof *peaks->numbers)};
    for (size_t i = 0; i < 3 * count; i++)
        peaks->numbers[i] = (float)bench_uniform(&random) - 0.5F;
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (int many = 0; many < 2; many++) {
            keep_best(&peaks->fma[many], fma_rate(ctx, many ? BENCH_THREADS : 1));
            bench_gemm(peaks, many);
        }
    }
}

void bench_peaks_free(bench_peaks *peaks) {
    free(peaks->numbers);
}
