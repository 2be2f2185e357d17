/* Sums over the states themselves, for models whose M-step needs more than moments. In bands of
 * features: each number is summed by one thread, sample after sample. States of probability below
 * LEAST are left out: nearly all of them at low temperatures. */
#include "fit.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 64 };
static const double MIN = 1e-12;

/* ---- sets of causes: those of MCA where they are few ----
 *
 * The powers of a responsibility, A_hd(s) = R_hd^a (sum_{j in s} R_jd)^-a, do not depend on the
 * sample. Where there are fewer sets of two causes and more than samples and states, sum q and
 * sum q y are kept for each set, and each power is computed once. */

/* C(h, k) for k <= most; they ascend without overflow, since all sets have been counted. */
static void fill_choose(et_sets *sets, int64_t units) {
    int64_t width = sets->max + 1;
    for (int64_t h = 0; h <= units; h++) {
        for (int64_t k = 0; k < width; k++) {
            int64_t *c = sets->choose + h * width + k;
            *c = k == 0 ? 1 : h == 0 ? 0 : c[-width] + c[-width - 1];
        }
    }
}

/* How many sets of 2 to most causes there are, or more than any memory when they are many. */
static double count_sets(int64_t units, int64_t max) {
    double of_size = (double)units, sum = 0;
    for (int64_t k = 2; k <= max; k++) {
        of_size *= (double)(units - k + 1) / (double)k;
        sum += of_size;
    }
    return sum;
}

int64_t et_sets_count(const et_setup *setup, int64_t n_samples) {
    const double max_cells = 1 << 16, max_a_sample = 4;
    double count = count_sets(setup->units, setup->widest_active);
    bool few = count >= 1 && count * (double)setup->n_features <= max_cells &&
               count <= max_a_sample * (double)n_samples;
    return few ? (int64_t)(count + 0.5) : 0;
}

rb_error et_sets_new(rb_context *ctx, const et_setup *setup, et_sets *sets) {
    int64_t units = setup->units, max = setup->widest_active;
    sets->max = max;
    sets->choose = rb_alloc(ctx, (units + 1) * (max + 1), sizeof *sets->choose);
    if (!sets->choose) {
        return RB_ERROR_MEMORY;
    }
    fill_choose(sets, units);
    return RB_OK;
}

static int64_t set_of(const et_sets *sets, int64_t units, const int64_t *causes, int size) {
    int64_t width = sets->max + 1, index = 0;
    for (int k = 2; k < size; k++) { /* all smaller sets come before */
        index += sets->choose[units * width + k];
    }
    for (int i = 0; i < size; i++) { /* causes descend: the i-th is the (size - i)-th smallest */
        index += sets->choose[causes[i] * width + size - i];
    }
    return index;
}

/* ---- bands of features ---- */

struct part;
typedef void (*adder)(const struct part *part, double q);

struct band {
    const et_cpu *cpu;
    et_sums *sums;
    rb_dense rows; /* the samples */
    adder add;
    int64_t first, count; /* features */
};

/* A part of a sample: y in float64, which of it is there, and the causes of a state. */
struct part {
    const struct band *band;
    double y[ET_BAND], there[ET_BAND];
    bool whole; /* all of it is there */
    int64_t causes[MAX_DEPTH];
    int size;
};

static double *row_part(const struct band *band, rb_dense rows, int64_t h) {
    return (double *)rb_dense_row(rows, h) + band->first;
}

/* ---- shares of any model: up and down ---- */

/* Features first .. last - 1 of the band, all of which are there. */
static void add_run(const struct part *part, double q, int64_t first, int64_t last,
                    const double *wbar) {
    const struct band *band = part->band;
    const rb_et_model *own = band->cpu->engine->setup.model->own;
    for (int k = 0; k < part->size; k++) {
        int64_t h = part->causes[k];
        own->share(own->user, last - first, part->y + first, wbar + first,
                   row_part(band, band->cpu->pass->parameters->fields, h) + first, q,
                   (rb_et_shares){row_part(band, band->sums->products, h) + first,
                                  row_part(band, band->sums->weights, h) + first});
    }
}

static void add_shares(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_model *model = band->cpu->engine->setup.model;
    rb_dense fields = band->cpu->pass->parameters->fields;
    double wbar[ET_BAND];
    for (int64_t d = 0; d < band->count; d++) {
        wbar[d] = model->empty;
    }
    for (int k = 0; k < part->size; k++) {
        model->superpose(model->user, band->count, wbar, row_part(band, fields, part->causes[k]),
                         wbar);
    }
    for (int64_t first = 0, last = 0; first < band->count; first = last + 1) {
        last = part->whole ? band->count : first;
        while (last < band->count && part->there[last] != 0) {
            last++;
        }
        if (last > first) {
            add_run(part, q, first, last, wbar);
        }
    }
}

