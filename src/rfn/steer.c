/* Sparseness by the prior mean (Clevert et al. 2015, S10): xi = -rho for every unit, and rho is
 * steered until the codes are as sparse as they are to be.
 *
 *     rho <- rho exp(GAIN (SP* - SP - DAMPING dSP)),  rho from 0.5
 *
 * after each iteration with an E-step that holds codes, SP the share of zeros among them and dSP
 * its change by the iteration: codes follow the prior slowly, and without the last term rho would
 * go far above where it ends. SP* is what was asked for, or MARGIN above the sparseness of the
 * projected posterior means that these E-steps begin with, for newton would still have gone on to
 * sparser ones. Iterations that follow leave rho alone, so that the objective can settle.
 *
 * Two things are not given up for zeros. A unit that is left with one sample at most would only say
 * which sample that is: while there are more of them than in the beginning rho steps back. And
 * codes are to be the best for their parameters, or those of the samples one by one would be other
 * ones: where P + diag tau is no longer positive definite (estep/optimality.c), rho steps back, and
 * grows slowly from there.
 */
#include "state.h"

#include <math.h>

static const double MOST_SPARSE = 0.9999; /* as target_sparseness */
static const double GAIN = 0.5, DAMPING = 10, FIRST_RHO = 0.5, MARGIN = 0.01;

/* The certificate costs about half an iteration: it is looked at every few, and is to be above
 * this, since the codes go on to change. */
enum { LOOK_EVERY = 5 };
static const double LEAST_CERTIFICATE = 0.02, BACK = 0.95, FORTH = 1.02;
static const double LEAST_RHO = 1e-3; /* below it the prior hardly matters */

bool rfn_steers(const rb_rfn_options *options) {
    return options->steer_iterations > 0;
}

rb_error rfn_check_steering(rb_context *ctx, int64_t iterations, const rb_rfn_options *options) {
    if (options->estep == RB_RFN_ESTEP_NEWTON && options->newton_iterations > 0) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "newton-iterations is %lld, but with the E-step newton all are: take another "
            "estep to follow, such as cyclic",
            (long long)options->newton_iterations);
    }
    if (options->target_sparseness > 0 && !rfn_steers(options)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "target-sparseness is %g, but the prior mean is never steered: "
                       "give steer-iterations, or take the preset sparse",
                       options->target_sparseness);
    }
    if (rfn_steers(options) && options->estep == RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the prior mean is steered by E-steps that hold codes: with "
                       "steer-iterations take another estep than newton, such as cyclic");
    }
    if (rfn_steers(options) && (options->prior_mean.matrix || options->prior_mean.value > 0)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the prior mean is steered from one number for all units, not above 0: give "
                       "such a prior-mean, or leave out steer-iterations");
    }
    if (options->newton_iterations >= iterations && options->newton_iterations > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "no iteration is left for the other E-step: newton-iterations is %lld, and "
               "iterations %lld",
               (long long)options->newton_iterations, (long long)iterations);
    }
    return RB_OK;
}

struct count {
    rb_dense codes;
    int64_t *positive; /* of each unit */
};

static void count_unit(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct count *c = arg;
    const void *row = rb_dense_row(c->codes, j);
    int64_t positive = 0;
    for (int64_t i = 0; i < c->codes.cols; i++) {
        positive += rfn_get(c->codes.type, row, i) > 0;
    }
    c->positive[j] = positive;
}

/* Sparseness of the codes at hand; *lonely: units with one sample at most. */
static double measure(rb_context *ctx, const rfn_state *st, int64_t *lonely) {
    struct count c = {st->held.search.codes, st->steering.positive};
    int64_t l = c.codes.rows, positive = 0;
    rb_parallel(ctx, l, count_unit, &c);
    *lonely = 0;
    for (int64_t j = 0; j < l; j++) {
        positive += c.positive[j];
        *lonely += c.positive[j] <= 1;
    }
    return 1 - (double)positive / ((double)l * (double)c.codes.cols);
}

