/* An epoch of a net beside the matrix product of the BLAS, in processor time on one thread: other
 * programs on the machine change the clock on the wall, and both alike. */
#include "bench.h"

#include <rarebit/deep.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 12800, FEATURES = 784, UNITS = 1024, LAYERS = 3, CLASSES = 10, BATCH = 128 };
enum { EPOCHS = 3 };
enum { WIDE_SAMPLES = 2048, WIDE_FEATURES = 20000, WIDE_UNITS = 256, WIDE_EPOCHS = 6 };

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct rounds {
    double began; /* of the epoch at hand */
    bench_peaks *peaks;
    bench_times epochs, products;
};

/* After each epoch a product is timed. */
static rb_error next_round(const rb_progress *progress, void *user) {
    struct rounds *r = user;
    double now = processor_seconds();
    if (progress->iteration > 1) bench_add(&r->epochs, now - r->began); /* the first one warms up */
    bench_gemm(r->peaks, 0);
    r->began = processor_seconds();
    if (progress->iteration > 1) bench_add(&r->products, r->began - now);
    return RB_OK;
}

/* Multiply-adds count twice: forward, the gradient of weights, and that of codes but the lowest. */
static double operations(void) {
    double lowest = (double)FEATURES * UNITS, hidden = (double)UNITS * UNITS * (LAYERS - 1);
    return SAMPLES * (4 * lowest + 6 * (hidden + (double)UNITS * CLASSES));
}

static void train(rb_context *ctx, const rb_labelled *data, const char *optimizer,
                  bench_peaks *peaks) {
    static struct rounds rounds;
    rb_options *options;
    rb_model *net;
    rounds = (struct rounds){.began = processor_seconds(), .peaks = peaks};
    bench_check(ctx, rb_finetune_options_new(ctx, &options));
    bench_check(ctx, rb_options_set_all(ctx, options, "layers=%d,%d,%d batch-size=%d epochs=%d %s",
                                        UNITS, UNITS, UNITS, BATCH, EPOCHS + 1, optimizer));
    rb_context_on_progress(ctx, next_round, &rounds);
    bench_check(ctx, rb_finetune(ctx, options, NULL, data, NULL, &net));
    rb_context_on_progress(ctx, NULL, NULL);
    double product = 2.0 * 4096 * 4096 * 4096 / bench_median(&rounds.products);
    double epoch = operations() / bench_median(&rounds.epochs);
    printf("    %-40s %8.2f s for 50 000 samples, %5.1f GFLOP/s, %3.0f %% of sgemm's %5.1f\n",
           optimizer, bench_median(&rounds.epochs) * 50000 / SAMPLES, 1e-9 * epoch,
           100 * epoch / product, 1e-9 * product);
    rb_options_free(options);
    rb_model_free(net);
}

/* ---- samples with few values ---- */

static rb_error next_epoch(const rb_progress *progress, void *user) {
    struct rounds *r = user;
    double now = processor_seconds();
    if (progress->iteration > 1) bench_add(&r->epochs, now - r->began);
    r->began = now;
    return RB_OK;
}

/* Seconds of an epoch, the first one left out; the net. */
static double time_epochs(rb_context *ctx, const rb_matrix *matrix, const char *more,
                          rb_model **net) {
    static int64_t class_of[WIDE_SAMPLES];
    static struct rounds rounds;
    rb_options *options;
    rb_source *source;
    for (int64_t i = 0; i < WIDE_SAMPLES; i++)
        class_of[i] = i % CLASSES;
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_labelled data = {
        .size = sizeof data, .source = source, .n_classes = CLASSES, .class_of = class_of};
    bench_check(ctx, rb_finetune_options_new(ctx, &options));
    bench_check(ctx, rb_options_set_all(ctx, options, "layers=%d batch-size=%d epochs=%d %s",
                                        WIDE_UNITS, BATCH, WIDE_EPOCHS, more));
    rounds = (struct rounds){.began = processor_seconds()};
    rb_context_on_progress(ctx, next_epoch, &rounds);
    bench_check(ctx, rb_finetune(ctx, options, NULL, &data, NULL, net));
    rb_context_on_progress(ctx, NULL, NULL);
    rb_options_free(options);
    rb_source_free(source);
    return bench_median(&rounds.epochs);
}

