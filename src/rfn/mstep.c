/* The M-step.
 *
 * newton (Clevert et al. 2015, Alg. 1, S8.2):  W <- W + eta (U S^-1 - W)
 *                                              Psi_kk <- Psi_kk + eta (E_kk - Psi_kk)
 * gradient (S8.1, eqs 94, 95, M-step of 101):  W <- W + eta Psi^-1 (U - W S)
 *                                              Psi_kk <- Psi_kk + eta (E_kk - Psi_kk) / Psi_kk^2
 * precision (eq. 121):     1/Psi_kk <- 1/Psi_kk + eta (1 - E_kk / Psi_kk) / Psi_kk
 * with E = C - U W' - W U' + W S W' from the old W, or the new one.
 *
 * With t the target of a row w for newton, S t = u, so that the forms of the new row w + eta (t -
 * w) need no second product:
 *
 *     u.w (new)  = (1 - eta) u.w + eta u.t
 *     w'Sw (new) = (1 - eta)^2 w'Sw + 2 eta (1 - eta) u.w + eta^2 u.t
 *
 * and w'Sw = 2 z.w takes half the work of the product W S. A full Psi is learned in full_noise.c.
 *
 * Rates fall by the schedule, with t the iterations before the M-step at hand; within an iteration
 * of batches inverse goes on from batch to batch. The noise variance has the same factor.
 *
 *     step      eta factor^floor(t / every)
 *     inverse   eta / (1 + t / every)
 *
 * Momentum: the step goes on in part in the next one. The noise variance has none.
 *
 *     D <- t - w + momentum D,   w <- w + eta D
 *
 * Weight decay, after the M-step (Alg. S8): Gaussian, w <- w - g w; Laplacian, w <- w - median(-g,
 * w, g), the soft threshold.
 */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- rates ---- */

int64_t rfn_msteps_an_iteration(const rfn_setup *setup) {
    int64_t n = setup->problem.n_samples, batch = rfn_batch_samples(&setup->problem);
    return batch > 0 ? (n + batch - 1) / batch : 1;
}

static double factor(const rfn_setup *setup, int64_t before) {
    const rb_rfn_options *options = &setup->options;
    int64_t msteps = rfn_msteps_an_iteration(setup), every = options->eta_every;
    if (options->eta_schedule == RB_RFN_SCHEDULE_STEP) {
        int64_t falls = before / msteps / every;
        return pow(options->eta_factor, (double)falls);
    }
    return options->eta_schedule == RB_RFN_SCHEDULE_INVERSE
               ? 1 / (1 + (double)before / (double)msteps / (double)every)
               : 1;
}

/* In batches the noise variance follows in every fourth M-step, the last one of an iteration among
 * them: its error needs a product that would take a tenth of the time. It then goes as far as it
 * would have gone in the M-steps that it waited for, were their targets the same. */
static bool noise_is_due(const rfn_setup *setup, int64_t before) {
    enum { NOISE_EVERY = 4 };
    int64_t msteps = rfn_msteps_an_iteration(setup), left = msteps - 1 - before % msteps;
    return left % NOISE_EVERY == 0 || setup->options.mstep != RB_RFN_MSTEP_NEWTON;
}

static void set_rates(const rfn_setup *setup, int64_t before, rfn_rates *rates) {
    double rate = setup->options.eta_psi * factor(setup, before);
    bool waited = rates->noise_waits;
    rates->eta = setup->options.eta * factor(setup, before);
    rates->noise_rest = (waited ? rates->noise_rest : 1) * (1 - rate);
    rates->eta_psi = waited ? 1 - rates->noise_rest : rate;
    rates->noise_waits = !noise_is_due(setup, before);
}

/* ---- rows ---- */

struct rows {
    rb_context *ctx;
    rfn_fit *fit;
    bool newton, shrinks;
    bool prepared; /* prepare_rows was done for all of them at once */
    struct bands bands;
};

/* psi_k + rate (E_kk - psi_k), or the inverse of what eq. 121 makes of 1/psi_k, within its bounds.
 * A precision that would fall to 0 or below ends at the upper one. */
static double new_noise(const rfn_fit *fit, int64_t k, double cross, double quadratic) {
    double noise = fit->parameters.noise[k];
    double error = rfn_second(fit)[k] - 2 * cross + quadratic;
    double step = fit->scratch.rates.eta_psi * (error - noise);
    if (fit->setup.options.mstep == RB_RFN_MSTEP_GRADIENT) step /= noise * noise;
    if (fit->setup.options.psi_step == RB_RFN_PSI_STEP_PRECISION) {
        double rest = 1 - step / noise;
        step = rest > 0 ? noise / rest - noise : INFINITY;
    }
    noise = fmax(noise + step, rfn_noise_floor(&fit->setup, &fit->survey, k));
    return fmin(noise, fit->survey.noise_max);
}

