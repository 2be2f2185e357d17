/* Encoding: the posterior probability that each cause is active, at temperature 1. */
#include "fit.h"

#include <math.h>
#include <string.h>

void et_coder_free(void *coder) {
    et_coder *c = coder;
    if (c) {
        et_engine_free(c->engine);
        et_parameters_free(&c->parameters);
        et_results_free(&c->results);
        rb_dense_free(&c->row);
        rb_free(c);
    }
}

/* `singletons` was a flag in models of 0.1.0. */
static const char *value_today(const char *name, const char *value) {
    if (value && strcmp(name, "singletons") == 0) {
        return strcmp(value, "true") == 0 ? "auto" : strcmp(value, "false") == 0 ? "no" : value;
    }
    return value;
}

/* The options of the fit, as the model records them. */
static rb_error recorded_options(rb_context *ctx, const rb_model *model, rb_et_options *options) {
    const rb_option *table = model->method->options;
    rb_rows_default(et_option_rows, options);
    for (const rb_option *row = table; row->name; row++) {
        const char *value = value_today(row->name, rb_model_attribute(model, row->name));
        rb_error err = value && row->kind != RB_OPTION_TEXT
                           ? rb_rows_set(ctx, table, options, row->name, value)
                           : RB_OK;
        if (err) {
            rb_fail_prefix(ctx, "an option in the model: ");
            return RB_ERROR_FORMAT;
        }
    }
    options->units = rb_model_units(model);
    return RB_OK;
}

/* In whole tasks. */
static int64_t choose_capacity(const et_setup *setup, et_keep keep, int64_t block_samples) {
    const double bytes = 1 << 23;
    double values = (double)(setup->n_features * (int64_t)rb_type_size(setup->type));
    double samples = bytes / (et_results_bytes(setup, keep) + values) / ET_TASK_SAMPLES;
    int64_t capacity = (int64_t)fmax(1, fmin(samples, 1 << 10)) * ET_TASK_SAMPLES;
    return capacity < block_samples ? capacity : block_samples;
}

/* Posteriors with so much of them from now on. */
static rb_error keep_results(rb_context *ctx, et_coder *c, et_keep keep) {
    et_results results;
    int64_t capacity = choose_capacity(&c->engine->setup, keep, c->block_samples);
    rb_error err = et_results_new(ctx, c->engine, capacity, keep, &results);
    if (!err) {
        et_results_free(&c->results);
        c->results = results;
    }
    return err;
}

rb_error et_coder_keep_states(rb_context *ctx, et_coder *c) {
    bool enough = c->results.states || c->engine->setup.model->additive;
    return enough ? RB_OK : keep_results(ctx, c, ET_KEEP_STATES);
}

rb_error et_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **out) {
    *out = NULL;
    et_coder *c = rb_alloc_zero(ctx, 1, sizeof *c);
    if (!c) {
        return RB_ERROR_MEMORY;
    }
    c->block_samples = block_samples;
    rb_et_options options;
    et_setup setup = {0};
    rb_error err = recorded_options(ctx, model, &options);
    if (!err) {
        const et_model *table = et_model_of(model->method, &options, &c->own_model);
        err = et_setup_of(ctx, table, &options, model->preprocess->n_features, model->type, &setup);
        setup.missing = model->preprocess->options.missing == RB_MISSING_OMIT;
    }
    err = err ? err : et_engine_new(ctx, &setup, &c->engine);
    err = err ? err : et_parameters_new(ctx, setup.units, setup.n_features, &c->parameters);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, 1, setup.n_features, &c->row);
    err = err ? err : et_load_parameters(ctx, model, &c->parameters);
    err = err ? err : keep_results(ctx, c, ET_KEEP_MEANS);
    if (err) {
        et_coder_free(c);
        return err;
    }
    c->engine->widens = true;
    et_prepare(ctx, c->engine, &c->parameters, 1, 1);
    *out = c;
    return RB_OK;
}

rb_error et_code(rb_context *ctx, et_coder *c, const rb_block *block) {
    rb_error err = et_each_row(ctx, c->engine->setup.model, block, c->row, NULL, NULL);
    if (err) {
        return err;
    }
    memset(c->results.used, true, (size_t)block->n_samples * sizeof *c->results.used);
    et_posteriors(ctx, c->engine, block, false, &c->results);
    return RB_OK;
}

