/* Sparseness by the prior mean (Clevert et al. 2015, S10): xi = -rho for every unit, and rho is
 * adapted until the codes are as sparse as they are to be.
 *
 *     rho <- rho exp(GAIN (SP* - SP - DAMPING dSP)),  rho from 0.5
 *
 * after each iteration with an E-step that keeps codes, SP the share of zeros among them and dSP
 * its change by the iteration: codes follow the prior slowly, and without the last term rho would
 * go far above where it ends. SP* is what was asked for, or MARGIN above the sparseness of the
 * projected posterior means that these E-steps begin with, for newton would still have gone on to
 * sparser ones. Iterations that follow leave rho alone, so that the objective can settle.
 *
 * Two things are not given up for zeros. A unit that is left with one sample at most would only say
 * which sample that is: while there are more of them than in the beginning rho steps back. And
 * codes are to be the best for their parameters, or those of the samples one by one would be other
 * ones: where P + diag tau is no longer positive definite (estep/gradient.c), rho steps back, and
 * grows slowly from there.
 */
#include "fit.h"

#include <math.h>

static const double MAX_SPARSE = 0.9999; /* as target_sparseness */
static const double GAIN = 0.5, DAMPING = 10, FIRST_RHO = 0.5, MARGIN = 0.01;

/* The certificate costs about half an iteration: it is looked at every few, and is to be above
 * this, since the codes go on to change. */
enum { LOOK_EVERY = 5 };
static const double MIN_CERTIFICATE = 0.02, BACK = 0.95, FORTH = 1.02;
static const double MIN_RHO = 1e-3; /* below it the prior hardly matters */

struct counting {
    rb_dense codes;
    int64_t *positive;
};

static void count_unit(void *arg, int64_t j, int worker) {
    const struct counting *c = arg;
    const void *row = rb_dense_row(c->codes, j);
    int64_t positive = 0;
    for (int64_t i = 0; i < c->codes.cols; i++)
        positive += rb_get(c->codes.type, row, i) > 0;
    c->positive[j] = positive;
}

void rfn_count_positive(rb_context *ctx, rb_dense codes, int64_t *positive) {
    rb_parallel(ctx, codes.rows, count_unit, &(struct counting){codes, positive});
    rb_comm_count(ctx, codes.rows, positive);
}

/* Sparseness of the codes at hand; *singletons: units with one sample at most. */
static double measure(rb_context *ctx, const rfn_fit *fit, int64_t *singletons) {
    int64_t all = 0, l = fit->codes.values.rows, *positive = fit->scratch.positive;
    rfn_count_positive(ctx, fit->codes.values, positive);
    *singletons = 0;
    for (int64_t j = 0; j < l; j++) {
        all += positive[j];
        *singletons += positive[j] <= 1;
    }
    return 1 - (double)all / ((double)l * (double)fit->setup.problem.n_samples);
}

/* Iterations with an E-step that keeps codes, so far. */
static int64_t iterations_of(const rfn_setup *setup, const rfn_progress *progress) {
    return progress->iteration - setup->options.newton_iterations;
}

static bool is_adapted(const rfn_setup *setup, const rfn_progress *progress) {
    int64_t done = iterations_of(setup, progress);
    return done > 0 && done <= setup->options.steer_iterations && !progress->last;
}

void rfn_adapt_prior(rb_context *ctx, rfn_fit *fit) {
    const rb_rfn_options *options = &fit->setup.options;
    rfn_adaptation *a = &fit->progress.adaptation;
    rfn_prior *prior = &fit->parameters.prior;
    int64_t singletons;
    if (!is_adapted(&fit->setup, &fit->progress)) return;
    double sparseness = measure(ctx, fit, &singletons);
    if (iterations_of(&fit->setup, &fit->progress) == 1) {
        double asked = options->target_sparseness;
        double mean = fit->setup.warm ? prior->mean[0] : options->prior_mean.value;
        a->target = fmin(asked > 0 ? asked : sparseness + MARGIN, MAX_SPARSE);
        a->singletons = singletons;
        a->rho = mean < 0 ? -mean : FIRST_RHO;
        a->ceiling = INFINITY;
    } else {
        double rise = sparseness - a->before;
        double change = GAIN * (a->target - sparseness - DAMPING * rise);
        double rho = singletons > a->singletons ? fmin(a->rho, fmax(BACK * a->rho, FIRST_RHO))
                                                : a->rho * exp(change);
        a->rho = fmin(rho, a->ceiling);
    }
    a->before = sparseness;
    rfn_prior_take_mean(prior, options->units, &(rb_values){.value = -a->rho}, 1);
}

bool rfn_looks_at_certificate(const rfn_setup *setup, const rfn_progress *progress) {
    return is_adapted(setup, progress) && setup->options.normalize == RB_RFN_NORMALIZE_RMS &&
           iterations_of(setup, progress) % LOOK_EVERY == 0;
}

void rfn_bound_adaptation(double certificate, rfn_adaptation *a) {
    a->ceiling = certificate < MIN_CERTIFICATE ? BACK * a->rho : FORTH * a->ceiling;
}

bool rfn_may_stop(const void *state) {
    const rfn_fit *fit = state;
    return iterations_of(&fit->setup, &fit->progress) > fit->setup.options.steer_iterations &&
           !rfn_still_begins(fit);
}

void rfn_report_adaptation(rb_context *ctx, const rfn_fit *fit) {
    const rfn_adaptation *a = &fit->progress.adaptation;
    int64_t singletons;
    if (!rfn_adapts(&fit->setup.options) || !(a->target > 0)) return;
    double sparseness = measure(ctx, fit, &singletons);
    const char *advice = "raise `steer-iterations`";
    if (sparseness > a->target && a->rho < MIN_RHO)
        advice = "a lower share needs a `prior-mean` above 0";
    else if (singletons > a->singletons)
        advice = "sparser codes would leave units with a single sample; take fewer units";
    else if (sparseness < a->target && isfinite(a->ceiling))
        advice =
            "sparser codes would not be optimal for their parameters; those of newton are sparser";
    if (fabs(sparseness - a->target) > MARGIN) {
        rb_log(ctx, RB_LOG_WARNING,
               "a share of %.3f of the codes is 0 instead of the %.3f asked for, with a prior mean "
               "of %.3g: %s",
               sparseness, a->target, fit->parameters.prior.mean[0], advice);
    }
}
