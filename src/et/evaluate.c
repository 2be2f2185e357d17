/* Log-likelihood, sparseness and reconstruction error of a model on data. */
#include "fit.h"

#include <math.h>

struct metrics {
    rb_context *ctx;
    et_coder *coder;
    rb_dense rebuilt;      /* block_samples x D, of the type: as `reconstruct` gives them */
    rb_dense given;        /* likewise: the samples of a sparse block */
    int64_t zeros, values; /* values that are there */
    double evidence, squares;
    bool *in_map; /* H */

    /* Against all states; every `step`-th sample, 0: none. */
    int64_t step, exact_samples;
    double *quality, *kl, *hits, *marginal; /* of the samples of a block */
    double quality_sum, kl_sum, hits_sum, marginal_sum;
};

/* ---- against all states ---- */

/* How many operations the exact posteriors of a model may take. */
static int64_t exact_step(const et_engine *engine, int64_t n) {
    const double max = 1e10;
    const et_setup *setup = &engine->setup;
    if (setup->units > RB_ET_MAX_EXACT) {
        return 0;
    }
    double work = ldexp((double)setup->n_features + 20, (int)setup->units) * (double)n;
    return work > max ? (int64_t)ceil(work / max) : 1;
}

struct exact_task {
    struct metrics *f;
    const rb_block *block;
};

static void exact_task(void *arg, int64_t index, int worker) {
    const struct exact_task *task = arg;
    struct metrics *f = task->f;
    const et_engine *engine = f->coder->engine;
    const et_results *r = &f->coder->results;
    et_scratch *scratch = &engine->scratch[worker];
    int64_t i = index * f->step;
    et_look look = et_look_at(engine, r, i);
    et_sample sample = et_observe_block(engine, scratch, task->block, i);
    double evidence = et_exact(engine, scratch, &sample, scratch->scores);
    f->kl[i] = fmax(0, evidence - r->evidence[i]); /* below 0 by rounding only */
    f->quality[i] = exp(-f->kl[i]);
    f->hits[i] = 0;
    for (int64_t k = 0; k < look.tree->candidates; k++) {
        f->hits[i] += scratch->scores[look.candidates[k]];
    }
    f->marginal[i] = engine->kernels->sum(engine->setup.units, scratch->scores);
}

static void add_exact(struct metrics *f, const rb_block *block) {
    struct exact_task task = {f, block};
    int64_t count = f->step ? (block->n_samples + f->step - 1) / f->step : 0;
    rb_parallel(f->ctx, count, exact_task, &task);
    for (int64_t s = 0; s < count; s++) {
        int64_t i = s * f->step;
        f->quality_sum += f->quality[i];
        f->kl_sum += f->kl[i];
        f->hits_sum += f->hits[i];
        f->marginal_sum += f->marginal[i];
    }
    f->exact_samples += count;
}

/* Notes the causes of the most probable states. */
static void add_map(struct metrics *f, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t causes[ET_MAX_ACTIVE];
        int64_t active = et_map_causes(f->coder->engine, &f->coder->results, i, causes);
        for (int64_t k = 0; k < active; k++) {
            f->in_map[causes[k]] = true;
        }
    }
}

/* ---- blocks ---- */

/* The squared error of rebuilt values of sample i, over those that are there. */
static double squared_error(rb_dense given, rb_dense rebuilt, int64_t i) {
    double sum = 0;
    for (int64_t d = 0; d < given.cols; d++) {
        double value = rb_dense_get(given, i, d), difference = value - rb_dense_get(rebuilt, i, d);
        sum += isnan(value) ? 0 : difference * difference;
    }
    return sum;
}

