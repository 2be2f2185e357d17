/* Non-negative matrix factorisation with binary causes: fields that are not negative add up. */
#include "fit.h"

static rb_error mstep(rb_context *ctx, et_state *st) {
    return st->options.mstep == RB_ET_MSTEP_SOLVE ? et_mstep_solve(ctx, st)
                                                  : et_mstep_multiplicative(ctx, st);
}

const et_model et_nmf = {
    .name = "nmf-et",
    .non_negative = true,
    .floor = 0,
    .anneal_prior = true,
    .end_temperature = 1,
    .energies = et_linear_energies,
    .add = et_linear_add,
    .mstep = mstep,
    .decode = et_linear_decode,
};
