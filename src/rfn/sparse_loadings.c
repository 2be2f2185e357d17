/* Sparse loadings: Laplacian weight decay scaled by the standard error of a loading.
 *
 * Laplacian decay is a soft threshold (Clevert et al. 2015, Alg. S8). Codes have mean square 1, so
 * that sqrt(psi_k / n) is the standard error of a loading of feature k: with a threshold of eta c
 * of it a loading survives when it is worth more than c standard errors, whatever the scale of the
 * feature.
 *
 * The first iterations go without, or the fit would never leave its small start; and without the
 * prior mean, for while loadings are small the codes follow the prior, and below 0 none would be
 * active. Shrunk loadings and a prior mean below 0 then let units die that explain too little.
 */
#include "state.h"

#include <math.h>

enum { FREE_ITERATIONS = 50 };

/* With so many M-steps done, is the fit still to leave its start? */
static bool is_free(const rfn_state *st, int64_t msteps) {
    return st->options.sparse_loadings > 0 && !st->warm &&
           msteps < FREE_ITERATIONS * rfn_msteps_an_iteration(st);
}

bool rfn_shrinks(const rfn_state *st) {
    return st->options.sparse_loadings > 0 && !is_free(st, st->iteration - 1);
}

bool rfn_is_free(const rfn_state *st) {
    return is_free(st, st->iteration);
}

void rfn_hold_prior_back(rfn_state *st) {
    static const rb_values none = {0};
    if (st->options.sparse_loadings > 0 && !st->warm && !rfn_steers(&st->options)) {
        rfn_prior_take_mean(&st->parameters.prior, st->options.units,
                            rfn_is_free(st) ? &none : &st->options.prior_mean);
    }
}

void rfn_shrink_row(const rfn_state *st, int64_t k) {
    rb_dense w = st->parameters.loadings;
    double error = sqrt(st->parameters.noise[k] / (double)st->problem.n_samples);
    double threshold = st->eta * st->options.sparse_loadings * error;
    rfn_soft_threshold(w, k, threshold);
}
