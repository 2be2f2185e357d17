/* What a traced fit keeps of every iteration: temperature, samples in use, quality of the
 * truncation for some samples, and the fields at a few iterations. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Samples whose exact posterior is computed in each iteration. */
static int64_t count_samples(const et_state *st) {
    const double most = 4e8;
    double units = (double)st->options.units;
    if (units > RB_ET_MOST_EXACT) {
        return 0;
    }
    double work = ldexp((double)st->problem.n_features + 20, (int)units);
    double count = fmin(fmin(ET_TRACE_SAMPLES, (double)st->problem.n_samples), floor(most / work));
    return (int64_t)count;
}

rb_error et_trace_new(rb_context *ctx, et_state *st) {
    et_trace *t = &st->trace;
    int64_t iterations = st->problem.fit->iterations;
    int64_t cells = st->options.units * st->problem.n_features;
    if (!st->problem.fit->trace) {
        return RB_OK;
    }
    t->count = count_samples(st);
    t->figures = rb_alloc_zero(ctx, ET_TRACE_FIGURES * (iterations + 1), sizeof *t->figures);
    t->quality = rb_alloc_zero(ctx, (t->count + 1) * (iterations + 1), sizeof *t->quality);
    t->fields = rb_alloc_zero(ctx, ET_TRACE_FIELDS * cells, sizeof *t->fields);
    return t->figures && t->quality && t->fields ? RB_OK : RB_ERROR_MEMORY;
}

void et_trace_free(et_trace *t) {
    rb_free(t->figures);
    rb_free(t->quality);
    rb_free(t->fields);
    *t = (et_trace){0};
}

/* The k-th traced sample: evenly spread. */
static int64_t sample_at(const et_state *st, int64_t k) {
    return k * st->problem.n_samples / st->trace.count;
}

struct task {
    et_state *st;
    const rb_block *block;
    int64_t first; /* of the traced samples: the first in the block */
    double hits[ET_TRACE_SAMPLES], marginals[ET_TRACE_SAMPLES];
};

static void exact_task(void *arg, int64_t index, int worker) {
    struct task *task = arg;
    et_state *st = task->st;
    const et_engine *engine = st->engine;
    et_scratch *scratch = &engine->scratch[worker];
    int64_t k = task->first + index, n = sample_at(st, k), i = n - task->block->first;
    et_look look = et_look_at(engine, &st->results, i);
    et_sample sample = et_observe_block(engine, scratch, task->block, i);
    double exact = et_exact(engine, scratch, &sample, scratch->scores);
    double evidence = st->results.evidence[i];
    st->trace.quality[st->iteration * st->trace.count + k] = exp(fmin(0, evidence - exact));
    task->hits[k] = 0;
    for (int c = 0; c < look.tree->candidates; c++) {
        task->hits[k] += scratch->scores[look.candidates[c]];
    }
    task->marginals[k] = engine->kernels->sum(engine->setup.units, scratch->scores);
}

void et_trace_block(rb_context *ctx, et_state *st, const rb_block *block) {
    et_trace *t = &st->trace;
    struct task task = {.st = st, .block = block};
    int64_t last = 0;
    if (!t->figures || st->iteration >= st->problem.fit->iterations) {
        return; /* the last E-step belongs to no iteration */
    }
    while (task.first < t->count && sample_at(st, task.first) < block->first) {
        task.first++;
    }
    for (last = task.first;
         last < t->count && sample_at(st, last) < block->first + block->n_samples; last++) {
    }
    rb_parallel(ctx, last - task.first, exact_task, &task);
    for (int64_t k = task.first; k < last; k++) {
        t->hits += task.hits[k];
        t->marginals += task.marginals[k];
    }
}

void et_trace_iteration(et_state *st) {
    et_trace *t = &st->trace;
    const et_schedule *s = &st->schedule;
    int64_t cells = st->options.units * st->problem.n_features;
    if (!t->figures) {
        return;
    }
    double *figures = t->figures + st->iteration * ET_TRACE_FIGURES;
    figures[0] = et_temperature(s, st->iteration);
    figures[1] = (double)st->moments.used;
    figures[2] = t->marginals > 0 ? t->hits / t->marginals : NAN;
    t->hits = t->marginals = 0;
    /* Evenly: iterations 0, I / 9, ..., I - 1. */
    int64_t due = t->kept * (s->iterations - 1) / (ET_TRACE_FIELDS - 1);
    if (t->kept < ET_TRACE_FIELDS && st->iteration >= due) {
        memcpy(t->fields + t->kept * cells, st->engine->parameters.fields.data,
               (size_t)cells * sizeof *t->fields);
        t->at[t->kept++] = st->iteration;
    }
}

/* Fields as loadings, side by side: features x (kept * units). */
static rb_error store_fields(rb_context *ctx, const et_state *st, rb_model *model) {
    const et_trace *t = &st->trace;
    int64_t units = st->options.units, features = st->problem.n_features;
    double *fields = rb_model_add_array(ctx, model, "trace_fields", features, t->kept * units);
    double *at = fields ? rb_model_add_array(ctx, model, "trace_fields_at", t->kept, 1) : NULL;
    if (!at) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < t->kept; k++) {
        at[k] = (double)t->at[k];
        for (int64_t h = 0; h < units; h++) {
            const double *field = t->fields + (k * units + h) * features;
            for (int64_t d = 0; d < features; d++) {
                fields[d * t->kept * units + k * units + h] = field[d];
            }
        }
    }
    return RB_OK;
}

rb_error et_trace_store(rb_context *ctx, const et_state *st, rb_model *model) {
    const et_trace *t = &st->trace;
    int64_t done = st->iteration;
    if (!t->figures || done == 0) {
        return RB_OK;
    }
    double *figures = rb_model_add_array(ctx, model, "trace", done, ET_TRACE_FIGURES);
    if (!figures) {
        return RB_ERROR_MEMORY;
    }
    memcpy(figures, t->figures, (size_t)(done * ET_TRACE_FIGURES) * sizeof *figures);
    if (t->count > 0) {
        double *quality = rb_model_add_array(ctx, model, "trace_quality", done, t->count);
        if (!quality) {
            return RB_ERROR_MEMORY;
        }
        memcpy(quality, t->quality, (size_t)(done * t->count) * sizeof *quality);
    }
    return t->kept > 0 ? store_fields(ctx, st, model) : RB_OK;
}
