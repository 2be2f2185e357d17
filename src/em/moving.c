/* Parameters and codes of a state as one vector, with earlier points of it.
 *
 * Sums go over fixed bands of rows, and then over the bands in order: the same bits for any number
 * of threads. */
#include "em.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BANDS = 32 };

struct collecting {
    rb_context *ctx;
    rb_moving_what what;
    rb_moving *moving;
};

static rb_error collect(void *user, const rb_kept *array) {
    const struct collecting *in = user;
    rb_moving *m = in->moving;
    bool moves = array->role == RB_KEPT_PARAMETER || array->role == RB_KEPT_POSITIVE ||
                 array->role == RB_KEPT_CODES;
    if (!moves || (array->role == RB_KEPT_CODES && in->what == RB_MOVING_PARAMETERS)) {
        return RB_OK;
    }
    if (m->count == RB_MAX_MOVING) {
        return rb_fail(in->ctx, RB_ERROR_UNSUPPORTED,
                       "more than %d arrays of parameters and codes cannot be moved together",
                       RB_MAX_MOVING);
    }
    int at = m->count++;
    m->arrays[at] = *array;
    rb_error err = RB_OK;
    for (int k = 0; !err && k < m->n_points; k++) {
        err = rb_dense_new(in->ctx, (rb_type)array->type, array->rows, array->columns,
                           &m->points[at][k]);
        snprintf(m->names[at][k], sizeof m->names[at][k], "point%d_%s", k, array->name);
    }
    return err;
}

rb_error rb_moving_new(rb_context *ctx, const rb_run *run, void *state, rb_moving_what what,
                       int n_points, rb_moving *moving) {
    struct collecting in = {ctx, what, moving};
    *moving = (rb_moving){.ctx = ctx,
                          .method = run->method,
                          .shape = &run->shape,
                          .state = state,
                          .n_points = n_points};
    return rb_parts_keep(run->method, &run->shape, state, collect, &in);
}

void rb_moving_free(rb_moving *m) {
    for (int i = 0; i < m->count; i++) {
        for (int k = 0; k < m->n_points; k++) {
            rb_dense_free(&m->points[i][k]);
        }
    }
    m->count = 0;
}

static rb_error find_again(void *user, const rb_kept *array) {
    rb_moving *m = user;
    for (int i = 0; i < m->count; i++) {
        if (strcmp(m->arrays[i].name, array->name) == 0) {
            m->arrays[i] = *array;
        }
    }
    return RB_OK;
}

/* Methods let arrays change places: where they are now. */
static void locate(rb_moving *m) {
    if (m->count > 0) {
        (void)rb_parts_keep(m->method, m->shape, m->state, find_again, m);
    }
}

/* Where an array of the state lies. */
static rb_dense place(const rb_kept *array) {
    return (rb_dense){array->values, array->rows, array->columns, array->stride,
                      (rb_type)array->type};
}

void rb_moving_save(rb_moving *m, int k) {
    locate(m);
    for (int i = 0; i < m->count; i++) {
        rb_dense_copy(place(&m->arrays[i]), m->points[i][k]);
    }
}

void rb_moving_restore(rb_moving *m, int k) {
    locate(m);
    for (int i = 0; i < m->count; i++) {
        rb_dense_copy(m->points[i][k], place(&m->arrays[i]));
    }
}

/* ---- each coordinate of an array ---- */

struct pass {
    const rb_kept *array;
    const rb_dense *points;
    int n_points;
    rb_moving_fn fn;
    double step;
    bool logs;
    int save; /* point that gets the old state; below 0: nothing moves, squares are summed up */
    int64_t band_rows;
    double sums[MAX_BANDS];
};

/* Numbers of a row as coordinates, and back. */
static void take(rb_kept_type type, bool logs, const void *row, int64_t first, int64_t n,
                 double *coordinates) {
    for (int64_t c = 0; type == RB_KEPT_FLOAT32 && c < n; c++) {
        coordinates[c] = (double)((const float *)row)[first + c];
    }
    for (int64_t c = 0; type == RB_KEPT_FLOAT64 && c < n; c++) {
        coordinates[c] = ((const double *)row)[first + c];
    }
    for (int64_t c = 0; logs && c < n; c++) {
        coordinates[c] = log(coordinates[c]);
    }
}

