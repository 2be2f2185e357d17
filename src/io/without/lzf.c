/* In place of io/lzf.c where liblzf is not built in: rb_h5_chunks refuses such data before. */
#include "io/hdf5_chunks.h"

int64_t rb_lzf_unpack(const unsigned char *bytes, int64_t count, unsigned char *out,
                      int64_t capacity) {
    return -1;
}

const char *rb_io_lzf(void) {
    return "";
}
