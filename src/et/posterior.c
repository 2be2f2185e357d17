/* Posteriors of the samples of a block: selection, energies, log-sum-exp, moments. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

double et_results_bytes(const et_setup *setup, et_keep keep) {
    double h = (double)setup->candidates, units = (double)setup->units, states = 1, of_size = 1;
    for (int64_t k = 1; k <= setup->max_active; k++) {
        of_size *= (h - (double)k + 1) / (double)k;
        states += of_size;
    }
    double bytes = units * (double)rb_type_size(setup->type) + 4 * h + 40;
    bytes += keep == ET_KEEP_PAIRS && setup->max_active > 1 ? 8 * h * h : 0;
    bytes += keep == ET_KEEP_STATES ? 8 * states + units * (double)rb_type_size(setup->type) : 0;
    return bytes;
}

/* room x count values, or false with the sentence said. */
static bool room_for(rb_context *ctx, int64_t room, int64_t count, double **values) {
    int64_t product;
    if (!rb_multiply(room, count, &product)) {
        rb_fail(ctx, RB_ERROR_MEMORY, "%lld states a sample cannot be addressed", (long long)count);
        return false;
    }
    *values = rb_alloc_zero(ctx, product, sizeof **values);
    return *values != NULL;
}

static rb_error allocate(rb_context *ctx, const et_engine *engine, int64_t room, et_keep keep,
                         et_results *r) {
    int64_t h = engine->tree.candidates;
    rb_error err = rb_dense_new(ctx, engine->setup.type, room, engine->setup.units, &r->mean);
    if (!err && keep == ET_KEEP_STATES) {
        err = rb_dense_new(ctx, engine->setup.type, room, engine->setup.units, &r->single);
    }
    if (err) {
        return err;
    }
    r->evidence = rb_alloc_zero(ctx, room, sizeof *r->evidence);
    r->norm = rb_alloc_zero(ctx, room, sizeof *r->norm);
    r->active = rb_alloc_zero(ctx, room, sizeof *r->active);
    r->energy = rb_alloc_zero(ctx, room, sizeof *r->energy);
    r->candidates = rb_alloc_zero(ctx, room * h, sizeof *r->candidates);
    r->map = rb_alloc_zero(ctx, room, sizeof *r->map);
    r->used = rb_alloc_zero(ctx, room, sizeof *r->used);
    bool all =
        r->evidence && r->norm && r->active && r->energy && r->candidates && r->map && r->used;
    if (all && keep == ET_KEEP_PAIRS && engine->tree.max_active > 1) {
        all = room_for(ctx, room, h * h, &r->pairs);
    }
    if (all && keep == ET_KEEP_STATES) {
        all = room_for(ctx, room, engine->tree.count, &r->states);
    }
    return all ? RB_OK : RB_ERROR_MEMORY;
}

rb_error et_results_new(rb_context *ctx, const et_engine *engine, int64_t room, et_keep keep,
                        et_results *results) {
    *results = (et_results){.room = room};
    rb_error err = allocate(ctx, engine, room, keep, results);
    if (err) {
        et_results_free(results);
    }
    return err;
}

void et_results_free(et_results *r) {
    rb_dense_free(&r->mean);
    rb_dense_free(&r->single);
    rb_free(r->evidence);
    rb_free(r->norm);
    rb_free(r->active);
    rb_free(r->energy);
    rb_free(r->candidates);
    rb_free(r->map);
    rb_free(r->pairs);
    rb_free(r->states);
    rb_free(r->used);
    *r = (et_results){0};
}

/* ---- one sample ---- */

struct pass {
    const et_engine *engine;
    const rb_block *block;
    et_results *results;
    bool rank;
};

/* The most probable state: the tree's, or -1 - h for a single cause; *highest is its energy. Causes
 * that are candidates are in the tree already: their `single` is set to -infinity. */
static int32_t find_map(const et_engine *engine, const et_sample *sample, double *single,
                        double *highest) {
    int32_t map = 0;
    *highest = sample->energy[0];
    for (int64_t s = 1; s < engine->tree.count; s++) {
        if (sample->energy[s] > *highest) {
            *highest = sample->energy[s];
            map = (int32_t)s;
        }
    }
    for (int k = 0; k < engine->tree.candidates; k++) {
        single[sample->candidates[k]] = -HUGE_VAL;
    }
    for (int64_t h = 0; engine->setup.singletons && h < engine->setup.units; h++) {
        if (single[h] > *highest) {
            *highest = single[h];
            map = (int32_t)(-1 - h);
        }
    }
    return map;
}

