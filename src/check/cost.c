/* What the fit to begin with costs: memory by its shapes, time by a few of its iterations. Where
 * there are many values these are made with some of the samples, in whose number time is linear. */
#include "check.h"

#include <rarebit/fit.h>

#include <math.h>
#include <stdlib.h>

enum { TRIED = 10, FEWEST_SAMPLES = 500 };
static const double tried_products = 2e8; /* samples x features x units */

static rb_error make_options(rb_context *ctx, const rb_check *check, rb_options **options) {
    const rb_advice *a;
    rb_error err = rb_options_new(ctx, check->method, options);
    for (int64_t i = 0; !err && (a = rb_check_advice(check, i)); i++)
        err = rb_options_set(ctx, *options, a->option, a->value);
    return err;
}

static double number_of(const rb_options *options, const char *name) {
    char text[32] = "0";
    rb_options_get(options, name, text, sizeof text);
    return strtod(text, NULL);
}

/* Of the data, as far as they are in memory. */
static double data_bytes(const rb_source *source) {
    const rb_matrix *m = rb_source_memory(source);
    if (!m) return 0;
    double size = (double)rb_type_size(m->type);
    return m->sparse ? (double)rb_matrix_stored(m) * (size + sizeof *m->columns)
                     : (double)m->n_samples * (double)m->n_features * size;
}

static int64_t samples_to_try(const rb_source *source, double units) {
    double n = (double)source->n_samples,
           most = tried_products / ((double)source->n_features * fmax(units, 1));
    return (int64_t)fmin(n, fmax(most, FEWEST_SAMPLES));
}

/* Seconds of a whole fit, from one of some iterations: all of them take the time of the later ones,
 * and the rest is there once. */
static double extrapolate(const rb_model *model, double all, double iterations) {
    double seconds, sum = 0, later = 0;
    int64_t count = rb_model_iterations(model), from = count > 4 ? 2 : 0;
    for (int64_t t = 0; t < count; t++) {
        rb_model_history(model, t, NULL, NULL, &seconds);
        sum += seconds;
        later += t >= from ? seconds : 0;
    }
    return fmax(all - sum, 0) + (count ? later / (double)(count - from) * iterations : 0);
}

/* Tries the fit in silence. */
static rb_error try_fit(rb_context *ctx, rb_options *options, rb_source *source, double iterations,
                        double *seconds) {
    rb_model *model = NULL;
    rb_log_fn on_log = ctx->on_log;
    rb_progress_fn on_progress = ctx->on_progress;
    ctx->on_log = NULL;
    ctx->on_progress = NULL;
    double began = rb_seconds();
    rb_error err = rb_options_set_integer(ctx, options, "iterations", TRIED);
    err = err ? err : rb_fit(ctx, options, source, NULL, &model);
    if (!err) *seconds = extrapolate(model, rb_seconds() - began, iterations);
    rb_model_free(model);
    ctx->on_log = on_log;
    ctx->on_progress = on_progress;
    return err;
}

rb_error rb_check_cost(rb_context *ctx, const rb_check *check, rb_source *source, rb_cost *cost) {
    rb_options *options = NULL;
    rb_source *part = NULL;
    int64_t bytes = 0;
    rb_error err = rb_size_check(ctx, "the cost", cost->size, sizeof *cost);
    if (!err && !check->method)
        err = rb_fail(ctx, RB_ERROR_DATA, "nothing can be fitted before the problems are mended");
    err = err ? err : make_options(ctx, check, &options);
    err = err ? err : rb_fit_memory(ctx, options, source, &bytes);
    if (!err) {
        cost->bytes = (double)bytes + data_bytes(source);
        cost->iterations = (int64_t)number_of(options, "iterations");
        cost->tried_samples = samples_to_try(source, number_of(options, "units"));
        err = rb_source_slice(ctx, source, 0, cost->tried_samples, &part);
    }
    const double left = rb_memory_free(); /* 0: not known */
    cost->seconds = NAN;
    if (!err && !(left > 0 && (double)bytes > left)) {
        err = try_fit(ctx, options, part, (double)cost->iterations, &cost->seconds);
        cost->seconds *= (double)source->n_samples / (double)cost->tried_samples;
    }
    rb_source_free(part);
    rb_options_free(options);
    return err;
}
