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
 *
 * In noise that hides every unit all of them would die. The prior mean is therefore not there at
 * once, but grows by RISE of itself in an iteration, as long as no more than MOST_EMPTY of the
 * samples are without an active unit; where they are, it halves, and grows no more.
 */
#include "state.h"

#include <math.h>

enum { FREE_ITERATIONS = 50 };
static const double RISE = 0.05, MOST_EMPTY = 0.01;

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

/* A model to start from has its prior; a steered one has rules of its own. */
static bool holds_prior_back(const rfn_state *st) {
    return st->options.sparse_loadings > 0 && !st->warm && !rfn_steers(&st->options);
}

bool rfn_still_begins(const rfn_state *st) {
    int64_t growth = holds_prior_back(st) ? (int64_t)(1 / RISE) : 0;
    return is_free(st, st->iteration - growth * rfn_msteps_an_iteration(st));
}

/* Units with one sample say only which sample that is: they do not count. */
static bool explains(rb_dense codes, int64_t j) {
    const void *row = rb_dense_row(codes, j);
    int64_t positive = 0;
    for (int64_t i = 0; i < codes.cols && positive < 2; i++) {
        positive += rfn_get(codes.type, row, i) > 0;
    }
    return positive > 1;
}

/* Are there too many samples without an active unit? Only E-steps that hold codes know. */
static bool too_many_empty(const rfn_state *st) {
    rb_dense codes = st->held.search.codes;
    int64_t empty = 0;
    if (!st->held.filled) {
        return false;
    }
    bool *counts = st->held.explains;
    for (int64_t j = 0; j < codes.rows; j++) {
        counts[j] = explains(codes, j);
    }
    for (int64_t i = 0; i < codes.cols; i++) {
        bool active = false;
        for (int64_t j = 0; j < codes.rows && !active; j++) {
            active = counts[j] && rfn_get(codes.type, rb_dense_row(codes, j), i) > 0;
        }
        empty += !active;
    }
    return (double)empty > MOST_EMPTY * (double)codes.cols;
}

void rfn_hold_prior_back(rfn_state *st) {
    rfn_prior *prior = &st->parameters.prior;
    if (!holds_prior_back(st)) {
        return;
    }
    if (!rfn_is_free(st) && !st->held.last) {
        bool back = too_many_empty(st);
        st->prior_stays = st->prior_stays || back;
        st->prior_share = back              ? st->prior_share / 2
                          : st->prior_stays ? st->prior_share
                                            : fmin(1, st->prior_share + RISE);
    }
    rfn_prior_take_mean(prior, st->options.units, &st->options.prior_mean);
    rfn_prior_scale_mean(prior, st->options.units, st->prior_share);
}

void rfn_shrink_row(const rfn_state *st, int64_t k) {
    rb_dense w = st->parameters.loadings;
    double error = sqrt(st->parameters.noise[k] / (double)st->problem.n_samples);
    double threshold = st->eta * st->options.sparse_loadings * error;
    rfn_soft_threshold(w, k, threshold);
}
