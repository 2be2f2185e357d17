/* Linear fields: W = Q^-1 P (eq. 26), P = sum <s> y', Q = sum <s s'>.
 *
 * A cause that was active in no sample has a row of zeros in Q: it keeps its field and is left out.
 * If Q is singular beyond that (two causes that are always active together), a ridge pulls towards
 * the old fields: (Q + r I) W = P + r W_old, with r as small as will do. Where values are missing
 * each feature has a Q of its own (missing.c).
 */
#include "fit.h"

#include <math.h>

/* Features that share a Q: columns of P, of the right side and of W. */
struct columns {
    rb_dense products, target, fields;
};

/* The equations of causes with responsibility; the others become W_h = W_h. */
static void set_system(rb_dense q, const struct columns *c, double ridge, rb_dense system) {
    for (int64_t h = 0; h < q.rows; h++) {
        bool active = rb_dense_get(q, h, h) > 0;
        for (int64_t j = 0; j < q.rows; j++) {
            bool both = active && rb_dense_get(q, j, j) > 0;
            double value = both ? rb_dense_get(q, h, j) : 0;
            rb_dense_set(system, h, j, value + (h == j ? active ? ridge : 1 : 0));
        }
        for (int64_t d = 0; d < c->fields.cols; d++) {
            double old = rb_dense_get(c->fields, h, d);
            double sum = rb_dense_get(c->products, h, d) + ridge * old;
            rb_dense_set(c->target, h, d, active ? sum : old);
        }
    }
}

/* Is a cause a combination of others, as far as float64 can tell? Q_hh (Q^-1)_hh is by how much the
 * others inflate the variance of its field, 1 without them. */
static bool nearly_singular(rb_context *ctx, const et_work *work) {
    const double max = 1e11;
    rb_spd_inverse(ctx, work->factor, work->inverse);
    bool all_less = true;
    for (int64_t h = 0; h < work->system.rows; h++) {
        double inflation = rb_dense_get(work->system, h, h) * rb_dense_get(work->inverse, h, h);
        all_less = all_less && inflation < max;
    }
    return !all_less;
}

static rb_error solve(rb_context *ctx, rb_dense q, const struct columns *c, const et_work *work) {
    enum { ATTEMPTS = 12 };
    double ridge = 0, trace = 0;
    rb_error err = RB_ERROR_NUMERIC;
    for (int64_t h = 0; h < q.rows; h++)
        trace += rb_dense_get(q, h, h);
    for (int attempt = 0; err == RB_ERROR_NUMERIC && attempt < ATTEMPTS; attempt++) {
        set_system(q, c, ridge, work->system);
        err = rb_spd_factor(ctx, work->factor, work->system);
        if (!err && nearly_singular(ctx, work)) err = RB_ERROR_NUMERIC;
        ridge = ridge > 0 ? 10 * ridge : 1e-10 * trace / (double)q.rows;
    }
    if (err == RB_ERROR_NUMERIC) {
        return rb_fail(ctx, err,
                       "the second moments of the causes cannot be solved; scale the data");
    }
    if (!err) rb_spd_solve_left(ctx, work->factor, c->target, c->fields);
    return err;
}

rb_error et_mstep_solve(rb_context *ctx, const et_setup *setup, et_sums *sums, et_work *work,
                        et_parameters *p) {
    struct columns all = {sums->products, work->target, p->fields};
    rb_error err = RB_OK;
    if (!sums->pairs.data) return solve(ctx, sums->second, &all, work);
    for (int64_t d = 0; !err && d < all.fields.cols; d++) {
        struct columns one = {rb_dense_part(all.products, 0, work->target.rows, d, 1),
                              rb_dense_part(all.target, 0, work->target.rows, d, 1),
                              rb_dense_part(all.fields, 0, work->target.rows, d, 1)};
        et_missing_second(sums, d);
        err = solve(ctx, sums->second, &one, work);
    }
    return err;
}
