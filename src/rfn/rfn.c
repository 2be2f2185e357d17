/* The table of rectified factor networks: what the loop, the store and the tool know of them. */
#include "rfn.h"

#include "coder.h"
#include "fit.h"

#include <math.h>

static int64_t units(const void *options) {
    return ((const rb_rfn_options *)options)->units;
}

/* Even blocks of up to 32 MB of float32: large products, and little beside the parameters. */
static int64_t block_samples(const rb_problem *problem, const void *options) {
    enum { CELLS = 1 << 22, MIN = 1024, MAX = 1 << 14 };
    int64_t widest = units(options);
    if (!problem->sparse && problem->n_features > widest) widest = problem->n_features;
    int64_t n = rfn_batch_samples(problem), max = CELLS / widest;
    max = max < MIN ? MIN : max > MAX ? MAX : max;
    return n > 0 ? rb_cut(n, (n + max - 1) / max).size : 0;
}

static const char *const start_options[] = {"psi-init",   "weight-init",      "weight-start",
                                            "prior-mean", "prior-covariance", NULL};

/* ---- the E-step: by an engine, or from codes that persist ---- */

static rb_error begin_newton(rb_context *ctx, rfn_fit *fit) {
    rfn_sums *sums = &fit->sums;
    bool runs_on = rfn_in_batches(&fit->setup.problem) && !fit->progress.last;
    for (int64_t j = 0; runs_on && j < fit->setup.options.units; j++)
        sums->active[j] = rb_dense_get(sums->s, j, j) > 0; /* of batches before */
    if (fit->device) return RB_OK;
    rfn_given given = {&fit->parameters, &fit->posterior, &fit->survey, fit->progress.iteration,
                       fit->progress.last};
    return fit->setup.problem.engine->set_parameters(ctx, fit->engine, &given);
}

static rb_error begin(rb_context *ctx, void *state) {
    rfn_fit *fit = state;
    bool persists = rfn_persists(&fit->setup, &fit->progress);
    if (persists && fit->persistent.adds_moments) return RB_OK;
    /* Which may come from a checkpoint. */
    rb_error err = rb_comm_agree(ctx, rfn_psi_factor(ctx, &fit->parameters.full));
    if (err) return err;
    rfn_hold_prior_back(ctx, fit);
    if (rfn_merges_units(fit)) err = rfn_merge_units(ctx, fit);
    if (err) return err;
    rfn_adapt_prior(ctx, fit);
    fit->posterior.factored =
        rfn_is_factored(&fit->setup.problem, fit->setup.options.units, persists);
    err = rfn_posterior_compute(ctx, &fit->parameters, fit->scratch.work, &fit->posterior);
    if (!err && persists) {
        err = rfn_persistent_begin(ctx, &fit->persistent, &fit->parameters, &fit->posterior,
                                   fit->scratch.work);
        fit->persistent.wants_means =
            !rfn_goes_on(&fit->setup, &fit->progress) || !fit->codes.filled;
    }
    return err || persists ? err : begin_newton(ctx, fit);
}

static rb_error block(rb_context *ctx, void *state, const rb_block *samples) {
    rfn_fit *fit = state;
    if (fit->device && fit->device->streams) return rfn_device_block(fit->device, fit, samples);
    if (fit->device) {
        rfn_device_put(fit->device, samples);
        return rfn_device_end(fit->device);
    }
    if (rfn_persists(&fit->setup, &fit->progress))
        return rfn_persistent_block(ctx, &fit->persistent, samples, &fit->codes, &fit->sums);
    return fit->setup.problem.engine->block(ctx, fit->engine, samples, &fit->sums);
}

static rb_error group_end(rb_context *ctx, void *state) {
    rfn_fit *fit = state;
    const rb_engine *engine = fit->setup.problem.engine;
    if (fit->device && fit->device->streams) return rfn_device_group_end(fit->device, fit);
    bool waits = !fit->device && engine->sums && !rfn_persists(&fit->setup, &fit->progress);
    return waits ? engine->sums(ctx, fit->engine, &fit->sums) : RB_OK;
}

