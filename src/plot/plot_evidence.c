/* The plot of the data cut: sorted log evidences, in the colours of how many causes were active
 * (Luecke and Eggert 2010, Fig. 4D).
 */
#include "plot.h"

#include <math.h>

enum { CLASSES = 10 }; /* as many as have colours that differ well */

/* Counts the causes of each of n samples that were active. */
static rb_error count_causes(rb_context *ctx, rb_source *states, int64_t *counts, int64_t n) {
    enum { CELLS = 1 << 20, MAX_VALUE = 1000 };
    int64_t causes = states->n_features, size = CELLS / (causes > 0 ? causes : 1) + 1;
    if (states->n_samples != n) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the true causes are of %lld samples, but there are %lld; give samples x "
                       "causes of the same samples",
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
    if (!err && n < 1) err = rb_fail(ctx, RB_ERROR_DATA, "there are no samples to draw");
    if (err) return err;
    rb_evidence_series(&scratch, evidence, n, used, states, &plot);
    if (!scratch.err) scratch.err = rb_draw_series(ctx, &plot, &options, path);
    return rb_scratch_end(&scratch);
}
