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
 * once, but grows by RISE of itself in an iteration, as long as no more than MOST_EXTREME of the
 * samples are without an active unit; where they are, it halves, and grows no more. And where many
 * samples make standard errors small, too little is shrunk: as long as more than MOST_EXTREME of
 * the samples have nearly all units, the threshold grows.
 */
#include "state.h"

#include <math.h>

enum { FREE_ITERATIONS = 50, SETTLED_ITERATIONS = 100, FEWEST_UNITS = 5 };
static const double RISE = 0.05, MOST_EXTREME = 0.01, NEARLY_ALL = 0.9;
static const double FACTOR_RISE = 1.02, LARGEST_FACTOR = 4;

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

/* Shares of the samples: without an active unit, and with nearly all of those that explain any. */
typedef struct extremes {
    double empty, full;
} extremes;

static extremes measure(const rfn_state *st) {
    rb_dense codes = st->held.search.codes;
    bool *counts = st->held.explains;
    int64_t units = 0, empty = 0, full = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        counts[j] = explains(codes, j);
        units += counts[j];
    }
    for (int64_t i = 0; i < codes.cols; i++) {
        int64_t active = 0;
        for (int64_t j = 0; j < codes.rows; j++) {
            active += counts[j] && rfn_get(codes.type, rb_dense_row(codes, j), i) > 0;
        }
        empty += active == 0;
        full += units >= FEWEST_UNITS && (double)active >= NEARLY_ALL * (double)units;
    }
    double n = (double)codes.cols;
    return (extremes){(double)empty / n, (double)full / n};
}

void rfn_hold_prior_back(rfn_state *st) {
    rfn_prior *prior = &st->parameters.prior;
    if (!holds_prior_back(st)) {
        return;
    }
    if (!rfn_is_free(st) && !st->held.last) {
        /* Only E-steps that hold codes know. */
        extremes now = st->held.filled ? measure(st) : (extremes){0, 0};
        bool back = now.empty > MOST_EXTREME;
        st->prior_stays = st->prior_stays || back;
        st->prior_share = back              ? st->prior_share / 2
                          : st->prior_stays ? st->prior_share
                                            : fmin(1, st->prior_share + RISE);
        bool settled = st->iteration >= SETTLED_ITERATIONS * rfn_msteps_an_iteration(st);
        if (settled && now.full > MOST_EXTREME) {
            st->shrink_factor = fmin(LARGEST_FACTOR, FACTOR_RISE * st->shrink_factor);
        }
    }
    rfn_prior_take_mean(prior, st->options.units, &st->options.prior_mean);
    rfn_prior_scale_mean(prior, st->options.units, st->prior_share);
}

void rfn_shrink_row(const rfn_state *st, int64_t k) {
    rb_dense w = st->parameters.loadings;
    double error = sqrt(st->parameters.noise[k] / (double)st->problem.n_samples);
    double threshold = st->eta * st->options.sparse_loadings * st->shrink_factor * error;
    rfn_soft_threshold(w, k, threshold);
}
