/* What the processor could do at most: multiply-adds in registers, in chains that do not wait for
 * each other. Compiled once for each instruction set with BENCH_ISA. */
#include <stdint.h>

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, CHAINS = 16 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, CHAINS = 12 };
#else
enum { VECTOR_BYTES = 16, CHAINS = 12 };
#endif

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));

#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

double JOIN(bench_fma_, BENCH_ISA)(int64_t rounds, float *out);

/* Returns the number of floating point operations done. */
double JOIN(bench_fma_, BENCH_ISA)(int64_t rounds, float *out) {
    vector sum[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sum[c] = (vector){0} + out[c % 4];
    vector factor = (vector){0} + 0.999F, step = (vector){0} + out[0];
    for (int64_t i = 0; i < rounds; i++)
        for (int c = 0; c < CHAINS; c++)
            sum[c] = sum[c] * factor + step;
    for (int c = 0; c < CHAINS; c++)
        out[c % 4] += sum[c][0];
    return 2.0 * (double)rounds * CHAINS * VECTOR_BYTES / sizeof(float);
}
