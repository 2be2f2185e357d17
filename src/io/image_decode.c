/* A picture file, plain or gzip, to pixels in memory. */
#include "image.h"

/* Deflate cannot shrink data by more than this factor. */
static const int64_t deflate_limit = 1032;

rb_error rb_image_allocate(rb_context *ctx, rb_file_bytes file, int64_t height, int64_t width,
                           int64_t channels, bool deflated, int64_t pixel_bits, rb_image *image) {
    int64_t pixels, cells, bits, most;
    bool fits = rb_multiply(height, width, &pixels) && rb_multiply(pixels, channels, &cells) &&
                rb_multiply(pixels, pixel_bits, &bits) &&
                rb_multiply(file.count, 8 * (deflated ? deflate_limit : 1), &most);
    if (!fits || bits > most) {
        return rb_fail(
            ctx, RB_ERROR_FORMAT,
            "%s: the header promises a picture of %lld x %lld pixels, more than the file "
            "can hold",
            file.path, (long long)width, (long long)height);
    }
    image->values = rb_alloc(ctx, cells, sizeof *image->values);
    if (!image->values) {
        return RB_ERROR_MEMORY;
    }
    image->height = height;
    image->width = width;
    image->channels = channels;
    return RB_OK;
}

rb_error rb_image_decode(rb_context *ctx, const char *path, rb_image *image) {
    *image = (rb_image){0};
    unsigned char *bytes = NULL;
    int64_t count = 0;
    rb_error err = rb_load_bytes(ctx, path, &bytes, &count);
    if (!err) {
        rb_file_bytes file = {path, bytes, count};
        if (rb_png_recognise(bytes, count)) {
            err = rb_png_decode(ctx, file, image);
        } else if (rb_pnm_recognise(bytes, count)) {
            err = rb_pnm_decode(ctx, file, image);
        } else {
            err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: this is no PGM, PPM or PNG picture", path);
        }
    }
    rb_free(bytes);
    if (err) {
        rb_free(image->values);
        image->values = NULL;
    }
    return err;
}
