/* Posteriors of the samples of a block: selection, energies, log-sum-exp, moments. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

double et_results_bytes(const et_setup *setup, et_keep keep) {
    double h = (double)setup->max_candidates, units = (double)setup->units;
    double states = et_count_states(setup->max_candidates, setup->widest_active);
    double bytes = units * (double)rb_type_size(setup->type) + 4 * h + 50;
    bytes += keep == ET_KEEP_PAIRS && setup->widest_active > 1 ? 8 * h * h : 0;
    bytes += keep == ET_KEEP_STATES ? 8 * states + units * (double)rb_type_size(setup->type) : 0;
    return bytes;
}

et_look et_look_at(const et_engine *engine, const et_results *r, int64_t i) {
    int64_t h = r->max_candidates;
    return (et_look){
        .tree = &engine->trees[r->width[i]],
        .candidates = r->candidates + i * h,
        .pairs = r->pairs ? r->pairs + i * h * h : NULL,
        .states = r->states ? r->states + i * r->max_states : NULL,
    };
}

int64_t et_map_causes(const et_engine *engine, const et_results *r, int64_t i,
                      int64_t causes[ET_MAX_ACTIVE]) {
    et_look look = et_look_at(engine, r, i);
    if (r->map[i] < 0) {
        causes[0] = -1 - r->map[i];
        return 1;
    }
    int64_t count = look.tree->size[r->map[i]], place = count;
    /* From the state up, a higher index comes first. */
    for (int64_t s = r->map[i]; s > 0; s = look.tree->parent[s]) {
        causes[--place] = look.candidates[look.tree->last[s]];
    }
    return count;
}

void et_note_map(const et_engine *engine, const et_results *r, int64_t count, bool *in_map) {
    int64_t causes[ET_MAX_ACTIVE];
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = et_map_causes(engine, r, i, causes) - 1; k >= 0; k--) {
            in_map[causes[k]] = true;
        }
    }
}

/* ---- one sample ---- */

struct pass {
    const et_engine *engine;
    const rb_block *block;
    et_results *results;
    bool rank;
};

/* Samples that are walked side by side. */
struct group {
    et_scratch *scratch;
    const et_tree *tree;
    int width; /* of the tree */
    int count;
    int64_t index[ET_LANES]; /* in the block */
    et_sample samples[ET_LANES];
    double highest[ET_LANES], total[ET_LANES], product[ET_LANES];
};

/* Scores, candidates and energies of single causes for a sample that joins the group. */
static void join(const struct pass *pass, struct group *group, int64_t i, et_sample sample) {
    const et_engine *engine = pass->engine;
    const et_setup *setup = &engine->setup;
    et_scratch *scratch = group->scratch;
    et_results *r = pass->results;
    double *single = rb_dense_row(scratch->single, group->count);
    int32_t *candidates = r->candidates + i * r->max_candidates;
    sample.single = single;
    sample.candidates = candidates;
    sample.none = setup->model.noise->singles(engine, scratch, &sample, single);
    /* With one prior for all the energies of single causes are in the order of the joint scores. */
    const double *scores = single;
    if (setup->selection != RB_ET_SELECT_JOINT || engine->zero_field || sample.places) {
        et_scores(engine, scratch, &sample, scratch->scores);
        scores = scratch->scores;
    }
    et_select(engine->kernels, scores, setup->units, group->tree->candidates,
              scratch->scores + setup->units, scratch->few, candidates);
    r->norm[i] = setup->model.noise->norm(engine, sample.n, sample.y);
    r->there[i] = sample.n;
    r->width[i] = (uint8_t)group->width;
    group->index[group->count] = i;
    group->samples[group->count] = sample;
    group->count++;
}

/* With a fixed number of causes all other states are impossible. */
static void remove_small_states(const et_engine *engine, double *energy) {
    for (int64_t i = 0; engine->setup.fixed_count && i < engine->trees[0].inner * ET_LANES; i++) {
        energy[i] = -HUGE_VAL;
    }
}

