/* Non-negative least squares of many samples that share a matrix, by sweeps: each unit in turn
 * takes its best value given the others (the HALS rule of A. Cichocki and A.-H. Phan, "Fast local
 * algorithms for large scale nonnegative matrix and tensor factorizations", IEICE Trans.
 * Fundamentals E92-A, 2009; several sweeps for one product with the data, as N. Gillis and F.
 * Glineur, "Accelerated multiplicative updates and hierarchical ALS algorithms for nonnegative
 * matrix factorization", Neural Computation 24, 2012, have it).
 *
 * A tile of samples is swept at once, units first, so that a vector holds many of them. Where
 * samples are to come to their minimum, those that have leave the tile, and others take their
 * places; the last few are swept one by one, which costs nothing for units that stay at 0.
 */
#include "linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* After so many sweeps an active set is cheaper. So few samples are swept one by one; what is left
 * of their q is computed anew in every fourth sweep, for rounding. */
enum { TILE = RB_DESCENT_SAMPLES, MAX_SWEEPS = 200, FEW = 16, ANEW = 4 };
/* Where a sweep changes more than SLOW of what the one before did, steps go beyond the best value
 * of a unit (successive over-relaxation); and every few sweeps the units have another order, since
 * one of them alone may take several times as many. */
enum { ORDERS = 16, TURNS = 4 };
static const double SLOW = 0.5, LONG = 1.3;
/* Of what a sweep changes the next one changes less than this only by chance. */
static const double MIN_SHARE = 1.0 / 3;

/* What a worker has: a tile, and one sample. */
struct tile {
    rb_descent all;
    struct one {
        void *linear, *codes, *rest; /* of each unit */
    } one;
};

/* Values of these, by whole lines of the cache. */
static int64_t tile_values(int64_t units) {
    enum { LINE = 16 };
    int64_t values = TILE * (2 * units + 3) + (RB_DESCENT_UNITS + 3) * units;
    return (values + LINE - 1) / LINE * LINE;
}

static struct tile tile_of(const rb_nnls *s, int worker) {
    int64_t units = s->gram.rows;
    size_t size = rb_type_size(s->gram.type), row = TILE * size, column = (size_t)units * size;
    char *q = rb_dense_row(s->tiles, worker), *x = q + TILE * column, *steps = x + TILE * column,
         *changes = steps + row, *largest = changes + row, *rows = largest + row,
         *one = rows + RB_DESCENT_UNITS * column;
    return (struct tile){{units, s->gram.data, q, x, steps, changes, largest, rows},
                         {one, one + column, one + 2 * column}};
}

void rb_nnls_new(rb_scratch *scratch, rb_type type, int64_t units, bool active, rb_nnls *out) {
    int64_t workers = rb_context_threads(scratch->ctx);
    *out = (rb_nnls){.ctx = scratch->ctx};
    rb_dense_take(scratch, type, units, units, &out->gram);
    rb_dense_take(scratch, type, workers, tile_values(units), &out->tiles);
    out->orders = rb_take(scratch, ORDERS, (size_t)units * sizeof *out->orders);
    for (int64_t j = 0; out->orders && j < units; j++)
        out->orders[j] = j;
    for (int64_t turn = 1; out->orders && turn < ORDERS; turn++) {
        rb_draws draws = {.stream = {.purpose = RB_RANDOM_SWEEP, .restart = (uint32_t)turn}};
        rb_draw_order(&draws, units, out->orders + turn * units);
    }
    if (active) out->active = rb_active_take(scratch, units);
}

/* The order of a sweep: in the first ones the units' own. */
static const int64_t *order_of(const rb_nnls *s, int64_t turn) {
    return s->orders + turn / TURNS % ORDERS * s->gram.rows;
}

static double sweep(const rb_nnls *s, const struct tile *tile, int64_t turn) {
    return rb_kernels_of(s->ctx)->of[s->gram.type].descend(&tile->all, order_of(s, turn));
}

/* ---- some sweeps ---- */

