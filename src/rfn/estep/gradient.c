/* The gradient E-step: mu <- P(mu - lambda (mu P - Q)), lambda = 0.999 / e_max(P).
 *
 * On any closed set with an exact projection (n/2) O falls by at least (1/lambda - e_max)/2
 * |step|^2 (Clevert et al. 2015, S9.5.1, eq. 200, has a longer step, which is right for convex sets
 * only: not for the normalised one). Cost: 2 n l^2.
 */
#include "estep.h"

#include <math.h>
#include <string.h>

struct step {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense codes, next;
    int64_t first;
    double lambda;
    double changes[RFN_UNITS_AT_ONCE];
};

static void one_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct step *s = arg;
    int64_t j = s->first + unit, n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j);
    void *next = rb_dense_row(s->next, j);
    if (s->problem->dead && s->problem->dead[j]) {
        memset(next, 0, (size_t)n * rb_type_size(type));
        return;
    }
    rfn_feasible(s->ctx, s->problem->normalized, type, n, -s->lambda, code,
                 rb_dense_row(s->work->residual, unit), next);
    double change = 0;
    for (int64_t i = 0; i < n; i++) {
        change = fmax(change, fabs(rb_get(type, next, i) - rb_get(type, code, i)));
    }
    s->changes[unit] = change;
}

void rfn_gradient(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense *codes,
                  rb_dense *next, rfn_work *work, double *change) {
    int64_t l = codes->rows;
    struct step s = {ctx, problem, work, *codes, *next, 0, 0.999 / e_max, {0}};
    *change = 0;
    for (int64_t count; s.first < l && !rb_asked_to_stop(ctx); s.first += count) {
        count = l - s.first < RFN_UNITS_AT_ONCE ? l - s.first : RFN_UNITS_AT_ONCE;
        rfn_residual(ctx, problem, *codes, s.first, count, work);
        memset(s.changes, 0, sizeof s.changes);
        rb_parallel(ctx, count, one_unit, &s);
        for (int64_t unit = 0; unit < count; unit++) {
            *change = fmax(*change, s.changes[unit]);
        }
    }
    rb_dense before = *codes;
    *codes = *next;
    *next = before;
}
