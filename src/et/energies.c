/* Energies of states, and what noise they come from.
 *
 * Where fields add up and noise is Gaussian, by the kernel: from energies of single causes and G.
 * Else by the superpositions themselves, state by state in depth: no more of them are kept than
 * causes may be active. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- the noise: Gaussian, or that of the functions of the model ---- */

void et_prepare_noise(et_engine *engine) {
    double sigma = engine->parameters->sigma, variance = sigma * sigma;
    engine->scale = engine->beta;
    engine->per_value = 0;
    if (et_gaussian(&engine->setup.model)) {
        engine->scale = engine->beta / variance;
        engine->per_value = -log(2 * M_PI * variance / engine->beta) / 2;
        engine->constant += (double)engine->setup.n_features * engine->per_value;
    }
}

double et_norm(const et_engine *engine, int64_t n, const double *y) {
    const rb_et_model *own = &engine->setup.model.own;
    if (et_gaussian(&engine->setup.model)) return engine->kernels->dot(n, y, y);
    return own->constant ? -2 * own->constant(own->user, n, y) : 0;
}

double et_energy(const et_engine *engine, int64_t n, const double *y, const double *wbar) {
    const rb_et_model *own = &engine->setup.model.own;
    double sum = 0;
    if (own->log_likelihood)
        return engine->beta * own->log_likelihood(own->user, n, y, wbar, engine->parameters->sigma);
    for (int64_t d = 0; d < n; d++)
        sum += wbar[d] * (2 * y[d] - wbar[d]);
    return engine->scale / 2 * sum;
}

const double *et_empty(const et_engine *engine, et_scratch *scratch) {
    for (int64_t d = 0; d < engine->setup.n_features; d++)
        scratch->vectors[d] = engine->setup.model.own.empty;
    return scratch->vectors;
}

double et_singles(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                  double *single) {
    const et_model *model = &engine->setup.model;
    const et_values *values = &engine->setup.values;
    int64_t units = engine->setup.units;
    for (int a = 0; et_gaussian(model) && a < values->count; a++) {
        engine->kernels->singles(units, engine->scale, values->value[a], sample->b, sample->square,
                                 engine->logit + a * units, single + a * units);
    }
    if (et_gaussian(model)) return 0;
    const double *empty = et_empty(engine, scratch);
    double *out = scratch->vectors + engine->setup.n_features;
    for (int64_t i = 0; i < engine->setup.items; i++) {
        const double *field = et_field(engine, scratch, sample, i, 0);
        model->own.superpose(model->own.user, sample->n, empty, field, out);
        single[i] = et_energy(engine, sample->n, sample->y, out) + engine->logit[i];
    }
    return et_energy(engine, sample->n, sample->y, empty);
}

/* ---- fields that add up, with Gaussian noise ---- */

/* A sample that lacks values: its G is that of the packed fields. */
static void place_packed(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                         const et_sample *sample, int l) {
    int h = tree->items;
    for (int i = 0; i < h; i++) {
        const double *field = et_field(engine, scratch, sample, sample->candidates[i], i);
        for (int j = 0; tree->max_active > 1 && j < i; j++) {
            double product =
                engine->kernels->dot(sample->n, rb_dense_row(scratch->fields, j), field);
            scratch->gram[((int64_t)j * h + i) * ET_LANES + l] = engine->scale * product;
        }
    }
}

static void place(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                  const et_sample *sample, int l) {
    int h = tree->items;
    for (int i = 0; i + 1 < h && tree->max_active > 1; i++) {
        const double *row = rb_dense_row(engine->gram, sample->candidates[i]);
        double *g = scratch->gram + (int64_t)i * h * ET_LANES + l;
        for (int j = i + 1; j < h; j++)
            g[(int64_t)j * ET_LANES] = engine->scale * row[sample->candidates[j]];
    }
}