/* The most probable state of lane l, among the tree's, whose best is given, and the singles that
 * are no candidates: `single` of candidates becomes -infinity. */
static int32_t find_map(const et_engine *engine, const et_tree *tree, const et_sample *sample,
                        int64_t best, double *single, double *highest) {
    int32_t map = (int32_t)best;
    for (int k = 0; k < tree->candidates; k++) {
        single[sample->candidates[k]] = -HUGE_VAL;
    }
    int64_t h = engine->setup.singletons
                    ? engine->kernels->above(engine->setup.units, single, highest)
                    : -1;
    return h < 0 ? map : (int32_t)(-1 - h);
}

/* Energies become probabilities. */
static void normalise(const struct pass *pass, struct group *g) {
    const et_engine *engine = pass->engine;
    const et_kernels *kernels = engine->kernels;
    et_results *r = pass->results;
    int64_t best[ET_LANES];
    double factor[ET_LANES] = {0};
    kernels->largest(g->tree->count, g->scratch->energy, g->highest, best);
    for (int l = 0; l < g->count; l++) {
        r->map[g->index[l]] = find_map(engine, g->tree, &g->samples[l], best[l],
                                       rb_dense_row(g->scratch->single, l), &g->highest[l]);
    }
    kernels->exponentials(g->tree->count, g->highest, g->scratch->energy, g->total, g->product);
    for (int l = 0; l < g->count; l++) {
        double *single = rb_dense_row(g->scratch->single, l), total = 0, product = 0;
        if (engine->setup.singletons) {
            kernels->exponentials_one(engine->setup.units, g->highest[l], single, &total, &product);
        } else {
            memset(single, 0, (size_t)engine->setup.units * sizeof *single);
        }
        int64_t i = g->index[l];
        total += g->total[l];
        factor[l] = 1 / total;
        r->evidence[i] = et_constant(engine, r->there[i], r->norm[i]) + g->highest[l] + log(total);
        r->energy[i] = (product + g->product[l]) / total;
        if (!pass->rank) {
            kernels->scale_one(engine->setup.units, factor[l], single);
        }
    }
    if (!pass->rank) {
        kernels->scale(g->tree->count, factor, g->scratch->energy);
    }
}

/* Into row i of the results. */
static void put_row(const double *values, rb_dense to, int64_t i) {
    rb_dense_copy((rb_dense){(void *)values, 1, to.cols, to.cols, RB_FLOAT64},
                  rb_dense_rows(to, i, 1));
}

static void keep_states(const struct group *g, int l, et_results *r) {
    const et_tree *tree = g->tree;
    const double *energy = g->scratch->energy + l;
    double *single = rb_dense_row(g->scratch->single, l);
    double *states = r->states + g->index[l] * r->max_states;
    for (int64_t s = 0; s < tree->count; s++) {
        states[s] = energy[s * ET_LANES];
    }
    for (int k = 0; k < tree->candidates; k++) {
        single[g->samples[l].candidates[k]] = states[tree->child[0] + k];
    }
    put_row(single, r->single, g->index[l]);
}

static void keep_moments(const et_engine *engine, const struct group *g, int l, et_results *r) {
    int h = g->tree->candidates;
    int64_t i = g->index[l];
    double *single = rb_dense_row(g->scratch->single, l);
    for (int k = 0; k < h; k++) {
        single[g->samples[l].candidates[k]] = g->scratch->mean[k * ET_LANES + l];
    }
    r->active[i] = engine->kernels->sum(engine->setup.units, single);
    r->energy[i] -= engine->equal_prior
                        ? engine->logit[0] * r->active[i]
                        : engine->kernels->dot(engine->setup.units, single, engine->logit);
    put_row(single, r->mean, i);
    for (int j = 0; r->pairs && j < h; j++) {
        double *row = r->pairs + i * r->max_candidates * r->max_candidates + (int64_t)j * h;
        for (int k = j + 1; k < h; k++) {
            row[k] = g->scratch->pairs[(int64_t)(j * h + k) * ET_LANES + l];
        }
    }
}

