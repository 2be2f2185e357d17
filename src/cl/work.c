/* Work on a device: its memory, what goes up and down, kernels. */
#include "cl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one call after the other ---- */

void cl_try(cl_work *w, int code, const char *doing) {
    if (!w->err && code) w->err = cl_tell(w->face.message, code, doing);
}

void cl_up(cl_work *w, int buffer, size_t bytes, const void *from) {
    if (w->err) return;
    cl_try(
        w,
        clEnqueueWriteBuffer(w->queue, w->buffers[buffer], CL_TRUE, 0, bytes, from, 0, NULL, NULL),
        "writing to the device");
    w->face.bytes += (double)bytes;
}

void cl_down(cl_work *w, int buffer, size_t bytes, void *to) {
    if (w->err) return;
    cl_try(w,
           clEnqueueReadBuffer(w->queue, w->buffers[buffer], CL_TRUE, 0, bytes, to, 0, NULL, NULL),
           "reading from the device");
    w->face.bytes += (double)bytes;
}

void cl_copy(cl_work *w, int from, int to, size_t bytes) {
    if (!w->err)
        cl_try(w,
               clEnqueueCopyBuffer(w->queue, w->buffers[from], w->buffers[to], 0, 0, bytes, 0, NULL,
                                   NULL),
               "copying on the device");
}

static void fill_zero(cl_work *w, int buffer, size_t from, size_t bytes) {
    const cl_uchar zero = 0;
    if (!w->err && bytes > 0)
        cl_try(
            w,
            clEnqueueFillBuffer(w->queue, w->buffers[buffer], &zero, 1, from, bytes, 0, NULL, NULL),
            "clearing memory");
}

void cl_clear_bytes(cl_work *w, int buffer, size_t bytes) {
    fill_zero(w, buffer, 0, bytes);
}

static size_t round_up(size_t value, size_t to) {
    return (value + to - 1) / to * to;
}

static int set_argument(cl_kernel kernel, cl_uint place, const cl_work *w, cl_argument a) {
    if (a.kind == ARGUMENT_BUFFER)
        return clSetKernelArg(kernel, place, sizeof(cl_mem), &w->buffers[a.value]);
    return a.kind == ARGUMENT_INT ? clSetKernelArg(kernel, place, sizeof a.value, &a.value)
                                  : clSetKernelArg(kernel, place, sizeof a.number, &a.number);
}

void cl_bind(cl_work *w, int kernel, int place, cl_argument argument) {
    if (!w->err)
        cl_try(w, set_argument(w->kernels[kernel], (cl_uint)place, w, argument),
               "setting up a kernel");
}

void cl_bind_all(cl_work *w, int kernel, const cl_argument *arguments) {
    for (int i = 0; arguments[i].kind != ARGUMENT_END; i++)
        cl_bind(w, kernel, i, arguments[i]);
}

static void start(cl_work *w, int kernel, size_t items, size_t rows, size_t size) {
    size_t global[] = {items, rows}, local[] = {size, 1};
    if (!w->err)
        cl_try(w,
               clEnqueueNDRangeKernel(w->queue, w->kernels[kernel], 2, NULL, global, local, 0, NULL,
                                      NULL),
               "starting a kernel");
}

void cl_start(cl_work *w, int kernel, size_t items, size_t rows) {
    start(w, kernel, round_up(items, CL_SIZE), rows, CL_SIZE);
}

void cl_run(cl_work *w, int kernel, size_t items, size_t rows, const cl_argument *arguments) {
    cl_bind_all(w, kernel, arguments);
    cl_start(w, kernel, items, rows);
}

void cl_run_groups(cl_work *w, int kernel, size_t groups, const cl_argument *arguments) {
    cl_bind_all(w, kernel, arguments);
    start(w, kernel, groups * CL_FEW, 1, CL_FEW);
}

rb_error cl_wait(rb_device_work *work) {
    cl_work *w = (cl_work *)work;
    cl_try(w, clFinish(w->queue), "waiting for the device");
    return w->err;
}

/* ---- memory ---- */

