/* The largest field counts: a state's superposition is its parent's with one more field.
 *
 *   e(s) = beta / (2 sigma^2) sum_d Wbar_d (2 y_d - Wbar_d) + beta_p k logit(pi)
 * State by state in depth: no more superpositions are kept than causes may be active.
 */
#include "engine.h"

struct descent {
    const et_engine *engine;
    const et_tree *tree;
    const et_sample *sample;
};

static const double *field_of(const struct descent *d, int k) {
    return rb_dense_row(d->engine->parameters.fields, d->sample->candidates[k]);
}

/* max(a, b) into out; returns sum_d out (2 y - out). */
static double superpose(int64_t n, const double *a, const double *b, const double *y, double *out) {
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        double w = a[d] > b[d] ? a[d] : b[d];
        out[d] = w;
        sum += w * (2 * y[d] - w);
    }
    return sum;
}

/* Energies of all states below s, which has `wbar` and at least one cause. */
static void descend(const struct descent *d, int64_t s, const double *wbar) {
    const et_tree *tree = d->tree;
    int64_t n = d->engine->setup.n_features, child = tree->child[s];
    int size = tree->size[s] + 1;
    double *out = d->sample->vectors + (size - 1) * n;
    for (int k = tree->last[s] + 1; k < tree->candidates; k++) {
        double gain = superpose(n, wbar, field_of(d, k), d->sample->y, out);
        d->sample->energy[child + k] = d->engine->scale / 2 * gain + size * d->engine->logit;
        if (child + k < tree->inner) {
            descend(d, child + k, out);
        }
    }
}

void et_max_energies(const et_engine *engine, const et_tree *tree, const et_sample *sample) {
    struct descent d = {engine, tree, sample};
    sample->energy[0] = 0;
    for (int k = 0; k < tree->candidates; k++) {
        int64_t s = tree->child[0] + k;
        sample->energy[s] = sample->single[sample->candidates[k]];
        if (s < tree->inner) {
            descend(&d, s, field_of(&d, k));
        }
    }
}

/* With codes of 0 and 1 it is Wbar(s); between them a field counts as far as its cause is active.
 */
void et_max_decode(rb_dense fields, const double *codes, double *row) {
    for (int64_t d = 0; d < fields.cols; d++) {
        row[d] = 0;
    }
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; codes[h] != 0 && d < fields.cols; d++) {
            double value = codes[h] * field[d];
            row[d] = row[d] > value ? row[d] : value;
        }
    }
}
