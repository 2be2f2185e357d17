/* Fits on a device of OpenCL and on the processor, and where the time of an iteration on the device
 * goes. One process, on the public headers:
 *
 *     device [-d DEVICE] [-m FEATURES] [-k UNITS] [-c CAUSES] [-a THREADS] [-t SECONDS]
 *            [SAMPLES]...
 *
 * -a: all threads; -t: a fit on the processor takes no more. First, whole small fits are compared.
 * Seconds per iteration are medians. Those of the parts are of a second fit, which waits after each
 * call of the device; the rest is the processor's: posterior, M-step, objective. */
#include <rarebit/cl.h>
#include <rarebit/rarebit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SGEMM
#define SGEMM 50000
#endif
enum { MOST = 200, FEW = 4 };

typedef struct kind {
    const char *title, *method, *preset;
    int64_t iterations;
    int products; /* of samples x features x units; and of samples x units x units */
    int squares;
} kind;
static const kind kinds[] = {{"newton (preset paper)", "rfn", "paper", 40, 2, 1},
                             {"cyclic (default)", "rfn", NULL, 69, 2, 2},
                             {"linca", "linca", NULL, 40, 2, 0},
                             {"mca", "mca", NULL, 40, 2, 0}};

static bool has_units(const kind *k) {
    return strcmp(k->method, "rfn") == 0;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(rb_context *ctx, rb_error err) {
    if (err) {
        fprintf(stderr, "%s\n", rb_context_error(ctx));
        exit(1);
    }
}

/* ---- data: sparse causes and noise ---- */

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24);
}

static float *make_data(int64_t n, int64_t m) {
    enum { CAUSES = 256, ACTIVE = 8 };
    float *x = malloc((size_t)(n * m) * sizeof *x), *w = malloc((size_t)(CAUSES * m) * sizeof *w);
    uint64_t state = 1;
    if (!x || !w) exit(1);
    for (int64_t e = 0; e < CAUSES * m; e++)
        w[e] = uniform(&state) < 0.1 ? (float)(2 * uniform(&state)) : 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < m; k++)
            x[i * m + k] = (float)(uniform(&state) - 0.5);
        for (int a = 0; a < ACTIVE; a++) {
            const float *cause = w + m * (int64_t)(CAUSES * uniform(&state));
            for (int64_t k = 0; k < m; k++)
                x[i * m + k] += cause[k];
        }
    }
    free(w);
    return x;
}

/* ---- a device whose calls are timed ---- */

enum { LINEAR, PROJECT, SWEEP, MOMENTS, ALGEBRA, FIELDS, POSTERIORS, SUMS, OTHER, PARTS };
static const char *const part_names[] = {
    "linear", "project",    "sweep",          "moments", "products and solutions",
    "fields", "posteriors", "posterior sums", "other"};
static const rb_device *real;
static double seconds_of[PARTS], began;

static void start(rb_device_work *work) {
    (void)real->wait(work);
    began = now();
}

static rb_error took(rb_device_work *work, int part, rb_error err) {
    err = err ? err : real->wait(work);
    seconds_of[part] += now() - began;
    return err;
}

static rb_error timed_open(const rb_device *device, const rb_device_shape *shape,
                           rb_device_work **work) {
    (void)device;
    return real->open(real, shape, work);
}

static rb_error timed_linear(rb_device_work *work, const float *weights, const float *offset) {
    start(work);
    return took(work, LINEAR, real->linear(work, weights, offset));
}

static rb_error timed_project(rb_device_work *work, const float *sigma, bool scaled,
                              const rb_device_units *units) {
    start(work);
    return took(work, PROJECT, real->project(work, sigma, scaled, units));
}

static rb_error timed_sweep(rb_device_work *work, const float *p, const bool *dead, float *change,
                            bool *alive) {
    start(work);
    return took(work, SWEEP, real->sweep(work, p, dead, change, alive));
}

static rb_error timed_moments(rb_device_work *work, float *u, float *s) {
    start(work);
    return took(work, MOMENTS, real->moments(work, u, s));
}

static rb_error timed_sums(rb_device_work *work, const rb_device_units *units) {
    start(work);
    return took(work, OTHER, real->sums(work, units));
}

static rb_error timed_occupied(rb_device_work *work, const uint8_t *marks, int64_t least,
                               int64_t *empty, int64_t *full) {
    start(work);
    return took(work, OTHER, real->occupied(work, marks, least, empty, full));
}

static rb_error timed_product(rb_device_work *work, const rb_device_product *product) {
    start(work);
    return took(work, ALGEBRA, real->product(work, product));
}

static rb_error timed_solve(rb_device_work *work, const float *l, int64_t size, int64_t block,
                            bool from_left, const float *b, float *x, int64_t others) {
    start(work);
    return took(work, ALGEBRA, real->solve(work, l, size, block, from_left, b, x, others));
}

static rb_error timed_fields(rb_device_work *work, const rb_device_fields *fields) {
    start(work);
    return took(work, FIELDS, real->fields(work, fields));
}

