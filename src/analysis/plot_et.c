/* Pictures of traced fits by expectation truncation: fields and quality over time. */
#include "plot.h"

#include <math.h>

static rb_error need_trace(rb_context *ctx, const rb_model *model, const char *name, int64_t *rows,
                           int64_t *columns, const double **values) {
    *values = rb_model_array(model, name, rows, columns);
    return *values
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_DATA,
                         "the model has no %s; fit linca, nmf-et or mca with --trace, for quality "
                         "with at most 20 units",
                         name);
}

/* Iterations are counted from 1 for readers. NULL: out of memory. */
static double *row_numbers(rb_context *ctx, const double *at, int64_t kept) {
    double *numbers = rb_alloc(ctx, kept, sizeof *numbers);
    for (int64_t k = 0; numbers && k < kept; k++) {
        numbers[k] = at[k] + 1;
    }
    return numbers;
}

rb_error rb_plot_fields(rb_context *ctx, const rb_model *model, const rb_plot_options *options,
                        const char *path) {
    rb_plot_options defaults;
    rb_plot_options_default(&defaults);
    options = options ? options : &defaults;
    rb_filters_picture p = {0};
    int64_t kept = 0;
    const double *at;
    rb_error err = rb_page_check(ctx, options, path);
    if (!err) {
        err = need_trace(ctx, model, "trace_fields", &p.n_features, &p.units, &p.loadings);
    }
    if (!err) {
        err = need_trace(ctx, model, "trace_fields_at", &kept, NULL, &at);
    }
    if (!err) {
        const rb_preprocess *preprocess = model->preprocess;
        p.place = preprocess->selected;
        err = rb_find_shape(ctx, options, p.place ? preprocess->n_input : p.n_features, &p);
    }
    if (err) {
        return err;
    }
    double *numbers = row_numbers(ctx, at, kept);
    if (!numbers) {
        return RB_ERROR_MEMORY;
    }
    p.across = rb_model_units(model);
    p.rows = numbers;
    p.title = options->title ? options->title
                             : "Fields before the M-step; columns: units, rows: iterations";
    err = rb_shape_is_series(options) ? rb_draw_curves(ctx, &p, options, path)
                                      : rb_draw_filters(ctx, &p, options, path);
    rb_free(numbers);
    return err;
}

rb_error rb_plot_quality(rb_context *ctx, const rb_model *model, const rb_plot_options *options,
                         const char *path) {
    rb_plot_options defaults;
    rb_plot_options_default(&defaults);
    options = options ? options : &defaults;
    int64_t iterations, samples;
    const double *quality;
    rb_error err = rb_page_check(ctx, options, path);
    if (!err) {
        err = need_trace(ctx, model, "trace_quality", &iterations, &samples, &quality);
    }
    if (err) {
        return err;
    }
    double *values = rb_alloc(ctx, iterations * samples, sizeof *values);
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t t = 0; t < iterations; t++) {
        for (int64_t k = 0; k < samples; k++) {
            values[k * iterations + t] = quality[t * samples + k];
        }
    }
    char title[128];
    snprintf(title, sizeof title, "Quality of the truncation for %lld samples", (long long)samples);
    rb_series_picture picture = {.values = values,
                                 .lines = samples,
                                 .count = iterations,
                                 .low = -0.02,
                                 .high = 1.02,
                                 .cut = NAN,
                                 .title = options->title ? options->title : title,
                                 .across = "iteration",
                                 .up = "Q"};
    err = rb_draw_series(ctx, &picture, options, path);
    rb_free(values);
    return err;
}
