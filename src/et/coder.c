/* Encoding: the posterior probability that each cause is active, at temperature 1. */
#include "coder.h"

#include <math.h>
#include <string.h>

void et_coder_free(void *coder) {
    et_coder *c = coder;
    if (c) {
        et_engine_free(c->engine);
        et_results_free(&c->results);
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
    rb_et_options_default(options);
    for (const rb_option *row = table; row->name; row++) {
        const char *value = value_today(row->name, rb_model_attribute(model, row->name));
        rb_error err = value && row->kind != RB_OPTION_TEXT
                           ? rb_options_set(ctx, table, options, row->name, value)
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
static int64_t choose_room(const et_setup *setup, et_keep keep, int64_t block_samples) {
    const double bytes = 1 << 23;
    double values = (double)(setup->n_features * (int64_t)rb_type_size(setup->type));
    double samples = bytes / (et_results_bytes(setup, keep) + values) / ET_TASK_SAMPLES;
    int64_t room = (int64_t)fmax(1, fmin(samples, 1 << 10)) * ET_TASK_SAMPLES;
    return room < block_samples ? room : block_samples;
}

/* Posteriors with so much of them from now on. */
static rb_error keep_results(rb_context *ctx, et_coder *c, et_keep keep) {
    et_results results;
    int64_t room = choose_room(&c->engine->setup, keep, c->block_samples);
    rb_error err = et_results_new(ctx, c->engine, room, keep, &results);
    if (!err) {
        et_results_free(&c->results);
        c->results = results;
    }
    return err;
}

rb_error et_coder_keep_states(rb_context *ctx, et_coder *c) {
    bool enough = c->results.states || c->engine->setup.model->superpose == et_superpose_sum;
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
    et_setup setup;
    rb_error err = recorded_options(ctx, model, &options);
    if (!err) {
        const et_model *table = et_model_of(model->method, &options, &c->own_model);
        err = et_setup_of(ctx, table, &options, model->preprocess->n_features, model->type, &setup);
        setup.missing = model->preprocess->options.missing == RB_MISSING_OMIT;
    }
    if (!err) {
        err = et_engine_new(ctx, &setup, &c->engine);
    }
    if (!err) {
        err = et_load_parameters(ctx, model, c->engine);
    }
    if (!err) {
        err = keep_results(ctx, c, ET_KEEP_MEANS);
    }
    if (err) {
        et_coder_free(c);
        return err;
    }
    c->engine->widens = true;
    et_prepare(ctx, c->engine, 1, 1);
    *out = c;
    return RB_OK;
}

/* Refuses values that the noise of the model cannot have. */
static rb_error check_block(rb_context *ctx, const et_model *model, const rb_block *block) {
    if (!model->general) {
        return RB_OK;
    }
    if (!block->sparse) {
        return et_check_values(ctx, model, block->first,
                               rb_dense_rows(block->dense, 0, block->n_samples));
    }
    rb_dense row;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, 1, block->n_features, &row);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_block_rows(block, i, row);
        err = et_check_values(ctx, model, block->first + i, row);
    }
    rb_dense_free(&row);
    return err;
}

rb_error et_code(rb_context *ctx, et_coder *c, const rb_block *block) {
    rb_error err = check_block(ctx, c->engine->setup.model, block);
    if (err) {
        return err;
    }
    memset(c->results.used, true, (size_t)block->n_samples * sizeof *c->results.used);
    et_posteriors(ctx, c->engine, block, false, &c->results);
    return RB_OK;
}

rb_error et_encode(rb_context *ctx, void *coder, const rb_block *block, void *codes) {
    et_coder *c = coder;
    int64_t n = block->n_samples, units = c->engine->setup.units, room = c->results.room;
    rb_dense to = {codes, n, units, units, c->engine->setup.type};
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += room) {
        int64_t count = n - first < room ? n - first : room;
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
        const double *field = rb_dense_row(engine->parameters.fields, h);
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
