/* Options that cannot be had together. */
#include "fit.h"

/* The name of an option that leaves the projection, so that no guarantee outlives it; or NULL. */
static const char *without_guarantee(const rb_rfn_options *options) {
    return options->activation != RB_RFN_ACTIVATION_RECTIFY ? "activation"
           : options->activation_threshold != 0             ? "activation-threshold"
           : options->dropout > 0                           ? "dropout"
           : options->input_noise != RB_RFN_NOISE_NONE      ? "input-noise"
           : options->momentum > 0                          ? "momentum"
                                                            : NULL;
}

void rfn_resolve(rb_problem *problem, void *options) {
    rb_rfn_options *rfn = options;
    bool newton_only =
        rfn_in_batches(problem) || rfn->normalize == RB_RFN_NORMALIZE_SD || without_guarantee(rfn);
    problem->decay = rfn->moment_decay;
    if (rfn->input_noise != RB_RFN_NOISE_NONE) /* which hides what is stored */
        problem->sparse = problem->source_sparse;
    else
        problem->shifts = true;
    if (rfn->estep == RB_RFN_ESTEP_AUTO)
        rfn->estep = newton_only ? RB_RFN_ESTEP_NEWTON : RB_RFN_ESTEP_CYCLIC;
}

static rb_error check_noise(rb_context *ctx, const rb_problem *problem,
                            const rb_rfn_options *options) {
    int kind = options->input_noise;
    double level = options->input_noise_level;
    bool full = options->noise == RB_RFN_PSI_FULL;
    const rb_conflict conflicts[] = {
        {kind && !(level > 0),
         "`input-noise` needs `input-noise-level`: the share of values that are replaced, or the "
         "standard deviation of gaussian noise"},
        {level > 0 && !kind,
         "`input-noise-level` needs `input-noise`: masking, salt-and-pepper or gaussian"},
        {kind && kind != RB_RFN_NOISE_GAUSSIAN && level > 0.999,
         "but at most 0.999 of the values can be replaced", "input-noise-level", level},
        {problem->sparse && kind && kind != RB_RFN_NOISE_MASKING,
         "this `input-noise` would fill the zeros of sparse data; take masking, which hides stored "
         "values"},
        {full && options->mstep == RB_RFN_MSTEP_GRADIENT,
         "the gradient M-step requires diagonal noise; use `mstep=newton`"},
        {full && options->psi_step == RB_RFN_PSI_STEP_PRECISION,
         "`psi-step=precision` requires diagonal noise; use `noise=diagonal` or "
         "`psi-step=variance`"},
        {!full && options->noise_decay > 0,
         "but diagonal noise has no covariances; use `noise=full`", "noise-decay",
         options->noise_decay},
        {0},
    };
    return rb_check_conflicts(ctx, conflicts);
}

static rb_error check_estep(rb_context *ctx, const rb_problem *problem,
                            const rb_rfn_options *options) {
    bool newton = options->estep == RB_RFN_ESTEP_NEWTON, batches = rfn_in_batches(problem);
    const char *name = without_guarantee(options);
    const rb_conflict conflicts[] = {
        {batches && !newton, "a fit in batches cannot keep the codes of all samples; leave out "
                             "`batch-size` or use `estep=newton`"},
        {batches && options->noise == RB_RFN_PSI_FULL,
         "full noise needs all samples at once; leave out `batch-size` or use `noise=diagonal`"},
        {batches && problem->fit->trace,
         "the E-step objective needs all samples and cannot be traced in batches; leave out "
         "`batch-size`, or `trace` and what needs it (`log-json`)"},
        {!newton && options->normalize == RB_RFN_NORMALIZE_SD,
         "`normalize=sd` requires `estep=newton`; use that, or `normalize=rms` or none"},
        {0},
    };
    rb_error err = rb_check_conflicts(ctx, conflicts);
    if (!err && !newton && name) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "with %s the objective may fall, which only the E-step newton allows; leave "
                      "it out or use `estep=newton`",
                      name);
    }
    return err;
}

/* The name of an option whose M-step may lower the objective; or NULL. */
static const char *without_ascent(const rb_rfn_options *options) {
    return options->noise != RB_RFN_PSI_DIAGONAL ? "`noise=full`"
           : options->sparse_loadings > 0        ? "`sparse-loadings`"
           : options->weight_decay > 0           ? "`weight-decay`"
           : options->weight_decay_laplace > 0   ? "`weight-decay-laplace`"
                                                 : NULL;
}

