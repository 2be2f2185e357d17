/* Posteriors of the samples of a block: selection, energies, log-sum-exp, moments. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

double et_results_bytes(const et_setup *setup, et_keep keep) {
    int values = setup->values.count;
    double h = (double)setup->max_candidates, units = (double)setup->units;
    double items = (double)setup->items, size = (double)rb_type_size(setup->type);
    double states = et_count_states(setup->max_candidates, setup->widest_active, values);
    double bytes = units * size + 4 * h * values + 50;
    bytes += et_binary(&setup->values) ? 0 : items * size;
    bytes += keep == ET_KEEP_PAIRS && setup->widest_active > 1 ? 8 * h * h : 0;
    bytes += keep == ET_KEEP_STATES ? 8 * states + items * size : 0;
    return bytes;
}

et_look et_look_at(const et_engine *engine, const et_results *r, int64_t i) {
    int64_t h = r->max_candidates;
    return (et_look){
        .tree = &engine->trees[r->width[i]],
        .candidates = r->candidates + i * r->max_items,
        .pairs = r->pairs ? r->pairs + i * h * h : NULL,
        .states = r->states ? r->states + i * r->max_states : NULL,
    };
}

int64_t et_map_items(const et_engine *engine, const et_results *r, int64_t i,
                     int64_t items[ET_MAX_ACTIVE]) {
    et_look look = et_look_at(engine, r, i);
    if (r->map[i] < 0) {
        items[0] = -1 - r->map[i];
        return 1;
    }
    int64_t count = look.tree->size[r->map[i]], place = count;
    /* From the state up, a higher index comes first. */
    for (int64_t s = r->map[i]; s > 0; s = look.tree->parent[s])
        items[--place] = look.candidates[look.tree->last[s]];
    return count;
}

void et_note_map(const et_engine *engine, const et_results *r, int64_t count, bool *in_map) {
    int64_t items[ET_MAX_ACTIVE];
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = et_map_items(engine, r, i, items) - 1; k >= 0; k--)
            in_map[items[k] % engine->setup.units] = true;
}

/* ---- samples that are walked side by side ---- */

struct group {
    const et_engine *engine;
    et_scratch *scratch;
    et_results *results;
    bool rank;
    int width; /* of the tree */
    int count;
    int64_t index[ET_LANES]; /* in the block */
    et_sample samples[ET_LANES];
};

/* From candidates, side by side at the beginning of the list, to their items. */
static void list_items(const et_setup *setup, int candidates, int32_t *list) {
    int count = setup->values.count;
    for (int k = candidates - 1; count > 1 && k >= 0; k--)
        for (int a = count - 1; a >= 0; a--)
            list[k * count + a] = list[k] + (int32_t)(a * setup->units);
}

/* Scores, candidates and energies of single causes for a sample that joins the group. */
static void join(struct group *g, int64_t i, et_sample sample) {
    const et_engine *engine = g->engine;
    const et_setup *setup = &engine->setup;
    et_scratch *scratch = g->scratch;
    et_results *r = g->results;
    double *single = rb_dense_row(scratch->single, g->count);
    int32_t *candidates = r->candidates + i * r->max_items;
    sample.single = single;
    sample.candidates = candidates;
    sample.none = et_singles(engine, scratch, &sample, single);
    /* With one prior for all, the energies of single items are in the order of the joint scores. */
    const double *scores = single;
    if (setup->selection != RB_ET_SELECT_JOINT || setup->model.own.select || engine->zero_field ||
        sample.places) {
        et_scores(engine, scratch, &sample, scratch->scores);
        scores = scratch->scores;
    } else if (setup->values.count > 1) {
        et_best_energies(setup, single, scratch->scores);
        scores = scratch->scores;
    }
    et_select(engine->kernels, scores, setup->units, engine->trees[g->width].candidates,
              scratch->scores + setup->units, scratch->few, candidates);
    list_items(setup, engine->trees[g->width].candidates, candidates);
    r->norm[i] = et_norm(engine, sample.n, sample.y);
    r->there[i] = sample.n;
    r->width[i] = (uint8_t)g->width;
    g->index[g->count] = i;
    g->samples[g->count++] = sample;
}

/* The most probable state of lane l, among the tree's, whose best is given, and the singles that
 * are no candidates: `single` of candidates becomes -infinity. */
static int64_t find_map(const struct group *g, int l, int64_t best, double *highest) {
    const et_engine *engine = g->engine;
    double *single = rb_dense_row(g->scratch->single, l);
    for (int k = 0; k < engine->trees[g->width].items; k++)
        single[g->samples[l].candidates[k]] = -HUGE_VAL;
    int64_t i = engine->setup.singletons
                    ? engine->kernels->above(engine->setup.items, single, highest)
                    : -1;
    return i < 0 ? best : -1 - i;
}

