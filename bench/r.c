/* The other side of bench/r.R: the same fit and the same codes, without R's part. Loaded into R, so
 * that both are timed in one process, in turn. */
#include <rarebit/rarebit.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* Seconds of the processor: other programs may be running. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(rb_context *context, rb_error error) {
    if (!error) return;
    fprintf(stderr, "bench: %s\n", rb_context_error(context));
    exit(1);
}

EXPORT void bench_now(double *seconds);
EXPORT void bench_library(const double *x, const int *shape, const int *iterations,
                          double *seconds);

void bench_now(double *seconds) {
    *seconds = now();
}

/* x: samples x features, by columns; shape: samples, features, units. seconds: fit, codes. */
void bench_library(const double *x, const int *shape, const int *iterations, double *seconds) {
    rb_context *context;
    rb_options *options;
    rb_matrix *matrix;
    rb_source *source;
    rb_model *model;
    int n = shape[0], m = shape[1], units = shape[2];
    double *codes = malloc((size_t)n * (size_t)units * sizeof *codes);
    if (!codes || rb_context_new(&context)) exit(1);
    double began = now();
    need(context, rb_options_new(context, "rfn", &options));
    need(context, rb_options_set_integer(context, options, "units", units));
    need(context, rb_options_set_integer(context, options, "iterations", *iterations));
    need(context, rb_matrix_dense(context, RB_FLOAT64, n, m, x, 1, n, &matrix));
    need(context, rb_source_from_matrix(context, matrix, &source));
    need(context, rb_fit(context, options, source, NULL, &model));
    double fitted = now();
    need(context, rb_encode_into(context, model, source, RB_FLOAT64, codes, 1, n));
    seconds[0] = fitted - began;
    seconds[1] = now() - fitted;
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(context);
    free(codes);
}
