/* The M-step.
 *
 * newton (Clevert et al. 2015, Alg. 1, S8.2):  W <- W + eta (U S^-1 - W)
 *                                              Psi_kk <- Psi_kk + eta (E_kk - Psi_kk)
 * gradient (S8.1, eqs 94, 95, M-step of 101):  W <- W + eta Psi^-1 (U - W S)
 *                                              Psi_kk <- Psi_kk + eta (E_kk - Psi_kk) / Psi_kk^2
 * with E = C - U W' - W U' + W S W' from the old W, or the new one.
 *
 * With t the target of a row w for newton, S t = u, so that the forms of the new row w + eta (t -
 * w) need no second product:
 *
 *     u.w (new)  = (1 - eta) u.w + eta u.t
 *     w'Sw (new) = (1 - eta)^2 w'Sw + 2 eta (1 - eta) u.w + eta^2 u.t
 *
 * and w'Sw = 2 z.w takes half the work of the product W S. A full Psi is learned in full_noise.c.
 */
#include "state.h"

#include <math.h>
#include <string.h>

struct rows {
    rb_context *ctx;
    rfn_state *st;
    struct bands strips;
    bool shrinks, decays, full_noise;
};

/* psi_k + rate (E_kk - psi_k), within its bounds. */
static double new_noise(const rfn_state *st, int64_t k, double cross, double quadratic) {
    double noise = st->parameters.noise[k];
    double error = st->second[k] - 2 * cross + quadratic;
    double step = st->eta_psi * (error - noise);
    if (st->options.mstep == RB_RFN_MSTEP_GRADIENT) {
        step /= noise * noise;
    }
    noise = fmax(noise + step, rfn_noise_floor(st, k));
    return fmin(noise, st->noise_max);
}

/* The target of a row for the gradient form: w + Psi^-1 (u - ws). */
static void gradient_target(struct rows *r, int64_t k) {
    rfn_state *st = r->st;
    rb_dense w = st->parameters.loadings;
    void *target = rb_dense_row(st->posterior.filter, k);
    double weight = 1 / st->parameters.noise[k];
    memcpy(target, rb_dense_row(w, k), (size_t)w.cols * rb_type_size(w.type));
    rb_axpy(r->ctx, w.type, w.cols, weight, rb_dense_row(st->u, k), target);
    rb_axpy(r->ctx, w.type, w.cols, -weight, rb_dense_row(st->work, k), target);
}

static void update_row(struct rows *r, int64_t k) {
    rfn_state *st = r->st;
    rb_dense w = st->parameters.loadings;
    bool newton = st->options.mstep == RB_RFN_MSTEP_NEWTON;
    double eta = st->eta, rest = 1 - eta, sums[3];
    if (!newton) {
        gradient_target(r, k);
    }
    if (st->velocity.data) {
        rfn_add_momentum(r->ctx, st, k, rb_dense_row(st->posterior.filter, k));
    }
    rb_mstep_row(r->ctx, w.type, w.cols, eta, rb_dense_row(st->u, k), rb_dense_row(st->work, k),
                 rb_dense_row(st->posterior.filter, k), rb_dense_row(w, k), sums);
    double cross = sums[0], quadratic = newton ? 2 * sums[1] : sums[1];
    st->cross[k] = rest * cross + eta * sums[2];
    st->quadratic[k] = rest * rest * quadratic + 2 * eta * rest * cross + eta * eta * sums[2];
    if (!st->noise_waits && st->options.psi_update == RB_RFN_PSI_OLD && !r->full_noise) {
        st->parameters.noise[k] = new_noise(st, k, cross, quadratic);
    }
}

static void clamp_row(rb_dense w, int64_t k, double bound) {
    void *row = rb_dense_row(w, k);
    for (int64_t j = 0; j < w.cols; j++) {
        rfn_put(w.type, row, j, fmax(-bound, fmin(bound, rfn_get(w.type, row, j))));
    }
}

