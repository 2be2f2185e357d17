/* What guaranteed E-steps cost beside newton, and exact codes of new samples beside the closed
 * form. */
#include "bench.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 10000, FEATURES = 784, UNITS = 1024, FEW = 4, SOME = 16, MANY = 64, ROUNDS = 3 };

static rb_error keep_seconds(const rb_progress *progress, void *user) {
    if (progress->iteration > 1) /* the first one has no codes to go on from */
        bench_add(user, progress->seconds);
    return RB_OK;
}

static double mean_of(const bench_times *times) {
    double sum = 0;
    for (int i = 0; i < times->count; i++)
        sum += times->seconds[i];
    return sum / times->count;
}

/* The mean time of an iteration. The model if it is wanted. */
static double fit(rb_context *ctx, rb_source *source, const char *estep, int64_t iterations,
                  const char *tolerance, rb_model **kept) {
    static bench_times times;
    rb_options *options = bench_options(
        ctx, "rfn", NULL, "preset=paper units=%d iterations=%lld estep=%s estep-tolerance=%s",
        UNITS, (long long)iterations, estep, tolerance);
    rb_model *model;
    times.count = 0;
    rb_context_on_progress(ctx, keep_seconds, &times);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    rb_context_on_progress(ctx, NULL, NULL);
    if (kept)
        *kept = model;
    else
        rb_model_free(model);
    return mean_of(&times);
}

static void print_ratio(const char *name, const bench_times *with, const bench_times *ratios,
                        const char *unit) {
    printf("    %-22s %9.1f ms %s, ratio %.2f (%.2f to %.2f)\n", name, 1e3 * bench_median(with),
           unit, bench_median(ratios), bench_min(ratios), bench_max(ratios));
    fflush(stdout);
}

static void compare_iterations(rb_context *ctx, rb_source *source) {
    /* The cascade tries stages that failed ever more rarely. */
    static const struct {
        const char *name;
        int64_t iterations;
    } esteps[] = {{"gradient", SOME}, {"cyclic", SOME}, {"cascade", MANY}};
    for (size_t e = 0; e < sizeof esteps / sizeof *esteps; e++) {
        static bench_times with, ratios;
        with.count = ratios.count = 0;
        for (int round = 0; round < ROUNDS; round++) {
            double newton = fit(ctx, source, "newton", FEW, "1", NULL);
            double other = fit(ctx, source, esteps[e].name, esteps[e].iterations, "1", NULL);
            bench_add(&with, other);
            bench_add(&ratios, other / newton);
        }
        print_ratio(esteps[e].name, &with, &ratios, "an iteration");
    }
}

static rb_error take_rows(void *user, int64_t first, const rb_matrix *rows) {
    (void)user;
    (void)first;
    (void)rows;
    return RB_OK;
}

static double encode(rb_context *ctx, rb_source *source, rb_model *model, const char *tolerance) {
    bench_check(ctx, rb_model_set_attribute(ctx, model, "estep-tolerance", tolerance));
    double began = bench_now();
    bench_check(ctx, rb_encode(ctx, model, source, take_rows, NULL));
    return bench_now() - began;
}

static void compare_codes(rb_context *ctx, rb_source *source) {
    static const char *const tolerances[] = {"1e-2", "1e-3", "1e-4", "1e-6"};
    rb_model *closed, *exact;
    fit(ctx, source, "newton", FEW, "1", &closed);
    fit(ctx, source, "cyclic", SOME, "1e-3", &exact);
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
        static bench_times with, ratios;
        with.count = ratios.count = 0;
        for (int round = 0; round < ROUNDS; round++) {
            double one = encode(ctx, source, closed, "1"), many;
            many = encode(ctx, source, exact, tolerances[t]);
            bench_add(&with, many);
            bench_add(&ratios, many / one);
        }
        print_ratio(tolerances[t], &with, &ratios, "for all samples");
    }
    rb_model_free(closed);
    rb_model_free(exact);
}

void bench_esteps(rb_context *ctx, const char *letters) {
    if (!strchr(letters, 'i')) return;
    bench_check(ctx, rb_context_set_threads(ctx, 1));
    bench_noise noise = bench_make_noise(ctx, SAMPLES, FEATURES);
    printf("(i) %d x %d, k %d, 1 thread, each beside newton: mean of an iteration, medians of "
           "rounds\n",
           SAMPLES, FEATURES, UNITS);
    compare_iterations(ctx, noise.source);
    printf("    encoding by multipliers, by tolerance, each beside the closed form\n");
    compare_codes(ctx, noise.source);
    bench_free_noise(&noise);
}
