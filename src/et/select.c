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
    if (setup->selection == RB_ET_SELECT_EXACT) {
        et_exact(engine, scratch, sample, scores);
        return;
    }
    for (int64_t h = 0; h < setup->units; h++) {
        double square = sample->square[h];
        if (square == 0) {
            scores[h] = -HUGE_VAL; /* a field of zeros explains nothing */
        } else if (setup->selection == RB_ET_SELECT_JOINT) {
            scores[h] = engine->by_energy ? sample->single[h] : sample->b[h] - square / 2;
        } else if (setup->selection == RB_ET_SELECT_COSINE) {
            scores[h] = sample->b[h] / sqrt(square);
        } else {
            const double *field = et_field(engine, scratch, sample, h, 0);
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

/* The `count` best of causes that are few, or of all when `list` is NULL, one after the other. */
static void insert_best(const double *scores, int64_t number, const int32_t *list, int64_t count,
                        double *best, int32_t *candidates) {
    int64_t taken = 0;
    for (int64_t n = 0; n < number; n++) {
        int64_t h = list ? list[n] : n;
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

void et_select(const et_kernels *kernels, const double *scores, int64_t units, int64_t count,
               double *best, int32_t *few, int32_t *candidates) {
    int64_t number = -1;
    if (count == units) {
        for (int64_t h = 0; h < units; h++) {
            candidates[h] = (int32_t)h;
        }
        return;
    }
    if (units <= ET_FEW) {
        kernels->largest_of(units, NULL, scores, count, candidates);
        return;
    }
    if (count <= ET_STRIDES / 2) {
        number = kernels->shortlist(units, scores, count, few);
    }
    if (number >= 0 && number <= ET_FEW) {
        kernels->largest_of(number, few, scores, count, candidates);
    } else {
        insert_best(scores, number < 0 ? units : number, number < 0 ? NULL : few, count, best,
                    candidates);
    }
}
