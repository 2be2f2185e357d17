/* All (V + 1)^H states, one after the other: what the truncated posterior is measured against. */
#include "engine.h"

#include <math.h>
#include <string.h>

struct walk {
    const et_engine *engine;
    const et_sample *sample;
    const double *fields[RB_ET_MAX_EXACT * ET_MAX_VALUES]; /* of items */
    double *vectors;   /* superpositions on the way, (H + 1) x D */
    double *marginals; /* H: sums of exp(e - highest); NULL in the first walk */
    double highest;
};

/* The sum of exp(e - highest) over all states that go on from one of `size` causes below `first`.
 */
static double walk(struct walk *w, int64_t first, int64_t size, double prior) {
    const et_engine *engine = w->engine;
    const et_setup *setup = &engine->setup;
    const double *wbar = w->vectors + size * setup->n_features;
    double sum = 0;
    if (!setup->fixed_count || size == setup->max_active) {
        double energy = et_energy(engine, w->sample->n, w->sample->y, wbar) + prior;
        w->highest = w->marginals ? w->highest : fmax(w->highest, energy);
        sum = w->marginals ? exp(energy - w->highest) : 0;
    }
    for (int64_t h = first; h < setup->units; h++) {
        for (int64_t i = h; i < setup->items; i += setup->units) {
            setup->model.own.superpose(setup->model.own.user, w->sample->n, wbar, w->fields[i],
                                       w->vectors + (size + 1) * setup->n_features);
            double below = walk(w, h + 1, size + 1, prior + engine->logit[i]);
            if (w->marginals) w->marginals[h] += below;
            sum += below;
        }
    }
    return sum;
}

double et_exact(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                double *marginals) {
    const et_setup *setup = &engine->setup;
    struct walk w = {
        .engine = engine, .sample = sample, .vectors = scratch->vectors, .highest = -HUGE_VAL};
    for (int64_t i = 0; i < setup->items; i++)
        w.fields[i] = et_field(engine, scratch, sample, i, i);
    memset(marginals, 0, (size_t)setup->units * sizeof *marginals);
    et_empty(engine, scratch);
    walk(&w, 0, 0, 0);
    w.marginals = marginals;
    double total = walk(&w, 0, 0, 0);
    for (int64_t h = 0; h < setup->units; h++)
        marginals[h] /= total;
    return et_constant(engine, sample->n, et_norm(engine, sample->n, sample->y)) + w.highest +
           log(total);
}

double et_all_states(int64_t units, const et_values *values) {
    return pow(values->count + 1, (double)units);
}

double et_exact_work(int64_t units, const et_values *values, int64_t n_features) {
    return et_all_states(units, values) * ((double)n_features + 20);
}

bool et_enumerable(int64_t units, const et_values *values) {
    return et_all_states(units, values) <= 1 << RB_ET_MAX_EXACT;
}

/* ---- the truncated posterior beside it ---- */

struct comparing {
    const et_engine *engine;
    const rb_block *block;
    const et_results *results;
    const int64_t *index;
    et_compared *out;
};

static void compare_task(void *arg, int64_t task, int worker) {
    const struct comparing *c = arg;
    const et_engine *engine = c->engine;
    et_scratch *scratch = &engine->scratch[worker];
    int64_t i = c->index[task];
    et_look look = et_look_at(engine, c->results, i);
    et_sample sample = et_observe_block(engine, scratch, c->block, i);
    double evidence = et_exact(engine, scratch, &sample, scratch->scores);
    /* Below 0 by rounding only. */
    et_compared compared = {.truncation = fmax(0, evidence - c->results->evidence[i])};
    compared.quality = exp(-compared.truncation);
    for (int k = 0; k < look.tree->items; k += engine->setup.values.count)
        compared.hits += scratch->scores[look.candidates[k]];
    compared.all = engine->kernels->sum(engine->setup.units, scratch->scores);
    c->out[task] = compared;
}

void et_compare(rb_context *ctx, const et_engine *engine, const rb_block *block,
                const et_results *results, int64_t count, const int64_t *index, et_compared *out) {
    struct comparing comparing = {engine, block, results, index, out};
    rb_parallel(ctx, count, compare_task, &comparing);
}
