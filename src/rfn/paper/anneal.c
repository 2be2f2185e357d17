/* Projections of the posterior means, and of points on the way to them (Clevert et al. 2015,
 * S9.5.3, items 1 to 4):
 *
 *     newton  P(mu_p)
 *     gamma   P((1 - gamma) mu + gamma P(mu_p))
 *     lambda  P((1 - lambda) mu + lambda mu_p)
 *     both    P((1 - gamma) mu + gamma P((1 - lambda) mu + lambda mu_p))
 *
 * with gamma and lambda halved until the candidate is good enough. The direction is Newton's for
 * the problem without bounds; with them it need not lead down, however short the step: where no
 * step is good enough the codes stay as they are.
 *
 * Alg. S3 goes on to bounds that it does not give. Here there are at most 6 halvings, to 1/64, and
 * fewer where the parabola through O at 0 and at the last two steps has no value that is good
 * enough below them; with --accept any too, so that a step that would lower O may be missed.
 */
#include "paper.h"

#include <math.h>

/* D = mu_p - mu, with mu_p' = Sigma Q'. */
void rfn_aim_at_means(rb_context *ctx, rfn_search *s) {
    if (s->toward == RFN_POSTERIOR_MEANS) {
        return;
    }
    rb_gemm_parallel(ctx, 1, s->sigma, RB_PLAIN, s->problem->linear, RB_PLAIN, 0, s->direction);
    for (int64_t j = 0; j < s->codes.rows; j++) {
        rb_axpy(ctx, s->codes.type, s->codes.cols, -1, rb_dense_row(s->codes, j),
                rb_dense_row(s->direction, j));
    }
    s->toward = RFN_POSTERIOR_MEANS;
}

bool rfn_try_newton(rb_context *ctx, rfn_search *s) {
    rfn_aim_at_means(ctx, s);
    return rfn_search_try(ctx, s, s->direction, 1, 1);
}

static bool anneal(rb_context *ctx, rfn_search *s, bool lambda, bool gamma) {
    rfn_aim_at_means(ctx, s);
    double step = 1, before = NAN;
    for (int t = 0; t < RFN_HALVINGS; t++) {
        step /= 2;
        if (rfn_search_try(ctx, s, s->direction, lambda ? step : 1, gamma ? step : 1)) {
            return true;
        }
        if (rfn_search_is_hopeless(before, s->change, s->bar)) {
            return false;
        }
        before = s->change;
    }
    return false;
}

bool rfn_anneal_gamma(rb_context *ctx, rfn_search *s) {
    return anneal(ctx, s, false, true);
}

bool rfn_anneal_lambda(rb_context *ctx, rfn_search *s) {
    return anneal(ctx, s, true, false);
}

bool rfn_anneal_both(rb_context *ctx, rfn_search *s) {
    return anneal(ctx, s, true, true);
}