/* The same for items: G of the causes times both values. */
static void place_values(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                         const et_sample *sample, int l) {
    const et_values *values = &engine->setup.values;
    int h = tree->items, count = values->count;
    for (int i = 0; i < h && tree->max_active > 1; i++) {
        const double *row = rb_dense_row(engine->gram, sample->candidates[i / count * count]);
        double factor = engine->scale * values->value[i % count];
        double *g = scratch->gram + (int64_t)i * h * ET_LANES + l;
        for (int j = i / count * count + count; j < h; j += count)
            for (int a = 0; a < count; a++)
                g[(int64_t)(j + a) * ET_LANES] =
                    factor * values->value[a] * row[sample->candidates[j]];
    }
}

static void linear_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                            const et_sample *samples, int count) {
    bool binary = et_binary(&engine->setup.values);
    memset(scratch->start, 0, (size_t)(tree->items * ET_LANES) * sizeof *scratch->start);
    for (int l = 0; l < count; l++) {
        for (int i = 0; i < tree->items; i++)
            scratch->start[i * ET_LANES + l] = samples[l].single[samples[l].candidates[i]];
        (samples[l].places ? place_packed
         : binary          ? place
                           : place_values)(engine, tree, scratch, &samples[l], l);
    }
    engine->kernels->energies(tree, scratch->start, scratch->gram, scratch->work, scratch->energy);
}

/* ---- any superposition ---- */

struct descent {
    const et_engine *engine;
    const et_tree *tree;
    et_scratch *scratch;
    const et_sample *sample;
    int lane;
    bool maximum; /* of fields, with Gaussian noise */
};

/* One more field, in `out` if the state goes on; what it adds to e. */
static double join(const struct descent *d, const double *wbar, const double *field, double *out,
                   bool goes_on) {
    const et_engine *engine = d->engine;
    const rb_et_model *own = &engine->setup.model.own;
    int64_t n = d->sample->n;
    const double *y = d->sample->y;
    if (d->maximum) {
        return engine->scale / 2 *
               engine->kernels->maximum(n, wbar, field, y, goes_on ? out : NULL);
    }
    own->superpose(own->user, n, wbar, field, out);
    return et_energy(engine, n, y, out);
}

/* Energies of all states below s, of `size` causes, whose superposition and prior terms are given.
 */
static void descend(const struct descent *d, int64_t s, int size, const double *wbar,
                    double prior) {
    const et_engine *engine = d->engine;
    const et_model *model = &engine->setup.model;
    const et_tree *tree = d->tree;
    const et_sample *sample = d->sample;
    double *out = d->scratch->vectors + (int64_t)(size + 1) * engine->setup.n_features;
    for (int k = tree->first[s]; k < tree->items; k++) {
        int64_t child = tree->child[s] + k;
        int32_t item = sample->candidates[k];
        double *energy = &d->scratch->energy[child * ET_LANES + d->lane];
        const double *field = sample->places ? rb_dense_row(d->scratch->fields, k)
                                             : rb_dense_row(engine->fields, item);
        const double *next = out;
        bool goes_on = child < tree->inner;
        if (size > 0) {
            *energy = join(d, wbar, field, out, goes_on) + prior + engine->logit[item];
        } else if (et_gaussian(model)) {
            *energy = sample->single[item];
            next = field; /* no cause superposes to 0 */
        } else {
            *energy = sample->single[item];
            model->own.superpose(model->own.user, sample->n, wbar, field, out);
        }
        if (goes_on) descend(d, child, size + 1, next, prior + engine->logit[item]);
    }
}

static void general_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                             const et_sample *samples, int count) {
    const et_model *model = &engine->setup.model;
    bool maximum = et_gaussian(model) && model->summing == &et_sum_max;
    const double *empty = et_empty(engine, scratch);
    for (int64_t i = 0; count < ET_LANES && i < tree->count * ET_LANES; i++)
        scratch->energy[i] = 0;
    for (int l = 0; l < count; l++) {
        struct descent d = {engine, tree, scratch, &samples[l], l, maximum};
        for (int k = 0; samples[l].places && k < tree->items; k++)
            et_field(engine, scratch, &samples[l], samples[l].candidates[k], k);
        scratch->energy[l] = samples[l].none;
        descend(&d, 0, 0, empty, 0);
    }
}

void et_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                 const et_sample *samples, int count) {
    bool linear = engine->setup.model.summing == &et_sum_linear;
    (linear ? linear_energies : general_energies)(engine, tree, scratch, samples, count);
}
