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

/* ---- targets that make of the input what they read ---- */

/* What is left of the input; after its end there are zeros. */
typedef struct fuzz_input {
    const uint8_t *data;
    size_t left;
} fuzz_input;
int fuzz_take(fuzz_input *in);

/* Aborts when a promise is broken. */
void fuzz_expect(bool promise);

/* A new file, for HDF5, which makes none behind a descriptor. Unlink it. */
enum { FUZZ_PATH = 64 };
void fuzz_temporary(char path[FUZZ_PATH]);

#endif
