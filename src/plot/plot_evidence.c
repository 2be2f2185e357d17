/* The data cut as a picture: sorted log evidences, in the colours of how many causes were active
 * (Luecke and Eggert 2010, Fig. 4D). */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { CLASSES = 10 }; /* as many as have colours that differ well */

static const char *const class_names[CLASSES] = {"0", "1", "2", "3", "4",
                                                 "5", "6", "7", "8", "9 or more"};

typedef struct ranked {
    double evidence;
    int64_t sample, causes;
} ranked;

static int descending(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->evidence != y->evidence) {
        return x->evidence < y->evidence ? 1 : -1;
    }
    return x->sample < y->sample ? -1 : 1;
}

/* Counts the causes of a sample that were active. */
static rb_error count_causes(rb_context *ctx, const rb_matrix *states, int64_t i, int64_t sample,
                             int64_t *count) {
    *count = 0;
    for (int64_t c = 0; c < states->n_features; c++) {
        double value = rb_matrix_at(states, i, c);
        if (!isfinite(value)) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "the true causes are not known of sample %lld, cause %lld: they must be "
                           "samples x causes, 0 where a cause was not active",
                           (long long)sample, (long long)c);
        }
        if (value != 0 && value != 1) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "the true causes are %.6g for sample %lld, cause %lld: they must be "
                           "samples x causes, 1 where a cause was active and 0 where it was not",
                           value, (long long)sample, (long long)c);
        }
        *count += value != 0;
    }
    return RB_OK;
}

static rb_error count_all(rb_context *ctx, rb_source *states, ranked *samples, int64_t n) {
    enum { CELLS = 1 << 20 };
    if (states->n_samples != n) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the true causes are of %lld samples, but there are %lld: they must be "
                       "samples x causes, of the same samples",
                       (long long)states->n_samples, (long long)n);
    }
    int64_t size = CELLS / (states->n_features > 0 ? states->n_features : 1) + 1;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_matrix view;
        int64_t count = n - first < size ? n - first : size;
        err = rb_source_read(ctx, states, first, count, &view);
        for (int64_t i = 0; !err && i < count; i++) {
            err = count_causes(ctx, &view, i, first + i, &samples[first + i].causes);
        }
    }
    return err;
}

static rb_error draw(rb_context *ctx, const ranked *samples, int64_t n, int64_t used, bool known,
                     const rb_plot_options *options, const char *path) {
    double *values = rb_alloc(ctx, n, sizeof *values);
    int64_t *classes = values ? rb_alloc(ctx, n, sizeof *classes) : NULL;
    if (!classes) {
        rb_free(values);
        return RB_ERROR_MEMORY;
    }
    char title[128];
    bool cut = used > 0 && used < n;
    snprintf(title, sizeof title, "Log evidence of %lld sample%s", (long long)n,
             n > 1 ? "s, sorted" : "");
    if (cut) {
        snprintf(title, sizeof title, "Log evidence of %lld samples, sorted; the fit used %lld",
                 (long long)n, (long long)used);
    }
    rb_series_picture picture = {.values = values,
                                 .lines = 1,
                                 .count = n,
                                 .cut = cut ? (double)used - 0.5 : NAN,
                                 .title = options->title ? options->title : title,
                                 .across = "sample",
                                 .up = "log evidence",
                                 .classes = known ? classes : NULL,
                                 .class_names = class_names,
                                 .legend = "active causes"};
    for (int64_t i = 0; i < n; i++) {
        values[i] = samples[i].evidence;
        classes[i] = samples[i].causes < CLASSES ? samples[i].causes : CLASSES - 1;
        picture.n_classes = classes[i] >= picture.n_classes ? classes[i] + 1 : picture.n_classes;
    }
    rb_error err = rb_draw_series(ctx, &picture, options, path);
    rb_free(values);
    rb_free(classes);
    return err;
}

rb_error rb_plot_evidence(rb_context *ctx, const double *evidence, int64_t n, int64_t used,
                          rb_source *states, const rb_options *given, const char *path) {
    rb_plot_options chosen, *options = &chosen;
    rb_error err = rb_page_check(ctx, given, &chosen, path);
    if (!err && n < 1) {
        err = rb_fail(ctx, RB_ERROR_DATA, "there are no samples whose evidence could be drawn");
    }
    ranked *samples = err ? NULL : rb_alloc_zero(ctx, n, sizeof *samples);
    if (!samples) {
        return err ? err : RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) {
        samples[i] = (ranked){.evidence = evidence[i], .sample = i};
    }
    if (states) {
        err = count_all(ctx, states, samples, n);
    }
    if (!err) {
        qsort(samples, (size_t)n, sizeof *samples, descending);
        err = draw(ctx, samples, n, used, states != NULL, options, path);
    }
    rb_free(samples);
    return err;
}