/* ---- MCA (eqs 30, 36): sum <A> and sum <A> y ----
 *
 *   A_hd(s) = s_h R_hd^a (sum_{j in s} R_jd)^-a,   R = W^rho,  a = 1 - 1 / rho
 * is 1 for a cause alone: those samples come from a product. */
static void add_responsibilities(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_cpu *cpu = band->cpu;
    const double *powers[MAX_DEPTH], *roots[MAX_DEPTH];
    double *weights[MAX_DEPTH], *products[MAX_DEPTH];
    for (int k = 0; k < part->size; k++) {
        int64_t h = part->causes[k];
        powers[k] = row_part(band, cpu->powers, h);
        roots[k] = row_part(band, cpu->roots, h);
        weights[k] = row_part(band, band->sums->weights, h);
        products[k] = row_part(band, band->sums->products, h);
    }
    cpu->engine->kernels->responsibilities(band->count, part->size, band->rows.type == RB_FLOAT32,
                                           q, cpu->exponent, powers, roots, part->y,
                                           part->whole ? NULL : part->there, weights, products);
}

/* The same where sets of causes are few: the powers come later. */
static void add_to_set(const struct part *part, double q) {
    const struct band *band = part->band;
    const et_cpu *cpu = band->cpu;
    int64_t index = set_of(&cpu->sets, cpu->engine->setup.units, part->causes, part->size);
    cpu->engine->kernels->add_weighted(band->count, q, part->y, part->whole ? NULL : part->there,
                                       row_part(band, band->sums->set_weights, index),
                                       row_part(band, band->sums->set_products, index));
}

/* ---- samples ---- */

static void set_causes(struct part *part, const et_tree *tree, const int32_t *list, int64_t s) {
    part->size = 0;
    for (int64_t p = s; p > 0; p = tree->parent[p]) {
        part->causes[part->size++] = list[tree->last[p]];
    }
}

/* Single causes count here only for general shares. */
static void add_sample(struct part *part, int64_t i) {
    const et_cpu *cpu = part->band->cpu;
    adder add = part->band->add;
    const et_results *r = &cpu->results;
    et_look look = et_look_at(cpu->engine, r, i);
    const et_tree *tree = look.tree;
    const double *q = look.states;
    const void *single = rb_dense_row(r->single, i);
    for (int64_t h = 0; add == add_shares && h < r->single.cols; h++) {
        double one = rb_get(r->single.type, single, h);
        if (one >= MIN) {
            part->causes[0] = h;
            part->size = 1;
            add(part, one);
        }
    }
    for (int64_t s = 1 + tree->candidates; s < tree->count; s++) {
        if (q[s] >= MIN) {
            set_causes(part, tree, look.candidates, s);
            add(part, q[s]);
        }
    }
}

static void band_task(void *arg, int64_t index, int worker) {
    (void)worker;
    struct band band = *(const struct band *)arg;
    const et_results *r = &band.cpu->results;
    int64_t first = band.first = index * ET_BAND, left = band.rows.cols - first;
    band.count = left < ET_BAND ? left : ET_BAND;
    struct part part = {.band = &band};
    for (int64_t i = 0; i < band.rows.rows; i++) {
        if (!r->used[i]) {
            continue;
        }
        const void *row = rb_dense_row(band.rows, i);
        for (int64_t d = 0; d < band.count; d++) {
            part.y[d] = rb_get(band.rows.type, row, first + d);
        }
        part.whole = r->there[i] == band.rows.cols;
        for (int64_t d = 0; !part.whole && d < band.count; d++) {
            part.there[d] = rb_dense_get(band.cpu->mask, i, first + d);
        }
        add_sample(&part, i);
    }
}

static void add_states(rb_context *ctx, const et_cpu *cpu, rb_dense rows, et_sums *sums,
                       adder add) {
    struct band band = {cpu, sums, rows, add, 0, 0};
    rb_parallel(ctx, (rows.cols + ET_BAND - 1) / ET_BAND, band_task, &band);
}

static void sum_shares(rb_context *ctx, et_cpu *cpu, const rb_block *block, et_sums *sums) {
    add_states(ctx, cpu, et_block_rows(cpu, block), sums, add_shares);
}

const et_summing et_sum_shares = {.keep = ET_KEEP_STATES, .weights = true, .add = sum_shares};

