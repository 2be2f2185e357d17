/* Spike and slab sparse coding: the table of the method, and the use of its models. Codes are the
 * posterior means <s z> of the strengths. */
#include "ssc.h"

#include <math.h>

static int64_t units(const void *options) {
    return ((const ssc_options *)options)->units;
}

static int64_t samples_of(int64_t features, rb_type type, const ssc_options *o, int64_t n) {
    return et_samples_of(ssc_results_bytes(o) + (double)features * (double)rb_type_size(type), n);
}

static int64_t block_samples(const rb_problem *problem, const void *options) {
    return samples_of(problem->n_features, problem->type, options, problem->n_samples);
}

static int64_t memory(const rb_problem *problem, const void *options) {
    rb_shape shape = rb_shape_of(problem, options);
    double h = (double)units(options), d = (double)problem->n_features;
    double bytes = rb_parts_bytes(problem->method->parts, &shape, 0) + 8 * (h * h + h * d) +
                   (double)problem->block_samples * ssc_results_bytes(options);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

/* ---- codes ---- */

typedef struct ssc_coder {
    rb_scratch memory; /* of the parameters */
    ssc_parameters parameters;
    ssc_engine *engine;
    ssc_results results;
} ssc_coder;

static void coder_free(void *coder) {
    ssc_coder *c = coder;
    if (c) {
        ssc_engine_free(c->engine);
        rb_scratch_end(&c->memory);
        rb_scratch_end(&c->results.memory);
        rb_free(c);
    }
}

static rb_error begin(rb_context *ctx, const rb_model *model, int64_t samples, ssc_coder *c) {
    static const char *const names[] = {"candidates", "max-active", "exact", NULL};
    ssc_options o;
    int64_t d = rb_model_features(model), h = rb_model_units(model);
    rb_error err = rb_model_recorded(ctx, model, ssc_option_rows, names, &o);
    o.units = h;
    err = err ? err : ssc_engine_new(ctx, d, model->type, &o, &c->engine);
    if (err) return err;
    c->memory.ctx = ctx;
    rb_dense_take(&c->memory, RB_FLOAT64, h, d, &c->parameters.base.fields);
    c->parameters.base.prior = rb_take(&c->memory, h, sizeof(double));
    c->parameters.mean = rb_take(&c->memory, h, sizeof(double));
    c->parameters.sd = rb_take(&c->memory, h, sizeof(double));
    err = c->memory.err ? c->memory.err : ssc_load_parameters(ctx, model, &c->parameters);
    samples = samples_of(d, model->type, &o, samples);
    err = err ? err : ssc_results_new(ctx, c->engine, samples, &c->results);
    if (!err) ssc_prepare(ctx, c->engine, &c->parameters, 1);
    return err;
}

static rb_error coder_new(rb_context *ctx, const rb_model *model, int64_t samples, void **out) {
    ssc_coder *c = rb_alloc_zero(ctx, 1, sizeof *c);
    rb_error err = c ? begin(ctx, model, samples, c) : RB_ERROR_MEMORY;
    if (err) coder_free(c);
    *out = err ? NULL : c;
    return err;
}

static rb_error encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    ssc_coder *c = coder;
    int64_t h = c->engine->units, size = c->results.capacity;
    rb_dense to = {codes, block->n_samples, h, h, c->engine->type};
    for (int64_t first = 0; first < block->n_samples; first += size) {
        int64_t count = rb_smaller(block->n_samples - first, size);
        rb_block part = rb_block_part(block, first, count);
        rb_error err = ssc_posteriors(ctx, c->engine, &part, &c->results);
        if (err) return err;
        rb_dense_copy(rb_dense_rows(c->results.mean, 0, count), rb_dense_rows(to, first, count));
    }
    return RB_OK;
}

/* By the prior; of given samples the posterior means. */
static rb_error draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                     const rb_block *block, void *codes) {
    ssc_coder *c = coder;
    const ssc_parameters *p = &c->parameters;
    int64_t units = c->engine->units;
    rb_dense to = {codes, n, units, units, c->engine->type};
    if (block) return encode(ctx, coder, block, codes);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t h = 0; h < units; h++) {
            double u, z;
            rb_sampling_uniform(sampling, i, 2 * h, 1, &u);
            rb_sampling_normal(sampling, i, 2 * h + 1, 1, &z);
            rb_dense_set(to, i, h, u < p->base.prior[h] ? p->mean[h] + p->sd[h] * z : 0);
        }
    }
    return RB_OK;
}

/* ---- metrics ---- */

struct evidence {
    ssc_coder *coder;
    rb_dense row, rest;      /* of a sample: of the type; what the means leave, float64 */
    double sum, *of_samples; /* or NULL */
    double squares, values, zeros;
};

