/* Exact codes where sweeps would take too long: an active set method (rb_active).
 *
 * Sweeps over the units approach the minimum of
 *     1/2 x' H x - q' x   over x >= 0
 * slowly where H = P + diag tau is ill-conditioned, as with more units than samples. But they soon
 * know which units are positive; then the minimum is the solution of a linear system in these. The
 * method corrects the set: units that would become negative leave it on the way to the solution,
 * and the unit of the most negative derivative enters it, until there is none. Each step lowers the
 * objective, in float64 whatever the type of the model.
 */
#include "coder.h"

#include <math.h>

/* A support of so many units takes 32 MB; codes with more are left as the sweeps leave them. */
enum { MAX_POSITIVE = 2048 };

rfn_polish *rfn_polish_take(rb_scratch *scratch, int64_t l) {
    int64_t max = rb_smaller(l, MAX_POSITIVE), workers = rb_context_threads(scratch->ctx);
    rfn_polish *polish = rb_take(scratch, workers, sizeof *polish);
    for (rfn_polish *p = polish; !scratch->err && p < polish + workers; p++) {
        p->max = max;
        p->at.x = rb_take(scratch, l, sizeof *p->at.x);
        p->at.linear = rb_take(scratch, l, sizeof *p->at.linear);
        p->at.matrix = rb_take(scratch, max, (size_t)max * sizeof *p->at.matrix);
        p->at.target = rb_take(scratch, max, sizeof *p->at.target);
        p->at.support = rb_take(scratch, max, sizeof *p->at.support);
    }
    return polish;
}

/* The positive units and the one that enters, in order; false when they are too many. */
static bool list_support(rfn_polish *p, int64_t l, int64_t enters) {
    p->at.count = 0;
    for (int64_t j = 0; j < l; j++) {
        if (p->at.x[j] > 0 || j == enters) {
            if (p->at.count == p->max) return false;
            p->at.support[p->at.count++] = j;
        }
    }
    return true;
}

/* The unit whose derivative H x - q is most negative, beyond rounding, or -1. */
static int64_t steepest(const rfn_quadratic *problem, const rb_active *p) {
    rb_dense h = problem->hessian;
    int64_t best = -1;
    double min = 0;
    for (int64_t j = 0; j < h.rows; j++) {
        const void *row = rb_dense_row(h, j);
        double sum = -p->linear[j], size = fabs(p->linear[j]);
        if (p->x[j] > 0 || rfn_is_dead(problem, j)) continue;
        for (int64_t a = 0; a < p->count; a++) {
            double term = rb_get(h.type, row, p->support[a]) * p->x[p->support[a]];
            sum += term;
            size += fabs(term);
        }
        if (sum < -1e-12 * size && sum < min) {
            min = sum;
            best = j;
        }
    }
    return best;
}

void rfn_polish_sample(const rfn_quadratic *problem, rb_dense codes, int64_t i, rfn_polish *p) {
    rb_dense h = problem->hessian;
    int64_t enters = -1;
    for (int64_t j = 0; j < h.rows; j++) {
        p->at.x[j] = rb_dense_get(codes, j, i);
        p->at.linear[j] = rb_dense_get(problem->linear, j, i);
    }
    /* Each turn a unit leaves or enters: more turns than this are a circle of rounding. */
    for (int64_t turn = 0; turn < 3 * h.rows; turn++) {
        if (!list_support(p, h.rows, enters) || !rb_active_solve(h, &p->at)) return;
        bool arrives = rb_active_approach(&p->at);
        enters = arrives ? steepest(problem, &p->at) : -1;
        if (arrives && enters < 0) return;
    }
}
