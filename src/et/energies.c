/* Energies of states, and what noise they come from.
 *
 * Where fields add up and noise is Gaussian, by the kernel: from energies of single causes and G.
 * Else by the superpositions themselves, state by state in depth: no more of them are kept than
 * causes may be active. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- Gaussian noise ---- */

static void prepare_gaussian(et_engine *engine) {
    double sigma = engine->parameters->sigma, variance = sigma * sigma;
    engine->scale = engine->beta / variance;
    engine->per_value = -log(2 * M_PI * variance / engine->beta) / 2;
    engine->constant += (double)engine->setup.n_features * engine->per_value;
}

static double norm_gaussian(const et_engine *engine, int64_t n, const double *y) {
    return engine->kernels->dot(n, y, y);
}

static double energy_gaussian(const et_engine *engine, int64_t n, const double *y,
                              const double *wbar) {
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        sum += wbar[d] * (2 * y[d] - wbar[d]);
    }
    return engine->scale / 2 * sum;
}

static double singles_gaussian(const et_engine *engine, et_scratch *scratch,
                               const et_sample *sample, double *single) {
    (void)scratch;
    engine->kernels->singles(engine->setup.units, engine->scale, sample->b, sample->square,
                             engine->logit, single);
    return 0;
}

static double hot_gaussian(double large, double sigma) {
    return 0.52 * large * large / (sigma * sigma);
}

const et_noise et_gaussian = {
    .sigma = true,
    .products = true,
    .prepare = prepare_gaussian,
    .norm = norm_gaussian,
    .energy = energy_gaussian,
    .singles = singles_gaussian,
    .hot = hot_gaussian,
};

/* ---- noise by functions ---- */

static void prepare_functions(et_engine *engine) {
    engine->scale = engine->beta;
    engine->per_value = 0;
    engine->by_energy = true;
}

static double norm_by_functions(const et_engine *engine, int64_t n, const double *y) {
    const rb_et_model *own = engine->setup.model.own;
    return own->constant ? -2 * own->constant(own->user, n, y) : 0;
}

static double energy_by_functions(const et_engine *engine, int64_t n, const double *y,
                                  const double *wbar) {
    const rb_et_model *own = engine->setup.model.own;
    return engine->beta * own->log_likelihood(own->user, n, y, wbar, engine->parameters->sigma);
}

static const double *empty_vector(const et_engine *engine, et_scratch *scratch) {
    for (int64_t d = 0; d < engine->setup.n_features; d++) {
        scratch->vectors[d] = engine->setup.model.empty;
    }
    return scratch->vectors;
}

static double singles_by_functions(const et_engine *engine, et_scratch *scratch,
                                   const et_sample *sample, double *single) {
    const double *empty = empty_vector(engine, scratch);
    double *out = scratch->vectors + engine->setup.n_features;
    for (int64_t h = 0; h < engine->setup.units; h++) {
        const double *field = et_field(engine, scratch, sample, h, 0);
        engine->setup.model.superpose(engine->setup.model.user, sample->n, empty, field, out);
        single[h] = energy_by_functions(engine, sample->n, sample->y, out) + engine->logit[h];
    }
    return energy_by_functions(engine, sample->n, sample->y, empty);
}

/* Counts vary by about their root; other noises are taken to be of order 1. */
static double hot_by_functions(double large, double sigma) {
    (void)sigma;
    return 0.52 * fmax(large, 8);
}

const et_noise et_by_functions = {
    .prepare = prepare_functions,
    .norm = norm_by_functions,
    .energy = energy_by_functions,
    .singles = singles_by_functions,
    .hot = hot_by_functions,
};

/* ---- fields that add up ---- */

/* A sample that lacks values: its G is that of the packed fields. */
static void place_packed(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                         const et_sample *sample, int l) {
    int h = tree->candidates;
    bool pairs = tree->max_active > 1;
    for (int i = 0; i < h; i++) {
        const double *field = et_field(engine, scratch, sample, sample->candidates[i], i);
        scratch->start[i * ET_LANES + l] = sample->single[sample->candidates[i]];
        for (int j = 0; pairs && j < i; j++) {
            double product =
                engine->kernels->dot(sample->n, rb_dense_row(scratch->fields, j), field);
            scratch->gram[((int64_t)j * h + i) * ET_LANES + l] = engine->scale * product;
        }
    }
}

