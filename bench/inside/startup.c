/* `./run startup`: what a fit of rfn does besides computing.
 *
 *   startup                              the time before the first iteration of a short fit to data in
 *                                        memory, as a share of the whole
 *   startup FILE [UNITS [THREADS]]       an iteration on a file that is read block by block, beside
 *                                        reading alone and computing alone
 */
#include "../../tool/blas_choice.h"
#include "../bench.h"
#include "data/data.h"
#include <rarebit/io.h>

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
    rb_rfn_options options;
    rb_fit_options how;
    rb_model *model;
    rb_rfn_options_default(&options);
    rb_fit_options_default(&how);
    options.units = units;
    how.iterations = iterations;
    look(w->began);
    rb_context_on_progress(ctx, on_progress, w);
    bench_check(ctx, rb_fit(ctx, "rfn", &options, &how, NULL, source, NULL, &model));
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
        for (int which = 0; which < 2; which++) {
            shares[which].count = seconds[which].count = 0;
        }
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
                   bench_least(&seconds[which]), 100 * bench_median(&shares[which]),
                   100 * bench_least(&shares[which]));
        }
    }
    bench_free_noise(&noise);
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

static void streamed(rb_context *ctx, const char *path, int64_t units) {
    static bench_times reading, ratios;
    static struct watch memory, stream;
    rb_matrix *matrix;
    rb_source *source, *kept;
    bench_check(ctx, rb_read(ctx, path, NULL, &matrix));
    bench_check(ctx, rb_source_from_matrix(ctx, matrix, &kept));
    bench_check(ctx, rb_open(ctx, path, NULL, &source));
    for (int round = 0; round < ROUNDS; round++) {
        double all[2];
        memory.iterations.count = stream.iterations.count = reading.count = 0;
        for (int again = 0; again < 3; again++) {
            bench_add(&reading, read_all(ctx, source, BLOCK_CELLS / source->n_features));
        }
        fit(ctx, kept, units, 5, &memory, all);
        fit(ctx, source, units, 5, &stream, all);
        double r = bench_median(&reading), c = bench_median(&memory.iterations);
        double both = bench_median(&stream.iterations);
        bench_add(&ratios, both / (r > c ? r : c));
        printf("reading %.3f s, computing %.3f s, both %.3f s: %.2f of the longer one, %.2f of "
               "their sum\n",
               r, c, both, both / (r > c ? r : c), both / (r + c));
        fflush(stdout);
    }
    printf("median %.2f of the longer one (least %.2f)\n", bench_median(&ratios),
           bench_least(&ratios));
    rb_source_free(source);
    rb_source_free(kept);
    rb_matrix_free(matrix);
}

int main(int argc, char **argv) {
    rb_context *ctx;
    choose_blas_kernels(argv);
    if (rb_context_new(&ctx)) {
        return 1;
    }
    if (argc > 1) {
        bench_check(ctx, rb_context_set_threads(ctx, argc > 3 ? atoi(argv[3]) : BENCH_THREADS));
        streamed(ctx, argv[1], argc > 2 ? atoi(argv[2]) : 100);
    } else {
        start_up(ctx);
    }
    rb_context_free(ctx);
    return 0;
}
