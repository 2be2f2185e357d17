/* The scaled projection with the reduced Hessian (Bertsekas 1982; Clevert et al. 2015, S9.5.2 and
 * Alg. S7): P(mu + lambda D), lambda = 1, 1/2, 1/4, ...
 *
 * In sample i a unit is active when its code is at most eps_i and the gradient pushes it further
 * down. The second condition is Bertsekas'; S9.5.2 and Alg. S3 have the first alone, with which
 * units on their way up from 0 would take the gradient's step. eps_i = min(1e-3, |mu_i -
 * P(mu_p)_i|) (eq. 208 with Bertsekas' cap, without which every unit is active). H is P with the
 * rows and columns of active units replaced by unit vectors, and D = -H^-1 (mu P - Q): Newton's
 * step in the free units, the gradient in the active ones. (S9.5.2 prints Sigma_p for P; with that
 * O did not fall in most problems.) lambda is halved 6 times at most; the other step of Alg. S7,
 * gamma, is 1.
 *
 * On the rectified set O falls for short steps (Theorem 14), unless the codes are stationary; on
 * the normalised one it may not. Samples with the same active units share a factorisation. Cost: at
 * most n factorisations of the free units: much where many are free, and a cascade then goes
 * without.
 */
#include "paper.h"
#include "rfn/patterns.h"

#include <math.h>
#include <string.h>

/* PRODUCTS_WORTH: what a cascade spends on the factorisations at most, in products of n l^2. */
enum { SAMPLES_AT_ONCE = 32, PRODUCTS_WORTH = 4 };

struct rfn_reduced {
    rb_scratch scratch; /* frees the arrays */
    double *near;       /* n: eps_i */
    /* n: samples with the same active units beside each other. Keys: a number that samples with
     * other active units hardly ever have, and how many units are free. */
    rfn_keyed *order;
    /* Of each thread: l x l, SAMPLES_AT_ONCE x l, and l units. */
    double *matrices, *sides;
    int64_t *free;
};

void rfn_reduced_free(rfn_reduced *r) {
    if (r) {
        rb_scratch_end(&r->scratch);
        rb_free(r);
    }
}

rb_error rfn_reduced_new(rb_context *ctx, int64_t units, int64_t samples, rfn_reduced **out) {
    int64_t rows = rb_context_threads(ctx) * units;
    rfn_reduced *r = *out = rb_alloc_zero(ctx, 1, sizeof *r);
    if (!r) return RB_ERROR_MEMORY;
    r->scratch.ctx = ctx;
    r->near = rb_take(&r->scratch, samples, sizeof *r->near);
    r->order = rb_take(&r->scratch, samples, sizeof *r->order);
    r->matrices = rb_take(&r->scratch, rows, (size_t)units * sizeof *r->matrices);
    r->sides = rb_take(&r->scratch, rows, SAMPLES_AT_ONCE * sizeof *r->sides);
    r->free = rb_take(&r->scratch, rows, sizeof *r->free);
    return r->scratch.err;
}

static bool is_active(const rfn_search *s, int64_t unit, int64_t sample) {
    rb_type type = s->codes.type;
    return rfn_is_dead(s->problem, unit) ||
           (rb_get(type, rb_dense_row(s->codes, unit), sample) <= s->reduced->near[sample] &&
            rb_get(type, rb_dense_row(s->gradient, unit), sample) > 0);
}

/* The distances |mu_i - P(mu_p)_i|, capped; search->next is P(mu_p). */
static void find_near(const rfn_search *s) {
    int64_t n = s->codes.cols;
    double *near = s->reduced->near;
    memset(near, 0, (size_t)n * sizeof *near);
    for (int64_t j = 0; j < s->codes.rows; j++) {
        const void *code = rb_dense_row(s->codes, j), *next = rb_dense_row(s->next, j);
        for (int64_t i = 0; i < n; i++) {
            double move = rb_get(s->codes.type, next, i) - rb_get(s->codes.type, code, i);
            near[i] += move * move;
        }
    }
    for (int64_t i = 0; i < n; i++)
        near[i] = fmin(1e-3, sqrt(near[i]));
}

