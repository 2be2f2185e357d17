/* Values of chosen samples and features as a model sees them, each feature standardised. */
#include "modules.h"
#include <rarebit/view.h>

#include <math.h>

enum { BLOCK = 256 };

/* Sums of each feature of the view over the values that are there. */
typedef struct moments {
    double sum, square, count;
} moments;

static rb_error check(rb_context *ctx, const rb_model *model, rb_source *source,
                      const rb_view *view) {
    rb_error err = rb_size_check(ctx, "the view", view->size, sizeof *view);
    int64_t samples = rb_source_samples(source), features = rb_model_features(model);
    for (int64_t i = 0; i < view->n_samples && !err; i++) {
        int64_t before = i ? view->samples[i - 1] : -1, sample = view->samples[i];
        if (sample <= before || sample >= samples) {
            err = rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "sample %lld of a view of %lld samples follows sample %lld: they must ascend",
                (long long)sample, (long long)samples, (long long)before);
        }
    }
    for (int64_t k = 0; k < view->n_features && !err; k++) {
        if (view->features[k] < 0 || view->features[k] >= features) {
            err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                          "a view asks for feature %lld, but the model has %lld",
                          (long long)view->features[k], (long long)features);
        }
    }
    return err;
}

/* One sample: to the sums, and as column `to` into the view; to < 0: it is not in it. */
static void add_sample(rb_view *view, moments *sums, rb_dense row, int64_t to) {
    for (int64_t k = 0; k < view->n_features; k++) {
        double value = rb_dense_get(row, 0, view->features[k]);
        if (to >= 0) view->values[k * view->n_samples + to] = (float)value;
        if (isnan(value)) continue;
        sums[k].sum += value;
        sums[k].square += value * value;
        sums[k].count++;
    }
}

static rb_error collect(rb_context *ctx, rb_feed *feed, rb_dense row, rb_view *view,
                        moments *sums) {
    int64_t next = 0;
    rb_block block = {0};
    rb_error err = RB_OK;
    while (rb_feed_next(ctx, feed, BLOCK, &block, &err)) {
        for (int64_t i = 0; i < block.n_samples; i++) {
            bool shown = next < view->n_samples && view->samples[next] == block.first + i;
            rb_block_rows(&block, i, row);
            add_sample(view, sums, row, shown ? next++ : -1);
        }
    }
    return err;
}

static void standardise(rb_view *view, const moments *sums) {
    for (int64_t k = 0; k < view->n_features; k++) {
        double mean = sums[k].sum / fmax(sums[k].count, 1);
        double sd = sqrt(fmax(sums[k].square / fmax(sums[k].count, 1) - mean * mean, 0));
        bool constant = sd <= 1e-7 * fabs(mean);
        float *values = view->values + k * view->n_samples;
        for (int64_t i = 0; i < view->n_samples; i++)
            if (!isnan(values[i])) values[i] = constant ? 0 : (float)((values[i] - mean) / sd);
    }
}

rb_error rb_view_fill(rb_context *ctx, const rb_model *model, rb_source *source, rb_view *view) {
    rb_scratch scratch = {.ctx = ctx, .err = check(ctx, model, source, view)};
    if (scratch.err) return scratch.err;
    rb_feed *feed = NULL;
    rb_dense row = {0};
    moments *sums = rb_take(&scratch, view->n_features, sizeof *sums);
    rb_dense_take(&scratch, model->type, 1, rb_model_features(model), &row);
    if (!scratch.err) scratch.err = rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    if (!scratch.err) scratch.err = collect(ctx, feed, row, view, sums);
    if (!scratch.err) standardise(view, sums);
    rb_feed_free(feed);
    return rb_scratch_end(&scratch);
}
