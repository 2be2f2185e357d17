/* Options that cannot be had together. */
#include "state.h"

/* The name of an option that leaves the projection, so that no guarantee outlives it; or NULL. */
static const char *without_guarantee(const rb_rfn_options *options) {
    rfn_activation activation = {options->activation, options->activation_threshold, 0};
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

static bool has_batches(const rb_problem *problem) {
    return rfn_batch_samples(problem) < problem->n_samples;
}

void rfn_resolve(const rb_problem *problem, void *options) {
    rb_rfn_options *rfn = options;
    bool newton_only =
        has_batches(problem) || rfn->normalize == RB_RFN_NORMALIZE_SD || without_guarantee(rfn);
    if (rfn->estep == RB_RFN_ESTEP_AUTO) {
        rfn->estep = newton_only ? RB_RFN_ESTEP_NEWTON : RB_RFN_ESTEP_CYCLIC;
    }
}

static rb_error check_noise(rb_context *ctx, const rb_rfn_options *options) {
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
    if (!has_batches(problem)) {
        return RB_OK;
    }
    if (options->estep != RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a fit in batches cannot keep the codes of all samples, so that only the "
                       "E-step newton can have it: leave out batch-size or take --estep newton");
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

rb_error rfn_check(rb_context *ctx, const rb_problem *problem, const rb_rfn_options *options) {
    rb_error err = check_noise(ctx, options);
    err = err ? err : check_full_noise(ctx, options);
    if (!err) {
        err = check_batches(ctx, problem, options);
    }
    if (err) {
        return err;
    }
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
                       "it: leave it out or take --estep newton",
                       name);
    }
    return RB_OK;
}
