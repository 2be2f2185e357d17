/* A picture file, plain or gzip, to pixels in memory. */
#include "image.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

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

/* Reads an open file to its end; zlib reads plain files as they are. */
static rb_error read_all(rb_context *ctx, const char *path, gzFile file, unsigned char **bytes,
                         int64_t *count) {
    int64_t room = 0;
    for (;;) {
        if (*count == room) {
            int64_t more = room ? 2 * room : 1 << 16;
            unsigned char *grown = rb_grow(ctx, *bytes, room, more, 1);
            if (!grown) {
                return RB_ERROR_MEMORY;
            }
            *bytes = grown;
            room = more;
        }
        int64_t ask = room - *count < 1 << 30 ? room - *count : 1 << 30;
        int got = gzread(file, *bytes + *count, (unsigned)ask);
        if (got < ask) {
            *count += got > 0 ? got : 0;
            break;
        }
        *count += got;
    }
    int code;
    const char *message = gzerror(file, &code);
    if (code == Z_ERRNO) {
        return rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (code != Z_OK && code != Z_STREAM_END) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: the gzip file is damaged: %s", path, message);
    }
    return RB_OK;
}

static rb_error load(rb_context *ctx, const char *path, unsigned char **bytes, int64_t *count) {
    gzFile file = gzopen(path, "rb");
    if (!file) {
        return rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    rb_error err = read_all(ctx, path, file, bytes, count);
    gzclose(file);
    return err;
}

rb_error rb_image_decode(rb_context *ctx, const char *path, rb_image *image) {
    *image = (rb_image){0};
    unsigned char *bytes = NULL;
    int64_t count = 0;
    rb_error err = load(ctx, path, &bytes, &count);
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
