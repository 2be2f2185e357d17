/* How large the input of a net is. */
#include "train.h"

#include <math.h>

enum { ROWS = 256 };

/* The moments of the preprocessing tell. */
static double of_moments(const rb_preprocess *p) {
    double sum = 0;
    for (int64_t k = 0; k < p->n_features; k++) {
        const rb_moments *of = &p->moments[p->selected ? p->selected[k] : k];
        double shift = of->mean - p->centre[k], count = of->count > 0 ? (double)of->count : 1;
        sum += (of->squares / count + shift * shift) / (p->scale[k] * p->scale[k]);
    }
    return sum / (double)(p->n_features > 0 ? p->n_features : 1);
}

/* Where effects of covariates are taken out, a pass. */
static rb_error of_samples(rb_context *ctx, const rb_preprocess *p, rb_source *source,
                           double *mean) {
    rb_feed *feed = NULL;
    double sum = 0;
    int64_t values = 0;
    rb_block block = {0};
    rb_error err = rb_feed_new(ctx, p, source, RB_FLOAT64, &feed);
    while (rb_feed_next(ctx, feed, ROWS, &block, &err)) {
        int64_t there;
        sum += rb_block_squares(&block, &there);
        values += there;
    }
    rb_feed_free(feed);
    *mean = values > 0 ? sum / (double)values : 0;
    return err;
}

rb_error deep_input_size(rb_context *ctx, const rb_preprocess *p, rb_source *source, double *size) {
    double mean = 0;
    rb_error err = RB_OK;
    if (p->moments && !p->regress)
        mean = of_moments(p);
    else
        err = of_samples(ctx, p, source, &mean);
    *size = isfinite(mean) && mean > 0 ? sqrt(mean) : 1;
    return err;
}
