/* Large products and solutions of a fit on a device, where there is one. What it fails to do is
 * done here, and the fit then ends with its message (rb_device_work.failed). */
#include "linalg.h"

#include <rarebit/device.h>

/* Below, what moves takes longer than the processor does. */
static const double FEWEST_OPERATIONS = 2e8;

static bool is_worth_it(const rb_context *ctx, rb_type type, int64_t a, int64_t b, int64_t c) {
    return ctx->work && type == RB_FLOAT32 && !ctx->work->failed &&
           2 * (double)a * (double)b * (double)c >= FEWEST_OPERATIONS;
}

bool rb_device_multiplies(rb_context *ctx, double alpha, rb_dense a, rb_side op_a, rb_dense b,
                          rb_side op_b, double beta, rb_dense c) {
    int64_t inner = op_a == RB_TRANSPOSED ? a.rows : a.cols;
    const rb_device_product product = {
        c.rows, c.cols, inner, (float)alpha,          (float)beta,          a.data, b.data, c.data,
        a.ld,   b.ld,   c.ld,  op_a == RB_TRANSPOSED, op_b == RB_TRANSPOSED};
    if (!is_worth_it(ctx, c.type, c.rows, c.cols, inner)) return false;
    ctx->work->failed = ctx->device->product(ctx->work, &product) != RB_OK;
    return !ctx->work->failed;
}

bool rb_device_solves(rb_context *ctx, rb_dense l, int64_t block, bool from_left, rb_dense b,
                      rb_dense x) {
    int64_t others = from_left ? x.cols : x.rows;
    bool gaps = b.ld != b.cols || x.ld != x.cols || l.ld != l.cols;
    if (gaps || !is_worth_it(ctx, x.type, l.rows, l.rows, others)) return false;
    ctx->work->failed = ctx->device->solve(ctx->work, l.data, l.rows, block, from_left, b.data,
                                           x.data, others) != RB_OK;
    return !ctx->work->failed;
}

void rb_device_keep(rb_context *ctx, const void *matrix) {
    if (ctx->work && !ctx->work->failed)
        ctx->work->failed = ctx->device->keep(ctx->work, matrix) != RB_OK;
}
