/* Products of some samples of a block: by the BLAS, or by compressed rows. */
#include "blocks.h"

void block_project(const rb_context *ctx, const rb_block *block, int64_t first, rb_dense w,
                   rb_dense out) {
    if (block->sparse)
        rb_kernels_of(ctx)->of[w.type].csr(block->csr, first, out.rows, w, false, out);
    else
        rb_gemm(1, rb_dense_rows(block->dense, first, out.rows), RB_PLAIN, w, RB_PLAIN, 0, out);
}
