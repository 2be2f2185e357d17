/* Which causes are candidates for a sample. Constants and beta are
 * dropped from the scores. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* - sum_d max(0, W_hd - y_d)^2: what a field exceeds the sample by (eq. 28). */
static double bound_score(int64_t n, const double *field, const double *y) {
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        double excess = field[d] > y[d] ? field[d] - y[d] : 0;
        sum += excess * excess;
    }
    return -sum;
}

/* Of cause h at value a. */
static double score(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                    int64_t h, int a) {
    const et_setup *setup = &engine->setup;
    double value = setup->values.value[a], square = sample->square[h];
    int64_t item = a * setup->units + h;
    switch (setup->selection) {
    case RB_ET_SELECT_JOINT:
        return engine->by_energy ? sample->single[item]
                                 : value * (sample->b[h] - value / 2 * square);
    case RB_ET_SELECT_COSINE:
        return copysign(1, value) * sample->b[h] / sqrt(square);
    case RB_ET_SELECT_PRODUCT:
        return value * sample->b[h];
    default:
        return bound_score(sample->n, et_field(engine, scratch, sample, item, 0), sample->y);
    }
}

void et_best_energies(const et_setup *setup, const double *single, double *scores) {
    memcpy(scores, single, (size_t)setup->units * sizeof *scores);
    for (int a = 1; a < setup->values.count; a++) {
        const double *other = single + a * setup->units;
        for (int64_t h = 0; h < setup->units; h++)
            scores[h] = other[h] > scores[h] ? other[h] : scores[h];
    }
}

/* A cause has the score of its best value. */
static void usual_scores(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                         double *scores) {
    const et_setup *setup = &engine->setup;
    if (setup->selection == RB_ET_SELECT_EXACT) {
        et_exact(engine, scratch, sample, scores);
        return;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        scores[h] = -HUGE_VAL; /* a field of zeros explains nothing */
        for (int a = 0; sample->square[h] != 0 && a < setup->values.count; a++)
            scores[h] = fmax(scores[h], score(engine, scratch, sample, h, a));
    }
}

/* Those of the program, which come after anything else. */
static void select_outside(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                           double *scores) {
    const double max = 1e300;
    const rb_et_model *own = &engine->setup.model.own;
    const double *y = sample->y;
    int64_t all = engine->setup.n_features;
    if (sample->places) {
        for (int64_t d = 0; d < all; d++)
            scratch->vectors[d] = NAN;
        for (int64_t k = 0; k < sample->n; k++)
            scratch->vectors[sample->places[k]] = y[k];
        y = scratch->vectors;
    }
    own->select(own->user, all, y, engine->setup.units, scores);
    for (int64_t h = 0; h < engine->setup.units; h++)
        scores[h] = scores[h] > -max ? fmin(scores[h], max) : -HUGE_VAL;
}

void et_scores(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
               double *scores) {
    usual_scores(engine, scratch, sample, scores);
    if (engine->setup.model.own.select) select_outside(engine, scratch, sample, scores);
}

/* ---- candidates ---- */

void et_select(const et_kernels *kernels, const double *scores, int64_t units, int64_t count,
               double *work, int32_t *few, int32_t *candidates) {
    int64_t number = -1, taken = 0;
    if (units <= ET_FEW) {
        kernels->largest_of(units, NULL, scores, count, candidates);
        return;
    }
    if (count <= ET_STRIDES / 2) number = kernels->shortlist(units, scores, count, few);
    if (number >= 0 && number <= ET_FEW) {
        kernels->largest_of(number, few, scores, count, candidates);
        return;
    }
    et_cut cut = et_cut_find(scores, 0, units, count, work);
    for (int64_t h = 0; h < units && taken < count; h++) {
        candidates[taken] = (int32_t)h;
        taken += et_cut_uses(cut, scores[h], h);
    }
}