/* FNV-1a over the active units. */
static void hash_sample(void *arg, int64_t i, int worker) {
    const rfn_search *s = arg;
    uint64_t hash = UINT64_C(14695981039346656037);
    uint64_t n_free = 0;
    for (int64_t j = 0; j < s->codes.rows; j++) {
        bool active = is_active(s, j, i);
        hash = (hash ^ (active ? 1 : 2)) * UINT64_C(1099511628211);
        n_free += !active;
    }
    s->reduced->order[i] = (rfn_keyed){{hash, n_free}, i};
}

static bool same_active(const rfn_search *s, int64_t a, int64_t b) {
    bool same = true;
    for (int64_t j = 0; same && j < s->codes.rows; j++)
        same = is_active(s, j, a) == is_active(s, j, b);
    return same;
}

/* Newton's step of `count` samples with the same free units. */
static void solve_group(const rfn_search *s, const rfn_keyed *group, int64_t count, int worker) {
    const rfn_reduced *r = s->reduced;
    rb_type type = s->codes.type;
    int64_t l = s->codes.rows, n_free = 0, *free = r->free + worker * l;
    double *matrix = r->matrices + worker * l * l, *sides = r->sides + worker * SAMPLES_AT_ONCE * l;
    for (int64_t j = 0; j < l; j++)
        if (!is_active(s, j, group->sample)) free[n_free++] = j;
    for (int64_t a = 0; a < n_free; a++) {
        const void *row = rb_dense_row(s->problem->hessian, free[a]);
        for (int64_t b = 0; b <= a; b++)
            matrix[a * n_free + b] = rb_get(type, row, free[b]);
        const void *gradient = rb_dense_row(s->gradient, free[a]);
        for (int64_t c = 0; c < count; c++)
            sides[c * n_free + a] = -rb_get(type, gradient, group[c].sample);
    }
    rb_solve_small(n_free, matrix, count, sides);
    for (int64_t a = 0; a < n_free; a++) {
        void *direction = rb_dense_row(s->direction, free[a]);
        for (int64_t c = 0; c < count; c++)
            rb_put(type, direction, group[c].sample, sides[c * n_free + a]);
    }
}

/* How many samples from `first` on are solved together. */
static int64_t group_size(const rfn_search *s, int64_t first) {
    int64_t count = 1, n = s->codes.cols;
    const rfn_keyed *group = s->reduced->order + first;
    while ((first + count) % SAMPLES_AT_ONCE && first + count < n &&
           group[count].key[0] == group->key[0] &&
           same_active(s, group[count].sample, group->sample))
        count++;
    return count;
}

static void solve_task(void *arg, int64_t task, int worker) {
    const rfn_search *s = arg;
    int64_t first = task * SAMPLES_AT_ONCE, count;
    int64_t end = first + rb_smaller(s->codes.cols - first, SAMPLES_AT_ONCE);
    for (; first < end && !rb_asked_to_stop(s->ctx); first += count) {
        count = group_size(s, first);
        solve_group(s, s->reduced->order + first, count, worker);
    }
}

/* Multiply-adds of all factorisations. */
static double work_of(const rfn_search *s) {
    double work = 0;
    for (int64_t first = 0, count; first < s->codes.cols; first += count) {
        count = group_size(s, first);
        double free = (double)s->reduced->order[first].key[1];
        work += free * free * (free / 6 + (double)count);
    }
    return work;
}

/* Who is active, and which samples belong together. */
static void find_active(rfn_search *s) {
    rfn_aim_at_means(s);
    rfn_search_move(s, s->direction, 1, 1);
    find_near(s);
    rb_parallel(s->ctx, s->codes.cols, hash_sample, s);
    rfn_sort_keyed(s->reduced->order, s->codes.cols);
}

static void aim(rfn_search *s) {
    rb_dense d = s->direction;
    rb_dense_zero(d);
    for (int64_t j = 0; j < d.rows; j++) /* active units: minus the gradient */
        rb_axpy(s->ctx, d.type, d.cols, -1, rb_dense_row(s->gradient, j), rb_dense_row(d, j));
    s->toward_means = false;
    rb_parallel(s->ctx, (d.cols + SAMPLES_AT_ONCE - 1) / SAMPLES_AT_ONCE, solve_task, s);
}

bool rfn_try_reduced(rfn_search *s) {
    find_active(s);
    double product = (double)s->codes.cols * pow((double)s->codes.rows, 2);
    if (s->spares && work_of(s) > PRODUCTS_WORTH * product) return false;
    aim(s);
    return rfn_search_halve(s, rfn_search_along, 1, RFN_TRIES, false);
}