static void descend_tile(const rb_nnls *s, int64_t sweeps, double share, rb_dense linear,
                         rb_dense codes, int worker) {
    struct tile tile = tile_of(s, worker);
    rb_dense q = {tile.all.linear, s->gram.rows, linear.rows, TILE, linear.type};
    rb_dense x = {tile.all.codes, s->gram.rows, codes.rows, TILE, codes.type};
    if (codes.rows < TILE) rb_dense_zero(rb_dense_rows(s->tiles, worker, 1));
    rb_dense_transpose(linear, q);
    rb_dense_transpose(codes, x);
    for (int k = 0; k < TILE; k++)
        rb_put(codes.type, tile.all.steps, k, 1);
    double first = 0;
    for (int64_t t = 0; t < sweeps; t++) {
        double gain = sweep(s, &tile, 0);
        first = t == 0 ? gain : first;
        if (!(gain > share * first)) break;
    }
    rb_dense_transpose(x, codes);
}

void rb_nnls_descend(const rb_nnls *s, int64_t sweeps, double share, rb_dense linear,
                     rb_dense codes, int worker) {
    for (int64_t i = 0; i < codes.rows; i += TILE) {
        int64_t count = rb_smaller(codes.rows - i, TILE);
        descend_tile(s, sweeps, share, rb_dense_rows(linear, i, count),
                     rb_dense_rows(codes, i, count), worker);
    }
}

/* ---- to the minimum ---- */

static double still_to_go(rb_course *course, double change) {
    if (change == 0) return 0;
    bool first = course->change == 0;
    double share = first ? 0 : change / course->change;
    double slower = fmax(fmax(share, course->share), MIN_SHARE);
    *course = (rb_course){change, share};
    return first || slower >= 1 ? INFINITY : change * slower / (1 - slower);
}

bool rb_at_rest(rb_type type, int64_t units, double tolerance, rb_course *course, double change,
                double largest) {
    double epsilon = type == RB_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    double rounding = (2 + sqrt((double)units)) * epsilon;
    double rest = still_to_go(course, change);
    return isfinite(largest) && (rest <= tolerance * largest || change <= rounding * largest);
}

/* Unit j of a sample. */
static void *place(rb_dense a, bool across, int64_t sample, int64_t j) {
    return rb_dense_part(a, across ? j : sample, 1, across ? sample : j, 1).data;
}

/* Samples on their way, those of a worker. */
struct solving {
    const rb_nnls *nnls;
    double tolerance;
    const rb_nnls_samples *samples;
    struct tile tile;
    int worker;
};

/* A sample in a column of the tile, or in none. */
struct lane {
    int64_t sample; /* -1: none */
    int64_t sweeps; /* so far */
    rb_course course;
};

static struct lane enter(const struct solving *s, int64_t i, int64_t column) {
    const rb_nnls_samples *from = s->samples;
    const rb_descent *all = &s->tile.all;
    rb_type type = from->codes.type;
    int64_t sample = from->which ? from->which[i] : i;
    for (int64_t j = 0; j < all->units; j++) {
        rb_put(type, all->linear, j * TILE + column,
               rb_get(type, place(from->linear, from->across, sample, j), 0));
        rb_put(type, all->codes, j * TILE + column,
               rb_get(type, place(from->codes, from->across, sample, j), 0));
    }
    rb_put(type, all->steps, column, 1);
    return (struct lane){.sample = sample};
}

/* `codes`: one in so many values. */
static void leave(const struct solving *s, int64_t sample, rb_type type, const void *codes,
                  int64_t step) {
    rb_dense to = s->samples->codes;
    for (int64_t j = 0; j < s->tile.all.units; j++)
        rb_put(to.type, place(to, s->samples->across, sample, j), 0, rb_get(type, codes, j * step));
}

/* rest = q - G x */
static void find_rest(const rb_nnls *s, const struct one *one) {
    rb_dense g = s->gram;
    memcpy(one->rest, one->linear, (size_t)g.rows * rb_type_size(g.type));
    for (int64_t j = 0; j < g.rows; j++) {
        double code = rb_get(g.type, one->codes, j);
        if (code != 0) rb_axpy(s->ctx, g.type, g.rows, -code, rb_dense_row(g, j), one->rest);
    }
}

