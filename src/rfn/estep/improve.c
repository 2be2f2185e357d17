/* How codes that are held get better: one step an iteration, and as many as they need after the
 * last; then what is to be known of them. */
#include "rfn/state.h"

#include <math.h>

/* Sweeps of the last E-step, at most; and how long the best of them may lie back. */
enum { MOST_SWEEPS = 2000, PATIENCE = 50 };

/* The stages of the E-steps that try candidates; none for the others. */
static void find_stages(rb_rfn_estep estep, rb_rfn_stage *first, rb_rfn_stage *last) {
    static const struct {
        rb_rfn_stage first, last;
    } spans[] = {
        [RB_RFN_ESTEP_ANNEALED] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_BOTH},
        [RB_RFN_ESTEP_REDUCED] = {RB_RFN_STAGE_REDUCED, RB_RFN_STAGE_REDUCED},
        [RB_RFN_ESTEP_GRG] = {RB_RFN_STAGE_GRG, RB_RFN_STAGE_GRG},
        [RB_RFN_ESTEP_ROSEN] = {RB_RFN_STAGE_ROSEN, RB_RFN_STAGE_ROSEN},
        [RB_RFN_ESTEP_HAUG_ARORA] = {RB_RFN_STAGE_HAUG_ARORA, RB_RFN_STAGE_HAUG_ARORA},
        [RB_RFN_ESTEP_CASCADE] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT},
    };
    *first = spans[estep].first;
    *last = spans[estep].last;
}

/* mu = P(mu_p), mu_p' = Sigma Q'. */
static void first_codes(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    int64_t l = st->options.units, n = st->problem.n_samples, count;
    for (int64_t first = 0; first < l; first += count) {
        count = l - first < RFN_UNITS_AT_ONCE ? l - first : RFN_UNITS_AT_ONCE;
        rb_dense means = rb_dense_rows(held->work.residual, 0, count);
        rb_gemm_parallel(ctx, 1, rb_dense_rows(st->posterior.sigma, first, count), RB_PLAIN,
                         held->problem.linear, RB_PLAIN, 0, means);
        for (int64_t j = 0; j < count; j++) {
            const void *row = rb_dense_row(means, j);
            rfn_feasible(ctx, held->problem.normalized, means.type, n, 0, row, row,
                         rb_dense_row(held->search.codes, first + j));
        }
    }
    held->filled = true;
    held->stage = RB_RFN_STAGE_NEWTON;
}

/* One step from codes that are there. */
static void step(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    rfn_search *search = &held->search;
    rb_rfn_estep estep = (rb_rfn_estep)st->options.estep;
    double change;
    if (estep == RB_RFN_ESTEP_CYCLIC) {
        rfn_cyclic(ctx, &held->problem, search->codes, &held->work, &change);
        held->stage = RB_RFN_STAGE_NONE;
    } else if (estep == RB_RFN_ESTEP_GRADIENT) {
        rfn_gradient(ctx, &held->problem, search->e_max, &search->codes, &search->next, &held->work,
                     &change);
        held->stage = RB_RFN_STAGE_GRADIENT;
    } else {
        rb_rfn_stage first, last;
        find_stages(estep, &first, &last);
        search->sigma = st->posterior.sigma;
        held->stage = rfn_cascade_step(ctx, &held->cascade, search, first, last,
                                       st->options.accept == RB_RFN_ACCEPT_ANY);
    }
}

/* Units without a positive code die: their codes become and stay 0. */
static void bury(rfn_state *st) {
    rfn_held *held = &st->held;
    rb_dense codes = held->search.codes;
    for (int64_t j = 0; j < codes.rows; j++) {
        if (held->problem.normalized && !held->work.alive[j] && !held->dead[j]) {
            held->dead[j] = true;
            rb_dense_zero(rb_dense_rows(codes, j, 1));
        }
    }
}

static double largest_code(const rfn_state *st) {
    rb_dense codes = st->held.search.codes;
    double most = 0;
    for (int64_t j = 0; j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++) {
            most = fmax(most, rfn_get(codes.type, row, i));
        }
    }
    return most;
}

