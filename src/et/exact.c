/* All 2^H states, one after the other: what the truncated posterior is measured against. */
#include "engine.h"

#include <math.h>

struct walk {
    const et_engine *engine;
    const et_sample *sample;
    const double *fields[RB_ET_MAX_EXACT];
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
        const et_noise *noise = setup->model->noise;
        double energy = noise->energy(engine, w->sample->n, w->sample->y, wbar) + prior;
        w->highest = w->marginals ? w->highest : fmax(w->highest, energy);
        sum = w->marginals ? exp(energy - w->highest) : 0;
    }
    for (int64_t h = first; h < setup->units; h++) {
        setup->model->superpose(setup->model->user, w->sample->n, wbar, w->fields[h],
                                w->vectors + (size + 1) * setup->n_features);
        double below = walk(w, h + 1, size + 1, prior + engine->logit[h]);
        if (w->marginals) {
            w->marginals[h] += below;
        }
        sum += below;
    }
    return sum;
}

double et_exact(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                double *marginals) {
    const et_setup *setup = &engine->setup;
    struct walk w = {
        .engine = engine, .sample = sample, .vectors = scratch->vectors, .highest = -HUGE_VAL};
    for (int64_t h = 0; h < setup->units; h++) {
        double *capacity = sample->places ? rb_dense_row(scratch->fields, h) : NULL;
        w.fields[h] = et_field(engine, sample, h, capacity);
    }
    for (int64_t d = 0; d < setup->n_features; d++) {
        scratch->vectors[d] = setup->model->empty;
    }
    walk(&w, 0, 0, 0);
    for (int64_t h = 0; h < setup->units; h++) {
        marginals[h] = 0;
    }
    w.marginals = marginals;
    double total = walk(&w, 0, 0, 0);
    for (int64_t h = 0; h < setup->units; h++) {
        marginals[h] /= total;
    }
    return engine->constant - (double)(setup->n_features - sample->n) * engine->per_value -
           engine->scale / 2 * setup->model->noise->norm(engine, sample->n, sample->y) + w.highest +
           log(total);
}
