/* The devices of OpenCL: which there are, and one of them made ready. */
#include "cl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* ---- errors ---- */

rb_error cl_tell(char *message, int code, const char *doing) {
    const char *rest = "an error of OpenCL or CLBlast; a checkpoint goes on without `device`";
    rb_error err = RB_ERROR_UNSUPPORTED;
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
        rest = "out of memory; take fewer samples or units, or leave out `device`";
        err = RB_ERROR_MEMORY;
        break;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_COMMAND_QUEUE:
        rest = "the device was lost; a checkpoint goes on without `device`";
        break;
    }
    snprintf(message, RB_DEVICE_MESSAGE, "%s failed (%d): %s", doing, code, rest);
    return err;
}

/* ---- which there are ---- */

static int list(cl_device_id devices[MOST]) {
    cl_platform_id platforms[MOST];
    cl_uint n_platforms = 0, count = 0;
    if (clGetPlatformIDs(MOST, platforms, &n_platforms)) return 0;
    for (cl_uint p = 0; p < n_platforms && p < MOST; p++) {
        cl_uint found = 0;
        if (!clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST - count, devices + count,
                            &found))
            count += found < MOST - count ? found : MOST - count;
    }
    return (int)count;
}

int rb_cl_count(void) {
    cl_device_id devices[MOST];
    return list(devices);
}

static bool is_gpu(cl_device_id device) {
    cl_device_type type = 0;
    return !clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) &&
           (type & CL_DEVICE_TYPE_GPU);
}

rb_error rb_cl_about(int index, rb_cl_info *info) {
    cl_device_id devices[MOST];
    cl_platform_id platform = NULL;
    cl_ulong memory = 0;
    if (info->size != sizeof *info || index < 0 || index >= list(devices)) return RB_ERROR_ARGUMENT;
    *info = (rb_cl_info){.size = sizeof *info, .gpu = is_gpu(devices[index])};
    clGetDeviceInfo(devices[index], CL_DEVICE_NAME, sizeof info->name - 1, info->name, NULL);
    clGetDeviceInfo(devices[index], CL_DRIVER_VERSION, sizeof info->driver - 1, info->driver, NULL);
    clGetDeviceInfo(devices[index], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    clGetDeviceInfo(devices[index], CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info->platform - 1, info->platform, NULL);
    info->memory = (double)memory;
    return RB_OK;
}

/* ---- one of them ---- */

static const rb_device steps = {.size = sizeof steps,
                                .open = cl_open_work,
                                .close = cl_close_work,
                                .put = cl_put,
                                .linear = cl_linear,
                                .project = cl_project,
                                .mask = cl_mask,
                                .drop = cl_drop,
                                .sweep = cl_sweep,
                                .look = cl_look,
                                .each = cl_each,
                                .add = cl_add,
                                .moments = cl_moments,
                                .sums = cl_sums,
                                .occupied = cl_occupied,
                                .sample = cl_sample,
                                .clear = cl_clear,
                                .get = cl_get,
                                .set = cl_set,
                                .save = cl_save,
                                .restore = cl_restore,
                                .product = cl_product,
                                .solve = cl_solve,
                                .keep = cl_keep,
                                .wait = cl_wait,
                                .fields = cl_fields,
                                .posteriors = cl_posteriors,
                                .posterior_sums = cl_posterior_sums};

static int first_gpu(const cl_device_id *devices, int count) {
    for (int i = 0; i < count; i++)
        if (is_gpu(devices[i])) return i;
    return 0;
}

/* The first line of what the compiler said. */
static rb_error tell_build(const cl_handle *h, char *message) {
    char said[4096] = "";
    clGetProgramBuildInfo(h->program, h->device, CL_PROGRAM_BUILD_LOG, sizeof said - 1, said, NULL);
    said[strcspn(said, "\n")] = 0;
    said[sizeof said / 16] = 0;
    snprintf(message, RB_DEVICE_MESSAGE,
             "the driver of %s does not compile the kernels (%s); renew it, or leave out `device`",
             h->name, said);
    return RB_ERROR_UNSUPPORTED;
}

static rb_error make_ready(cl_handle *h, char *message) {
    char flags[32];
    int code = 0;
    const char *source = rb_cl_kernels;
    h->context = clCreateContext(NULL, 1, &h->device, NULL, NULL, &code);
    if (code) return cl_tell(message, code, "opening the device");
    h->program = clCreateProgramWithSource(h->context, 1, &source, NULL, &code);
    if (code) return cl_tell(message, code, "reading the kernels");
    snprintf(flags, sizeof flags, "-DSIZE=%d -DFEW=%d", CL_SIZE, CL_FEW);
    return clBuildProgram(h->program, 1, &h->device, flags, NULL, NULL) ? tell_build(h, message)
                                                                        : RB_OK;
}

/* The number of a device by its name, or -1 and a message. */
static int find(const char *name, const cl_device_id *devices, int count, char *message,
                rb_error *err) {
    char *end = NULL;
    long index = strncmp(name, "cl:", 3) == 0 ? strtol(name + 3, &end, 10) : -1;
    bool first = strcmp(name, "cl") == 0;
    *err = RB_OK;
    if (!first && (!end || end == name + 3 || *end || index < 0)) {
        snprintf(message, RB_DEVICE_MESSAGE, "`device` is '%s', but must be cl, or cl:0, cl:1, ...",
                 name);
        *err = RB_ERROR_ARGUMENT;
    } else if (count == 0 || index >= count) {
        snprintf(message, RB_DEVICE_MESSAGE,
                 count == 0 ? "OpenCL finds no device; install the driver of one, or leave out "
                              "`device`"
                            : "there is no device %s; OpenCL finds %d",
                 name, count);
        *err = RB_ERROR_UNSUPPORTED;
    }
    return *err ? -1 : first ? first_gpu(devices, count) : (int)index;
}

rb_error rb_cl_open(const char *name, rb_device **device, char *message) {
    cl_device_id devices[MOST];
    rb_error err;
    int index = find(name, devices, list(devices), message, &err);
    *device = NULL;
    if (err) return err;
    cl_handle *h = calloc(1, sizeof *h);
    if (!h) return cl_tell(message, CL_OUT_OF_HOST_MEMORY, "opening the device");
    rb_cl_info info = {.size = sizeof info};
    (void)rb_cl_about(index, &info);
    snprintf(h->name, sizeof h->name, "cl:%d %s", index, info.name);
    h->device = devices[index];
    h->table = steps;
    h->table.name = h->name;
    h->table.own = h;
    err = make_ready(h, message);
    if (err)
        rb_cl_close(&h->table);
    else
        *device = &h->table;
    return err;
}

void rb_cl_close(rb_device *device) {
    cl_handle *h = device ? device->own : NULL;
    if (!h) return;
    if (h->program) clReleaseProgram(h->program);
    if (h->context) clReleaseContext(h->context);
    free(h);
}

const rb_cl_functions *rb_cl_table(void) {
    static const rb_cl_functions functions = {sizeof functions, rb_cl_count, rb_cl_about,
                                              rb_cl_open, rb_cl_close};
    return &functions;
}