/* The target of a row for the gradient form: w + Psi^-1 (u - ws). */
static void gradient_target(rb_context *ctx, const rfn_fit *fit, int64_t k, void *target) {
    rb_dense w = fit->parameters.loadings;
    double weight = 1 / fit->parameters.noise[k];
    memcpy(target, rb_dense_row(w, k), (size_t)w.cols * rb_type_size(w.type));
    rb_axpy(ctx, w.type, w.cols, weight, rb_dense_row(fit->moments.u, k), target);
    rb_axpy(ctx, w.type, w.cols, -weight, rb_dense_row(fit->scratch.work, k), target);
}

/* The target gets what is left of the steps before. */
static void add_momentum(rb_context *ctx, double momentum, rb_dense row, void *velocity,
                         void *target) {
    rb_axpy(ctx, row.type, row.cols, momentum, velocity, target);
    rb_shift_scale(ctx, row.type, row.cols, target, row.data, NULL, velocity);
}

static void update_row(const struct rows *r, int64_t k) {
    rfn_fit *fit = r->fit;
    const rfn_rates *rates = &fit->scratch.rates;
    rb_dense w = fit->parameters.loadings;
    void *target = rb_dense_row(fit->posterior.filter, k);
    double eta = rates->eta, rest = 1 - eta, sums[3];
    if (!r->newton) gradient_target(r->ctx, fit, k, target);
    if (fit->progress.velocity.data) {
        add_momentum(r->ctx, fit->setup.options.momentum, rb_dense_rows(w, k, 1),
                     rb_dense_row(fit->progress.velocity, k), target);
    }
    rb_kernels_of(r->ctx)->of[w.type].move_row(w.cols, eta, rb_dense_row(fit->moments.u, k),
                                               rb_dense_row(fit->scratch.work, k), target,
                                               rb_dense_row(w, k), sums);
    double cross = sums[0], quadratic = r->newton ? 2 * sums[1] : sums[1];
    fit->scratch.cross[k] = rest * cross + eta * sums[2];
    fit->scratch.quadratic[k] =
        rest * rest * quadratic + 2 * eta * rest * cross + eta * eta * sums[2];
    if (!rates->noise_waits && fit->setup.options.psi_update == RB_RFN_PSI_OLD &&
        !rfn_psi_is_full(&fit->parameters.full))
        fit->parameters.noise[k] = new_noise(fit, k, cross, quadratic);
}

void rfn_clamp_row(rb_dense w, int64_t k, double bound) {
    void *row = rb_dense_row(w, k);
    for (int64_t j = 0; bound > 0 && j < w.cols; j++)
        rb_put(w.type, row, j, fmax(-bound, fmin(bound, rb_get(w.type, row, j))));
}

/* What follows the step, in a row. */
static void decay_row(const struct rows *r, int64_t k) {
    const rb_rfn_options *options = &r->fit->setup.options;
    rb_dense w = r->fit->parameters.loadings;
    void *row = rb_dense_row(w, k);
    void (*shrink)(int64_t, double, void *) = rb_kernels_of(r->ctx)->of[w.type].shrink;
    if (options->weight_decay > 0)
        rb_axpy(r->ctx, w.type, w.cols, -options->weight_decay, row, row);
    if (options->weight_decay_laplace > 0) shrink(w.cols, options->weight_decay_laplace, row);
    if (r->shrinks) shrink(w.cols, rfn_shrink_threshold(r->fit, k), row);
    rfn_clamp_row(w, k, r->fit->survey.weight_max);
}

/* (Half of) W S and the target U S^-1 for some rows, while they are close by. */
static void prepare_rows(const struct rows *r, int64_t first, int64_t count) {
    const rfn_fit *fit = r->fit;
    rb_dense w = rb_dense_rows(fit->parameters.loadings, first, count);
    rb_dense z = rb_dense_rows(fit->scratch.work, first, count);
    if (!r->newton) {
        rb_gemm(1, w, RB_PLAIN, fit->moments.s, RB_PLAIN, 0, z);
        return;
    }
    if (!fit->scratch.rates.noise_waits) rb_half_product(w, fit->moments.s, z);
    rb_spd_solve_right(fit->scratch.factor, rb_dense_rows(fit->moments.u, first, count),
                       rb_dense_rows(fit->posterior.filter, first, count));
}

