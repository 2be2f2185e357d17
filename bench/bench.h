/* What the benchmarks share: samples of times, random numbers, the table of peaks. */
#ifndef BENCH_H
#define BENCH_H

#include <rarebit/rarebit.h>

enum { BENCH_MAX_TIMES = 4096 };

/* Times of one thing, in seconds. */
typedef struct bench_times {
    int count;
    double seconds[BENCH_MAX_TIMES];
} bench_times;

void bench_add(bench_times *times, double seconds);
double bench_min(const bench_times *times);
double bench_median(const bench_times *times);
double bench_max(const bench_times *times);
double bench_now(void);

/* Uniform in [0, 1) and roughly normal (sum of four uniforms, variance 1); the same in each run. */
double bench_uniform(uint64_t *state);
double bench_normal(uint64_t *state);

/* Memory, or the end of the program. */
void *bench_take(size_t count, size_t size);

/* Stops the program with the context's message when a call failed. */
void bench_check(const rb_context *ctx, rb_error error);

/* n x m normal numbers in float32, the same in each run. */
typedef struct bench_noise {
    float *values;
    rb_matrix *matrix;
    rb_source *source;
} bench_noise;
bench_noise bench_make_noise(rb_context *ctx, int64_t n, int64_t m);
void bench_free_noise(bench_noise *noise);

/* Threads that are compared: one, and this many. */
enum { BENCH_THREADS = 2 };

/* Best seen in this run, GFLOP/s in float32, with 1 and with BENCH_THREADS threads. */
typedef struct bench_peaks {
    double fma[2], gemm[2];
    float *numbers; /* the operands of sgemm */
} bench_peaks;

/* Takes memory and measures, alternating between the numbers of threads. */
void bench_measure_peaks(const rb_context *ctx, bench_peaks *peaks);
void bench_peaks_free(bench_peaks *peaks);
/* One product of 4096^3 more, with BENCH_THREADS threads if many: its GFLOP/s. The best is kept. */
double bench_gemm(bench_peaks *peaks, int many);

/* Runs the cases whose letter is in `letters` and prints a table. A case is timed in rounds, each
 * beside a product of its own: machines that are shared change their speed, the ratio stays. */
void bench_rfn(rb_context *ctx, const char *letters, bench_peaks *peaks);

/* Case h: what noise, dropout and decay add to an iteration. */
void bench_regularisers(rb_context *ctx, const char *letters);
/* Case i: E-steps and exact codes beside newton. */
void bench_esteps(rb_context *ctx, const char *letters);

/* Case j: a pass in batches beside one with all samples at once. */
void bench_batches(rb_context *ctx, const char *letters);

/* Case l: an epoch of a net. */
void bench_nets(rb_context *ctx, const char *letters, bench_peaks *peaks);

/* Case k: one sample by a coder that is open. */
void bench_coder(rb_context *ctx, const char *letters);

/* Cases f (speed), g (growth with samples and causes) of expectation truncation. */
void bench_et(rb_context *ctx, const char *letters, bench_peaks *peaks);

#endif
