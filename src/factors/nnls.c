/* Non-negative least squares of many rows that share a matrix.
 *
 * Sweeps: each unit in turn takes its best value given the others (the HALS rule of A. Cichocki and
 * A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations",
 * IEICE Trans. Fundamentals E92-A, 2009; several sweeps for one product with the data, as N. Gillis
 * and F. Glineur, "Accelerated multiplicative updates and hierarchical ALS algorithms for
 * nonnegative matrix factorization", Neural Computation 24, 2012, have it). Rows are turned so that
 * a vector holds many of them.
 *
 * Exact solutions: sweeps soon know which units are positive; an active set method (rb_active)
 * goes on from there in float64, for the rows that need it.
 */
#include "nnls.h"

#include <math.h>
#include <string.h>

enum { TILE = RB_DESCENT_SAMPLES };

static int64_t exact_values(int64_t units) {
    return units * (units + 3); /* x, p, the target, the matrix of the support */
}

void nnls_new(rb_scratch *scratch, rb_type type, int64_t units, bool exact, nnls *out) {
    int64_t workers = rb_context_threads(scratch->ctx);
    *out = (nnls){.ctx = scratch->ctx};
    rb_dense_take(scratch, type, units, units, &out->gram);
    rb_dense_take(scratch, type, workers, 2 * units * TILE, &out->tiles);
    if (!exact) return;
    rb_dense_take(scratch, RB_FLOAT64, workers, exact_values(units), &out->exact);
    out->supports = rb_take(scratch, workers * units, sizeof *out->supports);
}

static void descend_tile(const nnls *s, int64_t sweeps, double share, rb_dense linear,
                         rb_dense rows, int worker) {
    rb_dense tiles = rb_dense_rows(s->tiles, worker, 1);
    int64_t units = s->gram.rows;
    rb_dense p = {tiles.data, units, linear.rows, TILE, tiles.type};
    rb_dense x = {rb_dense_part(tiles, 0, 1, units * TILE, 1).data, units, rows.rows, TILE,
                  tiles.type};
    if (rows.rows < TILE) rb_dense_zero(tiles);
    rb_dense_transpose(linear, p);
    rb_dense_transpose(rows, x);
    double first = 0;
    for (int64_t t = 0; t < sweeps; t++) {
        double gain =
            rb_kernels_of(s->ctx)->of[x.type].descend(units, s->gram.data, p.data, x.data);
        first = t == 0 ? gain : first;
        if (!(gain > share * first)) break;
    }
    rb_dense_transpose(x, rows);
}

void nnls_descend(const nnls *s, int64_t sweeps, double share, rb_dense linear, rb_dense rows,
                  int worker) {
    for (int64_t i = 0; i < rows.rows; i += TILE) {
        int64_t count = rows.rows - i < TILE ? rows.rows - i : TILE;
        descend_tile(s, sweeps, share, rb_dense_rows(linear, i, count),
                     rb_dense_rows(rows, i, count), worker);
    }
}

/* ---- the rows that need more ---- */

/* One row, in float64. */
struct row {
    rb_dense gram;
    rb_active at;
};

/* Minus the derivative of unit j, and the size of what it is the difference of. */
static double descent(const struct row *r, int64_t j, double *size) {
    const void *g = rb_dense_row(r->gram, j);
    double sum = r->at.linear[j];
    *size = fabs(sum);
    for (int64_t l = 0; l < r->gram.rows; l++) {
        double term = r->at.x[l] != 0 ? rb_get(r->gram.type, g, l) * r->at.x[l] : 0;
        sum -= term;
        *size += fabs(term);
    }
    return sum;
}

/* Is the row stationary to a share of its terms? */
static bool is_solved(const struct row *r, double tolerance) {
    for (int64_t j = 0; j < r->gram.rows; j++) {
        double size, down = descent(r, j, &size);
        bool fixed = r->at.x[j] == 0 && down <= 0;
        if (!fixed && fabs(down) > tolerance * size) return false;
    }
    return true;
}

/* The unit at 0 that wants to rise most, beyond rounding, or -1. */
static int64_t steepest(const struct row *r) {
    int64_t best = -1;
    double most = 0;
    for (int64_t j = 0; j < r->gram.rows; j++) {
        double size, down = r->at.x[j] > 0 ? 0 : descent(r, j, &size);
        if (down <= 0 || down <= 1e-12 * size) continue;
        down /= sqrt(fmax(rb_dense_get(r->gram, j, j), 1e-300));
        if (down > most) {
            most = down;
            best = j;
        }
    }
    return best;
}

static void settle(struct row *r) {
    r->at.count = 0;
    for (int64_t j = 0; j < r->gram.rows; j++)
        if (r->at.x[j] > 0) r->at.support[r->at.count++] = j;
    /* Each turn a unit leaves or enters: more turns than this are a circle of rounding. */
    for (int64_t turn = 0; turn < 3 * r->gram.rows; turn++) {
        if (!rb_active_solve(r->gram, &r->at)) return;
        if (!rb_active_approach(&r->at)) continue;
        int64_t enters = steepest(r);
        if (enters < 0) return;
        r->at.support[r->at.count++] = enters;
    }
}

void nnls_solve(const nnls *s, rb_dense linear, rb_dense rows, int worker) {
    const double tolerance = rows.type == RB_FLOAT32 ? 1e-6 : 1e-10;
    int64_t units = s->gram.rows;
    double *values = rb_dense_row(s->exact, worker);
    nnls_descend(s, 200, 1e-9, linear, rows, worker);
    struct row r = {.gram = s->gram,
                    .at.x = values,
                    .at.linear = values + units,
                    .at.target = values + 2 * units,
                    .at.matrix = values + 3 * units,
                    .at.support = s->supports + worker * units};
    for (int64_t i = 0; i < rows.rows; i++) {
        for (int64_t j = 0; j < units; j++) {
            r.at.x[j] = rb_dense_get(rows, i, j);
            r.at.linear[j] = rb_dense_get(linear, i, j);
        }
        if (is_solved(&r, tolerance)) continue;
        settle(&r);
        for (int64_t j = 0; j < units; j++)
            rb_dense_set(rows, i, j, r.at.x[j]);
    }
}
