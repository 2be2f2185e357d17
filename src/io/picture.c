/* A picture from any file that holds one: a picture file, or an array. */
#include "image.h"
#include "npy.h"

#include <math.h>
#include <string.h>

/* An array of height x width, or height x width x channels. */
static rb_error find_shape(rb_context *ctx, const char *path, rb_image *image) {
    enum { MOST_CHANNELS = 4 };
    rb_npy_header header;
    rb_error err = rb_npy_look(ctx, path, &header);
    if (err) {
        return err;
    }
    bool coloured = header.dimensions == 3 && header.shape[2] <= MOST_CHANNELS;
    if (header.dimensions != 2 && !coloured) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s is no picture: an array must be height x width, or height x width x "
                       "channels with at most %d channels",
                       path, MOST_CHANNELS);
    }
    image->height = header.shape[0];
    image->width = header.shape[1];
    image->channels = coloured ? header.shape[2] : 1;
    return RB_OK;
}

static rb_error check_values(rb_context *ctx, const char *path, const rb_image *image) {
    int64_t line = image->width * image->channels;
    for (int64_t e = 0; e < image->height * line; e++) {
        if (!isfinite(image->values[e])) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "%s: the value in row %lld, column %lld is missing, infinite or too "
                           "large for float32",
                           path, (long long)(e / line) + 1,
                           (long long)(e % line / image->channels) + 1);
        }
    }
    return RB_OK;
}

static rb_error read_array(rb_context *ctx, const char *path, rb_image *image) {
    rb_matrix *matrix = NULL;
    rb_error err = find_shape(ctx, path, image);
    err = err ? err : rb_read(ctx, path, NULL, &matrix);
    if (err) {
        return err;
    }
    /* The matrix has that many values: the product cannot overflow. */
    int64_t line = image->width * image->channels;
    image->values = rb_alloc(ctx, image->height * line, sizeof *image->values);
    err = image->values ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t y = 0; y < image->height && !err; y++) {
        rb_rows_copy(matrix, y, RB_FLOAT32, image->values + y * line);
    }
    rb_matrix_free(matrix);
    return err ? err : check_values(ctx, path, image);
}

static rb_error read_any(rb_context *ctx, const char *path, rb_image *image) {
    const char *format;
    rb_error err = rb_format_of(ctx, path, &format);
    if (err) {
        return err;
    }
    if (strcmp(format, "image") == 0) {
        return rb_image_decode(ctx, path, image);
    }
    if (strcmp(format, "npy") == 0) {
        return read_array(ctx, path, image);
    }
    return rb_fail(ctx, RB_ERROR_FORMAT,
                   "%s is no picture: patches are cut out of PNG, PGM, PPM and .npy", path);
}

rb_error rb_picture_read(rb_context *ctx, const char *path, rb_image *image) {
    *image = (rb_image){0};
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = read_any(ctx, path, image);
    rb_reading_end(ctx);
    if (err) {
        rb_free(image->values);
        image->values = NULL;
    }
    return err;
}