static rb_error end_newton(rb_context *ctx, rfn_fit *fit) {
    if (fit->device && !fit->device->streams) rfn_device_newton(fit->device, fit);
    rb_error err = fit->device ? rfn_device_end(fit->device) : RB_OK;
    err = err ? err : rfn_normalize(ctx, fit);
    if (!err && fit->setup.problem.fit->trace) {
        rb_dense hessian = fit->scratch.hessian;
        rfn_hessian(ctx, &fit->parameters, fit->scratch.work, hessian);
        double product = rfn_product_of_lower(ctx, hessian, fit->sums.raw);
        fit->moments.estep_objective =
            rfn_estep_objective(ctx, &fit->parameters, hessian, &fit->moments,
                                product / (double)fit->setup.problem.n_samples);
    }
    return err;
}

/* newton with missing values has scaled its codes before moments were added up. */
static void note_scales(const rfn_missing *missing, rfn_progress *progress) {
    for (int64_t j = 0; j < missing->setup->options.units; j++) {
        progress->scale[j] = missing->scale[j];
        progress->alive[j] = missing->positive[j];
    }
}

static rb_error end(rb_context *ctx, void *state, bool *again) {
    rfn_fit *fit = state;
    rfn_persistent *persistent = &fit->persistent;
    *again = false;
    if (!rfn_persists(&fit->setup, &fit->progress)) return end_newton(ctx, fit);
    persistent->adds_moments = *again = !persistent->adds_moments;
    bool goes_on = rfn_goes_on(&fit->setup, &fit->progress);
    if (*again && persistent->missing.on)
        rfn_missing_collected(ctx, &persistent->missing, &fit->sums);
    if (*again && !goes_on)
        return rfn_missing_project(ctx, &persistent->missing, &persistent->work.slices,
                                   fit->codes.values, fit->progress.last);
    if (*again) {
        if (fit->device)
            rfn_device_linear(fit->device, persistent->weighted, fit->posterior.linear);
        return rfn_improve(ctx, persistent, &fit->codes, &fit->progress);
    }
    if (fit->device) rfn_device_moments(fit->device, &fit->sums);
    rb_error err = fit->device ? rfn_device_end(fit->device) : RB_OK;
    err = err ? err : rfn_normalize(ctx, fit);
    persistent->converged = goes_on && !err && fit->progress.last;
    if (!err && !goes_on) note_scales(&persistent->missing, &fit->progress);
    if (!err && goes_on && !fit->progress.last)
        rfn_find_multipliers(ctx, persistent, &fit->moments, &fit->codes);
    if (!err && fit->setup.problem.fit->trace) {
        double constant = rfn_constant_part(ctx, persistent, fit->scratch.hessian);
        fit->moments.estep_objective = rfn_estep_objective(
            ctx, &fit->parameters, persistent->problem.hessian, &fit->moments, constant);
    }
    return err;
}

static bool reads(const void *state) {
    const rfn_fit *fit = state;
    return !fit->device || !rfn_device_is_filled(fit->device, &fit->setup.problem);
}

/* A pass that collects Q adds nothing, but constants of samples that lack values. */
static bool adds(const void *state) {
    const rfn_fit *fit = state;
    const rfn_persistent *p = &fit->persistent;
    return !rfn_persists(&fit->setup, &fit->progress) || p->adds_moments || p->missing.on;
}

static rb_error device(rb_context *ctx, void *state, rb_device_codes what) {
    rfn_fit *fit = state;
    if (fit->codes.filled) rfn_device_codes(fit->device, what, fit->codes.values);
    return rfn_device_end(fit->device);
}

static void last(void *state) {
    ((rfn_fit *)state)->progress.last = true;
}

static const char *const metric_names[] = {"kkt_residual", "estep_stage", "prior_mean", NULL};

