/* Parameters and codes of a state as one vector, with earlier points of it.
 *
 * Sums go over fixed bands of rows, and then over the bands in order: the same bits for any number
 * of threads. Those over codes of several processes differ by rounding. */
#include "em.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BANDS = 32 };

/* Finds the arrays: methods let them change places. */
static rb_error locate(rb_moving *m) {
    const rb_run *run = m->run;
    m->count = 0;
    if (!run) return RB_OK;
    for (rb_walk walk = {.part = run->method->parts};
         rb_walk_next(&walk, &run->shape, run->state);) {
        rb_kept_role role = walk.array.role;
        bool moves = role == RB_KEPT_PARAMETER || role == RB_KEPT_POSITIVE ||
                     (role == RB_KEPT_CODES && m->codes);
        if (!moves || walk.array.rows == 0) continue;
        if (m->count == RB_MAX_MOVING) {
            return rb_fail(m->ctx, RB_ERROR_UNSUPPORTED,
                           "more than %d arrays of parameters and codes cannot be moved together",
                           RB_MAX_MOVING);
        }
        m->arrays[m->count++] = walk.array;
    }
    return RB_OK;
}

rb_error rb_moving_new(rb_context *ctx, const rb_run *run, bool codes, int n_points,
                       rb_moving *moving) {
    *moving = (rb_moving){.ctx = ctx, .run = run, .codes = codes, .n_points = n_points};
    rb_error err = locate(moving);
    for (int i = 0; !err && i < moving->count * n_points; i++) {
        const rb_kept *array = &moving->arrays[i / n_points];
        err = rb_dense_new(ctx, (rb_type)array->type, array->rows, array->columns,
                           &moving->points[i / n_points][i % n_points]);
    }
    return err;
}

void rb_moving_free(rb_moving *m) {
    for (int i = 0; i < m->count * m->n_points; i++)
        rb_dense_free(&m->points[i / m->n_points][i % m->n_points]);
    *m = (rb_moving){0};
}

static void copy(rb_moving *m, int k, bool back) {
    (void)locate(m);
    for (int i = 0; i < m->count; i++) {
        rb_dense state = rb_kept_dense(&m->arrays[i]), point = m->points[i][k];
        rb_dense_copy(back ? point : state, back ? state : point);
    }
}

void rb_moving_save(rb_moving *m, int k) {
    copy(m, k, false);
}

void rb_moving_restore(rb_moving *m, int k) {
    copy(m, k, true);
}

/* ---- each coordinate of an array ---- */

struct pass {
    const rb_kept *array;
    const rb_dense *points;
    int n_points;
    rb_moving_fn fn;
    double step;
    bool logs;
    int save;     /* point that gets the old state; below 0: nothing moves, squares are summed up */
    int64_t band; /* values in it: whole rows */
    double sums[MAX_BANDS];
};

/* Some values of an array, one after the other. */
static rb_dense chunk(rb_dense all, int64_t first, int64_t n) {
    void *data = (char *)all.data + first * (int64_t)rb_type_size(all.type);
    return (rb_dense){data, 1, n, n, all.type};
}

static rb_dense wide(double *values, int64_t n) {
    return (rb_dense){values, 1, n, n, RB_FLOAT64};
}

static void apply(double (*fn)(double), int64_t n, double *values) {
    for (int64_t i = 0; i < n; i++)
        values[i] = fn(values[i]);
}

static void one_chunk(const struct pass *pass, int64_t first, int64_t n, double *sum) {
    bool logs = pass->logs && pass->array->role == RB_KEPT_POSITIVE;
    double points[RB_MAX_POINTS][RB_MOVING_CHUNK], x[RB_MOVING_CHUNK];
    rb_dense state = chunk(rb_kept_dense(pass->array), first, n);
    for (int k = 0; k < pass->n_points; k++) {
        rb_dense_copy(chunk(pass->points[k], first, n), wide(points[k], n));
        apply(log, logs ? n : 0, points[k]);
    }
    rb_dense_copy(state, wide(x, n));
    apply(log, logs ? n : 0, x);
    pass->fn(n, points, x, pass->step);
    if (pass->save >= 0) {
        apply(exp, logs ? n : 0, x);
        rb_dense_copy(state, chunk(pass->points[pass->save], first, n));
        rb_dense_copy(wide(x, n), state);
        return;
    }
    for (int64_t c = 0; c < n; c++)
        *sum += x[c] * x[c];
}

static void one_band(void *arg, int64_t band, int worker) {
    (void)worker;
    struct pass *pass = arg;
    int64_t first = band * pass->band, end = first + pass->band;
    int64_t count = rb_kept_count(pass->array);
    end = rb_smaller(end, count);
    double sum = 0;
    for (; first < end; first += RB_MOVING_CHUNK)
        one_chunk(pass, first, rb_smaller(end - first, RB_MOVING_CHUNK), &sum);
    pass->sums[band] = sum;
}

static double walk(rb_moving *m, int array, struct pass pass) {
    double sum = 0;
    pass.array = &m->arrays[array];
    pass.points = m->points[array];
    pass.n_points = m->n_points;
    int64_t rows = pass.array->rows, band_rows = (rows + MAX_BANDS - 1) / MAX_BANDS;
    int64_t bands = rows > 0 ? (rows + band_rows - 1) / band_rows : 0;
    pass.band = band_rows * pass.array->columns;
    rb_parallel(m->ctx, bands, one_band, &pass);
    for (int64_t band = 0; band < bands; band++)
        sum += pass.sums[band];
    return sum;
}

double rb_moving_map(rb_moving *m, rb_moving_fn to, double step, int k) {
    double sum = 0, shared = 0;
    bool alone = rb_ranks(m->ctx) == 1;
    (void)locate(m);
    for (int i = 0; i < m->count; i++) {
        double one = walk(m, i, (struct pass){.fn = to, .step = step, .logs = true, .save = k});
        *(!alone && rb_is_shared(m->run, &m->arrays[i]) ? &shared : &sum) += one;
    }
    if (k < 0) rb_comm_add(m->ctx, 1, &shared);
    return sum + shared;
}

static void difference(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    (void)step;
    for (int64_t i = 0; i < n; i++)
        x[i] -= points[0][i];
}

static void itself(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    (void)n, (void)points, (void)x, (void)step;
}

double rb_moving_change(rb_moving *m) {
    double max = 0;
    (void)locate(m);
    for (int i = 0; i < m->count; i++) {
        double moved = walk(m, i, (struct pass){.fn = difference, .save = -1});
        double size = walk(m, i, (struct pass){.fn = itself, .save = -1});
        max = moved > 0 ? fmax(max, sqrt(moved / size)) : max;
    }
    return max;
}

rb_error rb_moving_keep(rb_moving *m, rb_kept_fn fn, void *user) {
    rb_error err = RB_OK;
    for (int i = 0; !err && i < m->count; i++) {
        for (int k = 0; !err && k < m->n_points; k++) {
            char name[64];
            rb_kept point = m->arrays[i];
            snprintf(name, sizeof name, "point%d_%s", k, point.name);
            point.name = name;
            point.values = m->points[i][k].data;
            point.role = RB_KEPT_OTHER;
            point.min = point.max = 0;
            err = fn(user, &point);
        }
    }
    return err;
}