static double largest_difference(const rb_model *a, const rb_model *b) {
    int64_t rows, cols;
    const double *x = rb_model_array(a, "weights1", &rows, &cols);
    const double *y = rb_model_array(b, "weights1", NULL, NULL);
    double largest = 0;
    for (int64_t i = 0; i < rows * cols; i++)
        largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

static void time_sparse(rb_context *ctx, double share, const char *more) {
    size_t cells = (size_t)WIDE_SAMPLES * WIDE_FEATURES;
    float *values = bench_take(cells, sizeof *values), *stored = bench_take(cells, sizeof *stored);
    int32_t *columns = bench_take(cells, sizeof *columns);
    int64_t *starts = bench_take(WIDE_SAMPLES + 1, sizeof *starts), entries = 0;
    uint64_t random = 3;
    rb_matrix *dense, *sparse;
    rb_model *of_dense, *of_sparse;
    for (int64_t i = 0; i < WIDE_SAMPLES; i++) {
        starts[i] = entries;
        for (int32_t k = 0; k < WIDE_FEATURES; k++) {
            float *value = &values[i * WIDE_FEATURES + k];
            bool there = bench_uniform(&random) < share;
            *value = there ? (float)(1 + bench_uniform(&random)) : 0;
            if (!there) continue;
            columns[entries] = k;
            stored[entries++] = *value;
        }
    }
    starts[WIDE_SAMPLES] = entries;
    bench_check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, WIDE_SAMPLES, WIDE_FEATURES, values,
                                     WIDE_FEATURES, 1, &dense));
    bench_check(ctx, rb_matrix_csr(ctx, RB_FLOAT32, WIDE_SAMPLES, WIDE_FEATURES, starts, columns,
                                   stored, &sparse));
    double slow = time_epochs(ctx, dense, more, &of_dense);
    double fast = time_epochs(ctx, sparse, more, &of_sparse);
    printf(
        "    %4.1f %% of the values, %-28s %7.3f s dense, %7.3f s sparse, weights differ by %.0e\n",
        100 * share, more, slow, fast, largest_difference(of_dense, of_sparse));
    rb_model_free(of_dense);
    rb_model_free(of_sparse);
    rb_matrix_free(dense);
    rb_matrix_free(sparse);
    free(values);
    free(stored);
    free(columns);
    free(starts);
}

void bench_nets(rb_context *ctx, const char *letters, bench_peaks *peaks) {
    static const char *const optimizers[] = {"optimizer=nesterov", "optimizer=sgd momentum=0",
                                             "optimizer=adam rate=0.001",
                                             "optimizer=nesterov dropout=0.5 masking=0.25"};
    if (!strchr(letters, 'l')) return;
    static int64_t class_of[SAMPLES];
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    bench_noise noise = bench_make_noise(ctx, SAMPLES, FEATURES);
    for (int64_t i = 0; i < SAMPLES; i++)
        class_of[i] = noise.values[i * FEATURES] > 0 ? i % CLASSES : 0;
    rb_labelled data = {
        .size = sizeof data, .source = noise.source, .n_classes = CLASSES, .class_of = class_of};
    printf("(l) an epoch of a net, %d features, %d layers of %d units, batches of %d, 1 thread: "
           "processor time, medians\n",
           FEATURES, LAYERS, UNITS, BATCH);
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        train(ctx, &data, optimizers[i], peaks);
    bench_free_noise(&noise);
    printf("    %d samples x %d features, %d units, batches of %d\n", WIDE_SAMPLES, WIDE_FEATURES,
           WIDE_UNITS, BATCH);
    time_sparse(ctx, 0.005, "centre=none");
    time_sparse(ctx, 0.005, "centre=mean");
    time_sparse(ctx, 0.005, "centre=none masking=0.25");
    time_sparse(ctx, 0.02, "centre=none");
    time_sparse(ctx, 0.04, "centre=none");
}
