/* The E-step over the blocks. While all samples are in use one pass gives evidences and sums; once
 * the data are cut, a first pass gives the evidences, the least of those in use is found, and a
 * second pass adds up the samples that remain (Alg. 2). The log-likelihood is at temperature 1: at
 * another it takes a pass of its own, before these, in traced fits; the last E-step is that pass
 * alone. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- the cut ---- */

/* The value that `rank` others of v are larger than or equal to, were they sorted from the largest:
 * quickselect with the middle as pivot, so that the result does not depend on chance. */
static double select_largest(double *v, int64_t n, int64_t rank) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] > pivot) {
                i++;
            }
            while (v[j] < pivot) {
                j--;
            }
            if (i <= j) {
                double swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (rank <= j) {
            high = j;
        } else if (rank >= i) {
            low = i;
        } else {
            break;
        }
    }
    return v[rank];
}

et_cut et_cut_find(const double *evidence, int64_t first, int64_t n, int64_t count, double *work) {
    memcpy(work, evidence, (size_t)n * sizeof *work);
    et_cut cut = {select_largest(work, n, count - 1), -1};
    int64_t equal = count;
    for (int64_t i = 0; i < n; i++) {
        equal -= evidence[i] > cut.min;
    }
    for (int64_t i = 0; equal > 0; i++) {
        if (evidence[i] == cut.min) {
            cut.last = first + i;
            equal--;
        }
    }
    return cut;
}

/* How many samples the cut leaves: factor times those expected to have at most gamma causes. */
static int64_t cut_size(const et_fit *f, int64_t max_active) {
    const et_plan *plan = &f->plan;
    const rb_et_options *o = &plan->options;
    int64_t n = f->problem.n_samples, t = f->progress.iteration;
    double factor = o->cut_factor;
    if (plan->schedule.cut.count) {
        return et_cut_size_at(&plan->schedule.cut, plan->schedule.iterations, t, n);
    }
    if (factor == 0) {
        bool learns = plan->learn_sigma || o->learn_prior || o->prior_per_cause;
        factor = learns || o->count ? 1 : 0.9;
    }
    return et_cut_size(plan->schedule.iterations, t, n,
                       factor * et_prior_mass(&plan->setup, &f->parameters, max_active));
}

/* ---- passes ---- */

void et_last(void *state) {
    ((et_fit *)state)->estep.last = true;
}

/* Are full samples done again? */
static bool widens(const et_fit *f) {
    return et_schedule_ended(&f->plan.schedule, f->progress.iteration);
}

/* The most active causes that a sample may have in a pass. */
static int64_t widest_active(const et_fit *f) {
    return f->estep.pass.widens ? f->plan.setup.widest_active : f->plan.setup.max_active;
}

/* Are the evidences of the iteration those of the log-likelihood, as a coder gives them? */
static bool is_cold(const et_fit *f) {
    bool wide = widens(f) || f->plan.setup.widest_active == f->plan.setup.max_active;
    return et_temperature(&f->plan.schedule, f->progress.iteration) == 1 && wide;
}

static void choose_pass(et_fit *f) {
    et_estep *e = &f->estep;
    et_pass *pass = &e->pass;
    int64_t t = f->progress.iteration;
    bool trace = f->problem.fit->trace;
    *pass = (et_pass){.parameters = &f->parameters,
                      .beta = 1,
                      .beta_prior = 1,
                      .widens = true,
                      .evidence = f->work.evidence};
    if (e->last || (trace && !e->measured && !is_cold(f))) {
        pass->kind = ET_PASS_MEASURE;
        return;
    }
    pass->beta = 1 / et_temperature(&f->plan.schedule, t);
    pass->beta_prior = f->plan.anneal_prior ? pass->beta : 1;
    pass->widens = widens(f);
    pass->traced = t < f->problem.fit->iterations ? f->shape.dims[ET_TRACED_SAMPLES] : 0;
    e->n_cut = cut_size(f, widest_active(f));
    pass->kind = e->n_cut < f->problem.n_samples ? ET_PASS_RANK : ET_PASS_ALL;
}

rb_error et_begin(rb_context *ctx, void *state) {
    et_fit *f = state;
    if (f->estep.pass.kind != ET_PASS_CUT) {
        choose_pass(f);
    }
    return f->problem.engine->set_parameters(ctx, f->engine, &f->estep.pass);
}

rb_error et_block(rb_context *ctx, void *state, const rb_block *block) {
    et_fit *f = state;
    return f->problem.engine->block(ctx, f->engine, block, &f->sums);
}

rb_error et_group_end(rb_context *ctx, void *state) {
    et_fit *f = state;
    return f->problem.engine->sums(ctx, f->engine, &f->sums);
}

/* What is known of all samples, before a pass over those in use. */
static void take_all(et_fit *f) {
    const et_sums *sums = &f->sums;
    f->estep.all_evidence = sums->all_evidence;
    memcpy(f->progress.in_map, sums->in_map, (size_t)f->plan.options.units * sizeof *sums->in_map);
    bool iterates = f->progress.iteration < f->problem.fit->iterations;
    if (f->trace.metrics && iterates && f->estep.pass.kind != ET_PASS_MEASURE) {
        et_trace_pass(&f->trace, sums, f->progress.iteration, f->estep.pass.traced);
    }
}

/* After the pass that added up what the M-step needs. */
static void take_sums(et_fit *f) {
    et_estep *e = &f->estep;
    et_progress *p = &f->progress;
    double mass = et_prior_mass(&f->plan.setup, &f->parameters, widest_active(f));
    p->log_likelihood = is_cold(f) ? e->all_evidence : e->measured ? p->log_likelihood : NAN;
    e->free_energy = f->sums.evidence - (double)f->sums.used * log(mass);
    e->measured = false;
}

rb_error et_end(rb_context *ctx, void *state, bool *again) {
    et_fit *f = state;
    et_estep *e = &f->estep;
    et_pass *pass = &e->pass;
    const rb_engine *engine = f->problem.engine;
    rb_error err = engine->finish ? engine->finish(ctx, f->engine, &f->sums) : RB_OK;
    if (err) {
        return err;
    }
    if (pass->kind != ET_PASS_CUT) {
        take_all(f);
    }
    *again = pass->kind == ET_PASS_RANK || (pass->kind == ET_PASS_MEASURE && !e->last);
    if (pass->kind == ET_PASS_MEASURE) {
        f->progress.log_likelihood = e->all_evidence;
        e->measured = true;
        pass->kind = ET_PASS_NONE;
    } else if (pass->kind == ET_PASS_RANK) {
        pass->cut =
            et_cut_find(pass->evidence, f->problem.first, f->problem.own, e->n_cut, f->work.sorted);
        pass->kind = ET_PASS_CUT;
    } else {
        take_sums(f);
        pass->kind = ET_PASS_NONE;
    }
    return RB_OK;
}

/* The log evidence of all samples, at the temperature of the iteration. */
void et_objective(void *state, double *objective, double *estep_objective) {
    const et_fit *f = state;
    *objective = f->estep.all_evidence;
    *estep_objective = NAN;
}

bool et_may_stop(const void *state) {
    return widens(state);
}
