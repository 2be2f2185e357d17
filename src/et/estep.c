/* The E-step over the blocks. While all samples are in use one pass gives evidences and sums; once
 * the data are cut, a first pass gives the evidences, the least of those in use is found, and a
 * second pass adds up the samples that remain (Alg. 2). The log-likelihood is at temperature 1: at
 * another it takes a pass of its own, before these, in traced fits; the last E-step is that pass
 * alone. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* How many samples the cut leaves: factor times those expected to have at most gamma causes. */
static int64_t cut_size(const et_state *st) {
    double factor = st->options.cut_factor;
    bool learns = st->learn_sigma || st->options.learn_prior || st->options.prior_per_cause;
    if (st->schedule.cut.count) {
        return et_cut_size_at(&st->schedule.cut, st->schedule.iterations, st->iteration,
                              st->problem.n_samples);
    }
    if (factor == 0) {
        factor = learns || st->options.count ? 1 : 0.9;
    }
    return et_cut_size(st->schedule.iterations, st->iteration, st->problem.n_samples,
                       factor * et_prior_mass(st->engine));
}

void et_last(void *state) {
    ((et_state *)state)->last = true;
}

/* Are the evidences of the iteration those of the log-likelihood, as a coder gives them? */
static bool is_cold(const et_state *st) {
    bool widens = et_schedule_ended(&st->schedule, st->iteration) || st->engine->widths == 0;
    return et_temperature(&st->schedule, st->iteration) == 1 && widens;
}

rb_error et_begin(rb_context *ctx, void *state) {
    et_state *st = state;
    et_moments_clear(&st->moments);
    if (st->cutting) { /* the second pass: the same parameters */
        return RB_OK;
    }
    st->measuring = st->last || (st->problem.fit->trace && !st->measured && !is_cold(st));
    st->all_evidence = 0;
    memset(st->in_map, 0, (size_t)st->options.units * sizeof *st->in_map);
    if (st->measuring) {
        st->engine->widens = true;
        et_prepare(ctx, st->engine, 1, 1);
        return RB_OK;
    }
    double beta = 1 / et_temperature(&st->schedule, st->iteration);
    st->engine->widens = et_schedule_ended(&st->schedule, st->iteration);
    et_prepare(ctx, st->engine, beta, st->anneal_prior ? beta : 1);
    if (st->model->max) {
        et_max_powers(st);
    }
    st->n_cut = cut_size(st);
    st->ranking = st->n_cut < st->problem.n_samples;
    return RB_OK;
}

/* What the cut orders samples by: the log evidence, without the constant of each value where not
 * all samples have the same number of them. */
static double rank(const et_state *st, int64_t i) {
    double values = st->problem.missing ? (double)st->results.there[i] : 0;
    return st->results.evidence[i] - values * st->engine->per_value;
}

/* Notes evidence and most probable state of every sample. */
static rb_error note_samples(rb_context *ctx, et_state *st, const rb_block *block) {
    const et_results *r = &st->results;
    for (int64_t i = 0; i < block->n_samples; i++) {
        if (!isfinite(r->evidence[i])) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the log evidence of sample %lld is not finite; scale the data",
                           (long long)(block->first + i + 1));
        }
        st->evidence[block->first + i] = rank(st, i);
        st->all_evidence += r->evidence[i];
        int64_t causes[ET_MOST_ACTIVE], count = et_map_causes(st->engine, r, i, causes);
        for (int64_t k = 0; k < count; k++) {
            st->in_map[causes[k]] = true;
        }
    }
    return RB_OK;
}

/* <|y - Wbar(s)|^2> from <e(s)>. */
static double residual(const et_state *st, int64_t i) {
    const et_results *r = &st->results;
    return r->norm[i] - 2 / st->engine->scale * r->energy[i];
}

static void add_scalars(et_state *st, int64_t count) {
    const et_results *r = &st->results;
    et_moments *m = &st->moments;
    for (int64_t i = 0; i < count; i++) {
        if (r->used[i]) {
            m->used++;
            m->values += (double)r->there[i];
            m->squares += r->norm[i];
            m->active += r->active[i];
            m->residual += residual(st, i);
            m->evidence += r->evidence[i];
        }
    }
}

rb_error et_block(rb_context *ctx, void *state, const rb_block *block) {
    et_state *st = state;
    for (int64_t i = 0; i < block->n_samples; i++) {
        int64_t n = block->first + i;
        st->results.used[i] = !st->cutting || et_cut_uses(st->cut, st->evidence[n], n);
    }
    et_posteriors(ctx, st->engine, block, st->ranking || st->measuring, &st->results);
    if (!st->cutting) {
        rb_error err = note_samples(ctx, st, block);
        if (err || st->measuring) {
            return err;
        }
        et_trace_block(ctx, st, block);
    }
    if (st->ranking) {
        return RB_OK;
    }
    add_scalars(st, block->n_samples);
    et_add_sums(st, block->n_samples);
    return st->model->add(ctx, st, block);
}

/* After the pass that added up the moments. */
static void finish_moments(et_state *st) {
    const et_moments *m = &st->moments;
    st->log_likelihood = is_cold(st) ? st->all_evidence : st->measured ? st->log_likelihood : NAN;
    st->free_energy = m->evidence - (double)m->used * log(et_prior_mass(st->engine));
    st->measured = false;
    if (st->model->max) {
        et_sets_finish(st);
    } else if (st->model->keep == ET_KEEP_PAIRS) {
        if (st->problem.missing) {
            et_missing_finish(st);
        }
        rb_dense second = m->second;
        for (int64_t h = 0; h < second.rows; h++) {
            rb_dense_set(second, h, h, m->sums[h]);
            for (int64_t j = 0; j < h; j++) {
                rb_dense_set(second, h, j, rb_dense_get(second, j, h));
            }
        }
    }
}

rb_error et_end(rb_context *ctx, void *state, bool *again) {
    (void)ctx;
    et_state *st = state;
    *again = st->ranking || (st->measuring && !st->last);
    st->cutting = st->ranking;
    if (st->measuring) {
        st->log_likelihood = st->all_evidence;
        st->measured = true;
    } else if (st->ranking) {
        st->cut = et_cut_find(st->evidence, st->problem.n_samples, st->n_cut, st->work);
        st->ranking = false;
    } else {
        finish_moments(st);
    }
    return RB_OK;
}