/* |y - sum_h <s_h z_h> W_h|^2 over the values that are there. */
static void add_errors(rb_context *ctx, struct evidence *e, const rb_block *block, int64_t i) {
    rb_dense mean = e->coder->results.mean, fields = e->coder->parameters.base.fields;
    rb_block_rows(block, i, e->row);
    rb_dense_copy(e->row, e->rest);
    for (int64_t h = 0; h < mean.cols; h++) {
        double code = rb_dense_get(mean, i, h);
        e->zeros += code == 0;
        if (code != 0)
            rb_axpy(ctx, RB_FLOAT64, fields.cols, -code, rb_dense_row(fields, h), e->rest.data);
    }
    for (int64_t d = 0; d < e->rest.cols; d++) {
        double error = rb_dense_get(e->rest, 0, d);
        e->values += !isnan(error);
        e->squares += isnan(error) ? 0 : error * error;
    }
}

static rb_error add_evidence(rb_context *ctx, void *user, const rb_block *block) {
    struct evidence *e = user;
    ssc_results *results = &e->coder->results;
    rb_error err = ssc_posteriors(ctx, e->coder->engine, block, results);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        e->sum += results->evidence[i];
        if (e->of_samples) e->of_samples[block->first + i] = results->evidence[i];
        add_errors(ctx, e, block, i);
    }
    return err;
}

static rb_error evaluate(rb_context *ctx, const rb_model *model, rb_feed *feed,
                         rb_metrics *metrics) {
    enum { SAMPLES = 32 * ET_TASK_SAMPLES };
    void *made = NULL;
    int64_t n = rb_feed_samples(feed);
    rb_error err = coder_new(ctx, model, rb_smaller(n, SAMPLES), &made);
    if (err) return err;
    struct evidence e = {.coder = made, .of_samples = metrics->likelihoods};
    rb_scratch memory = {.ctx = ctx};
    rb_dense_take(&memory, model->type, 1, rb_model_features(model), &e.row);
    rb_dense_take(&memory, RB_FLOAT64, 1, rb_model_features(model), &e.rest);
    rb_adding all = {feed,
                     e.coder->results.capacity,
                     add_evidence,
                     &e,
                     {{&e.sum, 1, RB_KEPT_FLOAT64},
                      {&e.squares, 1, RB_KEPT_FLOAT64},
                      {&e.values, 1, RB_KEPT_FLOAT64},
                      {&e.zeros, 1, RB_KEPT_FLOAT64}}};
    err = memory.err ? memory.err : rb_metrics_add(ctx, metrics, &all, false);
    if (!err) {
        double codes = (double)n * (double)rb_model_units(model);
        rb_metrics_rebuilt(metrics, e.zeros / codes, e.squares, e.values);
        rb_metrics_set(metrics, "log_likelihood", e.sum / (double)n);
    }
    rb_scratch_end(&memory);
    coder_free(made);
    return err;
}

static const rb_array_kind arrays[] = {{"sigma", RB_ARRAY_OF_ALL},
                                       {"prior", RB_ARRAY_ROW_EACH},
                                       {"slab_mean", RB_ARRAY_ROW_EACH},
                                       {"slab_sd", RB_ARRAY_ROW_EACH},
                                       {0}};

static const char *const start_options[] = {"prior", "sigma", NULL};

const rb_method rb_method_ssc = {
    .size = sizeof(rb_method),
    .name = "ssc",
    .title = "spike-and-slab sparse coding",
    .purpose = "causes that are mostly absent and else of any strength",
    .options = ssc_option_rows,
    .options_size = sizeof(ssc_options),
    .code_name = "X_ssc",
    .start_options = start_options,
    .centre = RB_CENTRE_NONE,
    .units = units,
    .block_samples = block_samples,
    .memory = memory,
    .parts = ssc_parts,
    .shape = ssc_shape,
    .state_size = sizeof(ssc_fit),
    .start = ssc_start,
    .finish = ssc_finish,
    .survey = ssc_survey_block,
    .survey_end = ssc_survey_end,
    .begin = ssc_begin,
    .block = ssc_block,
    .end = ssc_end,
    .last = ssc_last,
    .mstep = ssc_mstep,
    .objective = ssc_objective,
    .metric_names = ssc_metric_names,
    .metrics = ssc_metrics,
    .plots = et_plots,
    .arrays = arrays,
    .may_stop = ssc_may_stop,
    .store = ssc_store,
    .coder_new = coder_new,
    .coder_free = coder_free,
    .encode = encode,
    .evaluate = evaluate,
    .draw = draw,
    .summary = et_summary,
    .samples_used = et_samples_used,
    .slow = true,
    .spreads = et_spreads,
};
