/* Digits (section 4.1.2 of the paper): NMF with binary causes against plain NMF of Lee and Seung,
 * by the mean squared error. */
#include "experiments.h"

#include <math.h>

enum { SAMPLES = 1000, UNITS = 12, TRIALS = 5, ITERATIONS = 400, PLAIN_ITERATIONS = 1000 };

static const char temperature[] = "20:1";

enum { CANDIDATES = 10, MAX_ACTIVE = 5 };
static const double prior = 0.3, sigma = 0.73, cut_factor = 1e9;

static void list(void) {
    printf("mnist: section 4.1.2 of the paper, the mean squared error is less than 5 %% above that "
           "of plain NMF\n"
           "    the first %d images of --data, values divided by the largest\n"
           "    rarebit fit nmf-et -k %d --candidates %d --max-active %d --prior %g --sigma "
           "%g --mstep multiplicative --temperature %s --iterations %d --cut-factor %g\n"
           "    plain NMF: %d units, %d iterations of Lee and Seung's updates\n"
           "    %d trials\n",
           SAMPLES, UNITS, CANDIDATES, MAX_ACTIVE, prior, sigma, temperature, ITERATIONS,
           cut_factor, UNITS, PLAIN_ITERATIONS, TRIALS);
}

static rb_error new_options(rb_context *ctx, const experiment_options *bench, int64_t seed,
                            rb_options **options) {
    rb_error err = experiments_options_new(ctx, "nmf-et", NULL, options);
    return err ? err
               : rb_options_set_all(
                     ctx, *options,
                     "units=%d candidates=%d max-active=%d prior=%.17g sigma=%.17g "
                     "mstep=multiplicative temperature=%s cut-factor=%.17g iterations=%lld "
                     "seed=%lld",
                     UNITS, CANDIDATES, MAX_ACTIVE, prior, sigma, temperature, cut_factor,
                     (long long)(bench->iterations ? bench->iterations : ITERATIONS),
                     (long long)seed);
}

/* The first images of a matrix, from 0 to 1. */
struct images {
    const rb_matrix *matrix;
    double largest;
};

static rb_error fill(void *user, int64_t first, int64_t count, void *rows) {
    const struct images *images = user;
    int64_t features = rb_matrix_features(images->matrix);
    for (int64_t e = 0; e < count * features; e++) {
        double value = rb_matrix_at(images->matrix, first + e / features, e % features);
        ((float *)rows)[e] = (float)(value / images->largest);
    }
    return RB_OK;
}

static rb_error open_images(rb_context *ctx, struct images *images, rb_source **source) {
    int64_t count = rb_matrix_samples(images->matrix);
    int64_t features = rb_matrix_features(images->matrix);
    count = count < SAMPLES ? count : SAMPLES;
    for (int64_t e = 0; e < count * features; e++) {
        images->largest =
            fmax(images->largest, rb_matrix_at(images->matrix, e / features, e % features));
    }
    images->largest = images->largest > 0 ? images->largest : 1;
    return rb_source_from_callback(ctx, RB_FLOAT32, count, features, fill, images, source);
}

struct result {
    double truncated, plain; /* mean squared errors */
};

/* The updates of Lee and Seung; the mean squared error with the best codes
 * for the loadings that they found. */
static rb_error fit_plain(rb_context *ctx, rb_source *source, int64_t seed, double *error) {
    rb_options *options = NULL;
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    rb_error err = rb_options_new(ctx, "nmf", &options);
    err = err ? err
              : rb_options_set_all(ctx, options,
                                   "units=%d solver=multiplicative sweeps=1 iterations=%d "
                                   "seed=%lld precision=float64",
                                   UNITS, PLAIN_ITERATIONS, (long long)seed);
    err = err ? err : rb_fit(ctx, options, source, NULL, &model);
    err = err ? err : rb_evaluate(ctx, model, source, &metrics);
    if (!err) *error = rb_metrics_get(metrics, "mean_squared_error");
    rb_metrics_free(metrics);
    rb_model_free(model);
    rb_options_free(options);
    return err;
}

static rb_error run_trial(rb_context *ctx, const experiment_options *options, int64_t trial,
                          rb_source *source, struct result *result) {
    rb_options *how = NULL;
    int64_t seed = options->seed + trial;
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    char shape[64];
    int side = (int)lround(sqrt((double)rb_source_features(source)));
    snprintf(shape, sizeof shape, "%dx%d", side, side);
    rb_error err = new_options(ctx, options, seed, &how);
    err = err ? err : experiments_fit(ctx, how, source, &model);
    rb_options_free(how);
    if (!err) err = rb_evaluate(ctx, model, source, &metrics);
    if (!err) {
        result->truncated = rb_metrics_get(metrics, "mean_squared_error");
        err = fit_plain(ctx, source, seed, &result->plain);
    }
    if (!err && trial == 0) err = experiments_picture(ctx, options, model, shape);
    rb_metrics_free(metrics);
    rb_model_free(model);
    return err;
}

static void print_result(const char *name, struct result r) {
    printf("%-8s %.5f           %.5f     %+6.1f %%              %+6.1f %%\n", name, r.truncated,
           r.plain, 100 * (r.truncated / r.plain - 1), 100 * (sqrt(r.truncated / r.plain) - 1));
    fflush(stdout);
}

static rb_error run_trials(rb_context *ctx, const experiment_options *options, rb_source *source) {
    int64_t trials = options->trials ? options->trials : TRIALS;
    struct result sum = {0, 0};
    printf("mnist: mean squared errors of %lld images; the paper says less than 5 %% more\n"
           "seed     binary causes     plain NMF   more, mean square    more, root of it\n",
           (long long)rb_source_samples(source));
    for (int64_t t = 0; t < trials && !interrupted(); t++) {
        struct result r;
        char name[32];
        rb_error err = run_trial(ctx, options, t, source, &r);
        if (err) return err;
        snprintf(name, sizeof name, "%lld", (long long)(options->seed + t));
        print_result(name, r);
        sum.truncated += r.truncated / (double)trials;
        sum.plain += r.plain / (double)trials;
    }
    if (!interrupted()) print_result("mean", sum);
    return RB_OK;
}

int experiments_mnist(rb_context *ctx, const experiment_options *options) {
    if (options->list) {
        list();
        return STATUS_DONE;
    }
    if (!experiments_has_data(options, "images of digits, such as train-images-idx3-ubyte.gz"))
        return STATUS_USAGE;
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_error err = rb_read(ctx, options->data, NULL, &matrix);
    struct images images = {matrix, 0};
    if (!err) err = open_images(ctx, &images, &source);
    if (!err) err = run_trials(ctx, options, source);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return err ? report_failure(ctx, err) : STATUS_DONE;
}