/* The same for all rows, on a device. */
static bool prepare_all(rb_context *ctx, const rfn_fit *fit) {
    if (!fit->device ||
        !rb_spd_solves_whole(ctx, fit->scratch.factor, fit->moments.u, fit->posterior.filter))
        return false;
    rb_gemm_parallel(ctx, 0.5, fit->parameters.loadings, RB_PLAIN, fit->moments.s, RB_PLAIN, 0,
                     fit->scratch.work);
    return true;
}

static void update_rows(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    int64_t first = rb_band_start(r->bands, task), count = rb_band_size(r->bands, task);
    if (!r->prepared) prepare_rows(r, first, count);
    for (int64_t k = first; k < first + count; k++) {
        update_row(r, k);
        decay_row(r, k);
    }
}

/* ---- the whole ---- */

/* With S = T + T', T is the lower triangle with half of the diagonal. */
static void scale_diagonal(rb_dense s, double by) {
    for (int64_t j = 0; j < s.rows; j++)
        rb_dense_set(s, j, j, by * rb_dense_get(s, j, j));
}

static rb_error check_finite(rb_context *ctx, const rfn_fit *fit) {
    for (int64_t k = 0; k < fit->setup.problem.n_features; k++) {
        if (!isfinite(fit->parameters.noise[k]) || !isfinite(fit->scratch.quadratic[k])) {
            return rb_fail(
                ctx, RB_ERROR_NUMERIC,
                "the loadings or noise variance of feature %lld became infinite or NaN in "
                "the M-step; scale the data (`scale=sd`) or take a smaller `eta`",
                (long long)rb_nth(ctx, k));
        }
    }
    return RB_OK;
}

/* Do the forms of the new rows follow from those of the old ones, as above? */
static bool has_shortcut(const struct rows *r) {
    const rb_rfn_options *options = &r->fit->setup.options;
    return r->newton && !r->shrinks && options->weight_decay == 0 &&
           options->weight_decay_laplace == 0 && options->momentum == 0 &&
           r->fit->survey.weight_max == 0;
}

static rb_error update(rb_context *ctx, rfn_fit *fit) {
    const rb_rfn_options *options = &fit->setup.options;
    rfn_scratch *scratch = &fit->scratch;
    rb_dense w = fit->parameters.loadings, s = fit->moments.s;
    struct rows rows = {ctx, fit, options->mstep == RB_RFN_MSTEP_NEWTON, rfn_shrinks(fit)};
    rows.prepared = rows.newton && prepare_all(ctx, fit);
    rb_device_keep(ctx, NULL); /* loadings change from here on */
    bool halves = rows.newton && !rows.prepared;
    scale_diagonal(s, halves ? 0.5 : 1);
    rows.bands = rows.prepared ? rb_cut(w.rows, RFN_BANDS) : rb_cut_wide(w.rows);
    rb_error err = rb_parallel_or_stop(ctx, rows.bands.count, update_rows, &rows);
    scale_diagonal(s, halves ? 2 : 1);
    if (err || scratch->rates.noise_waits) return err;
    if (!has_shortcut(&rows))
        rfn_forms(ctx, w, &fit->moments, scratch->work, scratch->cross, scratch->quadratic);
    bool renews = options->psi_update == RB_RFN_PSI_NEW && !rfn_psi_is_full(&fit->parameters.full);
    for (int64_t k = 0; renews && k < w.rows; k++)
        fit->parameters.noise[k] = new_noise(fit, k, scratch->cross[k], scratch->quadratic[k]);
    err = check_finite(ctx, fit);
    return err ? err : rfn_full_noise_after(ctx, fit);
}

rb_error rfn_mstep(rb_context *ctx, void *state) {
    rfn_fit *fit = state;
    const rb_rfn_options *options = &fit->setup.options;
    bool newton = options->mstep == RB_RFN_MSTEP_NEWTON;
    rb_error err = newton ? rb_spd_factor_moments(ctx, fit->scratch.factor, fit->moments.s) : RB_OK;
    if (err) {
        rb_fail_prefix(ctx, "%sthe second moment of the codes, S: ",
                       rfn_activation_projects(options)
                           ? ""
                           : "this activation guarantees nothing; a smaller `eta` or another "
                             "`normalize` may help: ");
        return err;
    }
    set_rates(&fit->setup, fit->progress.iteration++, &fit->scratch.rates);
    err = rfn_full_noise_before(ctx, fit);
    return err ? err : update(ctx, fit);
}
