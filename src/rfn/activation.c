/* Activations: max(0, x), which is the projection of Clevert et al. 2015, and those that the
 * authors' program has besides, for which the paper claims nothing.
 *
 *     rectify   max(threshold, x)
 *     leaky     x, or slope x below 0
 *     sigmoid   1 / (1 + exp(-x))
 *     tanh      tanh(x)
 */
#include "activation.h"

#include "rfn.h"
#include "state.h"

#include <math.h>
#include <string.h>

rb_error rfn_activation_load(rb_context *ctx, const rb_model *model, rfn_activation *activation) {
    static const char *const names[] = {"activation", "activation-threshold", "activation-slope"};
    rb_rfn_options options;
    rb_rows_default(rfn_option_rows, &options);
    rb_error err = RB_OK;
    for (int i = 0; !err && i < 3; i++) {
        const char *text = rb_model_attribute(model, names[i]);
        err = text ? rb_rows_set(ctx, rfn_option_rows, &options, names[i], text) : RB_OK;
    }
    *activation = (rfn_activation){options.activation, options.activation_threshold,
                                   options.activation_slope};
    return err;
}

bool rfn_activation_projects(const rfn_activation *activation) {
    return activation->kind == RB_RFN_ACTIVATION_RECTIFY && activation->threshold == 0;
}

static double activate(const rfn_activation *activation, double x) {
    switch ((rb_rfn_activation)activation->kind) {
    case RB_RFN_ACTIVATION_RECTIFY:
        return x < activation->threshold ? activation->threshold : x;
    case RB_RFN_ACTIVATION_LEAKY:
        return x < 0 ? activation->slope * x : x;
    case RB_RFN_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case RB_RFN_ACTIVATION_TANH:
        return tanh(x);
    }
    return x;
}

void rfn_activate(const rb_context *ctx, const rfn_activation *activation, rb_dense codes,
                  const void *bias, double *sum, double *largest) {
    if (rfn_activation_projects(activation)) {
        rb_rectify(ctx, codes, bias, sum, largest);
        return;
    }
    memset(sum, 0, (size_t)codes.cols * sizeof *sum);
    for (int64_t j = 0; j < codes.cols; j++) {
        largest[j] = INFINITY;
    }
    for (int64_t i = 0; i < codes.rows; i++) {
        void *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < codes.cols; j++) {
            double mean = rfn_get(codes.type, row, j) + (bias ? rfn_get(codes.type, bias, j) : 0);
            rfn_put(codes.type, row, j, activate(activation, mean));
            sum[j] += rfn_get(codes.type, row, j);
        }
    }
}
