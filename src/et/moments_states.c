/* Sums over the states themselves, for models whose M-step needs more than moments. In bands of
 * features: each number is summed by one thread, sample after sample. States of probability below
 * MIN are left out: nearly all of them at low temperatures. */
#include "fit.h"

#include <math.h>
#include <string.h>

static const double MIN = 1e-12;

/* ---- sets of items: those of MCA where they are few ----
 *
 * The powers of a responsibility, A_hd(s) = R_hd^a (sum_{j in s} R_jd)^-a, do not depend on the
 * sample. Where there are fewer sets of two causes and more than samples and states, sum q and
 * sum q y are kept for each set, and each power is computed once. */

int64_t et_sets_count(const et_setup *setup, int64_t n_samples) {
    const double max_cells = 1 << 16, max_a_sample = 4;
    double units = (double)setup->units;
    int values = setup->values.count;
    double count = et_count_states(setup->units, setup->widest_active, values) - 1 - units * values;
    bool few = count >= 1 && count * (double)setup->n_features <= max_cells &&
               count <= max_a_sample * (double)n_samples;
    return few ? (int64_t)(count + 0.5) : 0;
}

void et_sets_new(const et_setup *setup, rb_scratch *memory, et_sets *sets) {
    int64_t width = setup->widest_active + 1;
    sets->max = setup->widest_active;
    sets->units = setup->units;
    sets->values = setup->values.count;
    sets->choose = rb_take(memory, setup->units + 1, (size_t)width * sizeof *sets->choose);
    /* C(h, k) ascend without overflow, since all sets have been counted. */
    for (int64_t i = 0; sets->choose && i < (setup->units + 1) * width; i++) {
        int64_t *c = sets->choose + i;
        *c = i % width == 0 ? 1 : i < width ? 0 : c[-width] + c[-width - 1];
    }
}

/* V^k C(units, k) sets of size k; those of the same causes side by side. */
static int64_t set_of(const et_sets *sets, const int64_t *items, int size) {
    int64_t width = sets->max + 1, index = 0, before = 0, values = sets->values;
    int64_t power = values * values;
    for (int k = 2; k < size; k++, power *= values) /* all smaller sets come before */
        before += sets->choose[sets->units * width + k] * power;
    for (int i = 0; i < size; i++) /* causes descend: the i-th is the (size - i)-th smallest */
        index += sets->choose[items[i] % sets->units * width + size - i];
    for (int i = 0; values > 1 && i < size; i++)
        index = index * values + items[i] / sets->units;
    return before + index;
}

/* ---- states ---- */

/* A state, at a band of a sample. */
struct state {
    const et_band *band;
    int size;
    int64_t items[ET_MAX_ACTIVE];
};
typedef void (*adder)(const struct state *state, double q);

/* ---- shares of any model: up and down ---- */

/* Features first .. last - 1 of the band, all of which are there. */
static void add_run(const struct state *state, double q, int64_t first, int64_t last,
                    const double *wbar) {
    const et_band *band = state->band;
    const rb_et_model *own = &band->cpu->engine->setup.model.own;
    rb_dense fields = band->cpu->engine->fields;
    for (int k = 0; k < state->size; k++) {
        int64_t i = state->items[k];
        own->share(own->user, last - first, band->y + first, wbar + first,
                   et_band_row(band, fields, i) + first, q,
                   (rb_et_shares){et_band_row(band, band->sums->products, i) + first,
                                  et_band_row(band, band->sums->weights, i) + first});
    }
}

static void add_shares(const struct state *state, double q) {
    const et_band *band = state->band;
    const rb_et_model *model = &band->cpu->engine->setup.model.own;
    rb_dense fields = band->cpu->engine->fields;
    double wbar[ET_BAND];
    for (int64_t d = 0; d < band->count; d++)
        wbar[d] = model->empty;
    for (int k = 0; k < state->size; k++) {
        model->superpose(model->user, band->count, wbar, et_band_row(band, fields, state->items[k]),
                         wbar);
    }
    for (int64_t first = 0, last = 0; first < band->count; first = last + 1) {
        last = band->whole ? band->count : first;
        while (last < band->count && band->there[last] != 0)
            last++;
        if (last > first) add_run(state, q, first, last, wbar);
    }
}

/* ---- MCA (eqs 30, 36): sum <A> and sum <A> y ----
 *
 *   A_hd(s) = R_hd^a (sum_{j in s} R_jd)^-a,   R = (s_h W_h)^rho,  a = 1 - 1 / rho
 * is 1 for a cause alone: those samples come from a product. Sums are of items; the M-step weighs
 * them by values. */

static void add_responsibilities(const struct state *state, double q) {
    const et_band *band = state->band;
    const et_cpu *cpu = band->cpu;
    et_soft_cause causes[ET_MAX_ACTIVE];
    for (int k = 0; k < state->size; k++) {
        int64_t h = state->items[k];
        causes[k] = (et_soft_cause){
            et_band_row(band, cpu->powers, h), et_band_row(band, cpu->roots, h),
            et_band_row(band, band->sums->weights, h), et_band_row(band, band->sums->products, h)};
    }
    cpu->engine->kernels->responsibilities(band->count, state->size, causes, cpu->soft, q, band->y,
                                           band->whole ? NULL : band->there);
}

/* The same where sets of causes are few: the powers come later. */
static void add_to_set(const struct state *state, double q) {
    const et_band *band = state->band;
    const et_cpu *cpu = band->cpu;
    int64_t index = set_of(&cpu->sets, state->items, state->size);
    cpu->engine->kernels->add_weighted(band->count, q, band->y, band->whole ? NULL : band->there,
                                       et_band_row(band, band->sums->set_weights, index),
                                       et_band_row(band, band->sums->set_products, index));
}

