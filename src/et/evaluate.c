/* Log-likelihood, sparseness and reconstruction error of a model on data. */
#include "fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct metrics {
    et_coder *coder;
    rb_dense rebuilt;      /* capacity x D, of the type: as `reconstruct` gives them */
    rb_dense given;        /* likewise: the samples */
    int64_t zeros, values; /* values that are there */
    double evidence, squares;
    bool *in_map;  /* H */
    int64_t first; /* of the block at hand */
    double *likelihoods;

    /* Against all states; every `step`-th sample of a block, 0: none. */
    int64_t step, exact_samples, *index;
    et_compared *compared;
    et_compared sum;
};

/* As far as the exact posteriors do not take more than so many operations. */
static int64_t exact_step(const et_setup *setup, int64_t n) {
    const double max = 1e10;
    double work = et_exact_work(setup->units, &setup->values, setup->n_features) * (double)n;
    bool few = et_enumerable(setup->units, &setup->values);
    return few ? (int64_t)fmax(1, ceil(work / max)) : 0;
}

static void add_exact(rb_context *ctx, struct metrics *f, const rb_block *block) {
    int64_t count = 0;
    for (int64_t i = 0; f->step && i < block->n_samples; i += f->step)
        f->index[count++] = i;
    et_compare(ctx, f->coder->engine, block, &f->coder->results, count, f->index, f->compared);
    for (int64_t s = 0; s < count; s++) {
        f->sum.quality += f->compared[s].quality;
        f->sum.truncation += f->compared[s].truncation;
        f->sum.hits += f->compared[s].hits;
        f->sum.all += f->compared[s].all;
    }
    f->exact_samples += count;
}

/* The squared error of rebuilt values of sample i, over those that are there. */
static double squared_error(rb_dense given, rb_dense rebuilt, int64_t i) {
    double sum = 0;
    for (int64_t d = 0; d < given.cols; d++) {
        double value = rb_dense_get(given, i, d), difference = value - rb_dense_get(rebuilt, i, d);
        sum += isnan(value) ? 0 : difference * difference;
    }
    return sum;
}

static rb_error add_block(rb_context *ctx, void *user, int64_t first, const rb_block *block) {
    struct metrics *f = user;
    const et_results *r = &f->coder->results;
    rb_dense rebuilt = rb_dense_rows(f->rebuilt, 0, block->n_samples);
    rb_dense given = rb_dense_rows(f->given, 0, block->n_samples);
    et_expect(ctx, f->coder, rebuilt);
    rb_block_rows(block, 0, given);
    et_note_map(f->coder->engine, r, block->n_samples, f->in_map);
    add_exact(ctx, f, block);
    for (int64_t i = 0; i < block->n_samples; i++) {
        const void *mean = rb_dense_row(r->mean, i);
        f->evidence += r->evidence[i];
        if (f->likelihoods) f->likelihoods[f->first + first + i] = r->evidence[i];
        for (int64_t h = 0; h < r->mean.cols; h++)
            f->zeros += rb_get(r->mean.type, mean, h) == 0;
        f->values += r->there[i];
        f->squares += squared_error(given, rebuilt, i);
    }
    return RB_OK;
}

static rb_error code_block(rb_context *ctx, void *user, const rb_block *block) {
    struct metrics *f = user;
    f->first = block->first;
    return et_code(ctx, f->coder, NULL, block, add_block, f);
}

static rb_error add_all(rb_context *ctx, struct metrics *f, rb_feed *feed, rb_metrics *metrics) {
    rb_adding all = {.feed = feed,
                     .block_samples = f->coder->results.capacity,
                     .fn = code_block,
                     .user = f,
                     .totals = {{f->in_map, f->coder->engine->setup.units, RB_KEPT_FLAG},
                                {&f->zeros, 1, RB_KEPT_INTEGER},
                                {&f->values, 1, RB_KEPT_INTEGER},
                                {&f->exact_samples, 1, RB_KEPT_INTEGER},
                                {&f->evidence, 1, RB_KEPT_FLOAT64},
                                {&f->squares, 1, RB_KEPT_FLOAT64},
                                {&f->sum.quality, 1, RB_KEPT_FLOAT64},
                                {&f->sum.truncation, 1, RB_KEPT_FLOAT64},
                                {&f->sum.hits, 1, RB_KEPT_FLOAT64},
                                {&f->sum.all, 1, RB_KEPT_FLOAT64}}};
    return rb_metrics_add(ctx, metrics, &all, false);
}