static void solve_exactly(const struct solving *s, int64_t sample) {
    rb_dense gram = s->nnls->gram;
    rb_active *active = &s->nnls->active[s->worker];
    for (int64_t j = 0; j < gram.rows; j++) {
        active->x[j] = rb_get(gram.type, s->tile.one.codes, j);
        active->linear[j] = rb_get(gram.type, s->tile.one.linear, j);
    }
    rb_active_solve(gram, active);
    leave(s, sample, RB_FLOAT64, active->x, 1);
}

/* From the codes in a column of the tile on. */
static void solve_one(const struct solving *s, int64_t column, struct lane *lane) {
    const rb_nnls *nnls = s->nnls;
    const rb_descent *all = &s->tile.all;
    const struct one *one = &s->tile.one;
    rb_type type = nnls->gram.type;
    double step = rb_get(type, all->steps, column);
    bool come = false;
    for (int64_t j = 0; j < all->units; j++) {
        rb_put(type, one->linear, j, rb_get(type, all->linear, j * TILE + column));
        rb_put(type, one->codes, j, rb_get(type, all->codes, j * TILE + column));
    }
    for (int64_t t = 0; !come && lane->sweeps < MAX_SWEEPS; t++, lane->sweeps++) {
        double largest, change;
        if (t % ANEW == 0) find_rest(nnls, one);
        change = rb_kernels_of(nnls->ctx)->of[type].descend_one(
            all->units, order_of(nnls, lane->sweeps), step, all->gram, one->rest, one->codes,
            &largest);
        come = rb_at_rest(type, all->units, s->tolerance, &lane->course, change, largest);
        if (lane->course.share > SLOW) step = LONG;
    }
    if (come)
        leave(s, lane->sample, type, one->codes, 1);
    else if (nnls->active)
        solve_exactly(s, lane->sample);
}

/* Has the sample in a lane left the tile, after a sweep? */
static bool has_left(const struct solving *s, int64_t column, struct lane *lane) {
    const rb_descent *all = &s->tile.all;
    rb_type type = s->nnls->gram.type;
    double change = rb_get(type, all->changes, column);
    double largest = rb_get(type, all->largest, column);
    bool come = rb_at_rest(type, all->units, s->tolerance, &lane->course, change, largest);
    if (lane->course.share > SLOW) rb_put(type, all->steps, column, LONG);
    if (!come && ++lane->sweeps < MAX_SWEEPS) return false;
    if (come)
        leave(s, lane->sample, type, (char *)all->codes + column * (int64_t)rb_type_size(type),
              TILE);
    else
        solve_one(s, column, lane);
    return true;
}

void rb_nnls_solve(const rb_nnls *nnls, double tolerance, const rb_nnls_samples *samples,
                   int worker) {
    struct solving s = {nnls, tolerance, samples, tile_of(nnls, worker), worker};
    struct lane lanes[TILE];
    int64_t next = 0, busy = 0;
    if (samples->count > FEW) rb_dense_zero(rb_dense_rows(nnls->tiles, worker, 1));
    for (int k = 0; k < TILE; k++)
        lanes[k].sample = -1;
    for (int64_t turn = 0;; turn++) {
        for (int k = 0; k < TILE && next < samples->count; k++) {
            if (lanes[k].sample >= 0) continue;
            lanes[k] = enter(&s, next++, k);
            busy++;
        }
        if (busy <= FEW && next == samples->count) break;
        sweep(nnls, &s.tile, turn);
        for (int k = 0; k < TILE; k++) {
            if (lanes[k].sample < 0 || !has_left(&s, k, &lanes[k])) continue;
            lanes[k].sample = -1;
            busy--;
        }
    }
    for (int k = 0; busy > 0 && k < TILE; k++)
        if (lanes[k].sample >= 0) solve_one(&s, k, &lanes[k]);
}