static void sizes(const cl_work *w, size_t bytes[CL_BUFFERS]) {
    size_t codes = w->l * w->ld * sizeof(float), kept = w->shape.persists ? codes : 0;
    size_t groups = (w->n + CL_SIZE - 1) / CL_SIZE, unit = w->l * sizeof(float);
    size_t some = w->shape.persists ? w->group * w->ld * sizeof(float) : 0;
    size_t large = (w->m > w->l ? w->m : w->l) * unit;
    size_t sets = (size_t)w->shape.states.count, top = (size_t)w->shape.states.candidates;
    size_t parts = w->walks > w->slices ? w->walks : w->slices;
    const size_t list[CL_BUFFERS] = {
        [CL_SAMPLES] = w->ld * w->m * sizeof(float),
        [CL_NEXT] = w->shape.streams ? w->ld * w->m * sizeof(float) : 0,
        [CL_MASKED] = w->shape.masks ? w->ld * w->m * sizeof(float) : 0,
        [CL_LINEAR] = codes,
        [CL_CODES] = codes,
        [CL_SAVED] = kept,
        [CL_WEIGHTS] = w->m * unit,
        [CL_SQUARE] = w->l * unit,
        [CL_RESIDUAL] = some,
        [CL_DELTA] = some,
        [CL_TARGET] = w->ld * sizeof(float),
        [CL_CHANGES] = w->ld * sizeof(float),
        [CL_PARTS] = 6 * groups * sizeof(float),
        [CL_OFFSET] = unit,
        [CL_SUMS] = parts * unit,
        [CL_LARGEST] = parts * unit,
        [CL_PLACES] = unit,
        [CL_ACTIVE] = unit,
        [CL_DEAD] = w->l,
        [CL_ALIVE] = w->l,
        [CL_MATRIX_A] = large,
        [CL_MATRIX_B] = large,
        [CL_MATRIX_C] = large,
        [CL_KEPT] = sets > 0 ? 0 : w->m * unit,
        [CL_KEPT_TOO] = sets > 0 ? 0 : w->m * unit,
        [CL_U] = parts * w->m * unit,
        [CL_S] = parts * (w->shape.states.maximum ? w->m : w->l) * unit,
        [CL_SETS] = sets * sizeof(uint64_t),
        [CL_PRIOR] = sets > 0 ? unit : 0,
        [CL_USED] = sets > 0 ? w->ld : 0,
        [CL_CANDIDATES] = w->ld * top * sizeof(cl_int),
        [CL_CHANCES] = w->ld * sets * sizeof(float),
        [CL_PAIRS] = w->ld * top * top * sizeof(float),
    };
    memcpy(bytes, list, sizeof list);
}

/* Drivers give memory when it is first used: what will not fit is said before. */
static rb_error check_memory(cl_work *w, const size_t bytes[CL_BUFFERS]) {
    cl_ulong there = 0;
    double all = 0;
    clGetDeviceInfo(w->handle->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof there, &there, NULL);
    for (int b = 0; b < CL_BUFFERS; b++)
        all += (double)bytes[b];
    if (all <= 0.9 * (double)there) return RB_OK;
    snprintf(w->face.message, RB_DEVICE_MESSAGE,
             "the fit needs %.1f GB of its %.1f GB; take fewer samples or units, or leave out "
             "`device`",
             all * 1e-9, (double)there * 1e-9);
    return RB_ERROR_MEMORY;
}

static void take_memory(cl_work *w) {
    size_t bytes[CL_BUFFERS];
    int code = 0;
    sizes(w, bytes);
    w->err = check_memory(w, bytes);
    for (int b = 0; !w->err && b < CL_BUFFERS; b++) {
        size_t size = bytes[b] > 0 ? bytes[b] : 1;
        w->buffers[b] = clCreateBuffer(w->handle->context, CL_MEM_READ_WRITE, size, NULL, &code);
        cl_try(w, code, "taking memory");
        cl_clear_bytes(w, b, size);
    }
}

static void make_kernels(cl_work *w) {
    static const char *const names[CL_KERNELS] = {
        "next_unit", "units_apart", "largest_of",  "project",      "mask",
        "drop",      "unit_sums",   "look",        "occupied",     "tell_samples",
        "fill",      "add_slices",  "choose",      "sum_energies", "max_energies",
        "weigh",     "take_codes",  "sum_columns", "sum_pairs",    "sum_shares"};
    int code = 0;
    for (int k = 0; !w->err && k < CL_KERNELS; k++) {
        w->kernels[k] = clCreateKernel(w->handle->program, names[k], &code);
        cl_try(w, code, "making a kernel");
    }
}

/* Products like even sizes, and of very many samples sums that are cut into slices. Few samples are
 * left as they are. */
static void choose_sizes(cl_work *w) {
    enum { MANY = 4096, VERY_MANY = 32768, SLICES = 8, EVEN = 128, GROUP = 64 };
    w->slices = w->n >= VERY_MANY ? SLICES : 1;
    w->ld = w->n >= MANY ? round_up(w->n, w->slices * EVEN) : w->n;
    w->group = w->l < GROUP ? w->l : GROUP;
    w->walks = w->shape.states.count > 0 ? cl_walks(w) : 1;
}

