/* MCA with few causes: sums over states by sets of causes. The powers of a responsibility,
 *   A_hd(s) = R_hd^a (sum_{j in s} R_jd)^-a,
 * do not depend on the sample. Where there are fewer sets of two causes and more than samples and
 * states, sum q and sum q y are kept for each set, and each power is computed once. */
#include "fit.h"

#include <math.h>

/* C(h, k) for k <= most; they ascend without overflow, since all sets have been counted. */
static void fill_choose(et_sets *sets, int64_t units) {
    int64_t width = sets->most + 1;
    for (int64_t h = 0; h <= units; h++) {
        for (int64_t k = 0; k < width; k++) {
            int64_t *c = sets->choose + h * width + k;
            *c = k == 0 ? 1 : h == 0 ? 0 : c[-width] + c[-width - 1];
        }
    }
}

/* How many sets of 2 to most causes there are, or more than any memory when they are many. */
static double count_sets(int64_t units, int64_t most) {
    double of_size = (double)units, sum = 0;
    for (int64_t k = 2; k <= most; k++) {
        of_size *= (double)(units - k + 1) / (double)k;
        sum += of_size;
    }
    return sum;
}

rb_error et_sets_new(rb_context *ctx, const et_state *st, et_sets *sets) {
    const double most_cells = 1 << 16, most_a_sample = 4;
    const et_engine *engine = st->engine;
    int64_t units = engine->setup.units, d = engine->setup.n_features;
    int64_t most = et_tree_of(engine, engine->widths)->max_active;
    double count = count_sets(units, most);
    if (count < 1 || count * (double)d > most_cells ||
        count > most_a_sample * (double)st->problem.n_samples) {
        return RB_OK;
    }
    sets->most = most;
    sets->choose = rb_alloc(ctx, (units + 1) * (most + 1), sizeof *sets->choose);
    if (!sets->choose) {
        return RB_ERROR_MEMORY;
    }
    fill_choose(sets, units);
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, (int64_t)(count + 0.5), d, &sets->weights);
    return err ? err : rb_dense_new(ctx, RB_FLOAT64, sets->weights.rows, d, &sets->products);
}

void et_sets_free(et_sets *sets) {
    rb_free(sets->choose);
    rb_dense_free(&sets->weights);
    rb_dense_free(&sets->products);
}

int64_t et_set_of(const et_sets *sets, int64_t units, const int64_t *causes, int size) {
    int64_t width = sets->most + 1, index = 0;
    for (int k = 2; k < size; k++) { /* all smaller sets come before */
        index += sets->choose[units * width + k];
    }
    for (int i = 0; i < size; i++) { /* causes descend: the i-th is the (size - i)-th smallest */
        index += sets->choose[causes[i] * width + size - i];
    }
    return index;
}

/* ---- from sets to causes ---- */

static double *part_of(rb_dense rows, int64_t row, int64_t first) {
    return (double *)rb_dense_row(rows, row) + first;
}

static void spread_band(et_state *st, const int64_t *causes, int size, int64_t index, int64_t first,
                        int64_t count) {
    const et_sets *sets = &st->moments.sets;
    const double *powers[ET_MOST_ACTIVE], *roots[ET_MOST_ACTIVE];
    double *weights[ET_MOST_ACTIVE], *products[ET_MOST_ACTIVE], mean[ET_BAND];
    const double *q = part_of(sets->weights, index, first);
    const double *qy = part_of(sets->products, index, first);
    for (int64_t d = 0; d < count; d++) {
        mean[d] = q[d] > 0 ? qy[d] / q[d] : 0;
    }
    for (int k = 0; k < size; k++) {
        powers[k] = part_of(st->powers, causes[k], first);
        roots[k] = part_of(st->roots, causes[k], first);
        weights[k] = part_of(st->moments.weights, causes[k], first);
        products[k] = part_of(st->moments.products, causes[k], first);
    }
    st->engine->kernels->responsibilities(count, size, st->problem.type == RB_FLOAT32, 1,
                                          st->exponent, powers, roots, mean, q, weights, products);
}

/* All sets that a set with causes descending to the last one begins. */
static void spread(et_state *st, int64_t *causes, int size) {
    const et_sets *sets = &st->moments.sets;
    int64_t d = sets->weights.cols, units = st->options.units;
    if (size > 1) {
        int64_t index = et_set_of(sets, units, causes, size);
        for (int64_t first = 0; first < d; first += ET_BAND) {
            spread_band(st, causes, size, index, first, d - first < ET_BAND ? d - first : ET_BAND);
        }
    }
    for (int64_t h = 0; size < sets->most && h < (size ? causes[size - 1] : units); h++) {
        causes[size] = h;
        spread(st, causes, size + 1);
    }
}

void et_sets_finish(et_state *st) {
    int64_t causes[ET_MOST_ACTIVE];
    if (st->moments.sets.choose) {
        spread(st, causes, 0);
    }
}
