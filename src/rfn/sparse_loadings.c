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
 * once, but grows by RISE of itself in an iteration, as long as no more than MAX_EXTREME of the
 * samples are without an active unit; where they are, it halves, and grows no more. And where many
 * samples make standard errors small, too little is shrunk: as long as more than MAX_EXTREME of
 * the samples, and not fewer than FEWEST_SAMPLES, have nearly all units that explain something, the
 * threshold grows. Units to spare, of half of the samples each, meet by chance: they explain less
 * than LITTLE of what the first direction of noise does, whose variance is (1 + sqrt(m / n))^2
 * times that of the noise (V. Marchenko and L. Pastur 1967).
 */
#include "fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FREE_ITERATIONS = 50, SETTLED_ITERATIONS = 100, FEWEST_UNITS = 5, FEWEST_SAMPLES = 10 };
static const double RISE = 0.05, MAX_EXTREME = 0.01, NEARLY_ALL = 0.9;
static const double FACTOR_RISE = 1.02, LARGEST_FACTOR = 4, LITTLE = 0.25;

/* With so many M-steps done, is a fit that shrinks loadings before the end of that iteration? A
 * model to start from is as if it were beyond. */
static bool is_before(const rfn_setup *setup, int64_t msteps, int64_t iteration) {
    return setup->options.sparse_loadings > 0 && !setup->warm &&
           msteps < iteration * rfn_msteps_an_iteration(setup);
}

bool rfn_shrinks(const rfn_fit *fit) {
    return fit->setup.options.sparse_loadings > 0 &&
           !is_before(&fit->setup, fit->progress.iteration - 1, FREE_ITERATIONS);
}

rb_error rfn_store_shrinking(rb_context *ctx, const rfn_setup *setup, rb_model *model) {
    char text[32];
    if (!is_before(setup, 0, FREE_ITERATIONS) || model->iterations <= FREE_ITERATIONS) return RB_OK;
    snprintf(text, sizeof text, "%d", FREE_ITERATIONS + 1);
    return rb_model_set_attribute(ctx, model, "shrinks_from", text);
}

bool rfn_still_begins(const rfn_fit *fit) {
    return is_before(&fit->setup, fit->progress.iteration, SETTLED_ITERATIONS);
}

void rfn_report_shrinking(rb_context *ctx, const rfn_fit *fit, int64_t iterations) {
    if (!rfn_still_begins(fit)) return;
    rb_log(ctx, RB_LOG_INFO, "the fit ended after iteration %lld, %s; a longer fit is sparser",
           (long long)iterations,
           iterations <= FREE_ITERATIONS
               ? "before loadings are shrunk, from iteration 51 on"
               : "while loadings began to be shrunk, iterations 51 to 100");
}

/* Codes have mean square 1, so that the variance along a unit's loadings is 1 + w' Psi^-1 w times
 * that of the noise. */
static void take_signals(const rfn_parameters *parameters, double *signals) {
    rb_dense w = parameters->loadings;
    memset(signals, 0, (size_t)w.cols * sizeof *signals);
    for (int64_t k = 0; k < w.rows; k++)
        for (int64_t j = 0; j < w.cols; j++)
            signals[j] += pow(rb_dense_get(w, k, j), 2) / parameters->noise[k];
}

/* Marks of the units: 0 for those with one sample, which say only which sample that is; 2 for those
 * of the others that explain something, of which *units gets the number. */
static void mark_units(rb_context *ctx, const rfn_fit *fit, int64_t *units) {
    rb_dense codes = fit->codes.values;
    const int64_t *positive = fit->scratch.positive;
    const double *signals = fit->scratch.signals;
    const rb_problem *problem = &fit->setup.problem;
    double ratio = sqrt((double)problem->n_features / (double)problem->n_samples);
    double noise = LITTLE * (2 * ratio + ratio * ratio);
    if (fit->device)
        rfn_device_count_positive(fit->device, fit->scratch.positive);
    else
        rfn_count_positive(ctx, codes, fit->scratch.positive);
    take_signals(&fit->parameters, fit->scratch.signals);
    *units = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        bool explains = positive[j] > 1 && signals[j] > noise;
        fit->scratch.marks[j] = explains ? 2 : positive[j] > 1;
        *units += explains;
    }
}

enum { AT_ONCE = 1024 };