/* Iterations with an E-step that holds codes, so far. */
static int64_t held_iterations(const rfn_state *st) {
    return st->iteration - st->options.newton_iterations;
}

void rfn_steer(rb_context *ctx, rfn_state *st) {
    rfn_steering *steering = &st->steering;
    int64_t lonely, l = st->options.units;
    if (!rfn_steers(&st->options) || held_iterations(st) < 1) {
        return;
    }
    steering->sparseness = measure(ctx, st, &lonely);
    if (held_iterations(st) > st->options.steer_iterations || st->held.last) {
        return;
    }
    if (held_iterations(st) == 1) {
        double asked = st->options.target_sparseness,
               mean = st->warm ? st->parameters.prior.mean[0] : st->options.prior_mean.value;
        steering->target = fmin(asked > 0 ? asked : steering->sparseness + MARGIN, MOST_SPARSE);
        steering->lonely = lonely;
        steering->rho = mean < 0 ? -mean : FIRST_RHO;
        steering->ceiling = INFINITY;
    } else {
        double rise = steering->sparseness - steering->before;
        double change = GAIN * (steering->target - steering->sparseness - DAMPING * rise);
        if (lonely > steering->lonely) {
            steering->rho = fmin(steering->rho, fmax(BACK * steering->rho, FIRST_RHO));
        } else {
            steering->rho *= exp(change);
        }
        steering->rho = fmin(steering->rho, steering->ceiling);
    }
    steering->before = steering->sparseness;
    rfn_prior_set_mean(&st->parameters.prior, l, -steering->rho);
}

bool rfn_looks_at_certificate(const rfn_state *st) {
    int64_t held = held_iterations(st);
    return rfn_steers(&st->options) && st->options.normalize == RB_RFN_NORMALIZE_RMS &&
           !st->held.last && held > 0 && held <= st->options.steer_iterations &&
           held % LOOK_EVERY == 0;
}

void rfn_bound_steering(rfn_state *st) {
    rfn_steering *steering = &st->steering;
    bool below = st->held.certificate < LEAST_CERTIFICATE;
    steering->ceiling = below ? BACK * steering->rho : FORTH * steering->ceiling;
}

bool rfn_may_stop(const void *state) {
    const rfn_state *st = state;
    return held_iterations(st) > st->options.steer_iterations && !rfn_still_begins(st);
}

rb_error rfn_steering_new(rb_context *ctx, rfn_state *st) {
    if (rfn_steers(&st->options)) {
        st->steering.positive =
            rb_alloc_zero(ctx, st->options.units, sizeof *st->steering.positive);
        return st->steering.positive ? RB_OK : RB_ERROR_MEMORY;
    }
    return RB_OK;
}

void rfn_report_steering(rb_context *ctx, const rfn_state *st) {
    int64_t lonely;
    if (!rfn_steers(&st->options) || !(st->steering.target > 0)) {
        return;
    }
    const rfn_steering *steering = &st->steering;
    double sparseness = measure(ctx, st, &lonely);
    const char *advice = "give more steer-iterations";
    if (sparseness > steering->target && steering->rho < LEAST_RHO) {
        advice = "fewer need a prior-mean above 0";
    } else if (lonely > steering->lonely) {
        advice = "sparser codes would leave units with a single sample; take fewer units";
    } else if (sparseness < steering->target && isfinite(steering->ceiling)) {
        advice = "sparser codes would not be the best for their parameters; newton's are sparser";
    }
    if (fabs(sparseness - steering->target) > MARGIN) {
        rb_log(ctx, RB_LOG_WARNING,
               "a share of %.3f of the codes is 0, not %.3f as wanted, with a prior mean of %.3g: "
               "%s",
               sparseness, steering->target, st->parameters.prior.mean[0], advice);
    }
}
