/* What a pass in batches costs, beside an iteration with all samples at once. */
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 50000, FEATURES = 784, UNITS = 1024, ITERATIONS = 2, ROUNDS = 3 };
static const int64_t sizes[] = {1000, 5000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static rb_error keep_seconds(const rb_progress *progress, void *user) {
    bench_add(user, progress->seconds);
    return RB_OK;
}

/* The median time of an iteration. */
static double fit(rb_context *ctx, rb_source *source, int64_t batch_size) {
    static bench_times times;
    rb_options *options =
        bench_options(ctx, "rfn", NULL, "preset=paper units=%d iterations=%d batch-size=%lld",
                      UNITS, ITERATIONS, (long long)batch_size);
    rb_model *model;
    times.count = 0;
    rb_context_on_progress(ctx, keep_seconds, &times);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    rb_model_free(model);
    return bench_median(&times);
}

static void compare(rb_context *ctx, rb_source *source, int64_t size) {
    static bench_times full, batches, ratios;
    full.count = batches.count = ratios.count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double one = fit(ctx, source, 0), other = fit(ctx, source, size);
        bench_add(&full, one);
        bench_add(&batches, other);
        bench_add(&ratios, other / one);
    }
    printf("    batches of %5lld  %8.0f ms, all at once %8.0f ms, ratio %.2f (%.2f to %.2f)\n",
           (long long)size, 1e3 * bench_median(&batches), 1e3 * bench_median(&full),
           bench_median(&ratios), bench_min(&ratios), bench_max(&ratios));
}

void bench_batches(rb_context *ctx, const char *letters) {
    if (!strchr(letters, 'j')) return;
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    bench_noise noise = bench_make_noise(ctx, SAMPLES, FEATURES);
    printf("(j) a pass over %d x %d, k %d, 1 thread: medians of rounds\n", SAMPLES, FEATURES,
           UNITS);
    for (int i = 0; i < SIZES; i++)
        compare(ctx, noise.source, sizes[i]);
    bench_free_noise(&noise);
}
