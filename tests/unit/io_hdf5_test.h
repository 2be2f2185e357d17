/* What the tests of HDF5 share. */
#ifndef RB_IO_HDF5_TEST_H
#define RB_IO_HDF5_TEST_H

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../errors.h"
#include "io/io.h"

#define HDF5_DATA TEST_DATA "/data/hdf5/"

static inline rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

/* A file name of this process in the folder of temporary files. */
static inline const char *temporary(const char *name) {
    static char path[512];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/rarebit-%ld-%s", folder ? folder : "/tmp", (long)getpid(),
             name);
    return path;
}

/* Everything in a file; freed with free. */
static inline char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void spit(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Nothing of HDF5 may stay open. */
static inline void assert_hdf5_closed(void) {
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

#endif
