/* The steps of an E-step. Products are CLBlast's; a sweep is a product for some units at a time,
 * then one launch of a kernel a unit (kernels.cl: next_unit). The host waits for none of them but
 * where it is told a result. */
#include "cl.h"

#include <clblast_c.h>

#include <stdlib.h>

/* The others' place is free once all that was begun with them is done. */
void cl_take_next(cl_work *w) {
    cl_mem before = w->buffers[CL_SAMPLES];
    if (w->err || w->next == 0) return;
    w->buffers[CL_SAMPLES] = w->buffers[CL_NEXT];
    w->buffers[CL_NEXT] = before;
    w->n = w->next;
    w->next = 0;
    if (w->left) clReleaseEvent(w->left);
    w->left = NULL;
    cl_try(w, clEnqueueMarkerWithWaitList(w->queue, 0, NULL, &w->left), "marking the end");
    cl_try(w, clFlush(w->queue), "marking the end");
}

static void take_weights(cl_work *w, const float *weights, const float *offset) {
    cl_bring(w, CL_WEIGHTS, w->m * w->l * sizeof(float), weights);
    cl_up(w, CL_OFFSET, w->l * sizeof(float), offset);
    w->offset = false;
    for (size_t j = 0; j < w->l; j++)
        w->offset = w->offset || offset[j] != 0;
}

rb_error cl_linear(rb_device_work *work, const float *weights, const float *offset) {
    cl_work *w = (cl_work *)work;
    cl_take_next(w);
    if (weights) take_weights(w, weights, offset);
    if (w->offset) {
        const cl_argument a[] = {num(w->ld), buf(CL_OFFSET), buf(CL_LINEAR), {0}};
        cl_run(w, CL_FILL, w->ld, w->l, a);
    }
    cl_multiply(w, w->l, w->ld, w->m, 1, (cl_matrix){CL_WEIGHTS, true, 0, w->l},
                (cl_matrix){w->masked ? CL_MASKED : CL_SAMPLES, true, 0, w->m}, w->offset ? 1 : 0,
                (cl_matrix){CL_LINEAR, false, 0, w->ld});
    w->masked = false;
    return w->err;
}

/* ---- what becomes 0 at random ---- */

rb_error cl_mask(rb_device_work *work, rb_device_chance chance) {
    cl_work *w = (cl_work *)work;
    cl_take_next(w);
    const cl_argument a[] = {
        num(w->m),         num((uint32_t)chance.key), num(chance.key >> 32), num(chance.share),
        num(chance.first), buf(CL_SAMPLES),           buf(CL_MASKED),        {0}};
    cl_run(w, CL_MASK, w->m, w->n, a);
    w->masked = true;
    return w->err;
}

rb_error cl_drop(rb_device_work *work, rb_device_chance chance, float *squares) {
    cl_work *w = (cl_work *)work;
    const cl_argument a[] = {num(w->n),
                             num(w->ld),
                             num((uint32_t)chance.key),
                             num(chance.key >> 32),
                             num(chance.share),
                             num(chance.first),
                             buf(CL_CODES),
                             buf(CL_SUMS),
                             {0}};
    cl_run(w, CL_DROP, w->l * CL_SIZE, 1, a);
    cl_down(w, CL_SUMS, w->l * sizeof(float), squares);
    return w->err;
}

/* ---- units ---- */

static void take_places(cl_work *w, int buffer, int64_t *to) {
    cl_int *places = to ? malloc(w->l * sizeof *places) : NULL;
    if (to && !places) cl_try(w, CL_OUT_OF_HOST_MEMORY, "reading from the device");
    if (places) cl_down(w, buffer, w->l * sizeof *places, places);
    for (size_t j = 0; places && j < w->l; j++)
        to[j] = places[j];
    free(places);
}

static void take_units(cl_work *w, const rb_device_units *units) {
    if (!units) return;
    if (units->sums) cl_down(w, CL_SUMS, w->l * sizeof(float), units->sums);
    if (units->largest) cl_down(w, CL_LARGEST, w->l * sizeof(float), units->largest);
    take_places(w, CL_PLACES, units->place);
    take_places(w, CL_ACTIVE, units->active);
}

rb_error cl_project(rb_device_work *work, const float *sigma, bool scaled,
                    const rb_device_units *units) {
    cl_work *w = (cl_work *)work;
    int means = sigma ? CL_CODES : CL_LINEAR;
    if (sigma) {
        cl_up(w, CL_SQUARE, w->l * w->l * sizeof(float), sigma);
        cl_multiply(w, w->l, w->ld, w->l, 1, (cl_matrix){CL_SQUARE, false, 0, w->l},
                    (cl_matrix){CL_LINEAR, false, 0, w->ld}, 0,
                    (cl_matrix){CL_CODES, false, 0, w->ld});
    }
    const cl_argument a[] = {num(w->n),
                             num(w->ld),
                             real(scaled ? w->root : 0),
                             buf(means),
                             buf(CL_CODES),
                             buf(CL_SUMS),
                             buf(CL_LARGEST),
                             buf(CL_PLACES),
                             buf(CL_ACTIVE),
                             {0}};
    cl_run(w, CL_PROJECT, w->l * CL_SIZE, 1, a);
    take_units(w, units);
    return w->err;
}

