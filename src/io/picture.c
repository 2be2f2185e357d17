/* Pictures as files: PNG, PGM and PPM of whole grey levels, or .npy of any values. */
#include "image.h"
#include "npy.h"

#include <math.h>
#include <string.h>

/* An array of height x width, or height x width x channels. */
static rb_error find_shape(rb_context *ctx, const char *path, rb_image *image) {
    enum { MAX_CHANNELS = 4 };
    rb_npy_header header;
    rb_error err = rb_npy_look(ctx, path, &header);
    if (err) return err;
    bool coloured = header.dimensions == 3 && header.shape[2] <= MAX_CHANNELS;
    if (header.dimensions != 2 && !coloured) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s is not an image: an array must be height x width, or height x width x "
                       "channels with at most %d channels",
                       path, MAX_CHANNELS);
    }
    image->height = header.shape[0];
    image->width = header.shape[1];
    image->channels = coloured ? header.shape[2] : 1;
    return RB_OK;
}

static rb_error check_values(rb_context *ctx, const char *path, const rb_image *image) {
    int64_t line = image->width * image->channels;
    for (int64_t e = 0; e < rb_image_cells(image); e++) {
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
    if (err) return err;
    /* The matrix has that many values: the product cannot overflow. */
    int64_t line = image->width * image->channels;
    image->values = rb_alloc(ctx, rb_image_cells(image), sizeof *image->values);
    err = image->values ? RB_OK : RB_ERROR_MEMORY;
    if (!err) rb_matrix_copy(matrix, 0, &(rb_target){RB_FLOAT32, image->values, line, 1});
    rb_matrix_free(matrix);
    return err ? err : check_values(ctx, path, image);
}

rb_error rb_picture_read(rb_context *ctx, const char *path, rb_image *image) {
    const char *format;
    rb_reading reading;
    *image = (rb_image){0};
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_format_of(ctx, path, &format);
    if (!err && strcmp(format, "image") == 0) {
        err = rb_image_decode(ctx, path, image);
    } else if (!err && strcmp(format, "npy") == 0) {
        err = read_array(ctx, path, image);
    } else if (!err) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "%s is not an image: patches are cut out of PNG, PGM, PPM and .npy", path);
    }
    rb_reading_end(ctx);
    if (err) {
        rb_free(image->values);
        image->values = NULL;
    }
    return err;
}

/* ---- writing ---- */

rb_error rb_picture_check_suffix(rb_context *ctx, const char *path) {
    return rb_path_suffix(path, ".png, .pgm, .ppm, .npy", NULL)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "cannot write %s: an image goes to .png, .pgm, .ppm or .npy", path);
}

rb_error rb_picture_check(rb_context *ctx, const char *path, int64_t channels, int64_t max) {
    if (rb_path_suffix(path, ".npy", NULL)) return RB_OK;
    const char *pnm = channels == 1 ? ".pgm" : ".ppm";
    bool fits = rb_path_suffix(path, ".png", NULL) || rb_path_suffix(path, pnm, NULL);
    if (!fits || (channels != 1 && channels != 3)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: an image of %lld channel%s goes to %s.npy", path,
                       (long long)channels, channels == 1 ? "" : "s",
                       channels == 1   ? ".png, .pgm or "
                       : channels == 3 ? ".png, .ppm or "
                                       : "");
    }
    if (max < 1) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: an array has no whole grey levels; write .npy", path);
    }
    return RB_OK;
}

void rb_image_levels(const rb_image *image, int64_t row, unsigned char *bytes) {
    int64_t line = image->width * image->channels;
    for (int64_t x = 0; x < line; x++) {
        double value = (double)image->values[row * line + x];
        long level = lround(fmin(fmax(value, 0), (double)image->max));
        if (image->max > 255) *bytes++ = (unsigned char)(level >> 8);
        *bytes++ = (unsigned char)(level & 255);
    }
}

static rb_error write_levels(rb_context *ctx, FILE *file, void *arg) {
    const rb_image *image = arg;
    const char *origin = rb_context_provenance(ctx);
    int64_t row_bytes = image->width * image->channels * (image->max > 255 ? 2 : 1);
    unsigned char *row = rb_alloc(ctx, row_bytes, 1);
    if (!row) return RB_ERROR_MEMORY;
    fprintf(file, "P%c\n", image->channels == 3 ? '6' : '5');
    if (origin) fprintf(file, "# %s\n", origin);
    fprintf(file, "%lld %lld\n%lld\n", (long long)image->width, (long long)image->height,
            (long long)image->max);
    for (int64_t y = 0; y < image->height && !ferror(file); y++) {
        rb_image_levels(image, y, row);
        fwrite(row, 1, (size_t)row_bytes, file);
    }
    rb_free(row);
    return RB_OK;
}

/* An array of height x (width x channels). */
static rb_error write_array(rb_context *ctx, const char *path, const rb_image *image) {
    rb_matrix *matrix;
    rb_source *source = NULL;
    int64_t line = image->width * image->channels;
    rb_error err =
        rb_matrix_dense(ctx, RB_FLOAT32, image->height, line, image->values, line, 1, &matrix);
    if (err) return err;
    err = rb_source_own_matrix(ctx, matrix, &source);
    err = err ? err : rb_write(ctx, source, path);
    rb_source_free(source);
    return err;
}

rb_error rb_picture_write(rb_context *ctx, const char *path, const rb_image *image) {
    bool png = rb_path_suffix(path, ".png", NULL);
    rb_error err = rb_picture_check(ctx, path, image->channels, image->max);
    if (err || rb_path_suffix(path, ".npy", NULL)) return err ? err : write_array(ctx, path, image);
    if (png && (image->width > INT32_MAX || image->height > INT32_MAX)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%lld x %lld pixels are too many for PNG",
                       (long long)image->width, (long long)image->height);
    }
    return rb_output_file(ctx, path, png ? rb_png_write : write_levels, (void *)image);
}
