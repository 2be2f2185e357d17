/* The posterior of samples that lack values (Ghahramani and Jordan, "Supervised learning from
 * incomplete data via an EM approach", NIPS 1994; for factor analysis: what is missing is
 * integrated out, and what is there has the rows W_o, Psi_o of its features).
 *
 *     P_o = M^-1 + W_o' Psi_o^-1 W_o = M^-1 + sum over o of w_k w_k' / psi_k,  Sigma_o = P_o^-1
 *
 * Samples that lack the same features share both. All P of many patterns are one product, of the
 * masks (patterns x features) and the packed w_k w_k' / psi_k (features x l (l + 1) / 2), and so
 * are the sums of Sigma_o over the samples that lack a feature: as fast as the BLAS, however
 * irregular the patterns. Cost: m l (l + 1) a pattern each; and l^3 for the inverse.
 */
#include "patterns.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, TILE = 64, TILE_CELLS = 1 << 18, PIECE_CELLS = 1 << 20, MOST_ROWS = 1024 };

/* ---- pieces ---- */

int64_t rfn_piece_samples(int64_t features) {
    int64_t samples = PIECE_CELLS / features;
    return samples < ROWS ? ROWS : samples > MOST_ROWS ? MOST_ROWS : samples;
}

void rfn_piece_take(rb_scratch *scratch, rb_type type, int64_t samples, int64_t features,
                    rfn_piece *piece) {
    rb_dense_take(scratch, type, samples, features, &piece->rows);
    rb_dense_take(scratch, type, samples, features, &piece->there);
    piece->keys = rb_take(scratch, samples, sizeof *piece->keys);
    piece->lacking = rb_take(scratch, samples, sizeof *piece->lacking);
}

/* splitmix64, by Vigna: a number for each feature. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* The key of a set of features is the sum of their numbers: sets that differ share one with a
 * chance of 2^-128. */
static void make_key(rfn_piece *piece, int64_t i) {
    rb_dense there = rb_dense_rows(piece->there, i, 1);
    piece->keys[i][0] = piece->keys[i][1] = 0;
    piece->lacking[i] = 0;
    for (int64_t k = 0; k < there.cols; k++) {
        if (rb_dense_get(there, 0, k) != 0) continue;
        piece->keys[i][0] += mix((uint64_t)k);
        piece->keys[i][1] += mix((uint64_t)k + ((uint64_t)1 << 32));
        piece->lacking[i]++;
    }
}

