/* Encoding: the posterior probability that each cause is active, at temperature 1. */
#include "device.h"

#include <math.h>
#include <string.h>

void et_coder_free(void *coder) {
    et_coder *c = coder;
    if (c) {
        et_device_free(c->device);
        et_engine_free(c->engine);
        rb_scratch_end(&c->memory);
        rb_scratch_end(&c->results.memory);
        rb_free(c);
    }
}

/* `singletons` was a flag in models of 0.1.0. */
static const char *value_today(const char *name, const char *value) {
    if (value && strcmp(name, "singletons") == 0)
        return strcmp(value, "true") == 0 ? "auto" : strcmp(value, "false") == 0 ? "no" : value;
    return value;
}

/* The options of the fit, as the model records them; their texts are the model's. */
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
    const char *values = rb_model_attribute(model, "values");
    options->values = values && *values ? values : NULL; /* else not given */
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

static rb_error renew(rb_context *ctx, et_coder *c, et_keep keep) {
    et_results results;
    int64_t capacity = choose_capacity(&c->engine->setup, keep, c->block_samples);
    rb_error err = et_results_new(ctx, c->engine, capacity, keep, &results);
    if (!err) {
        rb_scratch_end(&c->results.memory);
        c->results = results;
    }
    return err;
}

rb_error et_coder_keep(rb_context *ctx, et_coder *c, et_keep keep) {
    bool enough = c->results.capacity && c->engine->setup.model.additive;
    return c->results.states || enough ? RB_OK : renew(ctx, c, keep);
}

rb_error et_coder_keep_states(rb_context *ctx, et_coder *c) {
    return c->results.states ? RB_OK : renew(ctx, c, ET_KEEP_STATES);
}

static rb_error begin(rb_context *ctx, const rb_model *model, int64_t block_samples, et_coder *c) {
    rb_et_options options;
    rb_error err = recorded_options(ctx, model, &options);
    if (err) return err;
    const rb_preprocess *p = model->preprocess;
    rb_problem problem = {.method = model->method,
                          .n_features = p->n_features,
                          .type = model->type,
                          .missing = rb_missing_stays(&p->options)};
    et_setup setup = et_setup_of(&problem, &options);
    c->block_samples = block_samples;
    err = et_setup_check(ctx, &setup, &options);
    err = err ? err : et_engine_new(ctx, &setup, &c->engine);
    c->memory.ctx = ctx;
    rb_dense_take(&c->memory, RB_FLOAT64, setup.units, setup.n_features, &c->parameters.fields);
    c->parameters.prior = rb_take(&c->memory, setup.units, sizeof(double));
    if (setup.values.count > 1)
        c->parameters.shares = rb_take(&c->memory, setup.items, sizeof(double));
    err = err ? err : c->memory.err;
    if (!err) et_start_shares(&setup.values, &c->parameters);
    err = err ? err : et_load_parameters(ctx, model, &setup.values, &c->parameters);
    err = err ? err : et_coder_keep(ctx, c, ET_KEEP_MEANS);
    if (!err && ctx->device) err = et_device_check(ctx, &problem, &setup);
    if (!err) {
        c->engine->widens = true;
        et_prepare(ctx, c->engine, &c->parameters, 1, 1);
    }
    return err;
}

rb_error et_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **out) {
    et_coder *c = rb_alloc_zero(ctx, 1, sizeof *c);
    rb_error err = c ? begin(ctx, model, block_samples, c) : RB_ERROR_MEMORY;
    if (err) et_coder_free(c);
    *out = err ? NULL : c;
    return err;
}

static rb_error code_block(rb_context *ctx, et_coder *c, const rb_block *block) {
    const et_engine *engine = c->engine;
    rb_dense row = rb_dense_rows(engine->scratch[0].y, 0, 1);
    rb_error err = et_each_row(ctx, &engine->setup.model, block, row, NULL, NULL);
    if (!err) {
        memset(c->results.used, true, (size_t)block->n_samples * sizeof *c->results.used);
        et_posteriors(ctx, engine, block, false, &c->results);
    }
    return err;
}

