/* Non-negative matrix factorisation with binary causes: fields that are not negative add up. */
#include "fit.h"

#include <math.h>

static rb_error mstep(rb_context *ctx, et_state *st) {
    return st->options.mstep == RB_ET_MSTEP_SOLVE ? et_mstep_solve(ctx, st)
                                                  : et_mstep_multiplicative(ctx, st);
}

const et_model et_nmf = {
    .name = "nmf-et",
    .non_negative = true,
    .least = 0,
    .most = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1,
    .keep = ET_KEEP_PAIRS,
    .superpose = et_superpose_sum,
    .energies = et_linear_energies,
    .add = et_linear_add,
    .mstep = mstep,
};

/* Poisson noise: W <- W * sum y <s / Wbar> / sum <s>, an EM step of its own. */
static void share(void *user, int64_t n, const double *y, const double *wbar, const double *field,
                  double q, rb_et_shares sums) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        sums.up[d] += q * y[d] * field[d] / fmax(wbar[d], et_least_rate);
        sums.down[d] += q;
    }
}

static const rb_et_model poisson = {
    .name = "nmf-et",
    .log_likelihood = et_poisson_log_likelihood,
    .constant = et_poisson_constant,
    .share = share,
    .refuse = et_poisson_refuse,
};

const et_model et_nmf_poisson = {
    .name = "nmf-et",
    .general = &poisson,
    .non_negative = true,
    .least = 0,
    .most = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1,
    .keep = ET_KEEP_STATES,
    .superpose = et_superpose_sum,
    .energies = et_general_energies,
    .add = et_general_add,
    .mstep = et_mstep_shares,
};
