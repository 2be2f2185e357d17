/* What the targets share: an input becomes a file, and a reader reads it. */
#ifndef FUZZ_READ_H
#define FUZZ_READ_H

#include "io/io.h"

/* What libFuzzer calls, and the replay. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the input as a file of the format, whole and block by block, and walks every value. Returns
 * 0. Aborts when a reader breaks a promise: an error without a message, a matrix beside an error.
 */
int fuzz_read(const rb_format *format, const uint8_t *data, size_t size);

/* The same for what lies at a path already. */
void fuzz_read_path(const rb_format *format, const char *path);

#endif