rb_error et_code(rb_context *ctx, et_coder *c, rb_feed *feed, const rb_block *block, et_coded_fn fn,
                 void *user) {
    int64_t n = block ? block->n_samples : rb_feed_samples(feed), capacity = c->results.capacity;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += capacity) {
        int64_t count = rb_smaller(n - first, capacity);
        rb_block part;
        if (feed)
            err = rb_feed_read(ctx, feed, first, count, &part);
        else
            part = rb_block_part(block, first, count);
        err = err ? err : code_block(ctx, c, &part);
        err = err ? err : fn(ctx, user, first, &part);
    }
    return err;
}

/* ---- samples as a model expects them ----
 *
 * The mean <Wbar(s)> of the superposition over the truncated posterior, the estimate of least
 * squared error. Where fields add up that is what the posterior means of the causes rebuild;
 * elsewhere, as where the largest field counts, it takes the states. */

struct rebuilding {
    const et_engine *engine;
    const et_results *results; /* whose states count; NULL: the codes do */
    rb_dense codes, rows;
};

/* A sample while its states are walked. */
struct mean {
    const et_engine *engine;
    et_look look;
    double *vectors; /* (gamma + 1) x D: superpositions on the way to a state */
    double *row;     /* D: the mean */
};

/* The superposition of the fields, each as far as its cause is active. */
static void decode(const struct mean *m, rb_type type, const void *codes) {
    const et_setup *setup = &m->engine->setup;
    for (int64_t d = 0; d < setup->n_features; d++)
        m->row[d] = setup->model.own.empty;
    for (int64_t h = 0; h < setup->units; h++) {
        const double *field = rb_dense_row(m->engine->parameters->fields, h);
        double code = rb_get(type, codes, h);
        for (int64_t d = 0; code != 0 && d < setup->n_features; d++)
            m->vectors[d] = code * field[d];
        if (code != 0) {
            setup->model.own.superpose(setup->model.own.user, setup->n_features, m->row, m->vectors,
                                       m->row);
        }
    }
}

/* Adds q times the superposition of wbar and one more field, which is in `out`. */
static void add(const struct mean *m, double q, const double *wbar, int64_t item, double *out) {
    const et_setup *setup = &m->engine->setup;
    setup->model.own.superpose(setup->model.own.user, setup->n_features, wbar,
                               rb_dense_row(m->engine->fields, item), out);
    for (int64_t d = 0; q > 0 && d < setup->n_features; d++)
        m->row[d] += q * out[d];
}

/* Adds q Wbar(s) of the states of two causes or more below s. */
static void add_states(const struct mean *m, int64_t s) {
    const et_tree *tree = m->look.tree;
    int64_t n = m->engine->setup.n_features;
    const double *wbar = m->vectors + tree->size[s] * n;
    double *out = m->vectors + (tree->size[s] + 1) * n;
    for (int k = tree->first[s]; k < tree->items; k++) {
        int64_t child = tree->child[s] + k;
        double q = tree->size[child] > 1 ? m->look.states[child] : 0;
        if (q > 0 || child < tree->inner) add(m, q, wbar, m->look.candidates[k], out);
        if (child < tree->inner) add_states(m, child);
    }
}

/* The mean over the state of no cause, the causes alone, whether candidates or not, and the
 * rest. */
static void expect(const struct mean *m, rb_type type, const void *single) {
    const et_setup *setup = &m->engine->setup;
    for (int64_t d = 0; d < setup->n_features; d++) {
        m->vectors[d] = setup->model.own.empty;
        m->row[d] = m->look.states[0] * setup->model.own.empty;
    }
    for (int64_t i = 0; i < setup->items; i++) {
        double q = rb_get(type, single, i);
        if (q > 0) add(m, q, m->vectors, i, m->vectors + setup->n_features);
    }
    add_states(m, 0);
}

static void rebuild_task(void *arg, int64_t task, int worker) {
    const struct rebuilding *r = arg;
    et_scratch *scratch = &r->engine->scratch[worker];
    int64_t first = task * ET_TASK_SAMPLES;
    int64_t count = rb_smaller(r->rows.rows - first, ET_TASK_SAMPLES);
    rb_dense rows = rb_dense_rows(scratch->y, 0, count);
    for (int64_t i = 0; i < count; i++) {
        struct mean m = {
            .engine = r->engine, .vectors = scratch->vectors, .row = rb_dense_row(rows, i)};
        if (r->results) {
            rb_dense single = r->results->single;
            m.look = et_look_at(r->engine, r->results, first + i);
            expect(&m, single.type, rb_dense_row(single, first + i));
        } else {
            decode(&m, r->codes.type, rb_dense_row(r->codes, first + i));
        }
    }
    rb_dense_copy(rows, rb_dense_rows(r->rows, first, count));
}

