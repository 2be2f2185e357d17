/* Log-likelihood, sparseness and reconstruction error of a model on data. */
#include "coder.h"

#include <math.h>

struct figures {
    rb_context *ctx;
    et_coder *coder;
    rb_dense decoded; /* block_samples x D, of the type */
    rb_dense given;   /* likewise: the samples of a sparse block */
    int64_t zeros;
    double evidence, squares;
};

static void add_block(struct figures *f, const rb_block *block) {
    const et_results *r = &f->coder->results;
    rb_dense decoded = rb_dense_rows(f->decoded, 0, block->n_samples);
    rb_dense given = rb_dense_rows(f->given, 0, block->n_samples);
    et_code(f->ctx, f->coder, block);
    et_decode(f->ctx, f->coder, block->n_samples, r->mean.data, decoded.data);
    rb_block_rows(block, 0, given);
    for (int64_t i = 0; i < block->n_samples; i++) {
        const void *mean = rb_dense_row(r->mean, i);
        f->evidence += r->evidence[i];
        for (int64_t h = 0; h < r->mean.cols; h++) {
            f->zeros += et_get(r->mean.type, mean, h) == 0;
        }
        for (int64_t d = 0; d < given.cols; d++) {
            double difference = rb_dense_get(given, i, d) - rb_dense_get(decoded, i, d);
            f->squares += difference * difference;
        }
    }
}

static rb_error add_blocks(struct figures *f, rb_feed *feed, int64_t n, int64_t size) {
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_block block;
        err = rb_feed_read(f->ctx, feed, first, n - first < size ? n - first : size, &block);
        if (!err) {
            add_block(f, &block);
        }
    }
    return err;
}

static void fill(const struct figures *f, const rb_model *model, int64_t n, rb_evaluation *e) {
    const et_engine *engine = f->coder->engine;
    int64_t units = engine->setup.units;
    const double *dead = rb_model_array(model, "dead", NULL, NULL);
    double mass = et_prior_mass(units, engine->setup.max_active, engine->parameters.prior);
    *e = (rb_evaluation){
        .samples = n,
        .features = engine->setup.n_features,
        .units = units,
        .sparseness = (double)f->zeros / ((double)n * (double)units),
        .reconstruction_error = sqrt(f->squares),
        .covariance_error = NAN,
        .objective = f->evidence - (double)n * log(mass),
        .log_likelihood = f->evidence,
        .estep_objective = NAN,
        .energy = NAN,
        .divergence = NAN,
    };
    for (int64_t h = 0; dead && h < units; h++) {
        e->dead_units += dead[h] != 0;
    }
}

rb_error et_evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed,
                     rb_evaluation *evaluation) {
    enum { CELLS = 1 << 20 };
    int64_t n = rb_feed_samples(feed), d = model->preprocess->n_features;
    int64_t size = CELLS / (d > 0 ? d : 1) / ET_TASK_SAMPLES * ET_TASK_SAMPLES;
    size = size < ET_TASK_SAMPLES ? ET_TASK_SAMPLES : size;
    size = size < n ? size : n;
    struct figures f = {.ctx = ctx};
    void *coder = NULL;
    rb_error err = et_coder_new(ctx, model, size, &coder);
    f.coder = coder;
    if (!err) {
        err = rb_dense_new(ctx, model->type, size, d, &f.decoded);
    }
    if (!err) {
        err = rb_dense_new(ctx, model->type, size, d, &f.given);
    }
    if (!err) {
        err = add_blocks(&f, feed, n, size);
    }
    if (!err) {
        fill(&f, model, n, evaluation);
    }
    et_coder_free(coder);
    rb_dense_free(&f.decoded);
    rb_dense_free(&f.given);
    return err;
}