static void give(rb_kept_type type, bool logs, double *coordinates, int64_t n, void *row,
                 int64_t first) {
    for (int64_t c = 0; logs && c < n; c++) {
        coordinates[c] = exp(coordinates[c]);
    }
    for (int64_t c = 0; type == RB_KEPT_FLOAT32 && c < n; c++) {
        ((float *)row)[first + c] = (float)coordinates[c];
    }
    for (int64_t c = 0; type == RB_KEPT_FLOAT64 && c < n; c++) {
        ((double *)row)[first + c] = coordinates[c];
    }
}

static void one_chunk(const struct pass *pass, int64_t row, int64_t first, double *sum) {
    rb_kept_type type = pass->array->type;
    bool logs = pass->logs && pass->array->role == RB_KEPT_POSITIVE;
    int64_t left = pass->array->columns - first,
            n = left < RB_MOVING_CHUNK ? left : RB_MOVING_CHUNK;
    size_t size = rb_type_size((rb_type)type);
    void *to = rb_dense_row(place(pass->array), row);
    double points[RB_MAX_POINTS][RB_MOVING_CHUNK], x[RB_MOVING_CHUNK];
    for (int k = 0; k < pass->n_points; k++) {
        take(type, logs, rb_dense_row(pass->points[k], row), first, n, points[k]);
    }
    take(type, logs, to, first, n, x);
    pass->fn(n, points, x, pass->step);
    if (pass->save >= 0) {
        void *old = rb_dense_row(pass->points[pass->save], row);
        memcpy((char *)old + first * (int64_t)size, (const char *)to + first * (int64_t)size,
               (size_t)n * size);
        give(type, logs, x, n, to, first);
        return;
    }
    for (int64_t c = 0; c < n; c++) {
        *sum += x[c] * x[c];
    }
}

static void one_band(void *arg, int64_t band, int worker) {
    (void)worker;
    struct pass *pass = arg;
    int64_t first = band * pass->band_rows, end = first + pass->band_rows;
    double sum = 0;
    for (int64_t row = first; row < end && row < pass->array->rows; row++) {
        for (int64_t c = 0; c < pass->array->columns; c += RB_MOVING_CHUNK) {
            one_chunk(pass, row, c, &sum);
        }
    }
    pass->sums[band] = sum;
}

static double walk(rb_moving *m, int array, struct pass pass) {
    double sum = 0;
    pass.array = &m->arrays[array];
    pass.points = m->points[array];
    pass.n_points = m->n_points;
    int64_t rows = pass.array->rows;
    pass.band_rows = (rows + MAX_BANDS - 1) / MAX_BANDS;
    int64_t bands = rows > 0 ? (rows + pass.band_rows - 1) / pass.band_rows : 0;
    rb_parallel(m->ctx, bands, one_band, &pass);
    for (int64_t band = 0; band < bands; band++) {
        sum += pass.sums[band];
    }
    return sum;
}

void rb_moving_map(rb_moving *m, rb_moving_fn to, double step, int k) {
    locate(m);
    for (int i = 0; i < m->count; i++) {
        walk(m, i, (struct pass){.fn = to, .step = step, .logs = true, .save = k});
    }
}

double rb_moving_squares(rb_moving *m, rb_moving_fn to) {
    double sum = 0;
    locate(m);
    for (int i = 0; i < m->count; i++) {
        sum += walk(m, i, (struct pass){.fn = to, .logs = true, .save = -1});
    }
    return sum;
}

static void difference(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    (void)step;
    for (int64_t i = 0; i < n; i++) {
        x[i] -= points[0][i];
    }
}

static void itself(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    (void)n, (void)points, (void)x, (void)step;
}

double rb_moving_change(rb_moving *m) {
    double max = 0;
    locate(m);
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
            rb_dense point = m->points[i][k];
            rb_kept kept = {.name = m->names[i][k],
                            .type = (rb_kept_type)point.type,
                            .rows = point.rows,
                            .columns = point.cols,
                            .stride = point.ld,
                            .values = point.data};
            err = fn(user, &kept);
        }
    }
    return err;
}
