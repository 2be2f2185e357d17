/* Steps of the optimisers, and how their rate falls. */
#include "train.h"

#include <math.h>

double deep_rate(const deep_train_options *o, int64_t epoch) {
    const double pi = 3.14159265358979323846;
    double t = (double)epoch;
    switch ((deep_schedule)o->schedule) {
    case DEEP_STEPS:
        return o->rate * pow(o->rate_decay, floor(t / (double)o->rate_step));
    case DEEP_EXPONENTIAL:
        return o->rate * pow(o->rate_decay, t);
    case DEEP_COSINE:
        return o->rate * 0.5 * (1 + cos(pi * t / (double)o->epochs));
    default:
        return o->rate;
    }
}

/* ---- a step over the vector, in pieces ---- */

enum { PIECE = 1 << 15 };

/* A run of numbers with one decay: weights of a layer, or its bias. */
struct run {
    const deep_training *t;
    deep_step step;
    int64_t first, count;
};

static void *at(const deep_training *t, void *vector, int64_t place) {
    return vector ? (char *)vector + place * (int64_t)rb_type_size(t->net.type) : NULL;
}

static void step_task(void *arg, int64_t piece, int worker) {
    const struct run *r = arg;
    const deep_training *t = r->t;
    int64_t first = r->first + piece * PIECE, left = r->first + r->count - first;
    int64_t count = left < PIECE ? left : PIECE;
    void *gradient = at(t, t->gradient, first), *values = at(t, t->net.values, first);
    (void)worker;
    if (t->second) {
        deep_step_adam(t->net.type, count, &r->step, gradient, at(t, t->first, first),
                       at(t, t->second, first), values);
    } else {
        deep_step_sgd(t->net.type, count, &r->step, gradient, at(t, t->first, first), values);
    }
}

void deep_train_step(deep_training *t, double rate) {
    const deep_train_options *o = t->options;
    double steps = (double)++t->progress.steps;
    deep_step step = {.rate = rate,
                      .momentum = o->momentum,
                      .nesterov = o->optimizer == DEEP_NESTEROV,
                      .beta1 = 0.9,
                      .beta2 = 0.999,
                      .epsilon = 1e-8};
    step.correction1 = 1 - pow(step.beta1, steps);
    step.correction2 = 1 - pow(step.beta2, steps);
    for (int k = 0; k < t->net.layers; k++) {
        int64_t in = t->net.sizes[k], out = t->net.sizes[k + 1];
        struct run weights = {t, step, t->net.weights[k], in * out};
        struct run bias = {t, step, t->net.biases[k], out};
        weights.step.decay = o->weight_decay;
        rb_parallel(t->ctx, (weights.count + PIECE - 1) / PIECE, step_task, &weights);
        step_task(&bias, 0, 0);
        for (int64_t piece = 1; piece * PIECE < bias.count; piece++)
            step_task(&bias, piece, 0);
    }
}