rb_error cl_sums(rb_device_work *work, const rb_device_units *units) {
    cl_work *w = (cl_work *)work;
    const cl_argument a[] = {num(w->n),       num(w->ld),     buf(CL_CODES),  buf(CL_SUMS),
                             buf(CL_LARGEST), buf(CL_PLACES), buf(CL_ACTIVE), {0}};
    cl_run(w, CL_UNIT_SUMS, w->l * CL_SIZE, 1, a);
    take_units(w, units);
    return w->err;
}

rb_error cl_occupied(rb_device_work *work, const uint8_t *marks, int64_t least, int64_t *empty,
                     int64_t *full) {
    cl_work *w = (cl_work *)work;
    cl_int counts[2] = {0};
    const cl_argument a[] = {num(w->n),     num(w->ld),
                             num(w->l),     num((size_t)(least < INT32_MAX ? least : INT32_MAX)),
                             buf(CL_CODES), buf(CL_DEAD),
                             buf(CL_PARTS), {0}};
    cl_up(w, CL_DEAD, w->l, marks);
    cl_up(w, CL_PARTS, sizeof counts, counts);
    cl_run(w, CL_OCCUPIED, w->n, 1, a);
    cl_down(w, CL_PARTS, sizeof counts, counts);
    *empty = counts[0];
    *full = counts[1];
    return w->err;
}

/* ---- codes that persist ---- */

/* mu P of so many units from `first` on. */
static void residual(cl_work *w, size_t first, size_t count) {
    cl_multiply(w, count, w->ld, w->l, 1, (cl_matrix){CL_SQUARE, false, first * w->l, w->l},
                (cl_matrix){CL_CODES, false, 0, w->ld}, 0,
                (cl_matrix){CL_RESIDUAL, false, 0, w->ld});
}

static size_t at_once(const cl_work *w, size_t first) {
    return w->l - first < w->group ? w->l - first : w->group;
}

static void sweep_apart(cl_work *w, size_t first, size_t count) {
    const cl_argument a[] = {num(w->n),
                             num(w->ld),
                             num(w->l),
                             num(first),
                             num(count),
                             buf(CL_RESIDUAL),
                             buf(CL_LINEAR),
                             buf(CL_CODES),
                             buf(CL_SQUARE),
                             buf(CL_DELTA),
                             buf(CL_CHANGES),
                             buf(CL_DEAD),
                             {0}};
    cl_run(w, CL_UNITS_APART, w->n, 1, a);
}

/* The arguments of next_unit that do not change are bound. */
static void sweep_scaled(cl_work *w, size_t first, size_t count) {
    cl_bind(w, CL_NEXT_UNIT, 3, num(first));
    cl_bind(w, CL_NEXT_UNIT, 5, num(count));
    for (size_t unit = 0; unit <= count; unit++) {
        cl_bind(w, CL_NEXT_UNIT, 4, num(unit));
        cl_start(w, CL_NEXT_UNIT, w->n, 1);
    }
}

rb_error cl_sweep(rb_device_work *work, const float *p, const bool *dead, float *change,
                  bool *alive) {
    cl_work *w = (cl_work *)work;
    const cl_argument bound[] = {num(w->n),      num(w->ld),       num(w->l),
                                 num(0),         num(0),           num(0),
                                 real(w->root),  buf(CL_RESIDUAL), buf(CL_LINEAR),
                                 buf(CL_CODES),  buf(CL_SQUARE),   buf(CL_DELTA),
                                 buf(CL_TARGET), buf(CL_CHANGES),  buf(CL_DEAD),
                                 buf(CL_ALIVE),  buf(CL_PARTS),    {0}};
    if (p) cl_up(w, CL_SQUARE, w->l * w->l * sizeof(float), p);
    cl_up(w, CL_DEAD, w->l, dead);
    cl_clear_bytes(w, CL_CHANGES, w->ld * sizeof(float));
    cl_bind_all(w, CL_NEXT_UNIT, bound);
    for (size_t first = 0; !w->err && first < w->l; first += w->group) {
        size_t count = at_once(w, first);
        residual(w, first, count);
        if (w->root > 0)
            sweep_scaled(w, first, count);
        else
            sweep_apart(w, first, count);
    }
    if (change) {
        const cl_argument a[] = {num(w->n), buf(CL_CHANGES), buf(CL_TARGET), {0}};
        cl_run(w, CL_LARGEST_OF, 1, 1, a);
        cl_down(w, CL_TARGET, sizeof *change, change);
    }
    if (alive) cl_down(w, CL_ALIVE, w->l, alive);
    return w->err;
}