static void compute_group(const struct pass *pass, struct group *g) {
    const et_engine *engine = pass->engine;
    et_scratch *scratch = g->scratch;
    et_results *r = pass->results;
    engine->setup.model.energies(engine, g->tree, scratch, g->samples, g->count);
    remove_small_states(engine, scratch->energy);
    normalise(pass, g);
    int kept = pass->rank ? 0 : g->count;
    for (int l = 0; r->states && l < kept; l++) {
        keep_states(g, l, r);
    }
    if (kept) {
        engine->kernels->moments(g->tree, scratch->energy, scratch->work, scratch->mean,
                                 r->pairs ? scratch->pairs : NULL);
    }
    for (int l = 0; l < kept; l++) {
        keep_moments(engine, g, l, r);
    }
    g->count = 0;
}

/* Samples that are not used leave nothing in the sums. */
static void clear_sample(const struct pass *pass, int64_t i) {
    et_results *r = pass->results;
    rb_dense_zero(rb_dense_rows(r->mean, i, 1));
    if (r->states) {
        rb_dense_zero(rb_dense_rows(r->single, i, 1));
    }
    r->active[i] = r->energy[i] = 0;
}

/* Zeros for what is missing in y, and |W_h|^2 over the rest. */
static void mask_task(const et_engine *engine, et_scratch *scratch, rb_dense y) {
    rb_dense mask = rb_dense_rows(scratch->mask, 0, y.rows);
    rb_dense square = rb_dense_rows(scratch->square, 0, y.rows);
    if (et_mask(y, mask) > 0) {
        rb_gemm(1, mask, RB_PLAIN, engine->squares, RB_TRANSPOSED, 0, square);
    }
}

/* Is the most probable state of the sample as large as any that were looked at? */
static bool is_full(const et_engine *engine, const et_results *r, int64_t i) {
    int64_t causes[ET_MAX_ACTIVE];
    return et_map_causes(engine, r, i, causes) == engine->trees[r->width[i]].max_active;
}

/* The samples first .. first + count - 1 that want a tree of the group's width. */
static void compute_width(const struct pass *pass, struct group *group, int64_t first,
                          int64_t count) {
    const et_engine *engine = pass->engine;
    const et_results *r = pass->results;
    group->tree = &engine->trees[group->width];
    for (int64_t i = 0; i < count; i++) {
        bool wants = r->used[first + i] &&
                     (group->width == 0 ||
                      (r->width[first + i] == group->width - 1 && is_full(engine, r, first + i)));
        if (wants) {
            join(pass, group, first + i, et_observe(engine, group->scratch, group->count, i));
        }
        if (group->count == ET_LANES || (group->count > 0 && i + 1 == count)) {
            compute_group(pass, group);
        }
    }
}

static void compute_task(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const et_engine *engine = pass->engine;
    struct group group = {.scratch = &engine->scratch[worker]};
    int64_t first = task * ET_TASK_SAMPLES, left = pass->block->n_samples - first;
    int64_t count = left < ET_TASK_SAMPLES ? left : ET_TASK_SAMPLES;
    rb_dense y = rb_dense_rows(group.scratch->y, 0, count);
    rb_dense b = rb_dense_rows(group.scratch->b, 0, count);
    rb_block_rows(pass->block, first, y);
    if (engine->setup.missing) {
        mask_task(engine, group.scratch, y);
    }
    if (engine->setup.model.noise->products || engine->setup.selection == RB_ET_SELECT_COSINE) {
        rb_gemm(1, y, RB_PLAIN, engine->parameters->fields, RB_TRANSPOSED, 0, b);
    }
    for (int64_t i = 0; i < count; i++) {
        if (!pass->results->used[first + i]) {
            clear_sample(pass, first + i);
        }
    }
    for (group.width = 0; group.width <= (engine->widens ? engine->widths : 0); group.width++) {
        compute_width(pass, &group, first, count);
    }
}

void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results) {
    struct pass pass = {engine, block, results, rank};
    int64_t tasks = (block->n_samples + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES;
    rb_parallel(ctx, tasks, compute_task, &pass);
}
