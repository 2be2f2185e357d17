/* How codes that persist get better: one step an iteration, and as many as they need after the
 * last (converge.c); then what is to be known of them. */
#include "rfn/fit.h"

#include <math.h>

/* Iterations, and their seconds, after which it is looked at how processes wait for each other. */
enum { WATCHED = 5 };
static const double watched_seconds = 1;

/* The first and the last stage of the E-steps that try candidates. */
static const rb_rfn_stage stages[][2] = {
    [RB_RFN_ESTEP_ANNEALED] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_BOTH},
    [RB_RFN_ESTEP_REDUCED] = {RB_RFN_STAGE_REDUCED, RB_RFN_STAGE_REDUCED},
    [RB_RFN_ESTEP_GRG] = {RB_RFN_STAGE_GRG, RB_RFN_STAGE_GRG},
    [RB_RFN_ESTEP_ROSEN] = {RB_RFN_STAGE_ROSEN, RB_RFN_STAGE_ROSEN},
    [RB_RFN_ESTEP_HAUG_ARORA] = {RB_RFN_STAGE_HAUG_ARORA, RB_RFN_STAGE_HAUG_ARORA},
    [RB_RFN_ESTEP_CASCADE] = {RB_RFN_STAGE_NEWTON, RB_RFN_STAGE_GRADIENT},
};

/* mu = P(mu_p), mu_p' = Sigma Q'. */
static void first_codes(rb_context *ctx, rfn_persistent *p, rfn_codes *codes) {
    rb_dense sigma = p->posterior->sigma;
    int64_t l = codes->values.rows;
    codes->filled = true;
    p->stage = RB_RFN_STAGE_NEWTON;
    if (p->device) {
        rfn_device_first(p->device, sigma, p->problem.normalized);
        return;
    }
    for (int64_t first = 0; first < l; first += p->work.at_once) {
        int64_t count = rfn_units_from(&p->work, l, first);
        rb_dense some = rb_dense_rows(codes->values, first, count);
        if (!p->missing.on) /* else the means are there */
            rfn_product_over_samples(ctx, &p->work.slices, rb_dense_rows(sigma, first, count),
                                     p->problem.linear, 0, some);
        rfn_feasible_again(ctx, p, some);
    }
}

/* Units are scaled one by one over all samples. Where processes wait for messages more than they
 * work, the first one says so. */
static void watch(rb_context *ctx, rfn_persistent *p) {
    rfn_watch *w = &p->watch;
    double now = rb_seconds();
    if (w->iterations == 0) *w = (rfn_watch){0, now, ctx->waited};
    if (w->iterations < 0 || w->iterations++ < WATCHED || now - w->began < watched_seconds) return;
    w->iterations = -1;
    double share = (ctx->waited - w->waited) / (now - w->began);
    if (share > 0.5 && rb_rank(ctx) == 0 && p->setup->problem.restart == 0) {
        rb_log(
            ctx, RB_LOG_WARNING,
            "processes wait for each other in %.0f %% of the time; take `estep=newton`, for which "
            "they meet less often, but which may let the objective fall, or fewer processes",
            100 * share);
    }
}

/* One step from codes that are there. */
static void step(rb_context *ctx, rfn_persistent *p, rfn_codes *codes, rfn_cascade *cascade) {
    const rb_rfn_options *options = &p->setup->options;
    rfn_search *search = &p->search;
    double change;
    p->stage = RB_RFN_STAGE_NONE;
    if (options->estep == RB_RFN_ESTEP_CYCLIC) {
        watch(ctx, p);
        rfn_sweep(ctx, p, codes->values, 0, NULL);
        return;
    }
    search->codes = codes->values;
    if (options->estep == RB_RFN_ESTEP_GRADIENT && options->gradient_search) {
        bool half = options->gradient_search == RB_RFN_LENGTH_HALF;
        rfn_search_begin(ctx, search);
        if (rfn_search_gradient(search, half ? 0.5 : 0.1)) {
            rfn_swap(&search->codes, &search->next);
            p->stage = RB_RFN_STAGE_GRADIENT;
        }
    } else if (options->estep == RB_RFN_ESTEP_GRADIENT) {
        rfn_gradient(ctx, &p->problem, search->e_max, &search->codes, &search->next, &p->work,
                     &change);
        p->stage = RB_RFN_STAGE_GRADIENT;
    } else {
        const rb_rfn_stage *span = stages[options->estep];
        search->sigma = p->posterior->sigma;
        p->stage = rfn_cascade_step(ctx, cascade, search, span[0], span[1],
                                    options->accept == RB_RFN_ACCEPT_ANY);
    }
    codes->values = search->codes; /* which may have changed places with a candidate */
}

