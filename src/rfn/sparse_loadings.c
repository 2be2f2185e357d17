/* Sparse loadings: Laplacian weight decay scaled by the standard error of a loading.
 *
 * Laplacian decay is a soft threshold (Clevert et al. 2015, Alg. S8). Codes have mean square 1, so
 * that sqrt(psi_k / n) is the standard error of a loading of feature k: with a threshold of eta c
 * of it a loading survives when it is worth more than c standard errors, whatever the scale of the
 * feature. The first iterations go without, or the fit would never leave its small start.
 */
#include "state.h"

#include <math.h>

enum { FREE_ITERATIONS = 50 };

bool rfn_shrinks(const rfn_state *st) {
    return st->options.sparse_loadings > 0 &&
           (st->warm || st->iteration > FREE_ITERATIONS * rfn_msteps_an_iteration(st));
}

void rfn_shrink_row(const rfn_state *st, int64_t k) {
    rb_dense w = st->parameters.loadings;
    double error = sqrt(st->parameters.noise[k] / (double)st->problem.n_samples);
    double threshold = st->eta * st->options.sparse_loadings * error;
    rfn_soft_threshold(w, k, threshold);
}
