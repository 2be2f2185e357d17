/* Energies by the superpositions themselves: for fields of which the largest counts, and for models
 * with another noise. State by state in depth: no more superpositions are kept than causes may be
 * active. */
#include "engine.h"

struct descent {
    const et_engine *engine;
    const et_tree *tree;
    et_scratch *scratch;
    const et_sample *sample;
    rb_dense packed; /* fields of the candidates, where the sample lacks values */
    int lane;
};

double et_fit_energy(const et_engine *engine, int64_t n, const double *y, const double *wbar) {
    const rb_et_model *general = engine->setup.model->general;
    if (general) {
        return engine->beta *
               general->log_likelihood(general->user, n, y, wbar, engine->parameters.sigma);
    }
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        sum += wbar[d] * (2 * y[d] - wbar[d]);
    }
    return engine->scale / 2 * sum;
}

double et_norm(const et_engine *engine, int64_t n, const double *y) {
    const rb_et_model *general = engine->setup.model->general;
    if (general) {
        return general->constant ? -2 * general->constant(general->user, n, y) : 0;
    }
    return engine->kernels->dot(n, y, y);
}

static double *vector_of(const struct descent *d, int size) {
    return d->scratch->vectors + (int64_t)size * d->engine->setup.n_features;
}

/* The superposition of `wbar` and a field, and what it adds to e. Into `out` only if the state goes
 * on. */
static double superpose(const struct descent *d, const double *wbar, const double *field,
                        double *out, bool goes_on) {
    const et_engine *engine = d->engine;
    const et_model *model = engine->setup.model;
    int64_t n = d->sample->n;
    if (model->max && !model->general) {
        return engine->scale / 2 *
               engine->kernels->maximum(n, wbar, field, d->sample->y, goes_on ? out : NULL);
    }
    model->superpose(model->user, n, wbar, field, out);
    return et_fit_energy(engine, n, d->sample->y, out);
}

/* Energies of all states below s, of `size` causes, whose superposition and prior terms are given.
 */
static void descend(const struct descent *d, int64_t s, int size, const double *wbar,
                    double prior) {
    const et_engine *engine = d->engine;
    const et_tree *tree = d->tree;
    double *out = vector_of(d, size + 1);
    for (int k = tree->last[s] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[s] + k;
        int32_t h = d->sample->candidates[k];
        double *energy = &d->scratch->energy[child * ET_LANES + d->lane];
        const double *field = d->packed.data ? rb_dense_row(d->packed, k)
                                             : rb_dense_row(engine->parameters.fields, h);
        const double *next = out;
        if (size == 0 && !engine->setup.model->general) {
            *energy = d->sample->single[h]; /* and the superposition is the field */
            next = field;
        } else {
            *energy =
                superpose(d, wbar, field, out, child < tree->inner) + prior + engine->logit[h];
        }
        if (child < tree->inner) {
            descend(d, child, size + 1, next, prior + engine->logit[h]);
        }
    }
}

static const double *empty_vector(const et_engine *engine, et_scratch *scratch) {
    for (int64_t d = 0; d < engine->setup.n_features; d++) {
        scratch->vectors[d] = engine->setup.model->empty;
    }
    return scratch->vectors;
}

static void pack_candidates(const struct descent *d) {
    for (int k = 0; k < d->tree->candidates; k++) {
        et_field(d->engine, d->sample, d->sample->candidates[k], rb_dense_row(d->packed, k));
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
        if (samples[l].places) {
            d.packed = scratch->fields;
            pack_candidates(&d);
        }
        scratch->energy[l] = engine->setup.model->general
                                 ? et_fit_energy(engine, samples[l].n, samples[l].y, empty)
                                 : 0;
        descend(&d, 0, 0, empty, 0);
    }
}

void et_singles(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                double *single) {
    const et_model *model = engine->setup.model;
    int64_t units = engine->setup.units;
    if (!model->general) {
        engine->kernels->singles(units, engine->scale, sample->b, sample->square, engine->logit,
                                 single);
        return;
    }
    const double *empty = empty_vector(engine, scratch);
    double *out = scratch->vectors + engine->setup.n_features;
    double *room = sample->places ? rb_dense_row(scratch->fields, 0) : NULL;
    for (int64_t h = 0; h < units; h++) {
        model->superpose(model->user, sample->n, empty, et_field(engine, sample, h, room), out);
        single[h] = et_fit_energy(engine, sample->n, sample->y, out) + engine->logit[h];
    }
}