/* Adds to each sample whether the unit of that row is active. */
static void add_active(rb_type type, const void *row, int64_t count, int32_t *active) {
    const float *narrow = row;
    const double *wide = row;
    for (int64_t i = 0; type == RB_FLOAT32 && i < count; i++)
        active[i] += narrow[i] > 0;
    for (int64_t i = 0; type == RB_FLOAT64 && i < count; i++)
        active[i] += wide[i] > 0;
}

/* Samples without an active unit that is marked, and with at least `least` of those marked 2. */
static void count_samples(const rfn_fit *fit, int64_t least, int64_t *n_empty, int64_t *n_full) {
    rb_dense codes = fit->codes.values;
    *n_empty = *n_full = 0;
    for (int64_t first = 0; first < codes.cols; first += AT_ONCE) {
        int32_t active[2][AT_ONCE] = {{0}}; /* of units marked 1, and 2 */
        rb_dense some =
            rb_dense_part(codes, 0, codes.rows, first, rb_smaller(codes.cols - first, AT_ONCE));
        for (int64_t j = 0; j < some.rows; j++) {
            uint8_t mark = fit->scratch.marks[j];
            if (mark) add_active(some.type, rb_dense_row(some, j), some.cols, active[mark - 1]);
        }
        for (int64_t i = 0; i < some.cols; i++) {
            *n_empty += active[0][i] + active[1][i] == 0;
            *n_full += active[1][i] >= least;
        }
    }
}

/* Shares of the samples: without an active unit, and with nearly all of those that explain any. */
static void measure(rb_context *ctx, const rfn_fit *fit, double *empty, double *full) {
    double n = (double)fit->setup.problem.n_samples;
    int64_t units, counts[2] = {0}, *n_empty = &counts[0], *n_full = &counts[1];
    mark_units(ctx, fit, &units);
    int64_t least = units < FEWEST_UNITS ? INT64_MAX : (int64_t)ceil(NEARLY_ALL * (double)units);
    if (fit->device)
        rfn_device_occupied(fit->device, fit->scratch.marks, least, n_empty, n_full);
    else
        count_samples(fit, least, n_empty, n_full);
    rb_comm_count(ctx, 2, counts);
    *empty = (double)*n_empty / n;
    *full = *n_full >= FEWEST_SAMPLES ? (double)*n_full / n : 0;
}

void rfn_hold_prior_back(rb_context *ctx, rfn_fit *fit) {
    const rb_rfn_options *options = &fit->setup.options;
    rfn_progress *progress = &fit->progress;
    /* A model to start from has its prior; one that is adapted has rules of its own. */
    if (!(options->sparse_loadings > 0) || fit->setup.warm || rfn_adapts(options)) return;
    if (!is_before(&fit->setup, progress->iteration, FREE_ITERATIONS) && !progress->last) {
        double empty = 0, full = 0;
        if (fit->codes.filled) /* only E-steps that keep codes know */
            measure(ctx, fit, &empty, &full);
        bool back = empty > MAX_EXTREME;
        progress->prior_stays = progress->prior_stays || back;
        progress->prior_share = back                    ? progress->prior_share / 2
                                : progress->prior_stays ? progress->prior_share
                                                        : fmin(1, progress->prior_share + RISE);
        if (!rfn_still_begins(fit) && full > MAX_EXTREME)
            progress->shrink_factor = fmin(LARGEST_FACTOR, FACTOR_RISE * progress->shrink_factor);
    }
    rfn_prior_take_mean(&fit->parameters.prior, options->units, &options->prior_mean,
                        progress->prior_share);
}

/* Where a feature has a share f of its values the standard error is sqrt(psi_k / (f n)), and the
 * M-step, for which what is missing agrees with the old loading, goes the share f of the way. */
static double share_there(const rfn_fit *fit, int64_t k) {
    return fit->survey.observed[k] / (double)fit->setup.problem.n_samples;
}

double rfn_shrink_threshold(const rfn_fit *fit, int64_t k) {
    double error = sqrt(fit->parameters.noise[k] / (double)fit->setup.problem.n_samples);
    if (fit->setup.problem.missing) error *= sqrt(share_there(fit, k));
    return fit->scratch.rates.eta * fit->setup.options.sparse_loadings *
           fit->progress.shrink_factor * error;
}