static void add_singles(rb_context *ctx, et_cpu *cpu, int64_t count, rb_dense weights) {
    rb_dense single = rb_dense_rows(cpu->results.single, 0, count);
    if (cpu->problem.missing) {
        et_add_products(ctx, cpu, single, rb_dense_rows(cpu->mask, 0, count), weights);
        return;
    }
    double *sums = cpu->engine->scratch[0].scores;
    memset(sums, 0, (size_t)weights.rows * sizeof *sums);
    et_add_rows(cpu->engine->kernels, single, sums);
    for (int64_t h = 0; h < weights.rows; h++) {
        double *row = rb_dense_row(weights, h);
        for (int64_t d = 0; d < weights.cols; d++) {
            row[d] += sums[h];
        }
    }
}

static void sum_max(rb_context *ctx, et_cpu *cpu, const rb_block *block, et_sums *sums) {
    rb_dense rows = et_block_rows(cpu, block);
    rb_dense single = rb_dense_rows(cpu->results.single, 0, block->n_samples);
    et_add_products(ctx, cpu, single, rows, sums->products);
    add_singles(ctx, cpu, block->n_samples, sums->weights);
    add_states(ctx, cpu, rows, sums, cpu->sets.choose ? add_to_set : add_responsibilities);
}

/* ---- from sets to causes ---- */

static double *part_of(rb_dense rows, int64_t row, int64_t first) {
    return (double *)rb_dense_row(rows, row) + first;
}

static void spread_band(const et_cpu *cpu, et_sums *sums, const int64_t *causes, int size,
                        int64_t index, int64_t first) {
    int64_t left = sums->set_weights.cols - first, count = left < ET_BAND ? left : ET_BAND;
    const double *powers[ET_MAX_ACTIVE], *roots[ET_MAX_ACTIVE];
    double *weights[ET_MAX_ACTIVE], *products[ET_MAX_ACTIVE], mean[ET_BAND];
    const double *q = part_of(sums->set_weights, index, first);
    const double *qy = part_of(sums->set_products, index, first);
    for (int64_t d = 0; d < count; d++) {
        mean[d] = q[d] > 0 ? qy[d] / q[d] : 0;
    }
    for (int k = 0; k < size; k++) {
        powers[k] = part_of(cpu->powers, causes[k], first);
        roots[k] = part_of(cpu->roots, causes[k], first);
        weights[k] = part_of(sums->weights, causes[k], first);
        products[k] = part_of(sums->products, causes[k], first);
    }
    cpu->engine->kernels->responsibilities(count, size, cpu->problem.type == RB_FLOAT32, 1,
                                           cpu->exponent, powers, roots, mean, q, weights,
                                           products);
}

/* All sets that a set with causes descending to the last one begins. */
static void spread(const et_cpu *cpu, et_sums *sums, int64_t *causes, int size) {
    const et_sets *sets = &cpu->sets;
    int64_t d = sums->set_weights.cols, units = cpu->engine->setup.units;
    if (size > 1) {
        int64_t index = set_of(sets, units, causes, size);
        for (int64_t first = 0; first < d; first += ET_BAND) {
            spread_band(cpu, sums, causes, size, index, first);
        }
    }
    for (int64_t h = 0; size < sets->max && h < (size ? causes[size - 1] : units); h++) {
        causes[size] = h;
        spread(cpu, sums, causes, size + 1);
    }
}

static void finish_max(et_cpu *cpu, et_sums *sums) {
    int64_t causes[ET_MAX_ACTIVE];
    if (cpu->sets.choose) {
        spread(cpu, sums, causes, 0);
    }
}

/* R = (W / max_h W)^rho and R^a, a = 1 - 1 / rho, with rho = T / (T - 1), at most 21, which is that
 * of the end temperature 1.05 (section 4.2.1 has no bound). */
static void prepare_max(et_cpu *cpu) {
    enum { MAX = 21 };
    double temperature = 1 / cpu->pass->beta;
    double rho = temperature > 1 ? fmin(temperature / (temperature - 1), MAX) : MAX;
    rb_dense fields = cpu->pass->parameters->fields;
    cpu->exponent = 1 - 1 / rho;
    for (int64_t d = 0; d < fields.cols; d++) {
        double largest = 0;
        for (int64_t h = 0; h < fields.rows; h++) {
            largest = fmax(largest, rb_dense_get(fields, h, d));
        }
        for (int64_t h = 0; h < fields.rows; h++) {
            double share = largest > 0 ? rb_dense_get(fields, h, d) / largest : 0;
            double power = pow(share, rho);
            rb_dense_set(cpu->powers, h, d, power);
            rb_dense_set(cpu->roots, h, d, pow(power, cpu->exponent));
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