static int compare(const void *a, const void *b) {
    const rfn_keyed *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

void rfn_sort_keyed(rfn_keyed *list, int64_t count) {
    qsort(list, (size_t)count, sizeof *list, compare);
}

struct loading {
    rb_context *ctx;
    const rb_block *block;
    int64_t first;
    bool keys;
    rfn_piece piece;
};

static void load_rows(void *arg, int64_t task, int worker) {
    struct loading *l = arg;
    int64_t first = task * ROWS;
    int64_t count = rb_smaller(l->piece.rows.rows - first, ROWS);
    rb_block_rows(l->block, l->first + first, rb_dense_rows(l->piece.rows, first, count));
    for (int64_t i = first; i < first + count; i++) {
        rb_kernels_of(l->ctx)->of[l->piece.rows.type].split_row(
            l->piece.rows.cols, rb_dense_row(l->piece.rows, i), rb_dense_row(l->piece.there, i));
        if (l->keys) make_key(&l->piece, i);
    }
}

rfn_piece rfn_piece_load(rb_context *ctx, const rb_block *block, int64_t first, int64_t count,
                         bool keys, const rfn_piece *piece) {
    struct loading l = {ctx, block, first, keys, *piece};
    l.piece.rows = rb_dense_rows(piece->rows, 0, count);
    l.piece.there = rb_dense_rows(piece->there, 0, count);
    rb_parallel(ctx, (count + ROWS - 1) / ROWS, load_rows, &l);
    return l.piece;
}

void rfn_linear_part(rb_context *ctx, const rfn_prior *prior, rb_dense rows, rb_dense weighted,
                     rb_dense q) {
    for (int64_t i = 0; i < q.rows; i++)
        for (int64_t j = 0; j < q.cols; j++)
            rb_dense_set(q, i, j, prior->linear[j]);
    rb_gemm_parallel(ctx, 1, rows, RB_PLAIN, weighted, RB_PLAIN, 1, q);
}

/* ---- packed matrices ---- */

static int64_t padded(int64_t l) {
    return (l + RB_SWEEP_PAD - 1) / RB_SWEEP_PAD * RB_SWEEP_PAD;
}

/* A square for sweeps, and what they work in. */
static int64_t square_values(int64_t l) {
    return padded(l) * (padded(l) + RB_SWEEP_PAD);
}

void rfn_pattern_work_take(rb_scratch *scratch, rb_type type, int64_t features, int64_t l,
                           rfn_pattern_work *work) {
    int64_t packed = rfn_packed(l), tile = TILE_CELLS / packed;
    tile = tile < TILE ? TILE : tile;
    int64_t workers = rb_context_threads(scratch->ctx);
    *work = (rfn_pattern_work){.l = l};
    rb_dense_take(scratch, type, rb_smaller(tile, features), packed, &work->outer);
    rb_dense_take(scratch, type, workers * TILE, packed, &work->sums);
    work->squares = rb_take(scratch, workers, (size_t)square_values(l) * sizeof *work->squares);
}

void rfn_unpack(rb_dense packed, int64_t row, int64_t l, bool both, double *square, int64_t ld) {
    rb_dense line = rb_dense_rows(packed, row, 1);
    for (int64_t j = 0, at = 0; j < l; at += ++j) {
        rb_dense_copy(rb_dense_part(line, 0, 1, at, j + 1),
                      (rb_dense){square + j * ld, 1, j + 1, ld, RB_FLOAT64});
        for (int64_t c = 0; both && c < j; c++)
            square[c * ld + j] = square[j * ld + c];
    }
}

struct making {
    rb_context *ctx;
    const rfn_parameters *parameters;
    const rfn_pattern_work *work;
    int64_t first; /* feature of the tile */
    rb_dense masks, precisions, covariances, loadings, products;
    double *log_dets;
    atomic_bool failed;
};

/* w_k w_k' / psi_k */
static void make_outer(void *arg, int64_t index, int worker) {
    const struct making *m = arg;
    rb_dense w = m->parameters->loadings;
    int64_t k = m->first + index;
    const void *row = rb_dense_row(w, k);
    rb_dense line = rb_dense_rows(m->work->outer, index, 1);
    rb_dense_zero(line);
    for (int64_t j = 0, at = 0; j < w.cols; at += ++j) {
        rb_axpy(m->ctx, w.type, j + 1, rb_get(w.type, row, j) / m->parameters->noise[k], row,
                rb_dense_part(line, 0, 1, at, j + 1).data);
    }
}

static void start_precisions(const rfn_parameters *parameters, rb_dense precisions) {
    rb_dense prior = parameters->prior.precision;
    int64_t l = parameters->loadings.cols;
    for (int64_t j = 0, at = 0; j < l; j++)
        for (int64_t c = 0; c <= j; c++, at++) {
            double value = prior.rows > 0 ? rb_dense_get(prior, j, c) : j == c;
            for (int64_t g = 0; g < precisions.rows; g++)
                rb_dense_set(precisions, g, at, value);
        }
}

void rfn_precisions(rb_context *ctx, const rfn_parameters *parameters, rb_dense masks,
                    const rfn_pattern_work *work, rb_dense precisions) {
    struct making m = {.ctx = ctx, .parameters = parameters, .work = work};
    start_precisions(parameters, precisions);
    for (; m.first < masks.cols; m.first += work->outer.rows) {
        int64_t tile = work->outer.rows;
        rb_dense outer = rb_dense_rows(work->outer, 0, rb_smaller(masks.cols - m.first, tile));
        rb_parallel(ctx, outer.rows, make_outer, &m);
        rb_gemm_parallel(ctx, 1, rb_dense_part(masks, 0, masks.rows, m.first, outer.rows), RB_PLAIN,
                         outer, RB_PLAIN, 1, precisions);
    }
}

static void invert(void *arg, int64_t g, int worker) {
    struct making *m = arg;
    int64_t l = m->work->l, ld = padded(l);
    double *square = m->work->squares + worker * square_values(l), *work = square + ld * ld;
    memset(square, 0, (size_t)(ld * ld) * sizeof *square);
    rfn_unpack(m->precisions, g, l, false, square, ld);
    m->log_dets[g] = 0;
    if (rb_kernels_of(m->ctx)->sweep(l, square, ld, work, &m->log_dets[g]) >= 0) m->failed = true;
    m->log_dets[g] *= -1;
    rb_dense line = rb_dense_rows(m->covariances, g, 1);
    for (int64_t j = 0, at = 0; j < l; at += ++j)
        rb_kernels_of(m->ctx)->of[line.type].narrow(j + 1, -1, square + j * ld,
                                                    rb_dense_part(line, 0, 1, at, j + 1).data);
}

rb_error rfn_covariances(rb_context *ctx, rb_dense precisions, const rfn_pattern_work *work,
                         rb_dense covariances, double *log_dets) {
    struct making m = {.ctx = ctx,
                       .work = work,
                       .precisions = precisions,
                       .covariances = covariances,
                       .log_dets = log_dets};
    rb_parallel(ctx, precisions.rows, invert, &m);
    return m.failed ? rfn_fail_indefinite(ctx) : RB_OK;
}

rb_error rfn_fail_indefinite(rb_context *ctx) {
    return rb_fail(ctx, RB_ERROR_NUMERIC,
                   "the posterior precision of a sample with missing values is not positive "
                   "definite; scale the data (`scale=sd`) or take a smaller `eta`");
}

/* Sigma w for a packed Sigma, added to column k of products. */
static void add_product(const struct making *m, rb_dense sum, int64_t row, int64_t k) {
    rb_dense line = rb_dense_rows(sum, row, 1), products = m->products;
    int64_t l = m->work->l;
    for (int64_t j = 0, at = 0; j < l; at += ++j) {
        double own = rb_dense_get(m->loadings, k, j), total = 0;
        for (int64_t c = 0; c <= j; c++) {
            double sigma = rb_dense_get(line, 0, at + c);
            total += sigma * rb_dense_get(m->loadings, k, c);
            if (c < j) rb_dense_set(products, c, k, rb_dense_get(products, c, k) + sigma * own);
        }
        rb_dense_set(products, j, k, rb_dense_get(products, j, k) + total);
    }
}

static void add_tile(void *arg, int64_t index, int worker) {
    const struct making *m = arg;
    int64_t first = index * TILE;
    int64_t count = rb_smaller(m->masks.cols - first, TILE);
    rb_dense sum = rb_dense_rows(m->work->sums, worker * TILE, count);
    rb_gemm(1, rb_dense_part(m->masks, 0, m->masks.rows, first, count), RB_TRANSPOSED,
            m->covariances, RB_PLAIN, 0, sum);
    for (int64_t k = 0; k < count; k++)
        add_product(m, sum, k, first + k);
}

void rfn_add_lacking(rb_context *ctx, rb_dense loadings, rb_dense masks, rb_dense covariances,
                     const rfn_pattern_work *work, rb_dense products) {
    struct making m = {.ctx = ctx,
                       .work = work,
                       .loadings = loadings,
                       .masks = masks,
                       .covariances = covariances,
                       .products = products};
    rb_parallel(ctx, (masks.cols + TILE - 1) / TILE, add_tile, &m);
}
