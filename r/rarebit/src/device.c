/* Devices of OpenCL: librarebit-cl, loaded from beside librarebit when it is asked for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "binding.h"

#include <rarebit/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

static const rb_cl_functions *library;
static rb_device *device; /* that the session computes on */

/* The file is called as librarebit's is. */
static void *load_library(void) {
    static const char own[] = "librarebit.so";
    char path[4096];
    Dl_info info;
    const char *(*function)(void) = rb_version;
    void *address;
    memcpy(&address, &function, sizeof address);
    const char *file = dladdr(address, &info) ? strrchr(info.dli_fname, '/') : NULL;
    if (!file || strncmp(file + 1, own, sizeof own - 1) != 0) return NULL;
    int n = snprintf(path, sizeof path, "%.*s/librarebit-cl.so%s", (int)(file - info.dli_fname),
                     info.dli_fname, file + sizeof own);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static const rb_cl_functions *functions(void) {
    const rb_cl_functions *(*table)(void) = NULL;
    void *loaded = library ? NULL : load_library();
    if (loaded) *(void **)&table = dlsym(loaded, "rb_cl_table");
    if (table) library = table();
    if (!library || library->size != sizeof *library)
        refuse("devices need librarebit-cl, which is not beside librarebit");
    return library;
}

/* NULL: the processor again. */
SEXP binding_device(SEXP name) {
    char message[RB_DEVICE_MESSAGE], said[2 * RB_DEVICE_MESSAGE];
    check(rb_context_set_device(context(), NULL));
    if (device) library->close(device);
    device = NULL;
    if (name == R_NilValue) return R_NilValue;
    if (functions()->open(text_named(name, "device"), &device, message)) {
        spell(message, said);
        refuse(said);
    }
    check(rb_context_set_device(context(), device));
    return R_NilValue;
}
