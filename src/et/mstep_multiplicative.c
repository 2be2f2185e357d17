/* NMF by multiplication (eq. 27): W <- W * P / (Q W), twenty times, with negative entries of P
 * taken as 0. It never lowers the likelihood. 0 / 0 keeps the field. */
#include "fit.h"

#include <math.h>

enum { TIMES = 20 };

rb_error et_mstep_multiplicative(rb_context *ctx, et_state *st) {
    rb_dense fields = st->engine->parameters.fields, products = st->moments.products;
    for (int time = 0; time < TIMES; time++) {
        et_apply_second(ctx, st);
        for (int64_t h = 0; h < fields.rows; h++) {
            double *field = rb_dense_row(fields, h);
            const double *up = rb_dense_row(products, h), *down = rb_dense_row(st->target, h);
            for (int64_t d = 0; d < fields.cols; d++) {
                /* In this order: a field that nearly vanished may grow again without overflow, for
                 * field / down is at most 1 / Q_hh. */
                double next = field[d] / down[d] * (up[d] > 0 ? up[d] : 0);
                if (down[d] > 0 && isfinite(next)) {
                    field[d] = next;
                }
            }
        }
    }
    return RB_OK;
}
