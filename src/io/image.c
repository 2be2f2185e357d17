/* Pictures as data: PGM, PPM and PNG, plain or gzip.
 *
 * A picture is one sample of height x width x channels features, rows first, channels together; or,
 * with patches "HxW", one sample a tile: the tiles do not overlap, begin at the upper left corner,
 * go row by row, and what is left over at the right and the bottom is dropped.
 */
#include "image.h"

#include <string.h>

bool rb_png_recognise(const unsigned char *bytes, int64_t count) {
    return count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static bool recognise(const rb_probe *probe) {
    return !probe->folder && (rb_pnm_recognise(probe->bytes, probe->n_bytes) ||
                              rb_png_recognise(probe->bytes, probe->n_bytes));
}

rb_error rb_image_allocate(rb_context *ctx, rb_file_bytes file, int64_t pixel_bits,
                           int64_t expansion, rb_image *image) {
    int64_t pixels, cells, bits, max;
    bool fits = rb_multiply(image->height, image->width, &pixels) &&
                rb_multiply(pixels, image->channels, &cells) &&
                rb_multiply(pixels, pixel_bits, &bits) &&
                rb_multiply(file.count, 8 * expansion, &max);
    if (!fits || bits > max) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s: the header says %lld x %lld pixels, more than the file can hold",
                       file.path, (long long)image->width, (long long)image->height);
    }
    image->values = rb_alloc(ctx, cells, sizeof *image->values);
    return image->values ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_image_size(rb_context *ctx, const char *option, const char *text, int64_t size[2]) {
    if (text && rb_parse_shape(text, size, 2) == 2) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`%s` is '%s', but must be height x width in pixels, such as 10x10", option,
                   text ? text : "");
}

rb_error rb_image_holds(rb_context *ctx, const char *path, const int64_t size[2],
                        const rb_image *image) {
    if (size[0] <= image->height && size[1] <= image->width) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%s: patches of %lldx%lld do not fit into an image of %lld rows x %lld columns",
                   path, (long long)size[0], (long long)size[1], (long long)image->height,
                   (long long)image->width);
}

int64_t rb_image_cells(const rb_image *image) {
    return image->height * image->width * image->channels;
}

rb_error rb_image_decode(rb_context *ctx, const char *path, rb_image *image) {
    *image = (rb_image){0};
    unsigned char *bytes = NULL;
    int64_t count = 0;
    rb_error err = rb_load_bytes(ctx, path, &bytes, &count);
    if (!err) {
        rb_file_bytes file = {path, bytes, count};
        if (rb_png_recognise(bytes, count))
            err = rb_png_decode(ctx, file, image);
        else if (rb_pnm_recognise(bytes, count))
            err = rb_pnm_decode(ctx, file, image);
        else
            err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: this is not a PGM, PPM or PNG image", path);
    }
    rb_free(bytes);
    if (err) {
        rb_free(image->values);
        image->values = NULL;
    }
    return err;
}

static rb_error cut(rb_context *ctx, const rb_image *image, int64_t height, int64_t width,
                    rb_matrix **matrix) {
    if (height < 1 || width < 1) return rb_fail(ctx, RB_ERROR_FORMAT, "the image is empty");
    int64_t down = image->height / height, across = image->width / width;
    int64_t line = width * image->channels, features = height * line;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT32, down * across, features, matrix);
    float *to = err ? NULL : (void *)(*matrix)->values;
    for (int64_t row = 0; !err && row < down; row++) {
        for (int64_t left = 0; left < across * line; left += line) {
            for (int64_t y = row * height; y < (row + 1) * height; y++, to += line) {
                memcpy(to, image->values + y * image->width * image->channels + left,
                       (size_t)line * sizeof *to);
            }
        }
    }
    return err;
}

static rb_error read_image(rb_context *ctx, const char *path, const rb_read_options *options,
                           rb_matrix **matrix) {
    *matrix = NULL;
    rb_image image;
    rb_error err = rb_image_decode(ctx, path, &image);
    if (err) return err;
    int64_t size[2] = {image.height, image.width};
    if (options && options->patches) {
        err = rb_image_size(ctx, "patches", options->patches, size);
        err = err ? err : rb_image_holds(ctx, path, size, &image);
    }
    err = err ? err : cut(ctx, &image, size[0], size[1], matrix);
    rb_free(image.values);
    return err;
}

const rb_format rb_format_image = {"image", recognise, read_image, NULL};
