/* One sample at a time: what a coder that is open costs beside the product itself. */
#include "bench.h"
#include "options.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 500, FEATURES = 1000, UNITS = 50, MANY = 2000, ROUNDS = 9 };

static rb_model *fit(rb_context *ctx, rb_source *source) {
    rb_options *options =
        bench_options(ctx, "rfn", NULL, "preset=paper units=%d iterations=10", UNITS);
    rb_model *model;
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

/* Microseconds for a sample, a different one each time. */

static double time_product(const bench_noise *noise) {
    float *filter = bench_take((size_t)FEATURES * UNITS, sizeof *filter), codes[UNITS];
    for (int i = 0; i < FEATURES * UNITS; i++)
        filter[i] = noise->values[i];
    double began = bench_now();
    for (int i = 0; i < MANY; i++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, UNITS, FEATURES, 1,
                    noise->values + (int64_t)(i % SAMPLES) * FEATURES, FEATURES, filter, UNITS, 0,
                    codes, UNITS);
    }
    double seconds = bench_now() - began;
    free(filter);
    return 1e6 * seconds / MANY;
}

/* A view of the sample and its codes. */
static double time_coder(rb_context *ctx, rb_coder *coder, const bench_noise *noise) {
    float codes[UNITS];
    double began = bench_now();
    for (int i = 0; i < MANY; i++) {
        rb_matrix *row;
        bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, 1, FEATURES,
                                         noise->values + (int64_t)(i % SAMPLES) * FEATURES,
                                         FEATURES, 1, &row));
        bench_check(ctx, rb_coder_encode(ctx, coder, row, RB_FLOAT32, codes, UNITS, 1));
        rb_matrix_free(row);
    }
    return 1e6 * (bench_now() - began) / MANY;
}

static double time_encode(rb_context *ctx, const rb_model *model, rb_source *source) {
    float codes[UNITS];
    double began = bench_now();
    for (int i = 0; i < MANY; i++) {
        rb_source *slice;
        bench_check(ctx, rb_source_slice(ctx, source, i % SAMPLES, 1, &slice));
        bench_check(ctx, rb_encode_into(ctx, model, slice, RB_FLOAT32, codes, UNITS, 1));
        rb_source_free(slice);
    }
    return 1e6 * (bench_now() - began) / MANY;
}

static void print(const char *name, const bench_times *times) {
    printf("    %-34s %8.1f us per sample (%.1f to %.1f)\n", name, bench_median(times),
           bench_min(times), bench_max(times));
}

void bench_coder(rb_context *ctx, const char *letters) {
    static bench_times product, coded, besides, encoded;
    rb_coder *coder;
    if (!strchr(letters, 'k')) return;
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    bench_noise noise = bench_make_noise(ctx, SAMPLES, FEATURES);
    rb_model *model = fit(ctx, noise.source);
    bench_check(ctx, rb_coder_open(ctx, model, &coder));
    for (int round = 0; round < ROUNDS; round++) {
        double alone = time_product(&noise), with = time_coder(ctx, coder, &noise);
        bench_add(&product, alone);
        bench_add(&coded, with);
        bench_add(&besides, with - alone);
        bench_add(&encoded, time_encode(ctx, model, noise.source));
    }
    printf("(k) one sample of %d features, %d units, 1 thread: medians of rounds\n", FEATURES,
           UNITS);
    print("the product alone", &product);
    print("a view and rb_coder_encode", &coded);
    print("the same, besides the product", &besides);
    print("a slice and rb_encode_into", &encoded);
    rb_coder_free(coder);
    rb_model_free(model);
    bench_free_noise(&noise);
}
