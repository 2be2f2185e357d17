/* Plots of fits by expectation truncation: quality over the iterations, and the data cut: sorted
 * log evidences, in the colours of how many causes were active (Luecke and Eggert 2010, Fig. 4D).
 */
#include "plot.h"

#include <rarebit/et.h>

#include <math.h>
#include <stdlib.h>

enum { NUMBER = 24, CLASSES = 10 }; /* as many as have colours that differ well */

rb_error rb_need_causes(rb_context *ctx, const rb_model *model) {
    bool causes = rb_model_array(model, "loadings", NULL, NULL) && rb_has_causes(model);
    return causes ? RB_OK
                  : rb_fail(ctx, RB_ERROR_DATA,
                            "this picture is of models with binary causes; 'plot filters' draws "
                            "the loadings of a model of method '%s'",
                            rb_model_method(model));
}

/* ---- quality ---- */

/* A line per traced sample; they are evenly spread, and named by their indices. quality: iterations
 * x samples. */
static rb_error draw_quality(rb_context *ctx, const rb_model *model, const rb_series_plot *plot,
                             const double *quality, const rb_plot_options *options,
                             const char *path) {
    const char *fitted = rb_model_attribute(model, "data_samples");
    int64_t samples = plot->lines, iterations = plot->count;
    double n = fmax((double)(fitted ? strtoll(fitted, NULL, 10) : 0), (double)samples);
    rb_scratch scratch = {.ctx = ctx};
    char(*texts)[NUMBER] = rb_take(&scratch, samples, sizeof *texts), title[RB_TITLE_SIZE];
    const char **names = rb_take(&scratch, samples, sizeof *names);
    double *values = rb_take(&scratch, iterations * samples, sizeof *values);
    for (int64_t k = 0; k < samples && !scratch.err; k++) {
        snprintf(texts[k], NUMBER, "%.0f", floor((double)k * n / (double)samples));
        names[k] = texts[k];
        for (int64_t t = 0; t < iterations; t++)
            values[k * iterations + t] = quality[t * samples + k];
    }
    snprintf(title, sizeof title, "Quality of the truncation for %lld samples", (long long)samples);
    rb_series_plot drawn = *plot;
    drawn.title = title;
    drawn.values = values;
    drawn.line_names = names;
    scratch.err = scratch.err ? scratch.err : rb_draw_series(ctx, &drawn, options, path);
    return rb_scratch_end(&scratch);
}

rb_error rb_plot_quality(rb_context *ctx, const rb_model *model, const rb_options *given,
                         const char *path) {
    rb_plot_options options;
    rb_series_plot plot = {.low = -0.02,
                           .high = 1.02,
                           .cut = NAN,
                           .across = "iteration",
                           .up = "Q",
                           .legend = "sample"};
    const double *quality = rb_model_array(model, "trace_quality", &plot.count, &plot.lines);
    rb_error err = rb_page_check(ctx, given, &options, path);
    err = err ? err : rb_need_causes(ctx, model);
    if (!err && !quality) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the fit kept no quality of its truncation; fit again with --trace, and with "
                      "at most %d units",
                      RB_ET_MAX_EXACT);
    }
    return err ? err : draw_quality(ctx, model, &plot, quality, &options, path);
}

/* ---- evidence ---- */

/* The columns of a key: samples of large evidence come first. */
enum { MINUS_EVIDENCE, SAMPLE, N_CAUSES };

/* Counts the causes of each sample that were active. */
static rb_error count_causes(rb_context *ctx, rb_source *states, rb_key *keys, int64_t n) {
    enum { CELLS = 1 << 20 };
    int64_t causes = states->n_features, size = CELLS / (causes > 0 ? causes : 1) + 1;
    if (states->n_samples != n) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the true causes are of %lld samples, but there are %lld: they must be "
                       "samples x causes, of the same samples",
                       (long long)states->n_samples, (long long)n);
    }
    for (int64_t first = 0; first < n; first += size) {
        rb_matrix view;
        int64_t count = n - first < size ? n - first : size;
        rb_error err = rb_source_read(ctx, states, first, count, &view);
        for (int64_t i = 0; !err && i < count * causes; i++) {
            int64_t sample = first + i / causes, c = i % causes;
            double value = rb_matrix_at(&view, i / causes, c);
            keys[sample][N_CAUSES] += value;
            if (value != 0 && value != 1) {
                err = rb_fail(ctx, RB_ERROR_DATA,
                              "the true causes are %.6g for sample %lld, cause %lld: they must be "
                              "samples x causes, 1 where a cause was active and 0 where it was not",
                              value, (long long)sample, (long long)c);
            }
        }
        if (err) return err;
    }
    return RB_OK;
}

static rb_error draw(rb_context *ctx, const rb_key *keys, int64_t n, int64_t used, bool known,
                     const rb_plot_options *options, const char *path) {
    static const char *const words[CLASSES] = {"0", "1", "2", "3", "4",
                                               "5", "6", "7", "8", "9 or more"};
    const char *names[CLASSES] = {0};
    char title[RB_TITLE_SIZE], fit[48] = "";
    bool cut = used > 0 && used < n;
    rb_scratch scratch = {.ctx = ctx};
    double *values = rb_take(&scratch, n, sizeof *values);
    int64_t *classes = rb_take(&scratch, n, sizeof *classes);
    for (int64_t i = 0; i < n && !scratch.err; i++) {
        values[i] = -keys[i][MINUS_EVIDENCE];
        classes[i] = (int64_t)fmin(keys[i][N_CAUSES], CLASSES - 1);
        names[classes[i]] = words[classes[i]];
    }
    if (cut) snprintf(fit, sizeof fit, "; the fit used %lld", (long long)used);
    snprintf(title, sizeof title, "Log evidence of %lld sample%s%s", (long long)n,
             n > 1 ? "s, sorted" : "", fit);
    rb_series_plot plot = {.values = values,
                           .lines = 1,
                           .count = n,
                           .cut = cut ? (double)used - 0.5 : NAN,
                           .title = title,
                           .across = "sample",
                           .up = "log evidence",
                           .classes = known ? classes : NULL,
                           .n_classes = CLASSES,
                           .class_names = names,
                           .legend = "active causes"};
    scratch.err = scratch.err ? scratch.err : rb_draw_series(ctx, &plot, options, path);
    return rb_scratch_end(&scratch);
}

rb_error rb_plot_evidence(rb_context *ctx, const double *evidence, int64_t n, int64_t used,
                          rb_source *states, const rb_options *given, const char *path) {
    rb_plot_options options;
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (!err && n < 1)
        err = rb_fail(ctx, RB_ERROR_DATA, "there are no samples whose evidence could be drawn");
    rb_key *keys = err ? NULL : rb_alloc_zero(ctx, n, sizeof *keys);
    if (!keys) return err ? err : RB_ERROR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        keys[i][MINUS_EVIDENCE] = -evidence[i];
        keys[i][SAMPLE] = (double)i;
    }
    if (states) err = count_causes(ctx, states, keys, n);
    if (!err) {
        rb_sort_keys(keys, n);
        err = draw(ctx, keys, n, used, states != NULL, &options, path);
    }
    rb_free(keys);
    return err;
}
