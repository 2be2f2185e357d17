/* The samples that units answer most (D. Erhan, Y. Bengio, A. Courville, P. Vincent, "Visualizing
 * higher-layer features of a deep network", 2009): the largest z of the last layer.
 *
 * Samples are x = A u, A = [W, Psi^(1/2)] of the first layer's rfn, all u of one length: what the
 * model holds equally likely. Without A, among all x of one length, units of an rfn answer most
 * what never occurs: a large value in a feature without noise. A goes into the weights of the first
 * layer, so that the search is among u of one length. z is linear in pieces: a step goes part of
 * the way to the best u of the piece, |u| g / |g| with its gradient g, and is halved until z
 * grows. */
#include "net.h"

#include <math.h>
#include <string.h>

enum { STARTS = 8, STEPS = 40, HALVINGS = 10 };

struct search {
    const rb_layers *from;
    deep_layers layers; /* the first one has A in it, and is owned */
    double length;      /* of u */
    double *samples;    /* inputs x outputs */
    double *codes;      /* of each worker: n_codes, all a_k, one after the other */
    double *vectors;    /* of each worker: 5 of the widest layer */
    int64_t n_codes, widest;
    int64_t inputs, outputs; /* inputs: of u */
};

/* z of an output at x; keeps the codes of the layers. */
static double answer(const struct search *s, int64_t unit, const double *x, double *codes) {
    const deep_layers *layers = &s->layers;
    const double *below = x;
    for (int k = 0; k < layers->count; k++) {
        const deep_layer *l = &layers->list[k];
        bool last = k == layers->count - 1;
        for (int64_t j = last ? unit : 0; j < (last ? unit + 1 : l->out); j++) {
            const double *w = l->weights + j * l->in;
            double z = l->bias[j];
            for (int64_t i = 0; i < l->in; i++)
                z += w[i] * below[i];
            if (last) return z;
            codes[j] = z > 0 ? z : 0;
        }
        below = codes;
        codes += l->out;
    }
    return 0;
}

/* dz / dx of a unit with these codes; of active units alone, or as if all were. `other` is room. */
static void gradient(const struct search *s, int64_t unit, const double *codes, bool all, double *g,
                     double *other) {
    const deep_layers *layers = &s->layers;
    int last = layers->count - 1;
    double *from = last % 2 ? other : g, *to = last % 2 ? g : other;
    const deep_layer *top = &layers->list[last];
    memcpy(from, top->weights + unit * top->in, (size_t)top->in * sizeof *from);
    for (int k = 0; k < last; k++)
        codes += layers->list[k].out;
    for (int k = last - 1; k >= 0; k--) {
        const deep_layer *l = &layers->list[k];
        codes -= l->out;
        memset(to, 0, (size_t)l->in * sizeof *to);
        for (int64_t j = 0; j < l->out; j++) {
            double d = all || codes[j] > 0 ? from[j] : 0;
            for (int64_t i = 0; i < l->in && d != 0; i++)
                to[i] += d * l->weights[j * l->in + i];
        }
        double *kept = from;
        from = to;
        to = kept;
    }
    if (from != g) memcpy(g, from, (size_t)s->inputs * sizeof *g);
}

/* False: it has none. */
static bool set_length(double *x, int64_t count, double length) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += x[i] * x[i];
    if (!(squares > 0)) return false;
    for (int64_t i = 0; i < count; i++)
        x[i] *= length / sqrt(squares);
    return true;
}

/* Uphill from x, which gets there; z. */
static double climb(const struct search *s, int64_t unit, double *x, double *codes, double *room) {
    double *g = room, *other = room + s->widest, *next = room + 2 * s->widest;
    double z = answer(s, unit, x, codes), share = 1;
    for (int step = 0; step < STEPS; step++) {
        bool better = false;
        (void)answer(s, unit, x, codes);
        gradient(s, unit, codes, false, g, other);
        if (!set_length(g, s->inputs, s->length)) break;
        share = fmin(1, 4 * share);
        for (int h = 0; h < HALVINGS && !better; h++) {
            for (int64_t i = 0; i < s->inputs; i++)
                next[i] = (1 - share) * x[i] + share * g[i];
            double reached =
                set_length(next, s->inputs, s->length) ? answer(s, unit, next, codes) : -INFINITY;
            better = reached > z + 1e-12 * fabs(z);
            if (better) {
                z = reached;
                memcpy(x, next, (size_t)s->inputs * sizeof *x);
            } else {
                share /= 2;
            }
        }
        if (!better) break;
    }
    return z;
}

/* Start number `start` of a unit: the linear projection, or the weights of the unit of the first
 * layer that points so many-th most along it. False: there is none. */
