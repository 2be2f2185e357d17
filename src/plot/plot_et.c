/* Pictures of fits by expectation truncation: fields and quality over time. */
#include "plot.h"

#include <rarebit/et.h>

#include <math.h>
#include <stdlib.h>

/* Of models of other methods neither is drawn. */
static rb_error need_causes(rb_context *ctx, const rb_model *model) {
    bool causes = rb_model_array(model, "loadings", NULL, NULL) && rb_has_causes(model);
    return causes ? RB_OK
                  : rb_fail(ctx, RB_ERROR_DATA,
                            "this picture is of models of linca, nmf-et and mca; 'plot filters' "
                            "draws the loadings of a model of method '%s'",
                            rb_model_method(model));
}

/* ---- fields ---- */

/* Iterations are counted from 1 for readers. NULL: out of memory. */
static double *row_numbers(rb_context *ctx, const double *at, int64_t kept) {
    double *numbers = rb_alloc(ctx, kept, sizeof *numbers);
    for (int64_t k = 0; numbers && k < kept; k++) {
        numbers[k] = at[k] + 1;
    }
    return numbers;
}

/* The fields over time, or without a trace the final ones alone; *numbers is to be freed. */
static rb_error find_fields(rb_context *ctx, const rb_model *model, rb_filters_picture *p,
                            double **numbers) {
    int64_t kept = 0;
    const double *at = rb_model_array(model, "trace_fields_at", &kept, NULL);
    p->loadings = at ? rb_model_array(model, "trace_fields", &p->n_features, &p->units) : NULL;
    if (p->loadings) {
        p->across = rb_model_units(model);
        p->title = "Fields before the M-step; columns: units, rows: iterations";
        p->rows = *numbers = row_numbers(ctx, at, kept);
        return *numbers ? RB_OK : RB_ERROR_MEMORY;
    }
    p->loadings = rb_model_array(model, "loadings", &p->n_features, &p->units);
    p->title = "Final fields";
    rb_log(ctx, RB_LOG_INFO,
           "the fit kept no trace: the final fields alone are drawn; those of "
           "earlier iterations need 'fit --trace'");
    return RB_OK;
}

rb_error rb_plot_fields(rb_context *ctx, const rb_model *model, const rb_options *given,
                        const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_filters_picture p = {0};
    double *numbers = NULL;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (!err) {
        err = need_causes(ctx, model);
    }
    if (!err) {
        err = find_fields(ctx, model, &p, &numbers);
    }
    if (!err) {
        const rb_preprocess *preprocess = model->preprocess;
        p.place = preprocess->selected;
        err = rb_find_shape(ctx, options, p.place ? preprocess->n_input : p.n_features, &p);
    }
    if (!err) {
        p.title = options->title ? options->title : p.title;
        err = rb_shape_is_series(options) ? rb_draw_curves(ctx, &p, options, path)
                                          : rb_draw_filters(ctx, &p, options, path);
    }
    rb_free(numbers);
    return err;
}

/* ---- quality ---- */

enum { NUMBER = 24 };

/* Which samples were traced, as texts: evenly spread ones. */
typedef struct sample_names {
    char (*text)[NUMBER];
    const char **list;
} sample_names;

static rb_error name_samples(rb_context *ctx, const rb_model *model, int64_t count,
                             sample_names *names) {
    const char *fitted = rb_model_attribute(model, "data_samples");
    int64_t n = fitted ? strtoll(fitted, NULL, 10) : 0;
    n = n >= count ? n : count;
    names->text = rb_alloc(ctx, count, sizeof *names->text);
    names->list = rb_alloc(ctx, count, sizeof *names->list);
    if (!names->text || !names->list) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < count; k++) {
        double sample = floor((double)k * (double)n / (double)count);
        snprintf(names->text[k], NUMBER, "%.0f", sample);
        names->list[k] = names->text[k];
    }
    return RB_OK;
}

/* quality: iterations x samples. */
static rb_error draw_quality(rb_context *ctx, const double *quality, int64_t iterations,
                             int64_t samples, const char *const *names,
                             const rb_plot_options *options, const char *path) {
    char title[128];
    double *values = rb_alloc(ctx, iterations * samples, sizeof *values);
    if (!values) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t t = 0; t < iterations; t++) {
        for (int64_t k = 0; k < samples; k++) {
            values[k * iterations + t] = quality[t * samples + k];
        }
    }
    snprintf(title, sizeof title, "Quality of the truncation for %lld samples", (long long)samples);
    rb_series_picture picture = {.values = values,
                                 .lines = samples,
                                 .count = iterations,
                                 .low = -0.02,
                                 .high = 1.02,
                                 .cut = NAN,
                                 .title = options->title ? options->title : title,
                                 .across = "iteration",
                                 .up = "Q",
                                 .line_names = names,
                                 .legend = "sample"};
    rb_error err = rb_draw_series(ctx, &picture, options, path);
    rb_free(values);
    return err;
}

rb_error rb_plot_quality(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options chosen, *options = &chosen;
    int64_t iterations, samples;
    sample_names names = {0};
    const double *quality = rb_model_array(model, "trace_quality", &iterations, &samples);
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (!err) {
        err = need_causes(ctx, model);
    }
    if (!err && !quality) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the fit kept no quality of its truncation; fit again with --trace, and with "
                      "at most %d units",
                      RB_ET_MAX_EXACT);
    }
    if (!err) {
        err = name_samples(ctx, model, samples, &names);
    }
    if (!err) {
        err = draw_quality(ctx, quality, iterations, samples, names.list, options, path);
    }
    rb_free(names.text);
    rb_free(names.list);
    return err;
}