static void rebuild_all(rb_context *ctx, struct rebuilding r) {
    rb_parallel(ctx, (r.rows.rows + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES, rebuild_task, &r);
}

rb_error et_decode(rb_context *ctx, void *coder, int64_t n_samples, const void *codes, void *rows) {
    const et_engine *engine = ((et_coder *)coder)->engine;
    int64_t h = engine->setup.units, d = engine->setup.n_features;
    rb_dense from = {(void *)codes, n_samples, h, h, engine->setup.type};
    rb_dense to = {rows, n_samples, d, d, engine->setup.type};
    rebuild_all(ctx, (struct rebuilding){engine, NULL, from, to});
    return RB_OK;
}

void et_expect(rb_context *ctx, et_coder *c, rb_dense rows) {
    const et_results *results = c->results.states ? &c->results : NULL;
    rebuild_all(ctx, (struct rebuilding){c->engine, results, c->results.mean, rows});
}

/* ---- samples of a block ---- */

struct target {
    et_coder *coder;
    bool codes; /* or what is expected */
    rb_dense to;
};

static rb_error put(rb_context *ctx, void *user, int64_t first, const rb_block *part) {
    const struct target *t = user;
    rb_dense to = rb_dense_rows(t->to, first, part->n_samples);
    if (t->codes)
        rb_dense_copy(rb_dense_rows(t->coder->results.mean, 0, part->n_samples), to);
    else
        et_expect(ctx, t->coder, to);
    return RB_OK;
}

static rb_error encode_there(rb_context *ctx, et_coder *c, const rb_block *block, void *codes) {
    rb_error err =
        c->device ? RB_OK : et_device_for_codes(ctx, c->engine, c->block_samples, &c->device);
    return err ? err : et_device_encode(c->device, block, codes);
}

rb_error et_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    et_coder *c = coder;
    int64_t h = c->engine->setup.units;
    if (ctx->device) return encode_there(ctx, c, block, codes);
    struct target target = {c, true, {codes, block->n_samples, h, h, c->engine->setup.type}};
    return et_code(ctx, c, NULL, block, put, &target);
}

rb_error et_rebuild(rb_context *ctx, void *coder, const rb_block *block, void *rows) {
    et_coder *c = coder;
    int64_t d = c->engine->setup.n_features;
    struct target target = {c, false, {rows, block->n_samples, d, d, c->engine->setup.type}};
    rb_error err = et_coder_keep(ctx, c, ET_KEEP_STATES);
    return err ? err : et_code(ctx, c, NULL, block, put, &target);
}

/* ---- log evidence and most probable state of samples ---- */

struct mapping {
    const et_coder *coder;
    rb_state_fn fn;
    void *user;
};

static rb_error map_part(rb_context *ctx, void *user, int64_t first, const rb_block *part) {
    const struct mapping *m = user;
    const et_results *r = &m->coder->results;
    const et_setup *setup = &m->coder->engine->setup;
    int64_t causes[ET_MAX_ACTIVE];
    double values[ET_MAX_ACTIVE];
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < part->n_samples; i++) {
        int64_t count = et_map_items(m->coder->engine, r, i, causes), failures = ctx->failures;
        for (int64_t k = 0; k < count; k++) {
            values[k] = setup->values.value[causes[k] / setup->units];
            causes[k] %= setup->units;
        }
        rb_state state = {sizeof state, first + i, r->evidence[i], count, causes, values};
        err = m->fn(m->user, &state);
        if (err && ctx->failures == failures) {
            rb_fail(ctx, err, "the program stopped taking states at sample %lld",
                    (long long)(first + i));
        }
    }
    return err;
}

rb_error et_states(rb_context *ctx, const rb_model *model, rb_source *source, rb_state_fn fn,
                   void *user) {
    enum { SAMPLES = 4 * ET_TASK_SAMPLES };
    void *coder = NULL;
    rb_feed *feed = NULL;
    rb_error err = et_coder_new(ctx, model, SAMPLES, &coder);
    struct mapping mapping = {coder, fn, user};
    err = err ? err : rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    err = err ? err : et_code(ctx, coder, feed, NULL, map_part, &mapping);
    rb_feed_free(feed);
    et_coder_free(coder);
    return err;
}