rb_error cl_open_work(const rb_device *device, const rb_device_shape *shape,
                      rb_device_work **work) {
    cl_work *w = calloc(1, sizeof *w);
    int code = 0;
    *work = (rb_device_work *)w;
    if (!w) return RB_ERROR_MEMORY;
    w->handle = device->own;
    w->shape = *shape;
    w->n = (size_t)shape->samples;
    w->m = (size_t)shape->features;
    w->l = (size_t)shape->units;
    w->root = shape->normalized ? sqrtf((float)w->n) : 0;
    choose_sizes(w);
    w->queue = clCreateCommandQueue(w->handle->context, w->handle->device, 0, &code);
    cl_try(w, code, "opening a queue");
    w->uploads = clCreateCommandQueue(w->handle->context, w->handle->device, 0, &code);
    cl_try(w, code, "opening a queue");
    if (!w->err) take_memory(w);
    make_kernels(w);
    cl_take_states(w);
    return w->err ? w->err : cl_wait(*work);
}

void cl_close_work(rb_device_work *work) {
    cl_work *w = (cl_work *)work;
    if (!w) return;
    for (int b = 0; b < CL_BUFFERS; b++)
        if (w->buffers[b]) clReleaseMemObject(w->buffers[b]);
    for (int k = 0; k < CL_KERNELS; k++)
        if (w->kernels[k]) clReleaseKernel(w->kernels[k]);
    if (w->left) clReleaseEvent(w->left);
    if (w->uploads) clReleaseCommandQueue(w->uploads);
    if (w->queue) clReleaseCommandQueue(w->queue);
    free(w);
}

/* ---- rectangles ---- */

void cl_move(cl_work *w, int buffer, size_t at, size_t rows, size_t bytes, size_t pitch,
             size_t host, void *to, const void *from) {
    if (w->err) return;
    size_t there[] = {at % pitch, at / pitch, 0}, here[3] = {0}, region[] = {bytes, rows, 1};
    cl_mem memory = w->buffers[buffer];
    bool next = buffer == CL_NEXT;
    cl_uint waits = next && w->left;
    int code = to ? clEnqueueReadBufferRect(w->queue, memory, CL_TRUE, there, here, region, pitch,
                                            0, host, 0, to, 0, NULL, NULL)
                  : clEnqueueWriteBufferRect(next ? w->uploads : w->queue, memory, CL_TRUE, there,
                                             here, region, pitch, 0, host, 0, from, waits,
                                             waits ? &w->left : NULL, NULL);
    cl_try(w, code, to ? "reading from the device" : "writing to the device");
    w->face.bytes += (double)(rows * bytes);
}

rb_error cl_put(rb_device_work *work, int64_t first, int64_t count, const float *rows,
                int64_t stride) {
    cl_work *w = (cl_work *)work;
    size_t row = w->m * sizeof(float);
    cl_move(w, w->shape.streams ? CL_NEXT : CL_SAMPLES, (size_t)first * row, (size_t)count, row,
            row, (size_t)stride * sizeof(float), NULL, rows);
    if (w->shape.streams) w->next = (size_t)(first + count);
    return w->err;
}

rb_error cl_sample(rb_device_work *work, int64_t sample, float *values, float *codes) {
    cl_work *w = (cl_work *)work;
    size_t row = w->m * sizeof(float), one = sizeof(float);
    cl_move(w, CL_SAMPLES, (size_t)sample * row, 1, row, row, row, values, NULL);
    cl_move(w, CL_CODES, (size_t)sample * one, w->l, one, w->ld * one, one, codes, NULL);
    return w->err;
}

rb_error cl_get(rb_device_work *work, float *codes) {
    cl_work *w = (cl_work *)work;
    size_t row = w->n * sizeof(float);
    if (w->shape.states.count > 0)
        cl_down(w, CL_CODES, w->l * row, codes);
    else
        cl_move(w, CL_CODES, 0, w->l, row, w->ld * sizeof(float), row, codes, NULL);
    return w->err;
}

rb_error cl_set(rb_device_work *work, const float *codes) {
    cl_work *w = (cl_work *)work;
    size_t row = w->n * sizeof(float);
    cl_move(w, CL_CODES, 0, w->l, row, w->ld * sizeof(float), row, NULL, codes);
    return w->err;
}

/* ---- on the device ---- */

rb_error cl_clear(rb_device_work *work, int64_t unit) {
    cl_work *w = (cl_work *)work;
    size_t row = w->ld * sizeof(float);
    fill_zero(w, CL_CODES, (size_t)unit * row, row);
    return w->err;
}

static rb_error copy_codes(rb_device_work *work, int from, int to) {
    cl_work *w = (cl_work *)work;
    cl_copy(w, from, to, w->l * w->ld * sizeof(float));
    return w->err;
}

rb_error cl_save(rb_device_work *work) {
    return copy_codes(work, CL_CODES, CL_SAVED);
}

rb_error cl_restore(rb_device_work *work) {
    return copy_codes(work, CL_SAVED, CL_CODES);
}
