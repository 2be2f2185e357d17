/* The table of rectified factor networks: what the loop, the store and the tool know of them. */
#include "rfn.h"

#include "coder.h"
#include "evaluate.h"
#include "state.h"

#include <math.h>

static int64_t units(const void *options) {
    return ((const rb_rfn_options *)options)->units;
}

/* Even blocks of up to 32 MB of float32: large products, and little beside the parameters. */
static int64_t block_samples(const rb_problem *problem, const void *options) {
    enum { CELLS = 1 << 22, LEAST = 1024, MOST = 1 << 14 };
    int64_t widest = units(options);
    if (!problem->sparse && problem->n_features > widest) {
        widest = problem->n_features;
    }
    int64_t n = rfn_batch_samples(problem), most = CELLS / widest;
    most = most < LEAST ? LEAST : most > MOST ? MOST : most;
    return n > 0 ? rb_cut(n, (n + most - 1) / most).size : 0;
}

static int64_t memory(const rb_problem *problem, const void *options) {
    const rb_rfn_options *rfn = options;
    double m = (double)problem->n_features, l = (double)units(options);
    double smaller = l < m ? l : m;
    double values = 4 * m * l + 2 * l * l + 2 * smaller * smaller;
    if (rfn_batch_samples(problem) < problem->n_samples) {
        values += m * l + l * l;
    }
    if (rfn->momentum > 0) {
        values += m * l;
    }
    if (problem->fit->trace) {
        values += 2 * l * l;
    }
    if (rfn->noise == RB_RFN_PSI_FULL) {
        double wide = 8 / (double)rb_type_size(problem->type); /* it is in float64 */
        values += wide * (10 * m * m + 2 * m * l);
    }
    if (rfn->prior_covariance.matrix || rfn->prior_covariance.value != 1) {
        values += 2 * l * l + (l > m ? m * l : 0);
    }
    if (rfn->estep != RB_RFN_ESTEP_NEWTON) {
        double kept = (double)rfn_held_matrices((rb_rfn_estep)rfn->estep);
        values += l * l + ((double)problem->n_samples * (kept * l + 2 * RFN_UNITS_AT_ONCE));
    }
    values += m * l; /* as they were after the last iteration, with codes and moments of batches */
    if (rfn->estep != RB_RFN_ESTEP_NEWTON) {
        values += (double)problem->n_samples * l;
    }
    if (rfn_batch_samples(problem) < problem->n_samples) {
        values += m * l + l * l;
    }
    static const int points[] = {0, 3, 1}; /* by rb_accelerate */
    values += points[problem->fit->accelerate] * ((double)problem->n_samples + m) * l;
    double block = (double)problem->block_samples * (l + (problem->sparse ? 0 : m));
    if (rfn_has_newton(rfn) && rfn_is_factored(problem, rfn->units, false)) {
        block += (double)problem->block_samples * l;
    }
    if (rfn->input_noise != RB_RFN_NOISE_NONE && !problem->sparse) {
        block += (double)problem->block_samples * m;
    }
    /* Factorisations are in float64 whatever the type. */
    double bytes =
        (values + block) * (double)rb_type_size(problem->type) + 8 * (l * l + smaller * smaller);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static const char *const start_options[] = {"psi-init", "weight-init", "prior-mean",
                                            "prior-covariance", NULL};

static rb_error begin(rb_context *ctx, void *state) {
    rfn_state *st = state;
    bool holds = rfn_holds_codes(st);
    if (rfn_psi_is_full(&st->parameters.full)) { /* which may come from a checkpoint */
        rb_error err = rfn_psi_factor(ctx, &st->parameters.full);
        if (err) {
            return err;
        }
    }
    if (!st->held.adds_moments) {
        rfn_hold_prior_back(st);
        rfn_steer(ctx, st);
        st->posterior.factored = rfn_is_factored(&st->problem, st->options.units, holds);
    }
    return holds ? rfn_held_begin(ctx, st) : rfn_newton_begin(ctx, st);
}

static rb_error block(rb_context *ctx, void *state, const rb_block *samples) {
    return rfn_holds_codes(state) ? rfn_held_block(ctx, state, samples)
                                  : rfn_newton_block(ctx, state, samples);
}

static rb_error end(rb_context *ctx, void *state, bool *again) {
    *again = false;
    return rfn_holds_codes(state) ? rfn_held_end(ctx, state, again) : rfn_newton_end(ctx, state);
}

static void last(void *state) {
    ((rfn_state *)state)->held.last = true;
}

static const char *const figure_names[] = {"kkt_residual", "estep_stage", "prior_mean", NULL};

static void figures(const void *state, double *values) {
    const rfn_state *st = state;
    values[0] = st->held.filled && st->problem.fit->trace ? st->held.residual : NAN;
    values[1] = st->held.filled && rfn_tries_candidates(st) ? (double)st->held.stage : NAN;
    values[2] = rfn_steers(&st->options) ? st->parameters.prior.mean[0] : NAN;
}

const rb_method rb_method_rfn = {
    .size = sizeof(rb_method),
    .name = "rfn",
    .title = "rectified factor network",
    .options_size = sizeof(rb_rfn_options),
    .code_name = "X_rfn",
    .takes_batches = true,
    .sparser = "a larger sparse-loadings",
    .denser = "a smaller sparse-loadings or a prior-mean nearer to 0",
    .options = rfn_option_rows,
    .rules = rfn_option_rules,
    .start_options = start_options,
    .resolve = rfn_resolve,
    .units = units,
    .block_samples = block_samples,
    .memory = memory,
    .start = rfn_start,
    .finish = rfn_finish,
    .survey = rfn_survey,
    .begin = begin,
    .block = block,
    .end = end,
    .last = last,
    .may_stop = rfn_may_stop,
    .mstep = rfn_mstep,
    .objective = rfn_objective,
    .figure_names = figure_names,
    .figures = figures,
    .store = rfn_store,
    .keep = rfn_keep,
    .settle = rfn_settle,
    .steady = rfn_steady,
    .coder_new = rfn_coder_new,
    .coder_free = rfn_coder_free,
    .encode = rfn_encode,
    .decode = rfn_decode,
    .evaluate = rfn_evaluate,
};
