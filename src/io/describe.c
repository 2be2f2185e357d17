/* What is in a source: one pass over it. */
#include "io.h"

#include <math.h>

static rb_error add_value(rb_context *ctx, rb_description *d, double value, int64_t sample,
                          int64_t feature) {
    if (isnan(value)) {
        d->missing++;
        return RB_OK;
    }
    if (isinf(value)) {
        return rb_fail(ctx, RB_ERROR_DATA, "the value of sample %lld, feature %lld is infinite",
                       (long long)sample, (long long)feature);
    }
    d->nonzeros += value != 0;
    d->sum += value;
    d->sum_of_squares += value * value;
    d->minimum = value < d->minimum ? value : d->minimum;
    d->maximum = value > d->maximum ? value : d->maximum;
    return RB_OK;
}

static rb_error add_block(rb_context *ctx, rb_description *d, const rb_matrix *m, int64_t first) {
    rb_error err = RB_OK;
    for (int64_t i = 0; i < m->n_samples; i++) {
        int64_t e = m->sparse ? m->starts[i] - m->starts[0] : 0;
        int64_t end = m->sparse ? m->starts[i + 1] - m->starts[0] : m->n_features;
        for (; !err && e < end; e++) {
            int64_t at = m->sparse ? e : i * m->row_stride + e * m->column_stride;
            err = add_value(ctx, d, rb_get(m->type, m->values, at), first + i,
                            m->sparse ? m->columns[e] : e);
        }
    }
    if (m->sparse && rb_matrix_stored(m) < m->n_samples * m->n_features) {
        d->minimum = d->minimum > 0 ? 0 : d->minimum;
        d->maximum = d->maximum < 0 ? 0 : d->maximum;
    }
    return err;
}

rb_error rb_describe(rb_context *ctx, rb_source *source, rb_description *description) {
    rb_error err = rb_size_check(ctx, "the description", description->size, sizeof *description);
    if (err) return err;
    rb_description d = {.size = sizeof d,
                        .samples = source->n_samples,
                        .features = source->n_features,
                        .minimum = INFINITY,
                        .maximum = -INFINITY};
    int64_t step = rb_samples_at_once(source);
    for (int64_t first = 0; !err && first < d.samples; first += step) {
        rb_matrix block;
        int64_t count = d.samples - first < step ? d.samples - first : step;
        err = rb_source_read(ctx, source, first, count, &block);
        err = err ? err : add_block(ctx, &d, &block, first);
    }
    if (err) return err;
    if (d.minimum > d.maximum) /* not one value: there is no least and no largest */
        d.minimum = d.maximum = NAN;
    *description = d;
    return RB_OK;
}
