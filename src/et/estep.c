/* The E-step over the blocks. While all samples are in use one pass gives evidences and sums; once
 * the data are cut, a first pass gives the evidences, the least of those in use is found, and a
 * second pass adds up the samples that remain (Alg. 2). The log-likelihood is at temperature 1: at
 * another it takes a pass of its own, before these, in traced fits; the last E-step is that pass
 * alone. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* How many samples the cut leaves: factor times those expected to have at most gamma causes. */
static int64_t cut_size(const et_fit *f, int64_t max_active) {
    const et_plan *plan = &f->plan;
    const rb_et_options *o = &plan->options;
    int64_t n = f->problem.n_samples, t = f->progress.iteration;
    bool all = plan->learn_sigma || o->learn_prior || o->prior_per_cause || o->count;
    double factor = o->cut_factor != 0 ? o->cut_factor : all ? 1 : 0.9;
    return et_cut_size(&plan->schedule, t, n,
                       factor * et_prior_mass(&plan->setup, &f->parameters, max_active));
}

/* ---- passes ---- */

void et_last(void *state) {
    ((et_fit *)state)->estep.last = true;
}

/* Is the schedule at its end? From there on full samples are done again, too. */
bool et_may_stop(const void *state) {
    const et_fit *f = state;
    return et_schedule_ended(&f->plan.schedule, f->progress.iteration);
}

/* The most active causes that a sample may have in a pass. */
static int64_t widest_active(const et_fit *f) {
    return f->estep.pass.widens ? f->plan.setup.widest_active : f->plan.setup.max_active;
}

/* Are the evidences of the iteration those of the log-likelihood, as a coder gives them? */
static bool is_cold(const et_fit *f) {
    bool wide = et_may_stop(f) || f->plan.setup.widest_active == f->plan.setup.max_active;
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
    pass->widens = et_may_stop(f);
    pass->traced = t < f->problem.fit->iterations ? f->shape.dims[ET_TRACED_SAMPLES] : 0;
    e->n_cut = cut_size(f, widest_active(f));
    pass->kind = e->n_cut < f->problem.n_samples ? ET_PASS_RANK : ET_PASS_ALL;
}

rb_error et_begin(rb_context *ctx, void *state) {
    et_fit *f = state;
    if (f->estep.pass.kind != ET_PASS_CUT) choose_pass(f);
    return f->problem.engine->set_parameters(ctx, f->engine, &f->estep.pass);
}

rb_error et_block(rb_context *ctx, void *state, const rb_block *block) {
    et_fit *f = state;
    return f->problem.engine->block(ctx, f->engine, block, &f->sums);
}

rb_error et_group_end(rb_context *ctx, void *state) {
    et_fit *f = state;
    const rb_engine *engine = f->problem.engine;
    return engine->sums ? engine->sums(ctx, f->engine, &f->sums) : RB_OK;
}

/* What is known of all samples, before a pass over those in use. */
static void take_all(et_fit *f) {
    const et_sums *sums = &f->sums;
    f->estep.mean_evidence = sums->all_evidence / (double)f->problem.n_samples;
    memcpy(f->progress.in_map, sums->in_map, (size_t)f->plan.options.units * sizeof *sums->in_map);
    bool iterates = f->progress.iteration < f->problem.fit->iterations;
    if (f->trace.metrics && iterates && f->estep.pass.kind != ET_PASS_MEASURE) et_trace_pass(f);
}

static et_cut find_cut(rb_context *ctx, et_fit *f) {
    const rb_problem *p = &f->problem;
    const double *evidence = f->estep.pass.evidence;
    return rb_ranks(ctx) == 1
               ? et_cut_find(evidence, p->first, p->own, f->estep.n_cut, f->work.sorted)
               : et_cut_find_all(ctx, evidence, p->first, p->own, p->n_samples, f->estep.n_cut);
}

rb_error et_end(rb_context *ctx, void *state, bool *again) {
    et_fit *f = state;
    et_estep *e = &f->estep;
    et_pass_kind kind = e->pass.kind;
    double *likelihood = &f->progress.log_likelihood;
    const rb_engine *engine = f->problem.engine;
    rb_error err = engine->finish ? engine->finish(ctx, f->engine, &f->sums) : RB_OK;
    err = rb_comm_agree(ctx, err);
    if (err) return err;
    if (kind != ET_PASS_CUT) take_all(f);
    *again = kind == ET_PASS_RANK || (kind == ET_PASS_MEASURE && !e->last);
    e->pass.kind = kind == ET_PASS_RANK ? ET_PASS_CUT : ET_PASS_NONE;
    if (kind == ET_PASS_MEASURE) {
        *likelihood = e->mean_evidence;
        e->measured = true;
    } else if (kind == ET_PASS_RANK) {
        e->pass.cut = find_cut(ctx, f);
    } else { /* what the M-step needs is added up */
        double mass = et_prior_mass(&f->plan.setup, &f->parameters, widest_active(f));
        *likelihood = is_cold(f) ? e->mean_evidence : e->measured ? *likelihood : NAN;
        e->free_energy = f->sums.evidence / (double)f->sums.used - log(mass);
        e->measured = false;
    }
    return RB_OK;
}

/* The mean log evidence of a sample, at the temperature of the iteration. */
void et_objective(void *state, double *objective, double *estep_objective) {
    const et_fit *f = state;
    *objective = f->estep.mean_evidence;
    *estep_objective = NAN;
}