static rb_error add_block(struct metrics *f, const rb_block *block) {
    const et_results *r = &f->coder->results;
    rb_dense rebuilt = rb_dense_rows(f->rebuilt, 0, block->n_samples);
    rb_dense given = rb_dense_rows(f->given, 0, block->n_samples);
    rb_error err = et_code(f->ctx, f->coder, block);
    if (err) {
        return err;
    }
    et_expect(f->ctx, f->coder, rebuilt);
    rb_block_rows(block, 0, given);
    add_map(f, block->n_samples);
    add_exact(f, block);
    for (int64_t i = 0; i < block->n_samples; i++) {
        const void *mean = rb_dense_row(r->mean, i);
        f->evidence += r->evidence[i];
        for (int64_t h = 0; h < r->mean.cols; h++) {
            f->zeros += rb_get(r->mean.type, mean, h) == 0;
        }
        f->values += r->there[i];
        f->squares += squared_error(given, rebuilt, i);
    }
    return RB_OK;
}

static rb_error add_blocks(struct metrics *f, rb_feed *feed, int64_t n, int64_t size) {
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_block block;
        err = rb_feed_read(f->ctx, feed, first, n - first < size ? n - first : size, &block);
        if (!err) {
            err = add_block(f, &block);
        }
    }
    return err;
}

static void fill(const struct metrics *f, const rb_model *model, int64_t n, rb_metrics *metrics) {
    const et_engine *engine = f->coder->engine;
    int64_t units = engine->setup.units, n_used = 0, causes = 0;
    const double *used = rb_model_array(model, "used", &n_used, NULL);
    double mass = et_prior_mass(&engine->setup, engine->parameters, engine->setup.widest_active);
    for (int64_t h = 0; h < units; h++) {
        causes += f->in_map[h];
    }
    rb_metrics_set(metrics, "sparseness", (double)f->zeros / ((double)n * (double)units));
    rb_metrics_set(metrics, "reconstruction_error", sqrt(f->squares));
    rb_metrics_set(metrics, "objective", f->evidence - (double)n * log(mass));
    rb_metrics_set(metrics, "log_likelihood", f->evidence);
    rb_metrics_set(metrics, "mean_squared_error", f->squares / (double)f->values);
    rb_metrics_set(metrics, "causes_used", (double)causes);
    rb_metrics_set(metrics, "samples_used", used && n_used == 1 ? used[0] : NAN);
    rb_metrics_set(metrics, "exact_samples", (double)f->exact_samples);
    if (f->exact_samples) {
        double count = (double)f->exact_samples;
        rb_metrics_set(metrics, "quality", f->quality_sum / count);
        rb_metrics_set(metrics, "truncation", f->kl_sum / count);
        rb_metrics_set(metrics, "candidate_hits", f->hits_sum / f->marginal_sum);
    }
}

rb_error et_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_metrics *metrics) {
    enum { CELLS = 1 << 20 };
    int64_t n = rb_feed_samples(feed), d = model->preprocess->n_features;
    int64_t size = CELLS / (d > 0 ? d : 1) / ET_TASK_SAMPLES * ET_TASK_SAMPLES;
    size = size < ET_TASK_SAMPLES ? ET_TASK_SAMPLES : size;
    size = size < n ? size : n;
    struct metrics f = {.ctx = ctx};
    void *coder = NULL;
    rb_error err = et_coder_new(ctx, model, size, &coder);
    f.coder = coder;
    err = err ? err : et_coder_keep_states(ctx, f.coder);
    if (!err) {
        size = f.coder->results.capacity;
        err = rb_dense_new(ctx, model->type, size, d, &f.rebuilt);
    }
    err = err ? err : rb_dense_new(ctx, model->type, size, d, &f.given);
    if (!err) {
        f.in_map = rb_alloc_zero(ctx, f.coder->engine->setup.units, sizeof *f.in_map);
        f.quality = rb_alloc(ctx, 4 * size, sizeof *f.quality);
        f.step = exact_step(f.coder->engine, n);
        err = f.in_map && f.quality ? RB_OK : RB_ERROR_MEMORY;
    }
    if (!err) {
        f.kl = f.quality + size;
        f.hits = f.kl + size;
        f.marginal = f.hits + size;
        err = add_blocks(&f, feed, n, size);
    }
    if (!err) {
        fill(&f, model, n, metrics);
    }
    et_coder_free(f.coder);
    rb_dense_free(&f.rebuilt);
    rb_dense_free(&f.given);
    rb_free(f.in_map);
    rb_free(f.quality);
    return err;
}