static rb_error timed_posteriors(rb_device_work *work, const uint8_t *used) {
    start(work);
    return took(work, POSTERIORS, real->posteriors(work, used));
}

static rb_error timed_posterior_sums(rb_device_work *work, const rb_device_posteriors *to) {
    start(work);
    return took(work, SUMS, real->posterior_sums(work, to));
}

static rb_error timed_save(rb_device_work *work) {
    start(work);
    return took(work, OTHER, real->save(work));
}

static rb_device timed_device(void) {
    rb_device timed = *real;
    timed.open = timed_open;
    timed.linear = timed_linear;
    timed.project = timed_project;
    timed.sweep = timed_sweep;
    timed.moments = timed_moments;
    timed.sums = timed_sums;
    timed.occupied = timed_occupied;
    timed.save = timed_save;
    timed.product = timed_product;
    timed.solve = timed_solve;
    timed.fields = timed_fields;
    timed.posteriors = timed_posteriors;
    timed.posterior_sums = timed_posterior_sums;
    return timed;
}

/* ---- fits ---- */

typedef struct watch {
    rb_context *ctx;
    int64_t iterations; /* then the fit is stopped: a last E-step would take long */
    double until, seconds[MOST], parts[PARTS];
    int count;
} watch;

static rb_error on_progress(const rb_progress *progress, void *user) {
    watch *w = user;
    if (w->count < MOST) w->seconds[w->count++] = progress->seconds;
    if (progress->iteration == FEW) memset(seconds_of, 0, sizeof seconds_of);
    if (progress->iteration >= w->iterations || now() > w->until) rb_context_stop(w->ctx);
    return RB_OK;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of those from `first` on, before `last`. */
static double median(const watch *w, int first, int last) {
    double sorted[MOST];
    int count = 0;
    for (int i = first; i < last && i < w->count; i++)
        sorted[count++] = w->seconds[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return count > 0 ? sorted[count / 2] : NAN;
}

/* Their mean. */
static double mean(const watch *w, int first) {
    double sum = 0;
    for (int i = first; i < w->count; i++)
        sum += w->seconds[i];
    return sum / (double)(w->count - first);
}

/* *model: NULL where the fit was stopped. */
static watch fit_model(const rb_device *device, int threads, const kind *kind, int64_t units,
                       rb_source *source, int64_t iterations, double limit, rb_model **model) {
    watch w = {.iterations = iterations, .until = now() + limit};
    rb_options *options;
    check(NULL, rb_context_new(&w.ctx));
    check(w.ctx, rb_context_set_threads(w.ctx, threads));
    check(w.ctx, rb_context_set_device(w.ctx, device));
    rb_context_on_progress(w.ctx, on_progress, &w);
    check(w.ctx, rb_options_new(w.ctx, kind->method, &options));
    if (kind->preset) check(w.ctx, rb_options_set(w.ctx, options, "preset", kind->preset));
    if (!has_units(kind)) check(w.ctx, rb_options_set_integer(w.ctx, options, "max-active", 3));
    if (!has_units(kind)) check(w.ctx, rb_options_set_integer(w.ctx, options, "candidates", 5));
    check(w.ctx, rb_options_set_integer(w.ctx, options, "units", units));
    check(w.ctx, rb_options_set_integer(w.ctx, options, "seed", 1));
    check(w.ctx, rb_options_set_integer(w.ctx, options, "iterations", MOST));
    check(w.ctx, rb_options_set_number(w.ctx, options, "parameter-tolerance", 0));
    if (iterations > MOST)
        check(w.ctx, rb_options_set_integer(w.ctx, options, "iterations", iterations - MOST));
    rb_error err = rb_fit(w.ctx, options, source, NULL, model);
    if (err != RB_ERROR_STOPPED) check(w.ctx, err);
    memcpy(w.parts, seconds_of, sizeof w.parts);
    rb_options_free(options);
    rb_context_free(w.ctx);
    return w;
}

static watch fit(const rb_device *device, int threads, const kind *kind, int64_t units,
                 rb_source *source, int64_t iterations, double limit) {
    rb_model *model = NULL;
    watch w = fit_model(device, threads, kind, units, source, iterations, limit, &model);
    rb_model_free(model);
    return w;
}

/* The largest difference of loadings after 20 iterations, as a share of the largest loading. */
static double differ(const rb_model *a, const rb_model *b) {
    int64_t rows, columns;
    const double *x = rb_model_array(a, "loadings", &rows, &columns);
    const double *y = rb_model_array(b, "loadings", NULL, NULL);
    double most = 0, largest = 0;
    for (int64_t e = 0; e < rows * columns; e++) {
        most = fmax(most, fabs(x[e] - y[e]));
        largest = fmax(largest, fabs(x[e]));
    }
    return most / largest;
}

static void compare(const kind *kind, int64_t units, rb_source *source) {
    const int64_t all = MOST + 20;
    rb_model *cpu = NULL, *cl = NULL, *again = NULL;
    fit_model(NULL, 2, kind, units, source, all, 60, &cpu);
    fit_model(real, 2, kind, units, source, all, 60, &cl);
    fit_model(real, 2, kind, units, source, all, 60, &again);
    printf("%lld units, 20 iterations of %s: loadings differ from the processor's by %.1e; ",
           (long long)units, kind->title, differ(cpu, cl));
    printf("%s bits again\n", differ(cl, again) > 0 ? "OTHER" : "the same");
    rb_model_free(cpu);
    rb_model_free(cl);
    rb_model_free(again);
}

/* ---- what the device can do ---- */

static double sgemm(int64_t n, int64_t m, int64_t l) {
    rb_device_shape shape = {.size = sizeof shape, .samples = n, .features = m, .units = l};
    rb_device_work *work;
    float *zeros = calloc((size_t)(m * l), sizeof *zeros);
    double best = INFINITY;
    if (real->open(real, &shape, &work)) exit(1);
    for (int t = 0; zeros && t < 5; t++) {
        double from = now();
        if (real->linear(work, zeros, zeros) || real->wait(work)) exit(1);
        best = fmin(best, now() - from);
    }
    real->close(work);
    free(zeros);
    return 2 * (double)n * (double)m * (double)l / best;
}

static void measure(int64_t n, int64_t m, int64_t l, const kind *kind, rb_source *source,
                    double peak, int threads, double limit) {
    rb_device timed = timed_device();
    watch whole = fit(real, 0, kind, l, source, kind->iterations, 30);
    watch parts = fit(&timed, 0, kind, l, source, kind->iterations, 30);
    watch two = fit(NULL, 2, kind, l, source, FEW, limit);
    watch all = fit(NULL, threads, kind, l, source, FEW, limit);
    double device = median(&whole, FEW, 50), late = median(&whole, 52, MOST), sum = 0;
    double flops = 2.0 * (double)n * (double)l * (double)(kind->products * m + kind->squares * l);
    printf("%lld x %lld, %lld units, %s: %.4f s on the device", (long long)n, (long long)m,
           (long long)l, kind->title, device);
    if (isfinite(late)) printf(" (%.4f from iteration 53)", late);
    printf(", %.3f s on 2 threads (%.1f times), %.3f s on all (%.1f times)\n", median(&two, 1, FEW),
           median(&two, 1, FEW) / device, median(&all, 1, FEW), median(&all, 1, FEW) / device);
    printf("    parts, ms:");
    for (int p = 0; p < PARTS; p++) {
        double part = parts.parts[p] / (double)(parts.count - FEW);
        sum += part;
        if (part > 0) printf(" %s %.2f,", part_names[p], 1e3 * part);
    }
    printf(" processor %.2f; whole %.2f\n", 1e3 * (mean(&parts, FEW) - sum),
           1e3 * mean(&parts, FEW));
    printf("    %.1f TFLOP/s in an iteration, %.1f within the calls; %.0f %% and %.0f %% of its "
           "sgemm\n",
           1e-12 * flops / device, 1e-12 * flops / sum, 100 * flops / device / peak,
           100 * flops / sum / peak);
    fflush(stdout);
}

/* Makes samples, and does something with them. */
static void with_samples(int64_t n, int64_t m, int64_t l, int64_t causes, double peak, int threads,
                         double limit) {
    float *x = make_data(n, m);
    rb_context *ctx;
    rb_matrix *matrix;
    rb_source *source;
    check(NULL, rb_context_new(&ctx));
    check(ctx, rb_matrix_dense(ctx, RB_FLOAT32, n, m, x, m, 1, &matrix));
    check(ctx, rb_source_from_matrix(ctx, matrix, &source));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int64_t units = has_units(&kinds[k]) ? l : causes;
        if (peak > 0)
            measure(n, m, units, &kinds[k], source, peak, threads, limit);
        else
            compare(&kinds[k], units, source);
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
    free(x);
}

int main(int argc, char **argv) {
    int64_t m = 784, l = 1024, causes = 100;
    int option, threads = 0;
    const char *name = "cl";
    double limit = 20;
    char message[RB_DEVICE_MESSAGE];
    rb_device *device;
    while ((option = getopt(argc, argv, "d:m:k:c:a:t:")) != -1) {
        if (option == 'd') name = optarg;
        if (option == 'm') m = atoll(optarg);
        if (option == 'k') l = atoll(optarg);
        if (option == 'c') causes = atoll(optarg);
        if (option == 'a') threads = atoi(optarg);
        if (option == 't') limit = atof(optarg);
    }
    if (rb_cl_open(name, &device, message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    real = device;
    with_samples(2000, 100, 40, 10, 0, 2, 60);
    if (optind < argc) with_samples(1000, 600, 600, 20, 0, 2, 60);
    double peak = sgemm(SGEMM, l, l);
    printf("%s: sgemm of %d x %lld x %lld %.2f TFLOP/s\n", device->name, (int)SGEMM, (long long)l,
           (long long)l, 1e-12 * peak);
    for (int i = optind; i < argc; i++)
        with_samples(atoll(argv[i]), m, l, causes, peak, threads, limit);
    rb_cl_close(device);
    return 0;
}
