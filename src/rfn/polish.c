/* Exact codes where sweeps would take too long: an active set method.
 *
 * Sweeps over the units approach the minimum of
 *     1/2 x' H x - q' x   over x >= 0
 * slowly where H = P + diag tau is ill-conditioned, as with more units than samples. But they soon
 * know which units are positive; then the minimum is the solution of a linear system in these. The
 * method of Lawson and Hanson (1974, chapter 23; here for H and q instead of a matrix of least
 * squares) corrects the set: units that would become negative leave it on the way to the solution,
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
        p->x = rb_take(scratch, l, sizeof *p->x);
        p->linear = rb_take(scratch, l, sizeof *p->linear);
        p->factor = rb_take(scratch, max, (size_t)max * sizeof *p->factor);
        p->target = rb_take(scratch, max, sizeof *p->target);
        p->support = rb_take(scratch, max, sizeof *p->support);
        p->positive = rb_take(scratch, l, sizeof *p->positive);
    }
    return polish;
}

/* The positive units, in order; -1 when they are too many. */
static int64_t list_support(rfn_polish *p, int64_t l) {
    int64_t count = 0;
    for (int64_t j = 0; j < l; j++) {
        if (p->positive[j]) {
            if (count == p->max) return -1;
            p->support[count++] = j;
        }
    }
    return count;
}

/* target: the minimum over the units of the support. false: H is not positive definite there. */
static bool solve(rb_dense h, rfn_polish *p, int64_t count) {
    for (int64_t a = 0; a < count; a++) {
        const void *row = rb_dense_row(h, p->support[a]);
        for (int64_t b = 0; b <= a; b++)
            p->factor[a * count + b] = rb_get(h.type, row, p->support[b]);
        p->target[a] = p->linear[p->support[a]];
    }
    return rb_solve_small(count, p->factor, 1, p->target);
}

/* Goes towards the target as far as all stay at or above 0; a unit that comes to 0 leaves the
 * support. Was it all the way? */
static bool approach(rfn_polish *p, int64_t count) {
    double step = 1;
    int64_t first = -1;
    for (int64_t a = 0; a < count; a++) {
        double x = p->x[p->support[a]];
        if (p->target[a] <= 0 && x <= step * (x - p->target[a])) {
            step = x / (x - p->target[a]);
            first = a;
        }
    }
    for (int64_t a = 0; a < count; a++) {
        int64_t j = p->support[a];
        p->x[j] += step * (p->target[a] - p->x[j]);
        if (a == first || p->x[j] <= 0) {
            p->x[j] = 0;
            p->positive[j] = false;
        }
    }
    return first < 0;
}

/* The unit whose derivative H x - q is most negative, beyond rounding, or -1. */
static int64_t steepest(const rfn_quadratic *problem, const rfn_polish *p, int64_t count) {
    rb_dense h = problem->hessian;
    int64_t best = -1;
    double min = 0;
    for (int64_t j = 0; j < h.rows; j++) {
        const void *row = rb_dense_row(h, j);
        double sum = -p->linear[j], size = fabs(p->linear[j]);
        if (p->positive[j] || rfn_is_dead(problem, j)) continue;
        for (int64_t a = 0; a < count; a++) {
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
    for (int64_t j = 0; j < h.rows; j++) {
        p->x[j] = rb_dense_get(codes, j, i);
        p->linear[j] = rb_dense_get(problem->linear, j, i);
        p->positive[j] = p->x[j] > 0;
    }
    /* Each turn a unit leaves or enters: more turns than this are a circle of rounding. */
    for (int64_t turn = 0; turn < 3 * h.rows; turn++) {
        int64_t count = list_support(p, h.rows);
        if (count < 0 || !solve(h, p, count)) return;
        if (approach(p, count)) {
            int64_t enters = steepest(problem, p, count);
            if (enters < 0) return;
            p->positive[enters] = true;
        }
    }
}
