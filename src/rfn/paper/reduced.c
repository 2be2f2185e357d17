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

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* PRODUCTS_WORTH: what a cascade spends on the factorisations at most, in products of n l^2. */
enum { SAMPLES_AT_ONCE = 32, PRODUCTS_WORTH = 4 };

/* A sample, and a number that samples with other active units hardly ever have. */
struct entry {
    uint64_t hash;
    int64_t sample, free; /* units that are not active */
};

struct scratch {
    double *matrix, *sides; /* l x l; SAMPLES_AT_ONCE x l */
    int64_t *free;          /* l: units */
};

struct rfn_reduced {
    rb_context *ctx;
    const rfn_search *search;
    double *near;        /* n: eps_i */
    struct entry *order; /* n: samples with the same active units beside each other */
    struct scratch *scratch;
    int workers;
};

void rfn_reduced_free(rfn_reduced *r) {
    for (int w = 0; r && r->scratch && w < r->workers; w++) {
        rb_free(r->scratch[w].matrix);
        rb_free(r->scratch[w].sides);
        rb_free(r->scratch[w].free);
    }
    if (r) {
        rb_free(r->near);
        rb_free(r->order);
        rb_free(r->scratch);
        rb_free(r);
    }
}

static bool scratch_new(rb_context *ctx, int64_t units, struct scratch *own) {
    own->matrix = rb_alloc(ctx, units * units, sizeof *own->matrix);
    own->sides = rb_alloc(ctx, SAMPLES_AT_ONCE * units, sizeof *own->sides);
    own->free = rb_alloc(ctx, units, sizeof *own->free);
    return own->matrix && own->sides && own->free;
}

rb_error rfn_reduced_new(rb_context *ctx, int64_t units, int64_t samples, rfn_reduced **out) {
    rfn_reduced *r = *out = rb_alloc_zero(ctx, 1, sizeof *r);
    if (!r) {
        return RB_ERROR_MEMORY;
    }
    r->workers = rb_context_threads(ctx);
    r->near = rb_alloc(ctx, samples, sizeof *r->near);
    r->order = rb_alloc(ctx, samples, sizeof *r->order);
    r->scratch = rb_alloc_zero(ctx, r->workers, sizeof *r->scratch);
    bool all = r->near && r->order && r->scratch;
    for (int w = 0; all && w < r->workers; w++) {
        all = scratch_new(ctx, units, &r->scratch[w]);
    }
    return all ? RB_OK : RB_ERROR_MEMORY;
}

static bool is_active(const rfn_reduced *r, int64_t unit, int64_t sample) {
    const rfn_search *s = r->search;
    if (s->problem->dead && s->problem->dead[unit]) {
        return true;
    }
    rb_type type = s->codes.type;
    return rb_get(type, rb_dense_row(s->codes, unit), sample) <= r->near[sample] &&
           rb_get(type, rb_dense_row(s->gradient, unit), sample) > 0;
}

