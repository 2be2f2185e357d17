/* Q = V Psi^-1 W + M^-1 xi of samples, which becomes Q', a unit a row.
 *
 * Loadings that are shrunk are mostly 0. Then Q' is a product with lists of those that are not, and
 * with pieces of V', which stay in the cache. What is added to each sample is one more entry of a
 * list: V' has a row of ones below its own.
 */
#include "rfn/fit.h"

/* Samples of a piece. */
enum { PIECE = 16, LEAST_SAMPLES = 512, EVERY = 8 };
/* In places of a dense product, of which there is one for each unit and feature: of an entry of a
 * list, and of turning a feature. */
static const double ENTRY = 2.5, TURN = 12;

void rfn_listed_free(rfn_listed *listed) {
    rb_csr_memory_free(&listed->memory);
    rb_free(listed->turned.data);
    rb_free(listed->pieces.data);
}

double rfn_listed_bytes(rb_type type, int64_t features, int64_t units) {
    double values = (double)(features + 1) * (double)units, size = (double)rb_type_size(type);
    return values * size + values / ENTRY * (size + sizeof(int32_t));
}

static bool pays(rb_dense weighted) {
    double l = (double)weighted.cols;
    return weighted.rows > 0 && ENTRY * rb_dense_share(weighted, EVERY) * l + TURN < l;
}

static rb_error hold(rb_context *ctx, rb_dense weighted, rfn_listed *listed) {
    int64_t rows = weighted.rows + 1, pieces = rb_context_threads(ctx) * rows * PIECE;
    size_t size = rb_type_size(weighted.type);
    rb_error err = rb_buffer_hold(ctx, &listed->turned, rows * weighted.cols, size);
    err = err ? err : rb_buffer_hold(ctx, &listed->pieces, pieces, size);
    for (int64_t at = (rows - 1) * PIECE; !err && at < pieces; at += rows * PIECE)
        for (int64_t i = 0; i < PIECE; i++)
            rb_put(weighted.type, listed->pieces.data, at + i, 1);
    return err;
}

rb_error rfn_list_weights(rb_context *ctx, rfn_persistent *p) {
    const rb_problem *problem = &p->setup->problem;
    rfn_listed *listed = &p->listed;
    rb_dense weighted = p->weighted;
    int64_t m = weighted.rows, l = weighted.cols;
    listed->on = !problem->sparse && problem->n_samples >= LEAST_SAMPLES && pays(weighted);
    if (!listed->on) return RB_OK;
    rb_error err = hold(ctx, weighted, listed);
    rb_dense turned = {listed->turned.data, l, m + 1, m + 1, weighted.type};
    rb_dense offset = {p->block.offset, 1, l, l, weighted.type};
    if (err) return err;
    rb_dense_transpose(weighted, rb_dense_part(turned, 0, l, 0, m));
    rb_dense_transpose(offset, rb_dense_part(turned, 0, l, m, 1));
    return rb_csr_compress(ctx, &listed->memory, turned, &listed->units);
}

static void by_lists(const rb_context *ctx, const rfn_listed *listed, rb_dense v, int worker,
                     rb_dense linear) {
    rb_csr units = listed->units;
    size_t size = rb_type_size(v.type);
    char *values = (char *)listed->pieces.data + (size_t)(worker * units.cols * PIECE) * size;
    rb_phase before = rb_phase_sparse(ctx, units.starts[units.rows], 1, v.rows, size);
    for (int64_t first = 0; first < v.rows; first += PIECE) {
        int64_t count = rb_smaller(v.rows - first, PIECE);
        rb_dense piece = {values, units.cols, count, PIECE, v.type};
        rb_dense_transpose(rb_dense_rows(v, first, count), rb_dense_rows(piece, 0, v.cols));
        rb_kernels_of(ctx)->of[v.type].csr(units, 0, piece, false,
                                           rb_dense_part(linear, 0, units.rows, first, count));
    }
    rb_phase_end(ctx, before);
}

void rfn_collect_linear(const rb_context *ctx, const rfn_persistent *p, const rb_block *block,
                        int64_t first, int worker, rb_dense rows, rb_dense linear) {
    if (p->listed.on) {
        by_lists(ctx, &p->listed, rb_dense_rows(block->dense, first, rows.rows), worker, linear);
        return;
    }
    rb_block_project(ctx, block, first, p->weighted, rows);
    rfn_add_offset(ctx, 1, p->block.offset, rows);
    rb_dense_transpose(rows, linear);
}