static void keep_region(const struct group *g, int l) {
    int64_t items[ET_MAX_ACTIVE];
    int size = (int)et_map_items(g->engine, g->results, g->index[l], items);
    et_keep_region(g->engine, &g->engine->trees[g->width], g->scratch, &g->samples[l], l, size,
                   items);
}

static void fill(double *lanes, double value) {
    for (int l = 0; l < ET_LANES; l++)
        lanes[l] = value;
}

/* exp(e - highest) of single causes, in whole lanes; their sum and that of the products with e. */
static void weigh_singles(const et_engine *engine, double highest, double *single, double *total,
                          double *product) {
    double shift[ET_LANES], totals[ET_LANES], products[ET_LANES];
    *total = *product = 0;
    if (!engine->setup.singletons) {
        memset(single, 0, (size_t)engine->setup.items * sizeof *single);
        return;
    }
    fill(shift, highest);
    engine->kernels->exponentials(engine->setup.items, shift, single, totals, products);
    for (int l = 0; l < ET_LANES; l++) {
        *total += totals[l];
        *product += products[l];
    }
}

/* Energies become probabilities. */
static void normalise(const struct group *g) {
    const et_engine *engine = g->engine;
    const et_kernels *kernels = engine->kernels;
    const et_tree *tree = &engine->trees[g->width];
    et_results *r = g->results;
    int64_t best[ET_LANES], lanes = g->scratch->single.cols / ET_LANES;
    double highest[ET_LANES], totals[ET_LANES], products[ET_LANES];
    double factor[ET_LANES] = {0}, factors[ET_LANES];
    kernels->largest(tree->count, g->scratch->energy, highest, best);
    for (int l = 0; l < g->count; l++) {
        r->map[g->index[l]] = (int32_t)find_map(g, l, best[l], &highest[l]);
        if (engine->setup.region >= 0) keep_region(g, l);
    }
    kernels->exponentials(tree->count * ET_LANES, highest, g->scratch->energy, totals, products);
    for (int l = 0; l < g->count; l++) {
        double *single = rb_dense_row(g->scratch->single, l), total, product;
        int64_t i = g->index[l];
        weigh_singles(engine, highest[l], single, &total, &product);
        total += totals[l];
        factor[l] = 1 / total;
        r->evidence[i] = et_constant(engine, r->there[i], r->norm[i]) + highest[l] + log(total);
        r->energy[i] = (product + products[l]) / total;
        if (!g->rank) {
            fill(factors, factor[l]);
            kernels->scale(lanes, factors, single);
        }
    }
    if (!g->rank) kernels->scale(tree->count, factor, g->scratch->energy);
}

/* Into row i of the results. */
static void put_row(const double *values, rb_dense to, int64_t i) {
    rb_dense_copy((rb_dense){(void *)values, 1, to.cols, to.cols, RB_FLOAT64},
                  rb_dense_rows(to, i, 1));
}

static void keep_states(const struct group *g, int l) {
    et_results *r = g->results;
    const et_tree *tree = &g->engine->trees[g->width];
    double *single = rb_dense_row(g->scratch->single, l);
    double *states = r->states + g->index[l] * r->max_states;
    for (int64_t s = 0; s < tree->count; s++)
        states[s] = g->scratch->energy[s * ET_LANES + l];
    for (int k = 0; k < tree->items; k++)
        single[g->samples[l].candidates[k]] = states[tree->child[0] + k];
    put_row(single, r->single, g->index[l]);
}

/* <s_h>, into row i of the results. */
static void put_mean(const struct group *g, const double *items, int64_t i) {
    const et_setup *setup = &g->engine->setup;
    double *mean = g->scratch->scores;
    for (int64_t h = 0; h < setup->units; h++) {
        mean[h] = 0;
        for (int a = 0; a < setup->values.count; a++)
            mean[h] += setup->values.value[a] * items[a * setup->units + h];
    }
    put_row(mean, g->results->mean, i);
}

/* <s_j s_k>: over the values of both. */
static double pair_of(const struct group *g, int j, int k, int l) {
    const et_values *values = &g->engine->setup.values;
    int count = values->count, items = g->engine->trees[g->width].items;
    double sum = 0;
    for (int a = 0; a < count; a++) {
        int64_t first = (int64_t)(j * count + a) * items + k * count;
        for (int b = 0; b < count; b++) {
            double q = g->scratch->pairs[(first + b) * ET_LANES + l];
            sum += values->value[a] * values->value[b] * q;
        }
    }
    return sum;
}