static int compare(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* The distances |mu_i - P(mu_p)_i|, capped; search->next is P(mu_p). */
static void find_near(rfn_reduced *r) {
    const rfn_search *s = r->search;
    int64_t l = s->codes.rows, n = s->codes.cols;
    rb_type type = s->codes.type;
    memset(r->near, 0, (size_t)n * sizeof *r->near);
    for (int64_t j = 0; j < l; j++) {
        const void *code = rb_dense_row(s->codes, j), *next = rb_dense_row(s->next, j);
        for (int64_t i = 0; i < n; i++) {
            double move = rb_get(type, next, i) - rb_get(type, code, i);
            r->near[i] += move * move;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        r->near[i] = fmin(1e-3, sqrt(r->near[i]));
    }
}

/* FNV-1a over the active units. */
static void hash_sample(void *arg, int64_t i, int worker) {
    (void)worker;
    const rfn_reduced *r = arg;
    uint64_t hash = UINT64_C(14695981039346656037);
    int64_t n_free = 0;
    for (int64_t j = 0; j < r->search->codes.rows; j++) {
        bool active = is_active(r, j, i);
        hash = (hash ^ (active ? 1 : 2)) * UINT64_C(1099511628211);
        n_free += !active;
    }
    r->order[i] = (struct entry){hash, i, n_free};
}

static bool same_active(const rfn_reduced *r, int64_t a, int64_t b) {
    bool same = true;
    for (int64_t j = 0; same && j < r->search->codes.rows; j++) {
        same = is_active(r, j, a) == is_active(r, j, b);
    }
    return same;
}

/* Newton's step of `count` samples with the same free units. */
static void solve_group(const rfn_reduced *r, const struct entry *group, int64_t count,
                        const struct scratch *own) {
    const rfn_search *s = r->search;
    rb_type type = s->codes.type;
    int64_t n_free = 0;
    for (int64_t j = 0; j < s->codes.rows; j++) {
        if (!is_active(r, j, group->sample)) {
            own->free[n_free++] = j;
        }
    }
    for (int64_t a = 0; a < n_free; a++) {
        const void *row = rb_dense_row(s->problem->hessian, own->free[a]);
        for (int64_t b = 0; b <= a; b++) {
            own->matrix[a * n_free + b] = rb_get(type, row, own->free[b]);
        }
        const void *gradient = rb_dense_row(s->gradient, own->free[a]);
        for (int64_t c = 0; c < count; c++) {
            own->sides[c * n_free + a] = -rb_get(type, gradient, group[c].sample);
        }
    }
    rb_solve_small(n_free, own->matrix, count, own->sides);
    for (int64_t a = 0; a < n_free; a++) {
        void *direction = rb_dense_row(s->direction, own->free[a]);
        for (int64_t c = 0; c < count; c++) {
            rb_put(type, direction, group[c].sample, own->sides[c * n_free + a]);
        }
    }
}

/* How many samples from `first` on are solved together. */
static int64_t group_size(const rfn_reduced *r, int64_t first) {
    int64_t count = 1, n = r->search->codes.cols;
    const struct entry *group = r->order + first;
    while ((first + count) % SAMPLES_AT_ONCE && first + count < n &&
           group[count].hash == group->hash && same_active(r, group[count].sample, group->sample)) {
        count++;
    }
    return count;
}

static void solve_task(void *arg, int64_t task, int worker) {
    const rfn_reduced *r = arg;
    int64_t first = task * SAMPLES_AT_ONCE, left = r->search->codes.cols - first, count;
    int64_t end = first + (left < SAMPLES_AT_ONCE ? left : SAMPLES_AT_ONCE);
    for (; first < end && !rb_asked_to_stop(r->ctx); first += count) {
        count = group_size(r, first);
        solve_group(r, r->order + first, count, &r->scratch[worker]);
    }
}

/* Multiply-adds of all factorisations. */
static double work_of(const rfn_reduced *r) {
    double work = 0;
    for (int64_t first = 0, count; first < r->search->codes.cols; first += count) {
        count = group_size(r, first);
        double free = (double)r->order[first].free;
        work += free * free * (free / 6 + (double)count);
    }
    return work;
}

/* Who is active, and which samples belong together. */
static void find_active(rb_context *ctx, rfn_search *s) {
    rfn_reduced *r = s->reduced;
    r->ctx = ctx;
    r->search = s;
    rfn_aim_at_means(ctx, s);
    rfn_search_move(ctx, s, s->direction, 1, 1);
    find_near(r);
    rb_parallel(ctx, s->codes.cols, hash_sample, r);
    qsort(r->order, (size_t)s->codes.cols, sizeof *r->order, compare);
}

static void aim(rb_context *ctx, rfn_search *s) {
    int64_t l = s->codes.rows, n = s->codes.cols;
    for (int64_t j = 0; j < l; j++) { /* active units: minus the gradient */
        rb_dense_zero(rb_dense_rows(s->direction, j, 1));
        rb_axpy(ctx, s->codes.type, n, -1, rb_dense_row(s->gradient, j),
                rb_dense_row(s->direction, j));
    }
    s->toward = RFN_ELSEWHERE;
    rb_parallel(ctx, (n + SAMPLES_AT_ONCE - 1) / SAMPLES_AT_ONCE, solve_task, s->reduced);
}

bool rfn_try_reduced(rb_context *ctx, rfn_search *s) {
    double lambda = 1;
    find_active(ctx, s);
    double product = (double)s->codes.cols * pow((double)s->codes.rows, 2);
    if (s->spares && work_of(s->reduced) > PRODUCTS_WORTH * product) {
        return false;
    }
    aim(ctx, s);
    for (int t = 0; t <= RFN_HALVINGS; t++, lambda /= 2) {
        if (rfn_search_try(ctx, s, s->direction, lambda, 1)) {
            return true;
        }
    }
    return false;
}