rb_error cl_look(rb_device_work *work, float length, const bool *dead, float *multipliers,
                 float *change) {
    cl_work *w = (cl_work *)work;
    cl_up(w, CL_DEAD, w->l, dead);
    for (size_t first = 0; !w->err && first < w->l; first += w->group) {
        size_t count = at_once(w, first);
        const cl_argument a[] = {num(w->n),     num(w->ld),       num(first),      real(length),
                                 real(w->root), buf(CL_RESIDUAL), buf(CL_LINEAR),  buf(CL_CODES),
                                 buf(CL_DEAD),  buf(CL_SUMS),     buf(CL_LARGEST), {0}};
        residual(w, first, count);
        cl_run(w, CL_LOOK, count * CL_SIZE, 1, a);
    }
    const cl_argument a[] = {num(w->l), buf(CL_LARGEST), buf(CL_TARGET), {0}};
    cl_run(w, CL_LARGEST_OF, 1, 1, a);
    cl_down(w, CL_TARGET, sizeof *change, change);
    cl_down(w, CL_SUMS, w->l * sizeof(float), multipliers);
    return w->err;
}

rb_error cl_each(rb_device_work *work, float *largest, float *changes) {
    cl_work *w = (cl_work *)work;
    const cl_argument a[] = {num(w->n), num(w->ld), num(w->l), buf(CL_CODES), buf(CL_TARGET), {0}};
    cl_run(w, CL_TELL_SAMPLES, w->n, 1, a);
    cl_down(w, CL_TARGET, w->n * sizeof(float), largest);
    cl_down(w, CL_CHANGES, w->n * sizeof(float), changes);
    return w->err;
}

/* ---- moments ---- */

/* Where a matrix has the samples of the next slice. */
static size_t next_slice(const cl_work *w, cl_matrix matrix, bool in_rows) {
    return w->ld / w->slices * (in_rows ? matrix.ld : 1);
}

static CLBlastTranspose side(cl_matrix matrix) {
    return matrix.across ? CLBlastTransposeYes : CLBlastTransposeNo;
}

void cl_sum_products(cl_work *w, cl_matrix a, size_t rows, cl_matrix b, size_t columns, bool adds,
                     int c) {
    float beta = adds ? 1 : 0;
    if (w->err) return;
    if (w->slices == 1) {
        cl_multiply(w, rows, columns, w->ld, 1, a, b, beta, (cl_matrix){c, false, 0, columns});
        return;
    }
    cl_try(w,
           CLBlastSgemmStridedBatched(CLBlastLayoutRowMajor, side(a), side(b), rows, columns,
                                      w->ld / w->slices, 1, w->buffers[a.buffer], 0, a.ld,
                                      next_slice(w, a, a.across), w->buffers[b.buffer], 0, b.ld,
                                      next_slice(w, b, !b.across), beta, w->buffers[c], 0, columns,
                                      rows * columns, w->slices, &w->queue, NULL),
           "a product");
}

void cl_take_sum(cl_work *w, int c, size_t slices, size_t values, float *to) {
    const cl_argument sum[] = {num(values), num(slices), buf(c), {0}};
    if (slices > 1) cl_run(w, CL_ADD_SLICES, values, 1, sum);
    cl_down(w, c, values * sizeof(float), to);
}

static void sum_u(cl_work *w) {
    cl_sum_products(w, (cl_matrix){CL_SAMPLES, true, 0, w->m}, w->m,
                    (cl_matrix){CL_CODES, true, 0, w->ld}, w->l, w->adds, CL_U);
}

static void sum_s(cl_work *w) {
    cl_sum_products(w, (cl_matrix){CL_CODES, false, 0, w->ld}, w->l,
                    (cl_matrix){CL_CODES, true, 0, w->ld}, w->l, w->adds, CL_S);
}

rb_error cl_add(rb_device_work *work) {
    cl_work *w = (cl_work *)work;
    sum_u(w);
    sum_s(w);
    w->adds = true;
    return w->err;
}

rb_error cl_moments(rb_device_work *work, float *u, float *s) {
    cl_work *w = (cl_work *)work;
    if (u) sum_u(w);
    if (s) sum_s(w);
    w->adds = false;
    if (u) cl_take_sum(w, CL_U, w->slices, w->m * w->l, u);
    if (s) cl_take_sum(w, CL_S, w->slices, w->l * w->l, s);
    return w->err;
}