static void keep_moments(const struct group *g, int l) {
    const et_engine *engine = g->engine;
    et_results *r = g->results;
    const et_tree *tree = &engine->trees[g->width];
    int h = tree->candidates;
    int64_t i = g->index[l];
    double *single = rb_dense_row(g->scratch->single, l);
    bool binary = et_binary(&engine->setup.values);
    for (int k = 0; k < tree->items; k++)
        single[g->samples[l].candidates[k]] = g->scratch->mean[k * ET_LANES + l];
    r->active[i] = engine->kernels->sum(engine->setup.items, single);
    r->energy[i] -= engine->equal_prior
                        ? engine->logit[0] * r->active[i]
                        : engine->kernels->dot(engine->setup.items, single, engine->logit);
    put_row(single, r->items, i);
    if (!binary) put_mean(g, single, i);
    for (int j = 0; r->pairs && j < h; j++) {
        double *row = r->pairs + i * r->max_candidates * r->max_candidates + (int64_t)j * h;
        for (int k = j + 1; k < h; k++)
            row[k] = binary ? g->scratch->pairs[(int64_t)(j * h + k) * ET_LANES + l]
                            : pair_of(g, j, k, l);
    }
}

static void compute_group(struct group *g) {
    const et_engine *engine = g->engine;
    const et_tree *tree = &engine->trees[g->width];
    et_scratch *scratch = g->scratch;
    int kept = g->rank ? 0 : g->count;
    et_energies(engine, tree, scratch, g->samples, g->count);
    /* With a fixed number of causes all other states are impossible. */
    for (int64_t i = 0; engine->setup.fixed_count && i < tree->inner * ET_LANES; i++)
        scratch->energy[i] = -HUGE_VAL;
    normalise(g);
    for (int l = 0; g->results->states && l < kept; l++)
        keep_states(g, l);
    if (kept) {
        engine->kernels->moments(tree, scratch->energy, scratch->work, scratch->mean,
                                 g->results->pairs ? scratch->pairs : NULL);
    }
    for (int l = 0; l < kept; l++)
        keep_moments(g, l);
    g->count = 0;
}

/* ---- blocks ---- */

struct pass {
    const et_engine *engine;
    const rb_block *block;
    et_results *results;
    bool rank;
};

/* Samples first .. of the block into scratch: what is missing as 0, and |W_h|^2 over the rest. */
static void read_samples(const struct pass *pass, et_scratch *scratch, int64_t first,
                         int64_t count) {
    const et_engine *engine = pass->engine;
    const et_setup *setup = &engine->setup;
    rb_dense y = rb_dense_rows(scratch->y, 0, count), b = rb_dense_rows(scratch->b, 0, count);
    rb_block_rows(pass->block, first, y);
    if (setup->missing) {
        rb_dense mask = rb_dense_rows(scratch->mask, 0, count);
        rb_dense square = rb_dense_rows(scratch->square, 0, count);
        if (et_mask(y, mask) > 0)
            rb_gemm(1, mask, RB_PLAIN, engine->squares, RB_TRANSPOSED, 0, square);
    }
    if (et_gaussian(&setup->model) || setup->selection == RB_ET_SELECT_COSINE ||
        setup->selection == RB_ET_SELECT_PRODUCT)
        rb_gemm(1, y, RB_PLAIN, engine->parameters->fields, RB_TRANSPOSED, 0, b);
}

/* Samples that are not used leave nothing in the sums. */
static void clear_sample(et_results *r, int64_t i) {
    rb_dense_zero(rb_dense_rows(r->mean, i, 1));
    rb_dense_zero(rb_dense_rows(r->items, i, 1));
    if (r->states) rb_dense_zero(rb_dense_rows(r->single, i, 1));
    r->active[i] = r->energy[i] = 0;
}

/* Does sample i want a tree of that width? Wider ones are for samples whose most probable state is
 * as large as any that were looked at. */
static bool wants(const et_engine *engine, const et_results *r, int64_t i, int width) {
    int64_t items[ET_MAX_ACTIVE];
    return r->used[i] &&
           (width == 0 || (r->width[i] == width - 1 && et_map_items(engine, r, i, items) ==
                                                           engine->trees[width - 1].max_active));
}

static void compute_task(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const et_engine *engine = pass->engine;
    et_results *r = pass->results;
    int64_t first = task * ET_TASK_SAMPLES;
    int64_t count = rb_smaller(pass->block->n_samples - first, ET_TASK_SAMPLES);
    struct group g = {
        .engine = engine, .scratch = &engine->scratch[worker], .results = r, .rank = pass->rank};
    read_samples(pass, g.scratch, first, count);
    for (g.width = 0; g.width <= (engine->widens ? engine->widths : 0); g.width++) {
        for (int64_t i = 0; i < count; i++) {
            if (wants(engine, r, first + i, g.width))
                join(&g, first + i, et_observe(engine, g.scratch, g.count, i));
            else if (!r->used[first + i])
                clear_sample(r, first + i);
            if (g.count == ET_LANES || (g.count > 0 && i + 1 == count)) compute_group(&g);
        }
    }
}

void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results) {
    struct pass pass = {engine, block, results, rank};
    int64_t tasks = (block->n_samples + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES;
    rb_parallel(ctx, tasks, compute_task, &pass);
}
