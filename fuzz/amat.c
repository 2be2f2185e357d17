/* Fuzz target: .amat. */
#include "driver/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_read(&rb_format_amat, data, size);
}