int64_t et_samples_used(const rb_model *model) {
    int64_t values = 0;
    const double *used = rb_model_array(model, "used", &values, NULL);
    return used && values == 1 ? (int64_t)*used : 0;
}

void et_summary(const rb_model *model, bool details, char *line, size_t size) {
    const char *count = rb_model_attribute(model, "count");
    int64_t last = rb_model_iterations(model) - 1;
    double sigma = NAN, prior = NAN;
    const char *traffic = details ? rb_model_attribute(model, "device_traffic") : NULL;
    char noise[64] = "", causes[96] = "";
    rb_model_metric(model, last, "sigma", &sigma);
    rb_model_metric(model, last, "prior", &prior);
    if (isfinite(sigma)) snprintf(noise, sizeof noise, "sigma %.3g", sigma);
    if (isfinite(prior) && count && strcmp(count, "0") != 0)
        snprintf(causes, sizeof causes, "exactly %.32s causes per sample", count);
    else if (isfinite(prior))
        snprintf(causes, sizeof causes, "prior %.3g (%.3g causes per sample)", prior,
                 prior * (double)rb_model_units(model));
    snprintf(line, size, "%s%s%s%s%s", noise, *noise && *causes ? ", " : "", causes,
             traffic ? ", moved to and from the device: " : "", traffic ? traffic : "");
}

static void fill(const struct metrics *f, const rb_model *model, int64_t n, rb_metrics *metrics) {
    const et_engine *engine = f->coder->engine;
    int64_t units = engine->setup.units, causes = 0, used = et_samples_used(model);
    double mass = et_prior_mass(&engine->setup, engine->parameters, engine->setup.widest_active);
    for (int64_t h = 0; h < units; h++)
        causes += f->in_map[h];
    rb_metrics_rebuilt(metrics, (double)f->zeros / ((double)n * (double)units), f->squares,
                       (double)f->values);
    rb_metrics_set(metrics, "objective", f->evidence / (double)n - log(mass));
    rb_metrics_set(metrics, "log_likelihood", f->evidence / (double)n);
    rb_metrics_set(metrics, "causes_used", (double)causes);
    rb_metrics_set(metrics, "samples_used", used ? (double)used : NAN);
    rb_metrics_set(metrics, "exact_samples", (double)f->exact_samples);
    if (f->exact_samples) {
        rb_metrics_set(metrics, "quality", f->sum.quality / (double)f->exact_samples);
        rb_metrics_set(metrics, "truncation", f->sum.truncation / (double)f->exact_samples);
        rb_metrics_set(metrics, "candidate_hits", f->sum.hits / f->sum.all);
    }
}

rb_error et_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics) {
    enum { CELLS = 1 << 20 };
    int64_t n = rb_feed_samples(feed), d = model->preprocess->n_features;
    int64_t size = CELLS / (d > 0 ? d : 1) / ET_TASK_SAMPLES * ET_TASK_SAMPLES;
    size = size < ET_TASK_SAMPLES ? ET_TASK_SAMPLES : size;
    struct metrics f = {.likelihoods = metrics->likelihoods};
    rb_scratch memory = {.ctx = ctx};
    void *coder = NULL;
    rb_error err = et_coder_new(ctx, model, rb_smaller(size, n), &coder);
    err = err ? err : et_coder_keep(ctx, coder, ET_KEEP_STATES);
    if (!err) {
        f.coder = coder;
        f.step = exact_step(&f.coder->engine->setup, n);
        size = f.coder->results.capacity;
        rb_dense_take(&memory, model->type, size, d, &f.rebuilt);
        rb_dense_take(&memory, model->type, size, d, &f.given);
        f.in_map = rb_take(&memory, f.coder->engine->setup.units, sizeof *f.in_map);
        f.index = rb_take(&memory, size, sizeof *f.index);
        f.compared = rb_take(&memory, size, sizeof *f.compared);
        err = memory.err ? memory.err : add_all(ctx, &f, feed, metrics);
    }
    if (!err) fill(&f, model, n, metrics);
    et_coder_free(coder);
    rb_scratch_end(&memory);
    return err;
}

const rb_metric_row et_metric_rows[] = {
    {"causes_used", "causes used", "in the most probable state of a sample", false},
    {"samples_used", "samples used", "of the training data, in the last M-step", false},
    {"quality", "quality", "share of the evidence in the states looked at", false},
    {"truncation", "truncation", "mean - log quality: KL divergence from all states", true},
    {"candidate_hits", "candidate hits", "share of the causes among candidates", true},
    {"exact_samples", "exact samples",
     "with exact posteriors, over which the last three are averaged", true},
    {NULL, NULL, NULL, false}};
