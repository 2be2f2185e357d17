/* Options that cannot be had together. */
#include "fit.h"

/* The name of an option that leaves the projection, so that no guarantee outlives it; or NULL. */
static const char *without_guarantee(const rb_rfn_options *options) {
    rfn_activation activation = rfn_activation_of(options);
    if (!rfn_activation_projects(&activation)) {
        return options->activation == RB_RFN_ACTIVATION_RECTIFY ? "activation-threshold"
                                                                : "activation";
    }
    if (options->dropout > 0) {
        return "dropout";
    }
    if (options->input_noise != RB_RFN_NOISE_NONE) {
        return "input-noise";
    }
    return options->momentum > 0 ? "momentum" : NULL;
}

void rfn_resolve(rb_problem *problem, void *options) {
    rb_rfn_options *rfn = options;
    bool newton_only =
        rfn_in_batches(problem) || rfn->normalize == RB_RFN_NORMALIZE_SD || without_guarantee(rfn);
    problem->decay = rfn->moment_decay;
    if (rfn->estep == RB_RFN_ESTEP_AUTO) {
        rfn->estep = newton_only ? RB_RFN_ESTEP_NEWTON : RB_RFN_ESTEP_CYCLIC;
    }
}

static rb_error check_noise(rb_context *ctx, const rb_problem *problem,
                            const rb_rfn_options *options) {
    bool kind = options->input_noise != RB_RFN_NOISE_NONE, level = options->input_noise_level > 0;
    if (kind && !level) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "input-noise needs input-noise-level: the share of values that are replaced, "
            "or the standard deviation of gaussian noise");
    }
    if (level && !kind) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "input-noise-level needs input-noise: masking, salt-and-pepper or gaussian");
    }
    if (kind && options->input_noise != RB_RFN_NOISE_GAUSSIAN &&
        options->input_noise_level > 0.999) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "input-noise-level is %g, but no more than 0.999 of the values can be "
                       "replaced",
                       options->input_noise_level);
    }
    if (problem->sparse && kind && options->input_noise != RB_RFN_NOISE_MASKING) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "this input-noise would fill the zeros of sparse data; take masking, which "
                       "hides stored values");
    }
    return RB_OK;
}

static rb_error check_full_noise(rb_context *ctx, const rb_rfn_options *options) {
    if (options->noise == RB_RFN_PSI_FULL && options->mstep == RB_RFN_MSTEP_GRADIENT) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the gradient form of the M-step is for diagonal noise: take mstep newton");
    }
    if (options->noise == RB_RFN_PSI_DIAGONAL && options->noise_decay > 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "noise-decay is %g, but diagonal noise has no covariances: take noise full",
                       options->noise_decay);
    }
    return RB_OK;
}

static rb_error check_batches(rb_context *ctx, const rb_problem *problem,
                              const rb_rfn_options *options) {
    if (!rfn_in_batches(problem)) {
        return RB_OK;
    }
    if (options->estep != RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a fit in batches cannot keep the codes of all samples, so that only the "
                       "E-step newton can have it: leave out batch-size or take estep=newton");
    }
    if (options->noise == RB_RFN_PSI_FULL) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "noise full is learned from all samples at once: leave out batch-size or "
                       "take noise diagonal");
    }
    if (problem->fit->trace) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the E-step objective is one of all samples and cannot be traced in "
                       "batches: leave out batch-size, or trace and what needs it (log-json)");
    }
    return RB_OK;
}

static rb_error check_acceleration(rb_context *ctx, const rb_problem *problem,
                                   const rb_rfn_options *options) {
    if (problem->fit->accelerate == RB_ACCELERATE_NONE) {
        return RB_OK;
    }
    if (options->estep == RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the E-step newton may lower the objective, so that a fit with it cannot be "
                       "accelerated: take estep cyclic or gradient");
    }
    const struct {
        bool given;
        const char *name;
    } others[] = {{options->noise != RB_RFN_PSI_DIAGONAL, "noise full"},
                  {options->sparse_loadings > 0, "sparse-loadings"},
                  {options->weight_decay > 0, "weight-decay"},
                  {options->weight_decay_laplace > 0, "weight-decay-laplace"},
                  {options->dropout > 0, "dropout"},
                  {options->input_noise != 0, "input-noise"},
                  {options->momentum > 0, "momentum"},
                  {options->activation != 0, "activation"},
                  {options->activation_threshold > 0, "activation-threshold"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "a fit with %s cannot be accelerated: leave out accelerate, or take %s 0 or "
                "none",
                others[i].name, others[i].name);
        }
    }
    return RB_OK;
}

static rb_error check_adaptation(rb_context *ctx, int64_t iterations,
                                 const rb_rfn_options *options) {
    if (options->estep == RB_RFN_ESTEP_NEWTON && options->newton_iterations > 0) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "newton-iterations is %lld, but with the E-step newton all are: take another "
            "estep to follow, such as cyclic",
            (long long)options->newton_iterations);
    }
    if (options->target_sparseness > 0 && !rfn_adapts(options)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "target-sparseness is %g, but the prior mean is never adapted: "
                       "give steer-iterations, or take the preset sparse",
                       options->target_sparseness);
    }
    if (rfn_adapts(options) && options->estep == RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the prior mean is adapted by E-steps that keep codes: with "
                       "steer-iterations take another estep than newton, such as cyclic");
    }
    if (rfn_adapts(options) && (options->prior_mean.matrix || options->prior_mean.value > 0)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the prior mean is adapted from one number for all units, not above 0: give "
                       "such a prior-mean, or leave out steer-iterations");
    }
    if (options->newton_iterations >= iterations && options->newton_iterations > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "no iteration is left for the other E-step: newton-iterations is %lld, and "
               "iterations %lld",
               (long long)options->newton_iterations, (long long)iterations);
    }
    return RB_OK;
}

/* What only the E-step newton can have. */
static rb_error check_guarantee(rb_context *ctx, const rb_rfn_options *options) {
    if (options->estep == RB_RFN_ESTEP_NEWTON) {
        return RB_OK;
    }
    if (options->normalize == RB_RFN_NORMALIZE_SD) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "normalize sd is no projection, so that only the E-step newton can have it: "
                       "take normalize rms or none");
    }
    const char *name = without_guarantee(options);
    if (name) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "with %s the objective may fall, so that only the E-step newton can have "
                       "it: leave it out or take estep=newton",
                       name);
    }
    return RB_OK;
}

rb_error rfn_check(rb_context *ctx, const rb_problem *problem, const rb_rfn_options *options) {
    rb_error err = check_noise(ctx, problem, options);
    err = err ? err : check_full_noise(ctx, options);
    err = err ? err : check_batches(ctx, problem, options);
    err = err ? err : check_guarantee(ctx, options);
    err = err ? err : check_acceleration(ctx, problem, options);
    return err ? err : check_adaptation(ctx, problem->fit->iterations, options);
}
