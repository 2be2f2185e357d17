/* New samples: causes by the prior or by the posterior of given samples, the superposition of their
 * fields, and noise. */
#include "fit.h"

/* The value of a cause that is not 0, by its shares; u is in 0 .. 1. */
static double draw_value(const et_coder *c, int64_t h, double u) {
    const et_setup *setup = &c->engine->setup;
    int64_t a = 0, last = setup->values.count - 1;
    for (; a < last; a++) {
        u -= et_share(&c->parameters, a * setup->units + h);
        if (u < 0) break;
    }
    return setup->values.value[a];
}

/* Each cause with its probability; of a fixed count all sets of so many are equally likely. */
static void draw_prior(const et_coder *c, const rb_sampling *sampling, rb_dense codes, int64_t i) {
    const et_setup *setup = &c->engine->setup;
    int64_t left = setup->max_active;
    for (int64_t h = 0; h < codes.cols; h++) {
        double u, p = c->parameters.prior[h];
        rb_sampling_uniform(sampling, i, h, 1, &u);
        if (setup->fixed_count) p = (double)left / (double)(codes.cols - h);
        bool active = u < p;
        left -= active;
        if (active) rb_dense_set(codes, i, h, draw_value(c, h, u / p));
    }
}

/* The items of the state at which the sum of the probabilities passes u; returns how many: none,
 * then each item alone, whether of a candidate or not, then the others. The most probable state
 * where rounding leaves none. */
static int64_t find_state(const et_coder *c, int64_t i, double u, int64_t items[ET_MAX_ACTIVE]) {
    const et_results *r = &c->results;
    et_look look = et_look_at(c->engine, r, i);
    double sum = look.states[0];
    if (u < sum) return 0;
    for (int64_t k = 0; k < r->single.cols; k++) {
        sum += rb_dense_get(r->single, i, k);
        items[0] = k;
        if (u < sum) return 1;
    }
    int64_t s = 0;
    for (; s < look.tree->count && u >= sum; s++)
        sum += look.tree->size[s] > 1 ? look.states[s] : 0;
    if (u >= sum) return et_map_items(c->engine, r, i, items);
    int64_t count = 0;
    for (s--; s > 0; s = look.tree->parent[s])
        items[count++] = look.candidates[look.tree->last[s]];
    return count;
}

struct drawing {
    et_coder *coder;
    const rb_sampling *sampling;
    rb_dense codes;
};

static rb_error draw_part(rb_context *ctx, void *user, int64_t first, const rb_block *part) {
    const struct drawing *d = user;
    const et_setup *setup = &d->coder->engine->setup;
    int64_t items[ET_MAX_ACTIVE];
    for (int64_t i = 0; i < part->n_samples; i++) {
        double u;
        rb_sampling_uniform(d->sampling, first + i, 0, 1, &u);
        for (int64_t k = find_state(d->coder, i, u, items) - 1; k >= 0; k--)
            rb_dense_set(d->codes, first + i, items[k] % setup->units,
                         setup->values.value[items[k] / setup->units]);
    }
    return RB_OK;
}

rb_error et_draw(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                 const rb_block *block, void *codes) {
    et_coder *c = coder;
    int64_t h = c->engine->setup.units;
    struct drawing d = {c, sampling, {codes, n, h, h, c->engine->setup.type}};
    rb_dense_zero(d.codes);
    if (block) {
        rb_error err = et_coder_keep_states(ctx, c);
        return err ? err : et_code(ctx, c, NULL, block, draw_part, &d);
    }
    for (int64_t i = 0; i < n; i++)
        draw_prior(c, sampling, d.codes, i);
    return RB_OK;
}

/* ---- values ---- */

rb_error et_emit(rb_context *ctx, void *coder, const rb_sampling *sampling, int64_t n,
                 const void *codes, void *values) {
    const et_coder *c = coder;
    const et_setup *setup = &c->engine->setup;
    rb_dense rows = {values, n, setup->n_features, setup->n_features, setup->type};
    rb_error err = et_decode(ctx, coder, n, codes, values);
    if (err) return err;
    if (et_gaussian(&setup->model))
        return rb_add_normal(ctx, sampling, sampling->noise * c->parameters.sigma, NULL, rows);
    if (!setup->model.poisson) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "%s has a likelihood but cannot draw values; its method needs a function `emit`",
            setup->model.own.name);
    }
    return rb_make_counts(ctx, sampling, rows);
}