/* ---- samples ---- */

static void add_states(const et_band *band, int64_t i, adder add) {
    struct state state = {.band = band};
    et_look look = et_look_at(band->cpu->engine, &band->cpu->results, i);
    const et_tree *tree = look.tree;
    for (int64_t s = 1 + tree->items; s < tree->count; s++) {
        if (look.states[s] < MIN) continue;
        state.size = 0;
        for (int64_t p = s; p > 0; p = tree->parent[p])
            state.items[state.size++] = look.candidates[tree->last[p]];
        add(&state, look.states[s]);
    }
}

static void add_sample_shares(const et_band *band, int64_t i) {
    struct state state = {.band = band, .size = 1};
    rb_dense single = band->cpu->results.single;
    for (int64_t h = 0; h < single.cols; h++) {
        double q = rb_get(single.type, rb_dense_row(single, i), h);
        state.items[0] = h;
        if (q >= MIN) add_shares(&state, q);
    }
    add_states(band, i, add_shares);
}

static void add_sample_max(const et_band *band, int64_t i) {
    add_states(band, i, band->cpu->sets.choose ? add_to_set : add_responsibilities);
}

static void sum_shares(rb_context *ctx, et_cpu *cpu, rb_dense rows, et_sums *sums) {
    et_each_band(ctx, cpu, rows, sums, add_sample_shares);
}

const et_summing et_sum_shares = {.keep = ET_KEEP_STATES, .weights = true, .add = sum_shares};

static void add_singles(rb_context *ctx, et_cpu *cpu, rb_dense single, rb_dense weights) {
    if (cpu->problem.missing) {
        et_add_products(ctx, cpu->part, single, rb_dense_rows(cpu->mask, 0, single.rows), weights);
        return;
    }
    double *sums = cpu->engine->scratch[0].scores; /* V H */
    memset(sums, 0, (size_t)weights.rows * sizeof *sums);
    et_add_rows(cpu->engine->kernels, single, sums);
    for (int64_t i = 0; i < weights.rows * weights.cols; i++)
        ((double *)weights.data)[i] += sums[i / weights.cols];
}

static void sum_max(rb_context *ctx, et_cpu *cpu, rb_dense rows, et_sums *sums) {
    rb_dense single = rb_dense_rows(cpu->results.single, 0, rows.rows);
    et_add_products(ctx, cpu->part, single, rows, sums->products);
    add_singles(ctx, cpu, single, sums->weights);
    et_each_band(ctx, cpu, rows, sums, add_sample_max);
}

/* ---- from sets to causes ---- */

/* As of one sample, the mean over the set, that is there as far as the set has probability. */
static void spread_set(const struct state *state, et_band *band) {
    const et_cpu *cpu = band->cpu;
    const et_sums *sums = band->sums;
    int64_t index = set_of(&cpu->sets, state->items, state->size);
    for (band->first = 0; band->first < sums->set_weights.cols; band->first += ET_BAND) {
        const double *q = et_band_row(band, sums->set_weights, index);
        const double *qy = et_band_row(band, sums->set_products, index);
        band->count = rb_smaller(sums->set_weights.cols - band->first, ET_BAND);
        for (int64_t d = 0; d < band->count; d++) {
            band->there[d] = q[d];
            band->y[d] = q[d] > 0 ? qy[d] / q[d] : 0;
        }
        add_responsibilities(state, 1);
    }
}

/* All sets that a set with causes descending to the last one begins, at all values. */
static void spread(struct state *state, et_band *band) {
    const et_sets *sets = &band->cpu->sets;
    int size = state->size;
    int64_t before = size ? state->items[size - 1] % sets->units : sets->units;
    if (size > 1) spread_set(state, band);
    for (int64_t h = 0; size < sets->max && h < before; h++) {
        for (int a = 0; a < sets->values; a++) {
            state->items[size] = a * sets->units + h;
            state->size = size + 1;
            spread(state, band);
        }
    }
}

static void finish_max(et_cpu *cpu, et_sums *sums) {
    et_band band = {.cpu = cpu, .sums = sums};
    struct state state = {.band = &band};
    if (cpu->sets.choose) spread(&state, &band);
}

double et_soft_exponent(double beta) {
    enum { MAX = 21 };
    double temperature = 1 / beta;
    return temperature > 1 ? fmin(temperature / (temperature - 1), MAX) : MAX;
}

/* R = (F / max F)^rho of the fields F of items, and R^a, a = 1 - 1 / rho. */
static void prepare_max(et_cpu *cpu) {
    double rho = et_soft_exponent(cpu->pass->beta);
    rb_dense fields = cpu->engine->fields;
    cpu->soft = (et_soft){1 - 1 / rho, cpu->problem.type == RB_FLOAT32};
    for (int64_t d = 0; d < fields.cols; d++) {
        double largest = 0;
        for (int64_t h = 0; h < fields.rows; h++)
            largest = fmax(largest, rb_dense_get(fields, h, d));
        for (int64_t h = 0; h < fields.rows; h++) {
            double share = largest > 0 ? rb_dense_get(fields, h, d) / largest : 0;
            double power = pow(share, rho);
            rb_dense_set(cpu->powers, h, d, power);
            rb_dense_set(cpu->roots, h, d, pow(power, cpu->soft.exponent));
        }
    }
}

const et_summing et_sum_max = {
    .keep = ET_KEEP_STATES,
    .weights = true,
    .sets = true,
    .prepare = prepare_max,
    .add = sum_max,
    .finish = finish_max,
};
