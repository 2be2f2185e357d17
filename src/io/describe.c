/* What is in a source: one pass over it. */
#include "io.h"

#include <math.h>

/* What is added up, and the first value that is infinite. */
typedef struct describing {
    rb_description *to;
    bool infinite;
    int64_t sample, feature;
} describing;

static void add_value(describing *w, double value, int64_t sample, int64_t feature) {
    rb_description *d = w->to;
    if (isinf(value) && !w->infinite) {
        w->infinite = true;
        w->sample = sample;
        w->feature = feature;
    }
    if (isnan(value)) {
        d->missing++;
        return;
    }
    d->nonzeros += value != 0;
    d->sum += value;
    d->sum_of_squares += value * value;
    d->minimum = value < d->minimum ? value : d->minimum;
    d->maximum = value > d->maximum ? value : d->maximum;
}

static void add_rows(rb_context *ctx, void *user, const rb_matrix *m, int64_t first) {
    describing *w = user;
    rb_description *d = w->to;
    for (int64_t i = 0; i < m->n_samples; i++) {
        int64_t e = m->sparse ? m->starts[i] - m->starts[0] : 0;
        int64_t end = m->sparse ? m->starts[i + 1] - m->starts[0] : m->n_features;
        for (; e < end; e++) {
            int64_t at = m->sparse ? e : i * m->row_stride + e * m->column_stride;
            add_value(w, rb_get(m->type, m->values, at), first + i, m->sparse ? m->columns[e] : e);
        }
    }
    if (m->sparse && rb_matrix_stored(m) < m->n_samples * m->n_features) {
        d->minimum = d->minimum > 0 ? 0 : d->minimum;
        d->maximum = d->maximum < 0 ? 0 : d->maximum;
    }
}

rb_error rb_describe(rb_context *ctx, rb_source *source, rb_description *description) {
    rb_error err = rb_size_check(ctx, "the description", description->size, sizeof *description);
    if (err) return err;
    rb_description d = {.size = sizeof d,
                        .samples = source->n_samples,
                        .features = source->n_features,
                        .minimum = INFINITY,
                        .maximum = -INFINITY};
    describing w = {.to = &d};
    err = rb_source_collect(ctx, source, &d.checksum, add_rows, &w);
    if (!err && w.infinite) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the value of sample %lld, feature %lld (counted from %d) is infinite",
                      (long long)rb_nth(ctx, w.sample), (long long)rb_nth(ctx, w.feature),
                      ctx->first);
    }
    if (err) return err;
    if (d.minimum > d.maximum) /* not one value: there is no least and no largest */
        d.minimum = d.maximum = NAN;
    *description = d;
    return RB_OK;
}