static void metrics(const void *state, double *values) {
    const rfn_fit *fit = state;
    const rb_rfn_options *options = &fit->setup.options;
    bool filled = fit->codes.filled;
    values[0] = filled && fit->setup.problem.fit->trace ? fit->persistent.residual : NAN;
    values[1] = filled && rfn_tries_candidates(options) ? (double)fit->persistent.stage : NAN;
    values[2] = rfn_adapts(options) ? fit->parameters.prior.mean[0] : NAN;
}

static const rb_metric_row metric_rows[] = {
    {"estep_objective", "E-step objective", "0: the codes are the exact posterior", true},
    {"energy", "energy", "objective = - energy - divergence", true},
    {"divergence", "divergence", "of the codes from the prior", true},
    {"kkt_residual", "KKT residual", "of the codes of the fit", true},
    {"certificate", "certificate", "above 0: the codes are globally optimal", true},
    {NULL, NULL, NULL, false}};

static const rb_array_kind arrays[] = {{"noise_covariance", RB_ARRAY_OF_ALL},
                                       {"prior_mean", RB_ARRAY_ROW_EACH},
                                       {"multipliers", RB_ARRAY_ROW_EACH},
                                       {"prior_covariance", RB_ARRAY_JOINT},
                                       {0}};

static const rb_metric_plot plots[] = {
    {"objective", "objective", false, NULL},
    {"E-step objective", "estep_objective", false, NULL},
    {"log10 of KKT residual", "kkt_residual", true, NULL},
    {"what moved the codes", "estep_stage", false, rb_rfn_stage_name},
    {0}};

static const rb_engine *const engines[] = {&rfn_engine_cpu.engine, NULL};

const rb_method rb_method_rfn = {
    .size = sizeof(rb_method),
    .name = "rfn",
    .title = "rectified factor network",
    .purpose = "sparse non-negative codes, gene modules and biclusters; the usual choice",
    .options_size = sizeof(rb_rfn_options),
    .code_name = "X_rfn",
    .takes_batches = true,
    .centre = RB_CENTRE_AUTO,
    .missing = true,
    .sparser = "a larger `sparse-loadings`",
    .denser = "a smaller `sparse-loadings` or a `prior-mean` nearer to 0",
    .options = rfn_option_rows,
    .rules = rfn_option_rules,
    .start_options = start_options,
    .resolve = rfn_resolve,
    .units = units,
    .block_samples = block_samples,
    .memory = rfn_memory,
    .parts = rfn_parts,
    .shape = rfn_shape,
    .engines = engines,
    .start = rfn_start,
    .finish = rfn_finish,
    .survey = rfn_survey_block,
    .survey_end = rfn_survey_end,
    .begin = begin,
    .block = block,
    .group_end = group_end,
    .reads = reads,
    .adds = adds,
    .device = device,
    .end = end,
    .last = last,
    .may_stop = rfn_may_stop,
    .mstep = rfn_mstep,
    .objective = rfn_objective,
    .metric_names = metric_names,
    .metrics = metrics,
    .store = rfn_store,
    .project = rfn_project_moved,
    .steady = rfn_is_steady,
    .coder_new = rfn_coder_new,
    .coder_free = rfn_coder_free,
    .encode = rfn_encode,
    .decode = rfn_decode,
    .evaluate = rfn_evaluate,
    .metric_rows = metric_rows,
    .spreads = rfn_spreads,
    .draw = rfn_draw,
    .emit = rfn_emit,
    .advised = RB_ADVISED_NUMBERS | RB_ADVISED_BELOW,
    .advised_why = "few causes at a time, each with a noise of its own for every feature",
    .plots = plots,
    .sparse_loadings = rfn_has_sparse_loadings,
    .iterates = rfn_iterates,
    .arrays = arrays,
    .layer = rfn_layer,
    .rectifies = true,
    .summary = rfn_summary,
    .shrinks_from = rfn_shrinks_from,
};