/* (Half of) W S and the target U S^-1 for some rows, while they are close by. */
static void prepare_rows(rfn_state *st, int64_t first, int64_t count) {
    rb_dense w = rb_dense_rows(st->parameters.loadings, first, count);
    rb_dense z = rb_dense_rows(st->work, first, count);
    if (st->options.mstep == RB_RFN_MSTEP_NEWTON) {
        if (!st->noise_waits) {
            rb_half_product(w, st->s, z);
        }
        rb_spd_solve_right(st->factor, rb_dense_rows(st->u, first, count),
                           rb_dense_rows(st->posterior.filter, first, count));
    } else {
        rb_gemm(1, w, RB_PLAIN, st->s, RB_PLAIN, 0, z);
    }
}

static void update_rows(void *arg, int64_t task, int worker) {
    (void)worker;
    struct rows *r = arg;
    int64_t first = rb_band_start(r->strips, task), count = rb_band_size(r->strips, task);
    prepare_rows(r->st, first, count);
    for (int64_t k = first; k < first + count; k++) {
        update_row(r, k);
        if (r->decays) {
            rfn_decay_row(r->ctx, r->st, k);
        }
        if (r->shrinks) {
            rfn_shrink_row(r->st, k);
        }
        if (r->st->options.weight_max > 0) {
            clamp_row(r->st->parameters.loadings, k, r->st->options.weight_max);
        }
    }
}

/* u.w and w'Sw of the new W by a product: for updates that the shortcut above does not cover. */
static void recompute_forms(rb_context *ctx, rfn_state *st) {
    rb_dense w = st->parameters.loadings;
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, st->s, RB_PLAIN, 0, st->work);
    for (int64_t k = 0; k < w.rows; k++) {
        const void *row = rb_dense_row(w, k);
        st->cross[k] = rb_dot(ctx, w.type, w.cols, rb_dense_row(st->u, k), row);
        st->quadratic[k] = rb_dot(ctx, w.type, w.cols, rb_dense_row(st->work, k), row);
    }
}

/* With S = T + T', T is the lower triangle with half of the diagonal. */
static void scale_diagonal(rb_dense s, double factor) {
    for (int64_t j = 0; j < s.rows; j++) {
        rb_dense_set(s, j, j, factor * rb_dense_get(s, j, j));
    }
}

static rb_error check_finite(rb_context *ctx, const rfn_state *st) {
    for (int64_t k = 0; k < st->problem.n_features; k++) {
        if (!isfinite(st->parameters.noise[k]) || !isfinite(st->quadratic[k])) {
            return rb_fail(
                ctx, RB_ERROR_NUMERIC,
                "the loadings or noise variance of feature %lld became infinite or NaN in "
                "the M-step; scale the data (--scale sd) or take a smaller --eta",
                (long long)k);
        }
    }
    return RB_OK;
}

rb_error rfn_mstep(rb_context *ctx, void *state) {
    rfn_state *st = state;
    rb_dense w = st->parameters.loadings;
    bool newton = st->options.mstep == RB_RFN_MSTEP_NEWTON;
    rb_error err = newton ? rb_spd_factor(ctx, st->factor, st->s) : RB_OK;
    if (err) {
        bool projects = rfn_activation_projects(&st->activation);
        rb_fail_prefix(ctx, "%sthe second moment of the codes, S: ",
                       projects ? ""
                                : "nothing is promised with this activation, a smaller eta or "
                                  "another normalize may help: ");
        return err;
    }
    st->iteration++;
    rfn_set_rates(st);
    err = rfn_full_noise_before(ctx, st);
    if (err) {
        return err;
    }
    bool full = rfn_psi_is_full(&st->parameters.full);
    struct rows rows = {ctx, st, rb_cut_wide(w.rows), rfn_shrinks(st), rfn_decays(st), full};
    bool shortcut = newton && !rows.shrinks && !rows.decays && !st->velocity.data &&
                    st->options.weight_max == 0;
    scale_diagonal(st->s, newton ? 0.5 : 1);
    rb_parallel(ctx, rows.strips.count, update_rows, &rows);
    scale_diagonal(st->s, newton ? 2 : 1);
    if (st->noise_waits) {
        return RB_OK;
    }
    if (!shortcut) {
        recompute_forms(ctx, st);
    }
    for (int64_t k = 0; st->options.psi_update == RB_RFN_PSI_NEW && !full && k < w.rows; k++) {
        st->parameters.noise[k] = new_noise(st, k, st->cross[k], st->quadratic[k]);
    }
    err = check_finite(ctx, st);
    return err ? err : rfn_full_noise_after(ctx, st);
}