static bool set_start(const struct search *s, int64_t unit, int start, double *x, double *codes,
                      double *room) {
    const deep_layer *first = &s->layers.list[0];
    double *along = room + 2 * s->widest, above = INFINITY;
    int64_t found = -1;
    gradient(s, unit, codes, true, x, room);
    if (start == 0 || s->layers.count == 1)
        return start == 0 && set_length(x, s->inputs, s->length);
    for (int64_t j = 0; j < first->out; j++) {
        along[j] = 0;
        for (int64_t i = 0; i < first->in; i++)
            along[j] += x[i] * first->weights[j * first->in + i];
    }
    /* A selection, for the first few alone. */
    for (int round = 0; round < start; round++) {
        found = -1;
        for (int64_t j = 0; j < first->out; j++)
            if (along[j] < above && (found < 0 || along[j] > along[found])) found = j;
        if (found < 0) return false;
        above = along[found];
    }
    memcpy(x, first->weights + found * first->in, (size_t)s->inputs * sizeof *x);
    return set_length(x, s->inputs, s->length);
}

/* x = A u. */
static void put_sample(const struct search *s, int64_t unit, const double *u) {
    const rb_layers *from = s->from;
    int64_t l = from->causes, m = s->inputs - l;
    for (int64_t k = 0; k < m; k++) {
        double x = u[l + k] * (from->deviations ? from->deviations[k] : 1);
        for (int64_t j = 0; j < l; j++)
            x += from->loadings[k * l + j] * u[j];
        s->samples[k * s->outputs + unit] = x;
    }
}

/* From the best of the starts. */
static void search_unit(void *arg, int64_t unit, int worker) {
    const struct search *s = arg;
    double *room = s->vectors + worker * 5 * s->widest, *x = room + 3 * s->widest,
           *best_x = x + s->widest;
    double *codes = s->codes + worker * s->n_codes, best = -INFINITY;
    memset(best_x, 0, (size_t)s->inputs * sizeof *best_x);
    for (int start = 0; start <= STARTS; start++) {
        if (!set_start(s, unit, start, x, codes, room)) continue;
        double z = answer(s, unit, x, codes);
        if (!(z > best)) continue;
        best = z;
        memcpy(best_x, x, (size_t)s->inputs * sizeof *x);
    }
    if (best > -INFINITY) (void)climb(s, unit, best_x, codes, room);
    put_sample(s, unit, best_x);
}

/* Weights times A. */
static rb_error fold_spread(rb_context *ctx, const rb_layers *from, struct search *s) {
    deep_layer *first = &s->layers.list[0];
    int64_t m = first->in, l = from->causes;
    double *weights = rb_alloc(ctx, first->out * s->inputs, sizeof *weights);
    if (!weights) return RB_ERROR_MEMORY;
    rb_dense w = {first->weights, first->out, m, m, RB_FLOAT64};
    rb_dense to = {weights, first->out, s->inputs, s->inputs, RB_FLOAT64};
    for (int64_t j = 0; j < first->out; j++)
        for (int64_t k = 0; k < m; k++)
            weights[j * s->inputs + l + k] =
                first->weights[j * m + k] * (from->deviations ? from->deviations[k] : 1);
    if (l > 0) {
        rb_dense loadings = {from->loadings, m, l, l, RB_FLOAT64};
        to.cols = l;
        rb_gemm_parallel(ctx, 1, w, RB_PLAIN, loadings, RB_PLAIN, 0, to);
    }
    first->weights = weights;
    first->in = s->inputs;
    return RB_OK;
}

rb_error rb_layers_maximise(rb_context *ctx, const rb_layers *layers, double *samples) {
    const deep_layers *l = &layers->layers;
    struct search s = {.from = layers, .layers = *l, .samples = samples, .n_codes = 1};
    int workers = rb_context_threads(ctx);
    rb_scratch lists = {.ctx = ctx};
    s.inputs = l->list[0].in + layers->causes;
    s.length = sqrt((double)s.inputs);
    s.outputs = l->list[l->count - 1].out;
    s.widest = s.inputs;
    for (int k = 0; k < l->count; k++) {
        s.n_codes += l->list[k].out;
        s.widest = l->list[k].out > s.widest ? l->list[k].out : s.widest;
    }
    s.codes = rb_take(&lists, workers * s.n_codes, sizeof *s.codes);
    s.vectors = rb_take(&lists, workers * 5 * s.widest, sizeof *s.vectors);
    if (!lists.err) lists.err = fold_spread(ctx, layers, &s);
    if (lists.err) return rb_scratch_end(&lists);
    lists.err = rb_parallel_or_stop(ctx, s.outputs, search_unit, &s);
    rb_free(s.layers.list[0].weights);
    return rb_scratch_end(&lists);
}
