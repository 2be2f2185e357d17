/* Which causes are candidates for a sample. Constants and beta are dropped from the scores. */
#include "engine.h"

#include <math.h>

/* - sum_d max(0, W_hd - y_d)^2: what a field exceeds the sample by (eq. 28). */
static double bound_score(int64_t n, const double *field, const double *y) {
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        double excess = field[d] > y[d] ? field[d] - y[d] : 0;
        sum += excess * excess;
    }
    return -sum;
}

void et_scores(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
               double *scores) {
    const et_setup *setup = &engine->setup;
    /* Priors of their own, or another noise: the energy of the single cause says it all. */
    bool by_energy = setup->model->general || !engine->equal_prior;
    if (setup->selection == RB_ET_SELECT_EXACT) {
        et_exact(engine, scratch, sample, scores);
        return;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        double square = sample->square[h];
        if (square == 0) {
            scores[h] = -HUGE_VAL; /* a field of zeros explains nothing */
        } else if (setup->selection == RB_ET_SELECT_JOINT) {
            scores[h] = by_energy ? sample->single[h] : sample->b[h] - square / 2;
        } else if (setup->selection == RB_ET_SELECT_COSINE) {
            scores[h] = sample->b[h] / sqrt(square);
        } else {
            double *room = sample->places ? rb_dense_row(scratch->fields, 0) : NULL;
            const double *field = et_field(engine, sample, h, room);
            scores[h] = bound_score(sample->n, field, sample->y);
        }
    }
}

static void sort_ascending(int32_t *list, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        int32_t value = list[i];
        int64_t j = i;
        for (; j > 0 && list[j - 1] > value; j--) {
            list[j] = list[j - 1];
        }
        list[j] = value;
    }
}

/* A score that at least `count` causes reach: the count-th of the largest of every ET_STRIDES-th.
 */
static double sure_score(const et_kernels *kernels, const double *scores, int64_t units,
                         int64_t count) {
    double largest[ET_STRIDES];
    kernels->strides(units, scores, largest);
    for (int64_t i = 0; i < count; i++) {
        int64_t best = i;
        for (int64_t j = i + 1; j < ET_STRIDES; j++) {
            best = largest[j] > largest[best] ? j : best;
        }
        double swap = largest[i];
        largest[i] = largest[best];
        largest[best] = swap;
    }
    return largest[count - 1];
}

void et_select(const et_kernels *kernels, const double *scores, int64_t units, int64_t count,
               double *best, int32_t *few, int32_t *candidates) {
    enum { MOST = ET_STRIDES / 2, MANY = 4 * ET_STRIDES };
    if (count == units) {
        for (int64_t h = 0; h < units; h++) {
            candidates[h] = (int32_t)h;
        }
        return;
    }
    int64_t taken = 0, number = units;
    bool listed = units >= MANY && count <= MOST;
    if (listed) {
        double least = sure_score(kernels, scores, units, count);
        listed = least > -1e308;
        number = listed ? kernels->collect(units, scores, least, few) : units;
    }
    for (int64_t n = 0; n < number; n++) {
        int64_t h = listed ? few[n] : n;
        /* Only what is strictly better moves ahead: of equals the lower index stays. */
        if (taken == count && !(scores[h] > best[count - 1])) {
            continue;
        }
        int64_t i = taken < count ? taken++ : count - 1;
        for (; i > 0 && scores[h] > best[i - 1]; i--) {
            best[i] = best[i - 1];
            candidates[i] = candidates[i - 1];
        }
        best[i] = scores[h];
        candidates[i] = (int32_t)h;
    }
    sort_ascending(candidates, count);
}
