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

/* ---- the true causes ---- */

/* Counts the causes of each of n samples that were active. */
static rb_error count_causes(rb_context *ctx, rb_source *states, int64_t *counts, int64_t n) {
    enum { CELLS = 1 << 20, MAX_VALUE = 1000 };
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
            counts[sample] += value != 0;
            if (value != floor(value) || fabs(value) > MAX_VALUE) {
                err =
                    rb_fail(ctx, RB_ERROR_DATA,
                            "the true causes are %.6g for sample %lld, cause %lld: they must be "
                            "samples x causes, a whole number where a cause was active and 0 where "
                            "it was not",
                            value, (long long)sample, (long long)c);
            }
        }
        if (err) return err;
    }
    return RB_OK;
}

/* Their number for each of n samples, or NULL. */
static int64_t *take_causes(rb_scratch *scratch, rb_source *states, int64_t n) {
    int64_t *counts = rb_take(scratch, n, sizeof *counts);
    if (counts && !scratch->err) scratch->err = count_causes(scratch->ctx, states, counts, n);
    return scratch->err ? NULL : counts;
}

/* ---- quality ---- */

/* Traced samples are evenly spread over those of the fit. */
static int64_t traced_sample(const rb_model *model, int64_t k, int64_t traced) {
    const char *fitted = rb_model_attribute(model, "data_samples");
    double n = fmax((double)(fitted ? strtoll(fitted, NULL, 10) : 0), (double)traced);
    return (int64_t)floor((double)k * n / (double)traced);
}

/* A line per traced sample, named by its index. */
static void quality_series(rb_scratch *scratch, const rb_model *model, rb_series_plot *plot) {
    *plot = (rb_series_plot){.low = -0.02,
                             .high = 1.02,
                             .cut = NAN,
                             .across = "iteration",
                             .up = "Q",
                             .legend = "sample"};
    const double *quality = rb_model_array(model, "trace_quality", &plot->count, &plot->lines);
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
    err = err ? err : rb_need_causes(ctx, model);
    if (!err && !rb_model_array(model, "trace_quality", NULL, NULL)) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the fit kept no quality of its truncation; fit again with --trace, and with "
                      "at most %d units",
                      RB_ET_MAX_EXACT);
    }
    if (err) return err;
    quality_series(&scratch, model, &plot);
    if (!scratch.err) scratch.err = rb_draw_series(ctx, &plot, &options, path);
    return rb_scratch_end(&scratch);
}

/* ---- evidence ---- */

/* The columns of a key: samples of large evidence come first. */
enum { MINUS_EVIDENCE, SAMPLE };

void rb_evidence_series(rb_scratch *scratch, const double *evidence, int64_t n, int64_t used,
                        rb_source *states, rb_series_plot *plot) {
    static const char *const words[CLASSES] = {"0", "1", "2", "3", "4",
                                               "5", "6", "7", "8", "9 or more"};
    char fit[48] = "";
    bool cut = used > 0 && used < n;
    const char **names = rb_take(scratch, CLASSES, sizeof *names);
    char *title = rb_take(scratch, RB_TITLE_SIZE, 1);
    double *values = rb_take(scratch, n, sizeof *values);
    int64_t *classes = rb_take(scratch, n, sizeof *classes);
    rb_key *keys = rb_take(scratch, n, sizeof *keys);
    const int64_t *counts = states ? take_causes(scratch, states, n) : NULL;
    if (scratch->err) return;
    for (int64_t i = 0; i < n; i++) {
        keys[i][MINUS_EVIDENCE] = -evidence[i];
        keys[i][SAMPLE] = (double)i;
    }
    rb_sort_keys(keys, n);
    for (int64_t i = 0; i < n; i++) {
        values[i] = -keys[i][MINUS_EVIDENCE];
        classes[i] =
            counts ? (int64_t)fmin((double)counts[(int64_t)keys[i][SAMPLE]], CLASSES - 1) : 0;
        names[classes[i]] = words[classes[i]];
    }
    if (cut) snprintf(fit, sizeof fit, "; the fit used %lld", (long long)used);
    snprintf(title, RB_TITLE_SIZE, "Log evidence of %lld sample%s%s", (long long)n,
             n > 1 ? "s, sorted" : "", fit);
    *plot = (rb_series_plot){.values = values,
                             .lines = 1,
                             .count = n,
                             .cut = cut ? (double)used - 0.5 : NAN,
                             .title = title,
                             .across = "sample",
                             .up = "log evidence",
                             .classes = counts ? classes : NULL,
                             .n_classes = CLASSES,
                             .class_names = names,
                             .legend = "active causes"};
}

rb_error rb_plot_evidence(rb_context *ctx, const double *evidence, int64_t n, int64_t used,
                          rb_source *states, const rb_options *given, const char *path) {
    rb_plot_options options;
    rb_series_plot plot = {0};
    rb_scratch scratch = {.ctx = ctx};
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (!err && n < 1)
        err = rb_fail(ctx, RB_ERROR_DATA, "there are no samples whose evidence could be drawn");
    if (err) return err;
    rb_evidence_series(&scratch, evidence, n, used, states, &plot);
    if (!scratch.err) scratch.err = rb_draw_series(ctx, &plot, &options, path);
    return rb_scratch_end(&scratch);
}