rb_error et_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    et_coder *c = coder;
    int64_t n = block->n_samples, units = c->engine->setup.units, capacity = c->results.capacity;
    rb_dense to = {codes, n, units, units, c->engine->setup.type};
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += capacity) {
        int64_t count = n - first < capacity ? n - first : capacity;
        rb_block part = rb_block_part(block, first, count);
        err = et_code(ctx, c, &part);
        if (!err) {
            rb_dense_copy(rb_dense_rows(c->results.mean, 0, count),
                          rb_dense_rows(to, first, count));
        }
    }
    return err;
}

struct decoding {
    const et_engine *engine;
    rb_dense codes, rows;
};

/* The superposition of the fields, each as far as its cause is active. */
static void decode(const et_engine *engine, et_scratch *scratch, const double *codes, double *row) {
    const et_setup *setup = &engine->setup;
    double *part = scratch->vectors;
    for (int64_t d = 0; d < setup->n_features; d++) {
        row[d] = setup->model->empty;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        const double *field = rb_dense_row(engine->parameters->fields, h);
        for (int64_t d = 0; codes[h] != 0 && d < setup->n_features; d++) {
            part[d] = codes[h] * field[d];
        }
        if (codes[h] != 0) {
            setup->model->superpose(setup->model->user, setup->n_features, row, part, row);
        }
    }
}

static void decode_task(void *arg, int64_t task, int worker) {
    const struct decoding *d = arg;
    et_scratch *scratch = &d->engine->scratch[worker];
    int64_t first = task * ET_TASK_SAMPLES, left = d->rows.rows - first;
    int64_t count = left < ET_TASK_SAMPLES ? left : ET_TASK_SAMPLES;
    rb_dense codes = rb_dense_rows(scratch->b, 0, count);
    rb_dense rows = rb_dense_rows(scratch->y, 0, count);
    rb_dense_copy(rb_dense_rows(d->codes, first, count), codes);
    for (int64_t i = 0; i < count; i++) {
        decode(d->engine, scratch, rb_dense_row(codes, i), rb_dense_row(rows, i));
    }
    rb_dense_copy(rows, rb_dense_rows(d->rows, first, count));
}