/* Samples that lack values have less to hold their codes: the certificate is the least of all. */
static rb_error look_at_patterns(rb_context *ctx, rfn_persistent *p, const rfn_codes *codes) {
    int64_t l = codes->values.rows;
    rb_dense sum;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, l, l, &sum);
    for (int64_t g = 0; !err && g < p->missing.count; g++) {
        double value;
        rfn_unpack(p->missing.patterns.precisions, g, l, true, sum.data, l);
        rfn_add_multipliers(sum, codes->multipliers, p->dead, p->search.e_max);
        err = rb_smallest_eigenvalue(ctx, sum, &value);
        err = err ? err : rb_check_stop(ctx);
        if (!err) p->certificate = fmin(p->certificate, value);
    }
    rb_dense_free(&sum);
    err = rb_comm_agree(ctx, err);
    double least = -p->certificate;
    if (!err) rb_comm_max(ctx, 1, &least);
    p->certificate = -least;
    return err;
}

/* The smallest eigenvalue of P + diag tau of the living units, the others apart from them. */
static rb_error find_certificate(rb_context *ctx, rfn_persistent *p, const rfn_codes *codes) {
    rb_dense hessian = p->problem.hessian, sum;
    rb_error err = rb_dense_new(ctx, hessian.type, hessian.rows, hessian.rows, &sum);
    if (err) return err;
    rb_dense_copy(hessian, sum);
    rfn_add_multipliers(sum, codes->multipliers, p->dead, p->search.e_max);
    err = rb_smallest_eigenvalue(ctx, sum, &p->certificate);
    p->whole_certificate = p->certificate;
    rb_dense_free(&sum);
    return err || !p->missing.on ? err : look_at_patterns(ctx, p, codes);
}

static void look(rb_context *ctx, rfn_persistent *p, rfn_codes *codes) {
    if (p->device) {
        rfn_device_look(p->device, p, codes->multipliers);
        return;
    }
    rfn_optimality(ctx, &p->problem, p->search.e_max, codes->values, &p->work, codes->multipliers,
                   &p->residual);
}

/* The least certificate with which exact codes of new samples exist. */
static const double min_certificate = 1e-3;

static void raise_multipliers(const rfn_persistent *p, rfn_codes *codes) {
    double missing = min_certificate - p->whole_certificate;
    for (int64_t j = 0; missing > 0 && j < codes->values.rows; j++)
        codes->multipliers[j] += p->dead[j] ? 0 : missing;
}

static rb_error finish(rb_context *ctx, rfn_persistent *p, rfn_codes *codes) {
    rb_error err = rfn_converge(ctx, p, codes->values);
    err = rb_comm_agree(ctx, err ? err : rb_check_stop(ctx));
    if (!err) {
        look(ctx, p, codes);
        err = p->device ? rfn_device_end(p->device) : RB_OK;
        err = err ? err : find_certificate(ctx, p, codes);
    }
    err = err ? err : rb_check_stop(ctx);
    if (!err && p->certificate < min_certificate) {
        rb_log(ctx, RB_LOG_WARNING,
               "the codes of the fit may not be the best ones, so that encode and evaluate may "
               "give others for the same samples (certificate %.3g; docs/reference/estep.md)",
               p->certificate);
        raise_multipliers(p, codes);
    }
    return err;
}

rb_error rfn_complete_multipliers(rb_context *ctx, rfn_persistent *p,
                                  const rfn_parameters *parameters, const bool *alive,
                                  rb_dense scratch, rfn_codes *codes) {
    rb_error err = rfn_psi_factor(ctx, &parameters->full);
    if (err) return err;
    for (int64_t j = 0; j < codes->values.rows; j++)
        p->dead[j] = !alive[j];
    rfn_hessian(ctx, parameters, scratch, p->problem.hessian);
    err = rb_largest_eigenvalue(ctx, p->problem.hessian, &p->search.e_max);
    err = err ? err : find_certificate(ctx, p, codes);
    if (!err) raise_multipliers(p, codes);
    return err;
}

rb_error rfn_improve(rb_context *ctx, rfn_persistent *p, rfn_codes *codes, rfn_progress *progress) {
    bool first = !codes->filled, last = progress->last, traced = p->setup->problem.fit->trace;
    bool certifies = rfn_looks_at_certificate(p->setup, progress);
    rb_error err = RB_OK;
    if (p->setup->options.estep != RB_RFN_ESTEP_CYCLIC || last || certifies || traced)
        err = rb_comm_agree(ctx, rb_largest_eigenvalue(ctx, p->problem.hessian, &p->search.e_max));
    if (!err && first) first_codes(ctx, p, codes);
    if (!err && last)
        err = finish(ctx, p, codes);
    else if (!err && !first)
        step(ctx, p, codes, &progress->cascade);
    err = err || !p->device ? err : rfn_device_end(p->device);
    err = rb_comm_agree(ctx, err ? err : rb_check_stop(ctx)); /* which left the step undone */
    if (!err && !last && (certifies || traced)) look(ctx, p, codes);
    if (!err && certifies) {
        err = find_certificate(ctx, p, codes);
        rfn_bound_adaptation(p->certificate, &progress->adaptation);
    }
    return err ? err : rb_check_stop(ctx);
}
