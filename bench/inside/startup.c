/* `./run startup`: what a fit of rfn does besides computing.
 *
 *   startup                              the time before the first iteration of a short fit to data
 *                                        in memory, as a share of the whole
 *   startup FILE [UNITS [THREADS]]       an iteration on a file that is read block by block, beside
 *                                        reading alone and computing alone
 *   startup SECONDS [UNITS [THREADS]]    the same, of a source that takes so long for all samples
 */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "../options.h"
#include "data/data.h"
#include <rarebit/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, BLOCK_CELLS = 1 << 21 };

/* began, first: by the clock, and of processor time. */
struct watch {
    double began[2], first[2];
    bench_times iterations;
};

static void look(double now[2]) {
    now[0] = bench_now();
    now[1] = (double)clock() / CLOCKS_PER_SEC;
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    struct watch *w = user;
    if (progress->iteration == 1) {
        double now[2];
        look(now);
        w->first[0] = now[0] - w->began[0] - progress->seconds;
        w->first[1] = now[1] - w->began[1]; /* with the iteration, which `fit` takes off */
    }
    bench_add(&w->iterations, progress->seconds);
    return RB_OK;
}

/* `all` becomes the seconds of a fit, w->first those before its first iteration. */
static void fit(rb_context *ctx, rb_source *source, int64_t units, int64_t iterations,
                struct watch *w, double all[2]) {
    rb_options *options = bench_options(ctx, "rfn", NULL, "units=%lld iterations=%lld",
                                        (long long)units, (long long)iterations);
    rb_model *model;
    look(w->began);
    rb_context_on_progress(ctx, on_progress, w);
    bench_check(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    rb_model_free(model);
    look(all);
    all[0] -= w->began[0];
    all[1] -= w->began[1];
    /* All iterations take the same, and there is one more E-step. */
    w->first[1] -= (all[1] - w->first[1]) / (double)iterations;
}

static void start_up(rb_context *ctx) {
    static struct watch w;
    bench_noise noise = bench_make_noise(ctx, 20000, 2000);
    for (int threads = 1; threads <= BENCH_THREADS; threads++) {
        static bench_times shares[2], seconds[2];
        bench_check(ctx, rb_context_set_threads(ctx, threads));
        for (int which = 0; which < 2; which++)
            shares[which].count = seconds[which].count = 0;
        for (int round = 0; round < ROUNDS; round++) {
            double all[2];
            fit(ctx, noise.source, 50, 5, &w, all);
            for (int which = 0; which < 2; which++) {
                bench_add(&seconds[which], w.first[which]);
                bench_add(&shares[which], w.first[which] / all[which]);
            }
        }
        for (int which = 0; which < 2; which++) {
            printf("20000 x 2000 float32, 50 units, 5 iterations, threads %d: before the first "
                   "%.3f s %s (least %.3f), %.1f %% of the fit (least %.1f %%)\n",
                   threads, bench_median(&seconds[which]), which ? "of processors" : "by the clock",
                   bench_min(&seconds[which]), 100 * bench_median(&shares[which]),
                   100 * bench_min(&shares[which]));
        }
    }
    bench_free_noise(&noise);
}

/* Counts what is read, and takes its time over each block if asked to, as a slow disk does. */
static rb_error (*read_block)(rb_source *, rb_context *, int64_t, int64_t, rb_matrix *);
static _Atomic int64_t samples_read;
static double seconds_per_sample;

static rb_error slow_block(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                           rb_matrix *view) {
    double seconds = seconds_per_sample * (double)count;
    samples_read += count;
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))}, NULL);
    return read_block(source, ctx, first, count, view);
}

static double read_all(rb_context *ctx, rb_source *source, int64_t block) {
    double began = bench_now();
    for (int64_t first = 0; first < source->n_samples; first += block) {
        int64_t left = source->n_samples - first;
        rb_matrix view;
        bench_check(ctx, rb_source_read(ctx, source, first, left < block ? left : block, &view));
    }
    return bench_now() - began;
}

/* An iteration on the source, beside those on the matrix that holds the same. */
static void beside(rb_context *ctx, rb_source *source, const rb_matrix *matrix, int64_t units) {
    enum { ITERATIONS = 6 };
    static bench_times reading, ratios;
    static struct watch memory, stream;
    rb_source *kept;
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &kept));
    read_block = source->read;
    source->read = slow_block;
    ratios.count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double all[2];
        memory.iterations.count = stream.iterations.count = reading.count = 0;
        for (int again = 0; again < 3; again++)
            bench_add(&reading, read_all(ctx, source, BLOCK_CELLS / source->n_features));
        fit(ctx, kept, units, ITERATIONS, &memory, all);
        samples_read = 0;
        fit(ctx, source, units, 1, &stream, all);
        int64_t once = samples_read;
        stream.iterations.count = 0;
        fit(ctx, source, units, ITERATIONS, &stream, all);
        double walks = (double)(samples_read - 2 * once) / (double)source->n_samples /
                       (double)(ITERATIONS - 1);
        double r = walks * bench_median(&reading), c = bench_median(&memory.iterations);
        double both = bench_median(&stream.iterations), longer = r > c ? r : c;
        bench_add(&ratios, both / longer);
        printf("%.1f walks: reading %.3f s, computing %.3f s, both %.3f s: %.2f of the longer one, "
               "%.2f of their sum\n",
               walks, r, c, both, both / longer, both / (r + c));
        fflush(stdout);
    }
    printf("median %.2f of the longer one (least %.2f)\n", bench_median(&ratios),
           bench_min(&ratios));
    source->read = read_block;
    rb_source_free(kept);
}

static void on_file(rb_context *ctx, const char *path, int64_t units) {
    rb_matrix *matrix;
    rb_source *source;
    bench_check(ctx, rb_read(ctx, path, NULL, &matrix));
    bench_check(ctx, rb_open(ctx, path, NULL, &source));
    beside(ctx, source, matrix, units);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void on_slow_disk(rb_context *ctx, double seconds, int64_t units) {
    bench_noise noise = bench_make_noise(ctx, 20000, 2000);
    noise.source->reads_ahead = true;
    seconds_per_sample = seconds / (double)noise.source->n_samples;
    beside(ctx, noise.source, noise.matrix, units);
    bench_free_noise(&noise);
}

int main(int argc, char **argv) {
    rb_context *ctx;
    choose_blas(argv);
    if (rb_context_new(&ctx)) return 1;
    if (argc > 1) {
        bench_check(ctx, rb_context_set_threads(ctx, argc > 3 ? atoi(argv[3]) : BENCH_THREADS));
        int64_t units = argc > 2 ? atoi(argv[2]) : 100;
        char *end;
        double seconds = strtod(argv[1], &end);
        if (*end == '\0')
            on_slow_disk(ctx, seconds, units);
        else
            on_file(ctx, argv[1], units);
    } else {
        start_up(ctx);
    }
    rb_context_free(ctx);
    return 0;
}
