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

/* D = mu_p - mu, with mu_p' = Sigma Q'. */
void rfn_aim_at_means(rfn_search *s) {
    rb_dense d = s->direction;
    if (s->toward_means) return;
    rb_gemm_parallel(s->ctx, 1, s->sigma, RB_PLAIN, s->problem->linear, RB_PLAIN, 0, d);
    for (int64_t j = 0; j < d.rows; j++)
        rb_axpy(s->ctx, d.type, d.cols, -1, rb_dense_row(s->codes, j), rb_dense_row(d, j));
    s->toward_means = true;
}

bool rfn_try_newton(rfn_search *s) {
    rfn_aim_at_means(s);
    return rfn_search_along(s, 1);
}

static bool by_gamma(rfn_search *s, double step) {
    return rfn_search_try(s, s->direction, 1, step);
}

static bool by_both(rfn_search *s, double step) {
    return rfn_search_try(s, s->direction, step, step);
}

static bool anneal(rfn_search *s, bool (*try)(rfn_search *search, double step)) {
    rfn_aim_at_means(s);
    return rfn_search_halve(s, try, 0.5, RFN_TRIES - 1, true);
}

bool rfn_anneal_gamma(rfn_search *s) {
    return anneal(s, by_gamma);
}

bool rfn_anneal_lambda(rfn_search *s) {
    return anneal(s, rfn_search_along);
}

bool rfn_anneal_both(rfn_search *s) {
    return anneal(s, by_both);
}
