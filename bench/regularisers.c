/* What noise and dropout add to an iteration: fits with each of them, paired with fits without. */
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 10000, FEATURES = 784, UNITS = 1024, ITERATIONS = 3, ROUNDS = 5 };

static const struct variant {
    const char *name;
    const char *options[4]; /* name, value, name, value */
} variants[] = {
    {"masking of 20 %", {"input-noise", "masking", "input-noise-level", "0.2"}},
    {"salt and pepper, 20 %", {"input-noise", "salt-and-pepper", "input-noise-level", "0.2"}},
    {"gaussian noise, sd 0.5", {"input-noise", "gaussian", "input-noise-level", "0.5"}},
    {"dropout of 50 %", {"dropout", "0.5", "dropout-place", "before"}},
    {"dropout after scaling", {"dropout", "0.5", "dropout-place", "after"}},
    {"momentum, Laplacian decay", {"momentum", "0.5", "weight-decay-laplace", "1e-4"}},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static rb_error keep_seconds(const rb_progress *progress, void *user) {
    bench_add(user, progress->seconds);
    return RB_OK;
}

/* The median time of an iteration; NULL: without any of them. */
static double fit(rb_context *ctx, rb_source *source, const struct variant *variant) {
    static bench_times times;
    rb_options *options =
        bench_options(ctx, "rfn", NULL, "preset=paper units=%d iterations=%d", UNITS, ITERATIONS);
    rb_model *model;
    times.count = 0;
    for (int i = 0; variant && i < 4; i += 2) {
        bench_check(ctx,
                    rb_options_set(ctx, options, variant->options[i], variant->options[i + 1]));
    }
    rb_context_on_progress(ctx, keep_seconds, &times);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    rb_model_free(model);
    return bench_median(&times);
}

static void compare(rb_context *ctx, rb_source *source, const struct variant *variant) {
    static bench_times plain, with, ratios;
    plain.count = with.count = ratios.count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double one = fit(ctx, source, NULL), other = fit(ctx, source, variant);
        bench_add(&plain, one);
        bench_add(&with, other);
        bench_add(&ratios, other / one);
    }
    printf("    %-26s %8.1f ms, without %8.1f ms, ratio %.3f (%.3f to %.3f)\n", variant->name,
           1e3 * bench_median(&with), 1e3 * bench_median(&plain), bench_median(&ratios),
           bench_min(&ratios), bench_max(&ratios));
}

void bench_regularisers(rb_context *ctx, const char *letters) {
    if (!strchr(letters, 'h')) return;
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    bench_noise noise = bench_make_noise(ctx, SAMPLES, FEATURES);
    printf("(h) an iteration of %d x %d, k %d, 1 thread, each beside one without: medians of "
           "rounds\n",
           SAMPLES, FEATURES, UNITS);
    for (int i = 0; i < VARIANTS; i++)
        compare(ctx, noise.source, &variants[i]);
    bench_free_noise(&noise);
}