void et_linear_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                        const et_sample *samples, int count) {
    int h = tree->candidates;
    bool pairs = tree->max_active > 1;
    memset(scratch->start, 0, (size_t)(h * ET_LANES) * sizeof *scratch->start);
    for (int l = 0; l < count; l++) {
        const int32_t *candidates = samples[l].candidates;
        if (samples[l].places) {
            place_packed(engine, tree, scratch, &samples[l], l);
            continue;
        }
        for (int i = 0; i < h; i++) {
            scratch->start[i * ET_LANES + l] = samples[l].single[candidates[i]];
            const double *row = rb_dense_row(engine->gram, candidates[i]);
            double *g = scratch->gram + (int64_t)i * h * ET_LANES + l;
            for (int j = i + 1; pairs && j < h; j++) {
                g[(int64_t)j * ET_LANES] = engine->scale * row[candidates[j]];
            }
        }
    }
    engine->kernels->energies(tree, scratch->start, scratch->gram, scratch->work, scratch->energy);
}

/* ---- any superposition ---- */

double et_join(const et_engine *engine, const et_sample *sample, const double *wbar,
               const double *field, double *out, bool goes_on) {
    (void)goes_on;
    engine->setup.model.superpose(engine->setup.model.user, sample->n, wbar, field, out);
    return engine->setup.model.noise->energy(engine, sample->n, sample->y, out);
}

double et_join_max(const et_engine *engine, const et_sample *sample, const double *wbar,
                   const double *field, double *out, bool goes_on) {
    return engine->scale / 2 *
           engine->kernels->maximum(sample->n, wbar, field, sample->y, goes_on ? out : NULL);
}

struct descent {
    const et_engine *engine;
    const et_tree *tree;
    et_scratch *scratch;
    const et_sample *sample;
    int lane;
};

/* Energies of all states below s, of `size` causes, whose superposition and prior terms are given.
 */
static void descend(const struct descent *d, int64_t s, int size, const double *wbar,
                    double prior) {
    const et_engine *engine = d->engine;
    const et_model *model = &engine->setup.model;
    const et_tree *tree = d->tree;
    const et_sample *sample = d->sample;
    double *out = d->scratch->vectors + (int64_t)(size + 1) * engine->setup.n_features;
    for (int k = tree->last[s] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[s] + k;
        int32_t h = sample->candidates[k];
        double *energy = &d->scratch->energy[child * ET_LANES + d->lane];
        const double *field = sample->places ? rb_dense_row(d->scratch->fields, k)
                                             : rb_dense_row(engine->parameters->fields, h);
        const double *next = out;
        bool goes_on = child < tree->inner;
        if (size > 0) {
            *energy =
                model->join(engine, sample, wbar, field, out, goes_on) + prior + engine->logit[h];
        } else {
            *energy = sample->single[h];
            next = model->own ? out : field;
        }
        if (size == 0 && goes_on && model->own) {
            model->superpose(model->user, sample->n, wbar, field, out);
        }
        if (goes_on) {
            descend(d, child, size + 1, next, prior + engine->logit[h]);
        }
    }
}

void et_general_energies(const et_engine *engine, const et_tree *tree, et_scratch *scratch,
                         const et_sample *samples, int count) {
    const double *empty = empty_vector(engine, scratch);
    for (int64_t i = 0; count < ET_LANES && i < tree->count * ET_LANES; i++) {
        scratch->energy[i] = 0;
    }
    for (int l = 0; l < count; l++) {
        struct descent d = {
            .engine = engine, .tree = tree, .scratch = scratch, .sample = &samples[l], .lane = l};
        for (int k = 0; samples[l].places && k < tree->candidates; k++) {
            et_field(engine, scratch, &samples[l], samples[l].candidates[k], k);
        }
        scratch->energy[l] = samples[l].none;
        descend(&d, 0, 0, empty, 0);
    }
}