rb_error et_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows) {
    const et_coder *c = coder;
    const et_setup *setup = &c->engine->setup;
    struct decoding d = {
        c->engine,
        {(void *)codes, n_samples, setup->units, setup->units, setup->type},
        {rows, n_samples, setup->n_features, setup->n_features, setup->type},
    };
    rb_parallel(ctx, (n_samples + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES, decode_task, &d);
    return RB_OK;
}

/* ---- samples as a model expects them ----
 *
 * The mean <Wbar(s)> of the superposition over the truncated posterior, the estimate of least
 * squared error. Where fields add up that is what the posterior means of the causes rebuild;
 * elsewhere, as where the largest field counts, it takes the states. */

struct expecting {
    const et_engine *engine;
    const et_results *results;
    rb_dense rows;
};

/* A sample while its states are walked. */
struct mean {
    const et_engine *engine;
    et_look look;
    double *vectors; /* (gamma + 1) x D: superpositions on the way to a state */
    double *row;     /* D: the mean */
};

static void add(int64_t n, double q, const double *wbar, double *row) {
    for (int64_t d = 0; d < n; d++) {
        row[d] += q * wbar[d];
    }
}

/* Adds q Wbar(s) of the states of two causes or more below s. */
static void add_states(const struct mean *m, int64_t s) {
    const et_setup *setup = &m->engine->setup;
    const et_tree *tree = m->look.tree;
    int64_t n = setup->n_features;
    const double *wbar = m->vectors + tree->size[s] * n;
    double *out = m->vectors + (tree->size[s] + 1) * n;
    for (int k = tree->last[s] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[s] + k;
        const double *field = rb_dense_row(m->engine->parameters->fields, m->look.candidates[k]);
        double q = tree->size[child] > 1 ? m->look.states[child] : 0;
        if (q > 0 || child < tree->inner) {
            setup->model->superpose(setup->model->user, n, wbar, field, out);
        }
        if (q > 0) {
            add(n, q, out, m->row);
        }
        if (child < tree->inner) {
            add_states(m, child);
        }
    }
}

/* The mean over the state of no cause, the causes alone, whether candidates or not, and the
 * rest. */
static void expect_sample(const struct mean *m, rb_type type, const void *single) {
    const et_setup *setup = &m->engine->setup;
    int64_t n = setup->n_features;
    for (int64_t d = 0; d < n; d++) {
        m->vectors[d] = setup->model->empty;
        m->row[d] = m->look.states[0] * setup->model->empty;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        double q = rb_get(type, single, h);
        if (q > 0) {
            const double *field = rb_dense_row(m->engine->parameters->fields, h);
            setup->model->superpose(setup->model->user, n, m->vectors, field, m->vectors + n);
            add(n, q, m->vectors + n, m->row);
        }
    }
    add_states(m, 0);
}

static void expect_task(void *arg, int64_t task, int worker) {
    const struct expecting *e = arg;
    et_scratch *scratch = &e->engine->scratch[worker];
    rb_dense single = e->results->single;
    int64_t first = task * ET_TASK_SAMPLES, left = e->rows.rows - first;
    int64_t count = left < ET_TASK_SAMPLES ? left : ET_TASK_SAMPLES;
    rb_dense rows = rb_dense_rows(scratch->y, 0, count);
    for (int64_t i = 0; i < count; i++) {
        struct mean m = {e->engine, et_look_at(e->engine, e->results, first + i), scratch->vectors,
                         rb_dense_row(rows, i)};
        expect_sample(&m, single.type, rb_dense_row(single, first + i));
    }
    rb_dense_copy(rows, rb_dense_rows(e->rows, first, count));
}

void et_expect(rb_context *ctx, et_coder *c, rb_dense rows) {
    if (!c->results.states) {
        et_decode(ctx, c, rows.rows, c->results.mean.data, rows.data);
        return;
    }
    struct expecting e = {c->engine, &c->results, rows};
    rb_parallel(ctx, (rows.rows + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES, expect_task, &e);
}

rb_error et_rebuild(rb_context *ctx, void *coder, const rb_block *block, void *rows) {
    et_coder *c = coder;
    const et_setup *setup = &c->engine->setup;
    int64_t n = block->n_samples, d = setup->n_features;
    rb_dense to = {rows, n, d, d, setup->type};
    rb_error err = et_coder_keep_states(ctx, c);
    int64_t capacity = c->results.capacity;
    for (int64_t first = 0; !err && first < n; first += capacity) {
        int64_t count = n - first < capacity ? n - first : capacity;
        rb_block part = rb_block_part(block, first, count);
        err = et_code(ctx, c, &part);
        if (!err) {
            et_expect(ctx, c, rb_dense_rows(to, first, count));
        }
    }
    return err;
}

/* ---- log evidence and most probable state of samples ---- */

static rb_error each_block(rb_context *ctx, et_coder *c, rb_feed *feed, rb_et_map_fn fn,
                           void *user) {
    int64_t causes[ET_MAX_ACTIVE];
    int64_t n = rb_feed_samples(feed), size = c->results.capacity;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_block block;
        err = rb_feed_read(ctx, feed, first, n - first < size ? n - first : size, &block);
        if (!err) {
            err = et_code(ctx, c, &block);
        }
        for (int64_t i = 0; !err && i < block.n_samples; i++) {
            int64_t count = et_map_causes(c->engine, &c->results, i, causes);
            int64_t failures = ctx->failures;
            err = fn(user, first + i, c->results.evidence[i], count, causes);
            if (err && ctx->failures == failures) {
                rb_fail(ctx, err, "the program stopped taking states at sample %lld",
                        (long long)(first + i));
            }
        }
    }
    return err;
}

rb_error rb_et_map(rb_context *ctx, const rb_model *model, rb_source *source, rb_et_map_fn fn,
                   void *user) {
    enum { SAMPLES = 4 * ET_TASK_SAMPLES };
    void *coder = NULL;
    rb_feed *feed = NULL;
    if (model->method->coder_new != et_coder_new) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "a model of method '%s' has no most probable states; only those of expectation "
            "truncation have",
            model->method->name);
    }
    rb_error err = et_coder_new(ctx, model, SAMPLES, &coder);
    err = err ? err : rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    err = err ? err : each_block(ctx, coder, feed, fn, user);
    rb_feed_free(feed);
    et_coder_free(coder);
    return err;
}
