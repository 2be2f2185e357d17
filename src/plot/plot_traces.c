/* Plots of what a traced fit kept of its iterations: fields, and the quality of the truncation. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { NUMBER = 24 };

/* The names of the arrays; NULL and an error: the method keeps none. */
static const rb_trace_arrays *find_traces(rb_context *ctx, const rb_model *model, rb_error *err) {
    const rb_trace_arrays *traces = rb_traces(model);
    if (!*err && !traces) {
        *err = rb_fail(ctx, RB_ERROR_DATA,
                       "fits of method '%s' keep no fields of their iterations; 'plot filters' "
                       "draws the final loadings",
                       rb_model_method(model));
    }
    return traces;
}

/* Traced samples are evenly spread over those of the fit. */
static int64_t traced_sample(const rb_model *model, int64_t k, int64_t traced) {
    const char *fitted = rb_model_attribute(model, "data_samples");
    double n = fmax((double)(fitted ? strtoll(fitted, NULL, 10) : 0), (double)traced);
    return (int64_t)floor((double)k * n / (double)traced);
}

/* A line per traced sample, named by its index. */
static void quality_series(rb_scratch *scratch, const rb_model *model, const char *array,
                           rb_series_plot *plot) {
    *plot = (rb_series_plot){.low = -0.02,
                             .high = 1.02,
                             .cut = NAN,
                             .across = "iteration",
                             .up = "Q",
                             .legend = "sample"};
    const double *quality = rb_model_array(model, array, &plot->count, &plot->lines);
    int64_t samples = plot->lines, iterations = plot->count;
    char(*texts)[NUMBER] = rb_take(scratch, samples, sizeof *texts);
    char *title = rb_take(scratch, RB_TITLE_SIZE, 1);
    const char **names = rb_take(scratch, samples, sizeof *names);
    double *values = rb_take(scratch, iterations * samples, sizeof *values);
    if (scratch->err) return;
    for (int64_t k = 0; k < samples; k++) {
        snprintf(texts[k], NUMBER, "%lld", (long long)traced_sample(model, k, samples));
        names[k] = texts[k];
        for (int64_t t = 0; t < iterations; t++)
            values[k * iterations + t] = quality[t * samples + k];
    }
    snprintf(title, RB_TITLE_SIZE, "Quality of the truncation for %lld samples",
             (long long)samples);
    plot->title = title;
    plot->values = values;
    plot->line_names = names;
}

rb_error rb_plot_quality(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options options;
    rb_series_plot plot = {0};
    rb_scratch scratch = {.ctx = ctx};
    rb_error err = rb_page_check(ctx, given, &options, path);
    const rb_trace_arrays *traces = find_traces(ctx, model, &err);
    if (!err && !rb_model_array(model, traces->quality, NULL, NULL)) {
        err = rb_fail(ctx, RB_ERROR_DATA, "the fit kept no quality of its truncation; %s",
                      traces->quality_needs);
    }
    if (err) return err;
    quality_series(&scratch, model, traces->quality, &plot);
    if (!scratch.err) scratch.err = rb_draw_series(ctx, &plot, &options, path);
    return rb_scratch_end(&scratch);
}

/* The fields over time, or without a trace the final ones alone; *numbers is to be freed. */
static rb_error find_fields(rb_context *ctx, const rb_model *model, const rb_trace_arrays *traces,
                            rb_filters_plot *p, double **numbers) {
    int64_t kept = 0;
    const double *at = rb_model_array(model, traces->fields_at, &kept, NULL);
    p->n_features = rb_model_features(model);
    p->units = rb_model_units(model);
    p->title = "Final fields";
    rb_error err =
        rb_model_need_array(ctx, model, "loadings", p->n_features, p->units, &p->loadings);
    if (err) return err;
    if (!at) {
        rb_log(ctx, RB_LOG_INFO,
               "the fit kept no trace: only the final fields are drawn; fit again with `trace` for "
               "those of earlier iterations");
        return RB_OK;
    }
    p->across = p->units;
    p->title = "Fields before the M-step; columns: units, rows: iterations";
    p->rows = *numbers = rb_alloc(ctx, kept, sizeof **numbers);
    for (int64_t k = 0; *numbers && k < kept; k++)
        (*numbers)[k] = at[k] + 1; /* iterations are counted from 1 for readers */
    if (!*numbers || !rb_multiply(kept, p->across, &p->units)) return RB_ERROR_MEMORY;
    return rb_model_need_array(ctx, model, traces->fields, p->n_features, p->units, &p->loadings);
}

rb_error rb_plot_fields(rb_context *ctx, const rb_model *model, const rb_options *given,
                        const char *path) {
    rb_plot_options options;
    rb_filters_plot p = {0};
    double *numbers = NULL;
    rb_error err = rb_page_check(ctx, given, &options, path);
    const rb_trace_arrays *traces = find_traces(ctx, model, &err);
    err = err ? err : find_fields(ctx, model, traces, &p, &numbers);
    err = err ? err : rb_filters_shape(ctx, &options, model, &p);
    err = err ? err : rb_draw_filters(ctx, &p, &options, path);
    rb_free(numbers);
    return err;
}
