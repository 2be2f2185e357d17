/* librarebit-cl: devices of OpenCL for fits (rarebit/device.h). It stands on no other library of
 * rarebit, and none of them links it: a program links it, or loads it when it is asked for.
 *
 *     rb_device *device;
 *     char message[RB_DEVICE_MESSAGE];
 *     if (!rb_cl_open("cl", &device, message)) rb_context_set_device(context, device);
 */
#pragma once

#include <rarebit/device.h>

typedef struct rb_cl_info {
    size_t size; /* sizeof(rb_cl_info), set by the caller; new fields come at the end */
    char name[128], platform[128], driver[128];
    double memory; /* bytes */
    bool gpu;      /* else a processor, or another accelerator */
} rb_cl_info;

/* How many devices there are: those of all platforms, one after the other. */
RB_API int rb_cl_count(void);

/* Tells of a device, from 0. RB_ERROR_ARGUMENT: there is none of that number, or the size is not
 * set. */
RB_API rb_error rb_cl_about(int index, rb_cl_info *info);

/* Opens a device: "cl:0", "cl:1", ..., or "cl", the first GPU, else the first of all. The message,
 * of RB_DEVICE_MESSAGE bytes, says what is wrong. RB_ERROR_ARGUMENT: another name;
 * RB_ERROR_UNSUPPORTED, RB_ERROR_MEMORY. */
RB_API rb_error rb_cl_open(const char *name, rb_device **device, char *message);

/* Frees it; NULL is accepted. No fit may be using it. */
RB_API void rb_cl_close(rb_device *device);

/* The same two and rb_cl_open by one name, for who loads the library: rb_cl_table(). */
typedef struct rb_cl_functions {
    size_t size;
    int (*count)(void);
    rb_error (*about)(int index, rb_cl_info *info);
    rb_error (*open)(const char *name, rb_device **device, char *message);
    void (*close)(rb_device *device);
} rb_cl_functions;
RB_API const rb_cl_functions *rb_cl_table(void);
