/* An epoch of a net beside the matrix product of the BLAS, in processor time on one thread: other
 * programs on the machine change the clock on the wall, and both alike. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 12800, FEATURES = 784, UNITS = 1024, LAYERS = 3, CLASSES = 10, BATCH = 128 };
enum { EPOCHS = 3 };

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
}
