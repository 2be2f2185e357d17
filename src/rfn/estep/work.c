/* Scratch memory and the residual (mu P - Q)' that every E-step needs. */
#include "estep.h"

#include <string.h>

rb_error rfn_work_new(rb_context *ctx, rb_type type, int64_t units, int64_t samples,
                      rfn_work *work) {
    *work = (rfn_work){0};
    int64_t slices = samples / RFN_SLICE + 1;
    rb_error err = rb_dense_new(ctx, type, RFN_UNITS_AT_ONCE, samples, &work->residual);
    if (!err) {
        err = rb_dense_new(ctx, type, RFN_UNITS_AT_ONCE, samples, &work->moved);
    }
    if (err) {
        return err;
    }
    work->target = rb_alloc_zero(ctx, samples, rb_type_size(type));
    work->squares = rb_alloc_zero(ctx, slices, sizeof *work->squares);
    work->changes = rb_alloc_zero(ctx, samples, rb_type_size(type));
    work->alive = rb_alloc_zero(ctx, units, sizeof *work->alive);
    return work->target && work->squares && work->changes && work->alive ? RB_OK : RB_ERROR_MEMORY;
}

void rfn_work_free(rfn_work *work) {
    rb_dense_free(&work->residual);
    rb_dense_free(&work->moved);
    rb_free(work->target);
    rb_free(work->squares);
    rb_free(work->changes);
    rb_free(work->alive);
    *work = (rfn_work){0};
}

void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t first,
                  int64_t count, rfn_work *work) {
    rb_dense residual = work->residual;
    residual.rows = count;
    residual.cols = codes.cols;
    rb_dense_copy(rb_dense_rows(problem->linear, first, count), residual);
    rb_gemm_parallel(ctx, 1, rb_dense_rows(problem->hessian, first, count), RB_PLAIN, codes,
                     RB_PLAIN, -1, residual);
}
