/* Learning rates that fall in the course of a fit.
 *
 *     step      eta factor^floor(t / every)
 *     inverse   eta / (1 + t / every)
 *
 * with t the iterations before the M-step at hand; within an iteration of batches inverse goes on
 * from batch to batch. The same factor holds for the noise variance.
 */
#include "state.h"

#include <math.h>

int64_t rfn_msteps_an_iteration(const rfn_state *st) {
    int64_t n = st->problem.n_samples, batch = rfn_batch_samples(&st->problem);
    return batch > 0 ? (n + batch - 1) / batch : 1;
}

static double factor(const rfn_state *st) {
    const rb_rfn_options *options = &st->options;
    int64_t before = st->iteration - 1, msteps = rfn_msteps_an_iteration(st);
    int64_t falls = before / msteps / options->eta_every;
    switch ((rb_rfn_schedule)options->eta_schedule) {
    case RB_RFN_SCHEDULE_CONSTANT:
        return 1;
    case RB_RFN_SCHEDULE_STEP:
        return pow(options->eta_factor, (double)falls);
    case RB_RFN_SCHEDULE_INVERSE:
        return 1 / (1 + (double)before / (double)msteps / (double)options->eta_every);
    }
    return 1;
}

/* In batches the noise variance follows in every fourth M-step, the last one of an iteration among
 * them: its error needs a product that would take a tenth of the time. It then goes as far as it
 * would have gone in the M-steps that it waited for, were their targets the same. */
static bool noise_is_due(const rfn_state *st) {
    enum { NOISE_EVERY = 4 };
    int64_t msteps = rfn_msteps_an_iteration(st), left = msteps - 1 - (st->iteration - 1) % msteps;
    return left % NOISE_EVERY == 0 || st->options.mstep != RB_RFN_MSTEP_NEWTON;
}

void rfn_set_rates(rfn_state *st) {
    st->eta = st->options.eta * factor(st);
    double rate = st->options.eta_psi * factor(st);
    bool waited = st->noise_waits;
    st->noise_rest = (waited ? st->noise_rest : 1) * (1 - rate);
    st->eta_psi = waited ? 1 - st->noise_rest : rate;
    st->noise_waits = !noise_is_due(st);
}
