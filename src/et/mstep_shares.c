/* Fields as quotients of sums over states; one without responsibility stays. MCA: W_hd = sum <A_hd>
 * y_d / sum <A_hd> (eq. 30). */
#include "fit.h"

#include <math.h>

/* R = (W / max_h W)^rho and R^a, a = 1 - 1 / rho, with rho = T / (T - 1), at most 21, which is that
 * of the end temperature 1.05 (section 4.2.1 has no bound). */
void et_max_powers(et_state *st) {
    enum { MOST = 21 };
    double temperature = 1 / st->engine->beta;
    double rho = temperature > 1 ? fmin(temperature / (temperature - 1), MOST) : MOST;
    rb_dense fields = st->engine->parameters.fields;
    st->exponent = 1 - 1 / rho;
    for (int64_t d = 0; d < fields.cols; d++) {
        double largest = 0;
        for (int64_t h = 0; h < fields.rows; h++) {
            largest = fmax(largest, rb_dense_get(fields, h, d));
        }
        for (int64_t h = 0; h < fields.rows; h++) {
            double share = largest > 0 ? rb_dense_get(fields, h, d) / largest : 0;
            double power = pow(share, rho);
            rb_dense_set(st->powers, h, d, power);
            rb_dense_set(st->roots, h, d, pow(power, st->exponent));
        }
    }
}

rb_error et_mstep_shares(rb_context *ctx, et_state *st) {
    (void)ctx;
    rb_dense fields = st->engine->parameters.fields;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        const double *products = rb_dense_row(st->moments.products, h);
        const double *weights = rb_dense_row(st->moments.weights, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            field[d] = weights[d] > 0 ? products[d] / weights[d] : field[d];
        }
    }
    return RB_OK;
}
