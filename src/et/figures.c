/* What a fit tells of an iteration besides its objectives. */
#include "fit.h"

#include <math.h>

const char *const et_figure_names[] = {
    "temperature", "samples_used", "causes_used",    "sigma",       "prior", "candidate_hits",
    "quality",     "truncation",   "log_likelihood", "free_energy", NULL};

static int64_t count_used(const et_state *st) {
    int64_t count = 0;
    for (int64_t h = 0; h < st->options.units; h++) {
        count += st->in_map[h];
    }
    return count;
}

static double mean_prior(const et_state *st) {
    double sum = 0;
    for (int64_t h = 0; h < st->options.units; h++) {
        sum += st->engine->parameters.prior[h];
    }
    return sum / (double)st->options.units;
}

/* Means of Q and -log Q over the traced samples of an iteration. */
static void mean_quality(const et_trace *t, int64_t iteration, double *quality,
                         double *truncation) {
    *quality = *truncation = 0;
    for (int64_t k = 0; k < t->count; k++) {
        double q = t->quality[iteration * t->count + k];
        *quality += q;
        *truncation -= log(q);
    }
    *quality /= (double)t->count;
    *truncation /= (double)t->count;
}

void et_figures(const void *state, double *values) {
    const et_state *st = state;
    const et_trace *t = &st->trace;
    int64_t done = st->iteration - 1; /* the M-step has counted it already */
    values[0] = et_temperature(&st->schedule, done);
    values[1] = (double)st->last_used;
    values[2] = (double)count_used(st);
    values[3] = st->model->general ? NAN : st->engine->parameters.sigma;
    values[4] = mean_prior(st);
    values[5] = values[6] = values[7] = NAN;
    values[8] = st->log_likelihood;
    values[9] = st->free_energy;
    if (t->figures && t->count > 0) {
        values[5] = t->figures[done * ET_TRACE_FIGURES + 2];
        mean_quality(t, done, &values[6], &values[7]);
    }
}