static rb_error check_acceleration(rb_context *ctx, const rb_problem *problem,
                                   const rb_rfn_options *options) {
    const char *name = without_ascent(options);
    const rb_conflict conflicts[] = {
        {rfn_in_batches(problem),
         "a fit in batches cannot be accelerated; leave out `accelerate` or `batch-size`"},
        {options->estep == RB_RFN_ESTEP_NEWTON,
         "a fit with the E-step newton cannot be accelerated, since it may lower the objective; "
         "use `estep=cyclic` or `estep=gradient`"},
        {0},
    };
    rb_error err = rb_check_conflicts(ctx, conflicts);
    if (err) return err;
    return name ? rb_fail(ctx, RB_ERROR_ARGUMENT,
                          "a fit with %s cannot be accelerated; leave out `accelerate`, or use %s",
                          name,
                          options->noise != RB_RFN_PSI_DIAGONAL ? "`noise=diagonal`" : "0 for it")
                : RB_OK;
}

static rb_error check_adaptation(rb_context *ctx, int64_t iterations,
                                 const rb_rfn_options *options) {
    bool newton = options->estep == RB_RFN_ESTEP_NEWTON, adapts = rfn_adapts(options);
    int64_t first = options->newton_iterations;
    const rb_conflict conflicts[] = {
        {newton && first > 0,
         "but with the E-step newton all of them are; choose another `estep`, such as cyclic",
         "newton-iterations", (double)first},
        {options->target_sparseness > 0 && !adapts,
         "but the prior mean is never adapted; give `steer-iterations`, or use the preset sparse",
         "target-sparseness", options->target_sparseness},
        {adapts && newton, "`steer-iterations` requires an E-step that keeps codes; choose another "
                           "`estep` than newton, such as cyclic"},
        {adapts && (options->prior_mean.matrix || options->prior_mean.value > 0),
         "`steer-iterations` requires one `prior-mean` for all units, at most 0; give such a "
         "value, or leave out `steer-iterations`"},
        {0},
    };
    rb_error err = rb_check_conflicts(ctx, conflicts);
    if (!err && first >= iterations && first > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "no iteration is left for the other E-step: `newton-iterations` is %lld, and "
               "iterations %lld",
               (long long)first, (long long)iterations);
    }
    return err;
}

/* What is not done where values are missing. */
static rb_error check_missing(rb_context *ctx, const rb_problem *problem,
                              const rb_rfn_options *options) {
    const rb_conflict conflicts[] = {
        {rfn_in_batches(problem),
         "a fit in batches cannot have missing values; leave out `batch-size`, or fill them with "
         "`missing=mean` or `missing=median`"},
        {options->noise == RB_RFN_PSI_FULL,
         "full noise cannot have missing values; use `noise=diagonal`, or fill them with "
         "`missing=mean` or `missing=median`"},
        {options->dropout > 0 || options->input_noise != RB_RFN_NOISE_NONE,
         "`dropout` and `input-noise` cannot have missing values; leave these options out, or fill "
         "the values with `missing=mean` or `missing=median`"},
        {!rfn_activation_projects(options),
         "with missing values the activation must be rectify with `activation-threshold` 0; use "
         "that, or fill the values with `missing=mean` or `missing=median`"},
        {options->gradient_search != RB_RFN_LENGTH_FIXED,
         "with missing values there is no line search; leave out `gradient-search`, or fill the "
         "values with `missing=mean` or `missing=median`"},
        {rfn_tries_candidates(options),
         "with missing values `estep` must be cyclic, gradient or newton; choose one, or fill the "
         "values with `missing=mean` or `missing=median`"},
        {0},
    };
    return problem->missing ? rb_check_conflicts(ctx, conflicts) : RB_OK;
}

/* What adds over samples in an order of its own. */
rb_error rfn_spreads(rb_context *ctx, const rb_problem *problem, const void *options) {
    const rb_rfn_options *rfn = options;
    const rb_conflict conflicts[] = {
        {rfn_tries_candidates(rfn) || rfn->gradient_search != RB_RFN_LENGTH_FIXED,
         "several processes cannot try candidates; use `estep=cyclic`, `estep=newton` or "
         "`estep=gradient` without `gradient-search`, or fit in one process"},
        {0},
    };
    return rb_check_conflicts(ctx, conflicts);
}

rb_error rfn_check(rb_context *ctx, const rb_problem *problem, const rb_rfn_options *options) {
    bool accelerates = problem->fit->accelerate != RB_ACCELERATE_NONE;
    rb_error err = accelerates ? check_acceleration(ctx, problem, options) : RB_OK;
    err = err ? err : rfn_device_check(ctx, problem, options);
    err = err ? err : check_noise(ctx, problem, options);
    err = err ? err : check_missing(ctx, problem, options);
    err = err ? err : check_estep(ctx, problem, options);
    return err ? err : check_adaptation(ctx, problem->fit->iterations, options);
}
