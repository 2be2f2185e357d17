/* Pictures as data: PGM, PPM and PNG, plain or gzip.
 *
 * A picture is one sample of height x width x channels features, rows first, channels together; or,
 * with patches "HxW", one sample a tile: the tiles do not overlap, begin at the upper left corner,
 * go row by row, and what is left over at the right and the bottom is dropped.
 */
#include "image.h"

#include <string.h>

static bool recognise(const rb_probe *probe) {
    return !probe->folder && (rb_pnm_recognise(probe->bytes, probe->n_bytes) ||
                              rb_png_recognise(probe->bytes, probe->n_bytes));
}

rb_error rb_image_allocate(rb_context *ctx, rb_file_bytes file, int64_t height, int64_t width,
                           int64_t channels, bool deflated, int64_t pixel_bits, rb_image *image) {
    int64_t pixels, cells, bits, max;
    bool fits = rb_multiply(height, width, &pixels) && rb_multiply(pixels, channels, &cells) &&
                rb_multiply(pixels, pixel_bits, &bits) &&
                rb_multiply(file.count, 8 * (deflated ? RB_DEFLATE_LIMIT : 1), &max);
    if (!fits || bits > max) {
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

/* Copies the tile whose upper left pixel is (row, column) into one sample. */
static void copy_tile(const rb_image *image, int64_t row, int64_t column, int64_t height,
                      int64_t width, float *sample) {
    int64_t line = width * image->channels;
    for (int64_t y = 0; y < height && image->values; y++) {
        int64_t from = ((row + y) * image->width + column) * image->channels;
        memcpy(sample + y * line, image->values + from, (size_t)line * sizeof *sample);
    }
}

static rb_error cut(rb_context *ctx, const rb_image *image, int64_t height, int64_t width,
                    rb_matrix **matrix) {
    int64_t down = height < image->height ? image->height / height : 1;
    int64_t across = width < image->width ? image->width / width : 1;
    int64_t features = height * width * image->channels;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT32, down * across, features, matrix);
    if (err) {
        return err;
    }
    float *values = (void *)(*matrix)->values;
    for (int64_t tile = 0; tile < down * across; tile++) {
        copy_tile(image, tile / across * height, tile % across * width, height, width,
                  values + tile * features);
    }
    return RB_OK;
}

/* The size of the tiles: what the option says, or the whole picture. */
static rb_error tile_size(rb_context *ctx, const char *path, const char *patches,
                          const rb_image *image, int64_t size[2]) {
    size[0] = image->height;
    size[1] = image->width;
    if (!patches) {
        return RB_OK;
    }
    if (rb_parse_shape(patches, size, 2) != 2) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "patches is '%s', but must be height x width in pixels, such as 10x10",
                       patches);
    }
    if (size[0] > image->height || size[1] > image->width) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s: patches of %lldx%lld do not fit into a picture of %lld rows x %lld "
                       "columns",
                       path, (long long)size[0], (long long)size[1], (long long)image->height,
                       (long long)image->width);
    }
    return RB_OK;
}

static rb_error read_image(rb_context *ctx, const char *path, const rb_read_options *options,
                           rb_matrix **matrix) {
    *matrix = NULL;
    rb_image image;
    int64_t size[2];
    rb_error err = rb_image_decode(ctx, path, &image);
    if (err) {
        return err;
    }
    err = tile_size(ctx, path, options ? options->patches : NULL, &image, size);
    err = err ? err : cut(ctx, &image, size[0], size[1], matrix);
    rb_free(image.values);
    return err;
}

const rb_format rb_format_image = {"image", recognise, read_image, NULL};
