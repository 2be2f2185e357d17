/* Q = V Psi^-1 W + M^-1 xi of samples, which becomes Q', a unit a row.
 *
 * Loadings that are shrunk are mostly 0. Then Q' is a product with lists of those that are not, and
 * with pieces of V', which stay in the cache. What is added to each sample is one more entry of a
 * list: V' has a row of ones below its own.
 */
#include "rfn/fit.h"

/* The samples of a piece; one in EVERY rows tells how many loadings are not 0. */
enum { PIECE = 16, EVERY = 8, LEAST_SAMPLES = 512 };
/* In places of a dense product, of which there is one for each unit and feature: of an entry of a
 * list, and of turning a feature. */
static const double ENTRY = 2.5, TURN = 12;

void rfn_listed_free(rfn_listed *listed) {
    rb_turned_clear(&listed->by_features);
    rb_turned_clear(&listed->by_units);
    rb_free(listed->pieces.data);
}

double rfn_listed_bytes(rb_type type, int64_t features, int64_t units) {
    double entries = (double)(features + 1) * (double)units;
    return (1 + 1 / ENTRY) * entries * (double)(rb_type_size(type) + sizeof(int32_t));
}

static bool pays(double entries, int64_t features, int64_t units) {
    double m = (double)features;
    return ENTRY * entries + TURN * m < m * (double)units;
}

/* Entries of the lists, by some rows. */
static double guess_entries(rb_dense weighted) {
    int64_t count = 0, rows = 0;
    for (int64_t k = 0; k < weighted.rows; k += EVERY, rows++)
        for (int64_t j = 0; j < weighted.cols; j++)
            count += rb_dense_get(weighted, k, j) != 0;
    return (double)count / (double)rows * (double)weighted.rows;
}

static rb_error hold(rb_context *ctx, rb_dense weighted, rfn_listed *listed) {
    int64_t m = weighted.rows + 1, entries = m * weighted.cols;
    int64_t pieces = rb_context_threads(ctx) * m * PIECE;
    size_t size = rb_type_size(weighted.type);
    rb_turned *lists = &listed->by_features;
    rb_error err = rb_buffer_hold(ctx, &lists->starts, m + 1, sizeof(int64_t));
    err = err ? err : rb_buffer_hold(ctx, &lists->columns, entries, sizeof(int32_t));
    err = err ? err : rb_buffer_hold(ctx, &lists->values, entries, size);
    err = err ? err : rb_buffer_hold(ctx, &listed->pieces, pieces, size);
    for (int64_t at = (m - 1) * PIECE; !err && at < pieces; at += m * PIECE)
        for (int64_t i = 0; i < PIECE; i++)
            rb_put(weighted.type, listed->pieces.data, at + i, 1);
    return err;
}

/* Some more entries of the row after those before; their number then. */
static int64_t add_row(const rb_context *ctx, rb_dense weighted, const void *row, int64_t count,
                       const rb_turned *lists) {
    char *values = lists->values.data;
    return count + rb_kernels_of(ctx)->of[weighted.type].compress(
                       weighted.cols, 1, row, (int32_t *)lists->columns.data + count,
                       values + count * (int64_t)rb_type_size(weighted.type));
}

rb_error rfn_list_weights(rb_context *ctx, rfn_persistent *p) {
    const rb_problem *problem = &p->setup->problem;
    rfn_listed *listed = &p->listed;
    rb_dense weighted = p->weighted;
    int64_t m = weighted.rows, l = weighted.cols, count = 0;
    listed->on = !problem->sparse && problem->n_samples >= LEAST_SAMPLES && m > 0 &&
                 pays(guess_entries(weighted), m, l);
    rb_error err = listed->on ? hold(ctx, weighted, listed) : RB_OK;
    if (err || !listed->on) return err;
    rb_turned *lists = &listed->by_features;
    int64_t *starts = lists->starts.data;
    for (int64_t k = 0; k <= m; k++) {
        starts[k] = count;
        count = add_row(ctx, weighted, k < m ? rb_dense_row(weighted, k) : p->block.offset, count,
                        lists);
    }
    starts[m + 1] = count;
    rb_csr features = {m + 1, l, starts, lists->columns.data, lists->values.data, weighted.type};
    return rb_csr_turn(ctx, &listed->by_units, features, &listed->units);
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
