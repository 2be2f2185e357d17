/* In place of io/png.c where libpng is not built in. */
#include "io/image.h"

rb_error rb_png_decode(rb_context *ctx, rb_file_bytes file, rb_image *image) {
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "%s is a PNG image, but this rarebit was built without libpng; convert it to "
                   "PGM or PPM",
                   file.path);
}

rb_error rb_png_write(rb_context *ctx, FILE *file, void *image) {
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "cannot write PNG: this rarebit was built without libpng; write .pgm, .ppm or "
                   ".npy");
}

const char *rb_io_png(void) {
    return "";
}
