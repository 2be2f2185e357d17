/* LZF, as h5py packs with it, by liblzf. */
#include "hdf5_chunks.h"

#include <lzf.h>

int64_t rb_lzf_unpack(const unsigned char *bytes, int64_t count, unsigned char *out,
                      int64_t capacity) {
    unsigned length = lzf_decompress(bytes, (unsigned)count, out, (unsigned)capacity);
    return length > 0 ? (int64_t)length : -1;
}

const char *rb_io_lzf(void) {
    return LZF_VERSION == 0x0105 ? "1.5" : "1";
}