/* By cyclic sweeps, whatever the E-step: they need by far the fewest products. */
static void converge(rb_context *ctx, rfn_state *st) {
    double best = INFINITY, scale = largest_code(st), change;
    for (int64_t sweep = 0, at = 0;
         sweep < MOST_SWEEPS && sweep - at < PATIENCE && !rb_asked_to_stop(ctx); sweep++) {
        rfn_cyclic(ctx, &st->held.problem, st->held.search.codes, &st->held.work, &change);
        bury(st);
        if (change < best) {
            best = change;
            at = sweep;
        }
        if (change <= st->options.estep_tolerance * scale) {
            break;
        }
    }
}

/* The smallest eigenvalue of P + diag tau of the living units, the others apart from them. */
static rb_error find_certificate(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    rb_dense p;
    rb_error err = rb_dense_new(ctx, held->search.codes.type, held->search.codes.rows,
                                held->search.codes.rows, &p);
    if (err) {
        return err;
    }
    rb_dense_copy(held->problem.hessian, p);
    rfn_add_multipliers(p, held->multipliers, held->dead, held->search.e_max);
    err = rb_smallest_eigenvalue(ctx, p, &held->certificate);
    rb_dense_free(&p);
    return err;
}

static rb_error certify(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    rfn_optimality(ctx, &held->problem, held->search.e_max, held->search.codes, &held->work,
                   held->multipliers, &held->residual);
    return find_certificate(ctx, st);
}

/* The least certificate with which exact codes of new samples exist. */
static const double least_certificate = 1e-3;

static void raise_multipliers(rfn_held *held) {
    double missing = least_certificate - held->certificate;
    for (int64_t j = 0; missing > 0 && j < held->search.codes.rows; j++) {
        held->multipliers[j] += held->dead[j] ? 0 : missing;
    }
}

static rb_error finish(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    converge(ctx, st);
    rb_error err = rb_check_stop(ctx);
    err = err ? err : certify(ctx, st);
    err = err ? err : rb_check_stop(ctx);
    if (!err && held->certificate < least_certificate) {
        rb_log(
            ctx, RB_LOG_WARNING,
            "the codes of the fit may not be the best for its parameters, and those of encode and "
            "evaluate differ from them: the smallest eigenvalue of P + diag tau is %.3g",
            held->certificate);
        raise_multipliers(held);
    }
    return err;
}

rb_error rfn_held_settle(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    rb_error err =
        rfn_psi_is_full(&st->parameters.full) ? rfn_psi_factor(ctx, &st->parameters.full) : RB_OK;
    if (err) {
        return err;
    }
    for (int64_t j = 0; j < st->options.units; j++) {
        held->dead[j] = rfn_is_dead(st, j);
    }
    rfn_hessian(ctx, &st->parameters, st->work, held->problem.hessian);
    rb_dense_mirror(held->problem.hessian);
    err = rb_largest_eigenvalue(ctx, held->problem.hessian, &held->search.e_max);
    err = err ? err : find_certificate(ctx, st);
    if (!err) {
        raise_multipliers(held);
    }
    return err;
}

rb_error rfn_held_improve(rb_context *ctx, rfn_state *st) {
    rfn_held *held = &st->held;
    bool first = !held->filled, looks = rfn_looks_at_certificate(st);
    rb_error err = RB_OK;
    if (st->options.estep != RB_RFN_ESTEP_CYCLIC || held->last || looks || st->problem.fit->trace) {
        err = rb_largest_eigenvalue(ctx, held->problem.hessian, &held->search.e_max);
    }
    if (!err && first) {
        first_codes(ctx, st);
    }
    if (!err && held->last) {
        err = finish(ctx, st);
    } else if (!err && !first) {
        step(ctx, st);
    }
    err = err ? err : rb_check_stop(ctx); /* which left the step undone */
    if (!err && looks) {
        err = certify(ctx, st);
        rfn_bound_steering(st);
    }
    if (!err && st->problem.fit->trace && !held->last) {
        rfn_optimality(ctx, &held->problem, held->search.e_max, held->search.codes, &held->work,
                       held->multipliers, &held->residual);
    }
    return err ? err : rb_check_stop(ctx);
}