/* Energies become probabilities; returns the sum of exp(e - highest), and <e> in *mean. */
static double normalise(const et_engine *engine, double *energy, double *single, double highest,
                        double *mean) {
    int64_t singles = engine->setup.singletons ? engine->setup.units : 0;
    double total = 0, product = 0;
    for (int64_t s = 0; s < engine->tree.count; s++) {
        double e = energy[s];
        energy[s] = exp(e - highest);
        total += energy[s];
        product += energy[s] * e;
    }
    for (int64_t h = 0; h < singles; h++) {
        double e = single[h];
        single[h] = exp(e - highest);
        total += single[h];
        product += single[h] > 0 ? single[h] * e : 0;
    }
    for (int64_t s = 0; s < engine->tree.count; s++) {
        energy[s] /= total;
    }
    for (int64_t h = 0; h < engine->setup.units; h++) {
        single[h] = h < singles ? single[h] / total : 0;
    }
    *mean = product / total;
    return total;
}

/* Writes a row of doubles into a row of the results. */
static void put_row(rb_dense to, int64_t i, double *values) {
    rb_dense row = {values, 1, to.cols, to.cols, RB_FLOAT64};
    rb_dense_copy(row, rb_dense_rows(to, i, 1));
}

static void keep_states(const et_engine *engine, const et_sample *sample, const double *single,
                        double *mean, int64_t i, et_results *r) {
    const et_tree *tree = &engine->tree;
    memcpy(r->states + i * tree->count, sample->energy,
           (size_t)tree->count * sizeof *sample->energy);
    memcpy(mean, single, (size_t)engine->setup.units * sizeof *mean);
    for (int k = 0; k < tree->candidates; k++) {
        mean[sample->candidates[k]] = sample->energy[tree->child[0] + k];
    }
    put_row(r->single, i, mean);
}

static void keep_moments(const et_engine *engine, et_scratch *scratch, const et_sample *sample,
                         int64_t i, et_results *r) {
    const et_tree *tree = &engine->tree;
    double *pairs = r->pairs ? r->pairs + i * tree->candidates * tree->candidates : NULL;
    double active = 0;
    if (r->states) {
        keep_states(engine, sample, scratch->single, scratch->mean, i, r);
    }
    et_tree_moments(tree, sample->energy, sample->work, scratch->mean, pairs);
    for (int k = 0; k < tree->candidates; k++) {
        scratch->single[sample->candidates[k]] = scratch->mean[k];
    }
    for (int64_t h = 0; h < engine->setup.units; h++) {
        active += scratch->single[h];
    }
    r->active[i] = active;
    put_row(r->mean, i, scratch->single);
}

static void compute_sample(const struct pass *pass, et_scratch *scratch, const double *y,
                           const double *b, int64_t i) {
    const et_engine *engine = pass->engine;
    const et_setup *setup = &engine->setup;
    et_results *r = pass->results;
    double norm = 0, highest;
    for (int64_t d = 0; d < setup->n_features; d++) {
        norm += y[d] * y[d];
    }
    for (int64_t h = 0; h < setup->units; h++) {
        scratch->single[h] =
            engine->scale * (b[h] - rb_dense_get(engine->gram, h, h) / 2) + engine->logit;
    }
    int32_t *candidates = r->candidates + i * engine->tree.candidates;
    et_scores(engine, scratch, y, b, scratch->scores);
    et_select(scratch->scores, setup->units, setup->candidates, scratch->scores + setup->units,
              candidates);
    et_sample sample = {y,
                        b,
                        candidates,
                        scratch->single,
                        scratch->energy,
                        scratch->work,
                        scratch->gram,
                        scratch->vectors};
    setup->model->energies(engine, &engine->tree, &sample);
    r->map[i] = find_map(engine, &sample, scratch->single, &highest);
    double total = normalise(engine, sample.energy, scratch->single, highest, &r->energy[i]);
    r->norm[i] = norm;
    r->evidence[i] = engine->constant - engine->scale / 2 * norm + highest + log(total);
    if (!pass->rank) {
        keep_moments(engine, scratch, &sample, i, r);
    }
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

static void compute_task(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    et_scratch *scratch = &pass->engine->scratch[worker];
    int64_t first = task * ET_TASK_SAMPLES, left = pass->block->n_samples - first;
    int64_t count = left < ET_TASK_SAMPLES ? left : ET_TASK_SAMPLES;
    rb_dense y = rb_dense_rows(scratch->y, 0, count), b = rb_dense_rows(scratch->b, 0, count);
    rb_block_rows(pass->block, first, y);
    rb_gemm(1, y, RB_PLAIN, pass->engine->parameters.fields, RB_TRANSPOSED, 0, b);
    for (int64_t i = 0; i < count; i++) {
        if (pass->results->used[first + i]) {
            compute_sample(pass, scratch, rb_dense_row(y, i), rb_dense_row(b, i), first + i);
        } else {
            clear_sample(pass, first + i);
        }
    }
}

void et_posteriors(rb_context *ctx, const et_engine *engine, const rb_block *block, bool rank,
                   et_results *results) {
    struct pass pass = {engine, block, results, rank};
    int64_t tasks = (block->n_samples + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES;
    rb_parallel(ctx, tasks, compute_task, &pass);
}
